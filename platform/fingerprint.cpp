#include "platform/fingerprint.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

namespace t3vp {

std::string fingerprint(std::string_view bytes) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return fmt::format("{:016x}", hash);
}

const std::string& program_fingerprint() {
  static const std::string once = [] {
    std::ifstream program("/proc/self/exe", std::ios::binary);
    return fingerprint(std::string(std::istreambuf_iterator<char>(program), {}));
  }();
  return once;
}

}  // namespace t3vp
