// Command sequences of the legacy memory, derived manually from Table 1's timings.
#include <array>
#include <catch2/catch.hpp>
#include <set>

#include "dram/memory_file.h"
#include "dram/scripted_channel.h"

namespace t3vp::test::commands_test {

using namespace t3vp::dram;

namespace {

// Map accel: byte 0-4, column 5-7, bank group bit 8, column 9-11, bank group bit 12, bank 13-14, row from 15.
constexpr std::uint64_t column_step = 32, group_step = 256, bank_step = 8192, row_step = 32768;

std::string commands_of(const std::vector<Arrival>& script) {
  return brief(run_script(shipped_memory("hbm2-legacy"), script).commands);
}

}  // namespace

TEST_CASE("A read of a closed bank: activate, RCD later the read, CL and the burst later the data") {
  const Outcome outcome = run_script(shipped_memory("hbm2-legacy"), {{10, 0, Kind::read}});
  CHECK(brief(outcome.commands) == "10 ACT, 24 RD");
  CHECK(outcome.completions.front().cycle == 24 + 14 + 1);
  CHECK(outcome.idle_at_end);
}

TEST_CASE("Reads of one row follow each other by CCDL, of two bank groups by CCD") {
  CHECK(commands_of({{0, 0, Kind::read}, {0, column_step, Kind::read}, {0, 2 * column_step, Kind::read}}) ==
        "0 ACT, 14 RD, 16 RD, 18 RD");
  CHECK(commands_of({{0, 0, Kind::read}, {0, group_step, Kind::read}}) == "0 ACT, 4 ACT, 14 RD, 18 RD");
  CHECK(commands_of(
            {{0, 0, Kind::read}, {0, group_step, Kind::read}, {60, 0, Kind::read}, {60, group_step, Kind::read}}) ==
        "0 ACT, 4 ACT, 14 RD, 18 RD, 60 RD, 61 RD");
}

TEST_CASE("A read of another row of the bank waits for RAS, then RP, then RCD") {
  CHECK(commands_of({{0, 0, Kind::read}, {0, row_step, Kind::read}}) == "0 ACT, 14 RD, 33 PRE, 47 ACT, 61 RD");
}

TEST_CASE("A read in the bank group holds back the precharge of its other banks by RTPL") {
  CHECK(
      commands_of(
          {{0, 0, Kind::read}, {0, bank_step, Kind::read}, {34, bank_step, Kind::read}, {36, row_step, Kind::read}}) ==
      "0 ACT, 4 ACT, 14 RD, 18 RD, 34 RD, 38 PRE, 52 ACT, 66 RD");
}

TEST_CASE("Updates keep their bank group for CCDWL = 4, writes for CCDL = 2 (T3 Table 1)") {
  CHECK(commands_of({{0, 0, Kind::update}, {0, 32, Kind::update}, {0, 64, Kind::update}}) ==
        "0 ACT, 11 UPD, 15 UPD, 19 UPD");
  CHECK(commands_of({{0, 0, Kind::write}, {0, 32, Kind::write}, {0, 64, Kind::write}}) == "0 ACT, 11 WR, 13 WR, 15 WR");
  CHECK(commands_of({{0, 0, Kind::update}, {0, 32, Kind::write}}) == "0 ACT, 11 UPD, 15 WR");
  CHECK(commands_of({{0, 0, Kind::write}, {0, 32, Kind::update}}) == "0 ACT, 11 WR, 13 UPD");
}

TEST_CASE("Another bank group takes an update in the next cycle") {
  CHECK(commands_of({{0, 0, Kind::read},
                     {0, group_step, Kind::read},
                     {60, 0, Kind::update},
                     {60, group_step, Kind::update},
                     {60, 32, Kind::update},
                     {60, group_step + 32, Kind::update}}) ==
        "0 ACT, 4 ACT, 14 RD, 18 RD, 60 UPD, 61 UPD, 64 UPD, 65 UPD");
}

TEST_CASE("The bus turns round: read to write RTW, update to read CWL + burst + WTR") {
  CHECK(commands_of({{0, 0, Kind::read}, {0, 32, Kind::write}}) == "0 ACT, 14 RD, 29 WR");
  CHECK(commands_of({{0, 0, Kind::update}, {0, 32, Kind::read}}) == "0 ACT, 11 UPD, 17 RD");
}

TEST_CASE("Activates are RRD apart, and a write holds its bank open for the write recovery") {
  CHECK(commands_of({{0, 0, Kind::read}, {0, bank_step, Kind::read}, {0, 2 * bank_step, Kind::read}}) ==
        "0 ACT, 4 ACT, 8 ACT, 14 RD, 18 RD, 22 RD");
  CHECK(commands_of({{0, 0, Kind::read}, {50, 0, Kind::write}, {51, row_step, Kind::read}}) ==
        "0 ACT, 14 RD, 50 WR, 65 PRE, 79 ACT, 93 RD");
}

TEST_CASE("Row hits overtake an older conflict in their bank, up to the last one queued") {
  CHECK(commands_of({{0, 0, Kind::read}, {1, row_step, Kind::read}, {2, 32, Kind::read}, {3, 64, Kind::read}}) ==
        "0 ACT, 14 RD, 16 RD, 18 RD, 33 PRE, 47 ACT, 61 RD");
}

TEST_CASE("Pseudo-channels: activates share the row bus for two cycles each, refresh closes all banks") {
  MemorySpec spec = shipped_memory("hbm2-pseudo-channel");
  CHECK(brief(run_script(spec, {{0, 0, Kind::read}, {0, 32, Kind::read}}).commands) == "1 ACT, 3 ACT, 15 RD, 17 RD");
  const Outcome outcome = run_script(spec, {{3850, 0, Kind::read}, {3899, 64 * 4, Kind::read}});
  CHECK(brief(outcome.commands) == "3851 ACT, 3865 RD, 3900 PREA, 3901 REF, 3914 REF, 4174 ACT, 4188 RD");
}

TEST_CASE("Statistics count every command of the log and a precharge of all banks once for each that it closes") {
  const MemorySpec spec = shipped_memory("hbm2-pseudo-channel");
  REQUIRE(spec.refresh);
  // In slices of a cycle the channel ends with the last data, and so do its statistics.
  const Outcome outcome = run_script(spec, random_script(7, 4000, std::uint64_t{1} << 24), [] { return Cycle{1}; });
  ChannelStatistics counted;
  std::set<std::array<std::uint32_t, 3>> open;  // pseudo-channel, bank group and bank
  std::uint64_t closed_together = 0;
  for (const Command& c : outcome.commands) {
    const std::array<std::uint32_t, 3> bank{c.pseudo_channel, c.bank_group, c.bank};
    switch (c.kind) {
      case CommandKind::activate:
        ++counted.activates;
        open.insert(bank);
        break;
      case CommandKind::precharge:
        ++counted.precharges;
        open.erase(bank);
        break;
      case CommandKind::precharge_all:
        for (auto one = open.begin(); one != open.end();)
          if ((*one)[0] == c.pseudo_channel)
            one = open.erase(one), ++closed_together;
          else
            ++one;
        break;
      case CommandKind::read:
        ++counted.reads;
        break;
      case CommandKind::write:
        ++counted.writes;
        break;
      case CommandKind::update:
        ++counted.updates;
        break;
      case CommandKind::refresh:
        ++counted.refreshes;
        break;
    }
  }
  REQUIRE(closed_together > 0);
  CHECK(outcome.statistics.precharges == counted.precharges + closed_together);
  CHECK(outcome.statistics.activates == counted.activates);
  CHECK(outcome.statistics.refreshes == counted.refreshes);
  CHECK(outcome.statistics.reads == counted.reads);
  CHECK(outcome.statistics.writes == counted.writes);
  CHECK(outcome.statistics.updates == counted.updates);
  CHECK(outcome.statistics.activates == outcome.statistics.precharges + open.size());
}

}  // namespace t3vp::test::commands_test
