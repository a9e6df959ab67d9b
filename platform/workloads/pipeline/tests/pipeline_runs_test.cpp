// A pipeline of GEMMs, a stage on each GPU: every stage's input and the last one's output, the bytes on links, the
// time.
#include <catch2/catch.hpp>

#include "system/kernel_runs.h"
#include "workloads/pipeline/pipeline_oracle.h"

namespace t3vp::test::pipeline_runs_test {

namespace {

using nlohmann::json;

json shape_of(std::uint32_t rows, std::uint32_t width, std::uint32_t parts, const char* element = "fp16") {
  return {{"rows", rows}, {"width", width}, {"parts", parts}, {"element", element}};
}

Settings pipeline(const char* method, std::uint32_t stages, const json& shape) {
  return kernel_run(method, stages, {{"pipeline", shape}}) +
         Settings{"system.tracker.chunks=16", "system.dma.commands=16"};
}

}  // namespace

TEST_CASE("every stage of a pipeline has the right input at odd sizes") {
  const auto [stages, topology, shape] = GENERATE(table<std::uint32_t, const char*, json>({
      {2, "ring", shape_of(1, 1, 1, "fp32")},
      {3, "ring", shape_of(301, 70, 5)},
      {4, "fully-connected", shape_of(200, 139, 3, "bf16")},
      {5, "switch", shape_of(130, 33, 2, "fp32")},
      {7, "ring", shape_of(500, 64, 8)},
      {8, R"({"kind": "torus", "dimensions": [4, 2]})", shape_of(257, 45, 4, "bf16")},
  }));
  for (const char* method : {"t3", "t3-mca", "sequential"}) {
    CAPTURE(stages, topology, shape.dump(), method);
    const Run run =
        right_run(pipeline(method, stages, shape) +
                  Settings{"data=functional", "check=all", std::string("system.links.topology=") + topology});
    CHECK(run.report()["functional"]["elements"] ==
          shape["rows"].get<std::uint64_t>() * shape["width"].get<std::uint64_t>() * (stages + 1));
  }
}

TEST_CASE("a pipeline takes as long without data and at any quantum") {
  const auto times = [](const char* setting) {
    return right_run(pipeline("t3", 3, shape_of(301, 70, 3)) + Settings{setting}).report()["time_ns"].dump();
  };
  const std::string usual = times("data=timing-only");
  CHECK(times("data=functional") == usual);
  CHECK(right_run(pipeline("t3", 3, shape_of(301, 70, 3)) + Settings{"quantum_ns=1"}).exit_code() == 0);
  CHECK(right_run(pipeline("t3", 3, shape_of(301, 70, 3)) + Settings{"quantum_ns=1000000"}).exit_code() == 0);
}

TEST_CASE("links carry each stage's activations once, and memory gets them once") {
  const Run run = right_run(pipeline("t3", 4, shape_of(256, 64, 2)));
  CHECK(carried(run) == 256 * 64 * 2 * 3);
}

TEST_CASE("more parts fill a pipeline faster, and stores that leave at once faster than copies") {
  const auto time = [](const char* method, std::uint32_t parts) {
    return right_run(pipeline(method, 4, shape_of(1024, 64, parts))).time("total");
  };
  CHECK(time("t3", 8) < time("t3", 1));
  CHECK(time("sequential", 4) < time("sequential", 1));
  for (const std::uint32_t parts : {1u, 4u}) CHECK(time("t3", parts) < time("sequential", parts));
}

TEST_CASE("a wrong element of a stage is found") {
  const Run run = Run::of_platform(pipeline("t3", 3, shape_of(64, 32, 1)) +
                                   Settings{"data=functional", R"(inject.wrong_element={"gpu": 2, "index": 7})"});
  CHECK(run.exit_code() == 1);
  CHECK(run.report()["functional"]["mismatches"] == 1);
}

TEST_CASE("a stage's weights give the next one's activations") {
  for (const std::uint32_t width : {1u, 4u, 7u}) {
    const PipelineOracle of(width, 3);
    const std::vector<double> in = of.activations(2, 9), out = of.activations(3, 9);
    for (std::uint32_t column = 0; column < width; ++column) {
      double sum = 0;
      for (std::uint32_t k = 0; k < width; ++k) sum += in[k] * of.weights(2, k)[column];
      CHECK(sum == out[column]);
      CHECK(sum != 0);
    }
  }
}

TEST_CASE("every wrong value of a pipeline is one line that names it") {
  const auto message = [](const json& change, const Settings& settings) {
    json shape = shape_of(256, 64, 2);
    shape.merge_patch(change);
    return refusal_of(pipeline("t3", 4, shape) + settings);
  };
  using Catch::Contains;
  for (const char* key : {"rows", "width", "parts"})
    CHECK_THAT(message({{key, 0}}, {}), Contains("/workload/pipeline/" + std::string(key)));
  CHECK_THAT(message({{"parts", 5}}, {}), Contains("/workload/pipeline/parts") && Contains("at most 4"));
  CHECK_THAT(message({{"parts", 16}}, {}), Contains("/workload/pipeline/parts"));
  CHECK_THAT(message(json::object(), {"gpus=1"}), Contains("/gpus"));
  CHECK_THAT(message(json::object(), {"method=bulk"}), Contains("/method"));
  CHECK_THAT(message(json::object(), {"simulate=mirror"}), Contains("/simulate"));
  CHECK_THAT(message(json::object(), {"operands=random"}), Contains("/operands"));
  CHECK_THAT(message(json::object(), {"system.tracker.chunks=1"}), Contains("/tracker/chunks"));
}

}  // namespace t3vp::test::pipeline_runs_test
