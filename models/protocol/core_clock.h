// The clock of a GPU's compute units, where a power limit may lower it.
#pragma once

#include <systemc>

namespace t3vp {

/// What lanes do, by the energy of an operation.
enum class CoreWork {
  matrix,  ///< an operation is a FLOP
  vector   ///< an operation is one of a lane
};

class CoreClock : public virtual sc_core::sc_interface {
 public:
  /// Work of so many operations begins now. Returns the clock at which it runs to its end, in GHz.
  virtual double begin(CoreWork work, double operations) = 0;
  /// Returns the clock from now on, in GHz.
  virtual double GHz() = 0;
  /// The compute units have been reset.
  virtual void reset() = 0;
};

}  // namespace t3vp
