// Somebody who uses memory, when there is a text that says so.
#pragma once

#include <fmt/format.h>

#include "protocol/output_range.h"

namespace t3vp {

struct OtherUser : MemoryUser {
  std::string text;
  OutputRange used{0, ~std::uint64_t{0}};
  /// The text and the range that was asked about.
  std::string use_of(const OutputRange& range) const override {
    if (text.empty() || !used.overlaps(range)) return {};
    return fmt::format("{} {:#x} {:#x}", text, range.begin, range.end);
  }
};

}  // namespace t3vp
