#include "io/fingerprint.h"

#include <fmt/format.h>

#include <cstdint>

namespace t3vp {

std::string fingerprint(std::string_view bytes) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return fmt::format("{:016x}", hash);
}

}  // namespace t3vp
