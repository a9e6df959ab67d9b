// How long communication waits under MCA follows from the links and the memory.
#include <catch2/catch.hpp>

#include "run/node_parameters.h"
#include "system/platform_run.h"

namespace t3vp::test::aging_test {

namespace {

Settings table_1(const Settings& more) {
  return Settings{"system=" + config("systems/t3-table1.json").string(), "data=timing-only"} + more;
}

double aging_ns(const Settings& settings) {
  const NodeParameters node = node_parameters(configuration_of(gemm(256, 256, 256) + table_1(settings)));
  return static_cast<double>(memory::aging_of(node.gpus.at(0).memory)) / 1000;
}

}  // namespace

// 32 channels of 32 bytes, 1024 GB/s at the peak.
TEST_CASE("the aging is the time in which a GPU's links move an access of each channel unless it is given") {
  const char* const slow = "system.links.bandwidth_GBps=10";
  CHECK(aging_ns({slow, "gpus=4"}) == Approx(1024.0 / 40));
  CHECK(aging_ns({slow, "gpus=2"}) == Approx(1024.0 / 20));
  CHECK(aging_ns({slow, "gpus=4", "system.links.topology=fully-connected"}) == Approx(1024.0 / 60).margin(1e-3));
  CHECK(aging_ns({slow, "gpus=4", "system.links.topology=switch"}) == Approx(1024.0 / 20));
  CHECK(aging_ns({slow, "gpus=4", "method=t3", "simulate=mirror"}) == Approx(1024.0 / 40));
  CHECK(aging_ns({slow, "gpus=4", "system.memory.channels=16"}) == Approx(512.0 / 40));
  CHECK(aging_ns({slow, "gpus=4", "system.memory.aging_ns=7.25"}) == 7.25);
}

TEST_CASE("aging alone gives communication at most every fifth access") {
  CHECK(aging_ns({"gpus=4"}) == 4);
  CHECK(aging_ns({"gpus=4", "system.links.bandwidth_GBps=600"}) == 4);
  CHECK(aging_ns({"gpus=8", "system.links.topology=fully-connected"}) == 4);
}

// In the tile of T3's figures.
TEST_CASE("with the aging that follows t3-mca is as fast as t3 at any rate of links") {
  const char* const sublayer = GENERATE("OP", "FC-2");
  const char* const rate = GENERATE("75", "150", "300", "600");
  const auto fused_ns = [&](const char* method) {
    const Run run =
        Run::of_platform(table_1({"models=" + config("workloads/models.json").string(), "gpus=8", "simulate=mirror",
                                  std::string("method=") + method, std::string("system.links.bandwidth_GBps=") + rate,
                                  std::string(R"(workload={"model": "T-NLG", "sublayer": ")") + sublayer +
                                      R"(", "tp": 8, "tokens": 1024, "gemm": {"tile": "128x256"}})"}));
    CAPTURE(run.diagnosis());
    REQUIRE(run.exit_code() == 0);
    return run.time("fused");
  };
  CAPTURE(sublayer, rate);
  CHECK(fused_ns("t3-mca") <= fused_ns("t3") * 1.005);
}

}  // namespace t3vp::test::aging_test
