#include "memory/stream_queues.h"

#include <catch2/catch.hpp>

#include "data_path/random.h"

namespace t3vp::test::stream_queues_test {

using namespace memory;

namespace {

constexpr unsigned compute = StreamQueues::compute, communication = StreamQueues::communication;

Run run_of(std::uint64_t address, dram::Kind kind, std::uint32_t request = 0, dram::Cycle arrival = 0) {
  Run run;
  run.address = address;
  run.accesses = 1;
  run.kind = kind;
  run.request = request;
  run.arrival = arrival;
  return run;
}

bool ready(StreamQueues& queues, unsigned stream, dram::Cycle now = 0) {
  dram::Cycle retry = dram::never_cycle;
  return queues.ready(stream, now, retry);
}

/// Would a read or write of `second` in the other stream wait for `first`?
bool waits(dram::Kind first, dram::Kind second, std::uint64_t distance = 0) {
  StreamQueues queues;
  queues.push(compute, run_of(0x10000, first));
  queues.push(communication, run_of(0x10000 + distance, second));
  const bool waited = !ready(queues, communication);
  queues.pop(compute);
  REQUIRE(ready(queues, communication));
  return waited;
}

}  // namespace

TEST_CASE("accesses to one address keep their order across the streams unless both read or both update") {
  using dram::Kind;
  REQUIRE(waits(Kind::update, Kind::read));
  REQUIRE(waits(Kind::write, Kind::read));
  REQUIRE(waits(Kind::read, Kind::update));
  REQUIRE(waits(Kind::read, Kind::write));
  REQUIRE(waits(Kind::update, Kind::write));
  REQUIRE(waits(Kind::write, Kind::update));
  REQUIRE(waits(Kind::write, Kind::write));
  REQUIRE_FALSE(waits(Kind::update, Kind::update));
  REQUIRE_FALSE(waits(Kind::read, Kind::read));
  REQUIRE_FALSE(waits(Kind::write, Kind::write, StreamQueues::ordered_bytes));
}

TEST_CASE("only the latest run of the very block is waited for, however many there are") {
  StreamQueues queues;
  Random random(7);
  std::vector<std::uint64_t> blocks;
  std::size_t left = 0;
  for (std::uint32_t i = 0; i < 6000; ++i) {
    if (i == 3000)
      for (; left < blocks.size(); ++left) queues.pop(communication);
    if (i > 2000 && random.below(2) == 0 && left < blocks.size()) {
      queues.pop(communication);
      ++left;
    }
    blocks.push_back(random.below(1000));
    queues.push(communication, run_of(blocks.back() * StreamQueues::ordered_bytes, dram::Kind::update, i));
    if (random.below(3) == 0) {  // a read of some block, ready when the last update of that block has left
      const std::uint64_t block = random.below(2000);
      queues.push(compute, run_of(block * StreamQueues::ordered_bytes, dram::Kind::read, i));
      std::size_t last = blocks.size();
      while (last != 0 && blocks[last - 1] != block) --last;
      REQUIRE(queues.front(compute).after == (last > left ? last : 0));
      queues.pop(compute);
    }
  }
}

TEST_CASE("a run that has not arrived says when it will") {
  StreamQueues queues;
  queues.push(compute, run_of(0, dram::Kind::read, 0, 100));
  dram::Cycle retry = dram::never_cycle;
  REQUIRE_FALSE(queues.ready(compute, 99, retry));
  REQUIRE(retry == 100);
  REQUIRE(queues.ready(compute, 100, retry));
}

TEST_CASE("a queue is first-in first-out whatever its length") {
  RunQueue queue;
  Random random(5);
  std::uint32_t pushed = 0, popped = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (random.below(100) < 55 || queue.empty()) {
      queue.push(run_of(0, dram::Kind::read, pushed++));
    } else {
      REQUIRE(queue.front().request == popped++);
      queue.pop();
    }
    REQUIRE(queue.popped() == popped);
  }
  REQUIRE(pushed - popped > 64);  // it has grown
}

TEST_CASE("some stream can always issue: the order never deadlocks") {
  StreamQueues queues;
  Random random(6);
  for (std::uint32_t i = 0; i < 5000; ++i)
    queues.push(random.below(2), run_of(random.below(16) * 64, static_cast<dram::Kind>(random.below(3)), i));
  std::array<std::uint32_t, 2> last{};
  for (unsigned i = 0; i < 5000; ++i) {
    const unsigned stream = ready(queues, i % 2) ? i % 2 : 1 - i % 2;
    REQUIRE(ready(queues, stream));
    REQUIRE((last[stream] == 0 || queues.front(stream).request > last[stream]));
    last[stream] = queues.front(stream).request;
    queues.pop(stream);
  }
  REQUIRE(queues.empty());
}

}  // namespace t3vp::test::stream_queues_test
