// Stacks add their metrics up, so that no metric may contain another one.
#include <catch2/catch.hpp>

#include "command_line/refusals.h"
#include "experiments/small_experiment.h"
#include "report/metric_parts.h"

namespace t3vp::test::stacked_metrics_test {

using nlohmann::json;

TEST_CASE("a stack of metrics that contain each other is refused, and both are named") {
  const auto refused = [](const json& keys, const std::string& whole, const std::string& part) {
    const SmallExperiment files;
    files.change("experiment.json", "/plot", {{{"file", "times"}, {"kind", "stacks"}, {"keys", keys}}});
    const Outcome outcome = files.run();
    INFO(outcome.err);
    require_refusal(outcome, (files / "experiment.json: /plot/0/keys").string());
    CHECK_THAT(outcome.err, Catch::Contains(whole + ", which contains " + part));
    CHECK_FALSE(std::filesystem::exists(files.out()));
  };
  refused({"time_ns.gemm", "time_ns.fused", "time_ns.all_gather"}, "time_ns.fused", "time_ns.gemm");
  refused({"time_ns.all_gather", "time_ns.total"}, "time_ns.total", "time_ns.all_gather");
  refused({"time_ns.setup", "time_ns.zeroing"}, "time_ns.setup", "time_ns.zeroing");
  refused({"time_ns.exposed_fused", "time_ns.exposed_communication"}, "time_ns.exposed_communication",
          "time_ns.exposed_fused");
  refused({"links.busiest.wire_bytes", "links.busiest.payload_bytes"}, "links.busiest.wire_bytes",
          "links.busiest.payload_bytes");
}

TEST_CASE("what contains a metric also contains its parts") {
  for (const char* whole : {"time_ns.total", "time_ns.forward"})
    for (const char* part : {"time_ns.pooling", "time_ns.exposed_all_to_all", "time_ns.bottom"})
      CHECK(contains(whole, part));
  CHECK(contains("time_ns.total", "time_ns.gemm"));
  CHECK(contains("time_ns.fused", "time_ns.exposed_fused"));
  CHECK(contains("time_ns.total", "time_ns.somebodys"));
  CHECK(contains("time_ns.total", "operations.softmax.time_ns"));
  for (const char* other : {"time_ns.total", "time_ns.setup", "time_ns.zeroing", "dram_bytes.rs_read"})
    CHECK_FALSE(contains("time_ns.total", other));
  CHECK_FALSE(contains("time_ns.gemm", "time_ns.fused"));
  CHECK_FALSE(contains("time_ns.gemm", "time_ns.exposed_fused"));
}

TEST_CASE("the parts of a total may be stacked") {
  const SmallExperiment files;
  files.change("experiment.json", "/plot",
               {{{"file", "times"},
                 {"kind", "stacks"},
                 {"keys", {"time_ns.gemm", "time_ns.exposed_communication"}},
                 {"methods", {"sequential", "t3"}}}});
  const Outcome outcome = files.run();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
}

}  // namespace t3vp::test::stacked_metrics_test
