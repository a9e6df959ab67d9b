#include "dram/traces.h"

#include <cstdint>
#include <functional>
#include <random>
#include <stdexcept>

namespace t3vp::dram {
namespace {

constexpr std::uint64_t access_bytes = 32, second_region = std::uint64_t{128} << 20, range = std::uint64_t{256} << 20;

using Law = std::function<TraceRecord(std::uint64_t)>;

Law random_law(double writes) {
  std::mt19937_64 random(20261120);
  return [random, writes](std::uint64_t) mutable {
    const std::uint64_t address = random() % (range / access_bytes) * access_bytes;
    const double toss = static_cast<double>(random() >> 11) / 9007199254740992.0;
    return TraceRecord{0, address, toss < writes};
  };
}

/// Two sequential reads, then one write of a second sequential stream.
TraceRecord mixed(std::uint64_t i) {
  if (i % 3 == 2) return {0, second_region + i / 3 * access_bytes, true};
  return {0, (i / 3 * 2 + i % 3) * access_bytes, false};
}

/// Tiles of 128 x 128 two-byte elements of a row-major matrix with 4096 columns: 128 rows of 256 bytes, 8 KiB apart.
Law tile_law(bool write) {
  return [write](std::uint64_t i) {
    const std::uint64_t tile = i / 1024, row = i / 8 % 128, block = i % 8;
    const std::uint64_t base = tile / 32 * 128 * 8192 + tile % 32 * 256;
    return TraceRecord{0, base + row * 8192 + block * access_bytes, write};
  };
}

Law sequential_law(bool write, double arrival_step_ns) {
  return [=](std::uint64_t i) {
    return TraceRecord{static_cast<std::uint64_t>(static_cast<double>(i) * arrival_step_ns), i * access_bytes, write};
  };
}

Law law_of(const std::string& name) {
  if (name == "seq_read") return sequential_law(false, 0);
  if (name == "seq_write") return sequential_law(true, 0);
  if (name == "seq_load50") return sequential_law(false, 2);
  if (name == "seq_load90") return sequential_law(false, 1 / 0.9);
  if (name == "mix_r2w1_seq") return mixed;
  if (name == "rand_read" || name == "chase_rand") return random_law(0);
  if (name == "rand_write") return random_law(1);
  if (name == "rand_mix50") return random_law(0.5);
  if (name == "tile_read") return tile_law(false);
  if (name == "tile_write") return tile_law(true);
  throw std::invalid_argument("no trace named " + name);
}

}  // namespace

std::vector<TraceRecord> make_trace(const std::string& name, std::size_t length) {
  const Law law = law_of(name);
  std::vector<TraceRecord> trace;
  trace.reserve(length);
  for (std::uint64_t i = 0; i < length; ++i) trace.push_back(law(i));
  return trace;
}

}  // namespace t3vp::dram
