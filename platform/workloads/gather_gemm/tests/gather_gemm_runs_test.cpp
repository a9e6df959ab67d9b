// An all-gather into the GEMM that consumes it: every element of every GPU, the bytes on links and DRAM, the time, and
// that no workgroup starts before its rows are complete.
#include <catch2/catch.hpp>

#include "system/kernel_runs.h"
#include "workloads/gather_gemm/gather_gemm_oracle.h"
#include "workloads/shared/gemm_operands.h"

namespace t3vp::test::gather_gemm_runs_test {

namespace {

using nlohmann::json;

const Settings large_tables{"system.tracker.chunks=128", "system.dma.commands=128"};

json shape_of(std::uint32_t m, std::uint32_t n, std::uint32_t k, const json& more = json::object()) {
  json shape = {{"m", m}, {"n", n}, {"k", k}};
  shape.update(more);
  return shape;
}

Settings gathered(const char* method, std::uint32_t gpus, const json& shape) {
  return kernel_run(method, gpus, {{"gather_gemm", shape}}) + large_tables;
}

Run right_run(const char* method, std::uint32_t gpus, const json& shape, const Settings& settings) {
  return test::right_run(gathered(method, gpus, shape) + settings);
}

struct Case {
  std::uint32_t gpus;
  const char* topology;
  json shape;
};

}  // namespace

TEST_CASE("every GPU gathers all rows and multiplies them at odd sizes") {
  const Case each = GENERATE(values<Case>({
      {2, "ring", shape_of(67, 45, 70)},
      {2, "ring", shape_of(2, 1, 1, {{"element", "fp32"}})},
      {3, "ring", shape_of(301, 90, 33, {{"parts", 2}, {"element", "bf16"}})},
      {3, "fully-connected", shape_of(200, 130, 1100, {{"route", "direct"}, {"parts", 3}})},
      {5, "ring", shape_of(333, 139, 40, {{"tile", "32x32"}})},
      {5, "fully-connected", shape_of(190, 64, 96, {{"route", "direct"}})},
      {7, "ring", shape_of(500, 33, 1025, {{"parts", 2}})},
      {7, "switch", shape_of(9, 70, 40, {{"route", "direct"}, {"element", "fp32"}})},
      {8, "ring", shape_of(700, 100, 64, {{"element", "bf16"}})},
      {8, R"({"kind": "torus", "dimensions": [4, 2]})", shape_of(257, 65, 20, {{"parts", 2}})},
  }));
  CAPTURE(each.gpus, each.topology, each.shape.dump());
  const std::string links = std::string("system.links.topology=") + each.topology;
  for (const char* method : {"t3", "t3-mca", "sequential"}) {
    json shape = each.shape;
    if (method == std::string("sequential"))
      for (const char* key : {"parts", "route"}) shape.erase(key);
    const Run run = right_run(method, each.gpus, shape, {"data=functional", "check=all", links});
    const std::uint64_t m = shape["m"], n = shape["n"], k = shape["k"];
    CHECK(run.report()["functional"]["elements"] == m * (n + k) * each.gpus);
    CHECK(run.report()["functional"]["checked"] == true);
  }
}

TEST_CASE("a gated GEMM takes as long without data and at any quantum") {
  const json shape = shape_of(210, 150, 100, {{"parts", 2}});
  const auto times = [&](const char* setting) {
    const Run run = right_run("t3", 3, shape, {setting});
    return run.report()["time_ns"].dump() + run.report()["dram_bytes"].dump();
  };
  const std::string usual = times("data=timing-only");
  CHECK(times("data=functional") == usual);
  CHECK(right_run("t3", 3, shape, {"quantum_ns=1"}).report()["functional"]["mismatches"] ==
        right_run("t3", 3, shape, {"quantum_ns=1000000"}).report()["functional"]["mismatches"]);
}

TEST_CASE("links carry what GPUs do not have, once") {
  const json shape = shape_of(301, 64, 50);
  for (const char* method : {"t3", "sequential"})
    for (const std::uint32_t gpus : {3u, 4u}) {
      const Run run = right_run(method, gpus, shape, {});
      if (method == std::string("t3")) CHECK(carried(run) == std::uint64_t{301} * 50 * 2 * (gpus - 1));
      CHECK(carried(run) >= std::uint64_t{301} * 50 * 2 * (gpus - 1));
    }
  json direct = shape;
  direct["route"] = "direct";
  CHECK(carried(right_run("t3", 4, direct, {joined})) == std::uint64_t{301} * 50 * 2 * 3);
}

// A GPU writes what arrives, and reads its own rows and those that it forwards: all but the previous GPU's. Sent
// directly, own rows are read once for all. The report has the mean of all GPUs.
TEST_CASE("memory has what arrives and what goes on") {
  const json shape = shape_of(301, 64, 64);
  const std::uint32_t gpus = 4;
  const double all = 301 * 64 * 2, own = all / gpus;
  const Run ring = right_run("t3", gpus, shape, {});
  CHECK(ring.dram_bytes("ag_write") == all - own);
  CHECK(ring.dram_bytes("ag_read") == all - own);
  CHECK(ring.dram_bytes("place_write") == own);
  json other = shape;
  other["route"] = "direct";
  const Run direct = right_run("t3", gpus, other, {joined});
  CHECK(direct.dram_bytes("ag_write") == all - own);
  CHECK(direct.dram_bytes("ag_read") == own);
}

// The last rows come over a link that is so slow that nothing else counts: the GEMM behind them is what follows.
TEST_CASE("a gated GEMM hides all but the tiles of the last rows") {
  const json shape = shape_of(1024, 256, 128);
  const Settings slow{"system.links.bandwidth_GBps=1"};
  const Run gated = right_run("t3", 4, shape, slow);
  const Run sequential = right_run("sequential", 4, shape, slow);
  const double link = 3 * 256 * 128 * 2 / 1.0;
  CHECK(gated.time("total") >= link);
  CHECK(sequential.time("total") >= link + sequential.time("gemm"));
  CHECK(gated.time("total") < sequential.time("total"));
  json parts = shape;
  parts["parts"] = 4;
  CHECK(right_run("t3", 4, parts, slow).time("total") < gated.time("total"));
}

TEST_CASE("all workgroups run where a GPU has no rows of its own") {
  right_run("t3", 5, shape_of(7, 33, 40), {"data=functional", "check=all"});
  right_run("sequential", 5, shape_of(7, 33, 40), {"data=functional", "check=all"});
}

TEST_CASE("a wrong element of a gathered product is found") {
  const Run run = Run::of_platform(gathered("t3", 2, shape_of(64, 32, 32)) +
                                   Settings{"data=functional", R"(inject.wrong_element={"gpu": 1, "index": 2047})"});
  CHECK(run.exit_code() == 1);
  CHECK(run.report()["functional"]["mismatches"] == 1);
}

TEST_CASE("a lost packet of gathered rows ends in a diagnosis that names the gate and the chunk") {
  const Run run = Run::of_platform(gathered("t3", 3, shape_of(64, 32, 32)) +
                                   Settings{R"(inject.drop_packet={"link": 0, "packet": 3})"});
  CHECK(run.exit_code() == 1);
  CAPTURE(run.diagnosis());
  using Catch::Contains;
  std::string all;
  for (const std::string& line : run.diagnosis()) all += line + "\n";
  CHECK_THAT(all, Contains("hold"));
}

TEST_CASE("the oracle of gathered rows has products of one a and each GPU's b") {
  GemmProblem problem;
  problem.gemm.m = 10;
  problem.gemm.n = 7;
  problem.gemm.k = 50;
  problem.slab_depth = 16;
  problem.gpus = 3;
  const compute::FloatMatrix product = operand_a(problem, 0) * operand_b(problem, 2);
  const GatherGemmOracle oracle(problem, 2);
  for (std::uint32_t row = 0; row < 10; ++row) {
    const std::vector<double> values = oracle.row_of_out(row);
    REQUIRE(values.size() == 7);
    for (std::uint32_t column = 0; column < 7; ++column) CHECK(values[column] == product(row, column));
  }
}

TEST_CASE("every wrong value of an all-gather into a GEMM is one line that names it") {
  const auto message = [&](const json& change, const Settings& settings, const char* method = "t3") {
    json shape = shape_of(256, 64, 64);
    shape.merge_patch(change);
    return refusal_of(gathered(method, 4, shape) + settings);
  };
  using Catch::Contains;
  for (const char* key : {"m", "n", "k"}) {
    CHECK_THAT(message({{key, 0}}, {}), Contains("/workload/gather_gemm/" + std::string(key)));
    CHECK_THAT(message({{key, nullptr}}, {}), Contains(key));
  }
  CHECK_THAT(message({{"k", 65536}}, {}), Contains("/workload/gather_gemm/k"));
  CHECK_THAT(message({{"parts", 6}}, {}), Contains("/workload/gather_gemm/parts") && Contains("at most 5"));
  CHECK_THAT(message({{"route", "tree"}}, {}), Contains("/workload/gather_gemm/route"));
  CHECK_THAT(message({{"parts", 2}}, {}, "sequential"), Contains("/workload/gather_gemm/parts"));
  CHECK_THAT(message({{"route", "direct"}}, {}, "sequential"), Contains("/workload/gather_gemm/route"));
  CHECK_THAT(message({{"route", "ring"}, {"parts", 1}}, {}, "sequential"), Contains("accepted"));
  CHECK_THAT(message(json::object(), {"system.tracker.chunks=3"}), Contains("/tracker/chunks"));
  CHECK_THAT(message(json::object(), {"system.dma.commands=3"}), Contains("/dma/commands"));
  CHECK_THAT(message(json::object(), {"gpus=17"}), Contains("/gpus") && Contains("at most 16"));
  CHECK_THAT(message(json::object(), {"gpus=1"}), Contains("/gpus"));
  CHECK_THAT(message(json::object(), {"method=bulk"}), Contains("/method"));
  CHECK_THAT(message(json::object(), {"simulate=mirror"}), Contains("/simulate"));
  CHECK_THAT(message(json::object(), {"operands=random"}), Contains("/operands"));
  CHECK_THAT(message(json::object(), {"workload.fused=all-to-all"}), Contains("/workload/fused"));
}

}  // namespace t3vp::test::gather_gemm_runs_test
