// Exposed communication against closed forms of the phases' times.
#include <algorithm>
#include <catch2/catch.hpp>

#include "report/exposed_times.h"
#include "system/platform_run.h"

namespace t3vp::test::exposed_times_test {

namespace {

/// A GEMM that takes longer than its reduce-scatter for a large k, and less for a small one.
Run run(const std::string& method, std::uint32_t k) {
  Run result = Run::of_program(gemm(256, 320, k) +
                               Settings{on_small_system(), "gpus=4", "method=" + method, "data=timing-only"});
  REQUIRE(result.exit_code() == 0);
  return result;
}

double exposed_of_two_phases(const RunTimes& times, bool runs_apart) {
  return exposed_times(times, runs_apart).at(0).second;
}

}  // namespace

TEST_CASE("one after the other, all communication is exposed") {
  const Run sequential = run("sequential", 64);
  CHECK(sequential.time("exposed_reduce_scatter") == sequential.time("reduce_scatter"));
  CHECK(sequential.time("exposed_all_gather") == sequential.time("all_gather"));
  CHECK(sequential.time("exposed_communication") ==
        Approx(sequential.time("reduce_scatter") + sequential.time("all_gather")));
  CHECK_FALSE(sequential.report().at("time_ns").contains("exposed_fused"));
}

TEST_CASE("of phases that run apart, what is longer than the GEMM is exposed") {
  for (const char* method : {"ideal-overlap", "ideal-rs-nmc"})
    for (const std::uint32_t k : {16u, 2048u}) {
      const Run ideal = run(method, k);
      const double beyond = ideal.time("reduce_scatter") - ideal.time("gemm");
      INFO(method << ", " << k << ": " << beyond);
      CHECK((k == 16) == (beyond > 0));
      CHECK(ideal.time("exposed_reduce_scatter") == Approx(std::max(0.0, beyond)));
      CHECK(ideal.time("gemm") + ideal.time("exposed_communication") == Approx(ideal.time("total")));
    }
}

TEST_CASE("of a fused phase, what comes after its GEMM is exposed") {
  for (const char* method : {"t3", "t3-mca"}) {
    const Run fused = run(method, 64);
    CHECK(fused.time("exposed_fused") == Approx(fused.time("fused") - fused.time("gemm")));
    CHECK(fused.time("exposed_communication") ==
          Approx(fused.time("exposed_fused") + fused.time("exposed_all_gather")));
    CHECK(fused.report().at("time_ns").at("reduce_scatter").is_null());
    CHECK_FALSE(fused.report().at("time_ns").contains("exposed_reduce_scatter"));
    // Programs wait for each other between phases.
    CHECK(fused.time("gemm") + fused.time("exposed_communication") == Approx(fused.time("total")).epsilon(0.01));
  }
}

TEST_CASE("a kernel that computes and communicates until its end has no exposed times") {
  const auto times = [](const std::string& method, const std::string& workload) {
    const Run result = Run::of_program({on_small_system(), "gpus=4", "method=" + method, "data=timing-only",
                                        "system.links.topology=fully-connected", "workload=" + workload});
    INFO(result.terminal());
    REQUIRE(result.exit_code() == 0);
    return result.report().at("time_ns");
  };
  const char* const gemv = R"({"gemv": {"rows": 200, "columns": 130}})";
  CHECK(times("bulk", gemv).at("exposed_all_reduce") == times("bulk", gemv).at("all_reduce"));
  CHECK(times("bulk", gemv).at("exposed_communication") == times("bulk", gemv).at("all_reduce"));
  CHECK_FALSE(times("fused", gemv).contains("exposed_communication"));
  const char* const tables =
      R"({"embedding": {"global_batch": 12, "tables_per_gpu": 4, "dimension": 32, "pooling": 4, "rows": 50}})";
  CHECK(times("bulk", tables).at("exposed_all_to_all") == times("bulk", tables).at("all_to_all"));
  CHECK(times("zero-copy", tables).at("exposed_communication") == times("zero-copy", tables).at("arrival"));
  CHECK_FALSE(times("fused", tables).contains("exposed_communication"));
}

TEST_CASE("exposed times are those of known phases, and no less than 0") {
  RunTimes times;
  times.phases = {{"gemm", 100}, {"reduce_scatter", 130}};
  CHECK(exposed_of_two_phases(times, false) == 130);
  CHECK(exposed_of_two_phases(times, true) == 30);
  times.phases = {{"gemm", 100}, {"reduce_scatter", 60}};
  CHECK(exposed_of_two_phases(times, true) == 0);
  times.phases = {{"gemm", 100}, {"fused", 170}};
  CHECK(exposed_of_two_phases(times, false) == 70);
  times.phases = {{"gemm", 100}, {"somebody's", 170}};
  CHECK(exposed_times(times, false).empty());
}

}  // namespace t3vp::test::exposed_times_test
