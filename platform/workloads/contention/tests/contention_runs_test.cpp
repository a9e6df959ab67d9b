// A GEMM beside a kernel that streams: right sums, the stream's bandwidth, and what one costs the other.
#include <catch2/catch.hpp>

#include "io/input_error.h"
#include "system/kernel_runs.h"

namespace t3vp::test::contention_runs_test {

namespace {

using nlohmann::json;

Settings beside(const json& stream) {
  return kernel_run("beside", 1, {{"gemm", {{"m", 256}, {"n", 256}, {"k", 256}}}, {"stream", stream}});
}

json stream(const char* kind, int units) {
  return {{"kind", kind}, {"compute_units", units}, {"footprint", 1 << 20}, {"timed", 1 << 16}, {"in_flight", 4096}};
}

}  // namespace

TEST_CASE("the sums of a GEMM are right beside each kind of stream") {
  for (const char* kind : {"read", "copy", "write", "update"}) {
    INFO(kind);
    const Run run = right_run(beside(stream(kind, 1)) + Settings{"data=functional", "check=all"});
    CHECK(run.report()["functional"]["elements"] == 256 * 256);
    CHECK(run.time("stream") > run.time("stream_start"));
  }
}

TEST_CASE("a stream takes time from the GEMM beside it and moves the bytes that it says") {
  const Run alone = right_run(beside(stream("read", 0))), both = right_run(beside(stream("copy", 2)));
  CHECK(alone.time("gemm") < both.time("gemm"));
  CHECK(both.dram_bytes("stream_read") >= 2 * (1 << 16));
}

TEST_CASE("a GEMM takes its time beside a stream whose timed part outlasts the ones before it") {
  json longer = stream("read", 1);
  longer["timed"] = 16 << 20;
  const double usual = right_run(beside(stream("read", 1))).time("gemm"), late = right_run(beside(longer)).time("gemm");
  CHECK(late == Approx(usual).epsilon(0.2));
}

TEST_CASE("stores that wait for their port take nothing from loads that hit meanwhile") {
  const json in_cache = {
      {"kind", "read"}, {"compute_units", 2}, {"footprint", 1 << 16}, {"timed", 1 << 19}, {"in_flight", 4096}};
  const auto beside_stores = [&](const char* rate) { return right_run(beside(in_cache) + Settings{rate}); };
  // Each workgroup's output passes its port in 0.4 us, and in 23 us.
  const Run fast = beside_stores("system.compute.store_bytes_per_cycle=64"),
            slow = beside_stores("system.compute.store_bytes_per_cycle=1");
  CHECK(slow.time("gemm") > 16000 + fast.time("gemm"));
  CHECK(slow.time("stream_start") < 1.01 * fast.time("stream_start"));
  CHECK(slow.time("stream") < 1.01 * fast.time("stream"));
}

TEST_CASE("what a stream cannot be is refused") {
  CHECK_THROWS_AS(configuration_of(beside(stream("read", 500))), InputError);
  CHECK_THROWS_AS(configuration_of(beside(stream("fetch", 1))), InputError);
}

}  // namespace t3vp::test::contention_runs_test
