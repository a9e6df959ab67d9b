// Accesses of waves to single bytes: reads, writes, additions and signals for flags, queues and counters. They are real
// in every run.
#pragma once

#include <string>

#include "compute/kernel_accesses.h"
#include "compute/ring_agreement.h"
#include "protocol/refusal.h"

namespace t3vp::compute {

class ByteAccesses {
 public:
  /// `agreement` is what stores to other GPUs and signals carry, and what waits expect.
  ByteAccesses(KernelHost& host, KernelAccesses& accesses, const RingAgreement& agreement)
      : host_(host), accesses_(accesses), agreement_(agreement) {}

  void read(Wave& wave);
  void write(Wave& wave);
  void fetch_add(Wave& wave);
  void signal(Wave& wave);
  void await(Wave& wave);
  /// Reads what the wave polls; it leaves after `delay`.
  void read_polled(Wave& wave, Picoseconds delay);

  // The places are the program's, and written to on its account.
  void tell_read(Wave& wave, const Transaction& transaction);
  void tell_old(const Wave& wave, const Transaction& transaction);

  /// Why the signal does not go where the agreement says; empty when it does.
  Refusal validate_signal(const t3_counter& counter) const;

 private:
  Transaction& real_bytes(Operation operation, std::uint64_t address, std::uint32_t bytes, bool cached);

  KernelHost& host_;
  KernelAccesses& accesses_;
  const RingAgreement& agreement_;
};

}  // namespace t3vp::compute
