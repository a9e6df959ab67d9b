// A register description as constants. The generated headers contain them, and docs/reference/registers.md has the same
// contents.
#pragma once

#include <cstddef>
#include <cstdint>

namespace t3vp {

enum class Access : std::uint8_t {
  rw,
  ro,
  wo,
  w1c,  ///< writing 1 clears the bit
  w1s,  ///< writing 1 sets the bit
  rc    ///< reading over the bus clears
};

/// A constant array and its length.
template <typename T>
struct View {
  const T* first = nullptr;
  std::size_t count = 0;

  constexpr View() = default;
  template <std::size_t N>
  constexpr View(const T (&array)[N]) : first(array), count(N) {}
  constexpr const T* begin() const { return first; }
  constexpr const T* end() const { return first + count; }
  constexpr std::size_t size() const { return count; }
  constexpr bool empty() const { return count == 0; }
  constexpr const T& operator[](std::size_t i) const { return first[i]; }
};

struct EnumerationValue {
  const char* name;
  std::uint64_t value;
};

struct FieldDescription {
  const char* name;
  unsigned shift;
  unsigned width;  ///< in bits
  Access access;
  View<EnumerationValue> values;  ///< empty: any value
  const char* text;

  constexpr std::uint64_t mask() const { return (~std::uint64_t{0} >> (64 - width)) << shift; }
};

struct RegisterDescription {
  const char* name;
  std::uint64_t offset;  ///< of the first element, in bytes
  std::uint32_t bytes;   ///< 4 or 8: the only width that an access may have
  Access access;
  std::uint64_t reset;
  std::uint32_t count;   ///< elements; 1 unless it is an array
  std::uint32_t stride;  ///< bytes from one element to the next
  bool synchronized;     ///< an access first waits until the initiator's local time has come
  bool locked_while_busy;
  View<FieldDescription> fields;  ///< empty: one value over the whole width
  const char* text;
};

struct BlockDescription {
  const char* name;
  View<RegisterDescription> registers;  ///< by offset
  const char* text;
};

}  // namespace t3vp
