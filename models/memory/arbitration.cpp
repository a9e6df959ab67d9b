#include "memory/arbitration.h"

namespace t3vp {
namespace {

Grant compute_else_communication(const ArbitrationView& view) {
  if (view.compute_ready) return Grant::compute;
  return view.communication_ready ? Grant::communication : Grant::none;
}

/// Alternates; an empty stream loses its turn to the other (T3 4.5: method t3).
class RoundRobin : public ArbitrationPolicy {
 public:
  Grant choose(const ArbitrationView& view, dram::Cycle&) override {
    if (view.compute_ready && view.communication_ready)
      last_ = last_ == Grant::compute ? Grant::communication : Grant::compute;
    else
      last_ = compute_else_communication(view);
    return last_;
  }

 private:
  Grant last_ = Grant::communication;
};

class ComputeFirst : public ArbitrationPolicy {
 public:
  Grant choose(const ArbitrationView& view, dram::Cycle&) override { return compute_else_communication(view); }
};

/// Compute first; communication only into a DRAM queue with room for compute to come, unless it has waited too long.
class CommunicationAware : public ArbitrationPolicy {
 public:
  explicit CommunicationAware(const ArbitrationControl& control) : control_(control) {}

  Grant choose(const ArbitrationView& view, dram::Cycle& retry) override {
    if (view.communication_ready && view.now >= view.waiting_since + control_.aging) return Grant::communication;
    if (view.compute_ready) return Grant::compute;
    if (!view.communication_ready) return Grant::none;
    if (view.occupancy < control_.limit) return Grant::communication;
    retry = view.waiting_since + control_.aging;
    return Grant::none;
  }

 private:
  const ArbitrationControl& control_;
};

}  // namespace

std::unique_ptr<ArbitrationPolicy> make_policy(Policy policy, const ArbitrationControl& control) {
  switch (policy) {
    case Policy::compute_first:
      return std::make_unique<ComputeFirst>();
    case Policy::mca:
      return std::make_unique<CommunicationAware>(control);
    case Policy::round_robin:
      break;
  }
  return std::make_unique<RoundRobin>();
}

}  // namespace t3vp
