#include <catch2/catch.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "dram/memory_file.h"
#include "dram/replay.h"
#include "dram/traces.h"

namespace t3vp::test::replay_test {

using namespace t3vp::dram;

namespace {

std::string file_with(const std::string& name, const std::string& bytes) {
  const auto path = std::filesystem::temp_directory_path() / ("t3vp_" + name + ".bin");
  std::ofstream(path, std::ios::binary) << bytes;
  return path.string();
}

const std::string one_read(16, '\0');

std::vector<TraceRecord> read(const std::string& path) {
  return read_trace(path, shipped_memory("hbm2-legacy").geometry);
}

}  // namespace

TEST_CASE("A trace file is records of arrival and address, the top bit of the address marking writes") {
  std::string bytes = one_read;
  bytes += std::string("\x05\x00\x00\x00\x00\x00\x00\x00\x20\x01\x00\x00\x00\x00\x00\x80", 16);
  const auto trace = read(file_with("two", bytes));
  REQUIRE(trace.size() == 2);
  CHECK((trace[0].arrival_ns == 0 && trace[0].address == 0 && !trace[0].write));
  CHECK((trace[1].arrival_ns == 5 && trace[1].address == 0x120 && trace[1].write));
}

TEST_CASE("A bad trace file is named with what is wrong with it") {
  CHECK_THROWS_WITH(read("/nowhere/trace.bin"),
                    "/nowhere/trace.bin: found nothing that can be opened, expected a trace, records of 16 bytes");
  CHECK_THROWS_WITH(read(file_with("empty", "")), Catch::Contains("found 0 bytes"));
  CHECK_THROWS_WITH(read(file_with("odd", one_read + "x")),
                    Catch::Contains("17 bytes, expected a trace, records of 16 bytes"));
  const std::string late = one_read + std::string("\x01\x00\x00\x00\x00\x01\x00\x00", 8) + std::string(8, '\0');
  CHECK_THROWS_WITH(read(file_with("late", late)),
                    Catch::Contains("1099511627777 ns in record 1, expected at most 1099511627776 ns"));
  CHECK_THROWS_AS(read(std::filesystem::temp_directory_path().string()), TraceError);
}

TEST_CASE("One read takes the idle latency, and the report is its arithmetic") {
  const ReplayResult result = replay(shipped_memory("hbm2-legacy"), {{0, 0, false}});
  CHECK(result.accesses == 1);
  CHECK(result.time_ns == 29);
  CHECK(result.read_latency_mean_ns == 29);
  CHECK(result.bandwidth_GBps == Approx(32.0 / 29));
  CHECK(result.pct_peak == Approx(100.0 / 29));
  CHECK(result.row_hit_rate == 0);
}

TEST_CASE("The share of the peak is that of all pseudo-channels, 32 bytes a nanosecond in both memories") {
  for (const char* memory : {"hbm2-legacy", "hbm2-pseudo-channel"}) {
    CAPTURE(memory);
    const ReplayResult result = replay(shipped_memory(memory), make_trace("seq_read", 2'000));
    CHECK(result.pct_peak == Approx(100 * result.bandwidth_GBps / 32));
    CHECK(result.pct_peak > 60);
    CHECK(result.pct_peak <= 100);
  }
}

TEST_CASE("At most as many accesses as allowed are outstanding") {
  const auto trace = make_trace("chase_rand", 2'000);
  ReplayOptions options;
  double slower = 1e30;
  for (const std::uint32_t outstanding : {1u, 4u, 16u, 0u}) {
    options.outstanding = outstanding;
    const ReplayResult result = replay(shipped_memory("hbm2-legacy"), trace, options);
    CAPTURE(outstanding);
    CHECK(result.time_ns < slower);
    // Little's law: accesses in flight = throughput x latency.
    const double in_flight = result.read_latency_mean_ns * static_cast<double>(result.accesses) / result.time_ns;
    if (outstanding != 0) CHECK(in_flight <= outstanding);
    slower = result.time_ns;
  }
}

TEST_CASE("The next of one outstanding access enters when the initiator has seen the data") {
  const std::vector<TraceRecord> two_of_a_row = {{0, 0, false}, {0, 1024, false}};
  ReplayOptions options;
  options.outstanding = 1;
  MemorySpec legacy = shipped_memory("hbm2-legacy"), pseudo_channels = shipped_memory("hbm2-pseudo-channel");
  legacy.address_map = pseudo_channels.address_map = "bgint";
  // ACT 0, RD 14, data until 29; enters 30, RD 30, data until 45.
  CHECK(replay(legacy, two_of_a_row, options).time_ns == 45);
  // Enters at the end of 0, ACT 1, RD 15, data until 31; enters at the end of 31, RD 32, data until 48.
  CHECK(replay(pseudo_channels, two_of_a_row, options).time_ns == 48);
}

TEST_CASE("Timed traces count latency from the arrival, in the memory's clock") {
  MemorySpec spec = shipped_memory("hbm2-legacy");
  CHECK(replay(spec, {{1000, 0, false}}).time_ns == 1029);
  CHECK(replay(spec, {{1000, 0, false}}).read_latency_mean_ns == 29);
  spec.clock_GHz = 2;
  CHECK(replay(spec, {{1000, 0, false}}).time_ns == 1014.5);
  CHECK(replay(spec, {{1000, 0, false}}).read_latency_mean_ns == 14.5);
}

TEST_CASE("Writes can be replayed as near-memory updates") {
  const auto trace = make_trace("seq_write", 4'096);
  ReplayOptions updates;
  updates.writes_are_updates = true;
  const MemorySpec spec = shipped_memory("hbm2-legacy");
  CHECK(replay(spec, trace, updates).time_ns > 1.15 * replay(spec, trace).time_ns);
}

TEST_CASE("The command log has a line per command") {
  std::ostringstream log;
  ReplayOptions options;
  options.commands = &log;
  replay(shipped_memory("hbm2-legacy"), {{0, 32 + 32768, false}, {0, 8192, true}}, options);
  CHECK(log.str() ==
        "time_cycles,command,bank_group,bank,row,column,pseudo_channel\n"
        "0,ACT,0,0,1,-,0\n"
        "4,ACT,0,1,0,-,0\n"
        "14,RD,0,0,1,1,0\n"
        "29,WR,0,1,0,0,0\n");
}

TEST_CASE("Replays are deterministic") {
  const auto trace = make_trace("rand_mix50", 5'000);
  for (const char* memory : {"hbm2-legacy", "hbm2-pseudo-channel"}) {
    const ReplayResult first = replay(shipped_memory(memory), trace), second = replay(shipped_memory(memory), trace);
    CHECK(first.time_ns == second.time_ns);
    CHECK(first.read_latency_mean_ns == second.read_latency_mean_ns);
    CHECK(first.row_hit_rate == second.row_hit_rate);
  }
}

}  // namespace t3vp::test::replay_test
