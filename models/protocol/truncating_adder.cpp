#include "protocol/truncating_adder.h"

#include <cmath>
#include <cstring>

#include "protocol/element.h"

namespace t3vp {
namespace {

/// The neighbour of a number that is nearer to zero: its bits, less the sign, count upwards from zero.
void step_toward_zero(unsigned char* element, std::uint32_t bytes) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, element, bytes);
  --bits;
  std::memcpy(element, &bits, bytes);
}

}  // namespace

std::optional<std::size_t> add_elements_truncating(ElementType type, unsigned char* target, const unsigned char* source,
                                                   std::size_t count) {
  const std::uint32_t bytes = bytes_of(type);
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < count; ++i, target += bytes, source += bytes) {
    float x = 0, y = 0, sum = 0;
    widen_elements(type, target, &x, 1);
    widen_elements(type, source, &y, 1);
    add_elements(type, target, source, 1);
    widen_elements(type, target, &sum, 1);
    if (!(std::abs(double{sum}) > std::abs(double{x} + double{y}))) continue;
    step_toward_zero(target, bytes);
    if (!first) first = i;
  }
  return first;
}

}  // namespace t3vp
