// One DRAM channel: queue, first-ready first-come-first-served scheduler and command timing. Plain C++, no SystemC.
//
// An exact channel has a column command for each access. A loosely-timed one serves a run of accesses of one row by one
// decision: they share the data bus with runs of other bank groups by arithmetic (docs/models/loosely-timed-memory.md).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <variant>
#include <vector>

#include "dram/address_decoder.h"
#include "dram/bank_mask.h"
#include "dram/bank_wheel.h"
#include "dram/command.h"
#include "dram/memory_spec.h"
#include "dram/request_queue.h"
#include "dram/timing_state.h"

namespace t3vp::dram {

/// What a channel with accesses waits for between two column commands.
enum class Wait : std::uint8_t {
  bandwidth,   ///< the data bus, or the next column command of a bank group
  turnaround,  ///< the change between reads and writes
  row_miss,    ///< precharge, activation, refresh
  update,      ///< the longer column access of a near-memory update
};
using Waits = std::array<Cycle, 4>;

struct ChannelStatistics {
  std::uint64_t reads = 0, writes = 0, updates = 0;
  std::uint64_t activates = 0, precharges = 0, refreshes = 0;
  std::uint64_t data_bus_cycles = 0;   ///< of all pseudo-channels
  std::uint64_t occupancy_cycles = 0;  ///< sum of the occupancy over cycles
  Waits waits{};                       ///< cycles with accesses, by what they waited for
  std::uint64_t column_accesses() const { return reads + writes + updates; }
  /// 1 - ACT / (RD + WR); 0 before the first access.
  double row_hit_rate() const;
};

struct BankStatistics {
  std::uint64_t conflicts = 0;    ///< rows closed for an access to another row
  std::uint64_t turnarounds = 0;  ///< accesses that waited for the change between reads and writes
};

/// The response of a channel's source in a cycle.
enum class Fed : std::uint8_t {
  access,   ///< one enters the queue
  none,     ///< there is none before `retry`
  refused,  ///< there is one that may not enter before `retry`, or the occupancy changes, or another one is done
};

/// A channel, with its sets of banks in words of type Banks.
template <class Banks, Model model>
class ChannelOf {
 public:
  static constexpr bool is_exact = model == Model::exact;

  explicit ChannelOf(const MemorySpec& spec);

  /// Entries that hold a place in the DRAM queue, reads and writes together. With the shared_round_robin queueing an
  /// entry leaves it when its bank takes it, as GPGPU-Sim counts; with split_oldest_first, at its column command.
  unsigned occupancy() const { return held(0) + held(1); }
  bool idle() const { return occupancy() == 0 && bound_ == 0 && now_ >= last_data_end_; }
  Cycle now() const { return now_; }  ///< first cycle not yet simulated
  /// The row of this address is open in its bank.
  bool is_row_open(std::uint64_t address) const {
    const std::uint32_t bank = decoder_.bank(address);
    return is_open(bank) && open_row_[bank] == decoder_.row(address);
  }
  const ChannelStatistics& statistics() const { return statistics_; }
  /// Returns one for each bank. Pseudo-channels are the lowest bits of its number, then bank groups.
  const std::vector<BankStatistics>& banks() const { return banks_; }
  const AddressDecoder& decoder() const { return decoder_; }
  void listen(CommandListener* listener) { listener_ = listener; }

  /// Simulates the cycles from now() up to, but without, `until`; the result does not depend on how a time span is cut.
  ///
  /// `Fed feed(Cycle now, unsigned occupancy, Access& access, Cycle& retry)` is asked at most once per cycle while the
  /// queue has room (if split: both queues have), and after none or refused not before that helps. `access.accesses` is
  /// the most that may enter, and what has entered: one if exact.
  ///
  /// `done(tag, kind, cycle, accesses)` is called when a column command is issued; `cycle` is the first cycle after its
  /// data, which may lie beyond `until`: CL + BURST after a read's command, CWL + BURST after a write's. A loosely-timed
  /// channel calls it for a run at its first command, with the data of its last.
  template <class Feed, class Done>
  void run(Cycle until, Feed&& feed, Done&& done);

 private:
  static constexpr std::uint32_t no_row = ~std::uint32_t{0};
  static constexpr std::uint32_t access_bytes = 32, accesses_of_block = 8;  // of 256 bytes

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
  void due(std::uint32_t bank);
  void enter(const Access& access);
  unsigned held(std::uint32_t cls) const { return is_exact ? held_[cls] : held_[cls] - gone(cls); }
  unsigned gone(std::uint32_t cls) const;
  void serve(std::uint32_t bank, const Request& request, Cycle last);
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
  Cycle last_command(std::uint32_t bank, const Request& request);
  void note_wait(std::uint32_t bank, const Request& request, Cycle last);
  void note_reason(std::uint32_t bank, Kind last, Cycle since, Cycle wait);
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
  void note_occupancy();

  bool room() const { return held(0) < depth_ && held(1) < depth_; }
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

  AddressDecoder decoder_;
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

  /// Of a loosely-timed channel.
  struct Service {
    Cycle first = 0, last = 0, end = 0;  ///< commands; the bank may take its next request at `end`
    float rate = 0;                      ///< accesses that leave the queue in a cycle
    std::uint16_t accesses = 0;          ///< that leave the queue meanwhile
    std::uint8_t cls = 0;
  };
  struct Loose {
    Banks serving = 0;                             ///< banks whose run has its column commands
    std::array<Service, capacity_of<Banks>> service;
    std::array<Cycle, capacity_of<Banks>> bus_free{};  ///< of each pseudo-channel: its data bus has no more to do
    std::array<std::uint8_t, 8> same_bank{};       ///< of each access of a block: those of its bank and row
    std::uint64_t integral = 0;                    ///< of the occupancy, less entry times
  };
  struct None {};
  std::conditional_t<is_exact, None, Loose> loose_;
};

/// A channel of any number of banks up to max_banks, of the specification's model.
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
  std::variant<ChannelOf<FewBanks, Model::exact>, ChannelOf<ManyBanks, Model::exact>,
               ChannelOf<FewBanks, Model::loosely_timed>, ChannelOf<ManyBanks, Model::loosely_timed>>
      channel_;
};

}  // namespace t3vp::dram

#include "dram/channel_run.h"
