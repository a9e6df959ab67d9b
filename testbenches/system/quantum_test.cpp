// The quantum of firmware changes nothing that is simulated (docs/models/timing.md, Order): random systems, on which
// many links bring something to one memory at the same time.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "system/platform_run.h"

namespace t3vp::test::quantum_test {
namespace {

template <typename Value>
Value one_of(std::mt19937& random, std::initializer_list<Value> values) {
  return *(values.begin() + random() % values.size());
}

std::string setting(const char* path, std::uint32_t value) { return path + ("=" + std::to_string(value)); }

Settings random_system(std::mt19937& random) {
  return {on_small_system(),
          std::string("system.links.topology=") + one_of(random, {"ring", "fully-connected", "switch"}),
          setting("system.links.link_latency_ns", one_of(random, {40u, 100u, 250u})),
          setting("system.links.bandwidth_GBps", one_of(random, {4u, 8u})),
          setting("system.memory.path_latency_ns", one_of(random, {40u, 50u})),
          setting("gpus", one_of(random, {2u, 3u, 5u, 8u}))};
}

Settings random_collective(std::mt19937& random) {
  const char* const algorithm = one_of(random, {"direct", "ring"});
  const nlohmann::json workload = {{"collective",
                                    {{"op", one_of(random, {"all-reduce", "reduce-scatter", "all-gather"})},
                                     {"algorithm", algorithm},
                                     {"bytes", one_of(random, {4096u, 9002u, 33000u})}}}};
  return {"method=sequential", "workload=" + workload.dump()};
}

Settings random_gemm(std::mt19937& random) {
  const std::string method = one_of(random, {"sequential", "t3", "t3-mca"});
  Settings settings =
      gemm(one_of(random, {200u, 260u}), one_of(random, {150u, 190u}), 64) + Settings{"method=" + method};
  if (method != "sequential" && random() % 2 == 0)
    settings.push_back(std::string("workload.fused=") + one_of(random, {"all-to-all", "all-reduce"}));
  return settings;
}

std::string report_of(const Settings& settings) {
  const Run run = Run::of_platform(settings);
  CAPTURE(run.diagnosis());
  REQUIRE(run.exit_code() == 0);
  nlohmann::ordered_json report = run.report();
  for (const char* key : {"host", "config_hash"}) report.erase(key);
  return report.dump(2);
}

void require_same_at_any_quantum(const Settings& settings) {
  CAPTURE(settings);
  const std::string finest = report_of(settings + Settings{"quantum_ns=1"});
  for (const char* quantum : {"quantum_ns=33", "quantum_ns=5000", "quantum_ns=1000000"}) {
    INFO(quantum);
    REQUIRE(report_of(settings + Settings{quantum}) == finest);
  }
}

}  // namespace

TEST_CASE("reports of random systems are the same at any quantum") {
  std::mt19937 random(31);
  for (int i = 0; i < 12; ++i)
    require_same_at_any_quantum(random_system(random) + (i % 2 == 0 ? random_collective(random) : random_gemm(random)));
}

TEST_CASE("an all-to-all in which all GPUs meet at every memory is the same at any quantum") {
  require_same_at_any_quantum(
      {on_small_system(), "method=sequential", "gpus=16", "system.links.topology=fully-connected",
       "system.kernels.ring.block_bytes=512", "data=timing-only",
       R"(workload={"collective": {"op": "all-to-all", "algorithm": "direct", "bytes": 73144}})"});
}

TEST_CASE("reports of programs on cores are the same at any quantum") {
  std::mt19937 random(32);
  for (int i = 0; i < 3; ++i)
    require_same_at_any_quantum(random_system(random) + random_gemm(random) + Settings{"firmware=riscv"});
}

}  // namespace t3vp::test::quantum_test
