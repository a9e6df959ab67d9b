// Experiments that meet: processes share the work of a folder of runs, and one that is interrupted says how to go on.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <thread>

#include "experiments/small_experiment.h"

namespace t3vp::test::sharing_test {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

json cases_of(int count, int rows = 256) {
  json cases = json::array();
  for (int m = 1; m <= count; ++m)
    cases.push_back({{"name", std::to_string(m)}, {"set", {{"workload.gemm.m", rows * m}}}});
  return cases;
}

/// An experiment in a process of its own.
class Background {
 public:
  explicit Background(const SmallExperiment& files, const std::string& out, const fs::path& runs) {
    const std::string program = T3VP_BINARY_DIR "/t3vp", file = files.file(), folder = files.out(out);
    err_ = files / (out + ".err");
    child_ = fork();
    if (child_ != 0) return;
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    dup2(open(err_.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    execl(program.c_str(), "t3vp", "experiment", file.c_str(), "--out", folder.c_str(), "--runs", runs.c_str(),
          "--jobs", "2", nullptr);
    _exit(127);
  }
  ~Background() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  pid_t process() const { return child_; }
  std::string err() const { return text_of(err_); }
  bool is_running() {
    if (child_ > 0 && waitpid(child_, &status_, WNOHANG) == child_) child_ = 0;
    return child_ > 0;
  }
  /// As waitpid() has it.
  int status() {
    if (child_ > 0) waitpid(child_, &status_, 0);
    child_ = 0;
    return status_;
  }

 private:
  pid_t child_ = 0;
  int status_ = 0;
  fs::path err_;
};

/// Whether some process has the text on its command line.
bool is_at_work(const std::string& text) {
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (text_of(entry.path() / "cmdline").find(text) != std::string::npos) return true;
  }
  return false;
}

void wait_until(const std::function<bool()>& happened) {
  for (int i = 0; i < 6000 && !happened(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  REQUIRE(happened());
}

}  // namespace

TEST_CASE("two processes that share runs make each of them once") {
  const SmallExperiment files;
  files.change("experiment.json", "/cases", cases_of(8));
  REQUIRE(files.run("whole").exit_code == 0);
  const fs::path runs = files.out("whole") / "runs";
  const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  for (const fs::path& run : files.runs("whole")) {
    fs::remove(run / "report.json");
    REQUIRE(inotify_add_watch(watch, run.c_str(), IN_MOVED_TO) >= 0);
  }
  Background one(files, "one", runs), two(files, "two", runs);
  CHECK(one.status() == 0);
  CHECK(two.status() == 0);
  std::string events(1 << 20, '\0');
  const ssize_t bytes = read(watch, events.data(), events.size());
  close(watch);
  REQUIRE(bytes > 0);
  events.resize(static_cast<std::size_t>(bytes));
  std::size_t reports = 0;
  for (auto at = events.find("report.json"); at != std::string::npos; at = events.find("report.json", at + 1))
    ++reports;
  CHECK(reports == 24);
  for (const char* out : {"one", "two"})
    CHECK(text_of(files.out(out) / "results.csv") == text_of(files.out("whole") / "results.csv"));
}

TEST_CASE("what another process has under way is left to it and taken from it") {
  const SmallExperiment files;
  REQUIRE(files.run("whole").exit_code == 0);
  const fs::path runs = files.out("whole") / "runs", held = files.runs("whole")[0];
  const std::string report = text_of(held / "report.json");
  for (const fs::path& run : files.runs("whole")) fs::remove(run / "report.json");
  fs::remove(held / "log.txt");
  const int lock = open((held / "lock").c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(flock(lock, LOCK_EX) == 0);

  Background other(files, "other", runs);
  wait_until([&] {
    const auto folders = files.runs("whole");
    return std::count_if(folders.begin(), folders.end(),
                         [](const fs::path& run) { return fs::exists(run / "report.json"); }) == 5;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  CHECK(other.is_running());
  files.write(fs::relative(held / "report.json", files / ".").string(), report);
  close(lock);
  CHECK(other.status() == 0);
  CHECK_FALSE(fs::exists(held / "log.txt"));  // it was not made again
  CHECK(text_of(files.out("other") / "results.csv") == text_of(files.out("whole") / "results.csv"));
}

TEST_CASE("runs of a process that was killed are made by the other") {
  const SmallExperiment files;
  files.change("experiment.json", "/cases", cases_of(8));
  const fs::path runs = files.out("shared");
  Background killed(files, "killed", runs);
  wait_until([&] { return fs::exists(runs) && !fs::is_empty(runs); });
  Background other(files, "other", runs);
  kill(killed.process(), SIGKILL);
  CHECK(other.status() == 0);
  CHECK(rows_of(files.out("other") / "results.csv").size() == 24);
}

TEST_CASE("an interrupted experiment ends its runs and says how to go on") {
  for (const int signal_number : {SIGINT, SIGTERM}) {
    const SmallExperiment files;
    files.change("experiment.json", "/cases", cases_of(2, 16384));  // far too long to wait for
    files.change("experiment.json", "/trace", true);
    const fs::path runs = files.out("runs");
    Background experiment(files, "results", runs);
    wait_until([&] { return is_at_work("--out" + std::string(1, '\0') + runs.string()); });
    kill(experiment.process(), signal_number);
    const int status = experiment.status();
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == signal_number);
    CHECK_THAT(experiment.err(), Catch::Contains("the same command goes on from there\n"));
    wait_until([&] { return !is_at_work(runs.string()); });
    for (const auto& entry : fs::recursive_directory_iterator(runs)) {
      INFO(entry.path());
      CHECK(entry.path().filename() != "report.json");
      CHECK(entry.path().extension() != ".partial");
    }
  }
}

TEST_CASE("a run that reaches its limit is a failed case among good ones") {
  const SmallExperiment files;
  files.change("experiment.json", "/cases/1/set", {{"workload.gemm.m", 512}, {"limits.simulated_ms", 0.001}});
  files.change("experiment.json", "/targets", json::array());
  files.change("experiment.json", "/reference", nullptr);
  const Outcome outcome = files.run();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.err, Catch::Contains("tall, t3") && Catch::Contains("limits.simulated_ms"));
  CHECK(rows_of(files.out() / "results.csv").size() == 3);

  files.change("experiment.json", "/cases/1/set/limits.simulated_ms", nullptr);
  REQUIRE(files.run().exit_code == 0);
  CHECK(rows_of(files.out() / "results.csv").size() == 6);
}

TEST_CASE("option --timeout limits every run of an experiment") {
  const SmallExperiment files;
  files.change("experiment.json", "/cases/1/set", {{"workload.gemm.m", 16384}, {"workload.gemm.k", 16384}});
  files.change("experiment.json", "/targets", json::array());
  files.change("experiment.json", "/reference", nullptr);
  files.change("experiment.json", "/methods", {"t3"});
  files.change("experiment.json", "/quantities", json::array());
  files.change("experiment.json", "/plot", json::array());
  const Outcome outcome = files.run("results", {"--timeout", "1"});
  INFO(outcome.err);
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.err, Catch::Contains("tall, t3") && Catch::Contains("limits.wall_s"));
  CHECK(rows_of(files.out() / "results.csv").size() == 1);
}

TEST_CASE("equal work under different limits is a run for each, and one that ends at its limit is a failed case") {
  const SmallExperiment files;
  const auto set_cases = [&files](const json& first, const json& second) {
    files.change("experiment.json", "/cases",
                 {{{"name", "limited"}, {"set", first}}, {{"name", "free"}, {"set", second}}});
  };
  files.change("experiment.json", "/targets", json::array());
  files.change("experiment.json", "/reference", nullptr);
  for (const char* results : {"fresh", "again"}) {
    set_cases({{"limits.simulated_ms", 0.001}}, json::object());
    const Outcome outcome = files.run();
    INFO(results << outcome.err);
    CHECK(outcome.exit_code == 1);
    CHECK_THAT(outcome.err, Catch::Contains("limited, t3") && Catch::Contains("limits.simulated_ms"));
    CHECK(outcome.err.find("free, t3") == std::string::npos);
    CHECK(rows_of(files.out() / "results.csv").size() == 3);
  }
  set_cases({{"limits.wall_s", 30}}, {{"limits.wall_s", 40}});
  REQUIRE(files.run().exit_code == 0);
  CHECK(rows_of(files.out() / "results.csv").size() == 6);
}

}  // namespace t3vp::test::sharing_test
