// One of a GPU's queues of kernel packets: takes them from its ring in memory in order, checks them and runs their
// kernels, one at a time, on what compute units the cluster gives it. Kernels of several queues run at once.
//
// The queue owns PacketRing, PacketResults, KernelLaunch with its LaunchChecks, WorkgroupSlots and WorkgroupGates. Its
// own state is the kernel that runs, and what that has in flight.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "compute/kernel_launch.h"
#include "compute/packet_results.h"
#include "compute/workgroup_gates.h"

namespace t3vp::compute {

class KernelQueue final : public KernelHost {
 public:
  static constexpr std::uint32_t no_generation = 0;  ///< of accesses whose responses are ignored
  static constexpr Slot dispatcher = 0xFFFFFFFF;     ///< slot of the queue's own fetches
  enum class Step : std::uint8_t { leaves, arrived, delivered, taken, elapsed, launch, poll };
  struct Event {
    Step step;
    std::uint8_t queue;
    Slot slot;
    std::uint32_t tag;
    Transaction* transaction;
    std::uint32_t generation;
  };

  KernelQueue(ComputeCluster& cluster, std::uint8_t number);

  // Registers.
  void check_base() { ring_.check_base(); }
  void check_entries() { ring_.check_entries(); }
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
  bool waits_for_all() const { return has_work() && kernel_->plan().together && slots_.started() == 0; }
  /// Whether all of them fit now.
  bool all_fit() const { return slots_.all_fit(); }
  /// Whether a workgroup of the kernel may run there.
  bool may_use(std::uint32_t cu) const { return running_ && slots_.allows(cu); }
  /// Whether one more fits.
  bool fits(std::uint32_t cu) const { return slots_.fits(cu); }
  void start(std::uint32_t cu);

  // The queue's state, for other blocks.
  bool busy() const { return busy_; }
  std::uint64_t completed() const { return ring_.completed(); }
  OrderPoint behind() const override { return point_; }
  std::uint64_t announced() const { return ring_.announced(); }
  /// Number of the last packet of another queue that its packets have waited for; 0 when there is none.
  std::uint64_t last_awaited(std::uint32_t queue) const { return behind_[queue]; }
  /// A packet of another queue has ended, for which its packet may wait.
  void look_at_others();
  /// Returns the time at which the oldest packet that has not ended was announced; never when there is none.
  Picoseconds oldest_announced() const { return ring_.oldest_announced(); }
  bool running() const { return running_; }
  bool stopping() const { return stopping_; }
  bool withdraws() const { return withdraws_; }
  /// The kernel is the producer of what a collective takes and has not finished; it is in its first stage.
  bool produces() const { return launched_ && kernel_->is_producer() && !all_finished(); }
  bool in_first_stage() const { return produces() && slots_.finished() == 0; }
  std::string diagnosis() const;
  /// Its ring and how far it is; empty when it has none.
  std::string contents() const;
  /// Waves whose polls have been in vain so far.
  std::uint32_t polling() const { return running_ ? kernel_->polling() : 0; }
  /// Returns the queue's use of this range, in words; empty when its packets are not there and its kernel does not
  /// write, or read, there.
  std::string use_of(const OutputRange& range, bool also_reads) const;
  /// The kernel that runs, or a packet behind it, may write there.
  bool may_write(std::uint64_t address) const;
  /// The kernel that runs when it stores there itself.
  std::string writer_of(std::uint64_t address) const;
  /// The name of the kernel that runs; empty while none does.
  std::string running_kernel() const { return running_ ? kernel_->name() : std::string(); }

 private:
  registers::KernelQueue& registers() const;

  // KernelHost
  const ComputeParameters& parameters() const override;
  bool functional() const override;
  std::uint16_t gpu() const override;
  std::uint64_t reset_count() const override;
  Status failure() const override { return failure_; }
  TransactionPool& pool() override;
  OrderObserver* order() override;
  void issue(Slot slot, Transaction& transaction, Picoseconds delay) override;
  void schedule(Picoseconds time, Slot slot, std::uint32_t tag) override;
  void schedule_poll(Picoseconds time, Slot slot, std::uint32_t tag) override;
  double clock_GHz() override;
  double begin_work(CoreWork work, double operations) override;
  Picoseconds occupy(Slot slot, const Occupation& work) override;
  void wrongly_rounded(const std::string& what) override;
  void code_runs(const KernelCode* code) override;
  void left_floats(const char* part) override { launch_.note_left_floats(part); }
  void fail(const std::string& what) override;
  void finished(Slot slot) override;
  Trace* trace(Slot slot, std::uint32_t workgroup, Trace::Track& track) override;

  void fetch();
  void read(std::uint64_t address, std::uint32_t bytes);
  void fetched(Transaction& transaction);
  ComputeUnits::Shares shares_of(const Occupation& work) const;
  void take_packet(const unsigned char* entry);
  void wait_for_other();
  void take_arguments(const unsigned char* bytes);
  void refuse(const Refusal& found);
  void arrived(const Event& event);
  void delivered(const Event& event);
  void answered(Transaction& transaction);
  void note_failure(Transaction& transaction);
  bool is_refused_read(const tlm::tlm_generic_payload& transaction) const;
  bool all_finished() const;
  void end_if_finished();
  void end_kernel();
  void begin_gates();
  void gate_answered(Transaction& transaction);
  std::string text_of_gates() const;
  void stop();
  void withdraw(bool withdraws);
  void end_aborted();
  void clear_kernel();
  void begin_order();
  void end_order();
  void complete(Status status, bool refused = false);
  void send_completion_signal();
  void tell_output(const OutputRange& range);

  ComputeCluster& cluster_;
  std::uint8_t number_;
  PacketRing ring_;
  PacketResults results_;
  WorkgroupSlots slots_;
  LaunchChecks checks_;
  KernelLaunch launch_;
  std::unique_ptr<KernelRun> kernel_;
  std::vector<Gate> gates_;    ///< of the packet whose kernel has not been made
  WorkgroupGates workgroups_;  ///< of the kernel that runs, as far as they have started
  bool busy_ = false;
  bool fetching_arguments_ = false;   ///< the packet's arguments are on their way
  bool running_ = false;              ///< the packet's kernel has been made
  bool launched_ = false;             ///< and its launch latency is over
  bool waiting_ = false;              ///< the packet has no kernel and waits for another queue's
  bool releasing_ = false;            ///< the kernel has finished and the cache is written back
  bool stopping_ = false;             ///< it is aborted and has accesses in flight
  bool withdraws_ = false;            ///< it waits for no signal any more
  Status failure_ = Status::ok;       ///< of the kernel's first access that failed
  std::uint64_t in_flight_ = 0;       ///< accesses of this generation that have not been answered
  std::uint64_t unacknowledged_ = 0;  ///< stores that are taken and have no response
  /// Changes with a reset and after an abort: what comes for an earlier one is dropped.
  std::uint32_t generation_ = no_generation + 1;
  /// Of each queue: the last packet that packets of this queue have waited for since the reset, directly or by others.
  std::array<std::uint64_t, registers::KernelQueue::base_count> behind_{};
  OutputRange output_;  ///< of the kernel that runs
  Cause fetch_cause_;   ///< of the latest packet's fetch
  /// What its packets so far are behind, themselves too; where the program was when it announced further ones.
  OrderPoint point_ = 0;
  std::deque<std::pair<std::uint64_t, OrderPoint>> announced_from_;
};

}  // namespace t3vp::compute
