// The compute cluster's interface for the workgroups of a kernel.
#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include "compute/cluster_parameters.h"
#include "protocol/core_clock.h"
#include "protocol/float_environment.h"
#include "protocol/order_observer.h"
#include "protocol/trace.h"
#include "protocol/transaction_pool.h"
#include "protocol/units.h"
#include "registers/status.h"

namespace t3vp::compute {

/// A workgroup's place on a compute unit: cu * slots per CU + slot.
using Slot = std::uint32_t;

struct RepeatedRead;

/// Work that occupies a compute unit.
struct Occupation {
  Picoseconds duration = 0;
  double clipped = 0;           ///< share of the duration that computes the clipped part of a tile at an edge, 0 to 1
  std::uint32_t workgroup = 0;  ///< whose work it is
};

/// A part of a kernel's code that computes on the simulating machine, for observers that report what it does there.
struct KernelCode {
  static constexpr std::uint32_t none = 0xFFFFFFFF;
  const char* kernel;                           ///< its name
  const char* part;                             ///< a constant: "its plan" for instance
  std::uint32_t workgroup = none, wave = none;  ///< whose program it is; none of its check, its plan and so on
  const RepeatedRead* read = nullptr;           ///< of a wave's program: its latest read of single bytes
};

/// The message about a floating-point environment that a kernel has not restored.
inline constexpr const char* other_floats =
    "another floating-point environment than it found: the same rounding mode, denormal numbers and exceptions "
    "expected";

class KernelHost {
 public:
  virtual ~KernelHost() = default;
  virtual const ComputeParameters& parameters() const = 0;
  virtual bool functional() const = 0;
  virtual std::uint16_t gpu() const = 0;
  /// Returns the number of resets of the GPU.
  virtual std::uint64_t reset_count() const = 0;
  /// The code of the kernel's first access that failed.
  virtual Status failure() const = 0;
  virtual TransactionPool& pool() = 0;
  /// Null where nobody checks for races.
  virtual OrderObserver* order() = 0;
  /// Returns the point behind which the kernel begins.
  virtual OrderPoint behind() const = 0;
  /// Sends a request of a workgroup, which leaves after `delay`. Its answer comes back through
  /// KernelRun::answered().
  virtual void issue(Slot slot, Transaction& transaction, Picoseconds delay = 0) = 0;
  /// Calls KernelRun::elapsed(slot, tag) at `time`, the end of what occupies the slot's compute unit.
  virtual void schedule(Picoseconds time, Slot slot, std::uint32_t tag) = 0;
  /// Calls KernelRun::poll_again(slot, tag) at `time`, or later when polls are held.
  virtual void schedule_poll(Picoseconds time, Slot slot, std::uint32_t tag) = 0;
  /// Returns the clock from now on, in GHz.
  virtual double clock_GHz() = 0;
  /// Work of so many operations begins. Returns its clock, in GHz.
  virtual double begin_work(CoreWork work, double operations) = 0;
  /// Occupies the slot's compute unit as soon as it is free; returns the end.
  virtual Picoseconds occupy(Slot slot, const Occupation& work) = 0;
  /// A sum that the injected fault has rounded wrongly, in words.
  virtual void wrongly_rounded(const std::string& what) = 0;
  /// A kernel's code begins to compute on the host, or has come back: null.
  virtual void code_runs(const KernelCode* code) = 0;
  /// This part of a kernel has left another floating-point environment than it found, which has been put back.
  virtual void left_floats(const char* part) = 0;
  /// A program has done what it must not do: the kernel ends without it.
  virtual void fail(const std::string& what) = 0;
  virtual void finished(Slot slot) = 0;
  /// Returns the recorder and the track of the workgroup in the slot; null when its spans are not shown.
  virtual Trace* trace(Slot slot, std::uint32_t workgroup, Trace::Track& track) = 0;
};

/// Code of a kernel's runs on the host as long as this lives: what it does there is the kernel's.
class KernelTime {
 public:
  KernelTime(KernelHost& host, const KernelCode& code) : host_(host), part_(code.part) { host_.code_runs(&code); }
  KernelTime(const KernelTime&) = delete;
  KernelTime& operator=(const KernelTime&) = delete;
  ~KernelTime() {
    if (restore_floats()) host_.left_floats(part_);
    if (std::uncaught_exceptions() == 0) host_.code_runs(nullptr);  // who throws does not come back
  }

 private:
  KernelHost& host_;
  const char* part_;
};

}  // namespace t3vp::compute
