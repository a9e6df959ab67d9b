// The agreement of a kernel with its neighbours in a ring, as the kernel defines it.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "compute/fenced_memory.h"
#include "compute/kernel_host.h"
#include "protocol/refusal.h"
#include "protocol/ring_signal.h"
#include "t3/device.h"

namespace t3vp::compute {

/// The values that stores to other GPUs and signals carry, and those that waits expect; both null for a kernel without
/// neighbours.
struct RingAgreement {
  std::shared_ptr<const RingSignal> sent, expected;
  std::string mistake;  ///< in words, when the kernel says what cannot be
};

/// `lent` is for the kernel to write to meanwhile.
RingAgreement agreement_of(KernelHost& host, const t3_kernel& kernel, const void* arguments, std::uint32_t workgroups,
                           std::array<FencedMemory, 2>& lent);

}  // namespace t3vp::compute
