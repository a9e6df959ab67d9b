// What a program publishes is filled and checked as it says.
#include <sys/resource.h>

#include <catch2/catch.hpp>

#include "software/outside_run.h"

namespace t3vp::test::published_test {
using nlohmann::json;

namespace {

OutsideRun published(double off, double tolerance, const char* data = "functional") {
  return OutsideRun(library("guests") + ":published",
                    {{"gpus", 2}, {"data", data}, {"arguments", {{"off", off}, {"tolerance", tolerance}}}});
}

constexpr int elements = 4 * 40;

}  // namespace

TEST_CASE("buffers are filled with constants, arrays and a function's values, and hold what is expected") {
  const OutsideRun run = published(0, 0);
  const Outcome outcome = run.run({"--dump-arrays"});
  INFO(outcome.err << outcome.out);
  REQUIRE(outcome.exit_code == 0);
  CHECK(run.report().at("functional").at("checked") == true);
  CHECK(run.report().at("functional").at("elements") == 2 * 3 * elements);
  CHECK(std::filesystem::file_size(run / "out/gpu1.rounded.npy") >= 2 * elements);
}

TEST_CASE("an element that is not what a program expects fails the run and is told by its buffer and place") {
  const OutsideRun run = published(-1, 0.5);
  const Outcome outcome = run.run();
  CHECK(outcome.exit_code == 1);
  const auto functional = run.report().at("functional");
  CHECK(functional.at("mismatches") == 2 * elements);
  CHECK(functional.at("max_abs_error") == 1);
  CHECK(json(functional.at("first_mismatch")) ==
        json{{"gpu", 0}, {"tensor", "counted"}, {"row", 0}, {"column", 0}, {"found", 3}, {"expected", 2}});
  CHECK_THAT(outcome.out, Catch::Contains("output elements are wrong"));
}

TEST_CASE("an element may differ by the tolerance and no more") {
  CHECK(published(1, 1).run().exit_code == 0);
  CHECK(published(1, 0.999).run().exit_code == 1);
}

TEST_CASE("a timing-only run checks nothing that a program expects") {
  const OutsideRun run = published(1, 0, "timing-only");
  REQUIRE(run.run().exit_code == 0);
  CHECK(run.report().at("functional").at("checked") == false);
}

TEST_CASE("a buffer that cannot be published fails the run with a line that says why") {
  const auto [what, line] = GENERATE(table<const char*, const char*>(
      {{"name", "publishes a buffer without a plain name: a/b"},
       {"contents", "publishes a buffer whose contents are nowhere: x"},
       {"tolerance", "publishes x: found a tolerance of -1, expected 0 or more"},
       {"twice", "publishes x: found a second buffer of that name, expected another name"},
       {"rows", "publishes x: found 0 x 16 elements of fp32, expected one at least"},
       {"columns", "publishes x: found 2 x 0 elements of fp32, expected one at least"},
       {"address",
        "publishes x: found 2 x 16 elements of fp32 at 0x2002 with 64 bytes from row to row, expected "
        "multiples of 4"},
       {"stride",
        "publishes x: found 2 x 16 elements of fp32 at 0x2000 with 66 bytes from row to row, expected "
        "multiples of 4"},
       {"initial",
        "publishes x: found a function of its initial contents that writes behind them, expected 2 x 16 "
        "elements of fp32 and nothing else"},
       {"expected",
        "publishes x: found a function of its expected contents that writes behind them, expected 2 x 16 "
        "elements of fp32 and nothing else"},
       {"before",
        "publishes x: found a function of its expected contents that writes before them, expected 2 x 16 "
        "elements of fp32 and nothing else"},
       {"over all", "publishes y: found contents at 0x2000 in place of those of x, expected memory of its own"},
       {"over a row", "publishes y: found contents at 0x2040 in place of those of x, expected memory of its own"},
       {"nothing", "publishes no buffer"}}));
  const OutsideRun run(library("guests") + ":misfit", {{"arguments", {{"what", what}}}});
  const Outcome outcome = run.run();
  INFO(what << outcome.err);
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.out, Catch::Contains(std::string("GPU 0 firmware ") + line));
}

TEST_CASE("a buffer may lie beside the contents of another one or show them") {
  for (const char* what : {"over beside", "over seen"})
    CHECK(OutsideRun(library("guests") + ":misfit", {{"arguments", {{"what", what}}}}).run().exit_code == 0);
}

TEST_CASE("a function of contents that writes far behind them ends the run with one line") {
  const Outcome outcome = OutsideRun(library("guests") + ":misfit", {{"arguments", {{"what", "wild"}}}}).run();
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.err == "t3vp: the firmware of GPU 0 has accessed memory of the host that is not there\n");
}

TEST_CASE("contents that the host has not enough memory for are one line that names the processor") {
#if !defined(__SANITIZE_ADDRESS__)
  const OutsideRun run(library("guests") + ":large", {{"arguments", {{"rows", 200'000}}}});
  const Outcome outcome = run_program({"run", run.file().string(), "--out", (run / "out").string()}, [] {
    const rlimit most{600 << 20, 600 << 20};
    setrlimit(RLIMIT_AS, &most);
  });
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.err == "t3vp: the host has not enough memory for node.gpu0.processor.main\n");
#endif
}

TEST_CASE("contents are not written where a kernel works") {
  const OutsideRun run(library("guests") + ":rewritten");
  const Outcome outcome = run.run();
  INFO(outcome.err << outcome.out);
  CHECK(outcome.exit_code == 1);
  const json diagnosis = run.report().at("diagnosis");
  REQUIRE(diagnosis.size() == 1);
  CHECK_THAT(diagnosis[0].get<std::string>(),
             Catch::StartsWith("GPU 0 firmware publishes late: found initial contents at ") &&
                 Catch::Contains("queue 0 runs a kernel that writes ") &&
                 Catch::EndsWith(", expected memory that nobody uses"));
}

TEST_CASE("a function that writes contents cannot call the HAL") {
  const Outcome outcome = OutsideRun(library("guests") + ":misfit", {{"arguments", {{"what", "call"}}}}).run();
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.err ==
        "t3vp: the HAL of GPU 0 was called by what writes the contents of x, which a program publishes: it computes "
        "and does nothing else\n");
}

TEST_CASE("what is no number is as expected where no number is expected and nowhere else") {
  const auto outcome_of = [](int expected) {
    return OutsideRun(library("guests") + ":no_numbers",
                      {{"data", "functional"}, {"arguments", {{"expected", expected}}}})
        .run()
        .exit_code;
  };
  CHECK(outcome_of(0) == 0);  // stands for what is no number
  CHECK(outcome_of(1) == 1);
}

}  // namespace t3vp::test::published_test
