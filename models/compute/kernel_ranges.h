// Where a kernel reads and writes in the memory of its GPU, as its packet says.
#pragma once

#include <vector>

#include "compute/kernel_packet.h"
#include "protocol/output_range.h"

namespace t3vp {

/// From the first byte of the output to the last; of a batch, of all its matrices.
OutputRange output_of(const KernelPacket& packet);

/// The output, what a rows kernel writes in place beside it, and where a ring kernel's neighbour stores what is to be
/// reduced.
std::vector<OutputRange> written_by(const KernelPacket& packet);

/// The operands that the kernel only reads. A ring kernel has none: it writes all that it reads.
std::vector<OutputRange> read_by(const KernelPacket& packet);

}  // namespace t3vp
