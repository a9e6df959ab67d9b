// Runs that cannot fit the host's memory are refused before they start; others are not.
#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "command_line/program.h"
#include "config/memory_need.h"

namespace t3vp::test::memory_need_test {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

double need_MiB(const RunConfiguration& configuration) {
  const auto parts = memory_need(configuration);
  return std::accumulate(parts.begin(), parts.end(), 0.0,
                         [](double sum, const MemoryPart& p) { return sum + p.bytes; }) /
         (1 << 20);
}

void require_refusal(const Outcome& outcome, const std::string& file, const std::string& key) {
  INFO(outcome.err << outcome.out);
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.out.empty());
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK(outcome.err.rfind(file + ": found a need of ", 0) == 0);
  CHECK_THAT(outcome.err, Catch::Contains(key) && Catch::Contains(", expected at most the "));
}

void limit_address_space() {
  const rlimit limit{rlim_t{1} << 30, rlim_t{1} << 30};
  setrlimit(RLIMIT_AS, &limit);
}

/// Sanitizers multiply what a run needs.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool plain_memory = false;
#else
constexpr bool plain_memory = true;
#endif

}  // namespace

TEST_CASE("sizes that no machine of today holds are refused") {
  const ValidFiles files;
  const std::pair<std::vector<std::string>, const char*> absurd[] = {
      {{"method=sequential", "data=functional", "gpus=256", "system.memory.capacity_GiB=256",
        R"(workload.gemm={"m": 131072, "n": 65536, "k": 65536, "element": "fp32"})"},
       "(workload)"},
      {{"method=sequential", "gpus=256", "system.cache.capacity_MiB=4096", "system.cache.line_bytes=32",
        "system.cache.sector_bytes=32", "system.cache.ways=1", R"(workload.gemm={"m": 4096, "n": 4096, "k": 64})"},
       "(system.cache)"},
      {{"method=sequential", "gpus=256", "system.tracker.sets=65536", "system.tracker.ways=256",
        R"(workload.gemm={"m": 4096, "n": 4096, "k": 64})"},
       "(system.tracker)"}};
  for (const auto& [settings, key] : absurd) {
    std::vector<std::string> arguments{"run", files.run(), "--out", files / "out"};
    for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
    require_refusal(run_program(arguments), files.run(), key);
    CHECK_FALSE(fs::exists(files / "out"));
    arguments.emplace_back("--print-config");
    const Outcome resolved = run_program(arguments);
    CHECK(resolved.exit_code == 0);  // another machine may have the memory
    const std::string file = files.write("resolved.json", resolved.out);
    require_refusal(run_program({"check", file}), file, key);
  }
}

TEST_CASE("a limit of the address space counts") {
  if (!plain_memory) return;
  const ValidFiles files;
  const std::vector<std::string> sensible{"run", files.run(), "--out", files / "out", "--set", "data=functional"};
  CHECK(run_program(sensible, limit_address_space).exit_code == 0);
  std::vector<std::string> large = sensible;
  large.insert(large.end(), {"--set", R"(workload.gemm={"m": 8192, "n": 8192, "k": 4096})"});
  require_refusal(run_program(large, limit_address_space), files.run(), "(workload)");
}

TEST_CASE("a trace that does not fit is refused before it is read") {
  if (!plain_memory) return;
  const ValidFiles files;
  const std::string trace = files.write("long.trace", std::string());
  fs::resize_file(trace, std::uintmax_t{1} << 30);
  require_refusal(
      run_program({"replay", trace, "--memory", files / "memory.json", "--out", files / "out"}, limit_address_space),
      trace, "records");
}

TEST_CASE("the estimate is near what runs take, and above it") {
  if (!plain_memory) return;
  const ValidFiles files;
  const std::vector<std::string> runs[] = {
      {"gpus=8"},
      {"gpus=4", "data=functional", R"(workload.gemm={"m": 1024, "n": 1024, "k": 256, "element": "fp32"})"},
      {"gpus=4", "data=functional", R"(workload.gemm={"m": 128, "n": 128, "k": 8192})"}};
  for (const auto& settings : runs) {
    std::vector<std::string> arguments{"run", files.run(), "--out", files / "out"};
    for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
    REQUIRE(run_program(arguments).exit_code == 0);
    const double taken = json_of(files / "out/report.json").at("host").at("peak_rss_MiB").get<double>();
    const double needed = need_MiB(load_run(files.run(), settings));
    INFO(settings.back() << ": needed " << needed << " MiB, taken " << taken);
    CHECK(needed >= taken);
    CHECK(needed <= 5 * taken + 128);
  }
}

TEST_CASE("the project's own runs fit a small machine") {
  for (const char* name : {"runs/gemm-rs-4gpu.json", "runs/t-nlg-fc2-tp8.json"})
    CHECK(need_MiB(load_run(config(name))) < 1024);
  CHECK(need_MiB(load_run(config("runs/t-nlg-fc2-tp8.json"),
                          {"simulate=all", "gpus=64", R"(workload={"gemm": {"m": 4096, "n": 4096, "k": 512}})"})) <
        2048);
}

}  // namespace t3vp::test::memory_need_test
