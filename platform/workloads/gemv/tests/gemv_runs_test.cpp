// A matrix times a vector on each GPU and the sum of the results: every element of every GPU, what links and DRAM move,
// and how long it takes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "system/kernel_runs.h"
#include "system/reference_sum.h"
#include "workloads/gemv/gemv_oracle.h"

namespace t3vp::test::gemv_runs_test {

namespace {

using nlohmann::json;

const char* const methods[] = {"bulk", "fused"};

json shape_of(std::uint32_t rows, std::uint32_t columns, const char* element = "fp16") {
  return {{"rows", rows}, {"columns", columns}, {"element", element}};
}

json with_slice(json shape, std::uint32_t slice) {
  shape["slice"] = slice;
  return shape;
}

Settings gemv(const char* method, std::uint32_t gpus, const json& shape) {
  return kernel_run(method, gpus, {{"gemv", shape}});
}

Run right_run(const char* method, std::uint32_t gpus, const json& shape, const Settings& settings) {
  return test::right_run(gemv(method, gpus, shape) + settings);
}

}  // namespace

TEST_CASE("every GPU has the sum of all GPUs' products at odd sizes") {
  const auto [gpus, topology, shape] = GENERATE(table<std::uint32_t, std::string, json>({
      {2, "ring", shape_of(37, 53)},
      {2, "fully-connected", shape_of(1, 1)},
      {3, "fully-connected", shape_of(131, 257, "fp32")},
      {4, "fully-connected", shape_of(515, 130, "bf16")},
      {4, "switch", with_slice(shape_of(99, 300), 7)},
      {4, "fully-connected", with_slice(shape_of(5, 2000, "fp32"), 5)},
      {6, "ring", shape_of(250, 70)},
      {6, "fully-connected", with_slice(shape_of(1000, 33), 1)},
      {9, "fully-connected", shape_of(700, 40)},
  }));
  const std::string links = "system.links.topology=" + topology;
  for (const char* method : methods) {
    const Run run = right_run(method, gpus, shape, {"data=functional", "check=all", links});
    CHECK(run.report()["functional"]["elements"] == shape["rows"].get<std::uint64_t>() * gpus);
    CHECK(run.report()["functional"]["checked"] == true);
  }
}

// Nothing of it is shared with the platform: operands and results are those of the simulated memories. Rows of 3000
// elements are multiplied in several pieces.
TEST_CASE("sums are matrices times vectors as they lie in the GPUs' memories") {
  const auto [rows, columns] = GENERATE(table<std::uint32_t, std::uint32_t>({{37, 53}, {50, 3000}}));
  for (const char* method : methods) {
    const Run run = right_run(method, 3, shape_of(rows, columns), {joined, "data=functional"});
    const auto operand = [&](std::uint32_t gpu, const char* name) {
      return load(run.array("gpu" + std::to_string(gpu) + "." + name), Element::fp16);
    };
    Eigen::VectorXd sums = Eigen::VectorXd::Zero(rows);
    for (std::uint32_t gpu = 0; gpu < 3; ++gpu) {
      const Matrix matrix = operand(gpu, "matrix"), vector = operand(gpu, "vector");
      REQUIRE(matrix.rows() == rows);
      REQUIRE(matrix.cols() == columns);
      sums += matrix * vector.reshaped();
    }
    for (std::uint32_t row = 1; row < rows; ++row)
      REQUIRE(operand(0, "matrix").row(row) != operand(0, "matrix").row(0));
    for (std::uint32_t gpu = 0; gpu < 3; ++gpu) {
      const Matrix out = operand(gpu, "out");
      REQUIRE(out.size() == rows);
      CHECK(out.reshaped() == sums);
    }
  }
}

// Each workgroup has several slices of every GPU's: of 4 compute units each runs 2 workgroups.
TEST_CASE("fewer workgroups than slices have all of them") {
  for (const char* method : methods)
    right_run(method, 3, with_slice(shape_of(401, 64), 4),
              {"data=functional", "check=all", joined, "system.kernels.rows.workgroups_per_cu=2"});
}

TEST_CASE("products with vectors take as long without data and at any quantum") {
  for (const char* method : methods) {
    const auto times = [&](const char* setting) {
      const Run run = right_run(method, 3, shape_of(300, 170), {joined, setting});
      return run.report()["time_ns"].dump() + run.report()["ends"].dump();
    };
    const std::string usual = times("data=timing-only");
    CHECK(times("data=functional") == usual);
    CHECK(times("quantum_ns=1") == usual);
    CHECK(times("quantum_ns=1000000") == usual);
  }
}

// Of each result every GPU but its owner sends one, and the owner the sum to each of them.
TEST_CASE("links carry each result and each sum once") {
  constexpr std::uint64_t results = 512 * 2 * (4 - 1) * 2;
  const Run bulk = right_run("bulk", 4, shape_of(512, 256), {joined});
  CHECK(carried(bulk) == results);
  const Run fused = right_run("fused", 4, shape_of(512, 256), {joined});
  CHECK(carried(fused) == results);
}

TEST_CASE("DRAM reads each element of the matrix once") {
  for (const char* method : methods) {
    const Run run = right_run(method, 2, shape_of(2048, 1024), {"data=timing-only"});
    CHECK(run.dram_bytes("gemv_read") == Approx(2048 * 1024 * 2).epsilon(0.01));
  }
}

// Of 4 GPUs in full, each sends and receives half the results on three links.
TEST_CASE("bounds are what matrix and results take at full rate") {
  const json bounds = right_run("fused", 4, shape_of(4096, 512), {joined}).report()["bounds"];
  const double GBps = 4 * 32, lanes = 4 * 128, bytes = 4096 * 512 * 2;
  CHECK(bounds["compute_ns"].get<double>() == Approx(4096 * 512 / lanes));
  CHECK(bounds["dram_ns"].get<double>() == Approx(bytes / GBps).epsilon(0.02));
  CHECK(bounds["link_ns"].get<double>() >= 2 * 4096 * 2 / 4.0 / 4);
}

// Each workgroup sets flags of its own on all GPUs: twice the workgroups of the fused kernel cost 2.5% of the small
// matrix. Polls of 500 ns would be a share of such short runs.
TEST_CASE("products with vectors are not slower with more compute units") {
  const json shape = GENERATE(shape_of(512, 256), shape_of(1024, 512));
  for (const char* method : methods)
    check_more_units_not_slower(gemv(method, 4, shape) + Settings{joined, "system.compute.poll_ns=50"}, "total",
                                method == std::string("fused") ? 0.03 : 0.01);
}

TEST_CASE("in one kernel products with vectors take less time than in two") {
  const Run bulk = right_run("bulk", 4, shape_of(1024, 512), {joined});
  const Run fused = right_run("fused", 4, shape_of(1024, 512), {joined});
  CHECK(bulk.report()["time_ns"]["all_reduce"].is_number());
  CHECK_FALSE(fused.report()["time_ns"].contains("all_reduce"));
  CHECK(fused.time("total") < bulk.time("total"));
  CHECK(fused.time("total") >= bulk.time("gemv"));  // no more is hidden than the all-reduce
}

// GPU 0 sends each other GPU a third of its results, and as many sums. While its workgroups wait for each other at one
// link, those of the other links have signalled results and sums long ago.
TEST_CASE("a GPU has the sums when the slowest link has brought them") {
  const std::uint32_t to = GENERATE(1u, 2u);
  const json slow = {{"from", 0}, {"to", to}, {"bandwidth_GBps", 0.05}};
  for (const char* method : methods) {
    const Run run = right_run(method, 3, shape_of(12'288, 16),
                              {joined, "data=functional", "system.links.overrides=" + json::array({slow}).dump()});
    check_end_behind_slow_link(run, right_run(method, 3, shape_of(12'288, 16), {joined, "data=functional"}), to,
                               2 * 4096 * 2, 0.05);
  }
}

TEST_CASE("a wrong element of a sum is found") {
  const Run run = Run::of_platform(gemv("fused", 2, shape_of(64, 32)) +
                                   Settings{"data=functional", R"(inject.wrong_element={"gpu": 1, "index": 63})"});
  CHECK(run.exit_code() == 1);
  CHECK(run.report()["functional"]["mismatches"] == 1);
  CHECK(run.report()["functional"]["first_mismatch"]["column"] == 63);
}

TEST_CASE("operands of products with vectors count and stay within all element types") {
  t3_gemv g{};
  g.rows = 40;
  g.columns = 900;
  for (const std::uint32_t gpus : {2u, 6u, 256u}) {
    const GemvOracle oracle(g, gpus, 3);
    for (const float sum : oracle.sums()) CHECK(std::abs(sum) <= 256);
    const std::vector<float> row = oracle.matrix_row(1, 5);
    CHECK(oracle.matrix_row(0, 5) != row);
    CHECK(oracle.matrix_row(1, 6) != row);
    CHECK(std::count(row.begin(), row.end(), 0.0F) < 900 / 2);
    for (const float value : row) CHECK(std::abs(value) <= 256);
    CHECK(oracle.vector(0) != oracle.vector(1));
  }
  CHECK(GemvOracle(g, 2, 3).sums() != GemvOracle(g, 2, 4).sums());
}

TEST_CASE("every wrong value of a product with a vector is one line that names it") {
  const json right = shape_of(256, 64);
  const auto message = [&](const json& change, const Settings& settings) {
    json shape = right;
    shape.merge_patch(change);
    return refusal_of(gemv("bulk", 4, shape) + settings);
  };
  using Catch::Contains;
  for (const char* key : {"rows", "columns"}) {
    CHECK_THAT(message({{key, 0}}, {}), Contains("/workload/gemv/" + std::string(key)));
    CHECK_THAT(message({{key, nullptr}}, {}), Contains(key));
  }
  CHECK_THAT(message({{"slice", 0}}, {}), Contains("/workload/gemv/slice"));
  CHECK_THAT(message({{"slice", 257}}, {}), Contains("/workload/gemv/slice") && Contains("at most 256"));
  CHECK_THAT(message({{"element", "int8"}}, {}), Contains("/workload/gemv/element"));
  CHECK_THAT(message({{"rows", 1'000'000}, {"columns", 1'000'000}}, {}), Contains("of a GPU's memory"));
  CHECK_THAT(message({{"rows", 4096}, {"slice", 1024}, {"element", "fp32"}},
                     {"system.links.receive_buffer_KiB=2", "system.kernels.ring.block_bytes=1024"}),
             Contains("a slice of results"));
  CHECK_THAT(message(json::object(), {"gpus=null"}), Contains("/gpus"));
  CHECK_THAT(message(json::object(), {"gpus=1"}), Contains("/gpus"));
  CHECK_THAT(message(json::object(), {"method=zero-copy"}), Contains("/method") && Contains("bulk or fused"));
  CHECK_THAT(message(json::object(), {"method=t3"}), Contains("/method"));
  CHECK_THAT(message(json::object(), {"simulate=mirror"}), Contains("/simulate"));
  CHECK_THAT(message(json::object(), {"operands=random"}), Contains("/operands"));
  CHECK_THAT(message(json::object(), {"program=embedding"}), Contains("/program"));
  CHECK_THAT(message(json::object(), {R"(workload.gemm={"m": 64, "n": 64, "k": 64})"}), Contains("/workload/gemm"));
  CHECK_THAT(refusal_of(gemm(64, 64, 64) + Settings{"program=gemv"}), Contains("/program"));
  CHECK_THAT(message(json::object(), {R"(system.links.topology={"kind": "nodes", "gpus_per_node": 1})"}),
             Contains("/links/topology/between"));
}

}  // namespace t3vp::test::gemv_runs_test
