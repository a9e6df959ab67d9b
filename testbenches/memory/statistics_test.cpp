// The controller's statistics, against counts and times that were computed manually.
#include "data_path/register_values.h"
#include "memory/memory_bench.h"

namespace t3vp::test::statistics_test {

using namespace memory;

namespace {

constexpr Picoseconds cycle = 1'000;  // 1 GHz

MemoryParameters channels_in_turn(std::uint32_t channels) {
  MemoryParameters parameters = MemoryBench::small(channels);
  parameters.channel_hash = false;
  return parameters;
}

DataAccess access_of(Operation operation, std::uint64_t address, std::uint32_t bytes) {
  DataAccess access;
  access.operation = operation;
  access.address = local(address);
  access.shape = {1, bytes, 0};
  return access;
}

/// A first stage of 224 cycles in which 64 bytes of one row are read. The second column access waits in the queue from
/// its entry in cycle 1 until its bank has read the first one in cycle 14 (tRCDRD): 14 entry-cycles, a mean of 1/16
/// over the stage of one channel.
void require_observed(std::uint32_t channels) {
  MemoryBench bench(channels_in_turn(channels));
  REQUIRE(bench.parameters.dram.clock_GHz == 1.0);
  REQUIRE(bench.parameters.dram.timing.RCDRD == 14);
  const Picoseconds begin = now();
  bench.kernel_active.write(true);
  bench.first_stage.write(true);
  bench.send(bench.cache, access_of(Operation::load, 0, 64));
  bench.run_for(224 * cycle);
  REQUIRE(now() == begin + 224 * cycle);
  bench.first_stage.write(false);
  bench.run_for(1);
  CHECK(statistic_values(bench.controller).at("statistic observed_occupancy") == 1.0 / 16 / channels);
  CHECK(bench.registers["observed"] == 256 / 16 / channels);
}

}  // namespace

TEST_CASE("the observed occupancy is reported in entries, a mean over the cycles of the first stage") {
  require_observed(1);
}
TEST_CASE("the observed occupancy of two channels of which one is idle is half of the other's") { require_observed(2); }

// Row after row of one bank is opened: the row before it is closed first, and the last one stays open.
TEST_CASE("activates and precharges are counted apart: of eleven rows of a bank ten are closed") {
  MemoryBench bench(channels_in_turn(1));
  const dram::AddressDecoder decoder(bench.parameters.dram);
  std::vector<std::uint64_t> rows;
  for (std::uint64_t address = 0; rows.size() < 11; address += 1024)
    if (decoder.bank(address) == decoder.bank(0) && (rows.empty() || decoder.row(address) != decoder.row(rows.back())))
      rows.push_back(address);
  for (const std::uint64_t address : rows) {
    bench.send(bench.cache, access_of(Operation::load, address, 64));  // two column accesses, the second one a hit
    MemoryBench::settle();
  }
  const auto all = statistic_values(bench.controller);
  CHECK(all.at("statistic activates") == 11);
  CHECK(all.at("statistic precharges") == 10);
  CHECK(all.at("statistic refreshes") == 0);
  CHECK(all.at("statistic reads") == 22);
  CHECK(all.at("statistic writes") == 0);
  CHECK(all.at("statistic updates") == 0);
  CHECK(all.at("statistic row_hit_rate") == 0.5);
}

TEST_CASE("after a reset every register of the memory side is that of a new GPU, and the DRAM's counts go on") {
  MemoryBench bench;
  const auto of_controller = [&] { return register_values(bench.controller.registers.description(), bench.registers); };
  const auto of_near_memory = [&] {
    return register_values(bench.controller.near_memory.description(), bench.near_memory);
  };
  const Values fresh = of_controller(), fresh_near_memory = of_near_memory();
  bench.set(bench.kernel_active, true);
  bench.set(bench.first_stage, true);
  for (std::uint64_t i = 0; i < 64; ++i) bench.send(bench.cache, access_of(Operation::load, i * 1024, 1024));
  bench.send(bench.bypass, access_of(Operation::update, 0, 64));
  bench.run_for(2'000 * cycle);
  bench.set(bench.first_stage, false);
  bench.registers.set("arbitration", 2 | 10u << 8);
  bench.registers.set("aging_ps", 5000);
  MemoryBench::settle();
  const Values driven = of_controller();
  for (const char* name : {"observed 0", "arbitration 0", "aging_ps 0", "active_limit 0"}) {
    CAPTURE(name);
    CHECK(driven.at(name) != fresh.at(name));
  }
  CHECK(of_near_memory().at("updates 0") == 32);  // of fp16
  bench.set(bench.kernel_active, false);
  const auto counted = statistic_values(bench.controller);
  bench.controller.registers.reset();
  bench.controller.near_memory.reset();
  bench.run_for(1);
  CHECK(of_controller() == fresh);
  CHECK(of_near_memory() == fresh_near_memory);
  for (const auto& [name, value] : statistic_values(bench.controller)) {
    CAPTURE(name);
    CHECK(value == counted.at(name));
  }
}

}  // namespace t3vp::test::statistics_test
