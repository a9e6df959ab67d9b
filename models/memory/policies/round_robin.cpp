// Round-robin between the streams. An empty stream loses its slot to the other (T3 4.5: method t3).
#include "memory/arbitration.h"

namespace t3vp::memory::policies {
namespace {

class RoundRobin : public ChannelPolicy {
 public:
  Grant choose(const ArbitrationView& view, dram::Cycle&) override {
    const bool turn = last_ == Grant::compute ? !view.communication.ready : view.compute.ready;
    last_ = turn ? Grant::compute : Grant::communication;
    return last_;
  }

 private:
  Grant last_ = Grant::communication;
};

}  // namespace

extern const PolicyDescription round_robin;
const PolicyDescription round_robin{"round-robin",
                                    T3_MEMORY_CONTROLLER_ARBITRATION_POLICY_ROUND_ROBIN,
                                    "In turn; a stream that has nothing loses its turn to the other.",
                                    {},
                                    false,
                                    &PolicyOfChannels<RoundRobin>::make};

}  // namespace t3vp::memory::policies
