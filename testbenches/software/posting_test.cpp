// A user's kernel that posts to NICs, on GPUs that nothing else joins.
#include <catch2/catch.hpp>

#include "software/outside_run.h"

namespace t3vp::test::posting_test {

namespace {

const std::vector<std::string> nics{
    "--set", R"(system.links.topology={"kind": "nodes", "gpus_per_node": 1})", "--set",
    R"(system.nic={"messages_per_us": 215, "io_latency_ns": 200, "io_GBps": 26, "entry_fetches": 128, )"
    R"("payload_in_flight_KiB": 64, "mtu_bytes": 4096, "wire_GBps": 25, "wire_latency_ns": 700, )"
    R"("writes_invalidate": true})"};

}  // namespace

TEST_CASE("a library's kernels put to GPUs that nothing but NICs joins") {
  for (const int gpus : {2, 3, 4}) {
    const OutsideRun run(library("guests") + ":posting", {{"gpus", gpus}, {"arguments", {{"bytes", 1000 + gpus}}}});
    const Outcome outcome = run.run(nics);
    INFO(outcome.err << outcome.out);
    CHECK(outcome.exit_code == 0);
  }
}

TEST_CASE("a library's kernel without a NIC fails its run in words") {
  const OutsideRun run(library("guests") + ":posting", {{"gpus", 2}, {"arguments", {{"bytes", 8}}}});
  const Outcome outcome = run.run();
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.err + outcome.out, Catch::Contains("this system has no NIC"));
}

}  // namespace t3vp::test::posting_test
