// Every GPU ends with the sum over GPUs of A B, whatever the shape, the element type, the method and the ring.
#include <catch2/catch.hpp>

#include "system/reference_sum.h"

namespace t3vp::test::results_test {

namespace {

struct Case {
  std::uint32_t gpus, m, n, k;
  Element element = Element::fp16;
  bool transpose_b = false;
  const char* operands = "exact";
};

Settings settings_of(const Case& c, const std::string& method) {
  return gemm(c.m, c.n, c.k) + Settings{on_small_system(),
                                        "gpus=" + std::to_string(c.gpus),
                                        "method=" + method,
                                        std::string("workload.gemm.element=") + name_of(c.element),
                                        std::string("workload.gemm.transpose_b=") + (c.transpose_b ? "true" : "false"),
                                        std::string("operands=") + c.operands,
                                        "system.tracker.chunks=64",
                                        "system.dma.commands=64"};
}

void require_right(const Run& run, const Case& c) {
  CAPTURE(c.gpus, c.m, c.n, c.k, name_of(c.element), run.diagnosis());
  REQUIRE(run.exit_code() == 0);
  const Comparison comparison =
      compare(run, c.gpus, c.element, std::string(c.operands) == "exact" ? Sums::exact : Sums::rounded);
  CAPTURE(comparison.largest_error);
  REQUIRE(comparison.elements == std::size_t{c.gpus} * c.m * c.n);
  REQUIRE(comparison.wrong == 0);
  REQUIRE(run.report()["functional"]["mismatches"] == 0);
  REQUIRE(run.report()["functional"]["elements"] == comparison.elements);
}

/// The reductions of all rings are in the same order and rounded each time, so that results agree to the bit.
void require_all_methods_right(const Case& c) {
  const std::string sums = [&] {
    const Run sequential = Run::of_platform(settings_of(c, "sequential"));
    require_right(sequential, c);
    return outputs(sequential, c.gpus);
  }();
  for (const char* method : {"t3", "t3-mca", "ideal-overlap", "ideal-rs-nmc"}) {
    INFO(method);
    const Run run = Run::of_platform(settings_of(c, method));
    require_right(run, c);
    REQUIRE((outputs(run, c.gpus) == sums));
  }
}

}  // namespace

TEST_CASE("the result is right on rings of any size, by all methods alike") {
  require_all_methods_right({GENERATE(2u, 3u, 4u, 5u, 8u), 450, 330, 40});
}

TEST_CASE("the result is right for shapes that divide into nothing evenly") {
  require_all_methods_right(GENERATE(Case{3, 130, 70, 33}, Case{5, 777, 65, 1}, Case{4, 65, 777, 47},
                                     Case{7, 450, 63, 31}, Case{2, 1, 130, 64}, Case{2, 129, 1, 32},
                                     Case{8, 321, 449, 95}));
}

TEST_CASE("the result is right in bf16 and fp32") {
  const Element element = GENERATE(Element::bf16, Element::fp32);
  require_all_methods_right({5, 300, 220, 70, element});
  require_all_methods_right({3, 130, 70, 33, element});
}

TEST_CASE("sums of random operands are rounded as the reference says, to the bit") {
  const Element element = GENERATE(Element::fp16, Element::bf16, Element::fp32);
  require_all_methods_right({5, 150, 140, 70, element, false, "random"});
  require_all_methods_right({2, 130, 70, 1, element, true, "random"});
  require_all_methods_right({7, 70, 260, 95, element, false, "random"});
}

TEST_CASE("the result is right on large rings") {
  const auto [gpus, operands] =
      GENERATE(table<std::uint32_t, const char*>({{16, "exact"}, {16, "random"}, {24, "exact"}, {64, "exact"}}));
  const Case c{gpus, 512, 512, 40, gpus == 24 ? Element::fp16 : Element::bf16, false, operands};
  for (const std::string method : {"t3", "sequential", "ideal-rs-nmc"}) {
    if (gpus == 64 && method != "t3") break;
    INFO(method);
    require_right(Run::of_platform(settings_of(c, method)), c);
  }
}

TEST_CASE("the result is right with B stored transposed") {
  const Element element = GENERATE(Element::fp16, Element::bf16, Element::fp32);
  require_all_methods_right({4, 300, 200, 77, element, true});
}

TEST_CASE("operands are the seed's") {
  const Case c{3, 130, 70, 33};
  const auto operand = [&](const std::string& seed) {
    return text_of(Run::of_platform(settings_of(c, "t3") + Settings{"seed=" + seed}).array("gpu1.b"));
  };
  REQUIRE((operand("7") == operand("7")));
  REQUIRE((operand("7") != operand("8")));
}

TEST_CASE("the program dumps right arrays of five GPUs on t3-table1") {
  const Case c{5, 500, 388, 100};
  const auto run_of = [&](const std::string& method) {
    return Run::of_program(gemm(c.m, c.n, c.k) + Settings{"gpus=5", "method=" + method});
  };
  const Run sequential = run_of("sequential");
  require_right(sequential, c);
  for (const char* method : {"t3", "t3-mca"}) {
    const Run run = run_of(method);
    require_right(run, c);
    REQUIRE((outputs(run, c.gpus) == outputs(sequential, c.gpus)));
  }
}

}  // namespace t3vp::test::results_test
