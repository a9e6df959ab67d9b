// Small random changes of the times that a node is made from. Runs with different seeds show how much of a result is
// chance.
#pragma once

#include "config/configuration.h"
#include "system/gpu_parameters.h"

namespace t3vp {

/// Changes the launch latency of each GPU, and each latency of its blocks and of its links. The same seed gives the
/// same times, on any host.
void apply(const Jitter& jitter, NodeParameters& node);

}  // namespace t3vp
