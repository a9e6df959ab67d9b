// The compute units of a GPU with their dispatcher: queues of kernel packets that doorbells announce, and the
// workgroups of the kernels that run, one of each queue, stepped without a process per workgroup.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compute/compute_units.h"
#include "compute/gate_table.h"
#include "compute/kernel_queue.h"
#include "compute/kernel_registry.h"
#include "protocol/cache_release.h"
#include "protocol/component.h"
#include "protocol/core_clock.h"
#include "protocol/data_sockets.h"
#include "protocol/event_queue.h"
#include "protocol/output_range.h"
#include "registers/kernel_queue.h"
#include "t3/device.h"

namespace t3vp::compute {

class ComputeCluster : public sc_core::sc_module, public Component, public MemoryUser, public OrderTeller {
 public:
  DataInitiatorSocket<ComputeCluster> memory{"memory", this, &ComputeCluster::response};
  sc_core::sc_out<bool> interrupt{"interrupt"};
  sc_core::sc_out<bool> kernel_active{"kernel_active"};  ///< a producer kernel runs
  sc_core::sc_out<bool> first_stage{"first_stage"};      ///< none of its workgroups has finished yet
  /// A bit for each queue whose kernel waits for no signal any more: it is aborted or out of step.
  sc_core::sc_out<std::uint32_t> withdraw{"withdraw"};
  /// The output range of each queue's kernel, in the order of binding; none while none runs.
  sc_core::sc_port<sc_core::sc_signal_inout_if<OutputRange>, 0, sc_core::SC_ZERO_OR_MORE_BOUND> running_output{
      "running_output"};
  /// The blocks with maps that a kernel might disturb.
  sc_core::sc_port<MapHolder, 0, sc_core::SC_ZERO_OR_MORE_BOUND> map_holders{"map_holders"};
  /// The blocks that might overwrite a kernel's operands or output.
  sc_core::sc_port<MemoryUser, 0, sc_core::SC_ZERO_OR_MORE_BOUND> users{"users"};
  /// The blocks that record neighbours' stores for a later kernel.
  sc_core::sc_port<MemoryUser, 0, sc_core::SC_ZERO_OR_MORE_BOUND> arrivals{"arrivals"};
  /// What packets with the flag release write back.
  sc_core::sc_port<CacheRelease, 1, sc_core::SC_ZERO_OR_MORE_BOUND> cache{"cache"};
  /// Unbound: the clock is that of the parameters.
  sc_core::sc_port<CoreClock, 1, sc_core::SC_ZERO_OR_MORE_BOUND> clock{"clock"};
  registers::KernelQueue registers{"registers"};

  /// `kernels` are what packets may ask for, up to a null pointer; they outlive the cluster (kernel_registry.h).
  ComputeCluster(const sc_core::sc_module_name& name, const ComputeParameters& parameters,
                 const t3_kernel* const* kernels, bool functional, std::uint16_t gpu, Trace* trace);

  ~ComputeCluster() override;

  /// Calls `told` when a kernel's code starts to compute on the simulating machine, and with null when it has returned.
  void on_code(std::function<void(const KernelCode*)> told) { code_told_ = std::move(told); }

  /// Returns what the cluster waits for, one line each; empty when it is idle.
  std::vector<std::string> diagnosis() const override;
  std::uint64_t finished_workgroups() const { return finished_total_; }
  /// A kernel that has ended, since the reset, has written a range with this address.
  bool has_written(std::uint64_t address) const { return history_.has_written(address); }
  /// The kernel that writes there, or else the one that has done so last; empty when there is none.
  std::string writer_of(std::uint64_t address) const;
  /// The name of the kernel that runs in a queue; empty while none does.
  std::string running_in(std::uint8_t queue) const;
  /// The kernels that run, and the rings of packets.
  std::string use_of(const OutputRange& range) const override;
  /// Returns the same for all queues but this one. Reads of their kernels count only with `also_reads`.
  std::string use_beside(std::uint8_t queue, const OutputRange& range, bool also_reads) const;
  /// Packets of a queue since the reset.
  std::uint64_t announced(std::uint32_t queue) const { return queues_[queue]->announced(); }
  std::uint64_t completed(std::uint32_t queue) const { return queues_[queue]->completed(); }
  /// Packets of `queue` have waited for this packet of `other`, or for one behind it.
  bool is_behind(std::uint32_t queue, std::uint32_t other, std::uint64_t packet) const {
    return packet <= last_awaited(queue, other);
  }
  /// What a queue's packets so far are behind, themselves too.
  OrderPoint behind(std::uint32_t queue) const { return queues_[queue]->behind(); }
  /// Number of the last packet of `other` that packets of `queue` have waited for; 0 when there is none.
  std::uint64_t last_awaited(std::uint32_t queue, std::uint32_t other) const {
    return queues_[queue]->last_awaited(other);
  }
  /// A kernel that runs, or a packet behind it, may write there.
  bool may_write(std::uint64_t address) const;
  /// Sum over compute units of the time in which they computed.
  Picoseconds busy_time() const { return busy_time_; }
  /// The first sum that the injected fault has rounded wrongly, in words; empty while there is none.
  const std::string& wrongly_rounded() const { return wrongly_rounded_; }
  /// Polls of kernels' waves that have found something else than they await, and waves that poll so.
  std::uint64_t polls_in_vain() const { return polls_in_vain_; }
  std::uint32_t polling() const;
  /// Returns how often a kernel's code has been run on the simulating machine.
  std::uint64_t stretches() const { return stretches_; }
  /// While polls are held no wave reads again. Later they go on as if they had not been, at multiples of the loop's
  /// time.
  void hold_polls(bool held);
  /// One line for each queue that has a ring.
  std::vector<std::string> contents() const override;
  const char* group() const override { return "compute"; }
  void visit_statistics(const StatisticVisitor& visit) const override;
  /// A fault from now on: ring kernels round their sums toward zero.
  void round_wrongly() { parameters_.wrong_rounding = true; }

 private:
  friend class KernelQueue;
  static constexpr std::uint32_t queue_count = registers::KernelQueue::base_count;

  void taken(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void push(KernelQueue::Step step, Transaction& transaction, Picoseconds delay);
  void step();
  void poll();
  void reset();
  void fill(std::uint32_t cu);
  void fill();
  void start_together();
  KernelQueue* next_for(std::uint32_t cu);
  bool is_kept_for_others(const KernelQueue& queue, std::uint32_t cu) const;
  bool runs_nothing_but(const KernelQueue& queue) const;
  void note_ended(KernelHistory::Ended ended);
  void look_at_waits();
  void tell_stage();
  void tell_withdrawn();
  void tell_output(std::uint32_t queue, const OutputRange& range);
  void update_interrupt();
  void command_gates();
  void make_tracks(std::uint32_t queue);
  Trace* trace(std::uint32_t queue, std::uint32_t cu, Trace::Track& track);
  Trace* trace_workgroup(std::uint32_t queue, std::uint32_t workgroup, std::uint32_t rows, Trace::Track& track);
  std::string name_of_row(const std::string& row, std::uint32_t queue) const;

  ComputeParameters parameters_;
  std::string wrongly_rounded_;
  bool functional_;
  std::uint16_t gpu_;
  Trace* trace_;
  std::array<std::vector<Trace::Track>, queue_count> tracks_;  ///< of each queue, others than 0's made when needed
  std::array<std::vector<Trace::Track>, queue_count> rows_;    ///< of each queue, of the first workgroups of a kernel
  EventQueue<KernelQueue::Event> events_{[this] { step(); }, Part::dram_latency};
  EventQueue<KernelQueue::Event> polls_{[this] { poll(); }};
  bool polls_are_held_ = false;
  std::uint64_t polls_in_vain_ = 0, stretches_ = 0;
  TransactionPool pool_;
  ComputeUnits units_;
  KernelRegistry kernels_;
  GateTable gates_{registers};
  FiberStacks stacks_{T3_WAVE_STACK_BYTES};
  LentTiles lent_tiles_;
  LentStructures lent_{FencedMemory{KernelRegistry::most_argument_size},
                       FencedMemory{KernelRegistry::most_argument_size}};
  std::function<void(const KernelCode*)> code_told_;
  std::array<std::unique_ptr<KernelQueue>, queue_count> queues_;
  std::uint32_t last_served_ = 0;  ///< queue: those of one priority are served round-robin
  Picoseconds busy_time_ = 0;
  std::uint64_t finished_total_ = 0;
  std::uint64_t resets_ = 0;
  KernelHistory history_;
};

}  // namespace t3vp::compute
