#include "compute/workgroup_gates.h"

#include <algorithm>
#include <utility>

namespace t3vp::compute {

void WorkgroupGates::begin(std::uint32_t workgroups, std::vector<Gate> gates) {
  gates_ = std::move(gates);
  closed_ = static_cast<std::uint32_t>(gates_.size());
  std::vector<std::uint32_t> ends{workgroups};
  for (const Gate& gate : gates_) {
    ends.push_back(gate.first);
    ends.push_back(gate.first + gate.workgroups);
  }
  std::sort(ends.begin(), ends.end());
  runs_.clear();
  std::uint32_t begin = 0;
  for (const std::uint32_t end : ends) {
    if (end == begin) continue;
    const auto holds = [begin](const Gate& gate) { return gate.holds(begin); };
    const auto closed = static_cast<std::uint32_t>(std::count_if(gates_.begin(), gates_.end(), holds));
    runs_.push_back({begin, begin, end, closed, {}});
    begin = end;
  }
  find_current();
}

void WorkgroupGates::open(std::size_t number, OrderPoint point) {
  const Gate& gate = gates_[number];
  --closed_;
  for (Run& run : runs_) {
    if (!gate.holds(run.begin)) continue;
    --run.closed;
    run.points.push_back(point);
  }
  find_current();
}

WorkgroupGates::Next WorkgroupGates::take_next() {
  Run& run = runs_[current_];
  const Next next{run.next++, run.points};
  if (run.next == run.end) find_current();
  return next;
}

void WorkgroupGates::find_current() {
  const auto found =
      std::find_if(runs_.begin(), runs_.end(), [](const Run& run) { return run.closed == 0 && run.next != run.end; });
  current_ = static_cast<std::size_t>(found - runs_.begin());
}

}  // namespace t3vp::compute
