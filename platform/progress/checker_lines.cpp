#include "progress/checker_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace t3vp {
namespace {

constexpr std::size_t shown = 5;  // accesses of a check

/// What a checker has found.
struct Found {
  std::uint64_t count = 0;
  std::vector<std::string> first;  ///< in words

  template <typename Self>
  static auto fields(Self& self) {
    return std::tie(self.count, self.first);
  }
};

Found found_by(const Violations& violations) {
  Found found;
  found.count = violations.count();
  for (const Violation& violation : violations.list()) {
    if (found.first.size() == shown) break;
    found.first.push_back(violation.text());
  }
  return found;
}

void append_to(std::vector<std::string>& lines, const char* check, const std::vector<Found>& all) {
  std::uint64_t count = 0;
  std::size_t told = 0;
  for (const Found& found : all) {
    count += found.count;
    for (const std::string& text : found.first)
      if (told < shown) {
        lines.push_back(fmt::format("check {}: {}", check, text));
        ++told;
      }
  }
  if (count > told) lines.push_back(fmt::format("check {}: {} such accesses in all", check, count));
}

}  // namespace

std::string broken_rules(const AllGpus& all) {
  std::vector<Found> found = all.ask([](const Gpu& gpu) { return found_by(gpu.violations()); });
  const std::vector<Found> on_links = all.gathered(std::vector<Found>{found_by(*all.node().violations().back())});
  found.insert(found.end(), on_links.begin(), on_links.end());
  std::uint64_t count = 0;
  for (const Found& of_checker : found) count += of_checker.count;
  if (count == 0) return {};
  const auto first = std::find_if(found.begin(), found.end(), [](const Found& f) { return f.count != 0; });
  return fmt::format("{} violation{} of the protocol, the first: {}", count, count == 1 ? "" : "s",
                     first->first.front());
}

std::vector<std::string> wrong_accesses(const AllGpus& all) {
  std::vector<std::string> lines;
  append_to(lines, "memory", all.ask([](const Gpu& gpu) { return found_by(gpu.memory_violations()); }));
  if (const Violations* const races = all.node().races()) append_to(lines, "races", {found_by(*races)});
  return lines;
}

}  // namespace t3vp
