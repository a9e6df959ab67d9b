// Every rule of the control path's checker is broken once.
#include <catch2/catch.hpp>

#include "protocol/socket_probes.h"
#include "raw_sockets.h"

namespace t3vp::test::control_checker_test {

namespace {

constexpr auto by_initiator = Violation::By::initiator, by_target = Violation::By::target;
using Payload = tlm::tlm_generic_payload;
using Time = sc_core::sc_time;

struct LeftBehind : tlm::tlm_extension<LeftBehind> {
  tlm::tlm_extension_base* clone() const override { return nullptr; }
  void copy_from(const tlm::tlm_extension_base&) override {}
};

struct ControlBench {
  RawInitiator<64, tlm::tlm_base_protocol_types> initiator{"initiator"};
  RawTarget<64, tlm::tlm_base_protocol_types> target{"target"};
  SocketProbes probes{true};
  unsigned char data[8] = {};
  Payload payload;

  ControlBench() {
    probes.join(initiator.socket, target.socket);
    serve([](Payload&, Time&) {});
    target.debug = [](Payload& t) { return t.get_data_length(); };
    target.direct = [](Payload&, tlm::tlm_dmi&) { return false; };
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  template <typename Serve>
  void serve(Serve serve) {
    target.blocking = [serve](Payload& t, Time& delay) {
      t.set_response_status(tlm::TLM_OK_RESPONSE);
      serve(t, delay);
    };
  }
  Payload& prepare() {
    payload.set_write();
    payload.set_address(0x40);
    payload.set_data_ptr(data);
    payload.set_data_length(8);
    payload.set_streaming_width(8);
    payload.set_byte_enable_ptr(nullptr);
    payload.set_byte_enable_length(0);
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    return payload;
  }
  void access(Picoseconds delay = 500) {
    Time time = to_sc_time(delay);
    initiator.socket->b_transport(payload, time);
  }
  void found(const std::string& rule, Violation::By by) {
    const std::vector<Violation> list = probes.violations().take();
    CAPTURE(rule);
    for (const Violation& violation : list) UNSCOPED_INFO(violation.text());
    REQUIRE(list.size() == 1);
    CHECK_THAT(list[0].rule, Catch::Contains(rule));
    CHECK(list[0].by == by);
    CHECK_THAT(list[0].text(), Catch::StartsWith("initiator.socket -> target.socket: "));
  }
};

}  // namespace

TEST_CASE("control traffic that keeps the rules passes its checker unmentioned") {
  ControlBench bench;
  bench.serve([&](Payload& t, Time& delay) {
    CHECK(&t == &bench.payload);
    CHECK(from_sc_time(delay) == 500);
    delay += to_sc_time(100);
  });
  bench.prepare();
  Time time = to_sc_time(500);
  bench.initiator.socket->b_transport(bench.payload, time);
  REQUIRE(from_sc_time(time) == 600);
  REQUIRE(bench.initiator.socket->transport_dbg(bench.prepare()) == 8);
  tlm::tlm_dmi dmi;
  REQUIRE_FALSE(bench.initiator.socket->get_direct_mem_ptr(bench.prepare(), dmi));
  bench.target.direct = [&](Payload&, tlm::tlm_dmi& granted) {
    granted.set_dmi_ptr(bench.data);
    granted.set_start_address(0x40);
    granted.set_end_address(0x47);
    return true;
  };
  REQUIRE(bench.initiator.socket->get_direct_mem_ptr(bench.prepare(), dmi));
  REQUIRE(bench.probes.violations().count() == 0);
}

TEST_CASE("the control checker sees what is wrong with a request and that it is answered with OK") {
  ControlBench bench;
  bool refuses = true;
  bench.serve([&](Payload& t, Time&) {
    if (refuses) t.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  });
  const auto sent = [&](const char* rule, auto spoil) {
    spoil(bench.prepare());
    bench.access();
    bench.found(rule, by_initiator);
  };
  sent("not INCOMPLETE", [](Payload& t) { t.set_response_status(tlm::TLM_OK_RESPONSE); });
  sent("no bytes", [](Payload& t) { t.set_data_length(0); });
  sent("without data", [](Payload& t) { t.set_data_ptr(nullptr); });
  sent("streaming width is 0", [](Payload& t) { t.set_streaming_width(0); });
  sent("byte enables have no length", [&](Payload& t) { t.set_byte_enable_ptr(bench.data); });
  refuses = false;
  bench.prepare().set_streaming_width(0);
  bench.access();
  const auto both = bench.probes.violations().take();
  REQUIRE(both.size() == 2);
  CHECK(both[1].by == by_target);
  CHECK_THAT(both[1].rule, Catch::Contains("malformed request answered with OK"));
}

TEST_CASE("the control checker sees what is wrong with a response") {
  ControlBench bench;
  LeftBehind extension;
  const auto served = [&](const char* rule, auto serve) {
    bench.serve(serve);
    bench.prepare();
    bench.access();
    bench.found(rule, by_target);
    bench.payload.clear_extension(&extension);
  };
  served("status is INCOMPLETE", [](Payload& t, Time&) { t.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE); });
  served("delay made smaller", [](Payload&, Time& delay) { delay = to_sc_time(499); });
  served("address changed", [](Payload& t, Time&) { t.set_address(0x48); });
  served("command changed", [](Payload& t, Time&) { t.set_read(); });
  served("data pointer changed", [&](Payload& t, Time&) { t.set_data_ptr(bench.data + 1); });
  served("data length changed", [](Payload& t, Time&) { t.set_data_length(4); });
  served("streaming width changed", [](Payload& t, Time&) { t.set_streaming_width(4); });
  served("byte enables changed", [&](Payload& t, Time&) { t.set_byte_enable_ptr(bench.data); });
  served("data of a write changed", [&](Payload&, Time&) { bench.data[3] ^= 1; });
  served("extension left behind", [&](Payload& t, Time&) { t.set_extension(&extension); });
}

TEST_CASE("a target of the control path may wait instead of annotating its delay") {
  ControlBench bench;
  bench.serve([](Payload&, Time& delay) {
    sc_core::wait(delay);
    delay = sc_core::SC_ZERO_TIME;
  });
  bench.prepare();
  sc_core::sc_spawn([&] { bench.access(); });
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
  REQUIRE(bench.probes.violations().count() == 0);
}

TEST_CASE("the control checker sees what is wrong with debug and direct accesses") {
  ControlBench bench;
  const auto served = [&](const char* rule, std::function<unsigned(Payload&)> serve) {
    bench.target.debug = std::move(serve);
    bench.initiator.socket->transport_dbg(bench.prepare());
    bench.found(rule, by_target);
  };
  served("more bytes", [](Payload&) { return 9u; });
  served("address changed", [](Payload& t) {
    t.set_address(0);
    return 8u;
  });
  served("data of a write changed", [&](Payload&) {
    bench.data[0] ^= 1;
    return 8u;
  });
  bench.target.debug = [](Payload&) {
    sc_core::wait(sc_core::SC_ZERO_TIME);
    return 8u;
  };
  sc_core::sc_spawn([&] { bench.initiator.socket->transport_dbg(bench.prepare()); });
  sc_core::sc_start(sc_core::sc_time(2, sc_core::SC_NS));
  bench.found("took time", by_target);

  const auto granted = [&](const char* rule, unsigned char* pointer, std::uint64_t begin, std::uint64_t end) {
    bench.target.direct = [=](Payload&, tlm::tlm_dmi& dmi) {
      dmi.set_dmi_ptr(pointer);
      dmi.set_start_address(begin);
      dmi.set_end_address(end);
      return true;
    };
    tlm::tlm_dmi dmi;
    bench.initiator.socket->get_direct_mem_ptr(bench.prepare(), dmi);
    bench.found(rule, by_target);
  };
  granted("without a pointer", nullptr, 0, 0xFF);
  granted("elsewhere", bench.data, 0x48, 0xFF);
  granted("elsewhere", bench.data, 0, 0x3F);
}

}  // namespace t3vp::test::control_checker_test
