// Pseudo-random numbers for tests, the same on every host.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace t3vp {

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}

  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(engine_() % limit); }
  bool coin() { return below(2) != 0; }
  std::vector<unsigned char> bytes(std::size_t count) {
    std::vector<unsigned char> data(count);
    for (unsigned char& byte : data) byte = static_cast<unsigned char>(below(256));
    return data;
  }
  std::mt19937& engine() { return engine_; }

 private:
  std::mt19937 engine_;
};

}  // namespace t3vp
