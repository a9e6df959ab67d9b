// Results and standard output: whole or not at all, and a failure when they cannot be written.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "command_line/program.h"

namespace t3vp::test::outputs_test {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Standard output becomes something that takes nothing.
const std::pair<const char*, void (*)()> dead_ends[] = {
    {"closed", [] { close(STDOUT_FILENO); }},
    {"full", [] { dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO); }},
    {"a pipe that nobody reads", [] {
       int ends[2];
       if (pipe(ends) != 0) _exit(126);
       close(ends[0]);
       dup2(ends[1], STDOUT_FILENO);
     }}};

/// Valid files with a report and an experiment.
class Files : public ValidFiles {
 public:
  Files() {
    write("one.trace", std::string(16, '\0'));
    write("experiment.json", json{{"name", "small"},
                                  {"base", "run.json"},
                                  {"cases", {{{"name", "one"}, {"set", json::object()}}}},
                                  {"methods", {"t3"}}});
  }

  std::vector<std::vector<std::string>> commands() const {
    const std::string file = run(), memory = *this / "memory.json", out = *this / "out";
    return {{"--version"},
            {"--help"},
            {"run", "--help"},
            {"registers"},
            {"check", file},
            {"run", file, "--print-config"},
            {"run", file, "--out", out},
            {"compare", *this / "out/report.json", *this / "out/report.json"},
            {"replay", *this / "one.trace", "--memory", memory, "--out", *this / "replay"},
            {"experiment", *this / "experiment.json", "--out", *this / "experiment"}};
  }
};

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

void limit_file_size(rlim_t bytes) {
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_FSIZE, &limit);
}

void require_one_line(const Outcome& outcome, int exit_code, const std::string& text) {
  INFO(outcome.err << outcome.out);
  CHECK(outcome.exit_code == exit_code);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK_THAT(outcome.err, Catch::Contains(text));
}

}  // namespace

TEST_CASE("standard output that takes nothing is a failure of every command") {
  const Files files;
  for (const auto& [name, redirect] : dead_ends)
    for (const auto& command : files.commands()) {
      INFO(name << ": " << command.front() << " " << command.back());
      require_one_line(run_program(command, redirect), 1, "t3vp: standard output: ");
    }
}

TEST_CASE("with standard error closed as well the exit codes are the same") {
  const Files files;
  for (const auto& [name, redirect] : dead_ends) {
    const auto both = [redirect = redirect] {
      redirect();
      close(STDERR_FILENO);
    };
    for (const auto& command : files.commands()) {
      INFO(name << ": " << command.front() << " " << command.back());
      CHECK(run_program(command, both).exit_code == 1);
    }
    CHECK(run_program({"check", files / "none.json"}, both).exit_code == 2);
    CHECK(run_program({"fly"}, both).exit_code == 2);
  }
  for (const auto& command : files.commands()) CHECK(run_program(command, [] { close(STDERR_FILENO); }).exit_code == 0);
}

TEST_CASE("a full disk is a failure and leaves nothing that looks like a result") {
  const Files files;
  const std::string out = files / "out", commands = files / "commands.csv", run = files.run();
  std::string accesses;
  for (int i = 0; i < 1000; ++i) accesses += std::string(16, '\0');
  const std::string trace = files.write("many.trace", accesses);
  const struct {
    std::vector<std::string> arguments;
    rlim_t bytes;
    std::string file;
  } cases[] = {{{"run", run}, 2000, "report.json"},
               {{"run", run, "--trace"}, 50'000, "trace.json"},
               {{"run", run, "--set", "data=functional", "--dump-arrays"}, 20'000, "gpu0.a.npy"},
               {{"replay", trace, "--memory", files / "memory.json"}, 200, "report.json"},
               {{"replay", trace, "--memory", files / "memory.json", "--commands", commands}, 9000, "commands.csv"},
               {{"experiment", files / "experiment.json"}, 1000, "run.json"}};
  for (const auto& one : cases) {
    INFO(one.arguments[0] << " " << one.file);
    std::vector<std::string> arguments = one.arguments;
    arguments.insert(arguments.end(), {"--out", out});
    REQUIRE(run_program(arguments).exit_code == 0);
    const Outcome outcome = run_program(arguments, [&] { limit_file_size(one.bytes); });
    if (one.arguments[0] == "experiment") continue;
    require_one_line(outcome, 1, one.file + ": File too large");
    CHECK(names_in(out).empty());
    CHECK_FALSE(fs::exists(commands));
    fs::remove_all(out);
  }
  fs::remove_all(out);
  const Outcome outcome =
      run_program({"experiment", files / "experiment.json", "--out", out}, [] { limit_file_size(1000); });
  require_one_line(outcome, 1, "run.json: File too large");
}

TEST_CASE("results replace links and never follow them") {
  const Files files;
  const fs::path victim = files.write("victim", std::string("precious"));
  fs::create_directory(files / "out");
  const char* const names[] = {"report.json", "trace.json", "gpu0.a.npy"};
  for (const char* name : names) fs::create_symlink(victim, files / "out" / name);
  REQUIRE(
      run_program({"run", files.run(), "--out", files / "out", "--trace", "--dump-arrays", "--set", "data=functional"})
          .exit_code == 0);
  CHECK(text_of(victim) == "precious");
  for (const char* name : names) CHECK(fs::is_regular_file(fs::symlink_status(files / "out" / name)));

  fs::create_symlink(victim, files / "commands.csv");
  const std::vector<std::string> replay{"replay", files / "one.trace", "--memory",  files / "memory.json",
                                        "--out",  files / "out",       "--commands"};
  for (const std::string& target :
       {(files / "commands.csv").string(), std::string("/dev/null"), (files / "out").string()}) {
    std::vector<std::string> arguments = replay;
    arguments.push_back(target);
    require_one_line(run_program(arguments), 2, "--commands " + target + ": found ");
  }
  CHECK(text_of(victim) == "precious");
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("a run that fails leaves nothing of an earlier one") {
  const Files files;
  const fs::path out = files / "out";
  const std::vector<std::string> run{"run",     files.run(),     "--out", out,
                                     "--trace", "--dump-arrays", "--set", "data=functional"};
  REQUIRE(run_program(run).exit_code == 0);
  files.write("out/report.json.4711.partial", std::string("{"));
  files.write("out/notes.txt", std::string("mine"));
  REQUIRE(names_in(out).size() == 16);  // three arrays of four GPUs
  std::vector<std::string> limited = run;
  limited.insert(limited.end(), {"--set", "limits.simulated_ms=0.0001"});
  CHECK(run_program(limited).exit_code == 1);
  CHECK(names_in(out) == std::vector<std::string>{"notes.txt"});

  REQUIRE(run_program(run).exit_code == 0);
  CHECK(run_program({"run", files.run(), "--out", out, "--set", "gpus=1"}).exit_code == 2);
  CHECK(fs::exists(out / "report.json"));  // what has not begun has nothing to remove
}

/// The simulating process has begun trace.json; its number, which the name holds, is not that of the process started.
bool writes_a_trace(const fs::path& folder) {
  const std::vector<std::string> names = names_in(folder);
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return name.rfind("trace.json.", 0) == 0; });
}

TEST_CASE("a run that is interrupted leaves no partial file") {
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM,
                                  SIGPROF, SIGXCPU, SIGIO, SIGFPE, SIGRTMAX}) {
    INFO(strsignal(signal_number));
    const Files files;
    const std::string program = T3VP_BINARY_DIR "/t3vp", file = files.run(), out = files / "out";
    fs::create_directory(out);
    files.write("out/report.json", std::string("of an earlier run"));
    const pid_t child = fork();
    if (child == 0) {
      const rlimit no_core{0, 0};
      setrlimit(RLIMIT_CORE, &no_core);
      setenv("ASAN_OPTIONS", "handle_sigfpe=0",
             1);  // of a build with the sanitizer, which would take the signal itself
      execl(program.c_str(), "t3vp", "run", file.c_str(), "--out", out.c_str(), "--trace", "--set",
            R"(workload={"gemm": {"m": 8192, "n": 8192, "k": 8192}})", nullptr);
      _exit(127);
    }
    int status = 0;
    bool is_over = false;
    while (!writes_a_trace(out) && !is_over) {
      is_over = waitpid(child, &status, WNOHANG) == child;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    REQUIRE_FALSE(is_over);
    kill(child, signal_number);
    waitpid(child, &status, 0);
    // Of a SIGFPE nothing says that it comes from outside when the simulating process gets it first.
    const bool counts_as_crash = signal_number == SIGFPE && WIFEXITED(status) && WEXITSTATUS(status) == 1;
    CHECK((counts_as_crash || WIFSIGNALED(status)));
    CHECK((counts_as_crash || WTERMSIG(status) == signal_number));
    CHECK(names_in(out).empty());
  }
}

TEST_CASE("runs have a folder one after the other") {
  const Files files;
  const std::string program = T3VP_BINARY_DIR "/t3vp", file = files.run(), out = files / "out";
  fs::create_directory(out);
  const int folder = open(out.c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(flock(folder, LOCK_EX) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    execl(program.c_str(), "t3vp", "run", file.c_str(), "--out", out.c_str(), nullptr);
    _exit(127);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // many times what the run takes
  CHECK(names_in(out).empty());
  close(folder);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(fs::exists(out + "/report.json"));
}

TEST_CASE("what a command reads it neither replaces nor removes") {
  const Files files;
  const std::string memory = files / "memory.json", own = files / "own", experiment = files / "experiment.json";
  const std::string trace = files / "one.trace";
  fs::create_directory(own);
  const auto in_own = [&](const fs::path& from, const char* name) {
    fs::copy_file(from, fs::path(own) / name, fs::copy_options::overwrite_existing);
    return own + "/" + name;
  };
  const auto refused = [&](const std::vector<std::string>& arguments, const fs::path& input) {
    INFO(arguments[0] << " " << input);
    const std::string before = text_of(input);
    const std::vector<std::string> names = names_in(own), all = names_in(files / ".");
    require_one_line(run_program(arguments), 2, ": found a file that this command reads");
    CHECK(text_of(input) == before);
    CHECK(names_in(own) == names);
    CHECK(names_in(files / ".") == all);
  };
  const std::vector<std::string> replay{"replay", trace, "--memory", memory, "--out", files / "new", "--commands"};
  for (const std::string& input : {trace, memory}) {
    std::vector<std::string> arguments = replay;
    arguments.push_back(input);
    refused(arguments, input);
  }
  for (const char* name : {"report.json", "trace.json", "gpu0.a.npy", "report.json.1.partial"}) {
    const std::string input = in_own(trace, name);
    refused({"replay", input, "--memory", memory, "--out", own}, input);
    fs::create_symlink(input, files / "link");
    refused({"replay", files / "link", "--memory", memory, "--out", own + "/../own/"}, input);
    fs::remove(files / "link");
    fs::remove(input);
  }
  files.change("run.json", "/system", (files / "system.json").string());
  files.change("system.json", "/memory/file", memory);
  for (const char* name : {"report.json", "trace.json"}) {
    const std::string run = in_own(files.run(), name);
    refused({"run", run, "--out", own}, run);
    fs::remove(run);
    const std::string system = in_own(files / "system.json", name);
    refused({"run", files.run(), "--out", own, "--set", "system=" + system}, system);
    fs::remove(system);
    const std::string dram = in_own(memory, name);
    refused({"run", files.run(), "--out", own, "--set", "system.memory.file=" + dram}, dram);
    fs::remove(dram);
    const std::string models = in_own(config("workloads/models.json"), name);
    refused({"run", files.run(), "--out", own, "--set", "models=" + models, "--set", "gpus=null", "--set",
             R"(workload={"model": "T-NLG", "sublayer": "OP", "tp": 8})"},
            models);
    fs::remove(models);
  }
  const fs::path reference = files.write("own/compare.csv", std::string("id,value\none,1\n"));
  files.change("experiment.json", "/reference", reference.string());
  files.change("experiment.json", "/quantities", {{{"name", "q"}, {"value", "time_ns.total[t3]"}}});
  files.change("experiment.json", "/targets", {{{"id", "one"}, {"quantity", "q"}, {"aggregate", "max"}}});
  refused({"experiment", experiment, "--out", own}, reference);
  files.change("experiment.json", "/base", in_own(files.run(), "result.md"));
  refused({"experiment", experiment, "--out", own}, own + "/result.md");
}

TEST_CASE("two outputs of one name are refused") {
  const Files files;
  for (const char* name : {"report.json", "trace.json", "gpu255.out.npy"})
    require_one_line(run_program({"replay", files / "one.trace", "--memory", files / "memory.json", "--out",
                                  files / "o", "--commands", files / (std::string("./o/") + name)}),
                     2, ": found a file that this command would write or remove a second time");
  CHECK_FALSE(fs::exists(files / "o"));
}

TEST_CASE("of what lies in the folder only files with a name that runs give are removed") {
  const Files files;
  fs::create_directory(files / "out");
  const std::vector<std::string> kept{"gpu0..npy",      "gpu0.golden.npy", "gpu0.out.npy.bak", "gpu00.out.npy",
                                      "gpu256.out.npy", "notes.txt",       "report.json.old",  "report.json.x.partial"};
  const char* const results[] = {"gpu0.out.npy", "gpu255.b.npy", "gpu0.d_w_fc_2.npy", "gpu1.a.npy.12.partial",
                                 "trace.json"};
  for (const std::string& name : kept) files.write("out/" + name, std::string("mine"));
  for (const char* name : results) files.write(std::string("out/") + name, std::string("a run's"));
  REQUIRE(run_program({"run", files.run(), "--out", files / "out"}).exit_code == 0);
  std::vector<std::string> expected = kept;
  expected.emplace_back("report.json");
  std::sort(expected.begin(), expected.end());
  CHECK(names_in(files / "out") == expected);
}

}  // namespace t3vp::test::outputs_test
