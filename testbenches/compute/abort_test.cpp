// Kernels that are aborted or reset wherever they are.
#include <catch2/catch.hpp>
#include <random>

#include "gemm_case.h"
#include "ring_case.h"

namespace t3vp::test::abort_test {

using namespace compute;

namespace {

GemmCase some_gemm(const ClusterBench& bench, std::uint32_t m = 32 * 9) {
  return GemmCase(bench.parameters, m, 64, 64, ElementType::fp16);
}

RingCase small_ring() { return {{64, 48, 32, 32, 1, 96, ElementType::fp16}, 2, 2}; }

/// Instants from before the packet is there to the kernel's end.
std::vector<Picoseconds> instants(const ClusterBench& bench, Picoseconds duration) {
  const Picoseconds launched = bench.memory.latency + bench.parameters.launch_latency;
  std::vector<Picoseconds> result = {1, bench.memory.latency - 1, bench.memory.latency + 1, launched - 1, launched + 1};
  for (Picoseconds time = launched; time < duration; time += (duration - launched) / 7) result.push_back(time);
  return result;
}

/// The kernel runs as if nothing had been before.
void require_right(ClusterBench& bench, std::mt19937& random) {
  GemmCase gemm = some_gemm(bench, 64);
  gemm.fill(bench.memory, random, 3);
  bench.run(gemm.packet);
  REQUIRE(bench.gpu().error() == Status::ok);
  REQUIRE(gemm.result(bench.memory) == gemm.expected());
}

}  // namespace

TEST_CASE("an aborted kernel issues nothing more, ends with its code and leaves memory alone") {
  std::mt19937 random(5);
  ClusterBench bench(ClusterBench::small());
  ClusterUnderTest& gpu = bench.gpu();
  const Picoseconds duration = bench.run(some_gemm(bench).packet);
  for (const Picoseconds instant : instants(bench, duration)) {
    CAPTURE(instant);
    const std::uint64_t before = gpu.completed();
    gpu.put(bench.memory, some_gemm(bench).packet);
    gpu.ring();
    bench.wait(instant);
    bench.memory.log.clear();
    gpu.abort();
    REQUIRE(bench.finish());
    REQUIRE(gpu.completed() == before + 1);
    REQUIRE(gpu.error() == Status::aborted);
    REQUIRE(gpu.first_error() == Status::aborted);
    REQUIRE(gpu.registers["failed_packet"] == before + 1);
    gpu.registers.set("interrupt", 3);
    bench.wait(2 * duration);
    REQUIRE(bench.memory.log.empty());
    REQUIRE(gpu.completed() == before + 1);
    REQUIRE((gpu.registers["interrupt"] & 3) == 0);
    REQUIRE(!gpu.kernel_active.read());
    REQUIRE(!gpu.first_stage.read());
    require_right(bench, random);
  }
}

TEST_CASE("an abort ends when the answers of the kernel's accesses have come, not before") {
  ClusterBench bench(ClusterBench::small());
  ClusterUnderTest& gpu = bench.gpu();
  gpu.put(bench.memory, some_gemm(bench).packet);
  gpu.ring();
  bench.wait(bench.memory.latency + bench.parameters.launch_latency + 1);
  gpu.abort();
  gpu.abort();  // once more changes nothing
  REQUIRE(gpu.busy());
  REQUIRE_THAT(gpu.cluster.diagnosis().at(0), Catch::Contains("kernel 1 of 1 is aborted"));
  bench.wait(bench.memory.latency - 2);
  REQUIRE(gpu.busy());
  bench.wait(bench.memory.latency);
  REQUIRE(!gpu.busy());
  REQUIRE(gpu.code_of(1) == Status::aborted);
  REQUIRE(gpu.completed() == 1);
}

TEST_CASE("an abort ends the packets that have been announced, later ones run") {
  std::mt19937 random(6);
  ClusterBench bench(ClusterBench::small());
  ClusterUnderTest& gpu = bench.gpu();
  std::uint64_t round = 0;
  for (const Picoseconds wait : {Picoseconds{1}, Picoseconds{1'250'000}, Picoseconds{3'000'000}}) {
    const std::uint64_t before = gpu.completed();
    ++round;
    gpu.registers.set("interrupt", 3);
    for (std::uint32_t i = 0; i < 3; ++i) {
      GemmPacket packet = some_gemm(bench).packet;
      packet.header.completion_signal = i + 1;
      gpu.put(bench.memory, packet);
    }
    gpu.ring();
    bench.wait(wait);
    gpu.abort();
    GemmCase last = some_gemm(bench, 64);
    last.fill(bench.memory, random, 3);
    gpu.put(bench.memory, last.packet);
    gpu.ring();
    REQUIRE(bench.finish());
    bench.wait(bench.memory.latency);
    for (std::uint64_t n = 1; n <= 3; ++n) {
      REQUIRE(gpu.code_of(before + n) == Status::aborted);
      REQUIRE(bench.memory.signal(0, n) == round);
    }
    REQUIRE(gpu.code_of(before + 4) == Status::ok);
    REQUIRE(last.result(bench.memory) == last.expected());
    REQUIRE(gpu.registers["failed_packet"] == before + 1);
  }
}

TEST_CASE("an abort without a kernel does nothing") {
  std::mt19937 random(7);
  ClusterBench bench(ClusterBench::small());
  bench.gpu().abort();
  REQUIRE(!bench.gpu().busy());
  require_right(bench, random);
  bench.gpu().abort();
  require_right(bench, random);
  REQUIRE(bench.gpu().registers["failed_packet"] == 0);
}

TEST_CASE("waits of an aborted ring kernel are withdrawn") {
  std::mt19937 random(8);
  ClusterBench bench(ClusterBench::small(), true, 1);
  ClusterUnderTest& gpu = bench.gpu();
  for (const std::uint32_t kind : {handle::ring_reduce_scatter, handle::ring_all_gather}) {
    gpu.put(bench.memory, small_ring().packet(kind, 0, 0, 0));
    gpu.ring();
    REQUIRE(!bench.finish());
    REQUIRE(bench.memory.waiting() == 2);
    REQUIRE(!gpu.withdraw.read());
    gpu.abort();
    bench.wait(1);
    REQUIRE(gpu.withdraw.read());
    bench.memory.withdraw_waits();
    bench.wait(1);
    REQUIRE(!gpu.busy());
    REQUIRE(!gpu.withdraw.read());
    REQUIRE(gpu.error() == Status::aborted);
    require_right(bench, random);
  }
}

TEST_CASE("a reset empties the compute units at once, and nothing from before shows after it") {
  std::mt19937 random(9);
  ClusterBench bench(ClusterBench::small());
  ClusterUnderTest& gpu = bench.gpu();
  const Picoseconds duration = bench.run(some_gemm(bench).packet);
  for (const Picoseconds instant : instants(bench, duration)) {
    CAPTURE(instant);
    GemmPacket packet = some_gemm(bench).packet;
    packet.header.completion_signal = 5;
    gpu.put(bench.memory, packet);
    gpu.put(bench.memory, packet);
    gpu.ring();
    bench.wait(instant);
    gpu.cluster.registers.reset();
    REQUIRE(!gpu.busy());
    REQUIRE(gpu.completed() == 0);
    gpu.submitted = 0;
    gpu.start_queue();
    bench.memory.log.clear();
    require_right(bench, random);  // while answers from before still come
    bench.wait(2 * duration);
    REQUIRE(gpu.completed() == 1);
    REQUIRE(gpu.registers["interrupt"] == 1);
    REQUIRE(bench.memory.signal(0, 5) == 0);
    REQUIRE(!gpu.kernel_active.read());
    for (const LoggedAccess& access : bench.memory.log) {
      const bool is_packet = access.address >= ClusterUnderTest::queue_base;
      REQUIRE((is_packet || access.address < GemmCase::out_base + 64 * 128));
    }
  }
}

TEST_CASE("a reset frees a kernel that waits for a signal, an access that is never answered, or an abort's end") {
  std::mt19937 random(10);
  ClusterBench bench(ClusterBench::small(), true, 1);
  ClusterUnderTest& gpu = bench.gpu();
  for (const bool aborts : {false, true}) {
    gpu.put(bench.memory, small_ring().packet(handle::ring_all_gather, 0, 0, 1));
    gpu.ring();
    REQUIRE(!bench.finish());
    REQUIRE(gpu.busy());
    if (aborts) gpu.abort();
    bench.wait(1);
    gpu.cluster.registers.reset();  // the bench's memory goes on waiting
    bench.wait(1);
    REQUIRE(!gpu.busy());
    REQUIRE(!gpu.withdraw.read());
    gpu.submitted = 0;
    gpu.start_queue();
    require_right(bench, random);
    bench.memory.withdraw_waits();
    bench.wait(1'000'000);
    REQUIRE(gpu.completed() == 1);
    REQUIRE(gpu.registers["interrupt"] == 1);
    require_right(bench, random);
  }
}

}  // namespace t3vp::test::abort_test
