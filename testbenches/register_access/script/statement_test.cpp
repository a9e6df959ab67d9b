// What a line of a script says, and what is said of one that says nothing right.
#include "register_access/script/statement.h"

#include <catch2/catch.hpp>

namespace t3vp::test::statement_test {

namespace {

using Kind = Statement::Kind;

const ScriptMachine machine{2, 0x100000};

Statement parsed(const std::string& line) { return parse_statement(line, machine); }

std::string error_of(const std::string& line) {
  try {
    parse_statement(line, machine);
  } catch (const ScriptError& error) {
    return std::to_string(error.column) + ": " + error.found + " | " + error.expected;
  }
  return "none";
}

}  // namespace

TEST_CASE("writes of registers and fields are read") {
  const Statement whole = parsed("gpu1.dma.rows = 0x40 # comment");
  CHECK(whole.kind == Kind::write);
  CHECK(name_of(whole.place) == "gpu1.dma.rows");
  CHECK(whole.value == 0x40);
  CHECK(whole.column == 1);
  const Statement field = parsed("  gpu0.dma.command.action=add");
  CHECK(name_of(field.place) == "gpu0.dma.command.action");
  CHECK(field.value == 1);
  CHECK(field.column == 3);
  const Statement fields = parsed("gpu0.dma.command = {action = add,operation=update , reads = 3}");
  CHECK(fields.place.field == nullptr);
  CHECK(fields.value == (1 | 2 << 4 | 3 << 16));
  CHECK(parsed("gpu0.signals.value[511] = 18446744073709551615").value == ~std::uint64_t{0});
  const Statement refused = parsed("refused gpu0.dma.used = 5");
  CHECK(refused.kind == Kind::write);
  CHECK(refused.is_refused);
  CHECK(refused.column == 9);
}

TEST_CASE("reads, conditions and times are read") {
  CHECK(parsed("gpu0.dma.status").kind == Kind::read);
  CHECK(parsed("read gpu0.dma.status.busy\t").kind == Kind::read);
  CHECK(parsed("refused gpu0.dma.command").is_refused);
  CHECK(parsed("refused read gpu0.dma.command").is_refused);
  CHECK(parsed("refused read gpu0.dma.command").kind == Kind::read);
  const Statement expect = parsed("expect gpu0.dma.status != 0x100 mask 0xff00");
  CHECK(expect.kind == Kind::expect);
  CHECK(expect.relation == Relation::not_equal);
  CHECK(expect.value == 0x100);
  CHECK(expect.mask == 0xff00);
  const std::pair<const char*, Relation> all[] = {{"==", Relation::equal},  {"!=", Relation::not_equal},
                                                  {"<", Relation::less},    {"<=", Relation::less_equal},
                                                  {">", Relation::greater}, {">=", Relation::greater_equal}};
  for (const auto& [text, relation] : all)
    CHECK(parsed(std::string("expect gpu0.dma.used ") + text + " 3").relation == relation);
  const Statement wait = parsed("wait gpu0.dma.interrupt.filled == 1 timeout 10 us");
  CHECK(wait.kind == Kind::wait);
  CHECK(wait.time == 10'000'000);
  CHECK(parsed("wait gpu0.dma.interrupt.filled == 1").time == 1'000'000'000);
  CHECK(parsed("delay 3 ns").time == 3000);
  CHECK(parsed("delay 7 ps").time == 7);
  CHECK(parsed("delay 1000000 ms").time == 1'000'000'000'000'000);
  CHECK(parsed("").kind == Kind::nothing);
  CHECK(parsed(" \t # gpu0").kind == Kind::nothing);
}

TEST_CASE("memory is filled, shown and compared") {
  const Statement fill = parsed("fill gpu1.memory[0x1000, 64] u16 = 3 step 2");
  CHECK(fill.kind == Kind::fill);
  CHECK(fill.memory.gpu == 1);
  CHECK(fill.memory.address == 0x1000);
  CHECK(fill.memory.bytes == 64);
  CHECK(fill.pattern.bytes == 2);
  CHECK(fill.pattern.first == 3);
  CHECK(fill.pattern.step == 2);
  CHECK(parsed("fill gpu0.memory[0,0x100000]=0").pattern.bytes == 4);
  CHECK(parsed("expect gpu0.memory[0, 8] u64 == 0xffffffffffffffff").kind == Kind::expect_memory);
  const Statement compare = parsed("expect gpu0.memory[0, 8] == gpu1.memory[16, 8]");
  CHECK(compare.kind == Kind::compare_memory);
  CHECK(compare.other.gpu == 1);
  CHECK(compare.other.address == 16);
  CHECK(parsed("read gpu0.memory[0, 8] u8").kind == Kind::read_memory);
  CHECK(parsed("gpu0.memory[0, 8]").kind == Kind::read_memory);
  CHECK(parsed("gpu0.memory[0, 8] u16").pattern.bytes == 2);
}

TEST_CASE("what is wrong is told with its column and what could stand there") {
  const std::string verbs = ", or one of read, refused, expect, wait, delay, fill";
  CHECK(error_of("= 5") == "1: = | a register or memory, such as gpu0.dma.rows or gpu0.memory[0x1000, 64]" + verbs);
  CHECK(error_of("read") == "5: nothing | a register or memory, such as gpu0.dma.rows or gpu0.memory[0x1000, 64]");
  CHECK(error_of("gpu2.dma.rows = 1") == "1: gpu2 | gpu0 to gpu1");
  CHECK(error_of("foo") == "1: foo | gpu and its number, such as gpu0" + verbs);
  CHECK(error_of("exepct gpu0.dma.rows == 1") == "1: exepct | gpu and its number, such as gpu0" + verbs);
  CHECK(error_of("foo.memory[0, 8]") == "1: foo | gpu and its number, such as gpu0" + verbs);
  CHECK(error_of("read foo") == "6: foo | gpu and its number, such as gpu0");
  CHECK_THAT(error_of("  gpu0.dma.commnd = 1"), Catch::StartsWith("12: commnd | one of output_base, "));
  CHECK(error_of("gpu0.signals.value[512] = 1") == "20: 512] | 0 to 511");
  CHECK(error_of("gpu0.signals.value[3 = 1") == "22: = | ]");
  CHECK(error_of("gpu0.signals.value[3") == "21: nothing | ]");
  CHECK(error_of("gpu0.signals.value[600 = 1") == "20: 600 | 0 to 511");
  CHECK(error_of("gpu0.signals.value[ = 1") == "21: = | 0 to 511");
  CHECK_THAT(error_of("gpu0.\x1B[31mfoo = 3"), Catch::StartsWith("6: \x1B[31mfoo | one of system, "));
  CHECK_THAT(error_of("gpu0.dma.\xFF\xFE = 3"), Catch::StartsWith("10: \xFF\xFE | one of output_base, "));
  CHECK_THAT(error_of("gpu0.\xC3\xA4.rows = 3"), Catch::StartsWith("6: \xC3\xA4.rows | one of system, "));
  CHECK(error_of("gpu0 = 3") == "6: = | a dot and a block");
  CHECK(error_of("gpu0.dma.rows 5") == "15: 5 | =, or the end of the line");
  CHECK(error_of("gpu0.dma.rows =") == "16: nothing | a number up to 0xffffffff");
  CHECK(error_of("gpu0.dma.rows = -1") == "17: -1 | a number up to 0xffffffff");
  CHECK(error_of("gpu0.dma.rows = 0x100000000") == "17: 0x100000000 | a number up to 0xffffffff");
  CHECK(error_of("gpu0.dma.rows = 1 2") == "19: 2 | the end of the line");
  CHECK(error_of("gpu0.dma.rows = {a = 1}") == "18: a | a number: rows has no fields");
  CHECK_THAT(error_of("gpu0.dma.layout = {}"), Catch::StartsWith("20: } | one of wavefronts, element"));
  CHECK_THAT(error_of("gpu0.dma.layout = {x = 1}"), Catch::StartsWith("20: x | one of wavefronts, element"));
  CHECK(error_of("gpu0.dma.layout = {element fp16}") == "28: fp16 | =");
  CHECK_THAT(error_of("gpu0.dma.layout = {element = fp8}"), Catch::StartsWith("30: fp8 | one of fp16 (0), bf16 (1), "));
  CHECK(error_of("gpu0.dma.layout = {element = fp16") == "34: nothing | , or }");
  CHECK(error_of("gpu0.dma.layout = {element = fp16, element = fp32}") == "36: element | each field once");
  CHECK(error_of("expect gpu0.dma.rows") == "21: nothing | ==, !=, <, <=, > or >=");
  CHECK(error_of("expect gpu0.dma.rows = 1") == "22: = | ==, !=, <, <=, > or >=");
  CHECK(error_of("expect gpu0.dma.rows == 1 mask 0x1ffffffff") == "32: 0x1ffffffff | a mask up to 0xffffffff");
  CHECK(error_of("expect gpu0.dma.rows == 1 timeout 1 ns") == "27: timeout | mask, or the end of the line");
  CHECK(error_of("expect gpu0.dma.status.busy == 1 mask 1") == "34: mask | the end of the line");
  CHECK(error_of("wait gpu0.dma.rows == 1 timeout 10") == "35: nothing | ps, ns, us or ms");
  CHECK(error_of("wait gpu0.dma.rows == 1 timeout ns") == "33: ns | a time, such as 500 ns");
  CHECK(error_of("delay 1000001 ms") == "15: ms | at most 1000000 ms");
  CHECK(error_of("delay 1 ns 2") == "12: 2 | the end of the line");
  CHECK(error_of("fill gpu0.dma.rows = 1") == "6: gpu0.dma.rows | memory to fill, such as gpu0.memory[0x1000, 64]");
  CHECK(error_of("fill gpu0.memory = 1") == "18: = | [");
  CHECK(error_of("fill gpu0.memory[0x100000, 1] = 1") == "18: 0x100000 | an address below 0x100000");
  CHECK(error_of("fill gpu0.memory[0xfffff, 2] = 1") == "27: 2 | 1 to 0x1 bytes");
  CHECK(error_of("fill gpu0.memory[0, 0] = 1") == "21: 0 | 1 to 0x100000 bytes");
  CHECK(error_of("fill gpu0.memory[0, 8 = 1") == "23: = | ]");
  CHECK(error_of("fill gpu0.memory[0, 8] u8 = 256") == "29: 256 | a number up to 0xff");
  CHECK(error_of("fill gpu0.memory[0, 8] = 1 stride 2") == "28: stride | step, or the end of the line");
  CHECK(error_of("fill gpu2.memory[0, 8] = 1") == "6: gpu2 | gpu0 to gpu1");
  CHECK(error_of("fill gpux.memory[0, 8] = 1") == "6: gpux | gpu and its number, such as gpu0");
  CHECK(error_of("gpu0.memory[0, 8] = 1") == "1: memory | a register to write");
  CHECK(error_of("wait gpu0.memory[0, 8] == 1") == "6: memory | a register to wait for");
  CHECK(error_of("read gpu0.memory[0, 0x10001]") == "6: 0x10001 bytes | at most 0x10000 to show");
  CHECK(error_of("expect gpu0.memory[0, 8] == gpu1.memory[0, 4]") == "29: 4 bytes | 8");
  CHECK(error_of("gpu0.kernel_queue.interrupt[0].failures = 1") ==
        "1: gpu0.kernel_queue.interrupt[0].failures | a field to write: failures is only read");
  CHECK(error_of("gpu0.kernel_queue.interrupt[0] = {failures = 1}") ==
        "35: failures | a field to write: failures is only read");
  CHECK(error_of("refused gpu0.dma.status.code = ok") == "none");
  CHECK(error_of("expect gpu0.memory[0, 8] == gpu1.dma.rows") == "29: gpu1.dma.rows | memory to compare with");
  CHECK(error_of("refused read gpu0.dma.used = 5") == "28: = | the end of the line");
  CHECK(error_of("refused read gpu0.memory[0, 8]") == "14: memory | a register to access");
  CHECK(error_of("refused gpu0.memory[0, 8]") == "9: memory | a register to access");
}

TEST_CASE("a comparison that holds always or never is a mistake") {
  CHECK(error_of("expect gpu0.dma.rows == 0x100 mask 0xff") ==
        "25: 0x100 | no bits but 0xff of the mask: gpu0.dma.rows has no others");
  CHECK(error_of("wait gpu0.dma.rows != 0x100 mask 0xff timeout 1 us") ==
        "23: 0x100 | no bits but 0xff of the mask: gpu0.dma.rows has no others");
  CHECK(error_of("expect gpu0.dma.rows == 0 mask 0") ==
        "32: 0 | a mask with bits of gpu0.dma.rows, which are 0xffffffff");
  CHECK(error_of("expect gpu0.dma.layout == 0x104 mask 0x80000000") ==
        "38: 0x80000000 | a mask with bits of gpu0.dma.layout, which are 0x30f");
  CHECK(error_of("expect gpu0.dma.layout == 0x80000000") ==
        "27: 0x80000000 | no bits but 0x30f: gpu0.dma.layout has no others");
  CHECK(error_of("expect gpu0.dma.rows < 0") ==
        "24: 0 | a value that makes a difference: gpu0.dma.rows is 0 to 0xffffffff");
  CHECK_THAT(error_of("expect gpu0.dma.rows >= 0"), Catch::StartsWith("25: 0 | a value that makes"));
  CHECK_THAT(error_of("expect gpu0.dma.rows <= 0xffffffff"), Catch::StartsWith("25: 0xffffffff | a value that makes"));
  CHECK_THAT(error_of("expect gpu0.dma.rows > 0xffffffff"), Catch::StartsWith("24: 0xffffffff | a value that makes"));
  CHECK(error_of("expect gpu0.dma.rows < 0x51 mask 0x50") ==
        "24: 0x51 | a value that makes a difference: gpu0.dma.rows is 0 to 0x50 with this mask");
  CHECK_THAT(error_of("expect gpu0.dma.rows >= 0x51 mask 0x50"), Catch::StartsWith("25: 0x51 | a value that makes"));
  CHECK(error_of("wait gpu0.dma.status.busy > 1") ==
        "29: 1 | a value that makes a difference: gpu0.dma.status.busy is 0 to 0x1");
  for (const char* relation : {"<", "<=", ">", ">="})
    CHECK_THAT(
        error_of(std::string("expect gpu0.dma.status.code ") + relation + " ok"),
        Catch::StartsWith("29: " + std::string(relation) + " | == or !=: the values of gpu0.dma.status.code are"));
  CHECK(error_of("expect gpu0.dma.layout.element == 3") == "35: 3 | one of fp16 (0), bf16 (1), fp32 (2)");
  CHECK(error_of("expect gpu0.dma.layout != 0x300") == "27: 0x300 | for element one of fp16 (0), bf16 (1), fp32 (2)");
}

TEST_CASE("a comparison that may hold or not is taken") {
  for (const char* line :
       {"expect gpu0.dma.rows == 0xffffffff", "expect gpu0.dma.rows == 0 mask 0xff", "expect gpu0.dma.rows < 1",
        "expect gpu0.dma.rows <= 0", "expect gpu0.dma.rows > 0", "expect gpu0.dma.rows >= 0xffffffff",
        "expect gpu0.dma.rows < 0x50 mask 0x50", "expect gpu0.dma.rows > 0x4f mask 0x50",
        "wait gpu0.dma.status.busy > 0", "expect gpu0.signals.value[0] == 0xffffffffffffffff",
        "expect gpu0.signals.value[0] < 0xffffffffffffffff", "expect gpu0.dma.layout == 0x104",
        "expect gpu0.dma.layout < 0x300", "expect gpu0.dma.layout == 0x100 mask 0x100",
        "expect gpu0.dma.layout.element == 2", "wait gpu0.dma.status.code != ok", "expect gpu0.dma.command == 0"}) {
    CAPTURE(line);
    CHECK(error_of(line) == "none");
  }
}

TEST_CASE("memory is of whole elements that are aligned and compared with other memory") {
  const std::string of_u32 = "a multiple of the 4 bytes of u32; u8 takes any number";
  CHECK(error_of("fill gpu0.memory[0, 7] = 1") == "21: 7 | " + of_u32);
  CHECK(error_of("fill gpu0.memory[0x1002, 8] u32 = 1") == "18: 0x1002 | " + of_u32);
  CHECK(error_of("expect gpu0.memory[0, 6] == 1") == "23: 6 | " + of_u32);
  CHECK(error_of("read gpu0.memory[2, 8]") == "18: 2 | " + of_u32);
  CHECK(error_of("gpu0.memory[0, 9] u16") == "16: 9 | a multiple of the 2 bytes of u16; u8 takes any number");
  CHECK(error_of("fill gpu0.memory[0, 12] u64 = 1") ==
        "21: 12 | a multiple of the 8 bytes of u64; u8 takes any number");
  CHECK(error_of("fill gpu0.memory[3, 7] u8 = 1") == "none");
  CHECK(error_of("expect gpu0.memory[3, 7] == gpu1.memory[3, 7]") == "none");
  CHECK(error_of("expect gpu0.memory[0, 8] == gpu0.memory[0, 8]") ==
        "29: the same memory | other memory to compare with");
  CHECK(error_of("expect gpu0.memory[0, 8] == gpu0.memory[4, 8]") == "none");
}

TEST_CASE("the mark of UTF-8 at a file's beginning does not count") {
  CHECK(without_byte_order_mark("\xEF\xBB\xBFgpu0.dma.rows") == "gpu0.dma.rows");
  CHECK(without_byte_order_mark("\xEF\xBBgpu0.dma.rows") == "\xEF\xBBgpu0.dma.rows");
  CHECK(without_byte_order_mark("") == "");
}

}  // namespace t3vp::test::statement_test
