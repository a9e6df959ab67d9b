// The workgroups of a running kernel: each wave's program is stepped on a fiber of its own, and what it asks for (the
// device API, t3/device.h) is done here, on the cluster's stack.
//
// The run owns the waves and those who serve their calls: TileTransfers, ByteAccesses, WavePolls, WaveWork and
// WaveTimeline.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compute/tile_transfers.h"
#include "compute/wave_polls.h"
#include "compute/wave_timeline.h"
#include "compute/wave_work.h"
#include "protocol/refusal.h"

namespace t3vp::compute {

class KernelRun {
 public:
  /// Arguments, plan and agreement have been checked. `name`: on the timeline.
  KernelRun(KernelHost& host, FiberStacks& stacks, LentTiles& lent_tiles, const t3_kernel& kernel,
            KernelArguments arguments, const t3_plan& plan, std::string name, RingAgreement agreement);
  KernelRun(const KernelRun&) = delete;
  KernelRun& operator=(const KernelRun&) = delete;
  ~KernelRun();

  const char* name() const { return kernel_.name; }
  const t3_plan& plan() const { return plan_; }
  std::uint32_t workgroups() const { return plan_.workgroups; }
  std::uint32_t workgroups_per_cu() const { return plan_.workgroups_per_cu; }
  /// True for the producer of a collective: its first stage is observed by the memory controller (T3 4.5).
  bool is_producer() const { return kernel_.is_producer; }
  /// What the workgroup's waves do is behind the point.
  void begin_behind(std::uint32_t index, OrderPoint point) {
    if (OrderObserver* const order = host_.order())
      order->let_waves_follow(first_agent_ + index * plan_.waves, plan_.waves, point);
  }
  /// The `index`th workgroup in the order of the kernel starts in a free slot.
  void start(Slot slot, std::uint32_t index);
  /// Memory's answer has reached the compute unit. The cluster releases the transaction afterwards.
  void answered(Transaction& transaction);
  /// The wave's work is done.
  void elapsed(Slot slot, std::uint32_t wave);
  /// The wave reads again what it polls.
  void poll_again(Slot slot, std::uint32_t wave);
  /// All waves have ended, or go no further: returns the point behind them.
  OrderPoint end_waves() const {
    OrderObserver* const order = host_.order();
    return order == nullptr ? 0 : order->end_waves(first_agent_, plan_.workgroups * plan_.waves);
  }
  /// Waves that have read something else than what they await.
  std::uint32_t polling() const { return WavePolls::count(waves_); }
  /// Returns what the first of them awaits, in words; empty when there is none.
  std::string awaited() const { return WavePolls::awaited(waves_); }

 private:
  struct Workgroup {
    std::uint32_t running = 0, met = 0;  ///< waves
  };

  Wave& wave_of(Slot slot, std::uint32_t number) { return waves_[std::size_t{slot} * plan_.waves + number]; }
  bool is_here(const Wave& wave, const t3_tile& tile) const { return tiles_.is_here(wave.place, tile); }
  void go_on(Wave& wave);
  void run_ready();
  void step(Wave& wave);
  void ended(Wave& wave);
  bool serve(Wave& wave);
  bool begin(Wave& wave);
  bool occupy(Wave& wave);
  bool begin_work(Wave& wave);
  void finish(Wave& wave);
  bool meet(Wave& wave);
  std::string told_failure(const Wave& wave);
  Refusal validate_step(const Wave& wave) const;
  Refusal validate(const Wave& wave, const t3_call& call) const;
  void fail(const Wave& wave, const std::string& what);

  KernelHost& host_;
  FiberStacks& stacks_;
  const t3_kernel& kernel_;
  KernelGiven given_;
  t3_plan plan_;
  std::vector<Wave> waves_;            ///< by slot, then by number
  std::vector<Workgroup> workgroups_;  ///< by slot
  TileFile tiles_;
  LocalMemory local_;
  RingAgreement agreement_;
  KernelAccesses accesses_;
  TileTransfers transfers_;
  ByteAccesses bytes_;
  WavePolls polls_;
  WaveWork work_;
  WaveTimeline timeline_;
  std::uint32_t first_agent_ = 0;  ///< the first wave's number of the order observer's
  std::vector<Wave*> ready_;       ///< to be stepped, in this order
  std::vector<Wave*> stepping_;    ///< those before them
  bool running_ready_ = false;
  bool failed_ = false;
};

}  // namespace t3vp::compute
