// Variables, loops and included files of register scripts, the kernels that they launch, and waits for refused
// commands.
#include <catch2/catch.hpp>

#include "command_line/program.h"
#include "register_access/script/script_source.h"

namespace t3vp::test::language_test {

namespace {

const std::string small = T3VP_SOURCE_DIR "/configs/systems/small-4.json";

std::vector<std::string> expanded(const std::string& text) {
  ScriptSource source;
  std::vector<std::string> lines;
  std::size_t begin = 0, number = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    for (const ScriptLine& line : source.take("a", ++number, text.substr(begin, end - begin)))
      lines.push_back(line.text);
    begin = end + 1;
  }
  source.require_complete();
  return lines;
}

std::string error_of(const std::string& text) {
  try {
    expanded(text);
  } catch (const ScriptLineError& error) {
    return error.file + ":" + std::to_string(error.line) + ":" + std::to_string(error.column) + ": " + error.found +
           " | " + error.expected;
  }
  return "none";
}

Outcome run_script(const Folder& folder, const std::string& text, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"registers", "script", folder.write("a.regs", text).string(), "--system", small});
  return run_program(more);
}

}  // namespace

TEST_CASE("variables and expressions become numbers") {
  CHECK(expanded("let a = 0x10 + 2 * 3\nlet b = $a - (a - 1) / 7 % 4\nx = $a + $(b * 2)") ==
        std::vector<std::string>{"x = 22 + 38"});
  CHECK(expanded("let f = kernel(gemm)\n$f # $nothing").size() == 1);
  CHECK(error_of("let f = kernel(a b)") ==
        "a:1:16: a |" + std::string(" a kernel's name and ): a name of 1 to 64 letters, "
                                    "digits, \".\", \"-\" and \"_\""));
  CHECK(error_of("x = $b") == "a:1:6: b | a variable that `let` has set: there is none");
  CHECK(error_of("let a = 1\n\n x = $(a + c)") == "a:3:12: c | a variable: one of a");
  CHECK(error_of("let 5 = 1") == "a:1:5: 5 | a variable's name: letters, digits and underscores");
  CHECK(error_of("let a = ") == "a:1:9: nothing | a number, a variable or (");
  CHECK(error_of("let a = 1 - 2") == "a:1:11: - | a result from 0 to 0xffffffffffffffff");
  CHECK(error_of("let a = 1 / 0") == "a:1:11: / | a divisor other than 0");
  CHECK(error_of("let a = (1 + 2") == "a:1:15: nothing | )");
  CHECK(error_of("let a = 1 2") == "a:1:11: 2 | +, -, *, /, % or the end of the expression");
  CHECK(error_of("let a = " + std::string(100, '(')) == "a:1:73: ( | at most 64 parentheses in each other");
}

TEST_CASE("loops repeat their lines and may be in each other") {
  CHECK(expanded("for i = 1 to 2\n for j = i to 2\n x[$i] = $j\n end\nend\ny") ==
        std::vector<std::string>{" x[1] = 1", " x[1] = 2", " x[2] = 2", "y"});
  CHECK(expanded("for i = 3 to 2\nx\nend").empty());
  CHECK(expanded("for i = 0xffffffffffffffff to 0xffffffffffffffff\nx\nend").size() == 1);
  CHECK(error_of("x\nfor i = 0 to 3\nx") == "a:2:1: a loop without an end | a line `end` behind it");
  CHECK(error_of("end") == "a:1:1: end | a loop that it ends: `for` before it");
  CHECK(error_of("for i = 0\nend") == "a:1:10: nothing | to and the last value: for i = 0 to 3");
  CHECK(error_of("for i = 0 to 1\nx $q\nend") == "a:2:4: q | a variable: one of i");
  CHECK(error_of("for i = 0 to 1\nend i") == "a:2:5: i | the end of the line");
}

TEST_CASE("a loop that is too long ends with one error") {
  const std::string error = " more than 100000 lines of a loop or an included file | fewer repetitions";
  CHECK(error_of("for i = 0 to 0xffffffffffffffff\nend") == "a:1:1:" + error);
  CHECK(error_of("for i = 0 to 999\nfor j = 0 to 999\nx\nend\nend") == "a:3:1:" + error);
}

TEST_CASE("included files are found from the file that names them and errors name them") {
  const Folder folder;
  folder.write("more.regs", std::string("let rows = 7\ngpu0.dma.rows = $rows\n"));
  CHECK(run_script(folder, "include more.regs\nexpect gpu0.dma.rows == $rows\n").exit_code == 0);
  folder.write("more.regs", std::string("\ngpu0.dma.rows = $(1 + 1) x\n"));
  const Outcome wrong = run_script(folder, "include more.regs\n");
  CHECK(wrong.exit_code == 2);
  CHECK_THAT(wrong.err, Catch::EndsWith("more.regs:2:26: found x, expected the end of the line\n"));
  const Outcome none = run_script(folder, "\ninclude none.regs\n");
  CHECK(none.exit_code == 2);
  CHECK_THAT(none.err, Catch::Contains("a.regs:2:9: found none.regs, expected a register script that can be read ("));
  const Outcome itself = run_script(folder, "include a.regs\n");
  CHECK(itself.exit_code == 2);
  CHECK_THAT(itself.err,
             Catch::Contains("a.regs:1:9: found a.regs, which is being read, expected a file that does not"));
}

TEST_CASE("a failure in a loop is reported where it stands") {
  const Folder folder;
  const Outcome outcome =
      run_script(folder, "for i = 0 to 3\n  gpu0.dma.rows = $i\n  expect gpu0.dma.rows != 2\nend\n");
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.err, Catch::EndsWith("a.regs:3:10: gpu0.dma.rows: found 0x2, expected != 0x2\n"));
}

TEST_CASE("a wait ends at once when the command before it was refused") {
  const Folder folder;
  const std::string command = "gpu0.dma.command = {action = add}\n",
                    wait = "wait gpu0.dma.interrupt.filled == 1 timeout 900 ms\n";
  const Outcome refused = run_script(folder, command + wait);
  CHECK(refused.exit_code == 1);
  CHECK_THAT(refused.err,
             Catch::Contains(
                 "a.regs:2:6: gpu0.dma.interrupt.filled: found 0, expected == 1; the wait ends, since a "
                 "command was refused: GPU 0 error log: dma: invalid_argument at gpu0.memory+0x0: operation none"));
  // A script that looks at the refusal knows it.
  const Outcome known = run_script(folder, command + "delay 1 us\nexpect gpu0.error_log.count == 1\n" +
                                               "wait gpu0.dma.interrupt.filled == 1 timeout 2 us\n");
  CHECK(known.exit_code == 1);
  CHECK_THAT(known.err, Catch::EndsWith("found 0, expected == 1 within 2000.000 ns\n"));
}

TEST_CASE("a script launches a kernel of a library") {
  const Folder folder;
  const std::string library = T3VP_BINARY_DIR "/testbenches/software/guests.so";
  const std::string script =
      "let ring = 0x10000\nlet a = 0x20000\nlet out = 0x30000\n"
      "fill gpu0.memory[$a, 256] = 0x3f800000\n"  // ones
      "fill gpu0.memory[$ring, 4] = $(kernel(doubling))\nfill gpu0.memory[$(ring + 8), 8] u64 = $(ring + 32)\n"
      "fill gpu0.memory[$(ring + 16), 4] = 28\nfill gpu0.memory[$(ring + 20), 4] = 0xffffffff\n"
      "fill gpu0.memory[$(ring + 32), 8] u64 = $out\nfill gpu0.memory[$(ring + 40), 8] u64 = $a\n"
      "fill gpu0.memory[$(ring + 48), 4] = 2\nfill gpu0.memory[$(ring + 52), 4] = 32\n"
      "fill gpu0.memory[$(ring + 56), 4] = 128\n"
      "gpu0.kernel_queue.base[0] = $ring\ngpu0.kernel_queue.entries[0] = 2\ngpu0.kernel_queue.doorbell[0] = 1\n"
      "wait gpu0.kernel_queue.completed[0] == 1\nexpect gpu0.kernel_queue.completion[1].code == ok\n"
      "gpu0.cache.command.action = flush\nwait gpu0.cache.interrupt.flushed == 1\n"
      "expect gpu0.memory[$out, 256] == 0x40000000\n";
  const Outcome outcome = run_script(folder, script, {"--kernels", library});
  CHECK(outcome.err.empty());
  CHECK(outcome.exit_code == 0);
  const Outcome without = run_script(folder, script);
  CHECK(without.exit_code == 1);
  CHECK_THAT(without.err, Catch::Contains("found bad_packet, expected == ok"));
  CHECK_THAT(without.out, Catch::Contains("GPU 0 error log: kernel_queue: bad_packet"));
  const Outcome none = run_script(folder, "gpu0.dma.rows\n", {"--kernels", "/nowhere/k.so"});
  CHECK(none.exit_code == 2);
  CHECK_THAT(none.err, Catch::Contains("--kernels"));
  CHECK(run_script(folder, "gpu0.dma.rows\n", {"--kernels", library, "--kernels", library}).exit_code == 2);
}

}  // namespace t3vp::test::language_test
