// Phases have the names that programs give them. What begins has to end, interrupts that are held off too.
#include <algorithm>
#include <catch2/catch.hpp>

#include "software/outside_run.h"

namespace t3vp::test::phases_test {

TEST_CASE("phases of any name are in report and table, behind the known ones, in the order of their appearance") {
  const OutsideRun run(library("guests") + ":phases", {{"gpus", 2}});
  const Outcome outcome = run.run({"--trace"});
  REQUIRE(outcome.exit_code == 0);
  const auto times = run.report().at("time_ns");
  std::vector<std::string> names;
  for (const auto& time : times.items()) names.push_back(time.key());
  CHECK(names == std::vector<std::string>{"total", "gemm", "reduce_scatter", "fused", "all_gather", "zebra.walk",
                                          "a_step", "setup", "zeroing"});
  CHECK(times.at("gemm") == 100);
  CHECK(times.at("zebra.walk") == 4500);
  CHECK(times.at("a_step") == 3000);  // three of them
  CHECK(times.at("fused").is_null());
  CHECK(times.at("total") == 4600);
  const auto walk = outcome.out.find("zebra.walk  "), step = outcome.out.find("a_step  ");
  REQUIRE(walk != std::string::npos);
  REQUIRE(step != std::string::npos);
  CHECK(outcome.out.find("GEMM  ") < walk);
  CHECK(walk < step);
  const std::string trace = text_of(run / "out/trace.json");
  CHECK_THAT(trace, Catch::Contains(R"("name":"zebra.walk")") && Catch::Contains(R"("name":"a_step")"));
}

TEST_CASE("a phase without a plain name and the end of one that has not begun fail the run") {
  const OutsideRun run(library("guests") + ":mislabelled");
  const Outcome outcome = run.run();
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.out, Catch::Contains("GPU 0 firmware begins a phase without a plain name: not/plain") &&
                              Catch::Contains("GPU 0 firmware ends a phase that has not begun: never_begun"));
}

TEST_CASE("a phase that does not end and one that begins in itself fail the run") {
  const OutsideRun run(library("guests") + ":unended");
  CHECK(run.run().exit_code == 1);
  CHECK(run.report().at("diagnosis").get<std::vector<std::string>>() ==
        std::vector<std::string>{"GPU 0 firmware begins a phase that it has not ended: run",
                                 "GPU 0 firmware has not ended the phase walk, which began at 100.000 ns"});
}

TEST_CASE("interrupts that are held off and allowed in different numbers fail the run") {
  const OutsideRun run(library("guests") + ":unbalanced", {{"gpus", 2}});
  CHECK(run.run().exit_code == 1);
  CHECK(run.report().at("diagnosis").get<std::vector<std::string>>() ==
        std::vector<std::string>{
            "GPU 0 firmware allows interrupts: unlock as often as lock expected, found 1 unlock too many",
            "GPU 1 firmware ends: unlock as often as lock expected, found 1 lock too many"});
}

TEST_CASE("an experiment has the phases of a program of a library in its results") {
  const OutsideRun run(library("guests") + ":phases");
  run.write("exp.json",
            nlohmann::json{
                {"name", "walks"},
                {"base", "run.json"},
                {"methods", {"t3", "sequential"}},
                {"quantities", {{{"name", "walk"}, {"value", "time_ns.zebra.walk[t3] / time_ns.a_step[sequential]"}}}},
                {"cases", {{{"name", "one"}, {"set", nlohmann::json::object()}}}}});
  const Outcome outcome = run_program({"experiment", run / "exp.json", "--out", run / "results"});
  INFO(outcome.err << outcome.out);
  CHECK(outcome.exit_code == 0);
  const std::string table = text_of(run / "results/results.csv");
  CHECK_THAT(table, Catch::Contains("time_ns.zebra.walk") && Catch::Contains("time_ns.a_step"));
}

}  // namespace t3vp::test::phases_test
