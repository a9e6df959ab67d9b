// Waits of a program that end late or never, and what it does instead of waiting.
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <memory>

#include "program_bench.h"
#include "protocol/address_map.h"

namespace t3vp::test::waiting_test {

using namespace processor;

namespace {

/// Reads as the address, at once.
struct Still : sc_core::sc_module {
  tlm_utils::simple_target_socket<Still, 64> socket{"socket"};
  std::uint64_t more = 0;  ///< than the address

  explicit Still(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_b_transport(this, &Still::transport);
  }
  void transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time&) {
    const std::uint64_t value = transaction.get_address() + more;
    if (transaction.is_read()) std::memcpy(transaction.get_data_ptr(), &value, transaction.get_data_length());
    transaction.set_response_status(tlm::TLM_OK_RESPONSE);
  }
};

/// Attaches to a payload what lives as long as it does, and answers no write.
struct Marking : sc_core::sc_module {
  struct Mark : tlm::tlm_extension<Mark> {
    explicit Mark(int& number) : marks(number) { ++marks; }
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;
    ~Mark() override { --marks; }
    tlm::tlm_extension_base* clone() const override { return nullptr; }
    void copy_from(const tlm::tlm_extension_base&) override {}
    int& marks;
  };

  tlm_utils::simple_target_socket<Marking, 64> socket{"socket"};
  int& marks;
  sc_core::sc_event never_event;

  Marking(const sc_core::sc_module_name& name, int& number) : sc_module(name), marks(number) {
    socket.register_b_transport(this, &Marking::transport);
  }
  void transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time&) {
    if (transaction.get_extension<Mark>() == nullptr) transaction.set_extension(new Mark(marks));
    if (transaction.is_write()) wait(never_event);
    transaction.set_response_status(tlm::TLM_OK_RESPONSE);
  }
};

/// A processor without a GPU.
template <typename Target = Still>
struct Lone {
  sc_core::sc_signal<bool> interrupt;
  CommandProcessor processor;
  Target target;

  template <typename... Rest>
  explicit Lone(const std::string& name, Rest&&... rest)
      : interrupt((name + "_line").c_str()),
        processor(name.c_str(), 0, {}),
        target((name + "_target").c_str(), rest...) {
    processor.interrupt.bind(interrupt);
    processor.socket.bind(target.socket);
  }
};

}  // namespace

TEST_CASE("a program that waits for ever can be told so") {
  ProgramBench bench;
  Still target("target");
  bench.checks.join(bench.processor.socket, target.socket);
  bench.processor.run([](CommandProcessor& p) { return p.wait_for_interrupt("what never comes"); });
  sc_core::sc_start();
  REQUIRE_FALSE(bench.processor.finished());
  REQUIRE(bench.processor.waits_for() == "what never comes");
  bench.processor.give_up_waiting();
  sc_core::sc_start();
  REQUIRE(bench.processor.finished());
  REQUIRE(bench.processor.status() == Status::stuck);
}

TEST_CASE("a wait after one that was given up is a wait of its own") {
  ProgramBench bench;
  Still target("target");
  bench.checks.join(bench.processor.socket, target.socket);
  std::vector<Status> ends;
  bench.processor.run([&](CommandProcessor& p) {
    ends.push_back(p.wait_for_interrupt("what never comes"));
    ends.push_back(p.wait_for_interrupt("what comes", CommandProcessor::forever));
    settle(p);
    ends.push_back(p.wait_for_interrupt("a time", p.time_ns() + 500));
    ends.push_back(p.wait_for_interrupt("what never comes either"));
    return Status::ok;
  });
  bench.processor.give_up_waiting();  // it does not wait yet
  sc_core::sc_start();
  REQUIRE(ends.empty());
  REQUIRE(bench.processor.awaits_interrupt());
  sc_core::sc_spawn([&] {
    sc_core::wait(2, sc_core::SC_US);
    bench.interrupt.write(true);
    sc_core::wait(1, sc_core::SC_NS);
    bench.interrupt.write(false);
  });
  bench.processor.give_up_waiting();
  sc_core::sc_start();
  REQUIRE(ends == std::vector<Status>{Status::stuck, Status::ok, Status::timeout});
  bench.processor.give_up_waiting();
  sc_core::sc_start();
  REQUIRE(ends.back() == Status::stuck);
  REQUIRE(bench.processor.finished());
}

TEST_CASE("what a program reads again and again is noted until an interrupt ends a wait") {
  ProgramBench bench;
  Still target("target");
  bench.checks.join(bench.processor.socket, target.socket);
  sc_core::sc_spawn([&] {
    sc_core::wait(100, sc_core::SC_US);
    bench.interrupt.write(true);
  });
  std::vector<CommandProcessor::Poll> polls;
  bench.run([&](CommandProcessor& p) {
    std::uint32_t narrow = 0;
    std::uint64_t wide = 0;
    for (std::uint64_t i = 0; i < 30; ++i) {
      p.read64(0x100 + 8 * (i % 3), wide);
      p.read32(0x200, narrow);
      p.write32(0x300, 1);
    }
    polls.push_back(p.poll());
    for (target.more = 1; target.more < 50; ++target.more) p.read32(0x200, narrow);  // another value each time
    target.more = 0;
    p.read64(0x100, wide);
    polls.push_back(p.poll());
    p.wait_for_interrupt("", p.time_ns() + 10);
    polls.push_back(p.poll());
    p.wait_for_interrupt("the rise");
    polls.push_back(p.poll());
    for (int i = 0; i < 20; ++i) p.read64(0x100, wide);
    polls.push_back(p.poll());
  });
  REQUIRE((polls[0].address == 0x200 && polls[0].value == 0x200 && polls[0].reads == 30));
  REQUIRE((polls[1].address == 0x100 && polls[1].value == 0x100 && polls[1].reads == 11));
  REQUIRE(polls[2].reads == 11);
  REQUIRE(polls[3].reads == 0);
  REQUIRE((polls[4].address == 0x100 && polls[4].reads == 20));
}

TEST_CASE("a wait with a deadline ends there, or before when the line rises") {
  ProgramBench bench;
  Still target("target");
  bench.checks.join(bench.processor.socket, target.socket);
  sc_core::sc_spawn([&] {
    sc_core::wait(1500, sc_core::SC_NS);
    bench.interrupt.write(true);
    sc_core::wait(1000, sc_core::SC_NS);
    bench.interrupt.write(false);
  });
  bench.run([&](CommandProcessor& p) {
    CHECK(p.time_ns() == 0);
    CHECK(p.wait_for_interrupt("", 0) == Status::timeout);
    CHECK(p.time_ns() == 0);
    CHECK(p.wait_for_interrupt("", 700) == Status::timeout);
    CHECK(p.time_ns() == 700);
    CHECK(p.wait_for_interrupt("", 100) == Status::timeout);  // it has passed
    CHECK(p.time_ns() == 700);
    CHECK(p.wait_for_interrupt("", 2000) == Status::ok);
    CHECK(p.time_ns() == 1500);
    CHECK(p.wait_for_interrupt("", 0) == Status::ok);
    p.wait_ns(1000);
    settle(p);
    CHECK(p.wait_for_interrupt("", 3000) == Status::timeout);
    CHECK(p.time_ns() == 3000);
  });
}

TEST_CASE("a wait at the end of time neither wraps around nor returns") {
  constexpr std::uint64_t most = ~std::uint64_t{0};
  std::vector<std::unique_ptr<Lone<>>> sleepers;
  for (const std::uint64_t ns : {most, most / 1000, most / 1000 - 1, most / 1000 + 1}) {
    sleepers.push_back(std::make_unique<Lone<>>("sleeper_" + std::to_string(sleepers.size())));
    sleepers.back()->processor.run([ns](CommandProcessor& p) {
      p.wait_ns(10);
      p.wait_ns(ns);
      return Status::ok;
    });
  }
  Lone<> waiter("waiter");
  waiter.processor.run([](CommandProcessor& p) { return p.wait_for_interrupt("", most - 1); });
  sc_core::sc_start();
  REQUIRE(sleepers[0]->processor.waits_for() == "18446744073709551615 ns to pass, which simulated time does not reach");
  for (const auto& sleeper : sleepers) sleeper->processor.give_up_waiting();  // they wait for no interrupt
  waiter.processor.give_up_waiting();
  sc_core::sc_start();
  for (const auto& sleeper : sleepers) REQUIRE_FALSE(sleeper->processor.finished());
  REQUIRE(waiter.processor.status() == Status::stuck);
  REQUIRE(now() == 10'000);
}

TEST_CASE("the longest waits come to an end before simulated time does") {
  ProgramBench bench;
  Still target("target");
  bench.checks.join(bench.processor.socket, target.socket);
  const std::uint64_t day = std::uint64_t{86400} * 1'000'000'000;
  bench.run([&](CommandProcessor& p) {
    for (std::uint64_t days = 1; days <= 199; ++days) {
      p.wait_ns(day);
      REQUIRE(p.time_ns() == days * day);
    }
    REQUIRE(p.wait_for_interrupt("", 200 * day) == Status::timeout);
    REQUIRE(p.time_ns() == 200 * day);
  });
}

TEST_CASE("an access that a program never returns from leaves nothing behind its processor") {
  int payloads = 0;
  auto unanswered = std::make_unique<Lone<Marking>>("unanswered", payloads);
  unanswered->processor.run([](CommandProcessor& p) { return p.write32(0, 0); });
  auto interrupted = std::make_unique<Lone<Marking>>("interrupted", payloads);
  interrupted->interrupt.write(true);
  interrupted->processor.run([](CommandProcessor& p) {
    p.take_interrupts([](void* self) { static_cast<CommandProcessor*>(self)->wait_ns(CommandProcessor::forever); }, &p);
    std::uint32_t value = 0;
    return p.read32(0, value);
  });
  sc_core::sc_start();
  REQUIRE_FALSE(unanswered->processor.finished());
  REQUIRE_FALSE(interrupted->processor.finished());
  REQUIRE(payloads == 2);
  unanswered.reset();
  interrupted.reset();
  REQUIRE(payloads == 0);
}

}  // namespace t3vp::test::waiting_test
