// Variants of a run from one common past: equal to whole runs where they change nothing, or all from the start.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>

#include "command_line/marked_processes.h"
#include "command_line/refusals.h"

namespace t3vp::test::variants_test {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

using Options = std::vector<std::string>;

json report_of(const fs::path& folder) {
  json report = json_of(folder / "report.json");
  report.erase("host");
  return report;
}

class Variants : public ValidFiles {
 public:
  explicit Variants(const json& settings_by_name) {
    json list = json::array();
    for (const auto& [name, settings] : settings_by_name.items()) list.push_back({{"name", name}, {"set", settings}});
    write("variants.json", json{{"variants", list}});
  }
  Outcome run(const std::string& at_us, const Options& more = {}, const std::function<void()>& in_child = {}) const {
    Options arguments{"run", run_file(), "--out", (*this / "out").string(), "--fork-at", at_us, "--variants", file()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments, in_child);
  }
  /// The report of a run of its own with these settings.
  json whole(const Options& options) const {
    Options arguments{"run", run_file(), "--out", (*this / "whole").string()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    run_program(arguments);
    return report_of(*this / "whole");
  }
  json report(const std::string& name) const { return report_of(*this / "out" / "variants" / name); }
  std::string run_file() const { return ValidFiles::run().string(); }
  std::string file() const { return (*this / "variants.json").string(); }
};

Options with_set(const Options& base, const json& settings) {
  Options all = base;
  for (const auto& [key, value] : settings.items()) all.insert(all.end(), {"--set", key + "=" + value.dump()});
  return all;
}

}  // namespace

TEST_CASE("a variant that changes nothing, or changes it at the start, is a whole run") {
  const json settings{{"same", json::object()},
                      {"mca", {{"arbitration", "mca"}}},
                      {"mca-5", {{"arbitration", "mca-5"}, {"system.memory.aging_ns", 100}}},
                      {"compute-first", {{"arbitration", "compute-first"}}},
                      {"limited", {{"limits.simulated_ms", 5}, {"limits", {{"simulated_ms", 5}}}}},
                      {"lost", {{"inject.lose_updates", {{"gpu", 1}, {"count", 3}}}}},
                      {"flipped", {{"inject", {{"flip_bit", {{"gpu", 2}, {"access", 30}, {"bit", 4}}}}}}},
                      {"dropped", {{"inject.drop_packet", {{"link", 2}, {"packet", 7}}}}}};
  std::vector<Options> bases{{"--set", "data=functional"}};
  if (fs::exists(T3VP_BINARY_DIR "/t3vp-firmware.elf"))
    bases.push_back({"--set", "data=functional", "--set", "firmware=riscv"});
  for (const Options& base : bases) {
    const Variants variants(settings);
    const MarkedProcesses processes;
    const Outcome outcome = variants.run("0", base, [&] { processes.mark(); });
    INFO(outcome.err << outcome.out);
    CHECK(outcome.exit_code == 1);  // for the faults
    CHECK(processes.alive().empty());
    for (const auto& [name, set] : settings.items()) {
      INFO(name);
      CHECK(variants.report(name) == variants.whole(with_set(base, set)));
    }
    for (const char* time : {"0.5", "7"}) {
      variants.run(time, base);
      CHECK(variants.report("same") == variants.whole(base));
      CHECK_FALSE(fs::exists(variants / "out/report.json"));
    }
  }
}

TEST_CASE("a variant changes what follows, not what was") {
  const Variants variants(json{{"same", json::object()},
                               {"lost", {{"inject.lose_updates", {{"gpu", 1}, {"count", 3}}}}},
                               {"limited", {{"limits.simulated_ms", 0.001}}}});
  const Outcome outcome = variants.run("6", {"--set", "data=functional", "--trace"});
  INFO(outcome.out);
  CHECK(outcome.exit_code == 1);
  const json lost = variants.report("lost");
  CHECK(lost.at("forked") == json{{"variant", "lost"}, {"at_us", 6.0}});
  CHECK(lost.at("config_hash") != variants.report("same").at("config_hash"));
  const std::string text = lost.at("faults").at(0).at("text").get<std::string>();
  const std::string at = text.substr(text.rfind(" at ") + 4);
  CHECK(std::stod(at) >= 6000);
  CHECK_FALSE(variants.report("same").contains("forked"));
  CHECK_THAT(outcome.out, Catch::Contains("\n  same  ") && Catch::Contains("failed: fault lose_updates struck") &&
                              Catch::Contains("failed: t3vp: limits.simulated_ms: the run is not over"));
  for (const json& event : json_of(variants / "out/variants/same/trace.json").at("traceEvents"))
    if (event.contains("ts")) CHECK(event.at("ts").get<double>() + event.value("dur", 0.0) >= 5.9);
}

TEST_CASE("no variant stays when its run is killed") {
  const Variants variants(json{{"a", json::object()}, {"b", json::object()}});
  const MarkedProcesses processes;
  const pid_t child = fork();
  if (child == 0) {
    variants.run("1", {"--jobs", "2", "--set", R"(workload={"gemm": {"m": 8192, "n": 8192, "k": 8192}})"}, [&] {
      processes.mark();
      alarm(120);
    });
    _exit(0);
  }
  REQUIRE(processes.become(6));  // the parent, the common past, and two of each variant
  std::vector<pid_t> alive = processes.alive();
  kill(*std::min_element(alive.begin(), alive.end()), SIGKILL);
  CHECK(processes.become(0));
  kill(child, SIGKILL);
}

TEST_CASE("what a variant cannot change, and what variants do not go with, is one line") {
  const auto refuse = [](const json& set, const std::string& key) {
    const Variants variants(json{{"first", json::object()}, {"other", set}});
    const Outcome outcome = variants.run("1", {"--set", "method=t3", "--set", "data=functional", "--set",
                                               R"(inject.flip_bit={"gpu": 0, "access": 9, "bit": 1})"});
    require_refusal(outcome, variants.file() + ": /variants/1/set");
    CHECK_THAT(outcome.err, Catch::Contains(key));
    CHECK_FALSE(fs::exists(variants / "out"));
  };
  for (const char* key : {"workload.gemm.m", "method", "check", "system.compute.compute_units", "memory.timing.CCDWL",
                          "inject.dma_map_updates", "seed"})
    refuse({{key, 3}}, std::string("found ") + key + ", expected what may change during a run");
  refuse({{"inject", {{"dma_map_updates", 2}, {"flip_bit", {{"gpu", 0}, {"access", 9}, {"bit", 1}}}}}},
         "expected faults other than dma_map_updates");
  refuse({{"inject.flip_bit", {{"gpu", 0}, {"access", 10}, {"bit", 1}}}}, "expected inject.flip_bit as the run has it");
  refuse({{"arbitration", "nobody"}}, "a variant that the run refuses (");
  const Variants variants(json{{"a", json::object()}});
  require_refusal(variants.run("1", {"--replicates", "2"}), "--fork-at");
  require_refusal(variants.run("1", {"--gdb", "0", "--set", "firmware=riscv"}), "--fork-at");
  require_refusal(variants.run("1", {"--in-process"}), "--fork-at");
  require_refusal(variants.run("1", {"--register-trace", variants / "registers.txt"}), "--fork-at");
  require_refusal(run_program({"run", variants.run_file(), "--fork-at", "1"}), "--fork-at");
  require_refusal(run_program({"run", variants.run_file(), "--variants", variants.file()}), "--variants");
  const Outcome late = variants.run("100000");
  require_refusal(late, "--fork-at");
  CHECK_THAT(late.err, Catch::Contains("found 100000 us, when the run is over"));
  const Variants path(json{{"../a", json::object()}});
  require_refusal(path.run("1"), path.file() + ": /variants/0/name");
}

}  // namespace t3vp::test::variants_test
