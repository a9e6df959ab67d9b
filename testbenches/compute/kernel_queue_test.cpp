#include <catch2/catch.hpp>

#include "gemm_case.h"

namespace t3vp::test::kernel_queue_test {

using namespace compute;

namespace {

GemmCase small_gemm(const ClusterBench& bench, std::uint32_t m = 64) {
  return GemmCase(bench.parameters, m, 32, 16, ElementType::fp16);
}

}  // namespace

TEST_CASE("a doorbell runs packets in order and counts them") {
  ClusterBench bench(ClusterBench::small(), false);
  ClusterUnderTest& gpu = bench.gpu();
  REQUIRE(gpu.registers["compute_units"] == bench.parameters.compute_units);
  for (const std::uint32_t rows : {32u, 64u, 96u}) gpu.put(bench.memory, small_gemm(bench, rows).packet);
  REQUIRE(!gpu.busy());
  gpu.ring();
  REQUIRE(gpu.busy());
  REQUIRE(bench.finish());
  REQUIRE(gpu.completed() == 3);
  REQUIRE(gpu.cluster.finished_workgroups() == 1 + 2 + 3);
  std::vector<std::uint64_t> fetched;
  for (const LoggedAccess& access : bench.memory.accesses(Operation::load))
    if (access.traffic == TrafficClass::control) {
      fetched.push_back(access.address);
      REQUIRE(!access.cached);
    }
  const std::uint64_t base = ClusterUnderTest::queue_base;
  REQUIRE(fetched == std::vector<std::uint64_t>{base, base + 128, base + 256});
}

TEST_CASE("the ring wraps around, also while it runs") {
  ClusterBench bench(ClusterBench::small(), false);
  ClusterUnderTest& gpu = bench.gpu();
  for (int i = 0; i < 4; ++i) gpu.put(bench.memory, small_gemm(bench).packet);
  gpu.ring();
  while (gpu.completed() < 2) bench.wait(1'000'000);
  for (int i = 0; i < 2; ++i) gpu.put(bench.memory, small_gemm(bench, 32 * 5).packet);
  gpu.ring();
  REQUIRE(bench.finish());
  REQUIRE(gpu.completed() == 6);
  REQUIRE(gpu.cluster.finished_workgroups() == 4 * 2 + 2 * 5);
  for (int i = 0; i < 9; ++i) bench.run(small_gemm(bench).packet);
  REQUIRE(gpu.completed() == 15);
}

TEST_CASE("the first workgroup loads one launch latency after its packet has come") {
  ClusterBench bench(ClusterBench::small(), false);
  bench.run(small_gemm(bench).packet);
  const auto loads = bench.memory.accesses(Operation::load);
  const Picoseconds fetched = loads.at(0).arrival + bench.memory.latency;
  REQUIRE(loads.at(1).arrival == fetched + bench.parameters.launch_latency);
}

TEST_CASE("a finished kernel raises the interrupt until it is acknowledged") {
  ClusterBench bench(ClusterBench::small(), false);
  ClusterUnderTest& gpu = bench.gpu();
  REQUIRE(!gpu.interrupt.read());
  bench.run(small_gemm(bench).packet);
  bench.wait(1);
  REQUIRE(gpu.interrupt.read());
  REQUIRE(gpu.registers["interrupt"] == 1);
  REQUIRE(gpu.registers.set("interrupt", 2) == tlm::TLM_OK_RESPONSE);
  bench.wait(1);
  REQUIRE(gpu.interrupt.read());
  REQUIRE(gpu.registers.set("interrupt", 1) == tlm::TLM_OK_RESPONSE);
  bench.wait(1);
  REQUIRE(!gpu.interrupt.read());
}

TEST_CASE("kernel_active spans a GEMM from its launch, first_stage its first stage") {
  ComputeParameters p = ClusterBench::small();
  p.workgroups_per_cu = 1;
  ClusterBench bench(p, false);
  ClusterUnderTest& gpu = bench.gpu();
  const Picoseconds begin = now();
  gpu.put(bench.memory, small_gemm(bench, 32 * 9).packet);  // three stages on three compute units
  gpu.ring();
  struct Stage {
    Picoseconds active = 0, first = 0;
  } at;
  constexpr Picoseconds tick = 1'000;
  while (gpu.busy()) {
    bench.wait(tick);
    if (gpu.kernel_active.read()) at.active += tick;
    if (gpu.first_stage.read()) at.first += tick;
    if (gpu.cluster.finished_workgroups() > 0) REQUIRE(!gpu.first_stage.read());
    REQUIRE((gpu.kernel_active.read() || !gpu.first_stage.read()));
  }
  const Picoseconds running = now() - begin - bench.memory.latency - p.launch_latency;
  REQUIRE(at.active >= running - 3 * tick);
  REQUIRE(at.active <= running);
  REQUIRE(at.first >= running / 3 - 3 * tick);
  REQUIRE(at.first <= running / 3 + 3 * tick);
  REQUIRE(!gpu.kernel_active.read());
}

TEST_CASE("base and entries must be what they say, and cannot change once a packet has been announced") {
  ClusterBench bench(ClusterBench::small(), false);
  ClusterUnderTest& gpu = bench.gpu();
  RegisterDriver& driver = gpu.registers;
  REQUIRE(gpu.registers.set("base", gpu.here(0x40)) == tlm::TLM_GENERIC_ERROR_RESPONSE);
  REQUIRE(driver.take_report() == Status::unaligned);
  REQUIRE(gpu.registers.set("base", address_map::on_gpu(1, 0)) == tlm::TLM_GENERIC_ERROR_RESPONSE);
  REQUIRE(driver.take_report() == Status::bad_address);
  REQUIRE(gpu.registers.set("base", gpu.here(address_map::registers_base)) == tlm::TLM_GENERIC_ERROR_RESPONSE);
  REQUIRE(driver.take_report() == Status::bad_address);
  REQUIRE(gpu.registers["base"] == gpu.here(ClusterUnderTest::queue_base));
  for (const std::uint64_t entries : {0u, 3u, 512u}) {
    REQUIRE(gpu.registers.set("entries", entries) == tlm::TLM_GENERIC_ERROR_RESPONSE);
    REQUIRE(driver.take_report() == Status::invalid_argument);
  }
  gpu.put(bench.memory, small_gemm(bench).packet);
  gpu.ring();
  REQUIRE(gpu.registers.set("entries", 8) == tlm::TLM_GENERIC_ERROR_RESPONSE);
  REQUIRE(driver.take_report() == Status::busy);
  REQUIRE(bench.finish());
  for (const auto& [name, value] : {std::pair{"entries", std::uint64_t{8}}, {"base", gpu.here(0x4000)}}) {
    REQUIRE(gpu.registers.set(name, value) == tlm::TLM_GENERIC_ERROR_RESPONSE);
    REQUIRE(driver.take_report() == Status::busy);
    REQUIRE(gpu.registers.set(name, gpu.registers[name]) == tlm::TLM_OK_RESPONSE);
  }
}

TEST_CASE("a doorbell cannot announce more packets than the ring holds, nor take any back") {
  ClusterBench bench(ClusterBench::small(), false);
  ClusterUnderTest& gpu = bench.gpu();
  bench.run(small_gemm(bench).packet);
  for (const std::uint64_t rung : {std::uint64_t{0}, std::uint64_t{6}, ~std::uint64_t{0}}) {
    REQUIRE(gpu.registers.set("doorbell", rung) == tlm::TLM_GENERIC_ERROR_RESPONSE);
    REQUIRE(gpu.registers.take_report() == Status::invalid_argument);
    REQUIRE(!gpu.busy());
  }
  for (int i = 0; i < 3; ++i) gpu.put(bench.memory, small_gemm(bench).packet);
  gpu.ring();
  for (const std::uint64_t rung : {1u, 2u, 3u, 4u}) {  // none of these packets has ended
    REQUIRE(gpu.registers.set("doorbell", rung) == tlm::TLM_GENERIC_ERROR_RESPONSE);
    REQUIRE(gpu.registers.take_report() == Status::invalid_argument);
  }
  REQUIRE(bench.finish());
  REQUIRE(gpu.completed() == 4);
}

TEST_CASE("a doorbell before the ring has been set is refused") {
  ComputeParameters p = ClusterBench::small();
  ClusterUnderTest gpu(p, false, 0);
  NodeMemory memory("memory", 1, 1, ClusterBench::memory_bytes);
  gpu.cluster.memory.bind(*memory.ports[0]);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  REQUIRE(gpu.registers.set("doorbell", 1) == tlm::TLM_GENERIC_ERROR_RESPONSE);
  REQUIRE(gpu.registers.take_report() == Status::invalid_argument);
  REQUIRE(!gpu.busy());
  gpu.start_queue();
  gpu.put(memory, GemmCase(p, 64, 32, 16, ElementType::fp16).packet);
  gpu.ring();
  sc_core::sc_start(1, sc_core::SC_MS);
  REQUIRE(gpu.completed() == 1);
}

TEST_CASE("a packet that cannot be read is a bad packet, and the next one runs") {
  ClusterBench bench(ClusterBench::small(), false);
  ClusterUnderTest& gpu = bench.gpu();
  bench.memory.judge = [](const LoggedAccess& access) {
    return access.address == ClusterUnderTest::queue_base ? tlm::TLM_ADDRESS_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE;
  };
  bench.run(small_gemm(bench).packet);
  REQUIRE(gpu.error() == Status::bad_packet);
  REQUIRE((gpu.registers["interrupt"] & 3) == 3);
  REQUIRE(gpu.registers.reported.at(0).address == gpu.here(ClusterUnderTest::queue_base));
  REQUIRE(gpu.registers.take_report() == Status::bad_packet);
  bench.run(small_gemm(bench).packet);
  REQUIRE(gpu.error() == Status::ok);
  REQUIRE(gpu.cluster.finished_workgroups() == 2);
}

TEST_CASE("an error of memory ends a kernel: no further workgroups start, those that run finish") {
  ClusterBench bench(ClusterBench::small());
  ClusterUnderTest& gpu = bench.gpu();
  const std::pair<tlm::tlm_response_status, Status> answers[] = {
      {tlm::TLM_ADDRESS_ERROR_RESPONSE, Status::bad_address},
      {tlm::TLM_BURST_ERROR_RESPONSE, Status::unaligned},
      {tlm::TLM_COMMAND_ERROR_RESPONSE, Status::access_denied},
      {tlm::TLM_GENERIC_ERROR_RESPONSE, Status::disabled}};
  for (const Operation operation : {Operation::load, Operation::store})
    for (const auto& [response, status] : answers) {
      bench.memory.judge = [&, wrong_response = response](const LoggedAccess& access) {
        const bool wrong =
            access.operation == operation && access.traffic != TrafficClass::control && access.address % 0x400 == 0;
        return wrong ? wrong_response : tlm::TLM_OK_RESPONSE;
      };
      const std::uint64_t before = gpu.cluster.finished_workgroups();
      bench.run(small_gemm(bench, 32 * 20).packet);
      REQUIRE(gpu.error() == status);
      REQUIRE((gpu.registers["interrupt"] & 2) != 0);
      const std::uint64_t finished = gpu.cluster.finished_workgroups() - before;
      REQUIRE(finished >= 6);
      REQUIRE(finished < 20);
      bench.memory.judge = nullptr;
      bench.run(small_gemm(bench).packet);
      REQUIRE(gpu.error() == Status::ok);
    }
}

TEST_CASE("a waiting kernel says what it waits for, an idle cluster nothing") {
  ClusterBench bench(ClusterBench::small(), false);
  ClusterUnderTest& gpu = bench.gpu();
  REQUIRE(gpu.cluster.diagnosis().empty());
  gpu.put(bench.memory, small_gemm(bench, 32 * 8).packet);
  gpu.ring();
  bench.wait(bench.memory.latency + bench.parameters.launch_latency + 1);
  REQUIRE(gpu.cluster.diagnosis().size() == 1);
  REQUIRE_THAT(gpu.cluster.diagnosis().front(),
               Catch::Contains("kernel 1 of 1") && Catch::Contains("6 workgroups have started, 0 are done"));
  REQUIRE(bench.finish());
  REQUIRE(gpu.cluster.diagnosis().empty());
}

}  // namespace t3vp::test::kernel_queue_test
