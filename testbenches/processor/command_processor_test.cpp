#include "processor/command_processor.h"

#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <map>

#include "program_bench.h"
#include "protocol/address_map.h"
#include "signalling_ring.h"

namespace t3vp::test::command_processor_test {

using namespace processor;

namespace {

/// Answers every access with the status that the low address bits choose.
struct Refuser : sc_core::sc_module {
  tlm_utils::simple_target_socket<Refuser, 64> socket{"socket"};

  explicit Refuser(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_b_transport(this, &Refuser::transport);
  }
  void transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time&) {
    transaction.set_response_status(
        static_cast<tlm::tlm_response_status>(-static_cast<int>(transaction.get_address())));
  }
};

/// Takes 100 ns for everything; a read gives the simulated time in ns.
struct Slow : sc_core::sc_module {
  tlm_utils::simple_target_socket<Slow, 64> socket{"socket"};
  std::pair<Picoseconds, Picoseconds> last_write;  ///< simulated time, and how far the writer was ahead of it

  explicit Slow(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_b_transport(this, &Slow::transport);
  }
  void transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
    const std::uint64_t time_ns = now() / 1000;
    if (transaction.is_read())
      std::memcpy(transaction.get_data_ptr(), &time_ns, transaction.get_data_length());
    else
      last_write = {now(), from_sc_time(delay)};
    delay += sc_core::sc_time(100, sc_core::SC_NS);
    transaction.set_response_status(tlm::TLM_OK_RESPONSE);
  }
};

constexpr std::uint64_t answer(tlm::tlm_response_status status) { return static_cast<std::uint64_t>(-status); }

/// Sends `rounds` signals to the peer, `pause_ns` apart, and waits for as many of its own, noting what it sees when.
class Player {
 public:
  explicit Player(SignallingGpu& gpu) : gpu_(gpu), p_(gpu.processor) {}

  std::vector<std::pair<Picoseconds, std::uint64_t>> observed;

  void play(std::uint64_t peer, std::uint64_t rounds, std::uint64_t pause_ns) {
    p_.write32(gpu_.base(address_map::Block::interrupt_controller) + 4,
               address_map::bit_of(address_map::Line::signals));
    for (std::uint64_t round = 1; round <= rounds; ++round) {
      for (unsigned i = 0; i < round % 5; ++i) p_.write32(signals() + 0x2000, 0);  // runs ahead
      p_.wait_ns(pause_ns);
      p_.write64(address_map::on_gpu(peer, address_map::block_base(address_map::Block::signals) + 0x1000), 1);
      wait_for(round);
    }
  }

 private:
  std::uint64_t signals() const { return gpu_.base(address_map::Block::signals); }
  void wait_for(std::uint64_t value) {
    for (;;) {
      p_.write32(signals() + 0x2004, 1);
      const std::uint64_t seen = read64(p_, signals());
      observed.emplace_back(now(), seen);
      if (seen >= value) return;
      REQUIRE(p_.wait_for_interrupt("a signal") == Status::ok);
    }
  }

  SignallingGpu& gpu_;
  CommandProcessor& p_;
};

struct Pair {
  SignallingRing ring;
  Player first{ring[0]}, second{ring[1]};

  Pair(const std::string& name, Picoseconds quantum) : ring(name, 2, quantum) {
    ring[0].processor.run([this](CommandProcessor&) {
      first.play(1, 20, 131);
      return Status::ok;
    });
    ring[1].processor.run([this](CommandProcessor&) {
      second.play(0, 20, 397);
      return Status::ok;
    });
  }
};

}  // namespace

TEST_CASE("a bus error is a status, and the program goes on") {
  ProgramBench bench;
  Refuser target("target");
  bench.processor.socket.bind(target.socket);  // unchecked: leaves a response INCOMPLETE
  bench.run([](CommandProcessor& p) {
    std::uint32_t value;
    CHECK(p.read32(answer(tlm::TLM_ADDRESS_ERROR_RESPONSE), value) == Status::bad_address);
    CHECK(p.read32(answer(tlm::TLM_INCOMPLETE_RESPONSE), value) == Status::bad_address);
    CHECK(p.write32(answer(tlm::TLM_BURST_ERROR_RESPONSE), 0) == Status::bad_access);
    CHECK(p.write32(answer(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE), 0) == Status::bad_access);
    CHECK(p.write64(answer(tlm::TLM_COMMAND_ERROR_RESPONSE), 0) == Status::access_denied);
    CHECK(p.write64(answer(tlm::TLM_GENERIC_ERROR_RESPONSE), 0) == Status::bad_value);
  });
  double failed = 0;
  bench.processor.visit_statistics([&](const std::string& name, const std::string&, const std::string&, double value) {
    if (name == "failed_accesses") failed = value;
  });
  REQUIRE(failed == 6);
}

TEST_CASE("waiting for an interrupt ends when the line rises, at once when it is up") {
  ProgramBench bench;
  Refuser target("target");
  bench.checks.join(bench.processor.socket, target.socket);
  sc_core::sc_spawn([&] {
    wait(sc_core::sc_time(700, sc_core::SC_NS));
    REQUIRE(bench.processor.waits_for() == "the rise");
    bench.interrupt.write(true);
  });
  bench.run([](CommandProcessor& p) {
    REQUIRE(p.wait_for_interrupt("the rise") == Status::ok);
    REQUIRE(now() == 700'000);
    REQUIRE(p.waits_for().empty());
    REQUIRE(p.wait_for_interrupt("nothing") == Status::ok);
    REQUIRE(now() == 700'000);
  });
}

TEST_CASE("a program that has run ahead waits from its own time on") {
  ProgramBench bench;
  Slow target("target");
  bench.checks.join(bench.processor.socket, target.socket);
  sc_core::sc_spawn([&] {
    wait(sc_core::sc_time(700, sc_core::SC_NS));
    bench.interrupt.write(true);
  });
  bench.run([](CommandProcessor& p) {
    for (int i = 0; i < 9; ++i) p.write32(address_map::registers_base, 0);
    REQUIRE(now() == 0);
    REQUIRE(p.wait_for_interrupt("the rise") == Status::ok);
    REQUIRE(now() == 900'000);
  });
}

TEST_CASE("what a program reads is of its own time, however far it has run ahead") {
  ProgramBench bench;
  Slow target("target");
  bench.checks.join(bench.processor.socket, target.socket);
  bench.run([](CommandProcessor& p) {
    const std::uint64_t places[] = {address_map::registers_base, 0, address_map::on_gpu(1, 0)};
    std::uint64_t time_ns = 0;
    for (const std::uint64_t place : places) {
      for (int i = 0; i < 5; ++i) p.write32(address_map::registers_base, 0);
      REQUIRE(read64(p, place) == time_ns + 500);
      time_ns += 600;
    }
  });
}

TEST_CASE("what a program writes to memory or to a peer is written at its own time, however far it has run ahead") {
  ProcessorParameters parameters;
  parameters.quantum = 1'000'000'000;
  ProgramBench bench(0, parameters);
  Slow target("target");
  bench.checks.join(bench.processor.socket, target.socket);
  bench.run([&](CommandProcessor& p) {
    const std::uint64_t places[] = {0, address_map::hbm_limit - 8, address_map::on_gpu(1, 0),
                                    address_map::on_gpu(1, address_map::registers_base)};
    using TimeAndDelay = std::pair<Picoseconds, Picoseconds>;
    for (const std::uint64_t place : places) {
      p.wait_ns(0);
      for (int i = 0; i < 5; ++i) p.write32(address_map::registers_base, 0);
      REQUIRE(target.last_write.second == 400'000);  // registers are ahead of simulated time
      const Picoseconds own = target.last_write.first + 500'000;
      REQUIRE(p.write64(place, 1) == Status::ok);
      REQUIRE(target.last_write == TimeAndDelay{own, 0});
    }
  });
}

TEST_CASE("a program runs ahead no further than its quantum") {
  ProcessorParameters parameters;
  parameters.quantum = 250'000;
  ProgramBench bench(0, parameters);
  Slow target("target");
  bench.checks.join(bench.processor.socket, target.socket);
  bench.run([](CommandProcessor& p) {
    for (Picoseconds i = 1; i <= 20; ++i) {
      p.write32(address_map::registers_base, 0);
      REQUIRE(now() + 250'000 >= i * 100'000);
      REQUIRE(now() <= i * 100'000);
    }
  });
}

TEST_CASE("the statistics count accesses, waits and the time waited") {
  ProgramBench bench;
  Slow target("target");
  bench.processor.socket.bind(target.socket);
  sc_core::sc_spawn([&] {
    wait(sc_core::sc_time(700, sc_core::SC_NS));
    bench.interrupt.write(true);
  });
  bench.run([](CommandProcessor& p) {
    std::uint64_t value = 0;
    p.write32(address_map::registers_base, 0);
    p.read64(address_map::registers_base, value);
    p.read64(0, value);
    p.wait_for_interrupt("the rise");  // from 300 ns on
    p.wait_for_interrupt("the same");  // not at all
  });
  std::map<std::string, double> figures;
  bench.processor.visit_statistics(
      [&](const std::string& name, const std::string&, const std::string&, double value) { figures[name] = value; });
  CHECK(figures["reads"] == 2);
  CHECK(figures["writes"] == 1);
  CHECK(figures["failed_accesses"] == 0);
  CHECK(figures["waits"] == 2);
  CHECK(figures["waited"] == 400);
}

TEST_CASE("interrupts are taken at the program's own time in a wait and between accesses and when they are allowed") {
  ProgramBench bench;
  Slow target("target");
  bench.checks.join(bench.processor.socket, target.socket);
  struct Taken {
    std::vector<Picoseconds> times;
    sc_core::sc_event served;
  } taken;
  sc_core::sc_spawn([&] {
    for (const Picoseconds time : {700'000u, 2'600'000u, 4'000'000u}) {
      sc_core::wait(to_sc_time(time - now()));
      bench.interrupt.write(true);
      sc_core::wait(taken.served);
      bench.interrupt.write(false);
    }
  });
  bench.run([&](CommandProcessor& p) {
    const auto entry = [](void* argument) {
      auto& all = *static_cast<Taken*>(argument);
      all.times.push_back(now());
      all.served.notify(sc_core::SC_ZERO_TIME);
    };
    p.take_interrupts(entry, &taken);
    p.wait_ns(2'000);
    REQUIRE(now() == 2'000'000);
    REQUIRE(taken.times == std::vector<Picoseconds>{701'000});
    p.lock();
    p.lock();
    for (int i = 0; i < 9; ++i) p.write32(address_map::registers_base, 0);
    REQUIRE(now() < 2'900'000);  // it runs ahead of the second one
    p.unlock();
    REQUIRE(taken.times.size() == 1);
    p.unlock();
    REQUIRE(taken.times.back() == 2'901'000);
    for (int i = 0; i < 12; ++i) p.write32(address_map::registers_base, 0);
    REQUIRE(taken.times == std::vector<Picoseconds>{701'000, 2'901'000, 4'002'000});
  });
}

namespace {

/// Whose entry holds interrupts off or allows them more often than the other way round, and clears the line.
struct Unbalanced {
  CommandProcessor* processor;
  sc_core::sc_signal<bool>* line;
  bool holds = false;
  int calls = 0;

  static void enter(void* argument) {
    auto& self = *static_cast<Unbalanced*>(argument);
    ++self.calls;
    self.line->write(false);
    sc_core::wait(sc_core::SC_ZERO_TIME);
    if (self.holds)
      self.processor->lock();
    else
      self.processor->unlock();
  }
};

}  // namespace

TEST_CASE("interrupts that are held off and allowed in other numbers are mistakes of the program") {
  using Mistakes = std::vector<std::string>;
  ProgramBench bench;
  Slow target("target");
  bench.checks.join(bench.processor.socket, target.socket);
  const std::string balance = ": unlock as often as lock expected, found ";
  const std::string unlocked = "allows interrupts" + balance + "1 unlock too many";
  const std::string held_off = "returns from an interrupt" + balance + "1 lock too many";
  Unbalanced entry{&bench.processor, &bench.interrupt};
  bench.run([&](CommandProcessor& p) {
    p.lock();
    p.unlock();
    CHECK(p.mistakes().empty());
    p.unlock();
    CHECK(p.mistakes() == Mistakes{unlocked});
    p.take_interrupts(&Unbalanced::enter, &entry);
    for (const bool holds : {true, false, true}) {  // each of them finds interrupts allowed
      entry.holds = holds;
      bench.interrupt.write(true);
      p.wait_ns(100);
    }
    CHECK(entry.calls == 3);
    p.lock();
    p.lock();
  });
  CHECK(bench.processor.mistakes() ==
        Mistakes{unlocked, held_off, "returns from an interrupt" + balance + "1 unlock too many", held_off});
}

TEST_CASE("a program that ends with interrupts held off has made a mistake") {
  ProgramBench bench;
  Slow target("target");
  bench.checks.join(bench.processor.socket, target.socket);
  bench.run([](CommandProcessor& p) {
    p.lock();
    p.lock();
    p.lock();
    p.unlock();
  });
  CHECK(bench.processor.mistakes() ==
        std::vector<std::string>{"ends: unlock as often as lock expected, found 2 locks too many"});
}

TEST_CASE("phases are noted in the program's own time, and may nest") {
  ProgramBench bench;
  Refuser target("target");
  bench.checks.join(bench.processor.socket, target.socket);
  bench.run([](CommandProcessor& p) {
    p.begin("total");
    p.wait_ns(10);
    p.begin("gemm");
    p.wait_ns(30);
    p.end("gemm");
    p.end("total");
    p.begin("all_gather");
  });
  const auto& phases = bench.processor.phases();
  REQUIRE(phases.size() == 3);
  CHECK((phases[0].phase == "total" && phases[0].begin == 0 && phases[0].end == 40'000));
  CHECK((phases[1].phase == "gemm" && phases[1].begin == 10'000 && phases[1].end == 40'000));
  CHECK(phases[2].end == never);
}

TEST_CASE("a phase that comes again and again is one phase and its boundaries are told once each in few steps") {
  ProgramBench bench;
  Refuser target("target");
  bench.checks.join(bench.processor.socket, target.socket);
  std::vector<std::pair<Picoseconds, bool>> told;
  bench.processor.on_boundary([&](const std::string& phase, bool begin) {
    REQUIRE(phase == "walk");
    told.emplace_back(now(), begin);
  });
  constexpr std::uint64_t at_once = 5000;
  bench.run([](CommandProcessor& p) {
    for (std::uint64_t i = 0; i < at_once; ++i) {
      p.begin("walk");
      p.end("walk");
    }
    for (int i = 0; i < 3; ++i) {
      p.wait_ns(10);
      p.begin("walk");
      p.wait_ns(20);
      p.end("walk");
    }
  });
  REQUIRE(bench.processor.phases().size() == 1);
  const CommandProcessor::PhaseTime& phase = bench.processor.phases()[0];
  CHECK(phase.ended == at_once + 3);
  CHECK(phase.spent == 60'000);
  CHECK((phase.first == 0 && phase.begin == 70'000 && phase.end == 90'000 && phase.last == 90'000));
  REQUIRE(told.size() == 2 * (at_once + 3));
  CHECK(told[2 * at_once - 1] == std::pair<Picoseconds, bool>{0, false});
  CHECK(told[2 * at_once] == std::pair<Picoseconds, bool>{10'000, true});
  CHECK(told.back() == std::pair<Picoseconds, bool>{90'000, false});
  CHECK(sc_core::sc_delta_count() < 100);
}

TEST_CASE("phases and buffers beyond what a program may have are one mistake each") {
  ProgramBench bench;
  Refuser target("target");
  bench.checks.join(bench.processor.socket, target.socket);
  int logged = 0, published = 0;
  bench.processor.on_log([&](const std::string&) { ++logged; });
  bench.processor.on_publish([&](const PublishedBuffer&) { ++published; });
  bench.run([](CommandProcessor& p) {
    for (int i = 0; i < 1100; ++i) {
      PublishedBuffer buffer;
      buffer.name = "b" + std::to_string(i);
      p.publish(buffer);
      p.begin(buffer.name);
      p.end(buffer.name);
    }
    p.begin("b7");  // a known one may come again
    p.end("b7");
  });
  CHECK(bench.processor.mistakes() ==
        std::vector<std::string>{"publishes a buffer beyond the 1024 that a program may publish: b1024",
                                 "begins a phase beyond the 1024 that a program may have: b1024"});
  CHECK(logged == 2);
  CHECK(published == 1024);
  CHECK(bench.processor.phases().size() == 1024);
  CHECK(bench.processor.phases()[7].ended == 2);
}

TEST_CASE("what programs observe of each other, and when, is the same at any quantum") {
  std::map<Picoseconds, std::unique_ptr<Pair>> pairs;
  for (const Picoseconds quantum : {1'000u, 70'000u, 1'000'000u, 1'000'000'000u})
    pairs[quantum] = std::make_unique<Pair>("quantum_" + std::to_string(quantum), quantum);
  sc_core::sc_start();
  const Pair& exact = *pairs.begin()->second;
  REQUIRE(exact.first.observed.size() > 20);
  for (const auto& [quantum, pair] : pairs) {
    INFO("quantum " << quantum << " ps");
    REQUIRE(pair->ring[0].processor.finished());
    REQUIRE(pair->ring[1].processor.finished());
    REQUIRE(pair->first.observed == exact.first.observed);
    REQUIRE(pair->second.observed == exact.second.observed);
  }
}

}  // namespace t3vp::test::command_processor_test
