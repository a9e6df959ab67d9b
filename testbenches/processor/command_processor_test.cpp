#include "processor/command_processor.h"

#include <tlm_utils/simple_target_socket.h>

#include <map>

#include "processor/control_bus.h"
#include "processor/interrupt_controller.h"
#include "program_bench.h"
#include "protocol/address_map.h"
#include "registers/signals.h"

using namespace t3vp;

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

constexpr std::uint64_t answer(tlm::tlm_response_status status) { return static_cast<std::uint64_t>(-status); }

/// Two GPUs of the ring, as far as firmware can see them: signals, interrupt controller and a link of 500 ns.
struct Gpu : sc_core::sc_module {
  sc_core::sc_vector<sc_core::sc_signal<bool>> lines{"line_signals", InterruptController::line_count};
  sc_core::sc_signal<bool> interrupt{"interrupt"};
  CommandProcessor processor;
  ControlBus bus;
  InterruptController controller{"controller"};
  registers::Signals signals{"signals"};
  tlm_utils::simple_target_socket<Gpu, 64> link_in{"link_in"};
  tlm_utils::simple_initiator_socket<Gpu, 64> link_out{"link_out"};
  std::vector<std::pair<Picoseconds, std::uint64_t>> observed;

  Gpu(const sc_core::sc_module_name& name, std::uint16_t gpu, Picoseconds quantum)
      : sc_module(name), processor("processor", gpu, with_quantum(quantum)), bus("bus", gpu, 100'000) {
    using address_map::Block;
    processor.socket.bind(bus.processor);
    bus.block(Block::interrupt_controller).bind(controller.socket);
    bus.block(Block::signals).bind(signals.socket);
    bus.remote.bind(link_in);
    link_in.register_b_transport(this, &Gpu::link);
    controller.interrupt.bind(interrupt);
    processor.interrupt.bind(interrupt);
    for (std::size_t i = 0; i < lines.size(); ++i) controller.lines[i].bind(lines[i]);
    signals.add.on_write([this](std::size_t i) { add(i); });
    signals.interrupt.on_write([this] { raised_.notify(sc_core::SC_ZERO_TIME); });
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.set_sensitivity(&raised_);
    sc_core::sc_spawn([this] { lines[InterruptController::signals].write(signals.interrupt.changed()); }, "drive",
                      &options);
  }

  static ProcessorParameters with_quantum(Picoseconds quantum) {
    ProcessorParameters parameters;
    parameters.quantum = quantum;
    return parameters;
  }

  void add(std::size_t i) {
    signals.value[i].set(signals.value[i].value() + signals.add[i].value());
    if (i == signals.watch.index()) signals.interrupt.changed.set(true);
    raised_.notify(sc_core::SC_ZERO_TIME);
  }
  void link(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
    wait(delay + sc_core::sc_time(500, sc_core::SC_NS));
    delay = sc_core::SC_ZERO_TIME;
    link_out->b_transport(transaction, delay);
  }

  /// Sends `rounds` signals to the peer, `pause_ns` apart, and waits for as many of its own, noting what it sees when.
  void play(std::uint64_t peer, std::uint64_t rounds, std::uint64_t pause_ns) {
    CommandProcessor& p = processor;
    const auto own = [&](address_map::Block block) {
      return address_map::on_gpu(processor.gpu(), address_map::block_base(block));
    };
    const std::uint64_t own_signals = own(address_map::Block::signals);
    p.write32(own(address_map::Block::interrupt_controller) + 4, 1u << InterruptController::signals);
    for (std::uint64_t round = 1; round <= rounds; ++round) {
      for (unsigned i = 0; i < round % 5; ++i) p.write32(own_signals + 0x2000, 0);  // runs ahead
      p.wait_ns(pause_ns);
      p.write64(address_map::on_gpu(peer, address_map::block_base(address_map::Block::signals) + 0x1000), 1);
      wait_for(own_signals, round);
    }
  }

  void wait_for(std::uint64_t own_signals, std::uint64_t value) {
    for (;;) {
      processor.write32(own_signals + 0x2004, 1);
      const std::uint64_t seen = read64(processor, own_signals);
      observed.emplace_back(now(), seen);
      if (seen >= value) return;
      REQUIRE(processor.wait_for_interrupt("a signal") == Status::ok);
    }
  }

 private:
  sc_core::sc_event raised_;
};

struct Pair {
  Gpu first, second;

  Pair(const std::string& name, Picoseconds quantum)
      : first((name + "_first").c_str(), 0, quantum), second((name + "_second").c_str(), 1, quantum) {
    first.link_out.bind(second.bus.peers);
    second.link_out.bind(first.bus.peers);
    first.processor.run([this](CommandProcessor&) {
      first.play(1, 20, 131);
      return Status::ok;
    });
    second.processor.run([this](CommandProcessor&) {
      second.play(0, 20, 397);
      return Status::ok;
    });
  }
};

}  // namespace

TEST_CASE("a bus error is a status, and the program goes on") {
  ProgramBench bench;
  Refuser target("target");
  bench.processor.socket.bind(target.socket);
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
  bench.processor.socket.bind(target.socket);
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

TEST_CASE("a program that waits for ever can be told so") {
  ProgramBench bench;
  Refuser target("target");
  bench.processor.socket.bind(target.socket);
  bench.processor.run([](CommandProcessor& p) { return p.wait_for_interrupt("what never comes"); });
  sc_core::sc_start();
  REQUIRE_FALSE(bench.processor.finished());
  REQUIRE(bench.processor.waits_for() == "what never comes");
  bench.processor.give_up_waiting();
  sc_core::sc_start();
  REQUIRE(bench.processor.finished());
  REQUIRE(bench.processor.status() == Status::stuck);
}

TEST_CASE("phases are noted in the program's own time, and may nest") {
  ProgramBench bench;
  Refuser target("target");
  bench.processor.socket.bind(target.socket);
  bench.run([](CommandProcessor& p) {
    p.begin(Phase::total);
    p.wait_ns(10);
    p.begin(Phase::gemm);
    p.wait_ns(30);
    p.end(Phase::gemm);
    p.end(Phase::total);
    p.begin(Phase::all_gather);
  });
  const auto& phases = bench.processor.phases();
  REQUIRE(phases.size() == 3);
  CHECK((phases[0].phase == Phase::total && phases[0].begin == 0 && phases[0].end == 40'000));
  CHECK((phases[1].phase == Phase::gemm && phases[1].begin == 10'000 && phases[1].end == 40'000));
  CHECK(phases[2].end == never);
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
    REQUIRE(pair->first.processor.finished());
    REQUIRE(pair->second.processor.finished());
    REQUIRE(pair->first.observed == exact.first.observed);
    REQUIRE(pair->second.observed == exact.second.observed);
  }
}
