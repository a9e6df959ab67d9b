// How the time of an event came about: the parts of the critical path to it, carried forward from whoever released it.
//
// An event has one releaser: the event in whose course it was caused. Every entry of an EventQueue keeps the cause of
// the event that has made it; when its time has come, the time since then is added to the part that the queue is for.
// So the cause of the event at hand, Cause::current(), is known everywhere, and a block need not pass it on. Blocks
// that compute an end in advance (compute units, links, the memory controller) say which cause it has.
//
// Parts add up to the time of the event. No graph of events is stored. A cause is a value: it may cross processes
// (portable()). No simulated time depends on it. Where no program has begun one, as in most benches, there is none, and
// it costs nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "protocol/time_parts.h"

namespace t3vp {

class Cause {
 public:
  /// Nothing is known.
  Cause() = default;
  Cause(const Cause& other) : account_(other.account_) {
    if (account_ != nullptr) ++account_->users;
  }
  Cause(Cause&& other) noexcept : account_(std::exchange(other.account_, nullptr)) {}
  Cause& operator=(const Cause& other) {
    Cause copy(other);
    std::swap(account_, copy.account_);
    return *this;
  }
  Cause& operator=(Cause&& other) noexcept {
    std::swap(account_, other.account_);
    return *this;
  }
  ~Cause() {
    if (account_ != nullptr && --account_->users == 0) give_back(account_);
  }

  /// The beginning of a program, at simulated time 0.
  static Cause begin();
  /// That of the event at hand.
  static Cause& current() { return current_; }

  bool is_known() const { return account_ != nullptr; }
  /// The time that it explains: 0 where nothing is known.
  Picoseconds time() const { return account_ == nullptr ? 0 : account_->time; }

  /// The time up to `until` was spent on this part. Nothing happens when it is explained already.
  void extend(Picoseconds until, Part part) {
    if (account_ != nullptr && account_->time < until) add(until, part);
  }
  /// A part of several, with its weight.
  struct Share {
    Part part;
    Picoseconds weight;
  };
  /// It was spent on several parts by their weights, one after the other; without any weight, on `otherwise`.
  template <std::size_t count>
  void extend(Picoseconds until, const std::array<Share, count>& shares, Part otherwise) {
    if (account_ != nullptr && account_->time < until) split(until, shares.data(), count, otherwise);
  }
  /// Takes the other one when that is later. The first of two at one time stays.
  void follow(const Cause& other) {
    if (other.time() > time() || account_ == nullptr) *this = other;
  }

  // Windows of time, such as the phases of a program.

  /// A window begins at this time. Returns its number. Causes keep what they had then until it is closed.
  static std::uint32_t open_window(Picoseconds begin);
  static void close_window(std::uint32_t window);
  /// Windows that are opened from now on begin at this time or later: causes need not keep steps before it.
  static void windows_begin_from(Picoseconds time) { windows_begin_from_ = time; }
  /// The parts from the start of an open window to `end`; they add up to that time. All are 0 where nothing is known.
  TimeParts within(std::uint32_t window, Picoseconds end) const;

  // Several processes, each of which has the windows of all of them.

  /// The name of a window in all processes.
  using WindowKey = std::uint64_t;
  struct WindowChange {
    WindowKey window;
    std::optional<Picoseconds> begin;  ///< nothing: it is closed
  };
  /// Notes the changes of this process's windows from now on.
  static void share_windows(std::uint16_t process);
  /// Returns the changes since the last call.
  static std::vector<WindowChange> take_window_changes();
  /// A change in another process.
  static void change_window(const WindowChange& change);
  static WindowKey key_of(std::uint32_t window);
  /// Returns the number of a window of any process, here.
  static std::uint32_t window_of(WindowKey key);

  /// A step of a path, and the parts at the start of a window.
  struct PortableStep {
    Picoseconds begin, end;
    Part part;
  };
  struct PortableMark {
    WindowKey window;
    TimeParts parts;
  };
  /// A cause, for another process.
  struct Portable {
    Picoseconds time;
    TimeParts parts;
    std::vector<PortableStep> steps;  ///< the latest first
    std::vector<PortableMark> marks;  ///< of open windows
  };
  Portable portable() const;
  static Cause from(const Portable& portable);

  /// What the path had at a time.
  struct Sample {
    Picoseconds time;
    TimeParts parts;
  };
  /// A window begins at each multiple of the interval after `from`, which is now, for the timeline. After each 1000 of
  /// them the interval doubles, so that causes stay small.
  static void sample_every(Picoseconds interval, Picoseconds from = 0) {
    interval_ = interval;
    sampled_from_ = from;
    next_sample_ = from + interval;
  }
  /// At the begins of all windows that are open, in order.
  std::vector<Sample> samples() const;

 private:
  /// What the path had at the start of a window.
  struct Mark {
    std::uint32_t users, window;
    TimeParts parts;
    Mark* before;
  };
  /// A time that was spent on one part.
  struct Step {
    Picoseconds end;
    Part part;
  };
  /// A step that an account has no room for, and those before it.
  struct EarlierStep {
    std::uint32_t users;
    Picoseconds begin;
    Step step;
    EarlierStep* before;
  };
  static constexpr std::size_t steps_kept = 6;
  struct Account {
    std::uint32_t users = 0;
    std::uint32_t windows = 0;  ///< so many have been looked at
    Picoseconds time = 0;
    TimeParts parts{};
    std::array<Step, steps_kept> steps{};  ///< the latest at `step`, those before it before that, round
    std::size_t step = 0;
    Picoseconds steps_begin = 0;     ///< of the oldest of `steps`
    EarlierStep* earlier = nullptr;  ///< those that windows to come may ask for
    Mark* mark = nullptr;            ///< of the latest window; null: of none
  };
  struct Window {
    Picoseconds begin;
    bool is_open;
  };
  struct Windows;

  void add(Picoseconds until, Part part);
  void split(Picoseconds until, const Share* shares, std::size_t count, Part otherwise);
  void own();
  static void take_step(Account& account, Picoseconds until, Part part);
  static void mark_windows(Account& account, Picoseconds since);
  static void add_mark(Account& account, std::uint32_t window);
  template <typename Visit>
  static void visit_steps(const Account& account, const Visit& visit);
  static TimeParts parts_at(const Account& account, Picoseconds time);
  static Windows& windows();
  static Account* take();
  static void give_back(Account* account);
  template <typename Linked>
  static void release(Linked* linked);
  static void sample(Picoseconds until);

  Account* account_ = nullptr;
  static Cause current_;
  static std::uint32_t windows_opened_;
  static Picoseconds latest_window_;  ///< the latest begin of any
  static Picoseconds windows_begin_from_;
  static Picoseconds interval_, next_sample_;  ///< never: there are no samples
  static Picoseconds sampled_from_;
};

/// Makes a cause the current one as long as this lives.
class AtCause {
 public:
  explicit AtCause(Cause cause) : outer_(std::exchange(Cause::current(), std::move(cause))) {}
  AtCause(const AtCause&) = delete;
  AtCause& operator=(const AtCause&) = delete;
  ~AtCause() { Cause::current() = std::move(outer_); }

 private:
  Cause outer_;
};

/// Returns the cause of the event at hand, with the time up to `until` spent on the part.
inline Cause cause_at(Picoseconds until, Part part) {
  Cause cause = Cause::current();
  cause.extend(until, part);
  return cause;
}

}  // namespace t3vp
