// Arbitration policies of libraries: what `policies` of a run file takes, and what is said of the others.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <vector>

#include "command_line/program.h"
#include "memory/policy_plugin.h"

namespace t3vp::test::policies_test {
using nlohmann::json;

namespace {

std::string library(const std::string& name) { return PLUGINS_DIR "/" + name + ".so"; }

/// A run of the fused GEMM on small-4 with these libraries of policies.
class PolicyRun : public Folder {
 public:
  explicit PolicyRun(const std::string& arbitration, const json& policies = {library("policies")},
                     const json& more = json::object()) {
    json run = {{"system", config("systems/small-4.json").string()},
                {"gpus", 4},
                {"method", "t3"},
                {"data", "functional"},
                {"workload", {{"gemm", {{"m", 256}, {"n", 256}, {"k", 64}}}}},
                {"arbitration", arbitration},
                {"policies", policies}};
    run.update(more);
    write("run.json", run);
  }
  Outcome run() const { return run_program({"run", *this / "run.json", "--out", *this / "out"}); }
  json report() const { return json_of(*this / "out/report.json"); }
};

/// Returns the report of a run that has to pass.
json report_of(const PolicyRun& run) {
  const Outcome outcome = run.run();
  INFO(outcome.err << outcome.out);
  REQUIRE(outcome.exit_code == 0);
  return run.report();
}

/// Requires that check and run refuse the libraries with the same line.
void require_refused(const json& policies, const std::string& place, const std::string& message) {
  const PolicyRun run("round-robin", policies);
  const Outcome outcome = run.run();
  INFO(outcome.err << outcome.out);
  CHECK(outcome.exit_code == 2);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK_THAT(outcome.err,
             Catch::StartsWith((run / "run.json").string() + ": " + place + ": found ") && Catch::Contains(message));
  CHECK(run_program({"check", run / "run.json"}).err == outcome.err);
}

std::string text_of(std::uint32_t standard, std::uint64_t classes, const std::string& compiler) {
  std::ostringstream text;
  text << "compiler " << compiler << ", C++ " << standard << ", classes 0x" << std::hex << classes;
  return text.str();
}

}  // namespace

TEST_CASE("a policy of a library that alternates is round-robin, with data and without") {
  for (const char* data : {"functional", "timing-only"}) {
    const json more = {{"data", data}};
    const json ours = report_of(PolicyRun("round-robin", json::array(), more));
    const json theirs = report_of(PolicyRun("turns", {library("policies")}, more));
    CHECK(theirs.at("time_ns") == ours.at("time_ns"));
    CHECK(theirs.at("config_hash") != ours.at("config_hash"));
  }
}

TEST_CASE("a parameter behind the name of a library's policy reaches it") {
  const json contended = {{"data", "timing-only"}, {"workload", {{"gemm", {{"m", 1024}, {"n", 1024}, {"k", 512}}}}}};
  const auto time_of = [&contended](const std::string& arbitration) {
    return report_of(PolicyRun(arbitration, {library("policies")}, contended)).at("time_ns").at("gemm");
  };
  CHECK(time_of("shares-1") != time_of("shares-254"));
}

TEST_CASE("an unknown policy is told with those of the libraries") {
  const PolicyRun run("turns-2");
  const Outcome outcome = run.run();
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Catch::Contains("/arbitration: found \"turns-2\", expected one of round-robin, ") &&
                              Catch::EndsWith(", turns, shares, shares-1 to shares-254, stubborn, failing\n"));
}

TEST_CASE("a policy that grants nothing or throws ends the run with a line") {
  const Outcome stubborn = PolicyRun("stubborn").run();
  CHECK(stubborn.exit_code == 1);
  CHECK_THAT(stubborn.err, Catch::Contains("arbitration policy stubborn: found none without a later cycle"));
  const Outcome failing = PolicyRun("failing").run();
  CHECK(failing.exit_code == 1);
  CHECK_THAT(failing.err, Catch::Contains("no policy today"));
}

TEST_CASE("what is no library of policies is one line") {
  const std::string expected = "expected a library of arbitration policies (memory/policy_plugin.h)";
  require_refused({"no.such.so"}, "/policies/0",
                  "\"no.such.so\", no such file or directory, expected the path of a library of arbitration policies");
  require_refused({config("systems/small-4.json")}, "/policies/0",
                  "it is no shared object, or is cut off or damaged, " + expected);
  require_refused({TABLELESS}, "/policies/0", "it has no table t3vp_policies, " + expected);
  require_refused({library("no_policies")}, "/policies/0", "a library without policies, " + expected);
  require_refused({library("policies"), library("policies")}, "/policies/1",
                  "the file of /policies/0, expected each library once");
}

TEST_CASE("a library of another build is one line that says both") {
  const std::string advice = ": build it with this platform's package";
  const std::string ours = text_of(__cplusplus, memory::policy_build().layout, __VERSION__);
  require_refused({library("next_version")}, "/policies/0",
                  "a plug-in of version " + std::to_string(plugin_version + 1) + ", expected version " +
                      std::to_string(plugin_version) + advice);
  for (const auto& [name, text] : {std::pair{"other_compiler", text_of(201703, memory::policy_build().layout, "1.2.3")},
                                   {"other_classes", text_of(201703, 1, __VERSION__)},
                                   {"other_standard", text_of(202002, memory::policy_build().layout, __VERSION__)}})
    require_refused({library(name)}, "/policies/0", "a plug-in of " + text + ", expected " + ours + advice);
}

TEST_CASE("a policy whose name is taken, or that no register can choose, is one line") {
  require_refused({library("takes_mca")}, "/policies/0", "a policy mca, which there is already, expected another name");
  require_refused({library("takes_mca_10")}, "/policies/0", "a policy mca-10, which there is already");
  require_refused({library("policies"), library("again_turns")}, "/policies/1",
                  "a policy turns, which there is already");
  require_refused({library("spaced")}, "/policies/0", "a policy \"two words\", expected a name of 1 to 64 letters");
  require_refused({library("without_name")}, "/policies/0", "a policy \"\", expected a name of 1 to 64 letters");
  require_refused({library("unbounded")}, "/policies/0",
                  "a parameter of 1 to 255 of the policy odd, expected bounds within 1 to 254");
  require_refused({library("makeless")}, "/policies/0",
                  "a policy odd without text or make, expected all members of PolicyDescription");
}

TEST_CASE("the printed configuration names the library wherever it is, and the hash its content") {
  const PolicyRun run("turns", {"copy.so"});
  std::filesystem::copy_file(library("policies"), run / "copy.so");
  const Outcome printed = run_program({"run", run / "run.json", "--print-config"});
  REQUIRE(printed.exit_code == 0);
  const Folder elsewhere;
  const auto file = elsewhere.write("run.json", printed.out);
  REQUIRE(run_program({"run", file, "--out", elsewhere / "out"}).exit_code == 0);
  CHECK(json_of(elsewhere / "out/report.json").at("config_hash") == report_of(PolicyRun("turns")).at("config_hash"));
}

}  // namespace t3vp::test::policies_test
