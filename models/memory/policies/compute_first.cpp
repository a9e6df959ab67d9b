// Communication only when compute has nothing.
#include "memory/arbitration.h"

namespace t3vp::memory::policies {
namespace {

class ComputeFirst : public ChannelPolicy {
 public:
  Grant choose(const ArbitrationView& view, dram::Cycle&) override {
    return view.compute.ready ? Grant::compute : Grant::communication;
  }
};

}  // namespace

extern const PolicyDescription compute_first;
const PolicyDescription compute_first{
    "compute-first", PolicyDescription::Number::compute_first, "Communication only when compute has nothing.", {},
    false,           &PolicyOfChannels<ComputeFirst>::make};

}  // namespace t3vp::memory::policies
