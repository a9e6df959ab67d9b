#include "interconnect/signals.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <utility>

#include "data_path/checked_sockets.h"
#include "data_path/foreign_access.h"
#include "data_path/named_registers.h"
#include "protocol/address_map.h"

namespace t3vp::test::signals_test {

using namespace interconnect;

namespace {

constexpr std::uint64_t block = address_map::on_gpu(1, address_map::block_base(address_map::Block::signals));

struct SignalsBench {
  Signals signals{"signals", 1};
  DataInitiator workgroup{"workgroup"}, peer{"peer"};
  sc_core::sc_signal<bool, sc_core::SC_MANY_WRITERS> interrupt{"interrupt"};
  sc_core::sc_signal<std::uint32_t, sc_core::SC_MANY_WRITERS> withdraw{"withdraw"};
  NamedRegisters registers{"registers", signals.registers};
  CheckedSockets checks;

  SignalsBench() {
    checks.join_test(workgroup.socket, signals.compute);
    checks.join_test(peer.socket, signals.peers);
    signals.interrupt.bind(interrupt);
    signals.withdraw.bind(withdraw);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  std::size_t wait_for(std::uint64_t counter, std::uint64_t threshold, std::shared_ptr<const RingSignal> ring = nullptr,
                       std::uint8_t queue = 0) {
    DataAccess access;
    access.operation = Operation::wait;
    access.queue = queue;
    access.address = block + registers::Signals::value_offset + counter * 8;
    access.shape = {1, 8, 0};
    access.threshold = threshold;
    access.ring = std::move(ring);
    return workgroup.send(access);
  }
  static DataAccess add(std::uint64_t counter, std::uint64_t value, std::shared_ptr<const RingSignal> ring = nullptr) {
    DataAccess access;
    access.operation = Operation::store;
    access.address = block + registers::Signals::add_offset + counter * 8;
    access.shape = {1, 8, 0};
    access.ring = std::move(ring);
    access.data.resize(8);
    std::memcpy(access.data.data(), &value, 8);
    return access;
  }
  tlm::tlm_response_status status(std::size_t wait) const { return workgroup.answer(wait).status; }
  bool answered(std::size_t wait) const { return workgroup.answer(wait).count == 1; }
  static void settle() { sc_core::sc_start(); }
};

}  // namespace

namespace {

/// Ring kernels of which one signals and one waits.
struct RingBench : SignalsBench {
  enum Property : std::size_t { rows, columns, out, epoch, collective, property_count };
  RingSignal kernel;

  RingBench() {
    kernel.sender = 2;
    kernel.gpus = 3;
    for (const char* name : {"m", "n", "out", "signal_epoch"}) kernel.properties.push_back({name, 1});
    kernel.properties[out].is_address = true;
    kernel.properties.push_back({"collective", 0, "all-gather"});
  }

  static std::shared_ptr<const RingSignal> shared(const RingSignal& signal) {
    return std::make_shared<RingSignal>(signal);
  }
  void signal(std::uint64_t counter, std::uint32_t failure = 0) {
    RingSignal sent = kernel;
    sent.failure = failure;
    peer.send(add(counter, 1, shared(sent)), 1000);
    settle();
  }
  std::size_t begin_wait(std::uint64_t counter, std::uint64_t threshold, const RingSignal& expected) {
    return wait_for(counter, threshold, shared(expected));
  }
  Status status_of(std::size_t wait) {
    REQUIRE(answered(wait));
    const DataAnswer& answer = workgroup.answer(wait);
    if (answer.ok()) return Status::ok;
    REQUIRE(answer.status == tlm::TLM_COMMAND_ERROR_RESPONSE);
    why = answer.why;
    return static_cast<Status>(answer.refusal);
  }
  Status wait(std::uint64_t counter, std::uint64_t threshold, const RingSignal& expected) {
    const std::size_t number = begin_wait(counter, threshold, expected);
    settle();
    return status_of(number);
  }
  std::string why;
};

}  // namespace

// A protocol checker is between them: an answer within another request's call is a violation.
TEST_CASE("a workgroup's signal to its own GPU releases waits when it arrives, and not in its call") {
  SignalsBench bench;
  const std::size_t wait = bench.wait_for(3, 2);
  const std::size_t store = bench.workgroup.send(SignalsBench::add(3, 2), 5000);
  REQUIRE_FALSE(bench.answered(wait));
  SignalsBench::settle();
  REQUIRE(bench.answered(wait));
  CHECK(bench.workgroup.answer(wait).at == 5000);
  CHECK(bench.workgroup.answer(store).at == 5000);
}

TEST_CASE("a wait is refused when the signal that it waits for comes from another kernel than it expects") {
  RingBench bench;
  const RingSignal same = bench.kernel;
  const auto told = [&](std::uint64_t counter, const std::string& difference) {
    INFO(difference);
    bench.signal(counter);
    CHECK(bench.wait(counter, 1, same) == Status::mismatch);
    CHECK_THAT(bench.why, Catch::EndsWith("counter " + std::to_string(counter) +
                                          ", GPU 2, runs another ring kernel: " + difference));
    bench.kernel = same;
  };
  for (std::size_t i = 0; i < RingBench::property_count; ++i) {
    RingSignal::Property& property = bench.kernel.properties[i];
    property.value = 2;
    if (i == RingBench::collective) property.text = "reduce-scatter";
    const std::string is_not = i == RingBench::out          ? " found 0x2, expected 0x1"
                               : i == RingBench::collective ? " found reduce-scatter, expected all-gather"
                                                            : " found 2, expected 1";
    told(i, property.name + is_not);
  }
  bench.kernel.receiver = 2;
  told(10, "gpu found 2, expected 0");
  bench.kernel.gpus = 4;
  told(11, "gpus found 4, expected 3");
  bench.kernel.workgroups = 2;
  told(14, "workgroups found 2, expected 1");
  bench.kernel.properties[RingBench::columns].name = "width";
  told(12, "a property found width, expected n");
  bench.kernel.properties.push_back({"ldo", 1});
  told(13, "properties found 6, expected 5");
  bench.kernel.properties[RingBench::epoch].value = 2;
  bench.kernel.properties[RingBench::rows].value = 64;
  bench.signal(20);
  CHECK(bench.wait(20, 1, same) == Status::mismatch);
  CHECK_THAT(bench.why, Catch::EndsWith("runs another ring kernel: m found 64, expected 1; signal_epoch found 2, "
                                        "expected 1"));
  // The sender is ahead by a kernel of 2 signals: each wait is about its own signal.
  bench.kernel = same;
  RingSignal next = same;
  next.properties[RingBench::epoch].value = 3;
  bench.signal(25);
  bench.signal(25);
  bench.kernel = next;
  bench.signal(25);
  bench.signal(25);
  CHECK(bench.wait(25, 1, same) == Status::ok);
  CHECK(bench.wait(25, 2, next) == Status::mismatch);
  CHECK(bench.wait(25, 3, next) == Status::ok);
  CHECK(bench.wait(25, 4, same) == Status::mismatch);
  // The wait comes first.
  const std::size_t early = bench.begin_wait(26, 1, same), agreed = bench.begin_wait(27, 1, next);
  bench.signal(26);
  bench.signal(27);
  CHECK(bench.status_of(early) == Status::mismatch);
  CHECK(bench.status_of(agreed) == Status::ok);
  // A kernel that counts from elsewhere takes its neighbour's signals all the same, and the next is in step.
  bench.kernel = same;
  next.properties[RingBench::epoch].value = 2;
  bench.signal(28);
  CHECK(bench.wait(28, 2, next) == Status::mismatch);
  CHECK_THAT(bench.why, Catch::EndsWith("signal_epoch found 1, expected 2"));
  bench.signal(28);
  CHECK(bench.wait(28, 2, same) == Status::ok);
}

TEST_CASE("a ring kernel's wait is refused when something else than its neighbour's signals has changed its counter") {
  RingBench bench;
  const RingSignal& kernel = bench.kernel;
  const auto refused = [&](std::uint64_t counter, std::uint64_t threshold, const std::string& why) {
    CHECK(bench.wait(counter, threshold, kernel) == Status::mismatch);
    CHECK_THAT(bench.why, Catch::Contains("counter " + std::to_string(counter)) && Catch::Contains(why));
  };
  // A peer's firmware has added before the neighbour's signal: the wait takes that signal and no other.
  const std::size_t early = bench.begin_wait(1, 1, kernel);
  bench.peer.send(bench.add(1, 1), 1000);
  bench.settle();
  REQUIRE_FALSE(bench.answered(early));
  bench.signal(1);
  CHECK(bench.status_of(early) == Status::mismatch);
  CHECK(
      bench.why ==
      "counter 1: found 2 after the signal of GPU 2's ring kernel, expected 1: something else has changed the counter");
  bench.signal(1);
  refused(1, 2, "found 3 after the signal of GPU 2's ring kernel, expected 2");
  // Firmware has added after the signal, and takes it back for the next.
  bench.signal(2);
  bench.registers.set("add", 1, 2);
  refused(2, 1, "found 2 after");
  bench.registers.set("add", ~std::uint64_t{0}, 2);
  bench.signal(2);
  CHECK(bench.wait(2, 2, kernel) == Status::ok);
  // Somebody sets the counter after the signal, also to what it was, or before it.
  bench.signal(4);
  bench.registers.set("value", 1, 4);
  refused(4, 1, "found 1 after");
  bench.registers.set("value", 0, 4);
  bench.signal(4);
  refused(4, 2, "found 1 after");
  // A reset starts again; barriers and firmware wait for everything.
  bench.settle();
  bench.signals.registers.reset();
  bench.signal(5);
  CHECK(bench.wait(5, 1, kernel) == Status::peer_failed);  // the neighbour's kernel had begun before
  bench.signals.registers.reset();
  bench.kernel.begun = now();
  bench.signal(5);
  CHECK(bench.wait(5, 1, kernel) == Status::ok);
  bench.registers.set("add", 3, 5);
  const std::size_t barrier = bench.wait_for(5, 4);
  bench.settle();
  CHECK(bench.status_of(barrier) == Status::ok);
}

TEST_CASE("a wait is refused when its neighbour's kernel has failed and agrees in everything else") {
  RingBench bench;
  bench.signal(1, static_cast<std::uint32_t>(Status::disabled));
  CHECK(bench.wait(1, 1, bench.kernel) == Status::peer_failed);
  CHECK_THAT(bench.why, Catch::Contains("counter 1, GPU 2, has failed: found \"the unit that should do this is "
                                        "switched off\""));
  RingSignal other = bench.kernel;
  other.receiver = 9;
  bench.signal(1, static_cast<std::uint32_t>(Status::disabled));
  CHECK(bench.wait(1, 2, other) == Status::mismatch);
  CHECK_THAT(bench.why, Catch::EndsWith("gpu found 0, expected 9"));
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

TEST_CASE("waits are given up of the queue that is withdrawn and all by a reset") {
  SignalsBench bench;
  const std::size_t first = bench.wait_for(3, 5), second = bench.wait_for(3, 5, nullptr, 1),
                    other = bench.wait_for(4, 5, nullptr, 2);
  bench.settle();
  bench.withdraw.write(0b010);
  bench.settle();
  REQUIRE((!bench.answered(first) && bench.answered(second) && !bench.answered(other)));
  REQUIRE(bench.status(second) == tlm::TLM_GENERIC_ERROR_RESPONSE);
  const std::size_t late = bench.wait_for(3, 5, nullptr, 1);
  bench.settle();
  REQUIRE(bench.answered(late));
  bench.withdraw.write(0);
  bench.settle();
  const std::size_t next = bench.wait_for(3, 5, nullptr, 1);
  bench.settle();
  REQUIRE(!bench.answered(next));
  bench.peer.send(SignalsBench::add(3, 5));
  bench.settle();
  REQUIRE((bench.answered(first) && bench.answered(next) && bench.status(next) == tlm::TLM_OK_RESPONSE));
  bench.signals.registers.reset();
  bench.settle();
  REQUIRE(bench.answered(other));
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

TEST_CASE("an observer is told whether peers or compute units have signalled") {
  struct Who : RegisterObserver {
    std::vector<std::string> all;
    void accessed(const RegisterAccess& access) override { all.emplace_back(access.who); }
  };
  Who who;
  SignalsBench bench;
  bench.signals.registers.observe(&who);
  bench.peer.send(bench.add(0, 1), 1000);
  bench.workgroup.send(bench.add(0, 1), 2000);
  bench.settle();
  CHECK(who.all == std::vector<std::string>{"peers", "compute units"});
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

}  // namespace t3vp::test::signals_test
