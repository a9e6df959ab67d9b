// Rings that no run file asks for but a driver may: one GPU, and more GPUs than tiles.
#include <catch2/catch.hpp>

#include "system/reference_sum.h"

namespace t3vp::test::small_rings_test {

namespace {

constexpr const char* methods[] = {"sequential", "t3", "t3-mca", "ideal-overlap", "ideal-rs-nmc"};

RunConfiguration ring_of(std::uint32_t gpus, const std::string& method, const Settings& shape) {
  return with_gpus(configuration_of(shape + Settings{on_small_system(), "gpus=2", "method=" + method}), gpus);
}

void require_right(std::uint32_t gpus, const char* method, const Settings& shape) {
  const Run run = Run::of_platform(ring_of(gpus, method, shape));
  CAPTURE(gpus, method, run.diagnosis());
  REQUIRE(run.exit_code() == 0);
  const Comparison comparison = compare(run, gpus, Element::fp16);
  REQUIRE(comparison.elements > 0);
  REQUIRE(comparison.wrong == 0);
}

}  // namespace

TEST_CASE("one GPU multiplies by itself") {
  for (const char* method : methods) require_right(1, method, gemm(130, 70, 33));
}

TEST_CASE("GPUs without a chunk take part in the ring") {
  for (const char* method : methods) {
    require_right(8, method, gemm(130, 70, 33));  // 6 tiles
    require_right(5, method, gemm(64, 128, 33));  // 2 tiles
  }
}

}  // namespace t3vp::test::small_rings_test
