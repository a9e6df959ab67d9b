// Operations near memory that follow a reduction (T3 section 7.6), and the same by a kernel.
#include <catch2/catch.hpp>

#include "system/kernel_runs.h"

namespace t3vp::test::following_test {

namespace {

const char* const operations[] = {"residual", "dropout", "bias-dropout-residual"};

Settings followed(const char* method, std::uint32_t gpus, const char* operation,
                  const char* kind = "ring-reduce-scatter") {
  Settings settings{on_small_system(),
                    "gpus=" + std::to_string(gpus),
                    std::string("method=") + method,
                    std::string("workload.following=") + operation,
                    "system.tracker.chunks=64",
                    "system.dma.commands=64"};
  if (method != std::string("sequential")) settings.push_back(std::string("workload.fused=") + kind);
  return settings;
}

}  // namespace

TEST_CASE("what follows a reduction is done once with each element at odd sizes") {
  const auto [gpus, kind, shape] = GENERATE(table<std::uint32_t, const char*, Settings>({
      {2, "ring-reduce-scatter", gemm(67, 139, 33)},
      {3, "direct-reduce-scatter", gemm(301, 70, 40)},
      {5, "all-reduce", gemm(130, 300, 64)},
      {7, "ring-reduce-scatter", gemm(200, 190, 20)},
      {8, "all-reduce", gemm(257, 190, 33)},
  }));
  for (const char* operation : operations)
    for (const char* element : {"fp16", "fp32"}) {
      CAPTURE(gpus, kind, operation, element);
      const Settings checked{"data=functional", "check=all", std::string("workload.gemm.element=") + element};
      CHECK(right_run(shape + followed("t3", gpus, operation, kind) + checked).report()["functional"]["checked"] ==
            true);
      CHECK(right_run(shape + followed("sequential", gpus, operation) + checked).report()["functional"]["checked"] ==
            true);
    }
}

TEST_CASE("shares of k and what follows their sums") {
  right_run(gemm(130, 139, 200) + followed("t3-mca", 3, "bias-dropout-residual") +
            Settings{"data=functional", "check=all", "workload.split_k=3"});
}

TEST_CASE("what follows a reduction takes as long without data and at any quantum") {
  const auto times = [](const char* setting) {
    return right_run(gemm(130, 139, 64) + followed("t3", 3, "bias-dropout-residual") + Settings{setting})
        .report()["time_ns"]
        .dump();
  };
  CHECK(times("data=functional") == times("data=timing-only"));
  CHECK_NOTHROW(times("quantum_ns=1"));
  CHECK_NOTHROW(times("quantum_ns=1000000"));
}

// GPU 0 owns a quarter: a residual is read and added in one update. Dropout reads the sums as well and stores them.
TEST_CASE("the unit reads operands of a GPU's own chunk alone") {
  const double chunk = 256 * 256 * 2 / 4;
  const auto run = [](const char* operation) { return right_run(gemm(256, 256, 64) + followed("t3", 4, operation)); };
  const Run residual = run("residual"), dropout = run("dropout"), all = run("bias-dropout-residual");
  CHECK(residual.dram_bytes("follow_read") == chunk);
  CHECK(residual.dram_bytes("follow_write") == chunk);
  CHECK(dropout.dram_bytes("follow_read") == chunk);
  CHECK(dropout.dram_bytes("follow_write") == chunk);
  CHECK(all.dram_bytes("follow_read") > 2 * chunk);
  CHECK(all.dram_bytes("follow_write") == chunk);
}

TEST_CASE("near memory less is done than by kernels of all GPUs") {
  for (const char* operation : operations) {
    const Run kernel = right_run(gemm(512, 512, 64) + followed("sequential", 4, operation));
    const Run fused = right_run(gemm(512, 512, 64) + followed("t3", 4, operation));
    CHECK(kernel.time("following") > 0);
    CHECK(fused.time("total") < kernel.time("total"));
  }
}

TEST_CASE("what cannot follow a reduction is one line that names it") {
  using Catch::Contains;
  const auto message = [](const Settings& settings) {
    return refusal_of(gemm(256, 256, 64) + followed("t3", 4, "residual") + settings);
  };
  CHECK_THAT(message({"workload.following=adam"}), Contains("/workload/following"));
  CHECK_THAT(message({"workload.fused=all-to-all"}), Contains("/workload/following"));
  CHECK_THAT(message({"gpus=1"}), Contains("/workload/following") || Contains("/gpus"));
  CHECK_THAT(message({"data=functional", "workload.gemm.element=bf16"}), Contains("/workload/following"));
  CHECK_THAT(message({"data=functional", "operands=random"}), Contains("/workload/following"));
  CHECK_THAT(message({"data=timing-only", "simulate=mirror"}), Contains("/simulate"));
  CHECK_THAT(refusal_of(gemm(256, 256, 64) +
                        Settings{on_small_system(), "method=ideal-overlap", "workload.following=residual"}),
             Contains("/workload/following"));
}

}  // namespace t3vp::test::following_test
