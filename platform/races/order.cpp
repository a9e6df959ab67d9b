#include "races/order.h"

#include <fmt/format.h>

#include <algorithm>

namespace t3vp::races {

Order::Order() { points_.push_back({add_group({0, 0, "nobody", 0}, 1, nullptr), 0, nullptr}); }

Agent Order::add_group(const Group& group, std::uint32_t count, const ClockPointer& seen) {
  const auto first = static_cast<Agent>(agents_.size());
  groups_.push_back(group);
  groups_.back().first = first;
  State state;
  state.seen = seen;
  agents_.resize(agents_.size() + count, state);
  return first;
}

OrderPoint Order::add(Agent agent, Epoch epoch, const ClockPointer& seen) {
  points_.push_back({agent, epoch, seen});
  return static_cast<OrderPoint>(points_.size() - 1);
}

ClockPointer Order::all_of(OrderPoint number) const {
  if (number == 0) return nullptr;
  const Point& point = points_[number];
  return Clock::with(point.seen, {point.agent, point.agent, point.epoch});
}

OrderPoint Order::join(OrderPoint one, OrderPoint other) {
  if (one == 0 || one == other) return other;
  if (other == 0) return one;
  const ClockPointer joined = Clock::join(points_[one].seen, all_of(other));
  return joined == points_[one].seen ? one : add(points_[one].agent, points_[one].epoch, joined);
}

Agent Order::begin_waves(std::uint16_t gpu, const std::string& kernel, std::uint32_t waves_per_workgroup,
                         std::uint32_t waves, OrderPoint behind) {
  return add_group({0, waves_per_workgroup, "kernel " + kernel, gpu}, waves, all_of(behind));
}

/// What each has done so far is before all of them.
void Order::meet(Agent first, std::uint32_t count) {
  ClockPointer all;
  for (Agent agent = first; agent < first + count; ++agent) all = Clock::join(all, all_of(point_of(agent)));
  for (Agent agent = first; agent < first + count; ++agent) {
    State& state = agents_[agent];
    state.seen = all;
    release_by(agent);
  }
}

OrderPoint Order::end_waves(Agent first, std::uint32_t count) {
  ClockPointer all;
  for (Agent agent = first; agent < first + count; ++agent) {
    all = Clock::join(all, agents_[agent].seen);
    agents_[agent].seen = nullptr;
  }
  return add(first, ended, Clock::with(all, {first, first + count - 1, ended}));
}

Agent Order::agent(std::uint16_t gpu, const char* name) {
  const auto [found, is_new] = named_.try_emplace({gpu, name}, 0);
  if (is_new) found->second = add_group({0, 0, std::string("the ") + name, gpu}, 1, nullptr);
  return found->second;
}

OrderPoint Order::begin_transfer(std::uint16_t gpu, const char* name, OrderPoint behind) {
  const Agent by = agent(gpu, name);
  return add(by, agents_[by].epoch++, all_of(behind));
}

OrderPoint Order::point_of(Agent agent) {
  State& state = agents_[agent];
  if (state.point == 0) state.point = add(agent, state.epoch, state.seen);
  return state.point;
}

void Order::acquire_by(Agent agent, OrderPoint seen) {
  if (seen == 0) return;
  State& state = agents_[agent];
  const ClockPointer joined = Clock::join(state.seen, all_of(seen));
  if (joined == state.seen) return;
  state.seen = joined;
  state.point = 0;
}

void Order::release_by(Agent agent) {
  ++agents_[agent].epoch;
  agents_[agent].point = 0;
}

bool Order::is_before(OrderPoint first, OrderPoint second) const {
  const Point& a = points_[first];
  const Point& b = points_[second];
  return a.agent == b.agent || epoch_of(b.seen, a.agent) >= a.epoch;
}

const Order::Group& Order::group_of(OrderPoint point) const {
  const auto behind = std::upper_bound(groups_.begin(), groups_.end(), points_[point].agent,
                                       [](Agent one, const Group& group) { return one < group.first; });
  return *(behind - 1);
}

std::string Order::name_of(OrderPoint point) const {
  const Group& group = group_of(point);
  if (group.waves_per_workgroup == 0) return fmt::format("{} of GPU {}", group.kind, group.gpu);
  const std::uint32_t number = points_[point].agent - group.first;
  return fmt::format("workgroup {}, wave {} of {} on GPU {}", number / group.waves_per_workgroup,
                     number % group.waves_per_workgroup, group.kind, group.gpu);
}

}  // namespace t3vp::races
