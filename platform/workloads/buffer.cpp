#include "workloads/buffer.h"

#include <algorithm>

#include "protocol/element.h"
#include "t3/address.h"

namespace t3vp {
namespace {

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

std::uint64_t matrix_bytes(std::uint64_t rows, std::uint64_t columns, ElementType element) {
  constexpr std::uint64_t row_alignment = 32;
  return rows * rounded_up(columns * bytes_of(element), row_alignment);
}

std::vector<double> rounded(const std::vector<float>& values, ElementType element) {
  std::vector<unsigned char> bytes(values.size() * bytes_of(element));
  std::vector<float> result(values.size());
  narrow_elements(element, values.data(), bytes.data(), values.size());
  widen_elements(element, bytes.data(), result.data(), values.size());
  return widened(result);
}

std::vector<double> widened(const std::vector<float>& values) { return {values.begin(), values.end()}; }

const Buffer* find(const std::vector<Buffer>& buffers, const std::string& name) {
  const auto found =
      std::find_if(buffers.begin(), buffers.end(), [&](const Buffer& b) { return b.is_published() && b.name == name; });
  return found == buffers.end() ? nullptr : &*found;
}

std::uint64_t heap_bytes(const std::vector<Buffer>& buffers) {
  constexpr std::uint64_t alignment = 256;
  std::uint64_t end = T3_FIRST_PAGE_BYTES;
  for (const Buffer& buffer : buffers) end = rounded_up(end, alignment) + buffer.bytes;
  return end;
}

}  // namespace t3vp
