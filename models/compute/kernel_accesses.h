// The accesses to memory that a kernel's waves have in flight. Each has a number, which travels in the transaction's
// token. This class also has the order of stores at the port, and the rules for accesses that must not pass each other.
#pragma once

#include <string>
#include <vector>

#include "compute/kernel_wave.h"
#include "protocol/refusal.h"

namespace t3vp::compute {

/// The bytes of memory that an access touches.
struct AccessedBytes {
  std::uint64_t address, stride;
  std::uint32_t rows;
  std::uint64_t row_bytes;

  std::uint64_t end() const { return address + (rows - 1) * stride + row_bytes; }
};

class KernelAccesses {
 public:
  struct Access {
    Wave* wave;  ///< null: nothing is in flight
    t3_call_kind kind;
    t3_tile tile;
    t3_access part;  ///< of memory and of the tile, where there is one
    AccessedBytes bytes;
  };

  /// `plan` is the kernel's, which outlives this.
  KernelAccesses(KernelHost& host, const t3_plan& plan) : host_(host), plan_(plan) {}

  /// Sends the request of the call that the wave waits in. It leaves after `delay`.
  void issue(Wave& wave, Transaction& transaction, Picoseconds delay);
  /// The access whose answer this is.
  const Access& of(const Transaction& transaction) const { return accesses_[number_of(transaction)]; }
  /// It is in flight no longer.
  void release(const Transaction& transaction);

  /// From now until the bytes of a store have passed the port, behind those of the wave's stores before them.
  Picoseconds pass_port(Wave& wave, std::uint64_t bytes) const;
  /// From now until what a wave reads of a peer may leave, or a signal: they do not overtake its stores, which pass the
  /// port one after the other.
  Picoseconds behind_stores(const Wave& wave, std::uint64_t address) const;
  bool is_own(std::uint64_t address) const;

  /// Why the call may not be made while these accesses are in flight; empty when it may.
  Refusal validate_count(const Wave& wave, const t3_call& call) const;
  Refusal validate_order(const Wave& wave, const t3_call& call) const;
  Refusal validate_load(const Wave& wave, const t3_call& call) const;

 private:
  static std::uint32_t number_of(const Transaction& transaction) {
    return static_cast<std::uint32_t>(transaction.get_extension<DataExtension>()->token);
  }
  bool may_pass(const t3_call& call, const AccessedBytes& bytes, const AccessedBytes& stored) const;

  KernelHost& host_;
  const t3_plan& plan_;
  std::vector<Access> accesses_;
  std::vector<std::uint32_t> free_;
};

}  // namespace t3vp::compute
