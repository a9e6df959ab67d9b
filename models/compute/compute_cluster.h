// The compute units of a GPU with their dispatcher: fetches kernel packets that a doorbell announces and steps the
// workgroups of one kernel at a time, without a process per workgroup.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compute/fiber.h"
#include "compute/kernel_host.h"
#include "compute/kernel_registry.h"
#include "protocol/component.h"
#include "protocol/data_sockets.h"
#include "protocol/event_queue.h"
#include "protocol/output_range.h"
#include "registers/kernel_queue.h"
#include "t3/device.h"
#include "t3/kernel_packet.h"

namespace t3vp {

class KernelRun;

class ComputeCluster : public sc_core::sc_module, public Component, public KernelHost, public MemoryUser {
 public:
  DataInitiatorSocket<ComputeCluster> memory{"memory", this, &ComputeCluster::response};
  sc_core::sc_out<bool> interrupt{"interrupt"};
  sc_core::sc_out<bool> kernel_active{"kernel_active"};  ///< a producer kernel runs
  sc_core::sc_out<bool> first_stage{"first_stage"};      ///< none of its workgroups has finished yet
  sc_core::sc_out<bool> withdraw{"withdraw"};  ///< a kernel waits for no signal any more: it is aborted or out of step
  /// Where the kernel that runs writes; none while none runs.
  sc_core::sc_port<sc_core::sc_signal_inout_if<OutputRange>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> running_output{
      "running_output"};
  /// Whose maps a kernel might disturb.
  sc_core::sc_port<MapHolder, 0, sc_core::SC_ZERO_OR_MORE_BOUND> map_holders{"map_holders"};
  /// Who might spoil what a kernel reads or writes.
  sc_core::sc_port<MemoryUser, 0, sc_core::SC_ZERO_OR_MORE_BOUND> users{"users"};
  /// Who knows what neighbours have stored here for a kernel that is yet to come.
  sc_core::sc_port<MemoryUser, 0, sc_core::SC_ZERO_OR_MORE_BOUND> arrivals{"arrivals"};
  registers::KernelQueue registers{"registers"};

  /// `kernels` are what packets may ask for, up to a null pointer; they outlive the cluster (kernel_registry.h).
  ComputeCluster(const sc_core::sc_module_name& name, const ComputeParameters& parameters,
                 const t3_kernel* const* kernels, bool functional, std::uint16_t gpu, Trace* trace);

  ~ComputeCluster() override;

  /// Calls `told` with true when a kernel's program begins to compute on the host, with false when it has come back.
  void on_program(std::function<void(bool runs)> told) { program_told_ = std::move(told); }

  /// What the cluster waits for, one line each; empty when it is idle.
  std::vector<std::string> diagnosis() const override;
  std::uint64_t finished_workgroups() const { return finished_total_; }
  /// A kernel that has ended, since the reset, has written a range with this address.
  bool has_written(std::uint64_t address) const;
  /// The kernel that runs, and the ring of packets.
  std::string use_of(const OutputRange& range) const override;
  /// The kernel that runs, or a packet behind it, may write there.
  bool may_write(std::uint64_t address) const;
  /// Sum over compute units of the time in which they computed.
  Picoseconds busy_time() const { return busy_time_; }
  /// The first sum that the injected fault has rounded wrongly, in words; empty while there is none.
  const std::string& wrongly_rounded() const { return wrongly_rounded_; }
  const char* group() const override { return "compute"; }
  void visit_statistics(const StatisticVisitor& visit) const override;

 private:
  static constexpr Slot dispatcher = 0xFFFFFFFF;     ///< slot of the packet fetch
  static constexpr std::uint32_t no_generation = 0;  ///< of accesses whose answers nobody waits for
  enum class Step : std::uint8_t { arrived, delivered, taken, elapsed, launch };
  struct Event {
    Step step;
    Slot slot;
    std::uint32_t tag;
    Transaction* transaction;
    std::uint32_t generation;
  };
  struct ComputeUnit {
    Picoseconds busy_until = 0, port_until = 0;
  };

  // KernelHost
  const ComputeParameters& parameters() const override { return parameters_; }
  bool functional() const override { return functional_; }
  std::uint16_t gpu() const override { return gpu_; }
  std::uint64_t life() const override { return resets_; }
  Status failure() const override { return failure_; }
  TransactionPool& pool() override { return pool_; }
  void issue(Slot slot, Transaction& transaction, Picoseconds delay) override;
  void schedule(Picoseconds time, Slot slot, std::uint32_t tag) override;
  Picoseconds occupy(Slot slot, Picoseconds duration) override;
  void wrongly_rounded(const std::string& what) override;
  void program_runs(bool runs) override {
    if (program_told_) program_told_(runs);
  }
  void fail(const std::string& what) override;
  void finished(Slot slot) override;
  Trace* trace(Slot slot, Trace::Track& track) override;

  void taken(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void step();
  void arrived(const Event& event);
  void delivered(const Event& event);
  void answered(Slot slot, Transaction& transaction);
  void note_failure(Transaction& transaction);
  void fetch();
  void fetched(Transaction& transaction);
  struct Refusal {
    Status status = Status::ok;
    std::string text;
  };
  std::string check_header(const t3_kernel* kernel) const;
  std::string check_place_of_arguments() const;
  bool come_with_packet() const;
  void take_packet(const unsigned char* entry);
  void take_arguments(const unsigned char* bytes);
  void refuse(const Refusal& found);
  Refusal check_launch(const t3_kernel& kernel, const t3_device& device, const t3_launch& launch);
  Refusal check_ranges() const;
  Refusal check_maps(const t3_plan& plan) const;
  Refusal check_reads() const;
  Refusal check_arrivals() const;
  void launch();
  void dispatch(Slot slot);
  bool all_finished() const;
  void abort();
  void stop();
  void end_aborted();
  void complete(Status status);
  void record(Status status);
  void send_completion_signal();
  void acknowledged();
  OutputRange ring() const;
  void tell_output(const OutputRange& range);
  void note_written();
  void update_interrupt();
  void reset();
  void clear_kernel();
  void check_base();
  void check_entries();
  void check_ring();
  void rung();
  ComputeUnit& unit_of(Slot slot) { return units_[slot / slots_per_cu_]; }

  ComputeParameters parameters_;
  std::string wrongly_rounded_;
  bool functional_;
  std::uint16_t gpu_;
  Trace* trace_;
  std::vector<Trace::Track> tracks_;
  EventQueue<Event> events_;
  TransactionPool pool_;
  std::vector<ComputeUnit> units_;
  KernelRegistry kernels_;
  FiberStacks stacks_{T3_WAVE_STACK_BYTES};
  std::function<void(bool)> program_told_;
  std::unique_ptr<KernelRun> kernel_;
  std::uint32_t slots_per_cu_ = 1, next_workgroup_ = 0, finished_workgroups_ = 0;
  std::uint64_t rung_ = 0, completed_ = 0;
  std::uint64_t resets_ = 0;
  std::uint64_t ring_base_ = 0, ring_entries_ = 0;  ///< the packet ring that the doorbell was rung for
  std::uint64_t unacknowledged_ = 0;                ///< stores that are taken and have no response
  std::uint64_t abort_until_ = 0;                   ///< packets up to this one are not run
  bool busy_ = false;
  bool running_ = false;         ///< the packet's kernel has been made
  bool stopping_ = false;        ///< it is aborted and has accesses under way
  std::uint64_t in_flight_ = 0;  ///< accesses of this generation that have not been answered
  /// Changes with a reset and after an abort: what comes for an earlier one is dropped.
  std::uint32_t generation_ = no_generation + 1;
  t3_kernel_packet packet_{};         ///< under way
  std::uint64_t packet_address_ = 0;  ///< of its entry in the ring
  Picoseconds launch_time_ = 0;       ///< of its kernel, when its arguments have come by then
  bool fetching_arguments_ = false;   ///< its arguments are on their way
  std::uint32_t completion_signal_ = T3_KERNEL_PACKET_COMPLETION_SIGNAL_NONE;  ///< of the packet, once it is believed
  Status failure_ = Status::ok;  ///< of the kernel's first access that failed
  Picoseconds busy_time_ = 0;
  std::uint64_t finished_total_ = 0;
  OutputRange output_;                       ///< of the kernel that runs
  std::vector<OutputRange> writes_, reads_;  ///< the same kernel's
  std::vector<OutputRange> written_;         ///< by kernels that have ended, each range once, the latest ones
};

}  // namespace t3vp
