// What a program publishes is the run's operand of that name, in the GPU's own memory, or the run fails and says so.
#include <catch2/catch.hpp>

#include "report/report.h"
#include "run/simulation.h"
#include "t3_hal.h"

namespace t3vp::test::published_test {

namespace {

t3_buffer published{};

t3_status publish_on_gpu_1(const t3_hal* hal, const t3_run*) {
  if (hal->gpu == 1) hal->publish(hal->platform, &published);
  return T3_OK;
}

/// GPU 1 publishes it in a run of 200 x 32 by 32 x 16.
void require_refused(const t3_buffer& buffer, const std::string& text) {
  const std::string configs = T3VP_SOURCE_DIR "/configs/";
  published = buffer;
  RunOptions options;
  options.program = publish_on_gpu_1;
  const RunResult result = simulate(
      load_run(configs + "runs/gemm-rs-4gpu.json", {"system=" + configs + "systems/small-4.json", "gpus=2",
                                                    "workload.gemm.m=200", "workload.gemm.n=16", "workload.gemm.k=32"}),
      options);
  REQUIRE(result.diagnosis.size() == 1);
  CHECK_THAT(
      result.diagnosis[0],
      Catch::StartsWith("GPU 1 firmware publishes " + std::string(buffer.name) + ": found ") && Catch::Contains(text));
}

std::uint64_t place() { return t3_on_gpu(1, 4096); }

t3_buffer buffer(const char* name, std::uint64_t address, std::uint64_t row_stride, std::uint32_t rows,
                 std::uint32_t columns, decltype(t3_buffer::element) element) {
  t3_buffer made{};
  made.name = name;
  made.address = address;
  made.row_stride = row_stride;
  made.rows = rows;
  made.columns = columns;
  made.element = element;
  return made;
}

}  // namespace

TEST_CASE("an output of more rows than the run's is refused where it is published") {
  require_refused(buffer("out", place(), 64, 250, 16, T3_FP16), "found 250 x 16 elements of fp16, expected 200 x 16 ");
}

TEST_CASE("an output of 2^32 rows is refused where it is published") {
  require_refused(buffer("out", place(), 64, 0xFFFFFFFF, 16, T3_FP16), "found 4294967295 x 16 elements");
}

TEST_CASE("an operand of fewer columns than the run's is refused where it is published") {
  require_refused(buffer("a", place(), 64, 200, 31, T3_FP16), "found 200 x 31 elements of fp16, expected 200 x 32 ");
}

TEST_CASE("an operand of no element type is refused where it is published") {
  require_refused(buffer("a", place(), 64, 200, 32, 99), "found 200 x 32 elements of type 99, expected 200 x 32 ");
}

TEST_CASE("an output in another GPU's memory is refused where it is published") {
  require_refused(buffer("out", t3_on_gpu(0, 4096), 64, 200, 16, T3_FP16), "at 0x1000 with 64 bytes from row to row");
}

TEST_CASE("an output whose rows do not end in memory is refused where it is published") {
  require_refused(buffer("out", place(), ~std::uint64_t{0}, 200, 16, T3_FP16),
                  "with 18446744073709551615 bytes from row");
}

TEST_CASE("a buffer of any name that does not end in memory is refused where it is published") {
  require_refused(buffer("mine", place(), 64, 0xFFFFFFFF, 16, T3_FP16), "publishes mine: found 4294967295 x 16 ");
}

}  // namespace t3vp::test::published_test
