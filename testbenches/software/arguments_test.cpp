// What a run file gives to its program, by name and type, and what neither of them has missed.
#include <catch2/catch.hpp>

#include "software/outside_run.h"

namespace t3vp::test::arguments_test {
using nlohmann::json;

namespace {

json arguments() { return {{"count", 18446744073709551615u}, {"share", 0.25}, {"on", true}, {"text", "a b"}}; }

OutsideRun asking(const json& given) { return OutsideRun(library("guests") + ":asking", {{"arguments", given}}); }

/// With one argument changed, or left out when the value is null.
json with(const std::string& name, const json& value) {
  json all = arguments();
  all[name] = value;
  if (value.is_null()) all.erase(name);
  return all;
}

}  // namespace

TEST_CASE("a program is given numbers, truths and texts as the run file has them") {
  CHECK(asking(arguments()).run().exit_code == 0);
  CHECK(asking(with("extra", 7)).run().exit_code == 0);  // a whole number where any number does
}

TEST_CASE("arguments that --set gives are those of the file") {
  const OutsideRun run = OutsideRun(library("guests") + ":asking");
  CHECK(run.run({"--set", "arguments.count=18446744073709551615", "--set", "arguments.share=0.25", "--set",
                 "arguments.on=true", "--set", "arguments.text=a b"})
            .exit_code == 0);
  const Outcome outcome = asking(arguments()).run({"--set", "arguments.on=maybe"});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Catch::Contains(": /arguments/on: found \"maybe\" (--set), expected true or false"));
}

TEST_CASE("an argument that is missing or of another type is one line") {
  require_refused(asking(with("count", nullptr)), "/arguments/count", "nothing", "an integer from 0 to 184");
  require_refused(asking(with("count", -1)), "/arguments/count", "-1", "an integer from 0 to 184");
  require_refused(asking(with("count", 1.5)), "/arguments/count", "1.5", "an integer from 0 to 184");
  require_refused(asking(with("count", "7")), "/arguments/count", "\"7\"", "an integer from 0 to 184");
  require_refused(asking(with("share", true)), "/arguments/share", "true", "a number, which the program asks for");
  require_refused(asking(with("on", 1)), "/arguments/on", "1", "true or false");
  require_refused(asking(with("text", 1)), "/arguments/text", "1", "a text");
  require_refused(asking(with("extra", "7")), "/arguments/extra", "\"7\"", "a number");
  require_refused(asking(with("text", json::array())), "/arguments/text", "[]", "");
}

TEST_CASE("a whole number is given as a double when that holds it and refused when it does not") {
  const int other_than_asked = 1;  // what the program ends with when it has been given its arguments
  for (const json& held : {json(9007199254740992), json(-9007199254740992), json(1e300), json(18446744073709549568u)})
    CHECK(asking(with("extra", held)).run().exit_code == other_than_asked);
  for (const json& lost : {json(9007199254740993), json(-9007199254740993), json(18446744073709551615u)})
    require_refused(asking(with("extra", lost)), "/arguments/extra", lost.dump(),
                    "a number that a double holds exactly");
  require_refused(asking(with("count", 1e3)), "/arguments/count", "1000.0", "an integer from 0 to 184");
}

TEST_CASE("minus zero is the whole number 0") {
  CHECK(asking(arguments()).run({"--set", "arguments.count=-0"}).exit_code == 1);
}

TEST_CASE("the bit of an fp32 element can be flipped in a run without a workload") {
  const auto flipped = [](int bit) {
    return OutsideRun(library("guests") + ":published",
                      {{"data", "functional"},
                       {"arguments", {{"off", 0}, {"tolerance", 0}}},
                       {"inject", {{"flip_bit", {{"gpu", 0}, {"access", 0}, {"bit", bit}}}}}});
  };
  CHECK(flipped(31).run().exit_code == 1);  // it did not strike
  require_refused(flipped(32), "/inject/flip_bit/bit", "32", "");
}

TEST_CASE("an argument that no program asks for is one line") {
  require_refused(asking(with("cuont", 7)), "/arguments/cuont", "7, which the program never asks for",
                  "one of those that it asks for: count, extra, on, share, text");
  require_refused(OutsideRun(library("single"), {{"arguments", {{"x", 1}}}}), "/arguments/x", "1", "no arguments");
  require_refused(OutsideRun("fused", {{"gpus", 2},
                                       {"arguments", {{"x", 1}}},
                                       {"workload", {{"gemm", {{"m", 128}, {"n", 128}, {"k", 32}}}}}}),
                  "/arguments", "{\"x\":1}", "no arguments, since the program fused asks for none");
}

TEST_CASE("a program that fails before it has asked for an argument is told by its failure") {
  const OutsideRun run(library("guests") + ":failing", {{"arguments", {{"count", 7}}}});
  CHECK(run.run().exit_code == 1);
  CHECK_THAT(run.report().at("diagnosis").at(0).get<std::string>(),
             Catch::StartsWith("GPU 0 firmware ended with overlap: "));
}

TEST_CASE("runs with different arguments are different") {
  const OutsideRun one = asking(arguments()), other = asking(with("extra", 7));
  REQUIRE(one.run().exit_code == 0);
  REQUIRE(other.run().exit_code == 0);
  CHECK(one.report().at("config_hash") != other.report().at("config_hash"));
}

}  // namespace t3vp::test::arguments_test
