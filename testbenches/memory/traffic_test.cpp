#include <array>

#include "memory/memory_bench.h"

namespace t3vp::test::traffic_test {

using namespace memory;

namespace {

constexpr std::uint64_t column_bytes = 32;

/// The 32-byte blocks that the rows of a shape touch, row by row.
std::uint64_t blocks_touched(std::uint64_t address, const Shape& shape) {
  std::uint64_t blocks = 0;
  if (shape.stride == shape.row_bytes) return (address + shape.bytes() - 1) / column_bytes - address / column_bytes + 1;
  for (std::uint32_t row = 0; row < shape.rows; ++row) {
    const std::uint64_t begin = address + row * shape.stride, last = begin + shape.row_bytes - 1;
    blocks += last / column_bytes - begin / column_bytes + 1;
  }
  return blocks;
}

DataAccess random_access(Random& random) {
  DataAccess access;
  access.operation = static_cast<Operation>(random.below(3));
  access.stream = static_cast<Stream>(random.below(2));
  access.traffic = static_cast<TrafficClass>(random.below(std::size(traffic_class_values)));
  access.address = local(std::uint64_t{random.below(1 << 20)} * 4);
  const auto row_bytes = static_cast<std::uint32_t>(4 + random.below(500) * 4);
  access.shape = {static_cast<std::uint32_t>(1 + random.below(6)), row_bytes, row_bytes + 4 * (random.below(300))};
  access.element = ElementType::fp32;
  return access;
}

}  // namespace

TEST_CASE("what each class pays is what the channels moved, and every access is answered once") {
  MemoryBench bench;
  const dram::Timing& timing = bench.parameters.dram.timing;
  Random random(7);
  std::array<std::uint64_t, traffic_classes_most> expected{};
  std::vector<std::pair<std::size_t, bool>> loads;
  Picoseconds at = 0;
  for (int i = 0; i < 1500; ++i) {
    const DataAccess access = random_access(random);
    expected[static_cast<std::size_t>(access.traffic)] +=
        column_bytes * blocks_touched(address_map::local_of(access.address), access.shape);
    at += random.below(20'000);
    loads.emplace_back(bench.send(bench.cache, access, at), access.operation == Operation::load);
  }
  bench.settle();
  REQUIRE(bench.cache.unanswered() == 0);
  REQUIRE(bench.cache.stray_answers() == 0);
  REQUIRE(bench.controller.dram_bytes() == expected);
  std::uint64_t sum = 0;
  for (const std::uint64_t bytes : expected) sum += bytes;
  REQUIRE(bench.controller.dram_accesses() * column_bytes == sum);
  for (const auto& [number, load] : loads) {
    const DataAnswer& answer = bench.cache.answer(number);
    REQUIRE(answer.ok());
    REQUIRE(answer.at >= answer.arrival + (load ? (timing.CL + timing.BURST) * 1000 : 0));
  }
}

TEST_CASE("what has entered the DRAM queues and is not moved yet is no more than they hold, and nothing in the end") {
  MemoryBench bench(MemoryBench::small(2));
  const dram::MemorySpec& spec = bench.parameters.dram;
  const std::uint64_t queues = 2 * spec.queue_depth * column_bytes;
  const std::uint64_t banks = 2 * spec.geometry.bank_groups * spec.geometry.banks_per_group * column_bytes;
  REQUIRE(bench.controller.queued_bytes() == 0);
  Random random(9);
  // Columns of rows that lie apart: the queues fill faster than DRAM empties them.
  for (int i = 0; i < 2000; ++i)
    bench.send(bench.cache, {Operation::store,
                             local(std::uint64_t{random.below(1 << 15)} * 2048),
                             {1, column_bytes, 0},
                             {},
                             Stream::compute,
                             TrafficClass::gemm_write,
                             {},
                             {}});
  std::uint64_t most = 0;
  while (bench.controller.dram_accesses() < 2000) {
    bench.run_for(bench.controller.lookahead());
    const std::uint64_t entered =
        bench.controller.dram_bytes()[static_cast<std::size_t>(TrafficClass::gemm_write)] / column_bytes;
    REQUIRE(bench.controller.queued_bytes() == (entered - bench.controller.dram_accesses()) * column_bytes);
    most = std::max(most, bench.controller.queued_bytes());
  }
  REQUIRE(most <= queues + banks);  // a bank's next access has left the queue
  REQUIRE(most > queues * 9 / 10);
  bench.settle();
  REQUIRE(bench.controller.queued_bytes() == 0);
}

TEST_CASE("a lone load takes the DRAM's own time") {
  MemoryBench bench;
  const dram::Timing& timing = bench.parameters.dram.timing;
  const Shape one{1, 32, 0};
  const DataAnswer closed = bench.load(0, one), hit = bench.load(32, one);
  const auto cycles = [](const DataAnswer& answer) { return (answer.at - answer.arrival) / 1000; };
  REQUIRE(cycles(closed) >= timing.RCDRD + timing.CL + timing.BURST);
  REQUIRE(cycles(closed) <= timing.RCDRD + timing.CL + timing.BURST + 4);
  REQUIRE(cycles(hit) >= timing.CL + timing.BURST);
  REQUIRE(cycles(hit) <= timing.CL + timing.BURST + 4);
}

TEST_CASE("blocks as long as the interleave go to the channels side by side") {
  MemoryParameters parameters = MemoryBench::small();
  parameters.interleave_bytes = 64;
  MemoryBench bench(parameters);
  const std::uint32_t bytes = 1024;  // 32 accesses over four channels, an access to a channel's queue per cycle
  const DataAnswer answer = bench.store(0, {1, bytes, 0}, {});
  REQUIRE(answer.at >= answer.arrival + 7 * 1000);
  REQUIRE(answer.at <= answer.arrival + 9 * 1000);
}

TEST_CASE("an access that arrives sooner than the controller looks ahead is taken with the next slice") {
  MemoryBench bench;
  const Picoseconds begin = now();
  Random random(8);
  const std::size_t first = bench.send(bench.cache, random_access(random));
  bench.run_for(bench.controller.lookahead() * 3 / 2);
  DataAccess access;
  access.address = local(0);
  access.shape = {1, 32, 0};
  const std::size_t number = bench.cache.send(access, 1000);
  bench.settle();
  REQUIRE(bench.cache.answer(first).ok());
  REQUIRE(bench.cache.answer(number).ok());
  REQUIRE(bench.cache.answer(number).at > bench.cache.answer(number).arrival);
  REQUIRE(now() > begin);
}

TEST_CASE("a load is answered when the last of its data is there, whichever channel brings it") {
  MemoryParameters parameters = MemoryBench::small(2);
  parameters.channel_hash = false;
  MemoryBench bench(parameters);
  const auto time_of = [&](std::uint64_t address, std::uint32_t bytes) {
    const DataAnswer answer = bench.load(address, {1, bytes, 0});
    return answer.at - answer.arrival;
  };
  // Rows that are not open. The second load continues with a column of the other channel, which is there sooner.
  const Picoseconds eight_columns = time_of(1 << 20, 256), nine_columns = time_of(2 << 20, 256 + 32);
  REQUIRE(nine_columns >= eight_columns);
}

namespace {

/// Reads in sequence and compares with the peak that the controller reports.
void check_peak(const MemoryParameters& parameters, double peak) {
  MemoryBench bench(parameters);
  const std::uint32_t piece = 4096;
  const std::uint64_t total = 4 << 20;
  for (std::uint64_t address = 0; address < total; address += piece)
    bench.send(bench.cache,
               {Operation::load, local(address), {1, piece, 0}, {}, Stream::compute, TrafficClass::gemm_read, {}, {}});
  bench.settle();
  Picoseconds last = 0;
  for (const DataAnswer& answer : bench.cache.answers()) last = std::max(last, answer.at);
  const double GBps = static_cast<double>(total) * 1000.0 / static_cast<double>(last - bench.cache.answer(0).arrival);
  CAPTURE(GBps, peak);
  REQUIRE(peak_GBps(parameters) == Approx(peak));
  REQUIRE(GBps <= peak);
  REQUIRE(GBps >= 0.8 * peak);
}

}  // namespace

TEST_CASE("no pattern beats the peak bandwidth, and reading in sequence comes near it") {
  check_peak(MemoryBench::small(), 4 * 32);  // four channels of 32 bytes a nanosecond
}

TEST_CASE("the peak counts the clock, the pseudo-channels and the cycles of a burst") {
  MemoryParameters parameters = MemoryBench::small();
  parameters.dram.clock_GHz = 2;
  parameters.dram.geometry.pseudo_channels = 2;
  parameters.dram.timing.BURST = parameters.dram.timing.CCDS = 4;
  parameters.dram.timing.CCDL = 4;
  check_peak(parameters, 4 * 2 * 32 / 4.0 * 2);
}

}  // namespace t3vp::test::traffic_test
