// Rivals of T3: right sums at odd sizes, and no byte more than their mechanisms need.
#include <catch2/catch.hpp>

#include "io/input_error.h"
#include "system/platform_run.h"
#include "system/reference_sum.h"

namespace t3vp::test::rivals_runs_test {

namespace {

using nlohmann::json;

const char* const by_switch = R"({"kind": "switch", "latency_ns": 100, "reduction": true})";
const char* const connected = R"("fully-connected")";

struct Rival {
  const char* method;
  const char* topology;
  json settings;
};

/// Each mechanism in all ways in which it can run.
const std::vector<Rival> all_rivals{
    {"stored-tiles", connected, {{"order", "natural"}, {"group", 2}}},
    {"stored-tiles", connected, {{"communication_units", 1}, {"order", "interleaved"}}},
    {"stored-tiles", R"("ring")", {{"communication_units", 1}, {"gather", "stores"}}},
    {"stored-tiles", by_switch, {{"communication_units", 2}, {"gather", "multicast"}}},
    {"direct-update", connected, {{"order", "interleaved"}}},
    {"direct-update", connected, {{"gather", "stores"}}},
    {"direct-update", by_switch, {{"communication_units", 1}, {"gather", "multicast"}}},
    {"load-reduce", by_switch, json::object()},
    {"load-reduce", by_switch, {{"communication_units", 1}, {"gather", "multicast"}, {"order", "interleaved"}}},
};

Settings settings_of(const Rival& rival, std::uint32_t gpus) {
  return {on_small_system(), "gpus=" + std::to_string(gpus), std::string("method=") + rival.method,
          "workload.rival=" + rival.settings.dump(), std::string("system.links.topology=") + rival.topology,
          "collectives.algorithm=auto"};
}

Run run_of(const Rival& rival, std::uint32_t gpus, const Settings& more) {
  return Run::of_platform(settings_of(rival, gpus) + more);
}

void check_sums(const Rival& rival, std::uint32_t gpus, const Settings& shape) {
  CAPTURE(rival.method, rival.topology, rival.settings.dump(), gpus);
  const Run run = run_of(rival, gpus, shape + Settings{"data=functional", "check=all"});
  CAPTURE(run.diagnosis());
  REQUIRE(run.exit_code() == 0);
  CHECK(run.report()["functional"]["checked"] == true);
  CHECK(run.report()["functional"]["mismatches"] == 0);
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

/// Neither M nor N is a multiple of the tile, and tiles do not divide by the GPUs: chunks begin and end inside rows.
TEST_CASE("every rival gives every GPU the whole sum at 3, 5, 7 and 8 GPUs and at odd sizes") {
  const auto gpus = GENERATE(3u, 5u, 7u, 8u);
  for (const Rival& rival : all_rivals)
    for (const Settings& shape : {gemm(333, 139, 40), gemm(130, 331, 64)}) check_sums(rival, gpus, shape);
}

TEST_CASE("rivals take as long without data and at another quantum") {
  for (const Rival& rival : all_rivals) {
    CAPTURE(rival.method, rival.settings.dump());
    const Settings shape = gemm(300, 200, 64);
    const Run with = run_of(rival, 3, shape + Settings{"data=functional"}),
              without = run_of(rival, 3, shape + Settings{"data=timing-only"});
    REQUIRE(with.exit_code() == 0);
    CHECK(with.report()["time_ns"] == without.report()["time_ns"]);
    CHECK(with.report()["dram_bytes"] == without.report()["dram_bytes"]);
    CHECK(with.report()["links"] == without.report()["links"]);
  }
}

}  // namespace t3vp::test::rivals_runs_test
