// Checks of the contents that a program gives for a buffer.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "t3_hal.h"

namespace t3vp {

/// Empty when they can be written. `kind` may be any number.
inline std::string validate_contents(std::uint32_t kind, bool is_somewhere) {
  if (kind > T3_CONTENTS_FUNCTION)
    return fmt::format("whose contents are of kind {}, T3_CONTENTS_UNSAID (0) to T3_CONTENTS_FUNCTION ({}) expected",
                       kind, static_cast<std::uint32_t>(T3_CONTENTS_FUNCTION));
  return is_somewhere ? "" : "whose contents are nowhere";
}

}  // namespace t3vp
