// Speed of a memory controller with 32 channels behind its sockets: column accesses per second of processor time.
// SystemC elaborates once per process, so the controllers of all memories are there from the start and one works at a
// time.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "data_path/initiator.h"
#include "data_path/named_registers.h"
#include "dram/memory_file.h"
#include "memory/memory_controller.h"
#include "protocol/stubs.h"

// libsystemc brings a main() of its own, which wants this; ours takes precedence.
int sc_main(int, char**) { return 0; }

namespace {

using namespace t3vp;

constexpr std::uint64_t GiB = std::uint64_t{1} << 30;
constexpr std::uint32_t row_bytes = 256, column_bytes = 32;

struct Request {
  Operation operation;
  std::uint64_t address;
  std::uint32_t bytes;
};

/// The i-th request of a pattern.
using Pattern = Request (*)(std::uint64_t i);

Request sequential(std::uint64_t i) { return {Operation::load, i * row_bytes, row_bytes}; }

/// Rows of 128 x 128 two-byte tiles of a matrix with 4096 columns.
Request tile(std::uint64_t i) {
  const std::uint64_t number = i / 128, row = i % 128;
  return {Operation::load, (number / 32 * 128 + row) * 8192 + number % 32 * row_bytes, row_bytes};
}

/// Two sequential reads to a sequential write.
Request mixed(std::uint64_t i) {
  if (i % 3 == 2) return {Operation::store, GiB + i / 3 * row_bytes, row_bytes};
  return {Operation::load, (i - i / 3) * row_bytes, row_bytes};
}

/// Single column accesses, spread by a multiplicative hash over 8 GiB.
Request random(std::uint64_t i) {
  return {Operation::load, (i * 0x9E3779B97F4A7C15u >> 36) * column_bytes, column_bytes};
}

/// Keeps requests in flight: twice as many column accesses as the DRAM queues hold.
class Traffic : public sc_core::sc_module {
 public:
  DataInitiatorSocket<Traffic> socket{"socket", this, &Traffic::response};

  Traffic(const sc_core::sc_module_name& name, Picoseconds lookahead) : sc_module(name), lookahead_(lookahead) {}

  /// Sends requests for `accesses` column accesses and returns when all are answered.
  void run(Pattern pattern, std::uint64_t accesses, std::uint64_t in_flight) {
    pattern_ = pattern;
    const std::uint64_t per_request = pattern(0).bytes / column_bytes;
    next_ = 0;
    end_ = accesses / per_request;
    for (std::uint64_t i = 0; i < in_flight / per_request && next_ < end_; ++i) send(0);
    sc_core::sc_start();
  }

 private:
  void send(Picoseconds delay) {
    const Request request = pattern_(next_++);
    Transaction& transaction = pool_.make(request.operation, request.address, {1, request.bytes, 0});
    socket.send(transaction, delay + lookahead_);
  }

  void response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
    if (!transaction.is_response_ok()) throw std::runtime_error(transaction.get_response_string());
    transaction.release();
    if (next_ < end_) send(delay);
  }

  Picoseconds lookahead_;
  TransactionPool pool_;
  Pattern pattern_ = nullptr;
  std::uint64_t next_ = 0, end_ = 0;
};

/// A controller of GPU 0 with traffic on the cache's port.
class Bench : public sc_core::sc_module {
 public:
  memory::MemoryParameters parameters;
  memory::MemoryController controller;
  Traffic traffic;

  Bench(const sc_core::sc_module_name& name, const memory::MemoryParameters& p)
      : sc_module(name),
        parameters(p),
        controller("controller", p, memory::TrackerParameters{}, false, 0, nullptr),
        traffic("traffic", controller.lookahead()),
        registers_("registers", controller.registers),
        near_memory_("near_memory", controller.near_memory),
        tracker_("tracker", controller.tracker.registers) {
    traffic.socket.bind(*controller.ports[memory::MemoryController::from_cache]);
    for (const auto port : {memory::MemoryController::from_bypass, memory::MemoryController::from_peers,
                            memory::MemoryController::from_dma, memory::MemoryController::from_nic})
      stubs_.stub(*controller.ports[port]);
    stubs_.stub(controller.plain);
    stubs_.stub(controller.tracker.trigger);
    controller.tracker.spill.bind(*controller.ports[memory::MemoryController::from_tracker]);
    controller.kernel_active.bind(kernel_active_);
    controller.first_stage.bind(first_stage_);
  }

 private:
  NamedRegisters registers_, near_memory_, tracker_;
  Stubs stubs_;
  sc_core::sc_signal<bool> kernel_active_{"kernel_active"}, first_stage_{"first_stage"};
};

void run(benchmark::State& state, Bench& bench, Pattern pattern) {
  constexpr std::uint64_t accesses = 1 << 20;
  const std::uint64_t queues = std::uint64_t{bench.parameters.channels} * bench.parameters.dram.queue_depth;
  const std::uint64_t before = bench.controller.dram_accesses();
  const Picoseconds begin = now();
  for (auto _ : state) bench.traffic.run(pattern, accesses, 2 * queues);
  const std::uint64_t done = bench.controller.dram_accesses() - before;
  state.SetItemsProcessed(static_cast<std::int64_t>(done));
  state.counters["simulated_GBps"] = static_cast<double>(done * column_bytes) / to_ns(now() - begin);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  std::vector<std::unique_ptr<Bench>> benches;
  for (const std::string memory : {"hbm2-legacy", "hbm2-pseudo-channel"}) {
    memory::MemoryParameters parameters;
    parameters.dram = dram::shipped_memory(memory);
    const std::string module = memory == "hbm2-legacy" ? "legacy" : "pseudo_channel";
    Bench& bench = *benches.emplace_back(std::make_unique<Bench>(module.c_str(), parameters));
    const std::pair<const char*, Pattern> patterns[] = {
        {"sequential", sequential}, {"tile", tile}, {"mixed", mixed}, {"random", random}};
    for (const auto& [name, pattern] : patterns)
      benchmark::RegisterBenchmark((memory + "/controller with 32 channels/" + name).c_str(), run, std::ref(bench),
                                   pattern)
          ->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
}
