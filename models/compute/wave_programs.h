// Runs the programs of waves: switches to a wave's fiber until its program calls the device, and calls the functions
// that a program hands over as work. One of them runs at a time, on all GPUs, so that what it does wrong is known here.
#pragma once

#include "compute/kernel_wave.h"

namespace t3vp::compute {

class WavePrograms {
 public:
  /// The function that a wave's struct t3_wave has for its calls.
  static void call(t3_wave* wave, const t3_call* call);

  /// The next resume() begins the wave's program.
  static void start(Wave& wave);
  /// Runs the program until it calls the device. Returns the call, which is null at the program's end.
  static const t3_call* resume(KernelHost& host, Wave& wave);
  /// Calls the work's own function. Returns false when the function has not returned: it has jumped to another program,
  /// which has been notified and has ended.
  static bool compute(KernelHost& host, Wave& wave, const t3_vector_work& work, float* const* operands);

  // Results of the latest of these calls.
  /// It has made a call that is not its own.
  static bool has_strayed() { return strayed; }
  /// It has gone on where another program has been called.
  static bool has_jumped() { return jumped; }
  /// It has come back with another floating-point environment, which is gone.
  static bool has_left_floats() { return left_floats; }

 private:
  static void enter(void* wave);
  static bool is_elsewhere();
  [[noreturn]] static void come_back();

  static inline Wave* stepped = nullptr;    ///< whose program runs
  static inline Wave* computing = nullptr;  ///< it is what this wave's work computes
  static inline bool strayed = false;
  static inline bool jumped = false;
  static inline bool left_floats = false;
  static inline void* way_back[5] = {};  ///< from what a wave's work computes
};

}  // namespace t3vp::compute
