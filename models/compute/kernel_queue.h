// One of a GPU's queues of kernel packets: takes them from its ring in memory in order, checks them and runs their
// kernels, one at a time, on what compute units the cluster gives it. Kernels of several queues run at once.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "compute/kernel_host.h"
#include "compute/kernel_run.h"
#include "protocol/output_range.h"
#include "registers/kernel_queue.h"
#include "t3/kernel_packet.h"

namespace t3vp::compute {

class ComputeCluster;

class KernelQueue final : public KernelHost {
 public:
  static constexpr std::uint32_t no_generation = 0;  ///< of accesses whose answers nobody waits for
  static constexpr Slot dispatcher = 0xFFFFFFFF;     ///< slot of the queue's own fetches
  enum class Step : std::uint8_t { arrived, delivered, taken, elapsed, launch, poll };
  struct Event {
    Step step;
    std::uint8_t queue;
    Slot slot;
    std::uint32_t tag;
    Transaction* transaction;
    std::uint32_t generation;
  };

  KernelQueue(ComputeCluster& cluster, std::uint8_t number) : cluster_(cluster), number_(number) {}

  // Registers.
  void check_base();
  void check_entries();
  void check_idle();
  void rung();
  void acknowledged();
  void abort();
  void reset();

  // The cluster's events.
  void step(const Event& event);
  void store_taken() { ++unacknowledged_; }
  /// A store or update of the memories that a switch joins which reduces, or a load from them.
  static bool is_for_all_memories(const Transaction& transaction);
  std::uint32_t generation() const { return generation_; }

  // Dispatch.
  std::uint32_t priority() const;
  /// Its kernel has begun and has workgroups that have not.
  bool has_work() const;
  /// They wait for each other, and none of them has started.
  bool waits_for_all() const { return has_work() && kernel_->plan().together && next_workgroup_ == 0; }
  /// Whether all of them fit now.
  bool all_fit() const;
  /// Whether a workgroup of the kernel may run there.
  bool may_use(std::uint32_t cu) const { return running_ && per_cu_[cu].allowed; }
  /// Whether one more fits.
  bool fits(std::uint32_t cu) const;
  void start(std::uint32_t cu);

  // What others ask.
  bool busy() const { return busy_; }
  std::uint64_t completed() const { return completed_; }
  /// When the oldest packet that has not ended was announced; never when there is none.
  Picoseconds oldest_announced() const { return announced_.empty() ? never : announced_.front(); }
  bool running() const { return running_; }
  bool stopping() const { return stopping_; }
  bool withdraws() const { return withdraws_; }
  /// The kernel is the producer of what a collective takes and has not finished; it is in its first stage.
  bool produces() const { return launched_ && kernel_->is_producer() && !all_finished(); }
  bool in_first_stage() const { return produces() && finished_workgroups_ == 0; }
  std::string diagnosis() const;
  /// Its ring and how far it is; empty when it has none.
  std::string contents() const;
  /// Waves whose polls have been in vain so far.
  std::uint32_t polling() const { return running_ ? kernel_->polling() : 0; }
  /// What the queue does in this range, in words; empty when its packets are not there and its kernel does not write,
  /// or read, there.
  std::string use_of(const OutputRange& range, bool also_reads) const;
  /// The kernel that runs, or a packet behind it, may write there.
  bool may_write(std::uint64_t address) const;
  /// The kernel that runs when it stores there itself.
  std::string writer_of(std::uint64_t address) const;

 private:
  struct Refusal {
    Status status = Status::ok;
    std::string text;
  };
  /// What the kernel that runs has of a compute unit.
  struct Place {
    bool allowed = false;
    std::uint32_t resident = 0;  ///< workgroups
  };

  registers::KernelQueue& registers() const;

  // KernelHost
  const ComputeParameters& parameters() const override;
  bool functional() const override;
  std::uint16_t gpu() const override;
  std::uint64_t reset_count() const override;
  Status failure() const override { return failure_; }
  TransactionPool& pool() override;
  void issue(Slot slot, Transaction& transaction, Picoseconds delay) override;
  void schedule(Picoseconds time, Slot slot, std::uint32_t tag) override;
  void schedule_poll(Picoseconds time, Slot slot, std::uint32_t tag) override;
  Picoseconds occupy(Slot slot, Picoseconds duration) override;
  void wrongly_rounded(const std::string& what) override;
  void code_runs(const KernelCode* code) override;
  void left_floats(const char* part) override { left_floats_ = part; }
  void fail(const std::string& what) override;
  void finished(Slot slot) override;
  Trace* trace(Slot slot, std::uint32_t workgroup, Trace::Track& track) override;

  void arrived(const Event& event);
  void delivered(const Event& event);
  void answered(Slot slot, Transaction& transaction);
  void note_failure(Transaction& transaction);
  bool is_refused_read(const tlm::tlm_generic_payload& transaction) const;
  void fetch();
  void fetched(Transaction& transaction);
  void take_packet(const unsigned char* entry);
  void take_arguments(const unsigned char* bytes);
  void refuse(const Refusal& found);
  std::string check_header(const t3_kernel* kernel) const;
  std::string check_place_of_arguments() const;
  bool come_with_packet() const;
  Refusal check_launch(const t3_kernel& kernel, const t3_device& device, const t3_launch& launch);
  Refusal check_ranges() const;
  Refusal check_order() const;
  Refusal check_maps(const t3_plan& plan) const;
  Refusal check_reads() const;
  Refusal check_arrivals() const;
  void check_ring();
  void choose_compute_units(std::uint32_t most);
  std::uint32_t allowed_units() const;
  bool all_finished() const;
  void stop();
  void withdraw(bool withdraws);
  void end_aborted();
  void clear_kernel();
  void free_slots();
  void complete(Status status, bool refused = false);
  void record(Status status, bool refused);
  void send_completion_signal();
  OutputRange ring() const;
  void tell_output(const OutputRange& range);
  void report(Status status, std::uint64_t address, const std::string& text);
  std::uint32_t cu_of(Slot slot) const { return slot / kernel_->workgroups_per_cu(); }

  ComputeCluster& cluster_;
  std::uint8_t number_;
  std::unique_ptr<KernelRun> kernel_;
  std::vector<Place> per_cu_;     ///< by compute unit
  std::vector<bool> slot_taken_;  ///< by slot
  std::uint32_t next_workgroup_ = 0, finished_workgroups_ = 0;
  std::uint64_t rung_ = 0, completed_ = 0;
  std::deque<Picoseconds> announced_;               ///< when each packet that has not ended was
  std::uint64_t ring_base_ = 0, ring_entries_ = 0;  ///< the packet ring that the doorbell was rung for
  std::uint64_t unacknowledged_ = 0;                ///< stores that are taken and have no response
  std::uint64_t abort_until_ = 0;                   ///< packets up to this one are not run
  const char* left_floats_ = nullptr;               ///< the part of the kernel that was the latest to do so
  bool busy_ = false;
  bool running_ = false;         ///< the packet's kernel has been made
  bool launched_ = false;        ///< and its launch latency is over
  bool stopping_ = false;        ///< it is aborted and has accesses under way
  bool withdraws_ = false;       ///< it waits for no signal any more
  std::uint64_t in_flight_ = 0;  ///< accesses of this generation that have not been answered
  /// Changes with a reset and after an abort: what comes for an earlier one is dropped.
  std::uint32_t generation_ = no_generation + 1;
  t3_kernel_packet packet_{};         ///< under way
  std::uint64_t packet_address_ = 0;  ///< of its entry in the ring
  Picoseconds launch_time_ = 0;       ///< of its kernel, when its arguments have come by then
  bool fetching_arguments_ = false;   ///< its arguments are on their way
  std::uint32_t completion_signal_ = T3_KERNEL_PACKET_COMPLETION_SIGNAL_NONE;  ///< of the packet, once it is believed
  Status failure_ = Status::ok;              ///< of the kernel's first access that failed
  OutputRange output_;                       ///< of the kernel that runs
  std::vector<OutputRange> writes_, reads_;  ///< the same kernel's
};

}  // namespace t3vp::compute
