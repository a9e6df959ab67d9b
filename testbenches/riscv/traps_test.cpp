// Exceptions, interrupts and the control and status registers of a hart.
#include <catch2/catch.hpp>

#include "riscv/hart_bench.h"

namespace t3vp::test::traps_test {

using namespace assembler;
using riscv::Interrupt;
using riscv::interrupt_bit;

namespace {

constexpr std::uint64_t nowhere = 0x5000000;

/// The last of these raises it, and nothing of that one is done.
void check_exception(std::initializer_list<std::uint32_t> words, std::uint64_t cause, std::uint64_t value) {
  HartBench bench;
  bench.hart.control.mie_bit = true;
  bench.hart.x[t0] = nowhere;
  bench.hart.x[a2] = 0x77;
  bench.execute(words);
  const std::uint64_t at = HartBench::base + 4 * (words.size() - 1);
  CHECK(bench.hart.pc == HartBench::handler);
  CHECK(bench.hart.control.mcause == cause);
  CHECK(bench.hart.control.mepc == at);
  CHECK(bench.hart.control.mtval == value);
  CHECK(bench.hart.x[a2] == 0x77);
  CHECK_FALSE(bench.hart.control.mie_bit);
  CHECK(bench.hart.control.mpie_bit);
  CHECK(bench.hart.retired() == words.size() - 1);
}

}  // namespace

TEST_CASE("what is no instruction is illegal and told with its bits") {
  check_exception({nop(), 0xFFFFFFFF}, 2, 0xFFFFFFFF);
  check_exception({nop(), 0}, 2, 0);
  check_exception({0x00007053}, 2, 0x00007053);  // fadd.s
  check_exception({r(0x40, a1, a0, 0, a2, 0x33)}, 2, r(0x40, a1, a0, 0, a2, 0x33));
  check_exception({i(32, a0, 1, a2, 0x1B)}, 2, i(32, a0, 1, a2, 0x1B));  // slliw by 32
  check_exception({load(7, a2, a0, 0)}, 2, load(7, a2, a0, 0));
  check_exception({atomic_w(2, a2, a1, a0)}, 2, atomic_w(2, a2, a1, a0));  // lr.w with an rs2
  check_exception({0x10200073}, 2, 0x10200073);                            // sret
  check_exception({0x12000073}, 2, 0x12000073);                            // sfence.vma
}

TEST_CASE("compressed words that are reserved are illegal and told with 16 bits") {
  // c.addi4spn by 0, c.fld, c.addiw to x0, c.lui and c.addi16sp by 0, c.lwsp and c.ldsp to x0, c.jr by x0, a reserved
  // operation.
  for (const std::uint32_t word : {0x0004u, 0x2004u, 0x2005u, 0x6601u, 0x6101u, 0x4012u, 0x6012u, 0x8002u, 0x9C41u}) {
    INFO(std::hex << word);
    HartBench bench;
    bench.place(HartBench::base, {word | 0x00010000});
    bench.hart.run(1);
    CHECK(bench.hart.control.mcause == 2);
    CHECK(bench.hart.control.mtval == word);
  }
}

TEST_CASE("ecall and ebreak") {
  check_exception({nop(), ecall()}, 11, 0);
  check_exception({nop(), nop(), ebreak()}, 3, HartBench::base + 8);
}

TEST_CASE("accesses that are refused are access faults with their address") {
  check_exception({ld(a2, t0, 16)}, 5, nowhere + 16);
  check_exception({sw(a2, t0, -4)}, 7, nowhere - 4);
  check_exception({atomic_d(2, a2, zero, t0)}, 5, nowhere);
  check_exception({atomic_d(0, a2, a1, t0)}, 7, nowhere);
}

TEST_CASE("atomic accesses that are not aligned are refused") {
  check_exception({addi(t1, t0, 4), atomic_d(2, a2, zero, t1)}, 4, nowhere + 4);
  check_exception({addi(t1, t0, 2), atomic_w(3, a2, a1, t1)}, 6, nowhere + 2);
  check_exception({addi(t1, t0, 1), atomic_w(0, a2, a1, t1)}, 6, nowhere + 1);
}

TEST_CASE("a fetch that is refused raises its exception there and tells the part that is") {
  HartBench bench;
  bench.hart.x[t0] = nowhere;
  bench.execute({jalr(ra, t0, 0), nop()});
  CHECK(bench.hart.pc == HartBench::handler);
  CHECK(bench.hart.control.mcause == 1);
  CHECK(bench.hart.control.mepc == nowhere);
  CHECK(bench.hart.control.mtval == nowhere);
  CHECK(bench.hart.x[ra] == HartBench::base + 4);
  const std::uint64_t last = HartBench::base + bench.memory.size() - 2;
  bench.put(last, std::uint16_t{0x0013});  // the lower half of a nop
  bench.hart.pc = last;
  bench.hart.run(1);
  CHECK(bench.hart.control.mepc == last);
  CHECK(bench.hart.control.mtval == last + 2);
}

TEST_CASE("code that is not in direct memory runs and is fetched each time") {
  HartBench bench;
  const std::uint32_t word = addi(a0, a0, 1);
  std::memcpy(bench.registers.data(), &word, sizeof word);
  for (int i = 0; i < 2; ++i) {
    bench.hart.pc = HartBench::device;
    bench.hart.run(1);
  }
  CHECK(bench.hart.x[a0] == 2);
  CHECK(bench.accesses.size() == 4);
}

TEST_CASE("mret returns to mepc and restores the interrupt enable") {
  HartBench bench;
  bench.hart.control.mepc = HartBench::base + 0x40;
  bench.hart.control.mpie_bit = true;
  bench.execute({mret()});
  CHECK(bench.hart.pc == HartBench::base + 0x40);
  CHECK(bench.hart.control.mie_bit);
  CHECK(bench.hart.control.mpie_bit);
}

TEST_CASE("an interrupt is taken before the next instruction when it is pending and enabled twice") {
  for (const auto interrupt : {Interrupt::software, Interrupt::timer, Interrupt::external}) {
    const std::uint64_t bit = interrupt_bit(interrupt);
    HartBench bench;
    bench.place(HartBench::base, {nop(), nop(), nop(), nop()});
    bench.place(HartBench::handler, {nop()});
    bench.hart.set_interrupts(bit);
    bench.hart.run(1);
    bench.hart.control.mie = bit;
    bench.hart.run(1);
    CHECK(bench.hart.pc == HartBench::base + 8);
    bench.hart.control.mie_bit = true;
    bench.hart.run(1);
    CHECK(bench.hart.pc == HartBench::handler + 4);
    CHECK(bench.hart.control.mepc == HartBench::base + 8);
    CHECK(bench.hart.control.mcause == (std::uint64_t{1} << 63 | static_cast<std::uint64_t>(interrupt)));
    CHECK(bench.hart.control.mtval == 0);
    CHECK_FALSE(bench.hart.control.mie_bit);
  }
}

TEST_CASE("of several interrupts the external one goes first and then the software one") {
  HartBench bench;
  bench.hart.control.mie = riscv::all_interrupts;
  std::uint64_t pending = riscv::all_interrupts;
  for (const std::uint64_t number : {11u, 3u, 7u}) {
    bench.hart.control.mie_bit = true;
    bench.hart.set_interrupts(pending);
    bench.place(HartBench::handler, {nop()});
    bench.hart.run(1);
    CHECK((bench.hart.control.mcause & 0xFF) == number);
    pending &= ~(std::uint64_t{1} << number);
  }
}

TEST_CASE("with a vectored mtvec interrupts have entries of their own and exceptions share the first") {
  HartBench bench;
  bench.hart.control.mtvec = HartBench::handler | 1;
  bench.execute({ecall()});
  CHECK(bench.hart.pc == HartBench::handler);
  bench.hart.control.mie = riscv::all_interrupts;
  bench.hart.control.mie_bit = true;
  bench.hart.set_interrupts(interrupt_bit(Interrupt::timer));
  bench.place(HartBench::handler + 4 * 7, {nop()});
  bench.hart.run(1);
  CHECK(bench.hart.pc == HartBench::handler + 4 * 7 + 4);
}

TEST_CASE("an interrupt that software enables is taken at once whether by mstatus or mie or mret") {
  const std::uint64_t bit = interrupt_bit(Interrupt::software);
  HartBench bench;
  bench.place(HartBench::handler, {nop(), nop()});
  bench.hart.set_interrupts(bit);
  bench.hart.control.mie = bit;
  bench.execute({csrrsi(zero, mstatus, 8), nop(), nop()});
  CHECK(bench.hart.control.mepc == HartBench::base + 4);
  bench.hart.control.mie = 0;
  bench.hart.control.mie_bit = true;
  bench.execute({csrrsi(zero, mie, 8), nop(), nop()});
  CHECK(bench.hart.control.mepc == HartBench::base + 4);
  bench.hart.control.mepc = HartBench::base + 0x20;
  bench.hart.control.mpie_bit = true;
  bench.execute({mret(), nop()});  // and the first of the handler
  CHECK(bench.hart.control.mepc == HartBench::base + 0x20);
  CHECK(bench.hart.pc == HartBench::handler + 4);
}

TEST_CASE("a sleeping hart goes on when an enabled interrupt is pending that it need not take") {
  HartBench bench;
  bench.hart.control.mie = interrupt_bit(Interrupt::timer);
  bench.execute({wfi(), li(a0, 1), nop(), nop()});
  CHECK(bench.hart.sleeps());
  CHECK(bench.hart.retired() == 1);
  bench.hart.set_interrupts(interrupt_bit(Interrupt::software));
  bench.hart.run(1);
  CHECK(bench.hart.sleeps());
  bench.hart.set_interrupts(interrupt_bit(Interrupt::timer));
  bench.hart.run(1);
  CHECK_FALSE(bench.hart.sleeps());
  CHECK(bench.hart.x[a0] == 1);
  bench.hart.set_interrupts(0);
  bench.hart.run(1);
  CHECK_FALSE(bench.hart.sleeps());
  bench.hart.set_interrupts(interrupt_bit(Interrupt::timer));
  bench.execute({wfi(), li(a0, 2)});  // pending already: no sleep
  CHECK(bench.hart.x[a0] == 2);
}

TEST_CASE("control and status registers keep what they have bits for") {
  struct Case {
    Word csr;
    std::uint64_t zeroes, ones;  ///< what is read when 0 or all ones have been written
  };
  constexpr std::uint64_t all = ~std::uint64_t{0}, imac = 0x8000000000001105;
  const Case cases[] = {{mstatus, 0x1800, 0x1888},
                        {misa, imac, imac},
                        {mie, 0, 0x888},
                        {mtvec, 0, all - 2},
                        {0x320, 0, 0},
                        {0x323, 0, 0},
                        {0x33F, 0, 0},
                        {mscratch, 0, all},
                        {mepc, 0, all - 1},
                        {mcause, 0, all},
                        {mtval, 0, all},
                        {mip, 0, 0},
                        {0xB1F, 0, 0},
                        {0x7A0, 0, 0}};
  for (const Case& c : cases) {
    INFO(std::hex << c.csr);
    HartBench bench;
    bench.hart.x[t0] = all;
    bench.execute({csrw(c.csr, zero), csrr(a0, c.csr), csrw(c.csr, t0), csrr(a1, c.csr)});
    CHECK(bench.hart.x[a0] == c.zeroes);
    CHECK(bench.hart.x[a1] == c.ones);
    CHECK(bench.hart.retired() == 4);
  }
}

TEST_CASE("control and status registers are swapped or set or cleared by registers and immediates") {
  HartBench bench;
  bench.hart.x[t0] = 0xFF;
  bench.hart.x[t1] = 0x0F;
  bench.execute({csrrw(a0, mscratch, t0), csrrc(a1, mscratch, t1), csrrsi(a2, mscratch, 5), csrrci(a3, mscratch, 16)});
  CHECK(bench.hart.x[a0] == 0);
  CHECK(bench.hart.x[a1] == 0xFF);
  CHECK(bench.hart.x[a2] == 0xF0);
  CHECK(bench.hart.x[a3] == 0xF5);
  bench.execute({csrrs(a0, mscratch, t1), csrrwi(t0, mscratch, 31), csrrw(t1, mscratch, t1)});
  CHECK(bench.hart.x[a0] == 0xE5);
  CHECK(bench.hart.x[t0] == 0xEF);
  CHECK(bench.hart.x[t1] == 31);
  CHECK(bench.hart.control.mscratch == 0x0F);
}

TEST_CASE("control and status registers that there are not are illegal and so is writing a read-only one") {
  // satp, medeleg, mideleg, pmpcfg0, pmpaddr0, fcsr, mcounteren, mnstatus, dcsr
  for (const Word csr : {0x180u, 0x302u, 0x303u, 0x3A0u, 0x3B0u, 0x003u, 0x306u, 0x744u, 0x7B0u})
    check_exception({csrr(a2, csr)}, 2, csrr(a2, csr));
  check_exception({csrrw(a2, mhartid, zero)}, 2, csrrw(a2, mhartid, zero));
  check_exception({csrrsi(a2, cycle, 1)}, 2, csrrsi(a2, cycle, 1));
  HartBench bench;
  bench.execute({csrrs(a0, mhartid, zero), csrrci(a1, mhartid, 0), csrr(a2, time_csr), csrr(a3, 0xF11)});
  CHECK(bench.hart.x[a0] == 7);
  CHECK(bench.hart.x[a1] == 7);
  CHECK(bench.hart.x[a2] == 1234);
  CHECK(bench.hart.retired() == 4);
}

TEST_CASE("the counters count what is retired and the environment's cycles and go on from what is written") {
  HartBench bench;
  bench.hart.x[t0] = 1000;
  bench.execute(
      {nop(), csrr(a0, minstret), csrr(a1, instret), csrw(minstret, t0), csrr(a2, minstret), csrr(a3, mcycle)});
  CHECK(bench.hart.x[a0] == 1);
  CHECK(bench.hart.x[a1] == 2);
  CHECK(bench.hart.x[a2] == 1000);
  CHECK(bench.hart.x[a3] == 15);
  bench.place(HartBench::handler, {csrr(a0, minstret), csrr(a1, mcycle)});
  bench.execute({csrw(mcycle, t0), ecall(), nop(), nop()});
  CHECK(bench.hart.x[a0] == 1000 + 3);  // two csrr and a csrw since; ecall does not retire
  CHECK(bench.hart.x[a1] == 1000 + 3 * 3);
}

TEST_CASE("a run takes as many steps as it is told with traps among them") {
  HartBench bench;
  bench.place(HartBench::base, {self()});
  bench.hart.run(1000);
  CHECK(bench.hart.steps() == 1000);
  CHECK(bench.hart.retired() == 1000);
  bench.place(HartBench::handler, {csrr(t0, mepc), csrw(mepc, t0), mret()});
  bench.execute({ecall()});
  bench.hart.run(999);
  CHECK(bench.hart.steps() == 2000);
  CHECK(bench.hart.retired() == 1750);
  CHECK_FALSE(bench.hart.is_lost());
}

TEST_CASE("a handler whose first instruction raises an exception has lost the hart") {
  HartBench bench;
  bench.hart.control.mtvec = nowhere;
  bench.execute({ecall()});
  CHECK_FALSE(bench.hart.is_lost());
  bench.hart.run(1'000'000);
  CHECK(bench.hart.is_lost());
  CHECK(bench.hart.steps() == 2);
}

TEST_CASE("a handler whose first load is refused twice has lost the hart") {
  HartBench bench;
  bench.hart.x[t0] = nowhere;
  bench.place(HartBench::handler, {lw(a0, t0, 0), self()});
  bench.execute({nop(), ecall()});
  bench.hart.run(1000);
  CHECK(bench.hart.is_lost());
  CHECK(bench.hart.steps() == 4);
  REQUIRE(bench.hart.first_trap());
  CHECK(bench.hart.first_trap()->cause == 11);
  CHECK(bench.hart.first_trap()->pc == HartBench::base + 4);
  HartBench patient;  // what is refused once may be there the next time
  patient.hart.x[t0] = nowhere;
  patient.place(HartBench::handler, {lw(a0, t0, 0), self()});
  patient.execute({ecall()});
  patient.hart.run(1);
  patient.hart.x[t0] = HartBench::data;
  patient.hart.run(1000);
  CHECK_FALSE(patient.hart.is_lost());
}

TEST_CASE("a handler that saves registers on a stack that is not there has lost the hart") {
  HartBench bench;
  bench.hart.x[sp] = HartBench::base + 8;
  bench.place(HartBench::handler, {addi(sp, sp, -64), sd(t0, sp, 8), self()});
  bench.execute({sd(t0, sp, -16)});
  bench.hart.run(1000);
  CHECK(bench.hart.is_lost());
  CHECK(bench.hart.steps() == 5);
  REQUIRE(bench.hart.first_trap());
  CHECK(bench.hart.first_trap()->pc == HartBench::base);
}

TEST_CASE("a program that looks by its traps for where memory is has not lost the hart") {
  HartBench bench;
  bench.hart.x[t0] = nowhere;
  bench.hart.x[t1] = 0x1000;
  // The handler goes on with the next place, and from there to the next access.
  bench.place(HartBench::handler, {add(t0, t0, t1), lw(a0, t0, 0), self()});
  bench.execute({lw(a0, t0, 0)});
  bench.hart.run(1000);
  CHECK_FALSE(bench.hart.is_lost());
  HartBench handled;  // one instruction that is refused again and again
  handled.hart.x[t0] = nowhere;
  handled.place(HartBench::handler, {nop(), mret()});
  handled.execute({lw(a0, t0, 0)});
  handled.hart.run(1000);
  CHECK_FALSE(handled.hart.is_lost());
  HartBench behind;  // right behind a handler that returns to it
  behind.hart.x[sp] = nowhere;
  behind.place(HartBench::handler, {nop(), mret(), sd(t0, sp, 8), self()});
  behind.hart.pc = HartBench::handler + 8;
  behind.hart.run(1000);
  CHECK_FALSE(behind.hart.is_lost());
}

}  // namespace t3vp::test::traps_test
