// Debug accesses see and change stored values without time, callbacks or clearing.
#include <catch2/catch.hpp>

#include "registers/register_driver.h"
#include "registers/sensor.h"

namespace t3vp::test::debug_access_test {

namespace {

struct Bench {
  registers::Sensor sensor{"sensor"};
  RegisterDriver driver{"driver"};

  Bench() {
    driver.drive(sensor);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
};

}  // namespace

TEST_CASE("a debug read shows the stored value and has no side effect") {
  Bench bench;
  int reads = 0;
  bench.sensor.events.set(0x5A);
  bench.sensor.events.on_read([&] { ++reads; });
  bench.sensor.trigger.set(77);

  REQUIRE(bench.driver.debug_read(0x0C, 4) == std::pair<unsigned, std::uint64_t>(4, 0x5A));
  REQUIRE(bench.driver.debug_read(0x0C, 4).second == 0x5A);
  REQUIRE(bench.driver.debug_read(0x10, 8).second == 77);
  REQUIRE(reads == 0);
  REQUIRE(bench.driver.reported.empty());
  REQUIRE(sc_core::sc_time_stamp() == sc_core::SC_ZERO_TIME);
}

TEST_CASE("a debug read has any alignment and ends at the first hole") {
  Bench bench;
  REQUIRE(bench.driver.debug_read(0x1A, 4) == std::pair<unsigned, std::uint64_t>(4, 0xBA987654));
  REQUIRE(bench.driver.debug_read(0x24, 8).first == 4);
  REQUIRE(bench.driver.debug_read(0x44, 4).first == 0);
  REQUIRE(bench.driver.debug_read(~std::uint64_t{0}, 4).first == 0);
}

TEST_CASE("a debug write stores whole registers past their access types and calls nobody") {
  Bench bench;
  int writes = 0;
  bench.sensor.trigger.on_write([&] { ++writes; });

  REQUIRE(bench.driver.debug_write(0x10, 8, 5) == 8);
  REQUIRE(bench.driver.debug_write(0x18, 8, 6) == 8);
  REQUIRE(bench.driver.debug_write(0x08, 8, 0x0000'0031'0000'1234) == 8);
  REQUIRE(bench.sensor.trigger.value() == 5);
  REQUIRE(bench.sensor.sample.value() == 6);
  REQUIRE(bench.sensor.request.value() == 0x1234);
  REQUIRE(bench.sensor.events.value() == 0x31);
  REQUIRE(writes == 0);

  REQUIRE(bench.driver.debug_write(0x10, 4, 1) == 0);
  REQUIRE(bench.driver.debug_write(0x00, 4, 2) == 0);
  REQUIRE(bench.sensor.control.value() == 0x23);
}

TEST_CASE("on_refresh computes a value for bus and debug reads") {
  Bench bench;
  std::uint64_t level = 0;
  bench.sensor.sample.on_refresh([&] { bench.sensor.sample.set(level); });
  bench.sensor.lane.on_refresh([&](std::size_t i) {
    using Kind = registers::Sensor::Lane::Kind;
    bench.sensor.lane[i].kind.set(i == 2 ? Kind::right : Kind::idle);
  });

  level = 41;
  REQUIRE(bench.driver.read(0x18, 8).value == 41);
  level = 42;
  REQUIRE(bench.driver.debug_read(0x18, 8).second == 42);
  REQUIRE(bench.driver.read(0x50, 4).value == 9);
  REQUIRE(bench.driver.debug_read(0x58, 4).second == 0);
}

TEST_CASE("direct memory access is refused") {
  Bench bench;
  tlm::tlm_dmi dmi;
  REQUIRE_FALSE(bench.driver.socket->get_direct_mem_ptr(bench.driver.prepare(tlm::TLM_READ_COMMAND, 0, 4, 0), dmi));
}

}  // namespace t3vp::test::debug_access_test
