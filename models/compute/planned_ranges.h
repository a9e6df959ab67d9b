// Ranges of a kernel's plan, in texts and asked for a place.
#pragma once

#include <cstdint>
#include <string>

#include "t3/device.h"

namespace t3vp::compute {

/// "0x1000 to 0x10ff".
std::string place_of(const t3_range& range);
/// "nowhere" when there are none.
std::string places_of(const t3_range* ranges, std::uint32_t count);
/// Ranges may follow one another.
bool is_in(const t3_range& range, const t3_range* ranges, std::uint32_t count);

}  // namespace t3vp::compute
