// Requests on their way to the memory controller, in the order in which it takes them.
//
// Requests of different times go in the order of their arrival, which is that of their last byte, before any look-ahead
// or queueing. Requests of the same picosecond are ordered by the number of the GPU that has sent them, then by the
// virtual channel and the order of sending. The first of several GPUs at one time changes round-robin: it is the next
// in number after the one that was the first at the last such time. No GPU is served before another more than once in a
// row (docs/models/timing.md, Order).
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "protocol/event_queue.h"

namespace t3vp::memory {

/// The source of a request.
struct Origin {
  std::uint16_t gpu = 0;
  std::uint8_t channel = 0;  ///< virtual channel of the links; 0 of the GPU itself

  bool operator<(const Origin& other) const { return std::tie(gpu, channel) < std::tie(other.gpu, other.channel); }
};

/// A queue of items that have an `origin`.
template <typename Item>
class Arrivals {
 public:
  Picoseconds next_time() const { return equals_.empty() ? later_.next_time() : time_; }
  bool empty() const { return equals_.empty() && later_.empty(); }
  void push(Picoseconds time, Item item) { later_.push(time, std::move(item)); }

  Item pop() {
    if (equals_.empty()) {
      time_ = later_.next_time();
      Item item = later_.pop();
      if (later_.next_time() != time_) return item;
      equals_.push_back(std::move(item));
      take_equals();
    }
    Item item = std::move(equals_.back());
    equals_.pop_back();
    return item;
  }

 private:
  /// All of the time, the first at the back.
  void take_equals() {
    while (later_.next_time() == time_) equals_.push_back(later_.pop());
    std::stable_sort(equals_.begin(), equals_.end(), [](const Item& a, const Item& b) { return a.origin < b.origin; });
    if (equals_.front().origin.gpu != equals_.back().origin.gpu) {
      const auto first =
          std::find_if(equals_.begin(), equals_.end(), [this](const Item& item) { return item.origin.gpu >= turn_; });
      if (first != equals_.end()) std::rotate(equals_.begin(), first, equals_.end());
      turn_ = equals_.front().origin.gpu + 1u;
    }
    std::reverse(equals_.begin(), equals_.end());
  }

  TimeOrdered<Item> later_;
  std::vector<Item> equals_;  ///< of time_
  Picoseconds time_ = 0;
  std::uint32_t turn_ = 0;  ///< the GPU that is the first at the next tie, or the next one after it
};

}  // namespace t3vp::memory
