// What Adam's step leaves of the optimizer's state: computed in double from the expected gradients.
#pragma once

#include <vector>

#include "workloads/buffer.h"

namespace t3vp {

/// Means, squares and weights of a GPU, laid out as its gradients, of which it has the same elements.
std::vector<Buffer> optimizer_buffers(const Buffer& gradients);

}  // namespace t3vp
