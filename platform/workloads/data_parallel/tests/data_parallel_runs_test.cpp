// A gradient's reduce-scatter beside an independent GEMM: every element, the bytes on links and DRAM, the time.
#include <catch2/catch.hpp>

#include "system/kernel_runs.h"

namespace t3vp::test::data_parallel_runs_test {

namespace {

using nlohmann::json;

const char* const methods[] = {"t3-mca", "t3", "overlap", "sequential"};

json shape_of(std::uint32_t m, std::uint32_t n, std::uint32_t k, const char* element = "fp16") {
  return {{"m", m},
          {"n", n},
          {"k", k},
          {"beside_m", m / 2 + 1},
          {"beside_n", n},
          {"beside_k", k + 3},
          {"element", element}};
}

Settings data_parallel(const char* method, std::uint32_t gpus, const json& shape) {
  return kernel_run(method, gpus, {{"data_parallel", shape}}) +
         Settings{"system.tracker.chunks=16", "system.dma.commands=16"};
}

}  // namespace

TEST_CASE("every GPU has its gradients and its other product at odd sizes") {
  const auto [gpus, topology, shape] = GENERATE(table<std::uint32_t, const char*, json>({
      {2, "ring", shape_of(67, 70, 33)},
      {3, "ring", shape_of(301, 139, 70, "bf16")},
      {5, "fully-connected", shape_of(333, 90, 40, "fp32")},
      {7, "switch", shape_of(200, 300, 20)},
      {8, "ring", shape_of(257, 190, 64)},
  }));
  for (const char* method : methods) {
    CAPTURE(gpus, topology, shape.dump(), method);
    const Run run =
        right_run(data_parallel(method, gpus, shape) +
                  Settings{"data=functional", "check=all", std::string("system.links.topology=") + topology});
    const std::uint64_t m = shape["m"], n = shape["n"], beside = shape["beside_m"];
    CHECK(run.report()["functional"]["elements"] == m * n + beside * n * gpus);
  }
}

TEST_CASE("a gradient beside a GEMM takes as long without data and at any quantum") {
  for (const char* method : {"t3", "overlap"}) {
    const auto times = [&](const char* setting) {
      return right_run(data_parallel(method, 3, shape_of(200, 150, 100)) + Settings{setting})
          .report()["time_ns"]
          .dump();
    };
    const std::string usual = times("data=timing-only");
    CHECK(times("data=functional") == usual);
    CHECK_NOTHROW(times("quantum_ns=1"));
    CHECK_NOTHROW(times("quantum_ns=1000000"));
  }
}

TEST_CASE("links carry each chunk of a gradient from GPU to GPU") {
  for (const char* method : methods)
    CHECK(carried(right_run(data_parallel(method, 4, shape_of(256, 256, 64)))) == 256 * 256 * 2 * 3);
}

TEST_CASE("Adam's step is taken once with each gradient that a GPU owns, at odd sizes") {
  const auto [gpus, topology, shape] = GENERATE(table<std::uint32_t, const char*, json>({
      {2, "ring", shape_of(67, 70, 33)},
      {3, "ring", shape_of(301, 139, 70, "bf16")},
      {5, "fully-connected", shape_of(333, 90, 40, "fp32")},
      {7, "ring", shape_of(200, 300, 20, "fp32")},
  }));
  for (const char* method : methods) {
    CAPTURE(gpus, topology, shape.dump(), method);
    const Run run = right_run(data_parallel(method, gpus, shape) +
                              Settings{"data=functional", "check=all", "workload.data_parallel.optimizer=adam",
                                       std::string("system.links.topology=") + topology});
    const std::uint64_t m = shape["m"], n = shape["n"], beside = shape["beside_m"];
    CHECK(run.report()["functional"]["elements"] == 4 * m * n + beside * n * gpus);
  }
}

// The step reads gradients and the three parts of the state, and writes the three parts, of the GPU's own chunk.
TEST_CASE("near memory Adam's step reads four chunks and writes three") {
  const auto run = [](const char* data) {
    return right_run(data_parallel("t3", 4, shape_of(256, 256, 64)) +
                     Settings{"workload.data_parallel.optimizer=adam", std::string("data=") + data});
  };
  const double chunk = 256 * 256 * 2 / 4;
  const Run timed = run("timing-only");
  CHECK(timed.dram_bytes("follow_read") == 4 * chunk);
  CHECK(timed.dram_bytes("follow_write") == 3 * chunk);
  CHECK(run("functional").report()["time_ns"] == timed.report()["time_ns"]);
}

// Near memory: each chunk that goes on is read once, and each that arrives is written once.
TEST_CASE("memory reads each forwarded chunk of a gradient once and adds what arrives once") {
  const Run fused = right_run(data_parallel("t3", 4, shape_of(256, 256, 64)));
  const double chunk = 256 * 256 * 2 / 4;
  CHECK(fused.dram_bytes("rs_read") == 2 * chunk);
  CHECK(fused.dram_bytes("rs_write") == 3 * chunk);
}

TEST_CASE("an overlapped reduce-scatter hides behind the GEMM beside it") {
  json shape = shape_of(256, 256, 64);
  shape["beside_m"] = 512;
  shape["beside_k"] = 512;
  const auto time = [&](const char* method) { return right_run(data_parallel(method, 4, shape)).time("total"); };
  const double sequential = time("sequential"), overlap = time("overlap"), fused = time("t3");
  CHECK(overlap < sequential);
  CHECK(fused < sequential);
}

TEST_CASE("every wrong value of data parallelism is one line that names it") {
  const auto message = [](const json& change, const Settings& settings) {
    json shape = shape_of(256, 64, 64);
    shape.merge_patch(change);
    return refusal_of(data_parallel("t3", 4, shape) + settings);
  };
  using Catch::Contains;
  for (const char* key : {"m", "n", "k", "beside_m", "beside_n", "beside_k"}) {
    CHECK_THAT(message({{key, 0}}, {}), Contains("/workload/data_parallel/" + std::string(key)));
    CHECK_THAT(message({{key, nullptr}}, {}), Contains(key));
  }
  CHECK_THAT(message({{"m", 64}}, {}),
             Contains("/workload/data_parallel: ") && Contains("4 tiles or more") && Contains("not of 1"));
  CHECK_THAT(message({{"optimizer", "sgd"}}, {}), Contains("/workload/data_parallel/optimizer"));
  CHECK_THAT(message(json::object(), {"gpus=1"}), Contains("/gpus"));
  CHECK_THAT(message(json::object(), {"method=bulk"}), Contains("/method"));
  CHECK_THAT(message(json::object(), {"simulate=mirror"}), Contains("/simulate"));
  CHECK_THAT(message(json::object(), {"operands=random"}), Contains("/operands"));
  CHECK_THAT(message(json::object(), {"system.dma.commands=2"}), Contains("/dma/commands"));
}

}  // namespace t3vp::test::data_parallel_runs_test
