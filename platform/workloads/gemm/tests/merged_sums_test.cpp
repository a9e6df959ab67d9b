// Fused GEMMs, and rivals, whose updates a switch merges on their way to the owners.
#include <catch2/catch.hpp>

#include "io/input_error.h"
#include "system/platform_run.h"
#include "system/reference_sum.h"
#include "t3/workloads/gemm.h"
#include "workloads/gemm/fused_kind.h"

namespace t3vp::test::merged_sums_test {

using nlohmann::json;
using t3vp::name_of;

namespace {

/// A switch that reduces, with a table of so many KiB.
std::string merging(int KiB, double timeout_ns = 100'000) {
  return json{{"kind", "switch"},
              {"latency_ns", 100},
              {"reduction", true},
              {"merging_KiB", KiB},
              {"merging_timeout_ns", timeout_ns}}
      .dump();
}
const std::string unmerged = R"({"kind": "switch", "latency_ns": 100, "reduction": true})";

Settings on_switch(std::uint32_t gpus, const std::string& topology) {
  return {on_small_system(),
          "gpus=" + std::to_string(gpus),
          "system.links.topology=" + topology,
          "collectives.algorithm=auto",
          "system.tracker.chunks=64",
          "system.dma.commands=64"};
}
Settings fused(t3_fused_kind kind, std::uint32_t gpus, const std::string& topology, const char* method = "t3") {
  return on_switch(gpus, topology) +
         Settings{std::string("method=") + method, std::string("workload.fused=") + name_of(kind)};
}
Settings updating(const char* order, std::uint32_t gpus, const std::string& topology) {
  const json rival{{"order", order}, {"communication_units", 1}, {"gather", "multicast"}};
  return on_switch(gpus, topology) + Settings{"method=direct-update", "workload.rival=" + rival.dump()};
}

Run run_of(const Settings& settings) {
  Run run = Run::of_platform(settings);
  CAPTURE(run.diagnosis());
  REQUIRE(run.exit_code() == 0);
  return run;
}

void check_sums(std::uint32_t gpus) {
  for (const int KiB : {0, 16, 1024})
    for (const Settings& shape : {gemm(333, 139, 40), gemm(130, 331, 64)}) {
      CAPTURE(gpus, KiB);
      const Settings checked = shape + Settings{"data=functional", "check=all"};
      const Run run = run_of(checked + fused(T3_FUSED_SWITCH_ALL_REDUCE, gpus, merging(KiB), "t3-mca"));
      CHECK(compare(run, gpus, Element::fp16).wrong == 0);
      CHECK(run.report()["functional"]["checked"] == true);
      CHECK(compare(run_of(checked + updating("aligned", gpus, merging(KiB))), gpus, Element::fp16).wrong == 0);
    }
  for (const t3_fused_kind kind : {T3_FUSED_DIRECT_REDUCE_SCATTER, T3_FUSED_ALL_REDUCE})
    CHECK(compare(run_of(gemm(333, 139, 40) + fused(kind, gpus, merging(64))), gpus, Element::fp16).wrong == 0);
}

double payload_of_links(const Run& run) {
  double sum = 0;
  for (const auto& link : run.report()["links"]) sum += link["payload_bytes"].get<double>();
  return sum;
}

std::string refusal(const Settings& settings) {
  try {
    configuration_of(settings);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("a switch that merges gives 3 GPUs the right sums, with any table") { check_sums(3); }
TEST_CASE("a switch that merges gives 5 GPUs the right sums, with any table") { check_sums(5); }
TEST_CASE("a switch that merges gives 7 GPUs the right sums, with any table") { check_sums(7); }
TEST_CASE("a switch that merges gives 8 GPUs the right sums, with any table") { check_sums(8); }

// Up: each GPU's addends for the others, and its sums. Down: sums of addends, or each of them, and all sums.
TEST_CASE("links carry one sum to the owner when all updates merge, and each of them when none can") {
  const double n = 4, s = 256 * 256 * 2, gathered = s + n * s;
  const Settings shape = gemm(256, 256, 64) + Settings{"data=timing-only"};
  for (const bool by_tracker : {true, false}) {
    const auto moved = [&](const std::string& topology) {
      return payload_of_links(run_of(
          shape + (by_tracker ? fused(T3_FUSED_SWITCH_ALL_REDUCE, 4, topology) : updating("aligned", 4, topology))));
    };
    CAPTURE(by_tracker);
    CHECK(moved(merging(1024)) == (n - 1) * s + s + gathered);
    CHECK(moved(merging(0)) == 2 * (n - 1) * s + gathered);
    CHECK(moved(merging(1024, 0)) == 2 * (n - 1) * s + gathered);
    const double some = moved(merging(16));
    CHECK(some >= (n - 1) * s + s + gathered);
    CHECK(some <= 2 * (n - 1) * s + gathered);
  }
}

TEST_CASE("a table of no bytes or no time is the switch without one") {
  const auto report = [](const std::string& topology) {
    return run_of(gemm(300, 200, 64) + Settings{"data=timing-only"} +
                  fused(T3_FUSED_DIRECT_REDUCE_SCATTER, 5, topology));
  };
  const Run plain = report(unmerged);
  for (const std::string& topology : {merging(0), merging(1024, 0)}) {
    const Run run = report(topology);
    for (const char* key : {"time_ns", "dram_bytes", "links"}) CHECK(run.report()[key] == plain.report()[key]);
  }
}

TEST_CASE("merged updates take as long without data, and add up at any quantum") {
  for (const Settings& settings :
       {fused(T3_FUSED_SWITCH_ALL_REDUCE, 5, merging(64)), updating("natural", 5, merging(64))}) {
    const Settings all = gemm(300, 200, 64) + settings;
    const Run with = run_of(all + Settings{"data=functional"}), without = run_of(all + Settings{"data=timing-only"});
    for (const char* key : {"time_ns", "dram_bytes", "links"}) CHECK(with.report()[key] == without.report()[key]);
    for (const char* quantum : {"quantum_ns=1", "quantum_ns=1000000"})
      CHECK(run_of(all + Settings{"data=functional", quantum}).report()["functional"]["mismatches"] == 0);
  }
}

TEST_CASE("slow adders of a switch make the fused time longer") {
  const auto time = [](const char* rate) {
    return run_of(gemm(512, 512, 64) + Settings{"data=timing-only"} +
                  fused(T3_FUSED_SWITCH_ALL_REDUCE, 4, merging(1024)) +
                  Settings{std::string("system.links.topology.merging_GBps=") + rate})
        .time("fused");
  };
  CHECK(time("1") > 1.5 * time("1000"));
}

TEST_CASE("a fused kind or a table that cannot be is refused in a line") {
  const auto tells = [](const Settings& settings, const char* text) {
    const std::string why = refusal(gemm(512, 512, 64) + settings);
    INFO(why);
    CHECK_THAT(why, Catch::Contains(text));
    CHECK(why.find('\n') == std::string::npos);
  };
  REQUIRE(refusal(gemm(512, 512, 64) + fused(T3_FUSED_SWITCH_ALL_REDUCE, 4, unmerged)).empty());
  tells(fused(T3_FUSED_SWITCH_ALL_REDUCE, 4, R"("ring")"), "needs a switch with reduction");
  tells(fused(T3_FUSED_SWITCH_ALL_REDUCE, 4, R"("switch")"), "needs a switch with reduction");
  tells(fused(T3_FUSED_ALL_REDUCE, 4, merging(-1)), "merging_KiB");
  tells(fused(T3_FUSED_ALL_REDUCE, 4, merging(1, -1)), "merging_timeout_ns");
  tells(fused(T3_FUSED_ALL_REDUCE, 4, R"({"kind": "switch", "merging_GBps": 0})"), "merging_GBps");
  tells(fused(T3_FUSED_SWITCH_ALL_REDUCE, 4, unmerged) + Settings{"operands=random"}, "/operands");
}

}  // namespace t3vp::test::merged_sums_test
