// The arbitration policies in the controller: one channel, column accesses of one 32-byte entry each. A store is
// answered when it enters the DRAM queue, so answers show who was chosen.
#include <algorithm>

#include "data_path/register_values.h"
#include "memory/memory_bench.h"

namespace t3vp::test::policy_test {

using namespace memory;

namespace {

enum : std::uint64_t { round_robin = 0, compute_first = 1, mca = 2, select_policy = 3 };

struct PolicyBench : MemoryBench {
  explicit PolicyBench(const MemoryParameters& p = small(1)) : MemoryBench(p) {}

  void choose(std::uint64_t policy, std::uint64_t limit = 0) {
    REQUIRE(registers.set("arbitration", policy | limit << 8) == tlm::TLM_OK_RESPONSE);
  }

  void flood(Stream stream, Operation operation, const std::vector<std::uint64_t>& addresses) {
    DataInitiator& initiator = stream == Stream::compute ? cache : dma;
    for (const std::uint64_t address : addresses)
      send(initiator, {operation, local(address), {1, 32, 0}, {}, stream, TrafficClass::control, {}, {}});
  }

  /// Answer times and their streams, in the order of time.
  std::vector<std::pair<Picoseconds, Stream>> entered() const {
    std::vector<std::pair<Picoseconds, Stream>> entries;
    for (const DataAnswer& answer : cache.answers()) entries.emplace_back(answer.at, Stream::compute);
    for (const DataAnswer& answer : dma.answers()) entries.emplace_back(answer.at, Stream::communication);
    std::sort(entries.begin(), entries.end());
    return entries;
  }

  /// Entries in the DRAM queue or taken by a bank, of communication stores alone: answered, but not yet issued.
  std::uint64_t waiting_stores() const {
    const std::uint64_t answered = dma.answers().size() - dma.unanswered();
    return answered - controller.dram_accesses();
  }
};

/// Row hits, over and over in 16 KiB.
std::vector<std::uint64_t> in_sequence(std::uint64_t from, std::size_t count) {
  std::vector<std::uint64_t> addresses;
  for (std::size_t i = 0; i < count; ++i) addresses.push_back(from + i * 32 % 16384);
  return addresses;
}

/// Different rows of one bank: served one after another, tRC apart.
std::vector<std::uint64_t> in_one_bank(const MemoryParameters& parameters, std::size_t count) {
  const dram::AddressDecoder decoder(parameters.dram);
  std::vector<std::uint64_t> addresses{0};
  for (std::uint64_t address = 0; addresses.size() < count; address += 1024)
    if (decoder.bank(address) == decoder.bank(0) && decoder.row(address) != decoder.row(addresses.back()))
      addresses.push_back(address);
  return addresses;
}

/// Shares no hash bucket of the stream queues with the 16 KiB at 0, so that the order of addresses plays no part.
constexpr std::uint64_t far = (8 << 20) + (32 << 10);

/// Compute floods the channel for longer than communication may wait; each of its accesses then goes first.
void check_aging(double clock_GHz) {
  MemoryParameters parameters = MemoryBench::small(1);
  parameters.dram.clock_GHz = clock_GHz;
  PolicyBench bench(parameters);
  bench.set(bench.kernel_active, true);
  bench.choose(mca, 30);
  bench.registers.set("aging_ps", 1'000'000);
  bench.flood(Stream::compute, Operation::store, in_sequence(0, static_cast<std::size_t>(8000 * clock_GHz)));
  bench.flood(Stream::communication, Operation::store, in_sequence(far, 5));
  bench.settle();
  REQUIRE(bench.cache.answers().back().at - bench.cache.answers().back().arrival > 7'000'000);  // compute kept it busy
  for (std::size_t i = 0; i < 5; ++i) {
    const Picoseconds waited = bench.dma.answer(i).at - bench.dma.answer(i).arrival;
    CAPTURE(i, waited);
    REQUIRE(waited >= (i + 1) * 1'000'000);
    REQUIRE(waited <= (i + 1) * 1'100'000);
  }
  const auto counted = statistic_values(bench.controller);
  CHECK(counted.at("statistic communication") == 5);
  CHECK(counted.at("statistic aged") == 5);
}

}  // namespace

TEST_CASE("round-robin alternates entry by entry while both streams are busy") {
  PolicyBench bench;
  bench.choose(round_robin);
  bench.flood(Stream::compute, Operation::store, in_sequence(0, 300));
  bench.flood(Stream::communication, Operation::store, in_sequence(far, 300));
  bench.settle();
  const auto entries = bench.entered();
  for (std::size_t i = 1; i < entries.size(); ++i) REQUIRE(entries[i].second != entries[i - 1].second);
}

TEST_CASE("compute-first never issues communication while compute waits") {
  PolicyBench bench;
  bench.choose(compute_first);
  bench.flood(Stream::communication, Operation::store, in_sequence(far, 300));
  bench.flood(Stream::compute, Operation::store, in_sequence(0, 300));
  bench.settle();
  const auto entries = bench.entered();
  for (std::size_t i = 0; i < 300; ++i) REQUIRE(entries[i].second == Stream::compute);
}

TEST_CASE("mca lets communication fill the DRAM queue up to the limit, and no further, while a kernel runs") {
  PolicyBench bench;
  bench.registers.set("aging_ps", 2'000'000);
  bench.set(bench.kernel_active, true);
  for (const std::uint64_t limit : {5u, 10u, 30u}) {
    bench.choose(mca, limit);
    REQUIRE(bench.registers["active_limit"] == limit);
    bench.flood(Stream::communication, Operation::store, in_one_bank(bench.parameters, 200));
    bench.run_for(bench.controller.lookahead() * 4);
    for (int slice = 0; slice < 20; ++slice) {
      bench.run_for(bench.controller.lookahead());
      REQUIRE(bench.waiting_stores() >= limit);
      REQUIRE(bench.waiting_stores() <= limit + 1);  // one more is in the bank
    }
    bench.settle();
  }
}

TEST_CASE("communication is drained without a limit while no kernel runs") {
  PolicyBench bench;
  bench.choose(mca, 5);
  bench.set(bench.kernel_active, true);
  REQUIRE(bench.registers["active_limit"] == 5);
  bench.set(bench.kernel_active, false);
  REQUIRE(bench.registers["active_limit"] == 255);
  bench.flood(Stream::communication, Operation::store, in_one_bank(bench.parameters, 200));
  bench.run_for(bench.controller.lookahead() * 5);
  REQUIRE(bench.waiting_stores() >= bench.parameters.dram.queue_depth);
}

TEST_CASE("under mca, communication that has waited for the aging time goes before compute") { check_aging(1); }
TEST_CASE("the aging time is nanoseconds at any clock of the memory") { check_aging(2); }

TEST_CASE("the limit follows the occupancy seen in the first stage") {
  MemoryParameters parameters = MemoryBench::small(1);
  parameters.mca_bands = {2, 6, 20};
  parameters.mca_default_limit = 30;
  PolicyBench bench(parameters);
  bench.choose(mca);
  bench.set(bench.kernel_active, true);
  REQUIRE(bench.registers["active_limit"] == parameters.mca_default_limit);

  constexpr std::uint64_t stage_cycles = 12'000;
  const double t_rc = parameters.dram.timing.RC;
  const auto stage = [&](std::size_t loads) {
    bench.set(bench.first_stage, true);
    REQUIRE(bench.registers["active_limit"] == parameters.mca_default_limit);
    if (loads > 0) bench.flood(Stream::compute, Operation::load, in_one_bank(bench.parameters, loads));
    bench.run_for(stage_cycles * 1000);
    bench.set(bench.first_stage, false);
    return static_cast<double>(bench.registers["observed"]) / 256;
  };
  // The i-th of n loads to rows of one bank waits i times tRC, so the mean occupancy is tRC n (n - 1) / 2 over the
  // stage.
  const auto mean_occupancy = [&](double n) { return t_rc * n * (n - 1) / 2 / stage_cycles; };

  REQUIRE(stage(0) == 0);
  REQUIRE(bench.registers["active_limit"] == 255);
  REQUIRE(stage(40) == Approx(mean_occupancy(40)).epsilon(0.1));
  REQUIRE(bench.registers["active_limit"] == 30);
  REQUIRE(stage(60) == Approx(mean_occupancy(60)).epsilon(0.1));
  REQUIRE(bench.registers["active_limit"] == 10);
  REQUIRE(stage(400) > 20);
  REQUIRE(bench.registers["active_limit"] == 5);
  bench.choose(mca, 10);
  REQUIRE(bench.registers["active_limit"] == 10);  // programmed goes before observed
}

TEST_CASE("the occupancy of the first stage is a mean over the channels") {
  MemoryParameters parameters = MemoryBench::small(2);
  parameters.channel_hash = false;
  PolicyBench bench(parameters);
  bench.choose(mca);
  bench.set(bench.kernel_active, true);
  bench.set(bench.first_stage, true);
  constexpr std::uint64_t stage_cycles = 12'000, loads = 60;
  // Channel 0 has every other block of the interleave; channel 1 stays empty.
  std::vector<std::uint64_t> addresses;
  for (const std::uint64_t address : in_one_bank(parameters, loads)) addresses.push_back(2 * address);
  bench.flood(Stream::compute, Operation::load, addresses);
  bench.run_for(stage_cycles * 1000);
  bench.set(bench.first_stage, false);
  const double of_channel_0 = parameters.dram.timing.RC * loads * (loads - 1) / 2.0 / stage_cycles;
  REQUIRE(static_cast<double>(bench.registers["observed"]) / 256 == Approx(of_channel_0 / 2).epsilon(0.1));
}

namespace {

/// What select does after a first stage with a full DRAM queue or an idle one: who entered, in order.
std::vector<std::pair<Picoseconds, Stream>> entered_after_stage(bool full) {
  PolicyBench bench;
  bench.choose(select_policy, 10);
  bench.set(bench.kernel_active, true);
  bench.set(bench.first_stage, true);
  if (full) bench.flood(Stream::compute, Operation::load, in_one_bank(bench.parameters, 400));
  bench.run_for(6'000'000);
  bench.set(bench.first_stage, false);
  REQUIRE((bench.registers["observed"] > 10 * 256) == full);
  bench.settle();
  const auto before = static_cast<std::ptrdiff_t>(bench.entered().size());
  bench.flood(Stream::communication, Operation::store, in_sequence(far, 300));
  bench.flood(Stream::compute, Operation::store, in_sequence(0, 300));
  bench.settle();
  auto entries = bench.entered();
  entries.erase(entries.begin(), entries.begin() + before);
  return entries;
}

}  // namespace

TEST_CASE("select takes turns after a first stage that has kept the DRAM queue full") {
  const auto entries = entered_after_stage(true);
  for (std::size_t i = 1; i < 600; ++i) REQUIRE(entries[i].second != entries[i - 1].second);
}

TEST_CASE("select lets compute go first after a first stage that has left the DRAM queue empty") {
  const auto entries = entered_after_stage(false);
  for (std::size_t i = 0; i < 300; ++i) REQUIRE(entries[i].second == Stream::compute);
}

TEST_CASE("select judges each kernel by its own first stage and none by the one before it") {
  PolicyBench bench;
  bench.choose(select_policy, 10);
  std::size_t seen = 0;
  // Returns for the present traffic whether compute goes first, or streams are served round-robin.
  const auto compute_goes_first = [&] {
    bench.flood(Stream::communication, Operation::store, in_sequence(far, 50));
    bench.flood(Stream::compute, Operation::store, in_sequence(0, 50));
    bench.settle();
    const auto entries = bench.entered();
    std::size_t first = 0;
    while (first < 50 && entries[seen + first].second == Stream::compute) ++first;
    for (std::size_t i = 1; first < 50 && i < 100; ++i)
      REQUIRE(entries[seen + i].second != entries[seen + i - 1].second);
    seen = entries.size();
    return first == 50;
  };
  const auto run_kernel = [&](bool is_full) {
    bench.set(bench.kernel_active, true);
    bench.set(bench.first_stage, true);
    CHECK(compute_goes_first());  // nothing is known of it
    if (is_full) bench.flood(Stream::compute, Operation::load, in_one_bank(bench.parameters, 400));
    bench.run_for(6'000'000);
    bench.set(bench.first_stage, false);
    bench.settle();
    seen = bench.entered().size();
    CHECK(compute_goes_first() == !is_full);
    bench.set(bench.kernel_active, false);
    CHECK(compute_goes_first() == !is_full);  // until the next one begins
  };
  for (const bool is_full : {true, true, false, false, true}) {
    CAPTURE(is_full);
    run_kernel(is_full);
  }
}

TEST_CASE("after a reset nothing is known of a kernel before it, also if its first stage ends later") {
  PolicyBench bench;
  bench.choose(select_policy, 10);
  const auto full_stage = [&] {
    bench.set(bench.first_stage, true);
    bench.flood(Stream::compute, Operation::load, in_one_bank(bench.parameters, 400));
    bench.run_for(6'000'000);
  };
  const auto require_compute_first = [&] {
    bench.choose(select_policy, 10);
    bench.settle();
    const std::size_t before = bench.entered().size();
    bench.flood(Stream::communication, Operation::store, in_sequence(far, 50));
    bench.flood(Stream::compute, Operation::store, in_sequence(0, 50));
    bench.settle();
    const auto entries = bench.entered();
    for (std::size_t i = 0; i < 50; ++i) REQUIRE(entries[before + i].second == Stream::compute);
  };
  bench.set(bench.kernel_active, true);
  full_stage();
  bench.set(bench.first_stage, false);
  REQUIRE(bench.registers["observed"] > 10 * 256);
  bench.controller.registers.reset();
  bench.run_for(1);
  CHECK(bench.registers["observed"] == 0);
  require_compute_first();
  full_stage();
  bench.controller.registers.reset();
  bench.set(bench.first_stage, false);
  CHECK(bench.registers["observed"] == 0);
  require_compute_first();
}

TEST_CASE("the register chooses a policy of a library by its number and refuses those that there are not") {
  constexpr std::uint64_t plugin_0 = 4, plugin_1 = 5;
  MemoryParameters parameters = MemoryBench::small(1);
  PolicyDescription mine = *Policies().named("select")->policy;
  mine.name = "mine";
  REQUIRE_FALSE(parameters.policies.add(mine));
  PolicyBench bench(parameters);
  bench.choose(plugin_0, 77);
  CHECK(bench.registers["active_limit"] == 77);
  CHECK(bench.registers.set("arbitration", plugin_1) == tlm::TLM_GENERIC_ERROR_RESPONSE);
  CHECK(bench.registers["arbitration"] == (plugin_0 | 77 << 8));
  CHECK(bench.registers["active_limit"] == 77);
}

TEST_CASE("the controller's constants survive a reset and its policy goes back to round-robin") {
  MemoryParameters parameters = MemoryBench::small(1);
  parameters.aging = 700'000;  // not the register's own reset value
  PolicyBench bench(parameters);
  REQUIRE(bench.registers["aging_ps"] == 700'000);
  bench.registers.set("aging_ps", 5000);
  bench.choose(compute_first);
  bench.controller.registers.reset();
  sc_core::sc_start(1, sc_core::SC_PS);  // what is made at the moment of a reset is lost
  REQUIRE(bench.registers["channels"] == 1);
  REQUIRE(bench.registers["interleave"] == bench.parameters.interleave_bytes);
  REQUIRE(bench.registers["aging_ps"] == bench.parameters.aging);
  bench.flood(Stream::compute, Operation::store, in_sequence(0, 20));
  bench.flood(Stream::communication, Operation::store, in_sequence(far, 20));
  bench.settle();
  const auto entries = bench.entered();
  for (std::size_t i = 1; i < entries.size(); ++i) REQUIRE(entries[i].second != entries[i - 1].second);
}

}  // namespace t3vp::test::policy_test
