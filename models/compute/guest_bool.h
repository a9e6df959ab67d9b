// A bool that a program or kernel has handed over in a structure of C: where it has set nothing, the byte may be
// neither 0 nor 1, and to read that as a bool is undefined.
#pragma once

#include <cstdint>
#include <cstring>

namespace t3vp::compute {

inline std::uint8_t byte_of(const bool& of_guest) {
  std::uint8_t byte = 0;
  std::memcpy(&byte, &of_guest, sizeof byte);
  return byte;
}

inline constexpr const char* a_bool = "false (0) or true (1)";

/// To be asked before anything else reads it.
inline bool is_bool(const bool& of_guest) { return byte_of(of_guest) <= 1; }

}  // namespace t3vp::compute
