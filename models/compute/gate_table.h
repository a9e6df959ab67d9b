// The gates that software has staged for packets to come: each holds a run of a kernel's workgroups until a counter of
// the GPU's signals has reached a value (T3 section 7.2: what arrives triggers the scheduling of workgroups).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "registers/kernel_queue.h"
#include "registers/status.h"

namespace t3vp::compute {

/// Workgroups `first` to `first + workgroups - 1` of a packet's kernel, in the kernel's order, wait for the counter.
struct Gate {
  std::uint32_t queue = 0;
  std::uint64_t packet = 0;  ///< number in the queue since the reset, from 1
  std::uint32_t first = 0, workgroups = 0;
  std::uint32_t counter = 0;
  std::uint64_t value = 0;

  bool holds(std::uint32_t workgroup) const { return workgroup >= first && workgroup - first < workgroups; }
  /// "gate of workgroups 4 to 7"
  std::string text() const;
};

class GateTable {
 public:
  static constexpr std::size_t capacity = 64;

  explicit GateTable(registers::KernelQueue& registers) : registers_(registers) {}

  /// Acts on the staged gate. `announced`: packets of the staged queue that its doorbell has announced.
  void command(std::uint64_t announced);
  /// Returns the gates of a packet, which leave the table.
  std::vector<Gate> take(std::uint32_t queue, std::uint64_t packet);
  void reset();
  /// One line for each gate whose packet has not begun.
  std::vector<std::string> contents() const;

 private:
  Gate staged() const;
  void add(std::uint64_t announced);
  void remove(std::uint64_t announced);
  void refuse(Status status, const std::string& text);
  void count();

  registers::KernelQueue& registers_;
  std::vector<Gate> gates_;
};

}  // namespace t3vp::compute
