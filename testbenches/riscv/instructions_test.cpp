// What each instruction leaves, by values worked out from the specification; many more are compared with qemu.
#include <catch2/catch.hpp>

#include "riscv/hart_bench.h"

namespace t3vp::test::instructions_test {

using namespace assembler;

namespace {

constexpr std::uint64_t minus_1 = ~std::uint64_t{0}, least = std::uint64_t{1} << 63, least_word = 0xFFFFFFFF80000000;

struct OnRegisters {
  const char* name;
  Word funct7, funct3, opcode;
  std::uint64_t a, b, expected;
};

void check(const OnRegisters& c) {
  INFO(c.name << " " << std::hex << c.a << " " << c.b);
  HartBench bench;
  bench.hart.x[a0] = c.a;
  bench.hart.x[a1] = c.b;
  bench.execute({r(c.funct7, a1, a0, c.funct3, a2, c.opcode), r(c.funct7, a1, a0, c.funct3, zero, c.opcode)});
  CHECK(bench.hart.x[a2] == c.expected);
  CHECK(bench.hart.x[zero] == 0);
  CHECK(bench.hart.retired() == 2);
}

}  // namespace

TEST_CASE("operations on registers") {
  const OnRegisters cases[] = {
      {"add", 0x00, 0, 0x33, minus_1, 2, 1},
      {"sub", 0x20, 0, 0x33, 1, 2, minus_1},
      {"sll", 0x00, 1, 0x33, 3, 64 + 62, 0xC000000000000000},
      {"slt", 0x00, 2, 0x33, minus_1, 0, 1},
      {"slt", 0x00, 2, 0x33, 5, 5, 0},
      {"sltu", 0x00, 3, 0x33, minus_1, 0, 0},
      {"sltu", 0x00, 3, 0x33, 0, minus_1, 1},
      {"xor", 0x00, 4, 0x33, 0xFF00, 0x0FF0, 0xF0F0},
      {"srl", 0x00, 5, 0x33, least, 63, 1},
      {"sra", 0x20, 5, 0x33, least, 63, minus_1},
      {"or", 0x00, 6, 0x33, 0xFF00, 0x0FF0, 0xFFF0},
      {"and", 0x00, 7, 0x33, 0xFF00, 0x0FF0, 0x0F00},
      {"addw", 0x00, 0, 0x3B, 0x7FFFFFFF, 1, least_word},
      {"subw", 0x20, 0, 0x3B, 0x100000000, 1, minus_1},
      {"sllw", 0x00, 1, 0x3B, 0x300000001, 32 + 31, least_word},
      {"srlw", 0x00, 5, 0x3B, least_word, 31, 1},
      {"srlw", 0x00, 5, 0x3B, 0xFFFFFFFF, 0, minus_1},
      {"sraw", 0x20, 5, 0x3B, 0x80000000, 31, minus_1},
  };
  for (const OnRegisters& c : cases) check(c);
}

TEST_CASE("multiplication and division and those by zero and with overflow") {
  const OnRegisters cases[] = {
      {"mul", 1, 0, 0x33, minus_1, 3, minus_1 - 2},
      {"mulh", 1, 1, 0x33, least, least, std::uint64_t{1} << 62},
      {"mulh", 1, 1, 0x33, minus_1, 1, minus_1},
      {"mulhsu", 1, 2, 0x33, minus_1, minus_1, minus_1},
      {"mulhsu", 1, 2, 0x33, 2, minus_1, 1},
      {"mulhu", 1, 3, 0x33, minus_1, minus_1, minus_1 - 1},
      {"div", 1, 4, 0x33, static_cast<std::uint64_t>(-7), 2, static_cast<std::uint64_t>(-3)},
      {"div", 1, 4, 0x33, 9, 0, minus_1},
      {"div", 1, 4, 0x33, least, minus_1, least},
      {"divu", 1, 5, 0x33, minus_1, 2, minus_1 >> 1},
      {"divu", 1, 5, 0x33, 9, 0, minus_1},
      {"rem", 1, 6, 0x33, static_cast<std::uint64_t>(-7), 2, minus_1},
      {"rem", 1, 6, 0x33, 7, static_cast<std::uint64_t>(-2), 1},
      {"rem", 1, 6, 0x33, 9, 0, 9},
      {"rem", 1, 6, 0x33, least, minus_1, 0},
      {"remu", 1, 7, 0x33, minus_1, 10, 5},
      {"remu", 1, 7, 0x33, 9, 0, 9},
      {"mulw", 1, 0, 0x3B, 0x80000001, 0x80000001, 1},
      {"divw", 1, 4, 0x3B, 0x80000000, 0xFFFFFFFF, least_word},
      {"divw", 1, 4, 0x3B, 9, 0x100000000, minus_1},
      {"divuw", 1, 5, 0x3B, 0xFFFFFFFF, 1, minus_1},
      {"divuw", 1, 5, 0x3B, 9, 0, minus_1},
      {"remw", 1, 6, 0x3B, 0x80000000, 0xFFFFFFFF, 0},
      {"remw", 1, 6, 0x3B, 0xFFFFFFF9, 2, minus_1},
      {"remw", 1, 6, 0x3B, 0x180000000, 0, least_word},
      {"remuw", 1, 7, 0x3B, 0xFFFFFFFF, 16, 15},
      {"remuw", 1, 7, 0x3B, 0x80000000, 0, least_word},
  };
  for (const OnRegisters& c : cases) check(c);
}

TEST_CASE("operations with immediates") {
  struct Case {
    const char* name;
    Word word;
    std::uint64_t a, expected;
  };
  const Case cases[] = {
      {"addi", i(-2048, a0, 0, a2, 0x13), 1, static_cast<std::uint64_t>(-2047)},
      {"slti", i(-1, a0, 2, a2, 0x13), static_cast<std::uint64_t>(-2), 1},
      {"sltiu", i(-1, a0, 3, a2, 0x13), 5, 1},
      {"xori", i(-1, a0, 4, a2, 0x13), 0xF0, ~std::uint64_t{0xF0}},
      {"ori", i(-16, a0, 6, a2, 0x13), 3, static_cast<std::uint64_t>(-13)},
      {"andi", i(-16, a0, 7, a2, 0x13), 0x1FF, 0x1F0},
      {"slli", i(63, a0, 1, a2, 0x13), 3, least},
      {"srli", i(63, a0, 5, a2, 0x13), least, 1},
      {"srai", i(0x400 | 63, a0, 5, a2, 0x13), least, minus_1},
      {"addiw", i(1, a0, 0, a2, 0x1B), 0x7FFFFFFF, least_word},
      {"slliw", i(31, a0, 1, a2, 0x1B), 1, least_word},
      {"srliw", i(4, a0, 5, a2, 0x1B), least_word, 0x08000000},
      {"sraiw", i(0x400 | 4, a0, 5, a2, 0x1B), 0x80000000, 0xFFFFFFFFF8000000},
      {"lui", lui(a2, 0x80000), 0, least_word},
      {"auipc", auipc(a2, 0xFFFFF), 0, HartBench::base - 0x1000},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    HartBench bench;
    bench.hart.x[a0] = c.a;
    bench.execute({c.word});
    CHECK(bench.hart.x[a2] == c.expected);
  }
}

TEST_CASE("branches are taken or not and jumps link") {
  struct Case {
    const char* name;
    Word funct3;
    std::uint64_t a, b;
    bool taken;
  };
  const Case cases[] = {{"beq", 0, 4, 4, true},         {"beq", 0, 4, 5, false},       {"bne", 1, 4, 5, true},
                        {"bne", 1, 4, 4, false},        {"blt", 4, minus_1, 0, true},  {"blt", 4, 0, 0, false},
                        {"bge", 5, 0, minus_1, true},   {"bge", 5, 0, 0, true},        {"bge", 5, minus_1, 0, false},
                        {"bltu", 6, minus_1, 0, false}, {"bltu", 6, 0, minus_1, true}, {"bgeu", 7, minus_1, 0, true},
                        {"bgeu", 7, 0, minus_1, false}};
  for (const Case& c : cases) {
    for (const Immediate offset : {-4096, 4094, 0x800}) {
      INFO(c.name << " " << c.a << " " << c.b << " by " << offset);
      HartBench bench;
      bench.hart.x[a0] = c.a;
      bench.hart.x[a1] = c.b;
      bench.execute({b(offset, a1, a0, c.funct3)});
      CHECK(bench.hart.pc == HartBench::base + (c.taken ? static_cast<std::uint64_t>(offset) : 4));
    }
  }
  HartBench bench;
  bench.execute({jal(ra, -0x100000)});
  CHECK(bench.hart.pc == HartBench::base - 0x100000);
  CHECK(bench.hart.x[ra] == HartBench::base + 4);
  bench.hart.x[ra] = 0x3001;
  bench.execute({jalr(ra, ra, -2)});  // the register that it links is the one that it reads
  CHECK(bench.hart.pc == 0x2FFE);
  CHECK(bench.hart.x[ra] == HartBench::base + 4);
}

TEST_CASE("loads fill the register with the sign or zeroes and stores write their bytes alone") {
  HartBench bench;
  bench.hart.x[a0] = HartBench::data;
  bench.put(HartBench::data, std::uint64_t{0x8182838485868788});
  bench.execute({load(0, t0, a0, 0), load(1, t1, a0, 0), load(2, t2, a0, 0), load(3, s0, a0, 0), load(4, s1, a0, 7),
                 load(5, a1, a0, 6), load(6, a2, a0, 4)});
  CHECK(bench.hart.x[t0] == 0xFFFFFFFFFFFFFF88);
  CHECK(bench.hart.x[t1] == 0xFFFFFFFFFFFF8788);
  CHECK(bench.hart.x[t2] == 0xFFFFFFFF85868788);
  CHECK(bench.hart.x[s0] == 0x8182838485868788);
  CHECK(bench.hart.x[s1] == 0x81);
  CHECK(bench.hart.x[a1] == 0x8182);
  CHECK(bench.hart.x[a2] == 0x81828384);
  bench.hart.x[a1] = 0x1122334455667788;
  for (const Word funct3 : {0u, 1u, 2u, 3u}) {
    bench.put(HartBench::data, minus_1);
    bench.put(HartBench::data - 8, minus_1);
    bench.hart.x[a0] = HartBench::data + 0x7F8;
    bench.execute({s(-0x7F8, a1, a0, funct3)});
    const std::uint64_t written = funct3 == 3 ? minus_1 : (std::uint64_t{1} << (8u << funct3)) - 1;
    CHECK(bench.at<std::uint64_t>(HartBench::data) == ((0x1122334455667788 & written) | (minus_1 & ~written)));
    CHECK(bench.at<std::uint64_t>(HartBench::data - 8) == minus_1);
  }
}

TEST_CASE("a misaligned load or store is made whole in memory and byte by byte elsewhere") {
  HartBench bench;
  bench.hart.x[a0] = HartBench::data + 1;
  bench.hart.x[a1] = 0x1122334455667788;
  bench.execute({sd(a1, a0, 0), ld(a2, a0, 0)});
  CHECK(bench.hart.x[a2] == 0x1122334455667788);
  CHECK(bench.accesses.empty());
  bench.hart.x[a0] = HartBench::device + 3;
  bench.execute({sw(a1, a0, 0), lw(a2, a0, 0)});
  CHECK(bench.hart.x[a2] == 0x55667788);
  REQUIRE(bench.accesses.size() == 8);
  CHECK(bench.accesses[3] == HartBench::Access{'w', HartBench::device + 6, 1});
  CHECK(bench.accesses[4] == HartBench::Access{'r', HartBench::device + 3, 1});
}

TEST_CASE("a misaligned access across two windows of direct memory finds both") {
  HartBench bench;
  std::array<unsigned char, 64> next{};
  const std::uint64_t edge = HartBench::base + bench.memory.size();
  bench.hart.direct_memory().add({edge, next.size(), next.data(), true, true});
  bench.hart.x[a0] = edge - 3;
  bench.hart.x[a1] = 0x1122334455667788;
  bench.execute({sd(a1, a0, 0), ld(a2, a0, 0)});
  CHECK(bench.hart.x[a2] == 0x1122334455667788);
  CHECK(next[4] == 0x11);
  CHECK(bench.accesses.empty());
}

TEST_CASE("atomic operations return what was there and leave their result") {
  struct Case {
    const char* name;
    Word funct5;
    std::uint64_t memory, operand, result;
  };
  const Case cases[] = {{"amoswap", 0x01, 5, 9, 9},
                        {"amoadd", 0x00, minus_1, 3, 2},
                        {"amoxor", 0x04, 0xFF, 0xF0, 0x0F},
                        {"amoand", 0x0C, 0xFF, 0xF0, 0xF0},
                        {"amoor", 0x08, 0x0F, 0xF0, 0xFF},
                        {"amomin", 0x10, minus_1, 1, minus_1},
                        {"amomin", 0x10, 2, 1, 1},
                        {"amomax", 0x14, minus_1, 1, 1},
                        {"amomax", 0x14, 2, 1, 2},
                        {"amominu", 0x18, minus_1, 1, 1},
                        {"amominu", 0x18, 0, 1, 0},
                        {"amomaxu", 0x1C, minus_1, 1, minus_1},
                        {"amomaxu", 0x1C, 0, minus_1, minus_1}};
  for (const Case& c : cases) {
    INFO(c.name);
    HartBench bench;
    bench.hart.x[a0] = HartBench::data;
    bench.hart.x[a1] = c.operand;
    bench.put(HartBench::data, c.memory);
    bench.execute({atomic_d(c.funct5, a2, a1, a0)});
    CHECK(bench.hart.x[a2] == c.memory);
    CHECK(bench.at<std::uint64_t>(HartBench::data) == c.result);
    bench.put(HartBench::data, 0x7777777700000000 | (c.memory & 0xFFFFFFFF));
    bench.execute({atomic_w(c.funct5, a2, a1, a0)});
    CHECK(bench.hart.x[a2] == static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(c.memory)}));
    CHECK(bench.at<std::uint64_t>(HartBench::data) == (0x7777777700000000 | (c.result & 0xFFFFFFFF)));
  }
}

TEST_CASE("a conditional store succeeds once and only where the last load was reserved and nothing else was written") {
  const Word lr = atomic_d(2, a2, zero, a0), sc = atomic_d(3, a3, a1, a0), sc_w = atomic_w(3, a3, a1, a0);
  HartBench bench;
  bench.hart.x[a0] = HartBench::data;
  bench.hart.x[a1] = 42;
  bench.hart.x[a3] = 9;
  bench.put(HartBench::data, std::uint64_t{41});
  bench.execute({lr, sc});
  CHECK(bench.hart.x[a2] == 41);
  CHECK(bench.hart.x[a3] == 0);
  CHECK(bench.at<std::uint64_t>(HartBench::data) == 42);
  bench.hart.x[a1] = 43;
  bench.execute({sc});  // the reservation is used up
  CHECK(bench.hart.x[a3] == 1);
  CHECK(bench.at<std::uint64_t>(HartBench::data) == 42);
  bench.execute({lr, addi(a0, a0, 8), sc, addi(a0, a0, -8), sc});  // elsewhere, and after a failed one
  CHECK(bench.hart.x[a3] == 1);
  CHECK(bench.at<std::uint64_t>(HartBench::data) == 42);
  CHECK(bench.at<std::uint64_t>(HartBench::data + 8) == 0);
  bench.execute({lr, sc_w});  // of another size
  CHECK(bench.hart.x[a3] == 1);
  bench.execute({lr});
  bench.put(HartBench::data, std::uint64_t{99});  // somebody else
  bench.execute({sc});
  CHECK(bench.hart.x[a3] == 1);
  CHECK(bench.at<std::uint64_t>(HartBench::data) == 99);
}

TEST_CASE("code that is written runs when it has been fenced") {
  HartBench bench;
  bench.hart.x[a0] = HartBench::base;
  bench.hart.x[a1] = li(a2, 2);
  bench.place(HartBench::base, {li(a2, 1), sw(a1, a0, 0), fence_i(), jal(zero, -12)});
  bench.hart.run(1);
  CHECK(bench.hart.x[a2] == 1);
  bench.hart.run(4);
  CHECK(bench.hart.x[a2] == 2);
}

TEST_CASE("compressed and whole instructions follow each other at any even address") {
  HartBench bench;
  // c.li a0, 5; addi a1, a0, 1; c.add a1, a0; c.jalr a2
  bench.place(HartBench::base, {0x0593'4515, 0x95AA'0015, 0x0000'9602});
  bench.hart.x[a2] = 0x2468;
  bench.hart.run(4);
  CHECK(bench.hart.x[a0] == 5);
  CHECK(bench.hart.x[a1] == 11);
  CHECK(bench.hart.pc == 0x2468);
  CHECK(bench.hart.x[ra] == HartBench::base + 10);
}

}  // namespace t3vp::test::instructions_test
