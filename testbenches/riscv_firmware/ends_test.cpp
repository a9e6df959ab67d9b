// How firmware on a core ends that no host's guard watches over, and executables that are not for it.
#include <catch2/catch.hpp>
#include <fstream>

#include "riscv_firmware/image.h"

namespace t3vp::test::ends_test {
using nlohmann::json;

namespace {

CoreRun guest(const std::string& program, json more = json::object()) {
  more["program"] = FIRMWARE_DIR "/core_guests.elf:" + program;
  if (!more.contains("gpus")) more["gpus"] = 1;
  return CoreRun(more);
}

/// The run fails with this line in its diagnosis, and no further one but of the error log.
void require_diagnosis(const CoreRun& run, const std::string& line) {
  const Outcome outcome = run.run();
  INFO(outcome.err << outcome.out);
  CHECK(outcome.exit_code == 1);
  const auto report = run.report();
  const auto& diagnosis = report.at("diagnosis");
  REQUIRE(!diagnosis.empty());
  for (std::size_t i = 1; i < diagnosis.size(); ++i)
    CHECK_THAT(diagnosis[i].get<std::string>(), Catch::StartsWith("GPU 0 error log"));
  CHECK_THAT(diagnosis[0].get<std::string>(), Catch::Matches(line));
}

/// Returns the pattern of an exception without a handler: "load access fault \\(cause 5\\)", its function, the text
/// about the address, and the calling function.
std::string trap(const std::string& cause, const std::string& function, const std::string& address,
                 const std::string& caller = ".*") {
  return "GPU 0 firmware has a trap that nobody handles: " + cause + " at pc 0xfffffe00800[0-9a-f]* \\(" + function +
         "\\+0x[0-9a-f]*\\), address " + address + "; ra " + caller + ", sp 0xfffffe00800[0-9a-f]*";
}

/// Returns the pattern of an exception without an address; `more` is the text after the place.
std::string trap_without_address(const std::string& cause, const std::string& function, const std::string& more = "") {
  return "GPU 0 firmware has a trap that nobody handles: " + cause + " at pc 0xfffffe00800[0-9a-f]* \\(" + function +
         "\\+0x[0-9a-f]*\\)" + more + "; ra .*, sp 0xfffffe00800[0-9a-f]*";
}

/// An executable with other bytes at a place of its header.
std::string changed(const Folder& folder, std::size_t at, const std::string& bytes) {
  std::string content = text_of(FIRMWARE_DIR "/core_guests.elf");
  content.replace(at, bytes.size(), bytes);
  return folder.write("changed.elf", content).string();
}

void require_refused(const std::string& program, const std::string& line, const std::vector<std::string>& more = {}) {
  const CoreRun run({{"gpus", 1}, {"program", program}});
  const Outcome outcome = run.run(more);
  INFO(outcome.out);
  CHECK(outcome.exit_code == 2);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK_THAT(outcome.err, Catch::Contains(line));
}

}  // namespace

TEST_CASE("firmware that overflows its stack ends by an access fault and one line that says so") {
  if (!has_image()) return;
  require_diagnosis(
      guest("overflows"),
      "GPU 0 firmware has a trap that nobody handles: store access fault \\(cause 7\\) at pc 0xfffffe00800[0-9a-f]* "
      "\\([a-z]*\\+0x[0-9a-f]*\\), address 0xfffffe007fff[0-9a-f]*: its stack has overflowed; ra .*, sp "
      "0xfffffe007fff[0-9a-f]*");
}

TEST_CASE("a core that uses a null pointer gets an access fault and one line that says so") {
  if (!has_image()) return;
  const std::string null = ": where a null pointer leads, the first page of the node is refused to cores";
  const auto [program, cause, address] = GENERATE(
      table<const char*, const char*, const char*>({{"reads_null", "load access fault \\(cause 5\\)", "0x18"},
                                                    {"writes_null", "store access fault \\(cause 7\\)", "0xff8"},
                                                    {"adds_null", "store access fault \\(cause 7\\)", "0x8"}}));
  require_diagnosis(guest(program), trap(cause, program, address + null, ".* \\(.*\\)"));
}

TEST_CASE("a place in code is named by its function and not by a mark in it") {
  if (!has_image()) return;
  require_diagnosis(guest("marked"), ".*illegal instruction.* at pc 0x[0-9a-f]* \\(marked\\+0x[0-9a-f]*\\).*");
}

TEST_CASE("a call of null on a core is a fetch that is refused and tells who has called") {
  if (!has_image()) return;
  require_diagnosis(
      guest("calls_null"),
      "GPU 0 firmware has a trap that nobody handles: fetch access fault \\(cause 1\\) at pc 0x0, address "
      "0x0: where a null pointer leads, the first page of the node is refused to cores; ra 0x.* "
      "\\(calls_null\\+0x[0-9a-f]*\\), sp 0xfffffe00800[0-9a-f]*");
}

TEST_CASE("a core reaches the first page by the HAL and what lies behind it by pointers") {
  if (!has_image()) return;
  const Outcome outcome = guest("uses_first_page").run();
  INFO(outcome.err << outcome.out);
  CHECK(outcome.exit_code == 0);
}

TEST_CASE("a core reaches the first piece of the heap by a pointer") {
  if (!has_image()) return;
  const Outcome outcome = guest("uses_heap").run();
  INFO(outcome.err << outcome.out);
  CHECK(outcome.exit_code == 0);
}

TEST_CASE("a core writes neither its code nor its constants") {
  if (!has_image()) return;
  const std::string fault = "store access fault \\(cause 7\\)",
                    fixed = "0xfffffe008004[0-9a-f]*: code or constants, which cannot be written";
  require_diagnosis(guest("writes_constants"), trap(fault, "writes_constants", fixed));
  require_diagnosis(guest("writes_code"), trap(fault, "writes_code", fixed));
  require_diagnosis(guest("smashes"),
                    trap(fault, "smashes", "0xfffffe0080040000: code or constants, which cannot be written"));
}

TEST_CASE("a trap of the compiler's says where such traps come from") {
  if (!has_image()) return;
  require_diagnosis(guest("traps"), trap_without_address("breakpoint \\(cause 3\\)", "traps",
                                                         ": a compiler puts one where a program cannot go on, such as "
                                                         "at a null pointer that it has seen"));
}

TEST_CASE("an exception that firmware does not handle is one line with its cause and place") {
  if (!has_image()) return;
  require_diagnosis(
      guest("reads_nothing"),
      "GPU 0 firmware has a trap that nobody handles: load access fault \\(cause 5\\) at pc 0xfffffe00800[0-9a-f]* "
      "\\(reads_nothing\\+0x[0-9a-f]*\\), address 0x80000000000; ra .*");
}

TEST_CASE("a jump to nowhere and an illegal instruction are such exceptions") {
  if (!has_image()) return;
  require_diagnosis(guest("jumps", {{"gpus", 2}}),
                    "GPU 0 firmware has a trap that nobody handles: fetch access fault \\(cause 1\\) at pc "
                    "0x80000000000, address 0x80000000000; ra 0x.* \\(jumps\\+0x[0-9a-f]*\\), sp .*");
  require_diagnosis(guest("illegal"),
                    "GPU 0 firmware has a trap that nobody handles: illegal instruction "
                    "\\(cause 2\\) at pc .*, instruction 0xffffffff; ra .*");
  require_diagnosis(guest("calls_nobody"), trap_without_address("environment call \\(cause 11\\)", "calls_nobody"));
}

TEST_CASE("an interrupt that nobody handles is told by its name") {
  if (!has_image()) return;
  require_diagnosis(guest("timer_interrupts"), trap_without_address("timer interrupt", "[a-z_]*"));
  require_diagnosis(guest("software_interrupts"), trap_without_address("software interrupt", "[a-z_]*"));
}

TEST_CASE("a null pointer is none of the stack's overflows wherever the stack is") {
  if (!has_image()) return;
  require_diagnosis(guest("loses_its_stack"),
                    "GPU 0 firmware has a trap that nobody handles: load access fault \\(cause 5\\) at pc .*, address "
                    "0x4: where a null pointer leads, the first page of the node is refused to cores; ra .*, sp 0x10");
}

TEST_CASE("an access behind a core's memory is told so") {
  if (!has_image()) return;
  require_diagnosis(guest("reads_behind_memory"),
                    trap("load access fault \\(cause 5\\)", "reads_behind_memory",
                         "0xfffffe00c0000010: behind the core's memory, which ends at 0xfffffe00bfffffff"));
}

TEST_CASE("firmware that goes on printing does not spin") {
  if (!has_image()) return;
  const Outcome outcome = guest("prints_slowly", {{"limits", {{"firmware_s", 0.4}, {"wall_s", 60}}}}).run();
  INFO(outcome.err << outcome.out);
  CHECK(outcome.exit_code == 0);
}

TEST_CASE("firmware that spins for ever ends by limits of host time or of simulated time") {
  if (!has_image()) return;
  const auto [program, gpus] = GENERATE(table<const char*, int>({{"spins", 1}, {"spins_in_an_exchange", 2}}));
  const Outcome outcome = guest(program, {{"gpus", gpus}, {"limits", {{"firmware_s", 0.3}, {"wall_s", 30}}}}).run();
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.err,
             Catch::Contains("limits.firmware_s: the firmware of GPU 0 at pc 0xfffffe00800") &&
                 Catch::Contains(" (spins") &&
                 Catch::Contains(
                     "has computed for 0.3 s of the host's time without an access to the node, a call of its host or a "
                     "character printed"));
  const Outcome limited = guest(program, {{"gpus", gpus}, {"limits", {{"simulated_ms", 0.1}}}}).run();
  CHECK(limited.exit_code == 1);
  CHECK_THAT(limited.err, Catch::Contains("limits.simulated_ms: the run is not over after 0.1 ms"));
}

TEST_CASE("firmware that sleeps for nothing is told so") {
  if (!has_image()) return;
  const Outcome outcome = guest("sleeps").run();
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.out,
             Catch::Contains("GPU 0 firmware sleeps (wfi at 0xfffffe00800") && Catch::Contains(" (sleeps+0x"));
}

TEST_CASE("what firmware prints has no control characters when a terminal shows it") {
  if (!has_image()) return;
  const Outcome outcome = guest("prints_control").run();
  CHECK_THAT(outcome.err, Catch::Contains("red  [31m  bell \n"));
  for (const std::string& shown : {outcome.err, outcome.out}) {
    CHECK(shown.find('\033') == std::string::npos);
    CHECK(shown.find('\r') == std::string::npos);
  }
}

TEST_CASE("firmware prints to the log by lines and has a heap") {
  if (!has_image()) return;
  const Outcome outcome = guest("prints", {{"gpus", 2}}).run();
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.err, Catch::Contains("ns: from the heap of GPU 0, 1.500\n") &&
                              Catch::Contains("ns: from the heap of GPU 1, 1.500\n") &&
                              Catch::Contains("ns: unended\n"));
  CHECK(guest("allocates").run().exit_code == 0);
}

double instructions_of(const nlohmann::json& report) {
  for (const auto& statistic : report.at("statistics"))
    if (statistic.at("name") == "gpu0.processor.instructions") return statistic.at("value").get<double>();
  return 0;
}

TEST_CASE("a core's instructions are counted and each takes a nanosecond") {
  if (!has_image()) return;
  const auto instructions = [](int rounds) {
    const CoreRun run = guest("computes", {{"arguments", {{"rounds", rounds}}}});
    CHECK(run.run().exit_code == 0);
    return instructions_of(run.report());
  };
  const double once = instructions(1), twice = instructions(2);
  CHECK(twice - once >= 65536 * 6);  // add, remainder, twice, and the loop
  CHECK(twice - once <= 65536 * 20);
}

TEST_CASE("a core of twice the clock computes in half the time") {
  if (!has_image()) return;
  const auto ends_at = [](const std::string& clock_GHz) {
    const std::string log = guest("prints").run({"--set", "system.processor.core_clock_GHz=" + clock_GHz}).err;
    const std::size_t line = log.find(" ns: unended"), time = log.rfind(' ', line - 1);
    REQUIRE(line != std::string::npos);
    return std::stod(log.substr(time, line - time));
  };
  const double at_1_GHz = ends_at("1");
  CHECK(at_1_GHz > 1000);
  CHECK(ends_at("2") == at_1_GHz / 2);
  CHECK(ends_at("0.5") == at_1_GHz * 2);
}

TEST_CASE("what main returns is the program's status, and what exit is given is none") {
  if (!has_image()) return;
  require_diagnosis(guest("exits"), "GPU 0 firmware has called exit\\(3\\)");
  require_diagnosis(guest("fails"), "GPU 0 firmware ended with -1, which is no code of t3_status");
  require_diagnosis(guest("aborts"), "GPU 0 firmware has called abort\\(\\)");
  const CoreRun own({{"gpus", 1}, {"program", FIRMWARE_DIR "/own_main.elf"}});
  require_diagnosis(own, "GPU 0 firmware ended with busy: .*");
  CHECK_THAT(own.run().err, Catch::Contains("counted 42"));
}

TEST_CASE("a call of a core's program that failed and was not read fails the run with call, parameter and time") {
  if (!has_image()) return;
  const std::string refused = "at [0-9]+\\.[0-9]{3} ns: t3_free: address: where a piece of t3_malloc begins expected";
  require_diagnosis(guest("overlooks_an_error", {{"gpus", 2}}),
                    "GPU 0 firmware has not read an error: invalid_argument " + refused);
  require_diagnosis(guest("returns_an_error", {{"gpus", 2}}),
                    "GPU 0 firmware ended with invalid_argument: .*; " + refused);
  const Outcome allowed = guest("overlooks_an_error", {{"gpus", 2}, {"allow_errors", true}}).run();
  INFO(allowed.err << allowed.out);
  CHECK(allowed.exit_code == 0);
}

TEST_CASE("a call of a core's program that failed and was read fails no run") {
  if (!has_image()) return;
  const Outcome outcome = guest("reads_an_error", {{"gpus", 2}}).run();
  INFO(outcome.err << outcome.out);
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.err, Catch::Contains("address of t3_free"));
}

TEST_CASE("waits of a core end by its clock and one for nothing is stuck") {
  if (!has_image()) return;
  const CoreRun run = guest("waits", {{"gpus", 2}});
  const Outcome outcome = run.run();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.out, Catch::Contains("GPU 0 firmware waits for what nobody does") &&
                              Catch::Contains("GPU 1 firmware waits for 18446744073709551615 ns to pass"));
  const Outcome alone = guest("waits").run();
  CHECK_THAT(alone.out, Catch::Contains("GPU 0 firmware waits for what nobody does"));
  CHECK_THAT(alone.err, Catch::Contains("is told that it is stuck"));
}

TEST_CASE("cores exchange as native programs do and a mismatch fails the run") {
  if (!has_image()) return;
  const Outcome outcome = guest("disagrees", {{"gpus", 2}}).run();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.out, Catch::Contains("GPU 0 firmware ended with mismatch") &&
                              Catch::Contains("GPU 1 firmware ended with mismatch"));
}

TEST_CASE("an executable that is not for the core is refused in one line") {
  if (!has_image()) return;
  const Folder folder;
  require_refused(changed(folder, 4, "\x01"), "changed.elf: found an ELF file not of 64 bits");
  require_refused(changed(folder, 18, "\xb7"), "found an ELF file for machine 183", {"--set", "firmware=riscv"});
  require_refused(changed(folder, 16, std::string("\x03\0", 2)), "found an ELF file of type 3");
  require_refused(changed(folder, 24, std::string(8, '\0')) + ":spins",
                  "changed.elf: found entry point 0x0, expected it in the core's memory, 0xfffffe0080000000 to "
                  "0xfffffe00bfffffff");
  require_refused(changed(folder, 56, std::string(2, '\0')),
                  "changed.elf: found an ELF file without a segment to load");
  require_refused(FIRMWARE_DIR "/far_away.elf", "far_away.elf: found a segment from 0xfffffe00d0000000");
  require_refused(SOFTWARE_DIR "/guests.so:alone", "found an ELF file for machine 62", {"--set", "firmware=riscv"});
  require_refused(FIRMWARE_DIR "/core_guests.elf:spins", "expected a native library, or \"firmware\": \"riscv\"",
                  {"--set", "firmware=native"});
}

TEST_CASE("a file that is no program is named for what it is") {
  const Folder folder;
  const std::string whole = text_of(T3VP_BINARY_DIR "/t3vp");
  const auto written = [&](const std::string& content) { return folder.write("some.elf", content).string(); };
  const auto of_type = [&](char type) { return written(std::string(whole).replace(16, 1, 1, type)); };
  require_refused(written("#include <stdio.h>\n"), "no ELF file");
  require_refused(written("#include <stdio.h>\n"), "t3_exports (t3/exports.h), or an executable for RISC-V");
  require_refused(written("!<arch>\nmine.o/"), "a static library (archive)");
  require_refused(of_type(1), "an object file");
  require_refused(of_type(2), "an executable that is not for RISC-V");
  require_refused(written(whole), "an executable that is not for RISC-V");
  require_refused((folder / "").string(), "a folder");
}

TEST_CASE("a program that an image without symbols does not have is told") {
  if (!has_image()) return;
  const Folder folder;
  constexpr std::size_t number_of_sections = 60;
  const std::string image = changed(folder, number_of_sections, std::string(2, '\0'));
  const CoreRun run({{"gpus", 1}, {"program", image + ":nobody"}});
  const Outcome outcome = run.run();
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.out, Catch::Contains("GPU 0 firmware is an image without the program that is asked for"));
}

TEST_CASE("a run on cores without the platform's image says how to get it") {
  const Folder folder;
  std::filesystem::copy(T3VP_BINARY_DIR "/t3vp", folder / "t3vp");
  const std::string command = (folder / "t3vp").string() + " run " + config("runs/gemm-rs-4gpu.json").string() +
                              " --set firmware=riscv --out " + (folder / "out").string() + " >/dev/null 2>" +
                              (folder / "err").string();
  CHECK(WEXITSTATUS(std::system(command.c_str())) == 2);
  const std::string err = text_of(folder / "err");
  CHECK(std::count(err.begin(), err.end(), '\n') == 1);
  CHECK_THAT(err, Catch::Contains("/firmware: found \"riscv\" (--set)") && Catch::Contains("t3vp-firmware.elf") &&
                      Catch::Contains("picolibc-riscv64-unknown-elf"));
}

}  // namespace t3vp::test::ends_test
