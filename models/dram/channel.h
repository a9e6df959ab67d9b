// One DRAM channel: queue, first-ready first-come-first-served scheduler and command timing. Plain C++, no SystemC.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "dram/address_decoder.h"
#include "dram/bank_mask.h"
#include "dram/bank_wheel.h"
#include "dram/channel_statistics.h"
#include "dram/command.h"
#include "dram/loose_channel.h"
#include "dram/memory_spec.h"
#include "dram/request_queue.h"
#include "dram/timing_state.h"

namespace t3vp::dram {

/// A channel, with its sets of banks in words of type Banks.
template <class Banks>
class ChannelOf {
 public:
  explicit ChannelOf(const MemorySpec& spec);

  /// Entries that hold a place in the DRAM queue, reads and writes together. With the shared_round_robin queueing an
  /// entry leaves it when its bank takes it, as GPGPU-Sim counts; with split_oldest_first, at its column command.
  unsigned occupancy() const { return held_[0] + held_[1]; }
  bool idle() const { return occupancy() == 0 && bound_ == 0 && now_ >= last_data_end_; }
  Cycle now() const { return now_; }  ///< first cycle not yet simulated
  /// The row of this address is open in its bank.
  bool is_row_open(std::uint64_t address) const {
    const std::uint32_t bank = decoder().bank(address);
    return is_open(bank) && open_row_[bank] == decoder().row(address);
  }
  const ChannelStatistics& statistics() const { return statistics_; }
  /// Returns one for each bank. Pseudo-channels are the lowest bits of its number, then bank groups.
  const std::vector<BankStatistics>& banks() const { return banks_; }
  const AddressDecoder& decoder() const { return decoder_.whole(); }
  void listen(CommandListener* listener) { listener_ = listener; }

  /// Simulates the cycles from now() up to, but without, `until`; the result does not depend on how a time span is cut.
  ///
  /// `Fed feed(Cycle now, unsigned occupancy, Access& access, Cycle& retry)` is asked at most once per cycle while the
  /// queue has room (if split: both queues have), and after none or refused not before that helps. `access.accesses` is
  /// the most that may enter, here one, and then what has entered.
  ///
  /// `done(tag, kind, cycle, accesses)` is called once per access when its column command is issued; `cycle` is the
  /// first cycle after its data, which may lie beyond `until`: CL + BURST after a read's command, CWL + BURST after a
  /// write's.
  template <class Feed, class Done>
  void run(Cycle until, Feed&& feed, Done&& done);

 private:
  static constexpr std::uint32_t no_row = ~std::uint32_t{0}, no_bank = ~std::uint32_t{0};

  /// Bound banks whose own time for what they need has come; none of them may have the command before `wake`.
  struct Ready {
    Banks banks = 0;
    Cycle wake = never_cycle;
  };

  template <class Feed>
  void admit(Feed& feed);
  void choose_class();
  void bind();
  void bind_bank(std::uint32_t bank);
  void leave_queue(std::uint32_t cls);
  void changed();
  void schedule(std::uint32_t bank);
  void reschedule(Banks banks);
  Need need_of(std::uint32_t bank) const;
  const Request& request_of(std::uint32_t bank) const { return queue_[request_[bank]]; }
  Ready& ready(Need need) { return ready_[static_cast<std::size_t>(need)]; }
  const Ready& ready(Need need) const { return ready_[static_cast<std::size_t>(need)]; }
  template <class Done>
  bool issue_column(Done& done);
  template <class Done>
  void column_command(std::uint32_t bank, Done& done);
  void note_wait(std::uint32_t bank, Kind kind);
  void note_reason(std::uint32_t bank, Kind last, Cycle since);
  void issue_row();
  Banks legal(Need need, Banks blocked);
  static void remove(Ready& ready, Banks banks);
  std::uint32_t choose(Banks legal) const;
  void refresh();
  Cycle refresh_step(std::uint32_t pseudo);
  void precharge_all(std::uint32_t pseudo);
  void refresh_all(std::uint32_t pseudo);
  Banks banks_of(std::uint32_t pseudo) const;
  Cycle next_event() const;
  void advance(Cycle to);

  bool room() const { return held_[0] < depth_ && held_[1] < depth_; }
  Banks bindable() const { return queue_.banks_waiting(class_) & ~(bound_ | blocked_); }
  Cycle column_wake() const { return std::min(ready(Need::read).wake, ready(Need::write).wake); }
  Cycle row_wake() const {
    return std::max(row_bus_free_, std::min(ready(Need::activate).wake, ready(Need::precharge).wake));
  }
  /// The next bank in round-robin order. The number of banks is a power of two.
  std::uint32_t after(std::uint32_t bank) const { return (bank + 1) & (banks_count_ - 1); }
  bool is_open(std::uint32_t bank) const { return (open_ >> bank & 1) != 0; }
  void activate(std::uint32_t bank);
  void precharge(std::uint32_t bank);
  void log(CommandKind kind, std::uint32_t bank, std::uint32_t row, std::uint32_t column = 0);
  void log_column(std::uint32_t bank);

  BlockDecoder decoder_;
  TimingState<Banks> timing_;
  RequestQueue<Banks> queue_;
  CommandListener* listener_ = nullptr;
  ChannelStatistics statistics_;
  std::vector<BankStatistics> banks_;

  std::uint32_t banks_count_, pseudo_channels_, bank_groups_;
  std::uint32_t depth_, drain_from_, drain_to_, activate_cycles_, read_data_, write_data_, burst_;
  bool dual_command_bus_, split_oldest_first_, refused_ = false;
  Cycle refresh_interval_;

  Cycle waits_since_ = 0;  // the latest column command, or the first access after an idle time
  Kind last_kind_ = Kind::read;
  Cycle now_ = 0, ask_at_ = 0, last_data_end_ = 0, row_bus_free_ = 0, refresh_due_;
  std::array<std::uint32_t, 2> held_{};
  std::uint32_t class_ = 0, priority_ = 0;
  Banks bound_ = 0, open_ = 0, blocked_ = 0;  // blocked_: being closed for a refresh
  std::array<Ready, need_count> ready_;
  BanksByAge<Banks> by_age_;      // bound banks, if split_oldest_first_
  BankWheel<Banks> wheel_;        // bound banks whose own time is still to come
  std::uint32_t refreshing_ = 0;  // a bit per pseudo-channel
  Cycle refresh_wake_ = never_cycle;
  std::array<std::uint32_t, capacity_of<Banks>> request_;  // of bound banks: slot in the queue
  std::array<std::uint32_t, capacity_of<Banks>> open_row_;
  std::array<Cycle, capacity_of<Banks>> opened_{};  // when the row was opened
};

/// A channel of any number of banks up to max_banks, of the model that its specification names.
class Channel {
 public:
  /// Throws ParameterError (protocol/parameter_check.h) on a specification that no channel can have.
  explicit Channel(const MemorySpec& spec);

  unsigned occupancy() const {
    return std::visit([](const auto& c) { return c.occupancy(); }, channel_);
  }
  bool idle() const {
    return std::visit([](const auto& c) { return c.idle(); }, channel_);
  }
  Cycle now() const {
    return std::visit([](const auto& c) { return c.now(); }, channel_);
  }
  bool is_row_open(std::uint64_t address) const {
    return std::visit([address](const auto& c) { return c.is_row_open(address); }, channel_);
  }
  const ChannelStatistics& statistics() const {
    return std::visit([](const auto& c) -> const ChannelStatistics& { return c.statistics(); }, channel_);
  }
  const std::vector<BankStatistics>& banks() const {
    return std::visit([](const auto& c) -> const std::vector<BankStatistics>& { return c.banks(); }, channel_);
  }
  const AddressDecoder& decoder() const {
    return std::visit([](const auto& c) -> const AddressDecoder& { return c.decoder(); }, channel_);
  }
  void listen(CommandListener* listener) {
    std::visit([listener](auto& c) { c.listen(listener); }, channel_);
  }
  template <class Feed, class Done>
  void run(Cycle until, Feed&& feed, Done&& done) {
    std::visit([&](auto& c) { c.run(until, feed, done); }, channel_);
  }

 private:
  std::variant<ChannelOf<FewBanks>, ChannelOf<ManyBanks>, LooseChannelOf<FewBanks>, LooseChannelOf<ManyBanks>> channel_;
};

}  // namespace t3vp::dram

#include "dram/channel_run.h"
