// A loosely-timed DRAM channel: it serves a run of accesses to one row by one decision
// (docs/models/loosely-timed-memory.md). Plain C++, no SystemC.
//
// Queue, choice of the next request of a bank, choice of the next bank, turnarounds and refresh are those of the exact
// channel. Approximate are these: a bank's precharge and activation get their times when it takes a run, and not one by
// one; activations have slots; runs of several bank groups share the data bus by its load, not access by access.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "dram/activation_slots.h"
#include "dram/address_decoder.h"
#include "dram/bank_mask.h"
#include "dram/bank_wheel.h"
#include "dram/channel_statistics.h"
#include "dram/leaving_entries.h"
#include "dram/memory_spec.h"
#include "dram/request_queue.h"
#include "dram/timing_state.h"

namespace t3vp::dram {

/// The members are those of ChannelOf (channel.h).
template <class Banks>
class LooseChannelOf {
 public:
  explicit LooseChannelOf(const MemorySpec& spec);

  unsigned occupancy() const { return std::min(held(0), depth_) + std::min(held(1), depth_); }
  bool idle() const { return queue_.waiting(0) + queue_.waiting(1) == 0 && bound_ == 0 && now_ >= last_data_end_; }
  Cycle now() const { return now_; }
  bool is_row_open(std::uint64_t address) const { return open_row_[decoder().bank(address)] == decoder().row(address); }
  const ChannelStatistics& statistics() const { return statistics_; }
  const std::vector<BankStatistics>& banks() const { return banks_; }
  const AddressDecoder& decoder() const { return decoder_.whole(); }
  /// Throws std::invalid_argument: there are no commands.
  void listen(CommandListener* listener);

  /// As ChannelOf::run(). A run of up to 8 accesses enters at once, and takes a cycle for each. `done` is called for
  /// all of its accesses to a row when they begin, with the end of the last data.
  template <class Feed, class Done>
  void run(Cycle until, Feed&& feed, Done&& done);

 private:
  static constexpr std::uint32_t no_row = ~std::uint32_t{0};
  static constexpr std::uint32_t access_bytes = 32, block_bits = 8, accesses_of_block = 8;

  template <class Feed>
  void admit(Feed& feed);
  void enter(const Access& access);
  void take(std::uint32_t bank, Cycle from);
  void take_waiting();
  void go_on(std::uint32_t bank);
  void reopen(std::uint32_t bank, Cycle from);
  void close(std::uint32_t bank);
  Cycle use_command_bus(std::uint32_t commands);
  Cycle open(std::uint32_t bank, const Request& request, Cycle from);
  template <class Done>
  void serve(std::uint32_t bank, Done& done);
  template <class Done>
  void serve_ready(Done& done);
  void leave(const Request& request, Cycle last, bool has_next);
  void advance(Cycle to);
  std::uint32_t held(std::uint32_t cls) const { return waiting_[cls] + leaving_[cls].count(); }
  /// Half of an entering run may come too early, and half of it too late.
  bool has_room(std::uint32_t cls) const { return held(cls) + most_entering_ / 2 < depth_; }
  bool room() const { return has_room(0) && (!split_oldest_first_ || has_room(1)); }
  Cycle next_leave() const { return std::min(leaving_[0].next(), leaving_[1].next()); }
  void note_wait(std::uint32_t bank, const Request& request, Cycle last);
  void add_wait(Wait reason, Cycle wait);
  void choose_class();
  void refresh();
  void forget_activations();
  void note_occupancy();
  Cycle next_event() const;
  const Request& request_of(std::uint32_t bank) const { return queue_[request_[bank]]; }
  static Need column_of(Kind kind) { return kind == Kind::read ? Need::read : Need::write; }
  Banks& ready(Kind kind) { return ready_[kind == Kind::read ? 0 : 1]; }
  Banks bindable() const { return queue_.banks_waiting(class_) & ~bound_; }

  BlockDecoder decoder_;
  TimingState<Banks> timing_;
  RequestQueue<Banks> queue_;
  ChannelStatistics statistics_;
  std::vector<BankStatistics> banks_;
  std::uint32_t banks_count_, depth_, drain_from_, drain_to_, activate_cycles_, read_data_, write_data_, burst_,
      refresh_time_, precharge_time_;
  std::uint32_t most_entering_;  ///< accesses at once: an eighth of the queue
  bool dual_command_bus_, split_oldest_first_, reads_delay_precharges_, refused_ = false;
  Cycle refresh_interval_;

  Cycle waits_since_ = 0, now_ = 0, ask_at_ = 0, entering_until_ = 0, last_data_end_ = 0, command_bus_free_ = 0,
        refresh_due_, refresh_grid_;
  Kind last_kind_ = Kind::read;
  std::array<std::uint32_t, 2> waiting_{};  ///< entries of the queue, without those of runs that are leaving it
  std::uint32_t class_ = 0, priority_ = 0;
  Banks bound_ = 0;                ///< banks that have a request
  std::array<Banks, 2> ready_{};   ///< of those, banks whose row is open for a read, for a write
  Banks to_open_ = 0;              ///< of those, banks whose row is yet to be opened
  Banks to_close_ = 0;             ///< of those, banks that may have the precharge now
  Cycle column_at_ = never_cycle;  ///< a ready bank may have its column commands
  BanksByAge<Banks> by_age_;
  BankWheel<Banks> wheel_;  ///< bound banks, by the time in `due_`
  std::array<std::uint32_t, capacity_of<Banks>> request_;
  std::array<std::uint32_t, capacity_of<Banks>> open_row_;
  std::array<Cycle, capacity_of<Banks>> opened_{};  ///< when the row was, or will be, opened
  std::array<Cycle, capacity_of<Banks>> due_{};     ///< of bound banks: the precharge, or the column commands
  std::array<LeavingEntries, 2> leaving_;
  std::vector<ActivationSlots> activations_;                ///< of each pseudo-channel
  std::vector<ActivationSlots> group_activations_;          ///< of each bank group; none where tRRDL adds nothing
  std::vector<Cycle> bus_free_;                             ///< of each pseudo-channel: the data bus has served all
  std::array<std::uint8_t, accesses_of_block> same_row_{};  ///< of each access of a block: those of its bank and row
  std::uint64_t integral_ = 0;                              ///< of the occupancy: leave times less entry times
};

}  // namespace t3vp::dram

#include "dram/loose_channel_run.h"
