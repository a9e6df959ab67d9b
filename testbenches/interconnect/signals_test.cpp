#include "interconnect/signals.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "data_path/checked_sockets.h"
#include "data_path/foreign_access.h"
#include "data_path/named_registers.h"
#include "protocol/address_map.h"

using namespace t3vp;

namespace {

constexpr std::uint64_t block = address_map::on_gpu(1, address_map::block_base(address_map::Block::signals));

struct SignalsBench {
  Signals signals{"signals", 1};
  DataInitiator workgroup{"workgroup"}, peer{"peer"};
  sc_core::sc_signal<bool, sc_core::SC_MANY_WRITERS> interrupt{"interrupt"}, withdraw{"withdraw"};
  NamedRegisters registers{"registers", signals.registers};
  CheckedSockets checks;

  SignalsBench() {
    checks.join_test(workgroup.socket, signals.compute);
    checks.join_test(peer.socket, signals.peers);
    signals.interrupt.bind(interrupt);
    signals.withdraw.bind(withdraw);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  std::size_t wait_for(std::uint64_t counter, std::uint64_t threshold, std::uint32_t agreement = 0) {
    DataAccess access;
    access.operation = Operation::wait;
    access.address = block + registers::Signals::value_offset + counter * 8;
    access.shape = {1, 8, 0};
    access.threshold = threshold;
    access.agreement = agreement;
    return workgroup.send(access);
  }
  static DataAccess add(std::uint64_t counter, std::uint64_t value, std::uint32_t agreement = 0) {
    DataAccess access;
    access.operation = Operation::store;
    access.address = block + registers::Signals::add_offset + counter * 8;
    access.shape = {1, 8, 0};
    access.agreement = agreement;
    access.data.resize(8);
    std::memcpy(access.data.data(), &value, 8);
    return access;
  }
  tlm::tlm_response_status status(std::size_t wait) const { return workgroup.answer(wait).status; }
  bool answered(std::size_t wait) const { return workgroup.answer(wait).count == 1; }
  static void settle() { sc_core::sc_start(); }
};

}  // namespace

TEST_CASE("a wait is refused when the signal that it waits for comes from another kernel than it expects") {
  SignalsBench bench;
  const auto right = tlm::TLM_OK_RESPONSE, wrong = tlm::TLM_COMMAND_ERROR_RESPONSE;
  const auto signal = [&](std::uint64_t counter, std::uint32_t agreement) {
    bench.peer.send(bench.add(counter, 1, agreement), 1000);
    bench.settle();
  };
  const auto wait = [&](std::uint64_t counter, std::uint64_t threshold, std::uint32_t agreement) {
    const std::size_t number = bench.wait_for(counter, threshold, agreement);
    bench.settle();
    REQUIRE(bench.answered(number));
    return bench.status(number);
  };
  // The sender is ahead by a kernel of 2 signals: each wait is about its own signal.
  for (const std::uint32_t kernel : {11u, 11u, 22u, 33u}) signal(5, kernel);
  CHECK(wait(5, 1, 11) == right);
  CHECK(wait(5, 2, 12) == wrong);
  CHECK(wait(5, 3, 22) == right);
  CHECK(wait(5, 4, 22) == wrong);
  // The wait comes first.
  const std::size_t early = bench.wait_for(6, 1, 7), agreed = bench.wait_for(7, 1, 7);
  signal(6, 8);
  signal(7, 7);
  CHECK(bench.status(early) == wrong);
  CHECK(bench.status(agreed) == right);
  // Who says nothing agrees with everybody: barriers, firmware.
  signal(8, 0);
  signal(8, 9);
  CHECK(wait(8, 1, 7) == right);
  CHECK(wait(8, 2, 0) == right);
  // What was said is forgotten when somebody sets the counter, and with a reset.
  signal(9, 1);
  bench.registers.set("value", 0, 9);
  bench.registers.set("value", 1, 9);
  CHECK(wait(9, 1, 2) == right);
  signal(10, 1);
  bench.signals.registers.reset();
  signal(10, 2);
  CHECK(wait(10, 1, 2) == right);
}

TEST_CASE("a wait is answered when its counter has reached its threshold, and not before") {
  SignalsBench bench;
  const std::size_t three = bench.wait_for(5, 3), two = bench.wait_for(5, 2), other = bench.wait_for(6, 1);
  bench.peer.send(bench.add(5, 1), 1000);
  bench.settle();
  REQUIRE_FALSE(bench.answered(two));
  bench.peer.send(bench.add(5, 1), 1000);
  bench.settle();
  REQUIRE(bench.workgroup.answer(two).ok());
  REQUIRE_FALSE(bench.answered(three));
  bench.registers.set("add", 1, 5);  // firmware adds as well
  bench.settle();
  REQUIRE(bench.workgroup.answer(three).ok());
  REQUIRE_FALSE(bench.answered(other));
  REQUIRE(bench.registers.element("value", 5) == 3);
  REQUIRE(bench.wait_for(5, 3) == 3);
  REQUIRE(bench.answered(3));  // at once
  bench.registers.set("value", 7, 6);
  REQUIRE(bench.workgroup.answer(other).ok());
}

TEST_CASE("a peer's add takes effect when it arrives") {
  SignalsBench bench;
  const std::size_t wait = bench.wait_for(0, 4);
  const std::size_t store = bench.peer.send(bench.add(0, 4), 5000);
  bench.settle();
  REQUIRE(bench.workgroup.answer(wait).at == bench.peer.answer(store).arrival);
  REQUIRE(bench.peer.answer(store).ok());
}

TEST_CASE("the line is raised when the watched counter changes, and only then") {
  SignalsBench bench;
  bench.registers.set("watch", 9);
  bench.peer.send(bench.add(8, 1));
  bench.wait_for(9, 1);  // waiting changes nothing
  bench.settle();
  REQUIRE_FALSE(bench.interrupt.read());
  REQUIRE(bench.registers["interrupt"] == 0);
  bench.peer.send(bench.add(9, 1));
  bench.settle();
  REQUIRE(bench.interrupt.read());
  bench.registers.set("interrupt", 1);
  bench.settle();
  REQUIRE_FALSE(bench.interrupt.read());
  REQUIRE(bench.registers["interrupt"] == 0);
}

TEST_CASE("waits and stores that name no counter are answered with an error and reported") {
  SignalsBench bench;
  const auto refused = [&](DataInitiator& initiator, const DataAccess& access) {
    const std::size_t number = initiator.send(access);
    bench.settle();
    REQUIRE(initiator.answer(number).count == 1);
    REQUIRE(initiator.answer(number).status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    REQUIRE(bench.registers.take_report() == Status::bad_address);
  };
  DataAccess wait;
  wait.operation = Operation::wait;
  wait.shape = {1, 8, 0};
  for (const std::uint64_t offset : {registers::Signals::add_offset, std::uint64_t{4}, std::uint64_t{0x8000}}) {
    wait.address = block + offset;
    refused(bench.workgroup, wait);
  }
  DataAccess load = wait;
  load.operation = Operation::load;
  load.address = block;
  refused(bench.workgroup, load);

  DataAccess store = bench.add(0, 1);
  store.address = block + registers::Signals::value_offset;  // peers may add, not overwrite
  refused(bench.peer, store);
  store.address = block + registers::Signals::add_offset + 512 * 8;
  refused(bench.peer, store);
  store = bench.add(0, 1);
  store.data.clear();
  refused(bench.peer, store);
  store = bench.add(0, 1);
  store.data.resize(4);
  store.shape = {1, 4, 0};
  refused(bench.peer, store);
  REQUIRE(bench.registers.element("value", 0) == 0);

  BarePayload bare(tlm::TLM_READ_COMMAND, block, 8);
  const std::size_t number = bench.workgroup.send(bare.payload());
  bench.settle();
  REQUIRE(bench.workgroup.answer(number).status == tlm::TLM_GENERIC_ERROR_RESPONSE);
}

TEST_CASE("the diagnosis names the counter, its value and what is awaited") {
  SignalsBench bench;
  bench.wait_for(17, 4);
  bench.registers.set("add", 3, 17);
  const auto lines = bench.signals.diagnosis();
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], Catch::Contains("GPU 1") && Catch::Contains("counter 17 to reach 4, it is 3"));
  bench.registers.set("add", 1, 17);
  REQUIRE(bench.signals.diagnosis().empty());
}

TEST_CASE("every change of the watched counter raises the line, whoever makes it and whoever waits for it") {
  SignalsBench bench;
  bench.registers.set("watch", 9);
  const auto raised_by = [&](const char* what, auto change) {
    INFO(what);
    change();
    bench.settle();
    REQUIRE(bench.interrupt.read());
    bench.registers.set("interrupt", 1);
    bench.settle();
    REQUIRE_FALSE(bench.interrupt.read());
  };
  raised_by("a peer", [&] { bench.peer.send(bench.add(9, 1)); });
  raised_by("firmware's add", [&] { bench.registers.set("add", 1, 9); });
  raised_by("firmware's write", [&] { bench.registers.set("value", 0, 9); });
  raised_by("several at once", [&] {
    for (int i = 0; i < 3; ++i) bench.peer.send(bench.add(9, 1));
  });
  const std::size_t wait = bench.wait_for(9, 4);
  raised_by("a peer, for which a workgroup waits too", [&] { bench.peer.send(bench.add(9, 1)); });
  REQUIRE(bench.answered(wait));
  raised_by("one that comes as the one before is acknowledged", [&] {
    bench.peer.send(bench.add(9, 1));
    bench.settle();
    bench.registers.set("interrupt", 1);
    bench.registers.set("add", 1, 9);
  });
}

TEST_CASE("a reset clears the counters and lowers the line") {
  SignalsBench bench;
  bench.registers.set("add", 5, 0);  // counter 0 is watched
  bench.settle();
  REQUIRE(bench.interrupt.read());
  bench.signals.registers.reset();
  bench.settle();
  REQUIRE_FALSE(bench.interrupt.read());
  REQUIRE(bench.registers["interrupt"] == 0);
  REQUIRE(bench.registers.element("value", 0) == 0);
}

TEST_CASE("counters serve blocking initiators of both sides and waits do not keep each other out") {
  SignalsBench bench;
  std::vector<DataAccess> waits(4);
  for (std::size_t i = 0; i < waits.size(); ++i) {
    waits[i].operation = Operation::wait;
    waits[i].address = block + registers::Signals::value_offset + i * 8;
    waits[i].shape = {1, 8, 0};
    waits[i].threshold = 15;
  }
  std::vector<ForeignAnswer> stores;
  const auto answers = blocking_accesses(bench.workgroup.socket, waits, [&] {
    const std::size_t held_up = bench.wait_for(9, 1);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);  // three waits block
    std::vector<DataAccess> adds;
    for (std::uint64_t i = 0; i < 4; ++i) adds.push_back(bench.add(i, 4));
    stores = blocking_accesses(bench.peer.socket, adds, [&] {
      for (std::uint64_t i = 0; i < 4; ++i) bench.peer.send(bench.add(i, 3), 5000);
    });
    REQUIRE_FALSE(bench.answered(held_up));
  });
  REQUIRE(all_ok(stores));
  REQUIRE(all_ok(answers));
  for (std::uint64_t i = 0; i < 4; ++i) REQUIRE(bench.registers.element("value", i) == 15);
}

TEST_CASE("a wait that is fulfilled before it arrives is answered at its arrival") {
  SignalsBench bench;
  DataAccess wait;
  wait.operation = Operation::wait;
  wait.address = block + registers::Signals::value_offset;
  wait.shape = {1, 8, 0};
  const std::size_t at_once = bench.workgroup.send(wait, 4000);
  wait.threshold = 1;
  const std::size_t later = bench.workgroup.send(wait, 9000);
  bench.peer.send(bench.add(0, 1), 2000);
  bench.settle();
  for (const std::size_t number : {at_once, later}) {
    REQUIRE(bench.workgroup.answer(number).ok());
    REQUIRE(bench.workgroup.answer(number).at == bench.workgroup.answer(number).arrival);
  }
}
