// Values of options that cannot be: one line that says what was found, what was expected and where to read on.
#include <algorithm>
#include <catch2/catch.hpp>

#include "command_line/elf_writer.h"
#include "command_line/program.h"
#include "riscv/assembler.h"

namespace t3vp::test::options_test {

namespace {

using Arguments = std::vector<std::string>;

void check_refused(const Arguments& arguments, const std::string& error) {
  CAPTURE(arguments);
  const Outcome outcome = run_program(arguments);
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.out.empty());
  CHECK(outcome.err == "t3vp: " + error + "\n");
}

std::string path_of(const Arguments& command) {
  std::string path = "t3vp";
  for (const std::string& word : command)
    if (word[0] >= 'a' && word[0] <= 'z') path += " " + word;
  return path;
}

struct Number {
  Arguments command;
  const char* option;
  const char* least;
  const char* most;
};

const Number numbers[] = {{{"riscv"}, "--max-instructions", "1", "18446744073709551615"},
                          {{"riscv"}, "--gdb", "0", "65535"},
                          {{"run"}, "--gdb", "0", "65535"},
                          {{"replay"}, "--outstanding", "0", "4294967295"},
                          {{"experiment"}, "--jobs", "1", "1024"},
                          {{"validate"}, "--jobs", "1", "1024"},
                          {{"registers", "script"}, "--gpus", "1", "256"},
                          {{"registers", "shell"}, "--gpus", "1", "256"}};

const std::pair<Arguments, const char*> files[] = {
    {{"run"}, "--out"},
    {{"run"}, "--register-trace"},
    {{"replay"}, "--memory"},
    {{"replay"}, "--out"},
    {{"replay"}, "--commands"},
    {{"experiment"}, "--out"},
    {{"experiment"}, "--runs"},
    {{"riscv"}, "--trace-instructions"},
    {{"validate"}, "--data"},
    {{"validate"}, "--out"},
    {{"registers", "script"}, "--system"},
    {{"registers", "script"}, "--register-trace"},
    {{"registers", "shell"}, "--system"},
    {{"registers", "shell"}, "--register-trace"},
};

const Arguments first_files[] = {{"run"}, {"check"}, {"replay"}, {"experiment"}, {"riscv"}, {"registers", "script"}};

}  // namespace

TEST_CASE("numbers of options are whole and neither wrap nor saturate") {
  for (const Number& n : numbers)
    for (const std::string wrong : {"-1", "-5", "18446744073709551616", "99999999999999999999", "1e3", "1.5", "+1",
                                    " 1", "1 ", "0x", "0x-1", "one", "1,000"}) {
      Arguments arguments = n.command;
      arguments.insert(arguments.end(), {n.option, wrong});
      check_refused(arguments, std::string(n.option) + ": found " + wrong + ", expected a whole number from " +
                                   n.least + " to " + n.most + " (see " + path_of(n.command) + " --help)");
    }
}

TEST_CASE("numbers of options are decimal or hexadecimal") {
  const Folder folder;
  ElfWriter endless;
  endless.words = {assembler::self()};
  const std::string file = folder.write("program.elf", endless.text());
  for (const auto& [given, number] : {std::pair{"0x10", "16"}, {"010", "10"}, {"16", "16"}}) {
    const Outcome outcome = run_program({"riscv", file, "--max-instructions", given});
    CHECK(outcome.exit_code == 1);
    CHECK_THAT(outcome.err, Catch::Contains(std::string(" after ") + number + " instructions"));
  }
}

TEST_CASE("names of files and folders are not empty") {
  for (const auto& [command, option] : files) {
    Arguments arguments = command;
    arguments.insert(arguments.end(), {option, ""});
    CAPTURE(arguments);
    const Outcome outcome = run_program(arguments);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Catch::StartsWith(std::string("t3vp: ") + option + ": found nothing, expected F") &&
                                Catch::EndsWith(" (see " + path_of(command) + " --help)\n"));
  }
  for (const Arguments& command : first_files) {
    Arguments arguments = command;
    arguments.push_back("");
    CAPTURE(arguments);
    const Outcome outcome = run_program(arguments);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err,
               Catch::Contains(": found nothing, expected a name (see " + path_of(command) + " --help)\n"));
  }
}

TEST_CASE("an option without the value behind its equals sign does not take the next argument") {
  const ValidFiles files;
  for (const std::string option : {"--out=", "--register-trace=", "--set=", "--timeout="}) {
    const Outcome outcome = run_program({"run", files.run().string(), option, "--print-config"});
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.err == option + ": found nothing, expected a value behind it\n");
  }
}

TEST_CASE("mistakes name the help that lists what there is") {
  check_refused({"riscv"}, "FILE.elf is required (see t3vp riscv --help)");
  check_refused({"registers", "script"}, "FILE is required (see t3vp registers script --help)");
  check_refused({"riscv", "a.elf", "--timeout", "nan"},
                "--timeout: found nan, expected seconds from 0.001 to 1000000000 (see t3vp riscv --help)");
  const Outcome unknown = run_program({"registers", "script", "a.regs", "--system", "b.json", "--gpu", "2"});
  CHECK(unknown.exit_code == 2);
  CHECK(unknown.err ==
        "t3vp registers script: found --gpu, expected none but its own arguments (see t3vp registers script --help)\n");
}

TEST_CASE("a format of registers is not ignored beside a script") {
  const Folder folder;
  const std::string script = folder.write("a.regs", std::string()), system = config("systems/small-4.json");
  for (const std::string format : {"--markdown", "--header", "--svd", "--ipxact", "--json"}) {
    const Outcome outcome = run_program({"registers", format, "script", script, "--system", system});
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.err == "t3vp registers " + format + ": found script, expected no command beside a format to print\n");
  }
  CHECK(run_program({"registers", "script", script, "--system", system, "shell", "--system", system}).exit_code == 2);
  CHECK(run_program({"registers", "script", script, "--system", system}).exit_code == 0);
}

}  // namespace t3vp::test::options_test
