// What links cannot do without: times below which no collective comes.
#pragma once

#include <cstdint>
#include <vector>

#include "system/gpu_parameters.h"
#include "t3/collective.h"

namespace t3vp {

/// In ns, without latencies: the largest of what has to enter or leave a part of the GPUs over the links that lead
/// there, and what all links together need. Parts are each GPU, each node, halves of a ring or torus and others more.
/// Each GPU has a chunk, of so many bytes; there are as many as the fabric has GPUs.
double least_link_ns(t3_collective_op op, const std::vector<std::uint64_t>& chunk_bytes, const Fabric& fabric);
double least_link_ns(const t3_collective& collective, const Fabric& fabric);

}  // namespace t3vp
