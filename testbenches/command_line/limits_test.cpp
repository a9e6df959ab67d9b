// Limits of a run: of simulated time, of time on the host, and of firmware that never calls the HAL.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "command_line/program.h"
#include "run/simulation.h"
#include "t3/address.h"
#include "t3_hal.h"

namespace t3vp::test::limits_test {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const std::string large = R"(workload={"gemm": {"m": 8192, "n": 8192, "k": 8192}})";  // minutes

Outcome run_into(const ValidFiles& files, const std::string& folder, const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"run", files.run(), "--out", files / folder};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments, [] { alarm(60); });
}

void require_ended(const Outcome& outcome, const std::string& limit) {
  INFO(outcome.err << outcome.out);
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.out.empty());
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK(outcome.err.rfind("t3vp: " + limit + ": ", 0) == 0);
  CHECK_THAT(outcome.err, Catch::Contains("% of the work is done after") && Catch::Contains("ms of simulated time"));
}

/// Runs a program of firmware on every GPU in a process of its own, as only one simulation fits into this one.
Outcome run_firmware(t3_program* program, const std::vector<std::string>& settings) {
  const ValidFiles files;
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    dup2(open((files / "err").c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    RunOptions options;
    options.out = files / ".";
    options.trace = true;
    options.program = program;
    simulate(load_run(files.run(), settings), options);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  for (const auto& entry : fs::directory_iterator(files / "."))
    CHECK_THAT(entry.path().string(), !Catch::Contains("trace.json"));
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, "", text_of(files / "err")};
}

volatile bool for_ever = true;

t3_status spin_at_once(const t3_hal*, const t3_run*) {
  while (for_ever) continue;
  return T3_OK;
}

t3_status spin_on_one_gpu(const t3_hal* hal, const t3_run*) {
  for (int call = 0; call < 1000; ++call) hal->wait_ns(hal->platform, 100);
  while (for_ever && hal->gpu == 2) continue;
  return T3_OK;
}

t3_status poll_for_ever(const t3_hal* hal, const t3_run*) {
  while (for_ever) hal->wait_ns(hal->platform, 100);
  return T3_OK;
}

t3_status poll_a_register(const t3_hal* hal, const t3_run*) {
  std::uint32_t status = 0;
  while (hal->gpu == 1 && for_ever)
    hal->read32(hal->platform, t3_block_base(hal->gpu, T3_BLOCK_TRACKER) + 0x34, &status);
  return T3_OK;
}

t3_status watch_the_clock(const t3_hal* hal, const t3_run*) {
  const std::uint64_t begin = hal->time_ns(hal->platform);
  while (hal->gpu == 1 && hal->time_ns(hal->platform) < begin + 100) continue;
  return T3_OK;
}

t3_status wait_for_no_time(const t3_hal* hal, const t3_run*) {
  while (hal->gpu == 1 && for_ever) hal->wait_ns(hal->platform, 0);
  return T3_OK;
}

}  // namespace

TEST_CASE("a run ends at its limit of simulated time") {
  const ValidFiles files;
  require_ended(run_into(files, "out", {"--trace", "--set", "limits.simulated_ms=0.001"}), "limits.simulated_ms");
  CHECK(fs::is_empty(files / "out"));
}

TEST_CASE("a run that ends at its limit tells what has become of the injected fault") {
  const ValidFiles files;
  const Outcome outcome = run_into(files, "out",
                                   {"--set", "limits.simulated_ms=0.0001", "--set", "data=functional", "--set",
                                    R"(inject.lose_updates={"gpu": 0, "count": 1})"});
  require_ended(outcome, "limits.simulated_ms");
  CHECK_THAT(outcome.err, Catch::Contains("; fault lose_updates has not struck"));
}

TEST_CASE("a run that keeps its limits is the same run") {
  const ValidFiles files;
  REQUIRE(run_into(files, "free", {}).exit_code == 0);
  REQUIRE(run_into(files, "limited", {"--set", "limits.simulated_ms=1", "--timeout", "50"}).exit_code == 0);
  CHECK(run_program({"compare", files / "free/report.json", files / "limited/report.json"}).exit_code == 0);
  const double total_ms = json_of(files / "free/report.json").at("time_ns").at("total").get<double>() / 1e6;
  require_ended(run_into(files, "out", {"--set", "limits.simulated_ms=" + std::to_string(total_ms / 2)}),
                "limits.simulated_ms");
}

TEST_CASE("a run ends at its limit of time on the host") {
  const ValidFiles files;
  require_ended(run_into(files, "out", {"--trace", "--timeout", "0.2", "--set", large}), "limits.wall_s");
  CHECK(fs::is_empty(files / "out"));
  files.change("run.json", "/limits", {{"wall_s", 0.2}});
  require_ended(run_into(files, "out", {"--set", large}), "limits.wall_s");
}

TEST_CASE("where nobody knows how much work there is a limit tells the time alone") {
  const ValidFiles files;
  const std::string embedding =
      R"(workload={"embedding": {"global_batch": 64, "tables_per_gpu": 4, "dimension": 64, "pooling": 8, "rows": 1000}})";
  for (const char* method : {"bulk", "fused"}) {
    const Outcome outcome =
        run_into(files, "out",
                 {"--set", "limits.simulated_ms=0.001", "--set", embedding, "--set",
                  "system.links.topology=fully-connected", "--set", std::string("method=") + method});
    CHECK(outcome.exit_code == 1);
    CHECK_THAT(outcome.err, Catch::Contains(" ms of simulated time have passed") && !Catch::Contains("%"));
  }
}

TEST_CASE("option --timeout is what --print-config shows as limits.wall_s") {
  const ValidFiles files;
  const Outcome outcome = run_into(files, "out", {"--print-config", "--timeout", "2.5"});
  CHECK(json::parse(outcome.out).at("limits") ==
        json{{"wall_s", 2.5}, {"firmware_s", 30.0}, {"polls", 10'000'000}, {"errors", 100'000}, {"rank_s", 60.0}});
  for (const char* wrong : {"0", "-1", "soon", "1e999", "nan", "-nan", "inf"}) {
    const Outcome refused = run_into(files, "out", {"--timeout", wrong});
    CHECK(refused.exit_code == 2);
    CHECK_THAT(refused.err, Catch::Contains("--timeout"));
  }
}

TEST_CASE("firmware that never calls the HAL again is ended") {
  for (t3_program* program : {spin_at_once, spin_on_one_gpu}) {
    const Outcome outcome = run_firmware(program, {"limits.firmware_s=0.2"});
    require_ended(outcome, "limits.firmware_s");
    CHECK_THAT(outcome.err, Catch::Contains(program == spin_at_once ? "GPU 0" : "GPU 2"));
  }
}

TEST_CASE("firmware that polls is not ended for want of calls but by the other limits") {
  require_ended(run_firmware(poll_for_ever, {"limits.firmware_s=0.1", "limits.wall_s=0.6"}), "limits.wall_s");
}

TEST_CASE("the limit of time on the host names the register that firmware polls") {
  const Outcome outcome = run_firmware(poll_a_register, {"limits.wall_s=0.5"});
  require_ended(outcome, "limits.wall_s");
  CHECK_THAT(outcome.err, Catch::Contains("; GPU 1 firmware polls: it has read tracker.status at 0x1f0000090034 ") &&
                              Catch::Contains(" times, always 0x0"));
}

TEST_CASE("firmware that calls the HAL for ever while no time passes is ended") {
  for (t3_program* program : {watch_the_clock, wait_for_no_time}) {
    const Outcome outcome = run_firmware(program, {});
    CHECK(outcome.exit_code == 1);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK_THAT(outcome.err, Catch::StartsWith("t3vp: the firmware of GPU 1 has called the HAL more than 10000000 times "
                                              "while no simulated time passed; "));
  }
}

TEST_CASE("firmware that waits while the host computes is not ended") {
  const ValidFiles files;
  const Outcome outcome = run_into(
      files, "out", {"--set", "limits.firmware_s=0.1", "--set", R"(workload.gemm={"m": 1024, "n": 512, "k": 1024})"});
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
}

TEST_CASE("limits do not change what a run is") {
  const ValidFiles files;
  CHECK(load_run(files.run(), {"limits.wall_s=3"}).config_hash == load_run(files.run()).config_hash);
}

}  // namespace t3vp::test::limits_test
