#include "io/fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace t3vp {

std::string fingerprint(std::string_view bytes) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return fmt::format("{:016x}", hash);
}

namespace {

/// Takes eight bytes at a time, since every run of an experiment hashes the program. A rotation carries high bits down.
std::uint64_t hash_of_words(std::string_view bytes) {
  std::uint64_t hash = bytes.size();
  for (; !bytes.empty(); bytes.remove_prefix(std::min<std::size_t>(8, bytes.size()))) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), std::min<std::size_t>(8, bytes.size()));
    hash = (hash ^ word) * 0x9E3779B97F4A7C15;
    hash = hash << 29 | hash >> 35;
  }
  return hash;
}

}  // namespace

const std::string& program_fingerprint() {
  static const std::string once = [] {
    std::string bytes(std::filesystem::file_size("/proc/self/exe"), '\0');
    std::ifstream("/proc/self/exe", std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return fmt::format("{:016x}", hash_of_words(bytes));
  }();
  return once;
}

}  // namespace t3vp
