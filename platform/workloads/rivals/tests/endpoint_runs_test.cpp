// The method endpoint: the engine's memory, its rings, and the errors of programs that use it wrongly.
#include <catch2/catch.hpp>

#include "system/platform_run.h"
#include "system/reference_sum.h"

namespace t3vp::test::endpoint_runs_test {

namespace {

using nlohmann::json;

Settings settings_of(std::uint32_t gpus, const json& rival, const json& engine, const char* topology) {
  json all{{"sram_KiB", 64},    {"message_bytes", 512}, {"rings", 4},
           {"adder_GBps", 320}, {"sram_GBps", 1280},    {"latency_ns", 40}};
  all.update(engine);
  return {on_small_system(),
          "gpus=" + std::to_string(gpus),
          "method=endpoint",
          "workload.rival=" + rival.dump(),
          "system.endpoint=" + all.dump(),
          std::string("system.links.topology=") + topology,
          "collectives.algorithm=auto"};
}

const char* const connected = R"("fully-connected")";

Run timed(std::uint32_t gpus, const json& rival, const json& engine, const char* topology = connected) {
  const Run run =
      Run::of_platform(settings_of(gpus, rival, engine, topology) + gemm(512, 512, 64) + Settings{"data=timing-only"});
  CAPTURE(run.diagnosis());
  REQUIRE(run.exit_code() == 0);
  return run;
}

}  // namespace

TEST_CASE("with room for three messages a ring ends with the right sums") {
  const auto gpus = GENERATE(2u, 3u, 7u);
  const json smallest{{"sram_KiB", 3}, {"message_bytes", 1024}, {"rings", 1}};
  const Run run = Run::of_platform(settings_of(gpus, {{"pieces", 2}}, smallest, R"("ring")") + gemm(333, 139, 40) +
                                   Settings{"data=functional", "check=all"});
  CAPTURE(run.diagnosis());
  REQUIRE(run.exit_code() == 0);
  CHECK(run.report()["functional"]["mismatches"] == 0);
  CHECK(run.statistic("gpu0.endpoint.memory_bytes") >= 2048);
  CHECK(run.statistic("gpu0.endpoint.memory_bytes") <= 3072);
  CHECK(run.statistic("gpu0.endpoint.collectives") == 2);
}

TEST_CASE("rings that use different links share the work, and no adder is free") {
  const double one = timed(5, {{"rings", 1}}, json::object()).time("total"),
               four = timed(5, {{"rings", 4}}, json::object()).time("total"),
               slow = timed(5, {{"rings", 4}}, {{"adder_GBps", 5}}).time("total");
  CHECK(four < one);
  CHECK(slow > four);
}

TEST_CASE("pieces overlap their all-reduce with the next piece's GEMM, and no compute unit communicates") {
  const Run whole = timed(4, {{"pieces", 1}}, json::object()), cut = timed(4, {{"pieces", 4}}, json::object());
  CHECK(cut.statistic("gpu0.endpoint.sent_bytes") == whole.statistic("gpu0.endpoint.sent_bytes"));
  CHECK(whole.statistic("gpu0.endpoint.sent_bytes") == 6.0 / 4 * 512 * 512 * 2);
  CHECK(whole.statistic("gpu0.endpoint.added_bytes") == 3.0 / 4 * 512 * 512 * 2);
}

TEST_CASE("half of an all-reduce at least hides behind the GEMMs of four pieces") {
  const auto run = [](std::uint32_t pieces) {
    return Run::of_platform(settings_of(4, {{"pieces", pieces}}, json::object(), connected) + gemm(512, 512, 512) +
                            Settings{"data=timing-only", "system.links.bandwidth_GBps=16"});
  };
  const Run whole = run(1), cut = run(4);
  CHECK(whole.time("total") - cut.time("total") > (whole.time("total") - whole.time("gemm")) / 2);
}

}  // namespace t3vp::test::endpoint_runs_test
