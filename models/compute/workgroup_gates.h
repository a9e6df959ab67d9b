// The order in which a running kernel's workgroups start: that of their numbers, but for those that a closed gate
// holds.
#pragma once

#include <string>
#include <vector>

#include "compute/gate_table.h"
#include "protocol/order_observer.h"

namespace t3vp::compute {

class WorkgroupGates {
 public:
  /// A kernel begins whose workgroups these gates hold, all of them closed.
  void begin(std::uint32_t workgroups, std::vector<Gate> gates);
  void clear() { *this = {}; }

  const std::vector<Gate>& gates() const { return gates_; }
  /// Gates that are closed and may still open.
  std::uint32_t closed() const { return closed_; }
  /// The gate's counter has reached its value; who goes through is behind the point.
  void open(std::size_t gate, OrderPoint point);
  /// A closed gate will not open any more: its workgroups stay where they are.
  void give_up() { --closed_; }

  /// A workgroup that has not started is held by no gate.
  bool has_next() const { return current_ != runs_.size(); }
  struct Next {
    std::uint32_t workgroup;
    const std::vector<OrderPoint>& points;  ///< of what has opened its gates; valid until the next call
  };
  /// Returns the lowest of them, which starts now.
  Next take_next();

 private:
  /// Neighbours that the same gates hold.
  struct Run {
    std::uint32_t begin, next, end, closed;
    std::vector<OrderPoint> points;
  };

  void find_current();

  std::vector<Gate> gates_;
  std::vector<Run> runs_;
  std::size_t current_ = 0;  ///< the run of the next workgroup; the number of runs when all are held or have started
  std::uint32_t closed_ = 0;
};

}  // namespace t3vp::compute
