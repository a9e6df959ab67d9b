// GPUs with memory controllers and nothing else on a fabric of any topology, whose memories everybody reads and counts
// in.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "data_path/initiator.h"
#include "memory/memory_controller.h"
#include "protocol/address_map.h"
#include "protocol/stubs.h"
#include "wired_fabric.h"

namespace t3vp::test {

/// `here` sends to this GPU's memory, `away` to others'.
struct ReadingGpu {
  interconnect::FabricPort port;
  memory::MemoryController controller;
  DataInitiator here, away;
  sc_core::sc_signal<bool> kernel_active, first_stage;
  sc_core::sc_signal<OutputRange> running_output;
  Stubs stubs;

  ReadingGpu(const std::string& name, const Placement& placement, std::uint32_t header_bytes, bool functional)
      : port(name.c_str(), placement.gpu, header_bytes, placement.neighbours, placement.route, placement.receivers),
        controller((name + "_memory").c_str(), parameters(), memory::TrackerParameters{}, functional, placement.gpu,
                   nullptr),
        here((name + "_here").c_str()),
        away((name + "_away").c_str()),
        kernel_active((name + "_active").c_str()),
        first_stage((name + "_stage").c_str()),
        running_output((name + "_output").c_str()),
        stubs() {
    using memory::MemoryController;
    away.socket.bind(port.compute);
    here.socket.bind(*controller.ports[MemoryController::from_bypass]);
    port.memory.bind(*controller.ports[MemoryController::from_peers]);
    controller.tracker.spill.bind(*controller.ports[MemoryController::from_tracker]);
    stubs.stub(*controller.ports[MemoryController::from_cache]);
    stubs.stub(*controller.ports[MemoryController::from_dma]);
    stubs.stub(*controller.ports[MemoryController::from_nic]);
    stubs.stub(controller.tracker.trigger);
    stubs.stub(controller.plain);
    stubs.stub(port.dma);
    stubs.stub(port.control);
    stubs.stub(port.signals);
    for (RegisterBlock* block :
         {static_cast<RegisterBlock*>(&port.registers), static_cast<RegisterBlock*>(&controller.registers),
          static_cast<RegisterBlock*>(&controller.near_memory),
          static_cast<RegisterBlock*>(&controller.tracker.registers)})
      stubs.stub(block->socket);
    controller.tracker.running_output.bind(running_output);
    controller.kernel_active.bind(kernel_active);
    controller.first_stage.bind(first_stage);
  }

  static memory::MemoryParameters parameters() {
    memory::MemoryParameters parameters;
    parameters.channels = 4;
    parameters.capacity_bytes = std::uint64_t{64} << 20;
    return parameters;
  }
};

class ReadingNode {
 public:
  std::vector<std::unique_ptr<ReadingGpu>> gpus;
  std::unique_ptr<WiredFabric> wires;

  ReadingNode(const std::string& name, const LinkTier& tier, std::uint32_t count, bool functional)
      : ReadingNode(name, lay_out(tier, count), tier.links.header_bytes, functional) {}
  ReadingNode(const std::string& name, const Fabric& fabric, std::uint32_t header_bytes, bool functional) {
    for (const Placement& placement : fabric.gpus)
      gpus.push_back(
          std::make_unique<ReadingGpu>(name + std::to_string(placement.gpu), placement, header_bytes, functional));
    wires = std::make_unique<WiredFabric>(name, fabric, ports_of(gpus));
  }

  /// To the memory of a GPU, from the same one or from another.
  std::size_t send(std::uint16_t from, std::uint16_t to, DataAccess access, Picoseconds later = 0) {
    access.address = address_map::on_gpu(to, access.address);
    return from == to ? gpus[from]->here.send(access, gpus[from]->controller.lookahead() + later)
                      : gpus[from]->away.send(access, later);
  }
  const DataAnswer& answer(std::uint16_t from, std::uint16_t to, std::size_t number) const {
    return (from == to ? gpus[from]->here : gpus[from]->away).answer(number);
  }
};

}  // namespace t3vp::test
