#include "memory/arbitration.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <set>
#include <stdexcept>

#include "memory/memory_bench.h"

namespace t3vp::test::arbitration_test {

using namespace memory;

namespace {

constexpr dram::Cycle never = dram::never_cycle;

ArbitrationView view_of(bool compute, bool communication, unsigned occupancy = 0, dram::Cycle now = 0,
                        dram::Cycle waiting_since = 0) {
  ArbitrationView view;
  view.compute.ready = compute;
  view.communication.ready = communication;
  view.occupancy = occupancy;
  view.now = now;
  view.waiting_since = waiting_since;
  return view;
}

/// A policy in a controller of one channel.
struct PolicyUnderTest {
  MemoryParameters parameters;
  std::unique_ptr<ArbitrationPolicy> policy;
  std::unique_ptr<ChannelPolicy> channel;
  dram::Cycle retry = dram::never_cycle;

  explicit PolicyUnderTest(std::string_view name, dram::Cycle aging = 2000, const MemoryParameters& p = {})
      : parameters(p) {
    const std::optional<PolicyChoice> choice = Policies().named(name);
    REQUIRE(choice);
    policy = choice->policy->make({parameters, choice->limit, aging});
    channel = policy->for_channel();
    policy->observe({});
  }
  Grant operator()(const ArbitrationView& view) {
    retry = dram::never_cycle;
    return channel->choose(view, retry);
  }
  /// A kernel's first stage has ended with this mean occupancy.
  void see(double occupancy, bool kernel_runs = true) { policy->observe({kernel_runs, true, occupancy}); }
};

/// Requires that compute goes first, and that streams are not served round-robin.
void require_compute_first(PolicyUnderTest& choose) {
  for (int i = 0; i < 5; ++i) REQUIRE(choose(view_of(true, true, 63)) == Grant::compute);
  REQUIRE(choose(view_of(false, true, 63)) == Grant::communication);
}
void require_turns(PolicyUnderTest& choose) {
  Grant last = choose(view_of(true, true));
  for (int i = 0; i < 20; ++i) {
    const Grant next = choose(view_of(true, true, 63));
    REQUIRE(next != Grant::none);
    REQUIRE(next != last);
    last = next;
  }
  for (int i = 0; i < 3; ++i) REQUIRE(choose(view_of(false, true, 63)) == Grant::communication);
  REQUIRE(choose(view_of(true, true)) == Grant::compute);  // communication was the last
}

}  // namespace

TEST_CASE("every policy serves a stream that is alone") {
  for (const PolicyDescription* policy : known_policies()) {
    PolicyUnderTest choose(policy->name);
    REQUIRE(choose(view_of(true, false)) == Grant::compute);
    REQUIRE(choose(view_of(false, true)) == Grant::communication);
  }
}

TEST_CASE("every policy has a number, a name and a text of its own and is found by them") {
  std::set<std::string> texts;
  const auto& values = registers::descriptions::memory_controller_arbitration_policy;
  CHECK(known_policies().size() == PolicyDescription::given_by_platform);
  for (const PolicyDescription* policy : known_policies()) {
    CHECK(std::any_of(std::begin(values), std::end(values), [policy](const EnumerationValue& value) {
      return value.value == static_cast<std::uint64_t>(policy->number);
    }));
    CHECK(Policies().numbered(policy->number) == policy);
    const auto found = Policies().named(policy->name);
    REQUIRE(found);
    CHECK(found->policy == policy);
    CHECK(found->limit == 0);
    CHECK(texts.insert(policy->text).second);
  }
}

TEST_CASE("policies that share a name or number or have bounds that no register takes are told in a line") {
  const auto told = [](const std::function<void(std::vector<PolicyDescription>&)>& change) {
    std::vector<PolicyDescription> all;
    for (const PolicyDescription* policy : known_policies()) all.push_back(*policy);
    change(all);
    std::vector<const PolicyDescription*> list;
    for (const PolicyDescription& policy : all) list.push_back(&policy);
    try {
      require_distinct(list);
      require_policies_of(registers::descriptions::memory_controller_arbitration_policy, list);
    } catch (const std::logic_error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  using Policies = std::vector<PolicyDescription>;
  CHECK(told([](Policies&) {}).empty());
  CHECK(told([](Policies& p) { p[1].number = p[0].number; }) ==
        "models/memory/policies: found round-robin (0) and compute-first (0), expected names and numbers of their own");
  CHECK(told([](Policies& p) { p[2].name = p[0].name; }) ==
        "models/memory/policies: found round-robin (0) and round-robin (2), expected names and numbers of their own");
  CHECK(told([](Policies& p) { p.erase(p.begin() + 1); }) ==
        "memory_controller.arbitration.policy: found the value compute_first (1) without a policy, expected a file in "
        "models/memory/policies of that number");
  for (const auto& [least, most] : {std::pair{0u, 10u}, {11u, 10u}, {1u, 255u}, {1u, 300u}}) {
    const PolicyParameter wrong{"a limit", least, most, nullptr, 0};
    CHECK(told([&wrong](Policies& p) { p[3].parameter = wrong; }) ==
          "models/memory/policies: select: found a parameter of " + std::to_string(least) + " to " +
              std::to_string(most) + ", expected bounds within 1 to 254");
  }
}

TEST_CASE("a policy may choose what is ready or wait for what will come and nothing else") {
  const ArbitrationView compute = view_of(true, false, 0, 100), communication = view_of(false, true, 0, 100),
                        behind_others = view_of(true, true, 1, 100);
  CHECK(is_possible(Grant::compute, compute, never, never));
  CHECK_FALSE(is_possible(Grant::communication, compute, never, never));
  CHECK(is_possible(Grant::communication, communication, never, never));
  CHECK_FALSE(is_possible(Grant::compute, communication, never, never));
  CHECK(is_possible(Grant::none, behind_others, never, never));
  CHECK_FALSE(is_possible(Grant::none, compute, never, never));
  CHECK(is_possible(Grant::none, compute, 101, 101));
  CHECK(is_possible(Grant::none, compute, never, 200));  // the other stream's turn comes
  for (const dram::Cycle not_ahead : {dram::Cycle{0}, dram::Cycle{99}, dram::Cycle{100}}) {
    CHECK_FALSE(is_possible(Grant::none, compute, not_ahead, not_ahead));
    CHECK_FALSE(is_possible(Grant::none, behind_others, not_ahead, not_ahead));
  }
  CHECK_THROWS_WITH(refuse_grant(Grant::communication, *Policies().named("mca")->policy),
                    "arbitration policy mca: found a stream that is not ready, expected a stream that is ready, or "
                    "none with a later cycle to ask again");
}

TEST_CASE("a policy's parameter stands behind its name and nothing else does") {
  const auto limit_of = [](std::string_view name) {
    const auto found = Policies().named(name);
    return found ? static_cast<int>(found->limit) : -1;
  };
  CHECK(limit_of("mca-5") == 5);
  CHECK(limit_of("mca-30") == 30);
  CHECK(limit_of("mca-254") == 254);
  CHECK(limit_of("mca-unlimited") == 255);
  CHECK(limit_of("select-1") == 1);
  for (const char* name :
       {"", "-", "mca-", "mca-0", "mca-05", "mca-255", "mca-+5", "mca--5", "mca-5x", "mca-5-5", "MCA", "round-robin-5",
        "round", "compute-first-unlimited", "select-unlimited", "select-256", "select-99999999999999999999"})
    CHECK(limit_of(name) == -1);
  const std::string names = Policies().names() + ",";
  for (const char* name :
       {"round-robin,", "compute-first,", "mca, mca-1 to mca-254, mca-unlimited,", "select, select-1 to select-254,"})
    CHECK_THAT(names, Catch::Contains(name));
}

TEST_CASE("policies of libraries have the numbers behind the platform's, as many as the register has") {
  PolicyDescription mine = *Policies().named("select")->policy;
  Policies policies;
  std::vector<std::string> names;
  for (int i = 0; i < 8; ++i) names.push_back("mine" + std::to_string(i));
  for (unsigned i = 0; i < 8; ++i) {
    mine.name = names[i].c_str();
    CHECK_FALSE(policies.add(mine));
    REQUIRE(policies.numbered(T3_MEMORY_CONTROLLER_ARBITRATION_POLICY_PLUGIN_0 + i) != nullptr);
    CHECK(policies.numbered(T3_MEMORY_CONTROLLER_ARBITRATION_POLICY_PLUGIN_0 + i)->name == names[i]);
    CHECK(policies.named(names[i] + "-9")->limit == 9);
  }
  mine.name = "one_more";
  const auto refusal = policies.add(mine);
  REQUIRE(refusal);
  CHECK(refusal->found == "a policy one_more behind 8 others");
  CHECK(refusal->expected == "at most 8 policies of libraries");
  CHECK(policies.numbered(T3_MEMORY_CONTROLLER_ARBITRATION_POLICY_PLUGIN_7 + 1) == nullptr);
  CHECK_FALSE(Policies().named("mine0"));
}

TEST_CASE("round-robin alternates while both streams are ready and never leaves one that is alone waiting") {
  PolicyUnderTest choose("round-robin");
  require_turns(choose);
}

TEST_CASE("compute-first issues communication only when compute has nothing") {
  PolicyUnderTest choose("compute-first");
  for (dram::Cycle now = 0; now < 100'000; now += 1000) REQUIRE(choose(view_of(true, true, 0, now)) == Grant::compute);
  REQUIRE(choose(view_of(false, true, 63)) == Grant::communication);
}

TEST_CASE("mca issues communication below the limit of occupancy only") {
  for (const unsigned limit : {5u, 10u, 30u}) {
    PolicyUnderTest choose("mca-" + std::to_string(limit));
    for (unsigned occupancy = 0; occupancy < 64; ++occupancy) {
      REQUIRE(choose(view_of(false, true, occupancy)) == (occupancy < limit ? Grant::communication : Grant::none));
      REQUIRE(choose(view_of(true, true, occupancy)) == Grant::compute);
    }
  }
  PolicyUnderTest choose("mca-unlimited");
  REQUIRE(choose(view_of(false, true, 63)) == Grant::communication);
  REQUIRE(choose(view_of(true, true, 0)) == Grant::compute);
}

TEST_CASE("mca lets communication go first once it has waited for the aging time, and tells when that is") {
  PolicyUnderTest choose("mca-5", 300);
  REQUIRE(choose(view_of(false, true, 40, 1299, 1000)) == Grant::none);
  REQUIRE(choose.retry == 1300);
  REQUIRE(choose(view_of(true, true, 40, 1299, 1000)) == Grant::compute);
  REQUIRE(choose(view_of(true, true, 40, 1300, 1000)) == Grant::aged);
  REQUIRE(choose(view_of(false, true, 40, 1300, 1000)) == Grant::aged);
  REQUIRE(choose(view_of(false, true, 4, 1300, 1000)) == Grant::communication);
}

TEST_CASE("mca takes its limit from the bands of the first stage's occupancy, and none while no kernel runs") {
  MemoryParameters parameters;
  parameters.mca_bands = {2, 6, 20};
  parameters.mca_default_limit = 10;
  PolicyUnderTest by_bands("mca", 2000, parameters), programmed("mca-7", 2000, parameters);
  CHECK(by_bands.policy->active_limit() == 10);
  const std::pair<double, unsigned> limits[] = {{0, 255}, {2, 255}, {2.1, 30}, {6, 30}, {6.1, 10}, {20, 10}, {20.1, 5}};
  for (const auto& [occupancy, limit] : limits) {
    by_bands.see(occupancy);
    CHECK(by_bands.policy->active_limit() == limit);
    CHECK(by_bands(view_of(false, true, 4)) == Grant::communication);
    CHECK(by_bands(view_of(false, true, 63)) == (limit == 255 ? Grant::communication : Grant::none));
    programmed.see(occupancy);
    CHECK(programmed.policy->active_limit() == 7);
  }
  by_bands.see(30, false);
  CHECK(by_bands.policy->active_limit() == 255);
  CHECK(by_bands(view_of(false, true, 63)) == Grant::communication);
}

TEST_CASE("select lets compute go first until a first stage has filled the queue, then streams take turns") {
  const std::pair<const char*, double> limits[] = {{"select", 32}, {"select-5", 5}, {"select-60", 60}};
  for (const auto& [name, limit] : limits) {
    PolicyUnderTest choose(name);
    CHECK(choose.policy->active_limit() == limit);
    require_compute_first(choose);
    choose.see(limit);
    require_turns(choose);
    choose.see(limit - 0.1);
    require_compute_first(choose);
    choose.see(64);
    require_turns(choose);
    choose.policy->observe({});  // the next kernel's first stage
    require_compute_first(choose);
  }
}

TEST_CASE("a policy sees of each stream what waits, since when, of what kind and whether its row is open") {
  const dram::MemorySpec spec = MemoryBench::small(1).dram;
  dram::Channel channel(spec);
  StreamQueues streams;
  const auto push = [&streams](unsigned stream, std::uint64_t address, dram::Cycle arrival, dram::Kind kind) {
    Run run;
    run.address = address;
    run.arrival = arrival;
    run.kind = kind;
    run.accesses = 1;
    streams.push(stream, run);
  };
  dram::Cycle retry = dram::never_cycle;
  const ArbitrationView empty = view_of(streams, channel, 3, 10, retry);
  CHECK(empty.compute.backlog == 0);
  CHECK(empty.compute.oldest == nullptr);
  CHECK_FALSE(empty.row_is_open(empty.compute));
  CHECK(retry == dram::never_cycle);

  push(StreamQueues::compute, 64, 5, dram::Kind::read);
  push(StreamQueues::compute, 96, 6, dram::Kind::write);
  push(StreamQueues::communication, 1 << 20, 25, dram::Kind::update);
  const ArbitrationView view = view_of(streams, channel, 3, 10, retry);
  CHECK(view.compute.ready);
  CHECK(view.compute.backlog == 2);
  CHECK(view.compute.oldest->arrival == 5);
  CHECK(view.compute.oldest->kind == dram::Kind::read);
  CHECK_FALSE(view.communication.ready);
  CHECK(view.communication.backlog == 1);
  CHECK(view.communication.oldest->arrival == 25);
  CHECK(view.communication.oldest->kind == dram::Kind::update);
  CHECK(retry == 25);
  CHECK(view.occupancy == 3);
  CHECK(view.now == 10);

  CHECK_FALSE(view.row_is_open(view.compute));
  bool given = false;
  channel.run(
      100,
      [&](dram::Cycle, unsigned, dram::Access& access, dram::Cycle& again) {
        if (given) return again = dram::never_cycle, dram::Fed::none;
        access = {};
        access.address = 64;
        given = true;
        return dram::Fed::access;
      },
      [](std::uint32_t, dram::Kind, dram::Cycle, std::uint32_t) {});
  CHECK(view.row_is_open(view.compute));
  CHECK_FALSE(view.row_is_open(view.communication));
}

}  // namespace t3vp::test::arbitration_test
