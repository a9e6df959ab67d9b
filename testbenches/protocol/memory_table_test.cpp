#include "protocol/memory_table.h"

#include <catch2/catch.hpp>

namespace t3vp::test {

namespace {

using Use = MemoryUse;

std::string rule(const MemoryTable& table, std::uint64_t begin, std::uint64_t end, bool protects_driver = false) {
  const auto fault = table.fault_of(begin, end, protects_driver);
  return fault ? fault->rule : "";
}

std::string detail(const MemoryTable& table, std::uint64_t begin, std::uint64_t end) {
  const auto fault = table.fault_of(begin, end, true);
  return fault ? fault->detail : "";
}

}  // namespace

TEST_CASE("a memory of which nothing was said is not checked") {
  MemoryTable table;
  CHECK(rule(table, 0, 64).empty());
  CHECK(table.tell(0x100, 0x40, Use::allocated, 0).empty());
  CHECK_FALSE(rule(table, 0, 64).empty());
  CHECK(table.tell(0, 0, Use::free, 0).empty());
  CHECK(rule(table, 0, 64).empty());
}

TEST_CASE("an access has to be within one piece, from its first byte to its last") {
  MemoryTable table;
  table.tell(0x100, 0x40, Use::allocated, 0);
  table.tell(0x140, 0x40, Use::allocated, 0);
  for (int time = 0; time < 2; ++time) {  // the second one is answered by the latest piece
    CHECK(rule(table, 0x100, 0x140).empty());
    CHECK(rule(table, 0x13F, 0x140).empty());
    CHECK(rule(table, 0x140, 0x180).empty());
  }
  CHECK(rule(table, 0x100, 0x141) == "access beyond the end of a piece");
  CHECK(detail(table, 0x100, 0x141) == "the piece is 0x100 to 0x13f");
  CHECK(rule(table, 0xFF, 0x101) == "access to memory that is not allocated");
  CHECK(detail(table, 0xFF, 0x101) == "no piece lies before it");
  CHECK(detail(table, 0x180, 0x181) == "the piece before it ends at 0x17f");
}

TEST_CASE("a freed piece is told with its time until it is allocated again") {
  MemoryTable table;
  table.tell(0x100, 0x40, Use::allocated, 0);
  CHECK(rule(table, 0x100, 0x104).empty());
  CHECK(table.tell(0x100, 0x40, Use::free, 12'500).empty());
  CHECK(rule(table, 0x100, 0x104) == "access to freed memory");
  CHECK(detail(table, 0x100, 0x104) == "0x100 to 0x13f was freed at 12.500 ns");
  table.tell(0x120, 0x20, Use::allocated, 13'000);
  CHECK(rule(table, 0x120, 0x140).empty());
  CHECK(rule(table, 0x100, 0x120) == "access to freed memory");
}

TEST_CASE("the driver's memory is for some and not for others") {
  MemoryTable table;
  table.tell(0x100, 0x40, Use::driver, 0);
  CHECK(rule(table, 0x100, 0x140).empty());
  CHECK(rule(table, 0x100, 0x140, true) == "access to memory that the driver keeps");
}

TEST_CASE("what cannot be so is refused and changes nothing") {
  MemoryTable table;
  table.tell(0x100, 0x40, Use::allocated, 0);
  for (const auto& [begin, bytes] : {std::pair{0xF0u, 0x11u}, {0x100u, 0x40u}, {0x13Fu, 1u}, {0x80u, 0x200u}})
    CHECK_THAT(table.tell(begin, bytes, Use::allocated, 0), Catch::Contains("some of which it has already"));
  CHECK_THAT(table.tell(0x200, 0, Use::allocated, 0), Catch::Contains("no range"));
  CHECK_THAT(table.tell(~std::uint64_t{0}, 2, Use::allocated, 0), Catch::Contains("no range"));
  for (const auto& [begin, bytes] : {std::pair{0x100u, 0x20u}, {0x110u, 0x30u}, {0x200u, 0x40u}})
    CHECK_THAT(table.tell(begin, bytes, Use::free, 0), Catch::Contains("no piece that it has"));
  CHECK(rule(table, 0x100, 0x140).empty());
  CHECK_FALSE(rule(table, 0x200, 0x201).empty());
}

}  // namespace t3vp::test
