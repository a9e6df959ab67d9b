// Numbers that an enumeration does not have are refused wherever programs in C can pass them.
#include <catch2/catch.hpp>

#include "driver_errors/gpu_pair.h"
#include "report/report.h"
#include "run/simulation.h"
#include "t3_hal.h"

namespace t3vp::test::enumerations_test {

namespace {

/// What the run of two GPUs says whose programs are this one.
std::vector<std::string> diagnosis_of(t3_program* program) {
  const std::string configs = T3VP_SOURCE_DIR "/configs/";
  RunOptions options;
  options.program = program;
  return simulate(
             load_run(configs + "runs/gemm-rs-4gpu.json", {"system=" + configs + "systems/small-4.json", "gpus=2"}),
             options)
      .diagnosis;
}

}  // namespace

TEST_CASE("calls refuse numbers that no enumeration has") {
  GpuPair pair(guest_of_unknown_numbers);
  pair.run();
  REQUIRE(pair.told() == lines({{"memory of a", T3_OK},
                                {"memory of b", T3_OK},
                                {"element type 3", T3_INVALID_ARGUMENT},
                                {"element type 65536", T3_INVALID_ARGUMENT},
                                {"memory kind 2", T3_INVALID_ARGUMENT},
                                {"operations", T3_INVALID_ARGUMENT},
                                {"operations on rows, passes", T3_INVALID_ARGUMENT},
                                {"line", T3_INVALID_ARGUMENT},
                                {"line", T3_INVALID_ARGUMENT},
                                {"line", T3_INVALID_ARGUMENT},
                                {"policy 256", T3_INVALID_ARGUMENT},
                                {"policy 4", T3_BAD_VALUE},
                                {"logged by memory_controller", T3_BAD_VALUE}}));
  pair.require_right_result();
}

TEST_CASE("contents of a kind that there is not are told") {
  const auto found = diagnosis_of([](const t3_hal* hal, const t3_run*) {
    t3_buffer buffer{};
    buffer.name = "x";
    buffer.rows = buffer.columns = 1;
    buffer.expected.kind = static_cast<t3_contents_kind>(7);
    if (hal->gpu == 1) hal->publish(hal->platform, &buffer);
    return T3_OK;
  });
  REQUIRE(found.size() == 1);
  CHECK(found[0] ==
        "GPU 1 firmware publishes a buffer whose contents are of kind 7, T3_CONTENTS_UNSAID (0) to "
        "T3_CONTENTS_FUNCTION (3) expected: x");
}

TEST_CASE("a program that ends with a code that there is not fails its run") {
  const auto found =
      diagnosis_of([](const t3_hal* hal, const t3_run*) { return hal->gpu == 1 ? static_cast<t3_status>(99) : T3_OK; });
  REQUIRE(found.size() == 1);
  CHECK(found[0] == "GPU 1 firmware ended with 99, which is no code of t3_status");
}

}  // namespace t3vp::test::enumerations_test
