// One GPU: the blocks and how their sockets are joined (docs/models/architecture.md shows it as a picture).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cache/last_level_cache.h"
#include "compute/compute_cluster.h"
#include "dma/dma_engine.h"
#include "endpoint/absent_endpoint.h"
#include "endpoint/endpoint_engine.h"
#include "interconnect/fabric_port.h"
#include "interconnect/signals.h"
#include "memory/memory_controller.h"
#include "nic/absent_nic.h"
#include "nic/rdma_nic.h"
#include "node/memory_watch.h"
#include "node/plugin_block.h"
#include "node/race_watch.h"
#include "output_map/output_map.h"
#include "power/power_governor.h"
#include "processor/command_processor.h"
#include "processor/control_bus.h"
#include "processor/error_log.h"
#include "processor/firmware_core.h"
#include "processor/interrupt_controller.h"
#include "processor/system.h"
#include "protocol/caused_line.h"
#include "protocol/component.h"
#include "protocol/socket_probes.h"
#include "system/gpu_parameters.h"

namespace t3vp {

class Gpu : public sc_core::sc_module {
  const std::unique_ptr<processor::Processor> placed_processor_;

 public:
  /// `kernels` are what packets may ask for, up to a null pointer; they outlive the GPU. Throws ParameterError about
  /// parameters that a block cannot have, and InputError about blocks of libraries.
  /// `races`, which outlives it, sees its accesses; null: nobody does.
  Gpu(const sc_core::sc_module_name& name, const GpuParameters& parameters, const Placement& placement,
      const SimulationOptions& options, const t3_kernel* const* kernels, Trace* trace,
      races::RaceDetector* races = nullptr);
  ~Gpu() override;

  /// The processor of its firmware: one of the two below.
  processor::Processor& processor;
  /// Throws std::logic_error when it is the other.
  processor::CommandProcessor& native();
  processor::FirmwareCore& core();

  // The blocks. Each brings its registers, interrupt lines, figures and diagnosis along: see plug_in_blocks().
  processor::ControlBus bus;
  processor::System system;
  processor::InterruptController interrupts;
  processor::ErrorLog error_log;
  compute::ComputeCluster compute;
  output_map::OutputMap output_map;
  cache::LastLevelCache cache;
  memory::MemoryController memory;
  memory::FollowingOperations following;
  dma::DmaEngine dma;
  interconnect::Signals signals;
  interconnect::FabricPort fabric;
  std::vector<std::unique_ptr<PluginBlock>> plugged;  ///< by their windows, plugin_0 first; null: spare
  std::unique_ptr<nic::Nic> nic;  ///< null where the parameters have none; whoever made the GPU binds its port `wire`

  std::unique_ptr<endpoint::EndpointEngine> endpoint;  ///< null where the parameters have none
  std::unique_ptr<power::PowerGovernor> power;         ///< null where the parameters have none

  /// The NIC, or what is in its place.
  nic::PacketReceiver& packets();

  /// Every block that has figures or a diagnosis, in the order of construction, blocks within others behind them.
  const std::vector<const Component*>& components() const { return components_; }
  /// Sets the observer of every access to the GPU's registers; null means none. The observer outlives the GPU.
  void observe_registers(RegisterObserver* observer);
  /// Every block's figures, their names prefixed with the block's.
  void visit_statistics(const StatisticVisitor& visit) const;
  /// The further figures of every block.
  void visit_details(const StatisticVisitor& visit) const;
  /// Returns the violations that the checkers between its sockets have found.
  const Violations& violations() const { return probes_.violations(); }
  /// Lets protocol checkers that sleep check what is sent from now on.
  void wake_checkers() { probes_.wake(); }
  /// Returns the accesses to its memory that its software has not allocated.
  const Violations& memory_violations() const { return memory_watch_.violations(); }

 private:
  void place_nic(const GpuParameters& parameters, bool functional, std::uint16_t gpu, Trace* trace);
  void place_endpoint(const GpuParameters& parameters, bool functional, std::uint16_t gpu);
  void bind_data_path();
  void bind_control_path();
  void place_power(const GpuParameters& parameters);
  void place_plugged(const std::vector<PluggedBlock>& blocks, std::uint16_t gpu);
  void plug_in_blocks(std::uint16_t gpu);
  void plug_in(RegisterBlock& block, std::uint16_t gpu);
  address_map::Block window_of(const RegisterBlock& block) const;
  void bind_interrupts();
  void bind_lines();

  SocketProbes probes_;
  MemoryWatch memory_watch_;
  RaceWatch race_watch_;
  std::unique_ptr<nic::AbsentNic> absent_nic_;
  std::unique_ptr<endpoint::AbsentEndpoint> absent_endpoint_;
  std::vector<const Component*> components_;
  Cause interrupted_by_;  ///< the latest event that has raised a line
  sc_core::sc_vector<CausedLine> lines_;
  sc_core::sc_vector<sc_core::sc_signal<OutputRange, sc_core::SC_UNCHECKED_WRITERS>> running_outputs_{
      "running_outputs", registers::KernelQueue::base_count};
  sc_core::sc_signal<std::uint32_t, sc_core::SC_UNCHECKED_WRITERS> withdraw_{"withdraw"};
  sc_core::sc_signal<bool, sc_core::SC_UNCHECKED_WRITERS> kernel_active_{"kernel_active"}, first_stage_{"first_stage"},
      interrupt_{"interrupt"}, reset_{"reset"};
};

}  // namespace t3vp
