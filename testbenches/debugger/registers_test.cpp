#include <catch2/catch.hpp>
#include <random>

#include "debugger/hart_registers.h"
#include "riscv/assembler.h"
#include "riscv/hart_bench.h"

namespace t3vp::test::registers_test {

using namespace debug;
namespace a = assembler;

TEST_CASE("Registers of a hart have the numbers that gdb gives them") {
  HartBench bench;
  riscv::Hart& hart = bench.hart;
  for (unsigned number = 1; number < 32; ++number) {
    CHECK(write_hart_register(hart, number, 1000 + number));
    CHECK(hart.x[number] == 1000 + number);
    CHECK(read_hart_register(hart, number) == 1000 + number);
  }
  CHECK(write_hart_register(hart, 32, 0x1234));
  CHECK(hart.pc == 0x1234);
  CHECK(write_hart_register(hart, 65 + a::mscratch, 9));
  CHECK(hart.control.mscratch == 9);
  CHECK(read_hart_register(hart, 65 + a::mhartid) == 7);
  for (const unsigned number : {33u, 64u, 65u, 65u + 0x180, 65u + 0xFFF, 65u + 0x1000, ~0u}) {
    CHECK_FALSE(read_hart_register(hart, number));
    CHECK_FALSE(write_hart_register(hart, number, 0));
  }
}

TEST_CASE("A write of a register does all of it or is refused and does nothing") {
  HartBench bench;
  riscv::Hart& hart = bench.hart;
  hart.pc = 0x1000;
  const auto refuses = [&](unsigned number, std::uint64_t value) {
    const auto before = read_hart_register(hart, number);
    CAPTURE(number, value);
    CHECK_FALSE(write_hart_register(hart, number, value));
    CHECK(read_hart_register(hart, number) == before);
  };
  constexpr unsigned mtvec = 0x305, misa = 0x301, mip = 0x344, mcycle = 0xB00, minstret = 0xB02, cycle = 0xC00;
  refuses(0, 5);
  refuses(32, 0x1235);
  for (const unsigned number : {unsigned{a::mhartid}, misa, mip, cycle, 0xF11u, 0xB03u}) refuses(65 + number, 1);
  refuses(65 + a::mstatus, 0xFFFF);  // bits that are fixed
  refuses(65 + mtvec, 0x2002);       // a reserved mode
  refuses(65 + a::mepc, 0x2001);
  CHECK(write_hart_register(hart, 0, 0));  // as gdb puts all back behind a call
  CHECK(write_hart_register(hart, 65 + a::mhartid, 7));
  std::mt19937_64 random(15);
  for (int i = 0; i < 2000; ++i) {
    const unsigned number = 65 + std::array{unsigned{a::mstatus}, mtvec, unsigned{a::mepc}, misa, mcycle, minstret,
                                            unsigned{a::mscratch}}[random() % 7];
    const std::uint64_t before = *read_hart_register(hart, number), value = random() >> random() % 64;
    const bool is_done = write_hart_register(hart, number, value);
    REQUIRE(read_hart_register(hart, number) == (is_done ? value : before));
  }
}

TEST_CASE("The description names each register once with its number") {
  const std::string text = hart_description();
  const auto has = [&](const std::string& part) { return text.find(part) != std::string::npos; };
  CHECK(has("<architecture>riscv:rv64</architecture>"));
  CHECK(has("name=\"zero\" bitsize=\"64\" regnum=\"0\""));
  CHECK(has("name=\"fp\" bitsize=\"64\" regnum=\"8\""));
  CHECK(has("name=\"t6\" bitsize=\"64\" regnum=\"31\""));
  CHECK(has("name=\"pc\" bitsize=\"64\" regnum=\"32\""));
  CHECK(has("name=\"mstatus\" bitsize=\"64\" regnum=\"833\""));
  CHECK(has("name=\"mcause\" bitsize=\"64\" regnum=\"899\""));
  CHECK(has("name=\"instret\" bitsize=\"64\" regnum=\"3139\""));
}

TEST_CASE("What an instruction will access is what it accesses") {
  std::mt19937_64 random(4);
  const auto with_width = [](a::Word word, a::Word width) { return (word & ~(7u << 12)) | width << 12; };
  int accesses = 0;
  for (int i = 0; i < 20000; ++i) {
    HartBench bench;
    const a::Word size = static_cast<a::Word>(random() % 4), atomic_size = 2 + size % 2;
    const auto offset = static_cast<a::Immediate>(random() % 4096) - 2048;
    const a::Word words[] = {with_width(a::lw(a::a0, a::s0, offset), size),
                             with_width(a::lw(a::a0, a::s0, offset), size == 3 ? 3 : size + 4),  // unsigned
                             with_width(a::sw(a::a1, a::s0, offset), size),
                             with_width(a::atomic_w(2, a::a0, a::zero, a::s0), atomic_size),  // lr
                             with_width(a::atomic_w(3, a::a0, a::a1, a::s0), atomic_size),    // sc
                             with_width(a::atomic_w(0, a::a0, a::a1, a::s0), atomic_size),    // amoadd
                             a::add(a::a0, a::a1, a::s0),
                             a::csrr(a::a0, a::mip),
                             a::jal(a::zero, 8),
                             0x4000u | static_cast<a::Word>(random() % 0x2000) << 0 | 0u,  // c.lw
                             0xE000u | static_cast<a::Word>(random() % 0x2000 & ~3u),      // c.sd
                             0x6002u | static_cast<a::Word>(random() % 0x2000 & ~3u)};     // c.ldsp
    const a::Word word = words[random() % std::size(words)];
    const riscv::Instruction instruction = riscv::decode(word);
    for (std::uint64_t& x : bench.hart.x) x = random();
    bench.hart.x[0] = 0;
    if (const auto before = access_of(bench.hart, instruction)) {
      // Moved to the device, aligned: what the access is then seen to be.
      const a::Word wide = riscv::is_compressed(word) ? riscv::expand(word) : word;
      std::uint64_t& base = bench.hart.x[wide >> 15 & 31];
      base += HartBench::device - before->address;
      if ((wide >> 15 & 31) == 0) continue;
    }
    const auto told = access_of(bench.hart, instruction);
    bench.hart.reservation = {told ? told->bytes : 0, HartBench::device, 0};
    instruction.execute(bench.hart, instruction, HartBench::base);
    bool reads = false, writes = false;
    for (const HartBench::Access& access : bench.accesses) {
      reads = reads || (access.kind == 'r' && !(told && !told->reads));  // SC looks at what its LR has loaded
      writes = writes || access.kind == 'w';
      REQUIRE(told);
      REQUIRE(access.address == told->address);
      REQUIRE(access.bytes == told->bytes);
    }
    REQUIRE(told.has_value() == !bench.accesses.empty());
    if (!told) continue;
    ++accesses;
    REQUIRE(told->reads == reads);
    REQUIRE(told->writes == writes);
  }
  CHECK(accesses > 5000);
}

}  // namespace t3vp::test::registers_test
