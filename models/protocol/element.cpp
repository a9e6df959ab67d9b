#include "protocol/element.h"

#include <Eigen/Core>
#include <cstring>

namespace t3vp {
namespace {

template <typename Element>
Element load(const unsigned char* from) {
  Element value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename Visit>
void with_element(ElementType type, Visit visit) {
  switch (type) {
    case ElementType::fp16:
      return visit(Eigen::half{});
    case ElementType::bf16:
      return visit(Eigen::bfloat16{});
    case ElementType::fp32:
      return visit(float{});
  }
}

}  // namespace

void add_elements(ElementType type, unsigned char* target, const unsigned char* source, std::size_t count) {
  with_element(type, [&](auto zero) {
    using Element = decltype(zero);
    for (std::size_t i = 0; i < count * sizeof(Element); i += sizeof(Element)) {
      // The sum of two fp16 or bf16 values in float, rounded once more, is the correctly rounded sum: float has more
      // than twice their digits.
      const float sum = static_cast<float>(load<Element>(target + i)) + static_cast<float>(load<Element>(source + i));
      const Element rounded = static_cast<Element>(sum);
      std::memcpy(target + i, &rounded, sizeof rounded);
    }
  });
}

void widen_elements(ElementType type, const unsigned char* source, float* target, std::size_t count) {
  with_element(type, [&](auto zero) {
    using Element = decltype(zero);
    for (std::size_t i = 0; i < count; ++i) target[i] = static_cast<float>(load<Element>(source + i * sizeof(Element)));
  });
}

void narrow_elements(ElementType type, const float* source, unsigned char* target, std::size_t count) {
  with_element(type, [&](auto zero) {
    using Element = decltype(zero);
    for (std::size_t i = 0; i < count; ++i) {
      const Element rounded = static_cast<Element>(source[i]);
      std::memcpy(target + i * sizeof(Element), &rounded, sizeof rounded);
    }
  });
}

}  // namespace t3vp
