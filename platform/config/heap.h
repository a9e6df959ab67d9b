// A GPU's memory as the programs give it out, to see before a run whether it is enough.
#pragma once

#include <fmt/format.h>

#include "config/configuration.h"
#include "config/json_document.h"
#include "t3/kernel_packet.h"

namespace t3vp {

/// The driver's heap as the programs use it: first the queue of kernels, then one piece after the other.
class Heap {
 public:
  Heap() { take(std::uint64_t{16} * T3_KERNEL_PACKET_ENTRY_BYTES); }
  void take(std::uint64_t bytes) { end_ = rounded_up(end_, alignment) + bytes; }
  void take_matrix(std::uint64_t rows, std::uint64_t columns, ElementType element) {
    take(rows * rounded_up(columns * bytes_of(element), row_alignment));
  }
  std::uint64_t bytes() const { return end_; }

 private:
  static constexpr std::uint64_t alignment = 256, row_alignment = 32;
  static std::uint64_t rounded_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }
  std::uint64_t end_ = 0;
};

/// Throws InputError when it has given out more than there is: `what`, in words.
inline void require_room(const Document& run, const RunConfiguration& c, const Heap& heap, const char* what) {
  if (heap.bytes() > c.system.memory.capacity_bytes)
    run.reject("/workload", fmt::format("{} of {} B", what, heap.bytes()),
               fmt::format("at most the {} B of a GPU's memory", c.system.memory.capacity_bytes));
}

}  // namespace t3vp
