// Arithmetic of the element types: fp16 and bf16 are IEEE binary16 and bfloat16, every result is rounded to nearest
// even.
#pragma once

#include <cstddef>

#include "protocol/access.h"

namespace t3vp {

/// target[i] += source[i] in the element type, `count` elements; no alignment needed.
void add_elements(ElementType type, unsigned char* target, const unsigned char* source, std::size_t count);

/// Widening is exact.
void widen_elements(ElementType type, const unsigned char* source, float* target, std::size_t count);

void narrow_elements(ElementType type, const float* source, unsigned char* target, std::size_t count);

}  // namespace t3vp
