// A switch by itself: links' ends stand at its ports, so that all times are the switch's own.
//
// The expected times follow from these rules. A packet leaves one latency of the switch after its arrival. The link
// that takes it reports the time, and the sender is notified of it without a delay: the switch's receive buffer is free
// then. A response goes back one latency after the last of those that it combines.
#include "interconnect/switch.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "data_path/checked_sockets.h"
#include "data_path/initiator.h"
#include "data_path/target.h"
#include "interconnect/link_packet.h"

namespace t3vp::test::switch_test {

using namespace interconnect;

namespace {

constexpr std::size_t ports = 3;
constexpr Picoseconds latency = 100'123;
constexpr std::uint64_t local = 0x4000;

struct SwitchBench {
  Switch node{"switch", latency, {0, 1, 2}, routes(), ports, true};
  std::vector<std::unique_ptr<DataInitiator>> from;
  std::vector<std::unique_ptr<DataTarget>> to;
  TransactionPool pool;
  CheckedSockets checks;

  SwitchBench() {
    for (std::size_t i = 0; i < ports; ++i) {
      from.push_back(std::make_unique<DataInitiator>(("from_" + std::to_string(i)).c_str()));
      to.push_back(std::make_unique<DataTarget>(("to_" + std::to_string(i)).c_str()));
      checks.join_test(from[i]->socket, *node.ingress[i]);
      checks.join(*node.egress[i], to[i]->socket);
    }
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  /// GPU g is behind port g, by virtual channel g + 4. There is no GPU 3.
  static Route routes() {
    Route route;
    for (std::uint32_t g = 0; g < ports; ++g) route.push_back({g, static_cast<std::uint8_t>(g + 4)});
    return route;
  }
  static DataAccess store(std::uint64_t gpu) {
    DataAccess access;
    access.operation = Operation::store;
    access.address = address_map::on_gpu(gpu, local);
    access.shape = {1, 64, 0};
    access.traffic = TrafficClass::gemm_write;
    return access;
  }
  void hold() {
    for (const auto& target : to) target->holds = true;
  }
  static void run_to(Picoseconds time) { sc_core::sc_start(to_sc_time(time - now())); }
  static void settle() { sc_core::sc_start(); }
};

}  // namespace

TEST_CASE(
    "a switch passes a store on after its latency, tells at once when it is taken, and answers after its latency") {
  SwitchBench bench;
  bench.hold();
  SwitchBench::run_to(1'000);
  const std::size_t number = bench.from[0]->send(SwitchBench::store(2), 500);
  SwitchBench::run_to(200'000);
  REQUIRE(bench.to[2]->arrivals().size() == 1);
  CHECK(bench.to[2]->arrivals()[0].at == 101'623);  // 1'000 + 500 + 100'123
  CHECK(bench.to[2]->arrivals()[0].address == address_map::on_gpu(2, local));
  CHECK(bench.to[2]->arrivals()[0].extension.fabric.lane == Lane{6, 1});  // channel of GPU 2; the first input
  CHECK(bench.from[0]->answer(number).taken == 0);
  bench.to[2]->take_all(40);
  CHECK(bench.from[0]->answer(number).taken == 1);
  CHECK(bench.from[0]->answer(number).taken_at == 200'040);
  SwitchBench::run_to(300'000);
  bench.to[2]->latency = 7;
  bench.to[2]->answer_all();
  SwitchBench::settle();
  CHECK(bench.from[0]->answer(number).ok());
  CHECK(bench.from[0]->answer(number).at == 400'130);  // 300'000 + 7 + 100'123
  CHECK(bench.to[0]->arrivals().empty());
  CHECK(bench.to[1]->arrivals().empty());
}

TEST_CASE("a switch that has no route answers at the time of arrival") {
  SwitchBench bench;
  SwitchBench::run_to(1'000);
  const std::size_t number = bench.from[1]->send(SwitchBench::store(3), 500);
  SwitchBench::settle();
  CHECK(bench.from[1]->answer(number).status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  CHECK(bench.from[1]->answer(number).at == 1'500);
}

TEST_CASE(
    "a store to all GPUs leaves by every port after the latency and keeps its place until the last link takes it") {
  SwitchBench bench;
  bench.hold();
  SwitchBench::run_to(1'000);
  const std::size_t number = bench.from[1]->send(SwitchBench::store(address_map::all_gpus), 500);
  SwitchBench::run_to(200'000);
  for (std::size_t i = 0; i < ports; ++i) {
    CAPTURE(i);
    REQUIRE(bench.to[i]->arrivals().size() == 1);
    CHECK(bench.to[i]->arrivals()[0].at == 101'623);  // 1'000 + 500 + 100'123
    CHECK(bench.to[i]->arrivals()[0].address == address_map::on_gpu(i, local));
    CHECK(bench.to[i]->arrivals()[0].extension.fabric.lane == Lane{static_cast<std::uint8_t>(i + 4), 2});
  }
  // The link of port 2 says first that it takes the store the latest of all, 9'000 ahead.
  bench.to[2]->take_all(9'000);
  SwitchBench::run_to(201'000);
  bench.to[0]->take_all(30);
  CHECK(bench.from[1]->answer(number).taken == 0);
  SwitchBench::run_to(202'000);
  bench.to[1]->take_all(50);
  CHECK(bench.from[1]->answer(number).taken == 1);
  CHECK(bench.from[1]->answer(number).taken_at == 209'000);
  // So does the response of port 0, 60'000 ahead.
  SwitchBench::run_to(300'000);
  bench.to[0]->latency = 60'000;
  bench.to[0]->answer_all();
  SwitchBench::run_to(301'000);
  bench.to[1]->answer_all();
  SwitchBench::run_to(302'000);
  CHECK(bench.from[1]->answer(number).count == 0);
  bench.to[2]->answer_all();
  SwitchBench::settle();
  CHECK(bench.from[1]->answer(number).ok());
  CHECK(bench.from[1]->answer(number).at == 460'123);  // 300'000 + 60'000 + 100'123
}

TEST_CASE("one refused copy of a store to all GPUs refuses the store, whoever answers last") {
  SwitchBench bench;
  bench.hold();
  for (std::size_t refusing = 0; refusing < ports; ++refusing) {
    CAPTURE(refusing);
    const Picoseconds begin = 1'000'000 * (refusing + 1);
    SwitchBench::run_to(begin);
    bench.to[refusing]->serve = [](tlm::tlm_generic_payload& transaction) {
      extension_of(transaction).refusal = static_cast<std::uint32_t>(Status::bad_address);
      return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    };
    const std::size_t number = bench.from[0]->send(SwitchBench::store(address_map::all_gpus));
    for (std::size_t i = 0; i < ports; ++i) {
      SwitchBench::run_to(begin + 201'000 + 1'000 * i);
      CHECK(bench.to[i]->arrivals().size() == refusing + 1);  // the others get theirs
      bench.to[i]->answer_all();
    }
    SwitchBench::run_to(begin + 400'000);
    bench.to[refusing]->serve = [](tlm::tlm_generic_payload&) { return tlm::TLM_OK_RESPONSE; };
    const DataAnswer& answer = bench.from[0]->answer(number);
    CHECK(answer.count == 1);
    CHECK(answer.status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    CHECK(answer.refusal == static_cast<std::uint32_t>(Status::bad_address));
    CHECK(answer.at == begin + 303'123);  // the last one answers at 203'000
  }
  // Nothing of it stays: the next one is answered by its own copies alone.
  for (const auto& target : bench.to) target->holds = false;
  SwitchBench::run_to(5'000'000);
  const std::size_t next = bench.from[0]->send(SwitchBench::store(address_map::all_gpus));
  SwitchBench::settle();
  CHECK(bench.from[0]->answer(next).ok());
  CHECK(bench.from[0]->answer(next).refusal == 0);
  CHECK(bench.from[0]->answer(next).at == 5'200'246);  // the latency twice
}

namespace {

/// GPU 1 loads 8 bytes of all GPUs; the test plays the GPUs that are asked.
struct SumBench : SwitchBench {
  Transaction& read;
  std::shared_ptr<tlm::tlm_generic_payload> stand_in = std::make_shared<tlm::tlm_generic_payload>();
  std::size_t request = 0;

  SumBench() : read(pool.make(Operation::load, address_map::on_gpu(address_map::all_gpus, local), {1, 8, 0})) {
    read.extension().element = ElementType::fp32;
    read.extension().traffic = TrafficClass::rs_read;
    read.attach_buffer();
    hold();
  }
  void ask(Picoseconds delay) {
    Transaction& message = pool.make(Operation::request, read.get_address(), {1, 8, 0});
    message.extension().fabric.asked = &read;
    message.extension().fabric.stand_in = stand_in;
    message.extension().producer.gpu = 1;
    request = from[1]->send(message, delay);
  }
  /// GPU g's answer with two elements, `value` and `value` + 1; its number at the GPU's port.
  std::size_t answer_part(std::size_t g, float value, Picoseconds delay) {
    tlm::tlm_generic_payload& part = *to[g]->arrivals().at(0).extension.fabric.asked;
    const float elements[] = {value, value + 1};
    std::memcpy(part.get_data_ptr(), elements, sizeof elements);
    Transaction& message = pool.make(Operation::answer, address_map::on_gpu(1, local), {1, 8, 0});
    message.extension().fabric.asked = &part;
    return from[g]->send(message, delay);
  }
  std::vector<float> sum() const {
    std::vector<float> elements(2);
    std::memcpy(elements.data(), read.get_data_ptr(), 8);
    return elements;
  }
};

}  // namespace

TEST_CASE("a load of all GPUs asks each after the latency, and its sum leaves one latency after the last answer") {
  SumBench bench;
  SumBench::run_to(1'000);
  bench.ask(500);
  SumBench::run_to(200'000);
  for (std::size_t g = 0; g < ports; ++g) {
    CAPTURE(g);
    REQUIRE(bench.to[g]->arrivals().size() == 1);
    CHECK(bench.to[g]->arrivals()[0].at == 101'623);  // 1'000 + 500 + 100'123
    CHECK(bench.to[g]->arrivals()[0].address == address_map::on_gpu(g, local));
    CHECK(bench.to[g]->arrivals()[0].extension.operation == Operation::request);
    bench.to[g]->answer_all();  // each GPU has sent what it was asked for, which is on its way
  }
  // Two answers come at 201'000, one of them announced before by 800; the last at 202'040, and is announced first.
  const std::size_t last = bench.answer_part(0, 4.0F, 2'040);
  SumBench::run_to(200'200);
  const std::size_t announced = bench.answer_part(1, 0.5F, 800);
  SumBench::run_to(201'000);
  CHECK(bench.from[1]->answer(bench.request).count == 0);
  CHECK(bench.node.diagnosis().size() == 1);
  const std::size_t at_once = bench.answer_part(2, 0.25F, 0);
  SumBench::run_to(350'000);
  // The switch takes each part as it comes: there is room for it.
  CHECK(bench.from[0]->answer(last).at == 202'040);
  CHECK(bench.from[1]->answer(announced).at == 201'000);
  CHECK(bench.from[2]->answer(at_once).at == 201'000);
  REQUIRE(bench.to[1]->arrivals().size() == 2);
  const DataTarget::Arrival& sum = bench.to[1]->arrivals()[1];
  CHECK(sum.at == 302'163);  // 202'040 + 100'123
  CHECK(sum.extension.operation == Operation::answer);
  CHECK(sum.extension.fabric.asked == &bench.read);
  CHECK(sum.extension.fabric.stand_in == bench.stand_in);
  CHECK(sum.address == address_map::on_gpu(1, local));
  CHECK(sum.extension.fabric.lane == Lane{5 + answer_channels, 2});
  CHECK(bench.sum() == std::vector<float>{4.75F, 7.75F});
  CHECK(bench.from[1]->answer(bench.request).ok());
  CHECK(bench.from[1]->answer(bench.request).at == 302'163);
  CHECK(bench.to[0]->arrivals().size() == 1);
  CHECK(bench.to[2]->arrivals().size() == 1);
  CHECK(bench.node.diagnosis().empty());
  bench.to[1]->answer_all();
  bench.read.release();
}

TEST_CASE("a sum waits for the responses to its requests, too") {
  SumBench bench;
  bench.ask(0);
  SumBench::run_to(200'000);
  for (std::size_t g = 0; g < ports; ++g) bench.answer_part(g, 1.0F, 0);
  for (std::size_t g = 0; g < ports; ++g) {
    SumBench::run_to(210'000 + 1'000 * g);
    CHECK(bench.to[1]->arrivals().size() == 1);
    bench.to[g]->answer_all();
  }
  SumBench::run_to(400'000);
  REQUIRE(bench.to[1]->arrivals().size() == 2);
  CHECK(bench.to[1]->arrivals()[1].at == 312'123);  // the last response comes at 212'000
  CHECK(bench.from[1]->answer(bench.request).at == 312'123);
  CHECK(bench.sum() == std::vector<float>{3.0F, 6.0F});
  bench.to[1]->answer_all();
  bench.read.release();
}

TEST_CASE("one refused part refuses the load of all GPUs, and no sum is sent") {
  SumBench bench;
  bench.to[2]->serve = [](tlm::tlm_generic_payload& transaction) {
    extension_of(transaction).refusal = static_cast<std::uint32_t>(Status::bad_address);
    return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  };
  bench.ask(0);
  SumBench::run_to(200'000);
  bench.to[2]->answer_all();  // and no part comes from there
  SumBench::run_to(201'000);
  bench.to[0]->answer_all();
  bench.to[1]->answer_all();
  SumBench::run_to(202'000);
  bench.answer_part(0, 1.0F, 0);
  CHECK(bench.from[1]->answer(bench.request).count == 0);
  SumBench::run_to(203'000);
  bench.answer_part(1, 1.0F, 0);
  SumBench::settle();
  CHECK(bench.from[1]->answer(bench.request).status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  CHECK(bench.from[1]->answer(bench.request).refusal == static_cast<std::uint32_t>(Status::bad_address));
  CHECK(bench.from[1]->answer(bench.request).at == 303'123);  // the last part comes at 203'000
  CHECK(bench.to[1]->arrivals().size() == 1);
  CHECK(bench.node.diagnosis().empty());
  bench.read.release();
}

}  // namespace t3vp::test::switch_test
