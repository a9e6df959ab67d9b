// t3vp riscv: how programs end, and files and options that cannot be.
#include <algorithm>
#include <catch2/catch.hpp>

#include "command_line/elf_writer.h"
#include "command_line/program.h"
#include "debugger/connection.h"
#include "riscv/assembler.h"

namespace t3vp::test::riscv_test {

using namespace assembler;

namespace {

constexpr std::uint64_t tohost_page = 0x1000;  // behind the code

/// Writes a number to tohost and goes on for ever.
ElfWriter telling(Immediate number) {
  ElfWriter elf;
  elf.words = {auipc(t0, tohost_page >> 12), li(a0, number), sd(a0, t0, 0), self()};
  return elf;
}

Outcome run_elf(const Folder& folder, const std::string& content, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"riscv", folder.write("program.elf", content).string()});
  return run_program(more);
}

void check_bad(const Outcome& outcome, const std::string& error) {
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.out.empty());
  CHECK(outcome.err == error + "\n");
}

void check_failed(const Outcome& outcome, const std::string& error) {
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.out.empty());
  CHECK(outcome.err == "t3vp: " + error + "\n");
}

}  // namespace

TEST_CASE("riscv a program passes or fails by what it writes to tohost") {
  const Folder folder;
  const std::string name = (folder / "program.elf").string();
  const Outcome passed = run_elf(folder, telling(1).text());
  CHECK(passed.exit_code == 0);
  CHECK(passed.err.empty());
  CHECK(passed.out == name + ": passed after 3 instructions\n");
  const Outcome failed = run_elf(folder, telling(2 * 21 + 1).text());
  CHECK(failed.exit_code == 1);
  CHECK(failed.out == name + ": failed with 21 after 3 instructions\n");
  check_failed(run_elf(folder, telling(0x100).text()),
               name +
                   ": the program has written 0x100 to tohost, 1 or another odd value expected: calls of a host are "
                   "not served (pc 0x8000000c, 3 instructions retired)");
}

TEST_CASE("riscv writes of zero and beside tohost end nothing and narrow ones count") {
  const Folder folder;
  ElfWriter elf;
  elf.words = {auipc(t0, tohost_page >> 12),
               sd(zero, t0, 0),
               li(a0, 3),
               sd(a0, t0, 8),
               sd(a0, t0, -8),
               ld(a1, t0, 8),
               ld(a2, t0, -8),
               add(a1, a1, a2),
               addi(a1, a1, -5),
               sw(a1, t0, 0),
               self()};
  const Outcome outcome = run_elf(folder, elf.text());
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Catch::EndsWith("passed after 10 instructions\n"));
}

TEST_CASE("riscv programs that do not end are given up with a reason") {
  const Folder folder;
  const std::string name = (folder / "program.elf").string();
  ElfWriter elf;
  elf.words = {self()};
  check_failed(run_elf(folder, elf.text(), {"--max-instructions", "123456"}),
               name +
                   ": --max-instructions: the program has not ended after 123456 instructions (pc 0x80000000, 123456 "
                   "instructions retired)");
  const Outcome late = run_elf(folder, elf.text(), {"--timeout", "0.2"});
  CHECK(late.exit_code == 1);
  CHECK_THAT(late.err,
             Catch::StartsWith("t3vp: " + name + ": --timeout: the program has not ended after 0.2 s (pc 0x"));
  elf.words = {nop(), wfi()};
  check_failed(run_elf(folder, elf.text()), name +
                                                ": the program waits for an interrupt (wfi), of which this machine has "
                                                "none (pc 0x80000008, 2 instructions retired)");
  elf.words = {nop(), 0};
  check_failed(run_elf(folder, elf.text()), name +
                                                ": the trap handler, at 0x0 (mtvec, which has not been set), raises an "
                                                "exception itself: fetch access fault (cause 1) at pc 0x0; it was "
                                                "called for: illegal instruction (cause 2) at pc 0x80000004 (pc 0x0, 1 "
                                                "instructions retired)");
}

TEST_CASE("riscv code that is skipped by a trap for registers that there are not") {
  const Folder folder;
  ElfWriter elf;
  elf.words = {
      auipc(t0, 0), addi(t0, t0, 20), csrw(mtvec, t0),  csrrwi(zero, 0x180, 0),                           // satp
      self(),       auipc(t0, 0),     addi(t0, t0, 20), csrw(mtvec, t0),        csrrwi(zero, 0x3A0, 31),  // pmpcfg0
      self(),       auipc(t0, 1),     li(a0, 1),        sw(a0, t0, -40),        self()};
  elf.tohost = elf.address + tohost_page;
  const Outcome outcome = run_elf(folder, elf.text());
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
}

TEST_CASE("riscv memories are where the user puts them") {
  const Folder folder;
  ElfWriter elf = telling(1);
  elf.address = 0x1000;
  elf.tohost = 0x2000;
  CHECK(run_elf(folder, elf.text(), {"--memory", "0x80000000:1GiB", "--memory", "4096:8KiB"}).exit_code == 0);
  CHECK(run_elf(folder, elf.text(), {"--memory", "0x1000:0x2000"}).exit_code == 0);
  // A read just behind memory is an exception, and no handler is there.
  elf.words = {auipc(t0, 2), lw(a0, t0, -4), lw(a0, t0, 0)};
  CHECK_THAT(run_elf(folder, elf.text(), {"--memory", "0x1000:8KiB"}).err,
             Catch::Contains("called for: load access fault (cause 5) at pc 0x1008 (pc 0x0, 2 instr"));
}

TEST_CASE("riscv memories that cannot be are refused") {
  const Folder folder;
  const std::string name = (folder / "program.elf").string(), program = telling(1).text();
  for (const std::string memory :
       {"", "0x1000", ":4096", "0x1000:", "0x1000:0", "x:4096", "0x1000:4096MB", "-1:4096", "0x1000:1 MiB",
        "0xFFFFFFFFFFFFF000:8KiB", "0x0:0x40000000000000GiB", "0x10000000000000000:1"})
    check_bad(run_elf(folder, program, {"--memory", memory}),
              "--memory: found " + (memory.empty() ? "nothing" : memory) +
                  ", expected BASE:SIZE within 64-bit addresses, such as 0x80000000:64MiB or 0x1000:4096");
  check_bad(run_elf(folder, program, {"--memory", "0x80000000:64MiB", "--memory", "0x83FFFFFF:1"}),
            "--memory 0x83FFFFFF:1: found an overlap with 0x80000000:64MiB, expected memories that do not overlap");
  check_bad(
      run_elf(folder, program, {"--memory", "0x80000000:0x1FFF"}),
      name +
          ": found a segment at 0x80000000 to 0x80001fff, expected it within one memory (0x80000000 to 0x80001ffe; "
          "see --memory)");
  const Outcome huge = run_elf(folder, program, {"--memory", "0:0xF000000000000000"});
  CHECK(huge.exit_code == 2);
  CHECK_THAT(huge.err, Catch::StartsWith("--memory 0:0xF000000000000000: found a need of "));
}

TEST_CASE("riscv programs that cannot be are refused in one line") {
  const Folder folder;
  const std::string name = (folder / "program.elf").string() + ": found ";
  const std::string expected = ", expected an executable for RISC-V (ELF, 64 bits, little-endian, at fixed addresses)";
  const std::string good = telling(1).text();
  check_bad(run_program({"riscv", (folder / "none").string()}),
            (folder / "none").string() + ": found no such file or directory, expected an executable (ELF)");
  check_bad(run_elf(folder, ""), name + "no ELF file" + expected);
  check_bad(run_elf(folder, "#!/bin/sh\n"), name + "no ELF file" + expected);
  check_bad(run_elf(folder, good.substr(0, 4)), name + "an ELF file not of 64 bits" + expected);
  const auto with = [&](std::size_t place, char value) {
    std::string text = good;
    text[place] = value;
    return text;
  };
  check_bad(run_elf(folder, with(EI_CLASS, ELFCLASS32)), name + "an ELF file not of 64 bits" + expected);
  check_bad(run_elf(folder, with(EI_DATA, ELFDATA2MSB)), name + "a big-endian ELF file" + expected);
  const auto spoilt = [&](auto&& change) {
    ElfWriter elf = telling(1);
    change(elf);
    return run_elf(folder, elf.text());
  };
  check_bad(spoilt([](ElfWriter& elf) { elf.header.e_machine = EM_X86_64; }),
            name + "an ELF file for machine 62" + expected);
  check_bad(spoilt([](ElfWriter& elf) { elf.header.e_type = ET_REL; }), name + "an ELF file of type 1" + expected);
  check_bad(
      run_elf(folder, with(offsetof(Elf64_Ehdr, e_phnum), 0)),
      name + "an ELF file without a segment to load, expected program headers (PT_LOAD), as a linker writes them");
  check_bad(spoilt([](ElfWriter& elf) { elf.header.e_entry = 0x80000001; }),
            name + "entry point 0x80000001, expected an even one");
  check_bad(
      spoilt([](ElfWriter& elf) { elf.header.e_entry = 0x90000000; }),
      name +
          "the entry point at 0x90000000 to 0x90000001, expected it within one memory (0x80000000 to 0x83ffffff; see "
          "--memory)");
  check_bad(spoilt([](ElfWriter& elf) { elf.symbol = "tohosts"; }),
            name + "no symbol tohost, expected one, which the program writes when it ends");
  check_bad(spoilt([](ElfWriter& elf) { elf.tohost += 4; }),
            name + "symbol tohost at 0x80001004, expected a multiple of 8");
  check_bad(
      spoilt([](ElfWriter& elf) { elf.tohost = 0; }),
      name + "symbol tohost at 0x0 to 0x7, expected it within one memory (0x80000000 to 0x83ffffff; see --memory)");
  check_bad(spoilt([](ElfWriter& elf) { elf.memory_bytes = ~std::uint64_t{0}; }),
            name + "segment 0 of 0xffffffffffffffff B at 0x80000000, expected it within 64-bit addresses");
  check_bad(spoilt([](ElfWriter& elf) { elf.memory_bytes = 8; }),
            name + "segment 0 with 0x10 B of content, expected at most its 0x8 B in memory");
  check_bad(spoilt([](ElfWriter& elf) { elf.segment.p_offset = ~std::uint64_t{0}; }),
            name + "segment 0 with content of 0x10 B at 0xffffffffffffffff, expected it within the file's 0x180 B");
  check_bad(spoilt([](ElfWriter& elf) { elf.segment.p_filesz = 0x1000; }),
            name + "segment 0 with content of 0x1000 B at 0x78, expected it within the file's 0x180 B");
  check_bad(spoilt([](ElfWriter& elf) { elf.header.e_phoff = 0x1000; }),
            name + "program headers of 0x38 B at 0x1000, expected it within the file's 0x180 B");
  check_bad(spoilt([](ElfWriter& elf) { elf.header.e_shoff = 0x1000; }),
            name + "section headers of 0xc0 B at 0x1000, expected it within the file's 0x180 B");
}

TEST_CASE("riscv no part of an ELF file can hurt") {
  const Folder folder;
  const std::string good = telling(1).text();
  for (std::size_t size = 0; size < good.size(); size += 7) {
    INFO(size);
    const Outcome outcome = run_elf(folder, good.substr(0, size));
    CHECK(outcome.exit_code == 2);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  }
  for (std::size_t place = 16; place < good.size(); place += 5) {
    INFO(place);
    std::string text = good;
    text[place] = static_cast<char>(~text[place]);
    const Outcome outcome = run_elf(folder, text, {"--max-instructions", "1000"});
    CHECK(outcome.exit_code >= 0);
    CHECK(outcome.exit_code <= 2);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == (outcome.out.empty() ? 1 : 0));
  }
}

TEST_CASE("riscv the trace of instructions has a line for each and for each trap") {
  const Folder folder;
  ElfWriter elf;
  elf.words = {auipc(t0, 0), addi(t0, t0, 16),    csrw(mtvec, t0), ecall(), 0x0001'4505,  // c.li a0, 1; c.nop
               auipc(t0, 1), addi(t0, t0, -0x14), sd(a0, t0, 0)};
  const Outcome outcome = run_elf(folder, elf.text(), {"--trace-instructions", (folder / "trace").string()});
  CHECK(outcome.exit_code == 0);
  CHECK(text_of(folder / "trace") ==
        "0x80000000 00000297 auipc x5 = 0x80000000\n"
        "0x80000004 01028293 addi x5 = 0x80000010\n"
        "0x80000008 30529073 csrrw\n"
        "0x8000000c trap, cause 0xb, value 0x0\n"
        "0x80000010 4505 addi x10 = 0x1\n"
        "0x80000012 0001 addi\n"
        "0x80000014 00001297 auipc x5 = 0x80001014\n"
        "0x80000018 fec28293 addi x5 = 0x80001000\n"
        "0x8000001c 00a2b023 sd\n");
  const std::string program = (folder / "program.elf").string();
  check_bad(run_program({"riscv", program, "--trace-instructions", folder / "none" / "trace"}),
            "--trace-instructions " + (folder / "none" / "trace").string() + ": found " +
                (folder / "none" / "trace").string() +
                ": No such file or directory, expected a file that can be written or "
                "replaced");
  check_bad(
      run_program({"riscv", program, "--trace-instructions", "/dev/full"}),
      "--trace-instructions /dev/full: found a device or the like, in whose place no file is put, expected a file "
      "that can be written or replaced");
  check_bad(run_program({"riscv", program, "--trace-instructions", folder / ""}),
            "--trace-instructions " + (folder / "").string() +
                ": found a folder, expected a file that can be written or replaced");
  const Outcome same = run_program({"riscv", program, "--trace-instructions", program});
  CHECK(same.exit_code == 2);
  CHECK(text_of(program) == elf.text());
}

TEST_CASE("riscv a debugger's port is a number and free") {
  const Folder folder;
  const debug::TcpPort taken(0);
  const std::string number = std::to_string(taken.number());
  check_bad(run_elf(folder, telling(1).text(), {"--gdb", number}),
            "--gdb: found 127.0.0.1:" + number + ": Address already in use, expected a port that is free");
  for (const char* const wrong : {"65536", "-1", "here", ""}) {
    const Outcome outcome = run_elf(folder, telling(1).text(), {"--gdb", wrong});
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Catch::StartsWith("t3vp: --gdb: "));
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  }
}

TEST_CASE("run a debugger comes to firmware on cores alone") {
  const Folder folder;
  check_bad(run_program({"run", T3VP_SOURCE_DIR "/configs/runs/gemm-rs-4gpu.json", "--gdb", "0", "--out",
                         (folder / "out").string()}),
            "--gdb: found firmware native, expected firmware riscv, as by --set firmware=riscv");
}

}  // namespace t3vp::test::riscv_test
