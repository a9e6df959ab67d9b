#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "dram/memory_file.h"
#include "dram/random_memory.h"
#include "dram/scripted_channel.h"

namespace t3vp::test::channel_test {

using namespace t3vp::dram;

namespace {

constexpr std::uint64_t memory_bytes = std::uint64_t{1} << 24;

std::vector<MemorySpec> memories() {
  std::vector<MemorySpec> specs{shipped_memory("hbm2-legacy"), shipped_memory("hbm2-pseudo-channel")};
  for (std::uint32_t seed = 101; seed <= 120; ++seed) specs.push_back(random_memory(seed));
  return specs;
}

bool same_commands(const std::vector<Command>& a, const std::vector<Command>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Command& x, const Command& y) {
    return x.cycle == y.cycle && x.kind == y.kind && x.pseudo_channel == y.pseudo_channel &&
           x.bank_group == y.bank_group && x.bank == y.bank && x.row == y.row && x.column == y.column;
  });
}

}  // namespace

TEST_CASE("Results do not depend on how time is cut into slices") {
  std::uint32_t seed = 0;
  for (const MemorySpec& spec : memories()) {
    const auto script = random_script(++seed, 3'000, memory_bytes);
    const Outcome whole = run_script(spec, script);
    std::mt19937 random(seed);
    const std::vector<std::function<Cycle()>> slicings{[] { return Cycle{1}; }, [] { return Cycle{64}; },
                                                       [&random] { return Cycle{1 + random() % 200}; }};
    for (const auto& slicing : slicings) {
      const Outcome sliced = run_script(spec, script, slicing);
      CAPTURE(seed);
      REQUIRE(sliced.completions == whole.completions);
      REQUIRE(same_commands(sliced.commands, whole.commands));
      REQUIRE(sliced.entries == whole.entries);
    }
  }
}

TEST_CASE("Every access is done exactly once, after it entered, with its own kind") {
  std::uint32_t seed = 50;
  for (const MemorySpec& spec : memories()) {
    const auto script = random_script(++seed, 3'000, memory_bytes);
    const Outcome outcome = run_script(spec, script);
    std::set<std::uint32_t> tags;
    for (const Completion& completion : outcome.completions) {
      REQUIRE(tags.insert(completion.tag).second);
      REQUIRE(completion.kind == script[completion.tag].kind);
      const Cycle latency = completion.kind == Kind::read ? spec.timing.CL : spec.timing.CWL;
      REQUIRE(completion.cycle >= outcome.entries[completion.tag] + latency + spec.timing.BURST);
    }
    REQUIRE(tags.size() == script.size());
    REQUIRE(outcome.statistics.column_accesses() == script.size());
    REQUIRE(outcome.idle_at_end);
  }
}

TEST_CASE("Accesses to one address are done in their order of entry, whatever their kinds") {
  std::uint32_t seed = 200;
  for (const MemorySpec& spec : memories()) {
    const auto script = random_script(++seed, 3'000, 4096);
    std::map<std::uint64_t, std::uint32_t> last;
    for (const Completion& completion : run_script(spec, script).completions) {
      const auto [at, first] = last.emplace(script[completion.tag].address, completion.tag);
      CAPTURE(seed, completion.tag, at->second);
      REQUIRE((first || at->second < completion.tag));
      at->second = completion.tag;
    }
  }
}

TEST_CASE("Data never exceed the bus, and the occupancy never exceeds the queues") {
  std::uint32_t seed = 300;
  for (const MemorySpec& spec : memories()) {
    const auto script = random_script(++seed, 3'000, memory_bytes);
    const Outcome outcome = run_script(spec, script);
    const ChannelStatistics& s = outcome.statistics;
    const std::uint32_t pseudo_channels = spec.geometry.pseudo_channels;
    REQUIRE(s.data_bus_cycles == script.size() * spec.timing.BURST);
    REQUIRE(s.data_bus_cycles <= outcome.end * pseudo_channels);
    REQUIRE(s.occupancy_cycles <= outcome.end * 2 * spec.queue_depth);
    REQUIRE(s.occupancy_cycles > 0);
  }
}

TEST_CASE("Every command is counted under its own name: as many as the log has of each") {
  std::uint32_t seed = 400;
  for (MemorySpec spec : memories()) {
    spec.refresh = false;  // an idle channel is refreshed behind the end of the log
    const Outcome outcome = run_script(spec, random_script(++seed, 3'000, memory_bytes));
    const auto logged = [&](CommandKind kind) {
      return static_cast<std::uint64_t>(std::count_if(outcome.commands.begin(), outcome.commands.end(),
                                                      [kind](const Command& c) { return c.kind == kind; }));
    };
    const ChannelStatistics& s = outcome.statistics;
    CAPTURE(seed);
    CHECK(s.activates == logged(CommandKind::activate));
    CHECK(s.precharges == logged(CommandKind::precharge));
    CHECK(s.reads == logged(CommandKind::read));
    CHECK(s.writes == logged(CommandKind::write));
    CHECK(s.updates == logged(CommandKind::update));
    CHECK(s.refreshes == 0);
    CHECK(s.activates > s.precharges);  // rows stay open
  }
}

TEST_CASE("The occupancy integral is the time that accesses wait in the queue") {
  MemorySpec spec = shipped_memory("hbm2-legacy");
  // The second waits from its entry at 1 until its bank is free after the first's column command at 14.
  const Outcome outcome = run_script(spec, {{0, 0, Kind::read}, {0, 32, Kind::read}});
  CHECK(outcome.entries == std::vector<Cycle>{0, 1});
  CHECK(outcome.statistics.occupancy_cycles == 14);
}

TEST_CASE("A channel's waits add up to its time with accesses, each by its reason") {
  MemorySpec spec = shipped_memory("hbm2-legacy");
  const auto waits = [](const Outcome& outcome, Wait reason) {
    return outcome.statistics.waits[static_cast<std::size_t>(reason)];
  };
  const auto last_column = [](const Outcome& outcome) { return outcome.commands.back().cycle; };
  const auto sum = [&](const Outcome& outcome) {
    return waits(outcome, Wait::bandwidth) + waits(outcome, Wait::turnaround) + waits(outcome, Wait::row_miss) +
           waits(outcome, Wait::update);
  };
  const Cycle burst = spec.timing.BURST, opening = 14 - burst;  // "0 ACT, 14 RD"
  const Outcome reads = run_script(spec, {{0, 0, Kind::read}, {0, 32, Kind::read}});
  CHECK(waits(reads, Wait::row_miss) == opening);
  CHECK(waits(reads, Wait::bandwidth) == last_column(reads) - opening);
  const Outcome turned = run_script(spec, {{0, 0, Kind::read}, {0, 32, Kind::write}});
  CHECK(waits(turned, Wait::row_miss) == opening);
  CHECK(waits(turned, Wait::turnaround) == last_column(turned) - 14 - burst);
  CHECK(sum(turned) == last_column(turned));
  const Outcome updated = run_script(spec, {{0, 0, Kind::update}, {0, 32, Kind::update}});
  CHECK(waits(updated, Wait::update) > 0);
  CHECK(sum(updated) == last_column(updated));
  // Idle time between two accesses is no wait.
  const Outcome apart = run_script(spec, {{0, 0, Kind::read}, {500, 32, Kind::read}});
  CHECK(sum(apart) < 14 + 100);
  std::uint32_t seed = 600;
  for (const MemorySpec& memory : memories()) {
    const Outcome outcome = run_script(memory, random_script(++seed, 3'000, memory_bytes));
    CHECK(sum(outcome) <= outcome.end);
    CHECK(waits(outcome, Wait::bandwidth) > 0);
  }
}

TEST_CASE("The feed is asked again when its own time comes, and after a refusal when the channel has changed") {
  for (const Fed at_last : {Fed::none, Fed::refused}) {
    Channel channel(shipped_memory("hbm2-legacy"));
    std::vector<Cycle> asked;
    unsigned fed = 0;
    const auto feed = [&](Cycle now, unsigned occupancy, Access& access, Cycle& retry) {
      asked.push_back(now);
      CHECK(occupancy == 0);
      retry = fed == 0 ? 5 : never_cycle;
      if (fed == 1) return at_last;
      if (now < 5) return Fed::none;
      access = {0, Kind::read, fed++, 1};
      return Fed::access;
    };
    channel.run(100, feed, [](std::uint32_t, Kind, Cycle, std::uint32_t) {});
    std::vector<Cycle> expected{0, 5, 6};
    if (at_last == Fed::refused) expected.push_back(20);  // bound at 5, read at 19
    CHECK(asked == expected);
  }
}

TEST_CASE("A queue of writes is drained in bursts, and reads go first otherwise") {
  MemorySpec spec = shipped_memory("hbm2-pseudo-channel");
  spec.refresh = false;
  std::vector<Arrival> script;
  for (std::uint64_t i = 0; i < 1'500; ++i) {
    script.push_back({0, i * 32, Kind::read});
    script.push_back({0, memory_bytes + i * 32, Kind::write});
  }
  const Outcome outcome = run_script(spec, script);
  std::size_t turns = 0;
  for (std::size_t i = 1; i < outcome.completions.size(); ++i)
    turns += outcome.completions[i].kind != outcome.completions[i - 1].kind ? 1u : 0u;
  CHECK(turns < outcome.completions.size() / 8);
}

namespace {

/// Reads of one row of a bank in the first cycles, then writes of one row of another bank; who had its column command,
/// in order: "r0 w0 w1".
std::string order_of(unsigned reads, unsigned writes, Kind kind = Kind::write) {
  MemorySpec spec = shipped_memory("hbm2-legacy");
  spec.queueing = Queueing::split_oldest_first;
  spec.queue_depth = 10;
  spec.write_drain_from = 0.75;  // of 10, rounded down: 7
  spec.write_drain_to = 0.45;    // 4
  constexpr std::uint64_t column_step = 32, bank_step = 8192;
  std::vector<Arrival> script;
  for (std::uint64_t i = 0; i < reads; ++i) script.push_back({0, i * column_step, Kind::read});
  for (std::uint64_t i = 0; i < writes; ++i) script.push_back({0, bank_step + i * column_step, kind});
  std::string order;
  for (const Completion& completion : run_script(spec, script).completions) {
    const bool is_read = completion.tag < reads;
    order += (order.empty() ? "" : " ") + std::string(is_read ? "r" : "w") +
             std::to_string(is_read ? completion.tag : completion.tag - reads);
  }
  return order;
}

}  // namespace

// An access enters in each cycle: four reads from 0 to 3, and seven writes from 4 to 10. The first read's bank takes it
// at 1 and reads at 15. The other reads wait behind it when the seventh write has entered, so the burst begins: three
// writes go, and with four left reads go first again.
TEST_CASE("A burst of writes starts with exactly write_drain_from and ends with exactly write_drain_to of the queue") {
  CHECK(order_of(4, 6) == "r0 r1 r2 r3 w0 w1 w2 w3 w4 w5");
  CHECK(order_of(4, 7) == "r0 w0 w1 w2 r1 r2 r3 w3 w4 w5 w6");
  CHECK(order_of(4, 7, Kind::update) == "r0 w0 w1 w2 r1 r2 r3 w3 w4 w5 w6");
}

TEST_CASE("A specification that no channel can have is refused") {
  const auto refused = [](const std::function<void(MemorySpec&)>& change) {
    MemorySpec spec = shipped_memory("hbm2-legacy");
    change(spec);
    CHECK_THROWS_AS(Channel(spec), std::invalid_argument);
  };
  refused([](MemorySpec& s) { s.geometry.pseudo_channels = 16; });
  refused([](MemorySpec& s) { s.geometry.bank_groups = 3; });
  refused([](MemorySpec& s) { s.queue_depth = 0; });
  refused([](MemorySpec& s) { s.queue_depth = 65535; });
  refused([](MemorySpec& s) {
    s.queue_depth = 32768;
    s.queueing = Queueing::split_oldest_first;
  });
  refused([](MemorySpec& s) { s.refresh = true; });
  refused([](MemorySpec& s) { s.write_drain_to = 0.9; });
  refused([](MemorySpec& s) { s.address_map = "linear"; });
}

}  // namespace t3vp::test::channel_test
