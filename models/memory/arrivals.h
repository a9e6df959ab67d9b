// Requests on their way to the memory controller, in the order in which it takes them.
//
// Requests of different times go in the order of their arrival, which is that of their last byte, before any look-ahead
// or queueing. What arrives at the same picosecond goes by the number of the GPU that has sent it, then by the virtual
// channel and the order of sending. The first of several GPUs at one time changes in turn: it is the next in
// number after the one that was the first at the last such time. So none is served before another one more often than
// once (docs/timing.md, Order).
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "protocol/event_queue.h"

namespace t3vp::memory {

/// Where a request comes from.
struct Origin {
  std::uint16_t gpu = 0;
  std::uint8_t channel = 0;  ///< virtual channel of the links; 0 of the GPU itself

  bool operator<(const Origin& other) const { return std::tie(gpu, channel) < std::tie(other.gpu, other.channel); }
};

template <typename Item>
class Arrivals {
 public:
  Picoseconds next_time() const { return equals_.empty() ? later_.next_time() : time_; }
  bool empty() const { return equals_.empty() && later_.empty(); }

  void push(Picoseconds time, const Origin& origin, Item item) { later_.push(time, {origin, std::move(item)}); }

  Item pop() {
    if (equals_.empty()) take_equals();
    Item item = std::move(equals_.back().item);
    equals_.pop_back();
    return item;
  }

 private:
  struct Arrival {
    Origin origin;
    Item item;
  };

  /// All of the next time, the first at the back.
  void take_equals() {
    time_ = later_.next_time();
    while (later_.next_time() == time_) equals_.push_back(later_.pop());
    if (equals_.size() == 1) return;
    std::stable_sort(equals_.begin(), equals_.end(),
                     [](const Arrival& a, const Arrival& b) { return a.origin < b.origin; });
    const bool is_tie = equals_.front().origin.gpu != equals_.back().origin.gpu;
    if (is_tie) {
      const auto first = std::find_if(equals_.begin(), equals_.end(),
                                      [this](const Arrival& arrival) { return arrival.origin.gpu >= turn_; });
      if (first != equals_.end()) std::rotate(equals_.begin(), first, equals_.end());
      turn_ = equals_.front().origin.gpu + 1u;
    }
    std::reverse(equals_.begin(), equals_.end());
  }

  TimeOrdered<Arrival> later_;
  std::vector<Arrival> equals_;  ///< of time_
  Picoseconds time_ = 0;
  std::uint32_t turn_ = 0;  ///< the GPU that is the first at the next tie, or the next one after it
};

}  // namespace t3vp::memory
