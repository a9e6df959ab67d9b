// What a kernel model is given by the compute cluster, and what it must offer. A model is a set of workgroup state
// machines without processes of their own: the cluster calls it when a workgroup starts, when memory has answered and
// when a time it asked for has come.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/kernel_packet.h"
#include "compute/parameters.h"
#include "protocol/trace.h"
#include "protocol/transaction_pool.h"
#include "protocol/units.h"
#include "registers/status.h"

namespace t3vp {

/// A workgroup's place on a compute unit: cu * slots per CU + slot.
using Slot = std::uint32_t;

class KernelHost {
 public:
  virtual ~KernelHost() = default;
  virtual const ComputeParameters& parameters() const = 0;
  virtual bool functional() const = 0;
  virtual std::uint16_t gpu() const = 0;
  /// Of the kernel's first access that failed.
  virtual Status failure() const = 0;
  virtual TransactionPool& pool() = 0;
  /// Sends a request of a workgroup, which leaves after `delay`. Its answer comes back through answered().
  virtual void issue(Slot slot, Transaction& transaction, Picoseconds delay = 0) = 0;
  /// Calls elapsed(slot, tag) at `time`.
  virtual void schedule(Picoseconds time, Slot slot, std::uint32_t tag) = 0;
  /// Occupies the slot's compute unit for `duration` as soon as it is free; returns the end.
  virtual Picoseconds occupy(Slot slot, Picoseconds duration) = 0;
  /// sum += the transaction's data in the element type.
  virtual void add(ElementType element, std::vector<unsigned char>& sum, const Transaction& transaction) = 0;
  virtual void finished(Slot slot) = 0;
  /// Where the slot's spans go, null when this slot is not shown.
  virtual Trace* trace(Slot slot, Trace::Track& track) = 0;
};

class KernelModel {
 public:
  virtual ~KernelModel() = default;
  virtual std::uint32_t workgroups() const = 0;
  virtual std::uint32_t workgroups_per_cu() const = 0;
  /// True for the producer of a collective: its first stage is observed by the memory controller (T3 4.5).
  virtual bool is_producer() const = 0;
  /// The `index`th workgroup in the order of the kernel starts in a free slot.
  virtual void start(Slot slot, std::uint32_t index) = 0;
  /// Memory's answer has reached the compute unit. The cluster releases the transaction afterwards.
  virtual void answered(Slot slot, Transaction& transaction) = 0;
  virtual void elapsed(Slot slot, std::uint32_t tag) = 0;
};

}  // namespace t3vp
