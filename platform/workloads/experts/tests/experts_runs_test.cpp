// An expert GEMM (MoE) on each GPU, whose rows go to their owners: every element of every GPU, the bytes on links and
// DRAM, and the time.
#include <catch2/catch.hpp>

#include "system/kernel_runs.h"
#include "workloads/experts/experts_oracle.h"
#include "workloads/shared/gemm_operands.h"

namespace t3vp::test::experts_runs_test {

namespace {

using nlohmann::json;

const char* const methods[] = {"bulk", "fused"};

json shape_of(std::uint32_t tokens, std::uint32_t hidden, std::uint32_t inner, const char* element = "fp16") {
  return {{"tokens", tokens}, {"hidden", hidden}, {"inner", inner}, {"element", element}};
}

json with_tile(json shape, const char* tile) {
  shape["tile"] = tile;
  return shape;
}

Settings experts(const char* method, std::uint32_t gpus, const json& shape) {
  return kernel_run(method, gpus, {{"experts", shape}});
}

Run right_run(const char* method, std::uint32_t gpus, const json& shape, const Settings& settings) {
  return test::right_run(experts(method, gpus, shape) + settings);
}

}  // namespace

TEST_CASE("every GPU has all experts' results of its tokens at odd sizes") {
  const auto [gpus, topology, shape] = GENERATE(table<std::uint32_t, std::string, json>({
      {2, "ring", shape_of(67, 45, 70)},
      {2, "fully-connected", shape_of(2, 1, 1, "fp32")},
      {3, "fully-connected", shape_of(200, 130, 33, "fp32")},
      {4, "fully-connected", shape_of(530, 100, 64, "bf16")},
      {4, "switch", with_tile(shape_of(300, 90, 40), "32x32")},
      {4, "fully-connected", shape_of(70, 300, 17)},
      {6, "ring", shape_of(190, 64, 96)},
      {6, "fully-connected", with_tile(shape_of(1000, 33, 20), "16x64")},
      {9, "fully-connected", shape_of(131, 70, 40)},
  }));
  const std::string links = "system.links.topology=" + topology;
  for (const char* method : methods) {
    const Run run = right_run(method, gpus, shape, {"data=functional", "check=all", links});
    CHECK(run.report()["functional"]["elements"] ==
          shape["tokens"].get<std::uint64_t>() * shape["hidden"].get<std::uint64_t>() * gpus);
    CHECK(run.report()["functional"]["checked"] == true);
  }
}

TEST_CASE("products of experts take as long without data and at any quantum") {
  for (const char* method : methods) {
    const auto times = [&](const char* setting) {
      const Run run = right_run(method, 3, shape_of(210, 150, 100), {joined, setting});
      return run.report()["time_ns"].dump() + run.report()["ends"].dump();
    };
    const std::string usual = times("data=timing-only");
    CHECK(times("data=functional") == usual);
    CHECK(times("quantum_ns=1") == usual);
    CHECK(times("quantum_ns=1000000") == usual);
  }
}

TEST_CASE("links carry each result of an expert that another GPU wants once") {
  for (const char* method : methods)
    CHECK(carried(right_run(method, 4, shape_of(256, 128, 64), {joined})) == 256 * 128 * 2 * (4 - 1));
}

TEST_CASE("a fused product of experts stores each result once where bulk writes and reads it on its way") {
  const Run bulk = right_run("bulk", 4, shape_of(512, 512, 64), {joined});
  const Run fused = right_run("fused", 4, shape_of(512, 512, 64), {joined});
  CHECK(bulk.report()["time_ns"]["all_to_all"].is_number());
  CHECK_FALSE(fused.report()["time_ns"].contains("all_to_all"));
  CHECK(fused.time("total") < bulk.time("total"));
  CHECK(fused.time("total") >= bulk.time("total") - bulk.time("gemm"));  // no more is hidden than the products
  CHECK(fused.dram_bytes("gemm_write") <= 512 * 512 * 2 * 1.01);
}

TEST_CASE("the link bound of experts is what leaves a GPU on all of its links") {
  const json bounds = right_run("fused", 4, shape_of(512, 256, 32), {joined}).report()["bounds"];
  CHECK(bounds["link_ns"].get<double>() == Approx(512 / 4 * 256 * 2 / 4.0).epsilon(0.02));
}

// Of 64 tiles 8 or 32 at a time, so that those of other GPUs are on their way while own ones are computed.
TEST_CASE("fewer workgroups of experts send while they compute") {
  const auto run = [](double occupancy) {
    json shape = with_tile(shape_of(256, 256, 512), "32x32");
    shape["occupancy"] = occupancy;
    return right_run("fused", 4, shape, {joined, "data=functional"});
  };
  const double few = run(0).time("total"), many = run(1).time("total"), way = 256.0 / 4 * 256 * 2 / 4;
  CHECK(few < many);
  CHECK(few >= many - way);
}

// GPU 0 sends each other one a third of its tokens.
TEST_CASE("a GPU has its tokens when the slowest link has brought them") {
  const std::uint32_t to = GENERATE(1u, 2u);
  const json slow = {{"from", 0}, {"to", to}, {"bandwidth_GBps", 0.1}};
  for (const char* method : methods) {
    const Run run = right_run(method, 3, shape_of(384, 64, 32),
                              {joined, "data=functional", "system.links.overrides=" + json::array({slow}).dump()});
    check_end_behind_slow_link(run, right_run(method, 3, shape_of(384, 64, 32), {joined, "data=functional"}), to,
                               128 * 64 * 2, 0.1);
  }
}

TEST_CASE("a wrong element of an expert's result is found") {
  const Run run = Run::of_platform(experts("fused", 2, shape_of(64, 32, 32)) +
                                   Settings{"data=functional", R"(inject.wrong_element={"gpu": 1, "index": 2047})"});
  CHECK(run.exit_code() == 1);
  CHECK(run.report()["functional"]["mismatches"] == 1);
  CHECK(run.report()["functional"]["first_mismatch"]["row"] == 63);
}

// 10 tokens of 3 GPUs: 4, 3 and 3. Row 5 of GPU 1 is its second token by expert 2.
TEST_CASE("the oracle of experts has rows of the GPUs' products") {
  GemmProblem problem;
  problem.gemm.m = 10;
  problem.gemm.n = 7;
  problem.gemm.k = 50;
  problem.slab_depth = 16;
  problem.gpus = 3;
  const compute::FloatMatrix product = operand_a(problem, 2) * operand_b(problem, 2);
  const std::vector<float> row = ExpertsOracle(problem).received(1, 5);
  REQUIRE(row.size() == 7);
  for (std::uint32_t column = 0; column < 7; ++column) CHECK(row[column] == product(5, column));
}

TEST_CASE("every wrong value of experts is one line that names it") {
  const json right = shape_of(256, 64, 64);
  const auto message = [&](const json& change, const Settings& settings) {
    json shape = right;
    shape.merge_patch(change);
    return refusal_of(experts("bulk", 4, shape) + settings);
  };
  using Catch::Contains;
  for (const char* key : {"tokens", "hidden", "inner"}) {
    CHECK_THAT(message({{key, 0}}, {}), Contains("/workload/experts/" + std::string(key)));
    CHECK_THAT(message({{key, nullptr}}, {}), Contains(key));
  }
  CHECK_THAT(message({{"tokens", 3}}, {}), Contains("at least 4, a token for each GPU"));
  CHECK_THAT(message({{"element", "int8"}}, {}), Contains("/workload/experts/element"));
  CHECK_THAT(message({{"tile", "7x64"}}, {}), Contains("/workload/experts/tile"));
  CHECK_THAT(message({{"tile", "128x64"}}, {}), Contains("/workload/experts/tile"));
  CHECK_THAT(message({{"occupancy", 0.01}}, {}), Contains("/workload/experts/occupancy") && Contains("one workgroup"));
  CHECK_THAT(message({{"occupancy", 2}}, {}), Contains("/workload/experts/occupancy"));
  CHECK_THAT(message({{"tokens", 1'000'000}, {"inner", 1'000'000}}, {}), Contains("of a GPU's memory"));
  CHECK_THAT(message(json::object(), {"gpus=null"}), Contains("/gpus"));
  CHECK_THAT(message(json::object(), {"gpus=1"}), Contains("/gpus"));
  CHECK_THAT(message(json::object(), {"method=zero-copy"}), Contains("/method") && Contains("bulk or fused"));
  CHECK_THAT(message(json::object(), {"method=t3"}), Contains("/method"));
  CHECK_THAT(message(json::object(), {"simulate=mirror"}), Contains("/simulate"));
  CHECK_THAT(message(json::object(), {"operands=random"}), Contains("/operands"));
  CHECK_THAT(message(json::object(), {"program=gemv"}), Contains("/program"));
  CHECK_THAT(message(json::object(), {"workload.fused=all-to-all"}), Contains("/workload/fused"));
  CHECK_THAT(refusal_of(gemm(64, 64, 64) + Settings{"program=experts"}), Contains("/program"));
}

}  // namespace t3vp::test::experts_runs_test
