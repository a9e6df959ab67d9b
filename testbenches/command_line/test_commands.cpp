#include <catch2/catch.hpp>

#include "command_line/program.h"
#include "platform/configuration.h"
#include "platform/report.h"

using namespace t3vp;
using namespace t3vp::test;
using nlohmann::json;

namespace {

json report_with_total(double total_ns) {
  const ValidFiles files;
  RunResult result;
  result.time_ns.total = total_ns;
  result.host.wall_s = total_ns;
  return report_json(load_run(files.run()), result);
}

Outcome compare(const std::vector<std::filesystem::path>& files) {
  std::vector<std::string> arguments{"compare"};
  for (const auto& file : files) arguments.push_back(file.string());
  return run_program(arguments);
}

}  // namespace

TEST_CASE("--version and --help are no errors") {
  const Outcome version = run_program({"--version"});
  CHECK(version.exit_code == 0);
  CHECK_THAT(version.out, Catch::StartsWith("t3vp 0."));
  const Outcome help = run_program({"run", "--help"});
  CHECK(help.exit_code == 0);
  CHECK_THAT(help.out, Catch::Contains("--print-config"));
}

TEST_CASE("compare tells by its exit code whether reports are the same") {
  const Folder folder;
  json slower_host = report_with_total(1000);
  slower_host["host"]["wall_s"] = 99;
  const auto a = folder.write("a.json", report_with_total(1000));
  const auto same = folder.write("same.json", slower_host);
  const auto b = folder.write("b.json", report_with_total(1250));
  CHECK(compare({a, a}).exit_code == 0);
  CHECK(compare({a, same}).exit_code == 0);
  const Outcome different = compare({a, b});
  CHECK(different.exit_code == 1);
  CHECK_THAT(different.out, Catch::Contains("time_ns/total") && Catch::Contains("+25.000%"));
  CHECK(compare({a, folder / "none.json"}).exit_code == 2);
  CHECK(compare({a, folder.write("other.json", json{{"time_ns", 3}})}).exit_code == 2);
}

TEST_CASE("compare of many reports is an overview with bars") {
  const Folder folder;
  const auto a = folder.write("a.json", report_with_total(2000));
  const auto b = folder.write("b.json", report_with_total(1000));
  const Outcome overview = compare({a, b, b});
  CHECK(overview.exit_code == 1);
  CHECK_THAT(overview.out, Catch::Contains("2.000") && Catch::Contains("################################\n"));
  CHECK(compare({a, a, a}).exit_code == 0);
}

TEST_CASE("check names the kind of every file of the project") {
  const std::pair<const char*, const char*> files[] = {
      {"runs/gemm-rs-4gpu.json", "run file"},     {"runs/t-nlg-fc2-tp8.json", "run file"},
      {"systems/t3-table1.json", "system file"},  {"systems/small-4.json", "system file"},
      {"memory/hbm2-legacy.json", "memory file"}, {"workloads/models.json", "models file"}};
  for (const auto& [file, kind] : files) {
    const Outcome outcome = run_program({"check", config(file).string()});
    INFO(outcome.err);
    CHECK(outcome.exit_code == 0);
    CHECK_THAT(outcome.out, Catch::Contains(kind));
  }
}

TEST_CASE("registers prints the reference of every block") {
  const Outcome outcome = run_program({"registers"});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == text_of(T3VP_SOURCE_DIR "/docs/registers.md"));
  CHECK_THAT(outcome.out, Catch::Contains("tracker") && Catch::Contains("dma"));
}

TEST_CASE("--print-config prints a run file and runs nothing") {
  const ValidFiles files;
  const Outcome outcome = run_program(
      {"run", files.run().string(), "--print-config", "--set", "gpus=5", "--out", (files / "out").string()});
  CHECK(outcome.exit_code == 0);
  CHECK(json::parse(outcome.out).at("gpus") == 5);
  CHECK_FALSE(std::filesystem::exists(files / "out"));
  const auto again = files.write("again.json", outcome.out);
  CHECK(run_program({"run", again.string(), "--print-config"}).out == outcome.out);
}
