#include "compute/planned_ranges.h"

#include <fmt/format.h>

#include <algorithm>

namespace t3vp::compute {

std::string place_of(const t3_range& range) { return fmt::format("{:#x} to {:#x}", range.begin, range.end - 1); }

std::string places_of(const t3_range* ranges, std::uint32_t count) {
  std::string text;
  for (std::uint32_t i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + place_of(ranges[i]);
  return count == 0 ? "nowhere" : text;
}

bool is_in(const t3_range& range, const t3_range* ranges, std::uint32_t count) {
  std::uint64_t begin = range.begin;
  for (std::uint32_t i = 0; i < count; ++i) {
    const t3_range* const found = std::find_if(ranges, ranges + count, [begin](const t3_range& planned) {
      return begin >= planned.begin && begin < planned.end;
    });
    if (found == ranges + count) return false;
    begin = found->end;
    if (begin >= range.end) return true;
  }
  return false;
}

}  // namespace t3vp::compute
