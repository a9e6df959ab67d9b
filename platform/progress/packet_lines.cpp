#include "progress/packet_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace t3vp {
namespace {

using Lines = std::vector<std::string>;
constexpr std::size_t packets_told = 16;  // lines of all GPUs, links and switches

/// What waits in a link or a switch, in words.
struct PartLines {
  std::size_t number = 0;
  Lines lines;

  template <typename Self>
  static auto fields(Self& self) {
    return std::tie(self.number, self.lines);
  }
};

/// One rank alone has something of a link or a switch that waits.
template <typename Parts>
void append_all(const AllGpus& all, const Parts& parts, Lines& lines) {
  std::vector<PartLines> found;
  for (std::size_t number = 0; number < parts.size(); ++number)
    if (Lines of_part = parts[number]->diagnosis(); !of_part.empty()) found.push_back({number, std::move(of_part)});
  found = all.gathered(std::move(found));
  std::sort(found.begin(), found.end(), [](const PartLines& a, const PartLines& b) { return a.number < b.number; });
  for (const PartLines& part : found) lines.insert(lines.end(), part.lines.begin(), part.lines.end());
}

}  // namespace

Lines packet_lines(const AllGpus& all) {
  Lines lines;
  for (const Lines& of_gpu : all.ask([](const Gpu& gpu) { return gpu.fabric.diagnosis(); }))
    lines.insert(lines.end(), of_gpu.begin(), of_gpu.end());
  append_all(all, all.node().links(), lines);
  append_all(all, all.node().switches(), lines);
  if (lines.size() > packets_told) {
    const std::size_t more = lines.size() - packets_told;
    lines.resize(packets_told);
    lines.back() += fmt::format(" (and {} more lines on packets)", more);
  }
  return lines;
}

}  // namespace t3vp
