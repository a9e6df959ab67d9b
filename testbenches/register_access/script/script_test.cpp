// t3vp registers script: what scripts do to a node, and how they end.
#include <catch2/catch.hpp>

#include "command_line/program.h"

namespace t3vp::test::script_test {

namespace {

const std::string small = T3VP_SOURCE_DIR "/configs/systems/small-4.json";

struct Script {
  Folder folder;
  std::string name;

  Outcome run(const std::string& text, std::vector<std::string> more = {}) {
    name = folder.write("a.regs", text).string();
    more.insert(more.begin(), {"registers", "script", name, "--system", small, "--gpus", "2"});
    return run_program(more);
  }
  void check_failure(const std::string& text, const std::string& failure) {
    const Outcome outcome = run(text);
    CHECK(outcome.exit_code == 1);
    CHECK(outcome.err == name + ":" + failure + "\n");
  }
};

}  // namespace

TEST_CASE("a script reads and writes registers and shows what it finds") {
  Script script;
  const Outcome outcome = script.run(
      "gpu1.dma.rows = 64\n\n# comment\ngpu1.dma.rows\n"
      "gpu0.dma.layout = {wavefronts = 4, element = fp32}\ngpu0.dma.layout.element = bf16\nread gpu0.dma.layout\n"
      "gpu0.dma.layout.wavefronts\ngpu0.signals.value[3] = 0x123456789abcdef0\ngpu0.signals.value[3]\n");
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  CHECK(outcome.out ==
        "gpu1.dma.rows = 64\ngpu0.dma.layout = 0x104 (wavefronts = 4, element = bf16)\ngpu0.dma.layout.wavefronts = "
        "4\ngpu0.signals.value[3] = 0x123456789abcdef0\n" +
            script.name + ": 8 statements passed, 450.000 ns\n");
}

TEST_CASE("a block's name shows all its registers, and no others") {
  Script script;
  const Outcome outcome =
      script.run("gpu0.dma.rows = 64\ngpu0.signals.value[3] = 7\ngpu0.dma\nread gpu0.signals  # comment\n");
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out,
             Catch::Contains("gpu0.dma.rows = 64\ngpu0.dma.columns = 0\n") &&
                 Catch::Contains("gpu0.dma.command: write-only\n") &&
                 Catch::Contains("gpu0.dma.layout = 0x0 (wavefronts = 0, element = fp16)\n") &&
                 Catch::Contains("gpu0.signals.value[3] = 7\ngpu0.signals.value[0..511]: all others are 0"));
  CHECK_THAT(outcome.out, !Catch::Contains("gpu0.cache") && !Catch::Contains("value[4]"));
  script.check_failure("gpu0.dma\nexpect gpu0.dma.rows == 1", "2:8: gpu0.dma.rows: found 0x0, expected == 0x1");
  for (const char* wrong : {"expect gpu0.dma == 3", "refused gpu0.dma", "gpu2.dma", "gpu0.dam"})
    CHECK(script.run(wrong).exit_code == 2);
}

TEST_CASE("what a block reports later is shown behind the statement") {
  Script script;
  const Outcome outcome = script.run("gpu0.dma.command = {action = add}\ndelay 1 us\n");
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out,
             Catch::StartsWith("GPU 0 error log: dma: invalid_argument at gpu0.memory+0x0: operation none"));
  CHECK_THAT(script.run("refused gpu0.dma.used = 5\n").out, !Catch::Contains("error log"));
}

TEST_CASE("a field that is written leaves the others alone and clears no bit") {
  Script script;
  const Outcome outcome = script.run(
      "gpu0.signals.value[0] = 1\n"  // the counter that is watched: sets interrupt.changed
      "expect gpu0.signals.interrupt.changed == 1\n"
      "gpu0.signals.watch.index = 5\n"
      "gpu0.signals.value[5] = 1\n"
      "gpu0.signals.interrupt.changed = 1\nexpect gpu0.signals.interrupt.changed == 0\n");
  CHECK(outcome.exit_code == 0);
}

TEST_CASE("the first expectation that is not met ends the script") {
  Script script;
  script.check_failure("gpu0.dma.rows = 5\nexpect gpu0.dma.rows == 6\ngpu0.dma.rows\n",
                       "2:8: gpu0.dma.rows: found 0x5, expected == 0x6");
  script.check_failure("gpu0.dma.rows = 0x55\nexpect gpu0.dma.rows < 0x50 mask 0xf0\n",
                       "2:8: gpu0.dma.rows: found 0x50, expected < 0x50");
  CHECK(script.run("gpu0.dma.rows = 0x55\nexpect gpu0.dma.rows == 0x50 mask 0xf0\n").exit_code == 0);
  script.check_failure("gpu0.dma.layout = 0x104\n expect gpu0.dma.layout.element == fp16",
                       "2:9: gpu0.dma.layout.element: found bf16, expected == fp16");
  script.check_failure("wait gpu1.dma.interrupt.filled == 1 timeout 2 us",
                       "1:6: gpu1.dma.interrupt.filled: found 0, expected == 1 within 2000.000 ns");
  for (const char* right : {"== 7", "!= 6", "< 8", "<= 7", "> 6", ">= 7"})
    CHECK(script.run(std::string("gpu0.dma.rows = 7\nexpect gpu0.dma.rows ") + right).exit_code == 0);
  for (const char* wrong : {"== 6", "!= 7", "< 7", "<= 6", "> 7", ">= 8"})
    CHECK(script.run(std::string("gpu0.dma.rows = 7\nexpect gpu0.dma.rows ") + wrong).exit_code == 1);
}

TEST_CASE("a refused access ends the script with its reason unless it is expected") {
  Script script;
  script.check_failure("gpu0.dma.used = 5",
                       "1:1: gpu0.dma.used: refused, access_denied: dma.used: 0x5 written, expected reads only");
  script.check_failure("expect gpu1.dma.command == 0",
                       "1:8: gpu1.dma.command: refused, access_denied: dma.command: read, expected writes only");
  script.check_failure("refused gpu0.dma.rows = 5",
                       "1:9: gpu0.dma.rows: found an access that is served, expected a refusal");
  const Outcome outcome = script.run("refused gpu0.dma.used = 5\nrefused gpu0.dma.command\ngpu0.error_log.count\n");
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Catch::StartsWith("gpu0.error_log.count = 2\n"));
}

TEST_CASE("memory is filled, compared and shown byte by byte") {
  Script script;
  const Outcome outcome = script.run(
      "fill gpu0.memory[0x1002, 6] u16 = 0x201 step 0x202\nread gpu0.memory[0x1001, 9] u8\n"
      "fill gpu1.memory[0x2000, 70000] = 1 step 1\nexpect gpu1.memory[0x2000, 70000] == 1 step 1\n"
      "expect gpu1.memory[0x2008, 8] u64 == 0x400000003\nfill gpu0.memory[0x3000, 70000] = 1 step 1\n"
      "expect gpu0.memory[0x3000, 70000] == gpu1.memory[0x2000, 70000]\n");
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Catch::StartsWith("gpu0.memory[0x1001] = 0x0 0x1 0x2 0x3 0x4 0x5 0x6 0x0 0x0\n"));
  CHECK_THAT(outcome.out, Catch::EndsWith(": 7 statements passed, 0.000 ns\n"));
  script.check_failure("fill gpu0.memory[0, 64] = 3 step 1\nexpect gpu0.memory[0, 64] u64 == 0x400000003",
                       "2:8: gpu0.memory[0x8]: found 0x600000005, expected 0x400000003");
  script.check_failure("fill gpu0.memory[1, 1] u8 = 3\nexpect gpu0.memory[0, 8] == gpu1.memory[0, 8]",
                       "2:8: gpu0.memory[0x1]: found 0x3, expected 0x0");
}

TEST_CASE("a script with a mistake does nothing and tells file, line and column") {
  Script script;
  const Outcome outcome = script.run("gpu0.dma.rows\n\n  gpu0.dma.rows = wide\n", {"--register-trace", "/nowhere/x"});
  CHECK(outcome.exit_code == 2);
  const Outcome wrong = script.run("gpu0.dma.rows\n\n  gpu0.dma.rows = wide\n");
  CHECK(wrong.exit_code == 2);
  CHECK(wrong.out.empty());
  CHECK(wrong.err == script.name + ":3:19: found wide, expected a number up to 0xffffffff\n");
  const std::string nul("gpu0.dma.rows = 1\0 2\n", 21);
  CHECK(script.run(nul).exit_code == 2);
  CHECK(script.run("gpu0.dma.rows = " + std::string(100000, '1')).exit_code == 2);
  CHECK(script.run(std::string(100000, '[')).exit_code == 2);
  CHECK(script.run("\xff\xfe").exit_code == 2);
}

TEST_CASE("a script may begin with the mark of UTF-8") {
  Script script;
  CHECK(script.run("\xEF\xBB\xBFgpu0.dma.rows = 1\nexpect gpu0.dma.rows == 1\n").exit_code == 0);
  script.check_failure("\xEF\xBB\xBFgpu0.dma.used = 5",
                       "1:1: gpu0.dma.used: refused, access_denied: dma.used: 0x5 written, expected reads only");
  CHECK(script.run("gpu0.dma.rows = 1\n\xEF\xBB\xBFgpu0.dma.rows\n").exit_code == 2);
}

TEST_CASE("wrong files and machines are bad input") {
  const Folder folder;
  const std::string script = folder.write("a.regs", std::string("gpu0.dma.rows\n")).string();
  const auto error_of = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"registers", "script"});
    const Outcome outcome = run_program(arguments);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    return outcome.err;
  };
  CHECK(error_of({folder / "none.regs", "--system", small}) ==
        (folder / "none.regs").string() + ": found no such file or directory, expected a register script\n");
  CHECK(error_of({script, "--system", folder / "none.json"}) ==
        (folder / "none.json").string() + ": found no such file or directory, expected a system file\n");
  CHECK_THAT(error_of({script, "--system", script}), Catch::Contains("a.regs:1:1: found invalid literal"));
  CHECK_THAT(error_of({script, "--system", T3VP_SOURCE_DIR "/configs/systems/torus-128.json", "--gpus", "3"}),
             Catch::Contains("/links/topology/dimensions: found [8,16], expected dimensions whose product is 3"));
  CHECK_THAT(error_of({script, "--system", small, "--gpus", "0"}), Catch::Contains("--gpus"));
  CHECK_THAT(error_of({script}), Catch::Contains("--system is required"));
  CHECK_THAT(error_of({script, "--system", small, "--register-trace", script}), Catch::Contains("a.regs"));
}

TEST_CASE("the traced script has its accesses, the failed one too") {
  Script script;
  const Outcome outcome =
      script.run("gpu1.dma.rows = 64\nexpect gpu1.dma.rows == 1", {"--register-trace", script.folder / "trace.txt"});
  CHECK(outcome.exit_code == 1);
  CHECK(text_of(script.folder / "trace.txt") ==
        "50.000 ns gpu1.processor writes 0x40: gpu1.dma.rows = 0 -> 64\n"
        "100.000 ns gpu1.processor reads 0x40: gpu1.dma.rows = 64\n");
}

TEST_CASE("the scripts of configs do what they say") {
  const auto run = [](const std::string& script, const std::string& system, const std::string& gpus) {
    const Outcome outcome = run_program(
        {"registers", "script", config("scripts/" + script), "--system", config("systems/" + system), "--gpus", gpus});
    CAPTURE(outcome.err);
    CHECK(outcome.exit_code == 0);
    return outcome.out;
  };
  CHECK_THAT(run("zero-by-dma.regs", "small-4.json", "1"), Catch::Contains("(code = unaligned, busy = 0"));
  run("rdma-write.regs", "mi210-2nodes.json", "2");
}

}  // namespace t3vp::test::script_test
