// What collectives leave in memory, and how much they move.
#include "endpoint/ring_bench.h"

namespace t3vp::test::endpoint_collectives_test {

using namespace endpoint;

namespace {

/// Parts of several messages, parts that differ, and parts that are empty.
const std::uint64_t sizes[] = {32, 64, 1056, 4096, 9 * 1024 + 96, 40 * 1024};

void require_ended(RingBench& bench, std::uint64_t collectives) {
  for (std::uint32_t gpu = 0; gpu < bench.gpus; ++gpu) {
    CAPTURE(gpu);
    REQUIRE(bench.of[gpu]->registers["ended"] == collectives);
    REQUIRE_FALSE(bench.busy(gpu));
    REQUIRE(bench.transfer(gpu) == Status::ok);
    REQUIRE(bench.of[gpu]->interrupt.read());
    REQUIRE(bench.of[gpu]->engine.diagnosis().empty());
    REQUIRE(bench.of[gpu]->registers.reported.empty());
  }
}

using Parts = std::vector<std::vector<unsigned char>>;

Parts sums_of(RingBench& bench, const Staged& staged) {
  Parts sums;
  for (std::uint32_t part = 0; part < bench.gpus; ++part) sums.push_back(bench.sum_of(staged, part));
  return sums;
}

void require_parts(RingBench& bench, const Staged& staged, const Parts& parts) {
  for (std::uint32_t gpu = 0; gpu < bench.gpus; ++gpu)
    for (std::uint32_t part = 0; part < bench.gpus; ++part)
      REQUIRE(bench.bytes_of_part(gpu, staged, part) == parts[part]);
}

}  // namespace

TEST_CASE("an all-reduce leaves every part's sum at every GPU, added in the order of the ring") {
  for (const auto& bench : RingBench::of_sizes({2, 3, 5, 7, 8}, RingBench::small())) {
    std::uint64_t collectives = 0;
    for (const std::uint64_t bytes : sizes)
      for (const ElementType element : {ElementType::fp16, ElementType::bf16, ElementType::fp32}) {
        CAPTURE(bench->gpus, bytes, name_of(element));
        Staged staged;
        staged.bytes = bytes;
        staged.element = element;
        bench->fill(staged);
        const Parts sums = sums_of(*bench, staged);
        bench->start_all(staged);
        bench->settle();
        require_ended(*bench, ++collectives);
        require_parts(*bench, staged, sums);
      }
  }
}

TEST_CASE("a reduce-scatter leaves the own part's sum and changes nothing else") {
  RingBench bench(5);
  Staged staged;
  staged.operation = RingOperation::reduce_scatter;
  staged.bytes = 9 * 1024 + 96;
  bench.fill(staged);
  const Parts sums = sums_of(bench, staged);
  std::vector<Parts> before(5);
  for (std::uint32_t gpu = 0; gpu < 5; ++gpu)
    for (std::uint32_t part = 0; part < 5; ++part) before[gpu].push_back(bench.bytes_of_part(gpu, staged, part));
  bench.start_all(staged);
  bench.settle();
  require_ended(bench, 1);
  for (std::uint32_t gpu = 0; gpu < 5; ++gpu)
    for (std::uint32_t part = 0; part < 5; ++part)
      REQUIRE(bench.bytes_of_part(gpu, staged, part) == (part == gpu ? sums[part] : before[gpu][part]));
}

TEST_CASE("an all-gather leaves the owner's part at every GPU") {
  RingBench bench(3);
  Staged staged;
  staged.operation = RingOperation::all_gather;
  staged.bytes = 10016;
  bench.fill(staged);
  Parts owned;
  for (std::uint32_t part = 0; part < 3; ++part) owned.push_back(bench.bytes_of_part(part, staged, part));
  bench.start_all(staged);
  bench.settle();
  require_ended(bench, 1);
  require_parts(bench, staged, owned);
}

TEST_CASE("partial sums in transit never touch memory: each operation moves its closed form and no byte more") {
  struct Case {
    RingOperation operation;
    std::uint64_t read, written, sent;  ///< of a GPU, in parts
  };
  const std::uint64_t n = 4;
  RingBench bench(4);
  for (const auto& [operation, read, written, sent] :
       {Case{RingOperation::all_reduce, n, n, 2 * (n - 1)}, Case{RingOperation::reduce_scatter, n, 1, n - 1},
        Case{RingOperation::all_gather, 1, n - 1, n - 1}}) {
    Staged staged;
    staged.operation = operation;
    staged.bytes = 4 * 2560;
    bench.start_all(staged);
    bench.settle();
    for (const auto& gpu : bench.of) {
      CHECK(std::exchange(gpu->read, 0) == read * 2560);
      CHECK(std::exchange(gpu->written, 0) == written * 2560);
      CHECK(gpu->registers["sent_bytes"] == sent * 2560);
      CHECK(gpu->registers["added_bytes"] == (operation == RingOperation::all_gather ? 0 : (n - 1) * 2560));
      gpu->engine.registers.reset();
    }
  }
  CHECK(bench.of[0]->statistic("messages") == std::to_string(4 * (n - 1) * 10));
  CHECK(bench.of[0]->statistic("sent_bytes") == std::to_string(4 * (n - 1) * 2560));
}

TEST_CASE("traffic is of the reduce-scatter until a sum is complete, and of the all-gather from then on") {
  RingBench bench(3);
  Staged staged;
  staged.bytes = 3 * 256;
  bench.start_all(staged);
  bench.settle();
  std::vector<TrafficClass> classes;
  for (const DataTarget::Arrival& access : bench.of[1]->memory.arrivals()) {
    REQUIRE(access.extension.stream == Stream::communication);
    REQUIRE_FALSE(access.extension.cached);
    classes.push_back(access.extension.traffic);
  }
  const auto count = [&](TrafficClass traffic) { return std::count(classes.begin(), classes.end(), traffic); };
  CHECK(count(TrafficClass::rs_read) == 3);
  CHECK(count(TrafficClass::rs_write) == 1);
  CHECK(count(TrafficClass::ag_write) == 2);
  CHECK(classes.size() == 6);
  // Each GPU sends a sum for each of two steps, and a complete one for each of two more.
  const auto& messages = bench.wire.classes;
  CHECK(std::count(messages.begin(), messages.end(), TrafficClass::rs_write) == 6);
  CHECK(std::count(messages.begin(), messages.end(), TrafficClass::ag_write) == 6);
}

TEST_CASE("collectives of two rings run at once, those of one ring one after the other") {
  RingBench bench(4);
  Staged first, second, beside;
  first.bytes = 6400;
  second.address = 0x4000;
  second.bytes = 96;
  second.operation = RingOperation::reduce_scatter;
  beside.address = 0x8000;
  beside.ring = 1;
  for (const Staged& staged : {first, second, beside}) bench.fill(staged);
  const Parts sums = sums_of(bench, first), own = sums_of(bench, second), others = sums_of(bench, beside);
  for (const Staged& staged : {first, second, beside}) bench.start_all(staged);
  bench.settle();
  require_ended(bench, 3);
  for (std::uint32_t gpu = 0; gpu < 4; ++gpu) {
    REQUIRE(bench.bytes_of_part(gpu, second, gpu) == own[gpu]);
    for (std::uint32_t part = 0; part < 4; ++part) {
      REQUIRE(bench.bytes_of_part(gpu, first, part) == sums[part]);
      REQUIRE(bench.bytes_of_part(gpu, beside, part) == others[part]);
    }
  }
}

}  // namespace t3vp::test::endpoint_collectives_test
