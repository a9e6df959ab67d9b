// Failures of driver calls that a program has not read.
#include <catch2/catch.hpp>

#include "driver_errors/whole_runs.h"

namespace t3vp::test::last_error_test {
namespace {

t3_output output(t3_context* gpu, const t3_run* run) {
  t3_output out{};
  out.tiling = tiling_of(run);
  out.matrix.rows = 4 * out.tiling.rows;
  out.matrix.columns = 4 * out.tiling.columns;
  out.matrix.memory = T3_UNCACHED;
  REQUIRE(t3_matrix_malloc(gpu, &out.matrix) == T3_OK);
  return out;
}

t3_status map_beyond(t3_context* gpu, const t3_run* run) {
  const t3_output out = output(gpu, run);
  return t3_dma_map(gpu, &out, {16, 1}, 0, T3_NOTIFY, {1, 1, T3_UPDATE});
}

/// GPU 1 maps a chunk that the output does not have, and does this with the refusal.
using AfterRefusal = t3_status(t3_context* gpu, t3_status refused);
AfterRefusal* after;

t3_status program(const t3_hal* hal, const t3_run* run) {
  t3_context gpu{};
  T3_TRY(t3_init(&gpu, hal));
  if (hal->gpu == 1) T3_TRY(after(&gpu, map_beyond(&gpu, run)));
  return t3_close(&gpu);
}

std::vector<std::string> diagnosis(AfterRefusal* what, const std::vector<std::string>& settings = {}) {
  after = what;
  return run(program, settings).diagnosis;
}

const auto refusal = Catch::Contains("t3_dma_map: chunk: 1 or more workgroups of the output expected");

}  // namespace

TEST_CASE("a failure that no program reads fails the run with one line, unless the run file allows it") {
  const auto goes_on = [](t3_context*, t3_status) { return T3_OK; };
  const std::vector<std::string> lines = diagnosis(goes_on);
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[0], Catch::StartsWith("GPU 1 firmware has not read an error: invalid_argument at ") && refusal);
  CHECK_THAT(lines[1], Catch::StartsWith("GPU 1 error log at "));
}

TEST_CASE("a run file allows failures that are not read") {
  const std::vector<std::string> lines = diagnosis([](t3_context*, t3_status) { return T3_OK; }, {"allow_errors=true"});
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], Catch::StartsWith("GPU 1 error log at "));
}

TEST_CASE("the latest failure is read once, with its call, parameter and what was expected") {
  const std::vector<std::string> lines = diagnosis([](t3_context* gpu, t3_status refused) {
    const t3_call_error error = t3_last_error(gpu);
    CHECK(error.code == refused);
    CHECK(std::string(error.call) == "t3_dma_map");
    CHECK(std::string(error.argument) == "chunk");
    CHECK(std::string(error.text) == "1 or more workgroups of the output");
    CHECK(t3_last_error(gpu).code == T3_OK);
    return T3_OK;
  });
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], Catch::StartsWith("GPU 1 error log at "));
}

TEST_CASE("a failure that the program returns is in the line of its end") {
  const std::vector<std::string> lines = diagnosis([](t3_context*, t3_status refused) { return refused; });
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[0], Catch::StartsWith("GPU 1 firmware ended with invalid_argument: ") && refusal);
}

TEST_CASE("busy and timeout are no failures, but a kernel's are") {
  const std::vector<std::string> lines = diagnosis([](t3_context* gpu, t3_status) {
    (void)t3_last_error(gpu);
    t3_context second{};
    CHECK(t3_init(&second, t3_hal_of(gpu)) == T3_BUSY);
    REQUIRE(t3_set_timeout(gpu, 0) == T3_OK);
    CHECK(t3_barrier(gpu) == T3_TIMEOUT);
    CHECK(t3_close(gpu) == T3_BUSY);
    CHECK(t3_last_error(gpu).code == T3_BUSY);
    const unsigned char arguments[4] = {};
    REQUIRE(t3_set_timeout(gpu, T3_FOREVER) == T3_OK);
    REQUIRE(t3_run_kernel(gpu, "none", arguments, sizeof arguments, {1, 0, 0}) == T3_OK);
    CHECK(t3_wait_kernels(gpu) == T3_BAD_PACKET);
    return T3_BUSY;
  });
  CHECK_THAT(lines[0], Catch::StartsWith("GPU 1 firmware has not read an error: bad_packet at ") &&
                           Catch::EndsWith(": t3_wait_kernels: a kernel of the queue has failed"));
}

}  // namespace t3vp::test::last_error_test
