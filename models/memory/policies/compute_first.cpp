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
const PolicyDescription compute_first{"compute-first",
                                      T3_MEMORY_CONTROLLER_ARBITRATION_POLICY_COMPUTE_FIRST,
                                      "Communication only when compute has nothing.",
                                      {},
                                      false,
                                      &PolicyOfChannels<ComputeFirst>::make};

}  // namespace t3vp::memory::policies
