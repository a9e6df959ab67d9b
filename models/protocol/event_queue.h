// A time-ordered queue of small items behind one activity: the models' replacement for a process per item.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "protocol/agenda.h"
#include "protocol/cause.h"
#include "protocol/units.h"

namespace t3vp {

/// Items of one time that come from within the block leave before those that come from afar. Each of both leave in the
/// order of insertion. So the order does not depend on when an item from afar has been inserted.
enum class From : std::uint8_t { within, afar };

/// Items leave in the order of their times, equal times by their origin. No allocation once warm.
template <typename Item>
class TimeOrdered {
 public:
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  Picoseconds next_time() const { return heap_.empty() ? never : heap_.front().time; }

  void push(Picoseconds time, Item item, From from = From::within) {
    const std::uint64_t origin = from == From::afar ? std::uint64_t{1} << 63 : 0;
    heap_.push_back({time, origin | sequence_++, std::move(item)});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }

  Item pop() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    Item item = std::move(heap_.back().item);
    heap_.pop_back();
    return item;
  }

 private:
  struct Entry {
    Picoseconds time;
    std::uint64_t sequence;
    Item item;
  };
  static bool later(const Entry& a, const Entry& b) {
    return a.time != b.time ? a.time > b.time : a.sequence > b.sequence;
  }
  std::vector<Entry> heap_;
  std::uint64_t sequence_ = 0;
};

/// TimeOrdered with the activity of its owner that serves it: `step` pops while ready() and then calls arm(), which
/// asks for the next time. An item keeps the cause of the event that has pushed it, and pop() makes that the current
/// one.
template <typename Item>
class EventQueue {
 public:
  /// The time that items wait in the queue counts for the part, unless their cause explains it already.
  explicit EventQueue(std::function<void()> step, Part part = Part::sync, Turn turn = Turn::other)
      : activity_(std::move(step), turn), part_(part) {}
  void push(Picoseconds time, Item item) { push(time, std::move(item), Cause::current()); }
  void push(Picoseconds time, Item item, Cause cause, From from = From::within) {
    queue_.push(std::max(time, now()), {std::move(item), std::move(cause)}, from);
    if (queue_.next_time() < armed_) arm();
  }
  bool ready() const { return queue_.next_time() <= now(); }
  bool empty() const { return queue_.empty(); }
  Picoseconds next_time() const { return queue_.next_time(); }
  Item pop() {
    Caused next = queue_.pop();
    next.cause.extend(now(), part_);
    Cause::current() = std::move(next.cause);
    return std::move(next.item);
  }
  void arm() {
    armed_ = queue_.next_time();
    activity_.run_at(armed_);
  }

 private:
  struct Caused {
    Item item;
    Cause cause;
  };
  TimeOrdered<Caused> queue_;
  Activity activity_;
  Part part_;
  Picoseconds armed_ = never;
};

}  // namespace t3vp
