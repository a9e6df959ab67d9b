// How a block uses its registers: typed fields, callbacks, locks, synchronization, reset.
#include <catch2/catch.hpp>

#include "registers/register_driver.h"
#include "registers/sensor.h"

namespace t3vp::test::register_block_test {

using Catch::Matchers::Contains;
using registers::Sensor;

namespace {

struct Bench {
  Sensor sensor{"sensor"};
  RegisterDriver driver{"driver"};
  sc_core::sc_signal<bool> reset_line{"reset_line"};

  Bench() {
    driver.drive(sensor);
    sensor.reset_line(reset_line);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
};

}  // namespace

TEST_CASE("fields have the types of their enumerations") {
  Bench bench;
  REQUIRE(bench.sensor.control.mode() == Sensor::Control::Mode::high);
  REQUIRE(bench.sensor.control.gain() == 2);
  REQUIRE(bench.driver.write(0x00, 4, 0x71) == tlm::TLM_OK_RESPONSE);
  REQUIRE(bench.sensor.control.mode() == Sensor::Control::Mode::low);
  REQUIRE(bench.sensor.control.gain() == 7);

  bench.sensor.control.ready.set(true);
  bench.sensor.result.code.set(Status::table_full);
  REQUIRE(bench.driver.read(0x00, 4).value == 0x171);
  REQUIRE(bench.driver.read(0x24, 4).value == 4);
}

TEST_CASE("a register is at the offset that its class has") {
  Bench bench;
  REQUIRE(bench.driver.read(Sensor::sample_offset, 8).value == 0xFEDCBA9876543210);
  bench.sensor.lane[2].set(9);
  REQUIRE(bench.driver.read(Sensor::lane_offset + 2 * Sensor::lane_stride, 4).value == 9);
  REQUIRE(bench.sensor.lane.size() == Sensor::lane_count);
}

TEST_CASE("RO fields ignore what is written, WO fields read as 0") {
  Bench bench;
  REQUIRE(bench.driver.write(0x00, 4, 0x333) == tlm::TLM_OK_RESPONSE);
  REQUIRE_FALSE(bench.sensor.control.ready());
  REQUIRE(bench.sensor.control.arm());
  REQUIRE(bench.driver.read(0x00, 4).value == 0x33);
}

TEST_CASE("set() of the block drops reserved bits and runs no callback") {
  Bench bench;
  int writes = 0;
  bench.sensor.control.on_write([&] { ++writes; });
  bench.sensor.control.set(0xFFFF'FFFF'0000'0133);
  REQUIRE(bench.sensor.control.value() == 0x133);
  bench.sensor.fifo.set(0x1'0000'0001);
  REQUIRE(bench.sensor.fifo.value() == 1);
  REQUIRE(writes == 0);
}

TEST_CASE("reading clears RC bits, writing ones clears or sets") {
  Bench bench;
  bench.sensor.events.set(0xFF);
  REQUIRE(bench.driver.read(0x0C, 4).value == 0xFF);
  REQUIRE(bench.driver.read(0x0C, 4).value == 0xF0);

  bench.sensor.interrupt.set(0xF1);
  REQUIRE(bench.driver.write(0x04, 4, 0x31) == tlm::TLM_OK_RESPONSE);
  REQUIRE(bench.driver.read(0x04, 4).value == 0xC0);

  bench.driver.write(0x08, 4, 0x0F);
  bench.driver.write(0x08, 4, 0xF0);
  REQUIRE(bench.driver.read(0x08, 4).value == 0xFF);
}

TEST_CASE("callbacks see the stored value, those of arrays their element") {
  Bench bench;
  std::uint64_t triggered = 0;
  std::vector<std::pair<std::size_t, Sensor::Lane::Kind>> lanes;
  std::uint64_t next = 10;
  bench.sensor.trigger.on_write([&] { triggered = bench.sensor.trigger.value(); });
  bench.sensor.lane.on_write([&](std::size_t i) { lanes.emplace_back(i, bench.sensor.lane[i].kind()); });
  bench.sensor.fifo.on_read([&] { bench.sensor.fifo.set(next++); });

  bench.driver.write(0x10, 8, 0x1234'5678'9ABC'DEF0);
  bench.driver.write(0x58, 4, 9);
  bench.driver.write(0x48, 4, 5);
  REQUIRE(triggered == 0x1234'5678'9ABC'DEF0);
  REQUIRE(lanes == decltype(lanes){{3, Sensor::Lane::Kind::right}, {1, Sensor::Lane::Kind::left}});
  REQUIRE(bench.driver.read(0x20, 4).value == 10);
  REQUIRE(bench.driver.read(0x20, 4).value == 11);
}

TEST_CASE("a wrong access runs no callback and says what was expected") {
  Bench bench;
  int calls = 0;
  bench.sensor.lane.on_write([&](std::size_t) { ++calls; });
  bench.sensor.trigger.on_read([&] { ++calls; });

  bench.driver.write(0x48, 4, 6);
  bench.driver.write(0x00, 4, 0x400);
  bench.driver.read(0x10, 8);
  bench.driver.read(0x12, 4);
  bench.driver.read(0x44, 4);
  REQUIRE(calls == 0);
  REQUIRE(bench.driver.reporter == "sensor");
  REQUIRE(bench.driver.reported.size() == 5);
  REQUIRE(bench.driver.reported[0].address == 0x48);
  CHECK_THAT(bench.driver.reported[0].text, Contains("sensor.lane[1].kind: 6") && Contains("right (9)"));
  CHECK_THAT(bench.driver.reported[1].text, Contains("sensor.control: 0x400") && Contains("0x3f3"));
  CHECK_THAT(bench.driver.reported[2].text, Contains("sensor.trigger: read"));
  CHECK_THAT(bench.driver.reported[3].text, Contains("4 bytes at 0x12") && Contains("8 bytes at 0x10"));
  CHECK_THAT(bench.driver.reported[4].text, Contains("no register at 0x44, expected one of those between 0x0 and 0x"));
}

TEST_CASE("a refused write is answered with an error and undone") {
  Bench bench;
  bench.sensor.request.on_write([&] {
    if (bench.sensor.request.value() == 3) bench.sensor.refuse(Status::unaligned, "an even number expected");
  });
  bench.driver.write(0x08, 4, 1);
  REQUIRE(bench.driver.write(0x08, 4, 2) == tlm::TLM_GENERIC_ERROR_RESPONSE);
  REQUIRE(bench.driver.reported.at(0).address == 0x08);
  REQUIRE(bench.driver.reported[0].text == "sensor.request: 0x2, an even number expected");
  REQUIRE(bench.driver.take_report() == Status::unaligned);
  REQUIRE(bench.driver.read(0x08, 4).value == 1);
  REQUIRE(bench.driver.write(0x08, 4, 4) == tlm::TLM_OK_RESPONSE);
}

TEST_CASE("a refused read is answered with an error") {
  Bench bench;
  bench.sensor.fifo.on_read([&] { bench.sensor.refuse(Status::disabled, "it is empty"); });
  REQUIRE(bench.driver.read(0x20, 4).status == tlm::TLM_GENERIC_ERROR_RESPONSE);
  REQUIRE(bench.driver.reported.at(0).text == "sensor.fifo: read, it is empty");
  REQUIRE(bench.driver.read(0x18, 8).status == tlm::TLM_OK_RESPONSE);
}

TEST_CASE("a block that knows where it lies reports whole addresses") {
  Bench bench;
  constexpr std::uint64_t base = 0x3F0000050000;
  bench.sensor.locate(base);
  bench.sensor.request.on_write([&] { bench.sensor.refuse(Status::unaligned, "no"); });
  bench.driver.write(0x08, 4, 2);  // refused by the block
  bench.driver.write(0x48, 4, 6);  // no member
  bench.driver.write(0x00, 4, 0x400);
  bench.driver.read(0x10, 8);
  bench.driver.read(0x12, 2);
  bench.driver.read(0x44, 4);
  std::vector<std::uint64_t> offsets;
  for (const ErrorRecord& record : bench.driver.reported) offsets.push_back(record.address - base);
  REQUIRE(offsets == std::vector<std::uint64_t>{0x08, 0x48, 0x00, 0x10, 0x12, 0x44});
  CHECK_THAT(bench.driver.reported[4].text, Contains("2 bytes at 0x3f0000050012, expected 8 bytes at 0x3f0000050010"));
  CHECK_THAT(bench.driver.reported[5].text, Contains("no register at 0x3f0000050044, expected one of those between "
                                                     "0x3f0000050000 and 0x3f00000500"));
}

TEST_CASE("a register that locks is written when its block is idle") {
  Bench bench;
  bool busy = true;
  bench.sensor.lock_while("it measures", [&] { return busy; });
  REQUIRE(bench.driver.write(0x00, 4, 0) == tlm::TLM_COMMAND_ERROR_RESPONSE);
  REQUIRE(bench.driver.reported.at(0).text ==
          "sensor.control: 0x0 written while it measures: locked until that has ended");
  REQUIRE(bench.driver.take_report() == Status::access_denied);
  REQUIRE(bench.driver.read(0x00, 4).value == 0x23);
  busy = false;
  REQUIRE(bench.driver.write(0x00, 4, 0) == tlm::TLM_OK_RESPONSE);
}

TEST_CASE("only a synchronizing register waits for the initiator's local time") {
  Bench bench;
  const sc_core::sc_time ahead(30, sc_core::SC_NS);
  sc_core::sc_time acted;
  sc_core::sc_time after_plain, after_sync = ahead;
  bench.sensor.trigger.on_write([&] { acted = sc_core::sc_time_stamp(); });
  sc_core::sc_spawn([&] {
    bench.driver.delay = ahead;
    bench.driver.write(0x08, 4, 1);
    after_plain = bench.driver.delay;
    bench.driver.write(0x10, 8, 1);
    after_sync = bench.driver.delay;
  });
  sc_core::sc_start();
  REQUIRE(after_plain == ahead);
  REQUIRE(acted == ahead);
  REQUIRE(after_sync == sc_core::SC_ZERO_TIME);
}

TEST_CASE("reset by line or by call restores every element and tells the block") {
  Bench bench;
  int resets = 0;
  bench.sensor.on_reset([&] {
    ++resets;
    bench.sensor.fifo.set(8);
  });
  bench.driver.write(0x00, 4, 0);
  bench.driver.write(0x58, 4, 9);
  bench.reset_line.write(true);
  sc_core::sc_start(1, sc_core::SC_NS);
  REQUIRE(resets == 1);
  REQUIRE(bench.driver.read(0x00, 4).value == 0x23);
  REQUIRE(bench.driver.read(0x58, 4).value == 5);
  REQUIRE(bench.driver.read(0x20, 4).value == 8);

  bench.reset_line.write(false);
  sc_core::sc_start(1, sc_core::SC_NS);
  REQUIRE(resets == 1);
  bench.sensor.reset();
  REQUIRE(resets == 2);
}

TEST_CASE("names that are taken get a suffix") {
  Bench bench;
  bench.driver.write(0x60, 4, 0xAB00);
  REQUIRE(bench.sensor.reset_register.value_field() == 0xAB);
}

TEST_CASE("errors and reset line are optional") {
  Sensor sensor("sensor");
  RegisterDriver driver("driver");
  driver.socket.bind(sensor.socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  REQUIRE(driver.read(0x1000, 4).status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST_CASE("a command to ignore changes nothing") {
  Bench bench;
  bench.driver.prepare(tlm::TLM_IGNORE_COMMAND, 0x00, 4, 1);
  REQUIRE(bench.driver.send().status == tlm::TLM_OK_RESPONSE);
  REQUIRE(bench.sensor.control.value() == 0x23);
}

}  // namespace t3vp::test::register_block_test
