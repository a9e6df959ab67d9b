// C and C++ agree about a register and a status.
#include "registers/firmware_headers.h"

#include <catch2/catch.hpp>

#include "registers/dma.h"
#include "registers/register_driver.h"
#include "registers/signals.h"

namespace t3vp::test::firmware_headers_test {

TEST_CASE("what firmware writes is what the block sees") {
  registers::Dma dma("dma");
  registers::Signals signals("signals");
  RegisterDriver to_dma("to_dma"), to_signals("to_signals");
  to_dma.drive(dma);
  to_signals.drive(signals);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);

  using Command = registers::Dma::Command;
  to_dma.write(0x38, 4, staged_update());
  REQUIRE(dma.command.action() == Command::Action::add);
  REQUIRE(dma.command.operation() == Command::Operation::update);

  std::size_t counter = 0;
  signals.add.on_write([&](std::size_t i) { counter = i; });
  to_signals.write(address_of_counter(511), 8, 1);
  REQUIRE(counter == 511);
}

TEST_CASE("both languages have the same status texts") {
  for (const Status status : status_values)
    REQUIRE(std::string(text_of_code(static_cast<std::uint32_t>(status))) == text_of(status));
  REQUIRE(std::string(text_of_code(4)) == "the table has no free entry");
  REQUIRE(std::string(name_of(Status::table_full)) == "table_full");
}

}  // namespace t3vp::test::firmware_headers_test
