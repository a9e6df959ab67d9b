// A memory controller of GPU 1 with an initiator on each port and a listener in the place of the DMA engine.
#pragma once

#include <catch2/catch.hpp>

#include "data_path/checked_sockets.h"
#include "data_path/initiator.h"
#include "data_path/memory_user.h"
#include "data_path/named_registers.h"
#include "data_path/random.h"
#include "data_path/target.h"
#include "memory/memory_controller.h"

namespace t3vp::memory {

inline constexpr std::uint16_t bench_gpu = 1;

inline std::uint64_t local(std::uint64_t address) { return address_map::on_gpu(bench_gpu, address); }

/// Firmware or a loader: the controller as plain memory.
class PlainInitiator : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<PlainInitiator, 64> socket{"socket"};
  explicit PlainInitiator(const sc_core::sc_module_name& name) : sc_module(name) {}
};

struct MemoryBench {
  static MemoryParameters small(std::uint32_t channels = 4) {
    MemoryParameters parameters;
    parameters.channels = channels;
    parameters.capacity_bytes = std::uint64_t{64} << 20;
    return parameters;
  }

  MemoryParameters parameters;
  MemoryController controller;
  DataInitiator cache{"cache"}, bypass{"bypass"}, peers{"peers"}, dma{"dma"}, nic{"nic"};
  PlainInitiator plain{"plain"};
  DataTarget triggers{"triggers"};
  sc_core::sc_signal<bool> kernel_active{"kernel_active"}, first_stage{"first_stage"};
  sc_core::sc_signal<OutputRange> running_output{"running_output"};
  OtherUser user;
  NamedRegisters registers, near_memory, tracker;
  CheckedSockets checks;

  /// Without `functional` accesses may have data all the same.
  explicit MemoryBench(const MemoryParameters& p = small(), bool functional = false)
      : parameters(p),
        controller("controller", p, TrackerParameters{}, functional, bench_gpu, nullptr),
        registers("registers", controller.registers),
        near_memory("near_memory", controller.near_memory),
        tracker("tracker", controller.tracker.registers) {
    checks.join_test(cache.socket, *controller.ports[MemoryController::from_cache]);
    checks.join_test(bypass.socket, *controller.ports[MemoryController::from_bypass]);
    checks.join_test(peers.socket, *controller.ports[MemoryController::from_peers]);
    checks.join_test(dma.socket, *controller.ports[MemoryController::from_dma]);
    checks.join_test(nic.socket, *controller.ports[MemoryController::from_nic]);
    checks.join_test(plain.socket, controller.plain);
    checks.join(controller.tracker.trigger, triggers.socket);
    checks.join(controller.tracker.spill, *controller.ports[MemoryController::from_tracker]);
    controller.tracker.running_output.bind(running_output);
    controller.users.bind(user);
    controller.kernel_active.bind(kernel_active);
    controller.first_stage.bind(first_stage);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  /// Sends as every initiator of a GPU does: as long before the arrival as the controller looks ahead.
  std::size_t send(DataInitiator& initiator, const DataAccess& access, Picoseconds later = 0) {
    return initiator.send(access, controller.lookahead() + later);
  }

  /// Sends and waits for the answer.
  DataAnswer perform(DataInitiator& initiator, const DataAccess& access) {
    const std::size_t number = send(initiator, access);
    settle();
    return initiator.answer(number);
  }

  DataAnswer load(std::uint64_t address, const Shape& shape) {
    return perform(cache,
                   {Operation::load, local(address), shape, {}, Stream::compute, TrafficClass::gemm_read, {}, {}});
  }
  DataAnswer store(std::uint64_t address, const Shape& shape, const std::vector<unsigned char>& data) {
    return perform(bypass,
                   {Operation::store, local(address), shape, data, Stream::compute, TrafficClass::gemm_write, {}, {}});
  }

  static void settle() { sc_core::sc_start(); }
  static void run_for(Picoseconds time) { sc_core::sc_start(to_sc_time(time)); }
  static void set(sc_core::sc_signal<bool>& line, bool value) {
    line.write(value);
    run_for(1);
  }
};

}  // namespace t3vp::memory
