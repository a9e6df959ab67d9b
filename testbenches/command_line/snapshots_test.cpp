// Snapshots of a run: the same report with and without, what goes on when a run fails, and no process that stays.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <csignal>
#include <cstdio>

#include "command_line/marked_processes.h"
#include "command_line/refusals.h"

namespace t3vp::test::snapshots_test {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

using Options = std::vector<std::string>;

const std::string long_workload = R"(workload={"gemm": {"m": 8192, "n": 8192, "k": 8192}})";  // minutes
constexpr const char* registers = "snapshot-registers.txt";

Outcome run_into(const ValidFiles& files, const std::string& folder, const Options& more,
                 const std::function<void()>& in_child = {}) {
  Options arguments{"run", files.run(), "--out", files / folder};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments, [&] {
    alarm(120);
    if (in_child) in_child();
  });
}

json report_of(const fs::path& folder) {
  json report = json_of(folder / "report.json");
  report.erase("host");
  return report;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

/// First and last end of the spans of a timeline, in us. It is complete JSON.
std::pair<double, double> times_of(const fs::path& timeline) {
  double first = 1e18, last = 0;
  const json content = json_of(timeline);
  for (const json& event : content.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    const double end = event.at("ts").get<double>() + event.at("dur").get<double>();
    first = std::min(first, end);
    last = std::max(last, end);
  }
  return {first, last};
}

/// The time in us of a line of a register trace.
double time_of(const std::string& line) { return std::stod(line) / 1000; }

double total_us(const fs::path& folder) {
  const json time = json_of(folder / "report.json").at("time_ns");
  return (time.at("total").get<double>() + time.at("setup").get<double>()) / 1000;
}

/// A run of many minutes with snapshots, in a process of its own.
class LongRun {
 public:
  explicit LongRun(const ValidFiles& files, const Options& more = {}) : out_(files / "out") {
    Options all{T3VP_BINARY_DIR "/t3vp", "run", files.run(), "--out",      out_,
                "--snapshot-every",      "5",   "--set",     long_workload};
    all.insert(all.end(), more.begin(), more.end());
    std::vector<char*> arguments;
    for (std::string& one : all) arguments.push_back(one.data());
    arguments.push_back(nullptr);
    fs::create_directory(out_);
    process_ = fork();
    if (process_ != 0) return;
    processes_.mark();
    if (std::freopen((files / "err").c_str(), "w", stderr) == nullptr) _exit(126);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  LongRun(const LongRun&) = delete;
  LongRun& operator=(const LongRun&) = delete;
  ~LongRun() {
    for (const pid_t process : processes_.alive()) kill(process, SIGKILL);
    if (!is_over_) waitpid(process_, nullptr, 0);
  }

  /// The parent, the process that simulates, and two snapshots.
  bool has_snapshots() const { return processes_.become(4); }
  void send(int signal_number) const { kill(process_, signal_number); }
  int status() {
    int status = 0;
    waitpid(process_, &status, 0);
    is_over_ = true;
    return status;
  }
  const MarkedProcesses& processes() const { return processes_; }
  const fs::path& out() const { return out_; }

 private:
  fs::path out_;
  MarkedProcesses processes_;
  pid_t process_ = 0;
  bool is_over_ = false;
};

}  // namespace

TEST_CASE("a run with snapshots has the report and outputs of one without") {
  std::vector<Options> kinds{{}, {"--set", "data=functional", "--set", "check=all"}, {"--set", "method=sequential"}};
  if (fs::exists(T3VP_BINARY_DIR "/t3vp-firmware.elf")) kinds.push_back({"--set", "firmware=riscv"});
  for (const Options& kind : kinds) {
    const ValidFiles files;
    Options plain = kind, copied = kind;
    plain.insert(plain.end(), {"--trace", "--register-trace", files / "plain.txt"});
    copied.insert(copied.end(), {"--trace", "--register-trace", files / "copied.txt", "--snapshot-every", "1.5"});
    REQUIRE(run_into(files, "plain", plain).exit_code == 0);
    const MarkedProcesses processes;
    const Outcome outcome = run_into(files, "copied", copied, [&] { processes.mark(); });
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    CHECK(outcome.err.empty());
    CHECK(processes.alive().empty());
    CHECK(report_of(files / "copied") == report_of(files / "plain"));
    CHECK(names_in(files / "copied") == names_in(files / "plain"));
    CHECK(text_of(files / "copied/trace.json") == text_of(files / "plain/trace.json"));
    CHECK(text_of(files / "copied.txt") == text_of(files / "plain.txt"));
  }
}

TEST_CASE("a run that reaches a limit goes on from its older snapshot, which shows the last microseconds") {
  const ValidFiles files;
  REQUIRE(run_into(files, "whole", {}).exit_code == 0);
  const double end = std::floor(total_us(files / "whole") * 0.8), interval = std::floor(end / 5);
  const MarkedProcesses processes;
  const Outcome outcome = run_into(
      files, "out",
      {"--snapshot-every", std::to_string(interval), "--set", "limits.simulated_ms=" + std::to_string(end / 1000)},
      [&] { processes.mark(); });
  INFO(outcome.err);
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.out.empty());
  CHECK(processes.alive().empty());
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 2);
  CHECK_THAT(outcome.err, Catch::StartsWith("t3vp: the run has failed at ") &&
                              Catch::Contains("Checks that were not on from the start stay off: races, results.\n"
                                              "t3vp: limits.simulated_ms: "));
  double failed_at = 0;
  REQUIRE(std::sscanf(outcome.err.c_str(), "t3vp: the run has failed at %lf us", &failed_at) == 1);
  CHECK(failed_at >= end - interval);
  CHECK(failed_at <= end);
  CHECK(names_in(files / "out") == std::vector<std::string>{registers, "trace.json"});
  const auto [first, last] = times_of(files / "out/trace.json");
  CHECK(first >= end - 2 * interval - 1);
  CHECK(first <= end - interval);
  CHECK(last > end - interval);
  CHECK(last <= end);
}

TEST_CASE("an injected fault that strikes late is seen with its registers, and the report is the run's") {
  const ValidFiles files;
  const Options fault{"--set", R"(inject.drop_packet={"link": 1, "packet": 7})", "--set", "check=memory"};
  REQUIRE(run_into(files, "plain", fault).exit_code == 1);
  Options options = fault;
  options.insert(options.end(), {"--snapshot-every", "20"});
  const Outcome outcome = run_into(files, "out", options);
  INFO(outcome.err);
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.err, Catch::Contains("stay off: races, results."));
  CHECK(report_of(files / "out") == report_of(files / "plain"));
  CHECK(names_in(files / "out") == std::vector<std::string>{"report.json", registers, "trace.json"});
  const double stopped = json_of(files / "out/report.json").at("stopped").at("simulated_ns").get<double>() / 1000;
  const double older = 20 * (std::floor(stopped / 20) - 1);
  const std::string text = json_of(files / "out/report.json").at("faults").at(0).at("text").get<std::string>();
  const double struck = std::stod(text.substr(text.rfind(" at ") + 4)) / 1000;
  const auto [first, last] = times_of(files / "out/trace.json");
  CHECK_THAT(outcome.err, Catch::Contains("goes on from its snapshot at 40 us"));
  CHECK(first >= older);
  CHECK(first <= struck);
  CHECK(last >= struck);
  CHECK(last <= stopped + 1);
  CHECK_FALSE(text_of(files / "out" / registers).empty());
  CHECK(time_of(text_of(files / "out" / registers)) >= older);
}

TEST_CASE("the memory of two snapshots is in the check at the start") {
  const ValidFiles files;
  const Options large{"--set", "method=sequential",
                      "--set", "data=functional",
                      "--set", "gpus=256",
                      "--set", "system.memory.capacity_GiB=256",
                      "--set", R"(workload.gemm={"m": 131072, "n": 65536, "k": 65536, "element": "fp32"})"};
  const auto need = [&](const Options& more, const std::string& largest) {
    Options options = large;
    options.insert(options.end(), more.begin(), more.end());
    const Outcome outcome = run_into(files, "out", options);
    require_refusal(outcome, files.run());
    CHECK_THAT(outcome.err, Catch::Contains(largest));
    return std::stod(outcome.err.substr(outcome.err.find("a need of ") + 10));
  };
  const double one = need({}, "most of it for operands and outputs");
  CHECK(need({"--snapshot-every", "20"}, "most of it for two snapshots (--snapshot-every)") == Approx(3 * one));
}

TEST_CASE("a timeline and a register trace from the start are whole when a snapshot has gone on") {
  const ValidFiles files;
  const Options fault{"--set", R"(inject.drop_packet={"link": 1, "packet": 7})", "--trace"};
  Options plain = fault, copied = fault;
  plain.insert(plain.end(), {"--register-trace", files / "plain.txt"});
  copied.insert(copied.end(), {"--register-trace", files / "copied.txt", "--snapshot-every", "2"});
  REQUIRE(run_into(files, "plain", plain).exit_code == 1);
  REQUIRE(run_into(files, "copied", copied).exit_code == 1);
  CHECK(text_of(files / "copied/trace.json") == text_of(files / "plain/trace.json"));
  CHECK(text_of(files / "copied.txt") == text_of(files / "plain.txt"));
  CHECK(names_in(files / "copied") == std::vector<std::string>{"report.json", "trace.json"});
}

TEST_CASE("no process stays when a run with snapshots is ended by a signal") {
  for (const int signal_number : {SIGINT, SIGTERM, SIGKILL}) {
    INFO(strsignal(signal_number));
    const ValidFiles files;
    LongRun run(files);
    REQUIRE(run.has_snapshots());
    run.send(signal_number);
    const int status = run.status();
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == signal_number);
    if (signal_number != SIGKILL) CHECK(run.processes().alive().empty());
    CHECK(run.processes().become(0));
    CHECK(names_in(run.out()).empty());
  }
}

TEST_CASE("a run that is killed by the host leaves no snapshot and does not go on") {
  const ValidFiles files;
  LongRun run(files);
  REQUIRE(run.has_snapshots());
  std::vector<pid_t> processes = run.processes().alive();
  std::sort(processes.begin(), processes.end());
  kill(processes[1], SIGKILL);  // the second to begin simulates
  CHECK(WTERMSIG(run.status()) == SIGKILL);
  CHECK(run.processes().alive().empty());
  CHECK(names_in(run.out()).empty());
}

TEST_CASE("SIGUSR1 lets the older snapshot go on, and Ctrl-C then keeps what it has traced") {
  const ValidFiles files;
  LongRun run(files);
  REQUIRE(run.has_snapshots());
  run.send(SIGUSR1);
  REQUIRE(run.processes().become(2));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  run.send(SIGINT);
  CHECK(WTERMSIG(run.status()) == SIGINT);
  CHECK(run.processes().alive().empty());
  CHECK_THAT(text_of(files / "err"), Catch::StartsWith("t3vp: the run was stopped by SIGUSR1 at "));
  CHECK(names_in(run.out()) == std::vector<std::string>{registers, "trace.json"});
  CHECK_FALSE(json_of(run.out() / "trace.json").at("traceEvents").empty());
}

TEST_CASE("the timeline that begins at a snapshot is limited by --trace-from") {
  const ValidFiles files;
  REQUIRE(run_into(files, "whole", {}).exit_code == 0);
  const double end = std::floor(total_us(files / "whole") * 0.8), interval = std::floor(end / 5);
  const Outcome outcome =
      run_into(files, "out",
               {"--snapshot-every", std::to_string(interval), "--trace-from", std::to_string(end - 1), "--set",
                "limits.simulated_ms=" + std::to_string(end / 1000)});
  INFO(outcome.err);
  CHECK(outcome.exit_code == 1);
  CHECK(times_of(files / "out/trace.json").first >= end - 1);
}

TEST_CASE("what snapshots do not go with is one line") {
  const ValidFiles files;
  const std::string option = "--snapshot-every";
  const auto refuse = [&](const Options& more, const std::string& place, const std::string& found) {
    Options arguments{"run", files.run(), "--out", files / "out", option, "10"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run_program(arguments);
    require_refusal(outcome, place);
    CHECK_THAT(outcome.err, Catch::Contains(found));
    CHECK_FALSE(fs::exists(files / "out/report.json"));
  };
  refuse({"--replicates", "2"}, option, "found 2 replicates, expected one run");
  refuse({"--gdb", "0", "--set", "firmware=riscv"}, option, "found --gdb beside it");
  refuse({"--in-process"}, option, "no parent process that watches the run");
  refuse({"--fork-at", "1", "--variants", "x"}, "--fork-at", "found --snapshot-every beside it");
  require_refusal(run_program({"run", files.run(), option, "0"}), "t3vp: " + option);
  const Outcome joined =
      run_program({"run", files.run(), option, "10"}, [] { setenv("OMPI_COMM_WORLD_SIZE", "4", 1); });
  require_refusal(joined, option);
  CHECK_THAT(joined.err, Catch::Contains("found a run over several processes, expected a run in one process"));
}

}  // namespace t3vp::test::snapshots_test
