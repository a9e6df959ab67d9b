#include "platform/simulation.h"

#include <stdexcept>

namespace t3vp {

RunResult simulate(const RunConfiguration&, const RunOptions&) {
  throw std::runtime_error("this build has no node to simulate");
}

}  // namespace t3vp
