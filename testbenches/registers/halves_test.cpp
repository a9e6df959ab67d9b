// 64-bit registers by 32-bit halves: the low one first, one write and one read of the register.
#include <catch2/catch.hpp>

#include "registers/register_driver.h"
#include "registers/sensor.h"

namespace t3vp::test::halves_test {

using Catch::Matchers::Contains;

namespace {

constexpr std::uint64_t trigger = 0x10, sample = 0x18, wide = 0x30;

struct Bench {
  registers::Sensor sensor{"sensor"};
  RegisterDriver driver{"driver"};
  std::vector<std::uint64_t> triggered;

  Bench() {
    driver.drive(sensor);
    sensor.trigger.on_write([this] { triggered.push_back(sensor.trigger.value()); });
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  void require_refused(tlm::tlm_response_status status, const std::string& text) {
    REQUIRE(status == tlm::TLM_BURST_ERROR_RESPONSE);
    REQUIRE(driver.reported.size() == 1);
    CHECK_THAT(driver.reported[0].text, Contains(text));
    REQUIRE(driver.take_report() == Status::bad_access);
  }
};

}  // namespace

TEST_CASE("halves of a write act once and whole when the high one comes") {
  Bench bench;
  REQUIRE(bench.driver.write(trigger, 4, 0x9ABCDEF0) == tlm::TLM_OK_RESPONSE);
  REQUIRE(bench.triggered.empty());
  REQUIRE(bench.sensor.trigger.value() == 0);
  REQUIRE(bench.driver.write(trigger + 4, 4, 0x12345678) == tlm::TLM_OK_RESPONSE);
  REQUIRE(bench.triggered == std::vector<std::uint64_t>{0x1234'5678'9ABC'DEF0});
  REQUIRE(bench.driver.reported.empty());
}

TEST_CASE("halves of a read are of one moment") {
  Bench bench;
  std::uint64_t counter = 0xFFFF'FFFF;
  bench.sensor.sample.on_refresh([&] { bench.sensor.sample.set(counter); });
  REQUIRE(bench.driver.read(sample, 4).value == 0xFFFF'FFFF);
  bench.sensor.sample.set(++counter);
  REQUIRE(bench.driver.read(sample + 4, 4).value == 0);
  REQUIRE(bench.driver.read(sample, 4).value == 0);
  REQUIRE(bench.driver.read(sample + 4, 4).value == 1);
}

TEST_CASE("a high half without its low half is refused and changes nothing") {
  Bench bench;
  bench.require_refused(bench.driver.write(trigger + 4, 4, 7),
                        "sensor.trigger: high half written at 0x14, expected the low half at 0x10 before it");
  bench.require_refused(bench.driver.read(sample + 4, 4).status, "sensor.sample: high half read at 0x1c");
  // The other order: high, low. The low half is held and waits for another high one.
  REQUIRE(bench.driver.write(trigger, 4, 5) == tlm::TLM_OK_RESPONSE);
  REQUIRE(bench.triggered.empty());
  REQUIRE(bench.driver.write(trigger + 4, 4, 6) == tlm::TLM_OK_RESPONSE);
  REQUIRE(bench.triggered == std::vector<std::uint64_t>{0x0000'0006'0000'0005});
  // A low half serves one high half.
  bench.require_refused(bench.driver.write(trigger + 4, 4, 8), "high half written");
  REQUIRE(bench.driver.read(sample, 4).status == tlm::TLM_OK_RESPONSE);
  REQUIRE(bench.driver.read(sample + 4, 4).status == tlm::TLM_OK_RESPONSE);
  bench.require_refused(bench.driver.read(sample + 4, 4).status, "high half read");
  REQUIRE(bench.triggered.size() == 1);
}

TEST_CASE("other registers may be accessed between two halves and halves of another one replace the first") {
  Bench bench;
  bench.driver.write(wide, 4, 0x1111'1111);
  bench.driver.write(0x00, 4, 0x11);
  bench.driver.read(0x00, 4);
  bench.driver.read(sample, 8);
  bench.driver.read(sample, 4);  // reads and writes have a half each
  REQUIRE(bench.driver.write(wide + 4, 4, 0x2222'2222) == tlm::TLM_OK_RESPONSE);
  REQUIRE(bench.driver.read(sample + 4, 4).value == 0xFEDC'BA98);
  REQUIRE(bench.driver.read(wide, 8).value == 0x2222'2222'1111'1111);

  bench.driver.write(wide, 4, 0x3333'3333);
  bench.driver.write(trigger, 4, 0x4444'4444);
  bench.require_refused(bench.driver.write(wide + 4, 4, 0), "sensor.wide: high half written");
  REQUIRE(bench.driver.write(trigger + 4, 4, 0) == tlm::TLM_OK_RESPONSE);
  REQUIRE(bench.triggered == std::vector<std::uint64_t>{0x4444'4444});
  REQUIRE(bench.sensor.wide.value() == 0x2222'2222'1111'1111);
}

TEST_CASE("the last low half counts and a whole write or a reset forgets it") {
  Bench bench;
  bench.driver.write(wide, 4, 1);
  bench.driver.write(wide, 4, 2);
  REQUIRE(bench.driver.write(wide + 4, 4, 3) == tlm::TLM_OK_RESPONSE);
  REQUIRE(bench.sensor.wide.value() == 0x0000'0003'0000'0002);
  bench.driver.write(wide, 4, 4);
  REQUIRE(bench.driver.write(wide, 8, 5) == tlm::TLM_OK_RESPONSE);
  bench.require_refused(bench.driver.write(wide + 4, 4, 6), "high half written");
  bench.driver.write(wide, 4, 7);
  bench.sensor.reset();
  bench.require_refused(bench.driver.write(wide + 4, 4, 8), "high half written");
  REQUIRE(bench.sensor.wide.value() == 0);
}

TEST_CASE("a half is refused like the whole register and the low half of a refused write is forgotten") {
  Bench bench;
  REQUIRE(bench.driver.write(sample, 4, 1) == tlm::TLM_COMMAND_ERROR_RESPONSE);
  REQUIRE(bench.driver.take_report() == Status::access_denied);
  REQUIRE(bench.driver.read(trigger, 4).status == tlm::TLM_COMMAND_ERROR_RESPONSE);
  REQUIRE(bench.driver.take_report() == Status::access_denied);
  REQUIRE(bench.driver.read(trigger + 4, 4).status == tlm::TLM_COMMAND_ERROR_RESPONSE);
  REQUIRE(bench.driver.take_report() == Status::access_denied);
  bench.sensor.wide.on_write([&] { bench.sensor.refuse(Status::unaligned, "an even number expected"); });
  bench.driver.write(wide, 4, 9);
  REQUIRE(bench.driver.write(wide + 4, 4, 9) == tlm::TLM_GENERIC_ERROR_RESPONSE);
  REQUIRE(bench.driver.take_report() == Status::unaligned);
  REQUIRE(bench.sensor.wide.value() == 0);
  bench.require_refused(bench.driver.write(wide + 4, 4, 9), "high half written");
}

}  // namespace t3vp::test::halves_test
