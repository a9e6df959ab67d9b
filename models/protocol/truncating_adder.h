// A broken adder, the injected fault wrong_rounding: its sums are rounded toward zero instead of to nearest even.
#pragma once

#include <cstddef>
#include <optional>

#include "protocol/data_protocol.h"

namespace t3vp {

/// target[i] += source[i], `count` elements. Returns the first one that differs from the right sum.
std::optional<std::size_t> add_elements_truncating(ElementType type, unsigned char* target, const unsigned char* source,
                                                   std::size_t count);

}  // namespace t3vp
