// Who runs, and what is ordered before each point of its program: waves of kernels, host programs, and transfers of
// engines. Plain C++.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "protocol/order_observer.h"
#include "races/clock.h"

namespace t3vp::races {

/// Points are numbered from 1 on. A point is before another one when the other's agent has seen it.
///
/// An agent's accesses between two releases are of one epoch. A release, which others may see, ends it. An engine's
/// transfers are behind what each of them was given, and not behind each other's.
class Order {
 public:
  Order();

  // They are the observer's functions of these names.
  OrderPoint join(OrderPoint one, OrderPoint other);
  Agent begin_waves(std::uint16_t gpu, const std::string& kernel, std::uint32_t waves_per_workgroup,
                    std::uint32_t waves, OrderPoint behind);
  void meet(Agent first, std::uint32_t count);
  OrderPoint end_waves(Agent first, std::uint32_t count);
  OrderPoint begin_transfer(std::uint16_t gpu, const char* name, OrderPoint behind);

  /// Returns a GPU's agent that is no wave, by its name.
  Agent agent(std::uint16_t gpu, const char* name);
  /// Returns where the agent is.
  OrderPoint point_of(Agent agent);
  Agent agent_of(OrderPoint point) const { return points_[point].agent; }
  /// The point's agent goes on behind what the other point has seen.
  void acquire(OrderPoint by, OrderPoint seen) { acquire_by(points_[by].agent, seen); }
  void acquire_by(Agent agent, OrderPoint seen);
  /// Others may see what the agent of the point has done so far.
  void release(OrderPoint by) { release_by(points_[by].agent); }
  void release_by(Agent agent);

  /// Whether the first point is before the second one, or of the same agent.
  bool is_before(OrderPoint first, OrderPoint second) const;

  /// "workgroup 3, wave 0 of kernel gemm on GPU 1".
  std::string name_of(OrderPoint point) const;
  /// "kernel gemm", "the program": the same of all GPUs.
  const std::string& kind_of(OrderPoint point) const { return group_of(point).kind; }

 private:
  struct Point {
    Agent agent;
    Epoch epoch;
    ClockPointer seen;
  };
  struct State {
    Epoch epoch = 1;
    OrderPoint point = 0;  ///< the current one; 0: it is to be made
    ClockPointer seen;
  };
  /// Agents that are numbered one behind the other.
  struct Group {
    Agent first;
    std::uint32_t waves_per_workgroup;  ///< 0: it is no kernel
    std::string kind;                   ///< "kernel gemm" or "the program"
    std::uint16_t gpu;
  };

  Agent add_group(const Group& group, std::uint32_t count, const ClockPointer& seen);
  const Group& group_of(OrderPoint point) const;
  OrderPoint add(Agent agent, Epoch epoch, const ClockPointer& seen);
  /// All that is before the point, itself too.
  ClockPointer all_of(OrderPoint point) const;

  std::vector<State> agents_;
  std::vector<Point> points_;
  std::vector<Group> groups_;
  std::map<std::pair<std::uint16_t, std::string>, Agent> named_;  ///< those that are no waves, by GPU
};

}  // namespace t3vp::races
