// Libraries that end, double or stop their process, and tables that point nowhere: one line each, and no exit code 0.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>

#include "software/outside_run.h"

namespace t3vp::test::violent_test {

namespace {

/// What becomes of a run, or a check, of the library that does this.
Outcome outcome_of(const char* act, const std::string& command = "run") {
  const OutsideRun run(library("violent") + ":idle", {{"gpus", 2}, {"limits", {{"firmware_s", 0.3}}}});
  std::vector<std::string> arguments{command, run.file().string()};
  if (command == "run") arguments.insert(arguments.end(), {"--out", (run / "out").string()});
  const std::filesystem::path temporary = run / "temporary";
  std::filesystem::create_directory(temporary);
  Outcome outcome = run_program(arguments, [&] {
    setenv("T3VP_TEST_ACT", act, 1);
    setenv("TMPDIR", temporary.c_str(), 1);
  });
  INFO(act << ": the platform's copy of the library goes with the process");
  CHECK(std::filesystem::is_empty(temporary));
  for (std::string* text : {&outcome.out, &outcome.err})
    if (const auto at = text->find(run.file().string()); at != std::string::npos)
      text->replace(at, run.file().string().size(), "FILE");
  return outcome;
}

void require_one_line(const Outcome& outcome, int exit_code, const std::string& begin, const std::string& end) {
  INFO(outcome.err << outcome.out);
  CHECK(outcome.exit_code == exit_code);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK_THAT(outcome.err, Catch::StartsWith(begin) && Catch::EndsWith(end + "\n"));
}

struct Act {
  const char *act, *told;
};

const std::string found = "FILE: /program: found \"" + library("violent") + ":idle\", ";

constexpr Act acts[] = {{"exit", "has called exit()"},
                        {"_exit", "has ended the process by _exit() or exec()"},
                        {"abort", "has called abort()"},
                        {"crash", "has accessed memory of the host that is not there"},
                        {"ignore and crash", "has accessed memory of the host that is not there"},
                        {"take and crash", "has accessed memory of the host that is not there"},
                        {"block and crash", "has accessed memory of the host that is not there"},
                        {"raise", "has raised SIGTERM"},
                        {"timer", "has raised SIGALRM, or a timer that runs out has"},
                        {"trap", "has run into a floating-point exception that it does not mask"},
                        {"divide", "has divided by zero"},
                        {"loop", "has computed for 0.3 s (limits.firmware_s)"},
                        {"fork", "has called fork()"},
                        {"vfork", "has called vfork()"},
                        {"short exec", "has ended the process by _exit() or exec()"},
                        {"long exec", "has called exec()"},
                        {"overflow", "has overflowed its stack"},
                        {"end thread", "has ended the thread that it runs on"}};

}  // namespace

TEST_CASE("a library that does nothing odd runs") { CHECK(outcome_of("nothing").exit_code == 0); }

TEST_CASE("a library that would end its process in a constructor is refused in one line") {
  for (const Act& a : acts) {
    const std::string act = std::string("constructor: ") + a.act;
    for (const char* command : {"run", "check"})
      require_one_line(outcome_of(act.c_str(), command), 2, found + "which " + a.told,
                       " while it was opened, expected a native library that can be opened");
  }
}

TEST_CASE("a library that would end its process in a destructor fails its run with one line") {
  for (const Act& a : acts)
    require_one_line(outcome_of((std::string("destructor: ") + a.act).c_str()), 1, found + "which " + a.told,
                     " while it was closed, expected a native library that can be closed");
}

TEST_CASE("a program that would end its process fails its run with one line") {
  for (const Act& a : acts) {
    if (std::string(a.act) == "loop" || std::string(a.act) == "overflow") continue;  // with other words
    const bool is_named = std::string(a.act) != "vfork";  // the copy may have gone on in another program
    require_one_line(outcome_of((std::string("program: ") + a.act).c_str()), 1,
                     is_named ? "t3vp: the firmware of GPU " : "t3vp: a program or kernel ", a.told);
  }
  require_one_line(outcome_of("program: exit by a thread"), 1, "t3vp: a thread that a program or library has begun",
                   " has called exit()");
}

TEST_CASE("a program that hides what it does from its process is told from outside") {
  CHECK(outcome_of("program: close the pipe").exit_code == 0);
  require_one_line(outcome_of("program: overwrite the page"), 1,
                   "t3vp: a program or kernel has overwritten memory of the simulator", "");
  require_one_line(outcome_of("program: loop behind handlers"), 1, "t3vp: limits.firmware_s: the firmware of GPU ", "");
  const Outcome damaged = outcome_of("program: damage the heap");  // the C library has a line of its own
  CHECK(damaged.exit_code == 1);
  CHECK_THAT(damaged.err, Catch::Contains("t3vp: the firmware of GPU ") && Catch::EndsWith(" has called abort()\n"));
}

TEST_CASE("a limit of the processor's time that is used up is one line whoever has set it") {
  const OutsideRun run(library("violent") + ":idle", {{"limits", {{"firmware_s", 80}}}});
  const Outcome outcome = run_program({"run", run.file().string(), "--out", (run / "out").string()},
                                      [] { setenv("T3VP_TEST_ACT", "program: use up the processor's time", 1); });
  require_one_line(outcome, 1, "t3vp: a program, a library, or who has started this process,",
                   "has raised SIGXCPU, or limited the processor's time, which is used up");
}

TEST_CASE("results are where they were asked for wherever a program goes") {
  const OutsideRun run(library("violent") + ":idle");
  const Outcome outcome =
      run_program({"run", run.file().string(), "--out", "there"}, [folder = run.file().parent_path()] {
        std::filesystem::current_path(folder);
        setenv("T3VP_TEST_ACT", "program: go elsewhere", 1);
      });
  CHECK(outcome.exit_code == 0);
  CHECK(std::filesystem::exists(run / "there/report.json"));
}

TEST_CASE("a signal of another process ends a run as it always does and no program is told to have raised it") {
  const OutsideRun run(library("violent") + ":idle", {{"limits", {{"firmware_s", 20}}}});
  const Outcome outcome = run_program({"run", run.file().string(), "--out", (run / "out").string()}, [] {
    setenv("T3VP_TEST_ACT", "program: loop", 1);
    if (fork() != 0) return;
    usleep(200'000);
    kill(getppid(), SIGTERM);
    _exit(0);
  });
  CHECK(outcome.exit_code == -1);  // by the signal
  CHECK(outcome.err.empty());
}

TEST_CASE("a table that points nowhere or has no end is one line") {
  constexpr Act tables[] = {
      {"program's name nowhere",
       "the name of its program number 2 is at 0x8, where no text of up to 64 characters ends"},
      {"program's name without end", "the name of its program number 2 is at 0x"},
      {"program's name not plain", "its program number 2 has the name \"a b\", expected a name of 1 to 64 letters"},
      {"program nowhere", "its program wild is at 0x8, where there is no code, expected a function that can be called"},
      {"program in data", "its program data is at 0x"},
      {"two programs", "it has two programs idle, expected programs with a name of their own"},
      {"many programs",
       "it has more than 1024 programs, expected a list of programs that ends with one without a name"},
      {"kernel nowhere", "its kernel number 2 is at 0x8, where nothing can be read, expected a kernel, or NULL"},
      {"kernel twice", "is that of nothing as well, expected another name"},
      {"kernel's name nowhere", "the name of its kernel number 1 is at 0x8, where no text"},
      {"kernel's class nowhere", "the name of its kernel nothing's traffic is at 0x8, where no text"},
      {"kernel's plan in data", "its kernel nothing: its plan is at 0x"},
      {"kernel's reader nowhere", "its kernel nothing: the reader of its arguments is at 0x8, where there is no code"}};
  for (const Act& table : tables) {
    const Outcome outcome = outcome_of((std::string("table: ") + table.act).c_str());
    require_one_line(outcome, 2, found, "");
    CHECK_THAT(outcome.err, Catch::Contains(table.told) && Catch::Contains(", expected "));
  }
}

}  // namespace t3vp::test::violent_test
