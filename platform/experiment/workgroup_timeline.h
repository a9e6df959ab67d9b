// What the first workgroups of a persistent kernel do over time, from the rows of a run's trace.json (GPU-initiated
// overlap, Figure 9).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace t3vp {

struct WorkgroupTimeline {
  struct Part {
    std::size_t workgroup;
    std::string name;
    double begin_us, end_us;
  };
  struct Mark {
    std::size_t workgroup;
    std::string name;
    double us;
  };
  std::vector<Part> parts;  ///< in order of each workgroup; those of one name that follow each other are one
  std::vector<Mark> marks;
  std::size_t workgroups = 0;

  double end_us() const;
  /// Within each `size` workgroups that follow each other those come first that began their last part first: the rows
  /// of a picture. Returns the row of each workgroup.
  std::vector<std::size_t> rows(std::size_t size) const;
  /// gnuplot: a bar for each part in the colour of its name, a sign for each mark of `shown` names.
  std::string panel(const std::string& name, const std::vector<std::string>& shown, std::size_t cluster) const;
};

/// Reads the first GPU's; time begins after the setup. Throws std::runtime_error when there is no such trace.
WorkgroupTimeline read_workgroups(const std::filesystem::path& trace, double setup_ns);

}  // namespace t3vp
