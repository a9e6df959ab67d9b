// Picoseconds and SystemC's time, whose resolution stays at its default of 1 ps.
#pragma once

#include <systemc>

#include "protocol/picoseconds.h"

namespace t3vp {

inline sc_core::sc_time to_sc_time(Picoseconds t) { return sc_core::sc_time::from_value(t); }
inline Picoseconds from_sc_time(const sc_core::sc_time& t) { return t.value(); }

/// The kernel's current time.
inline Picoseconds now() { return sc_core::sc_time_stamp().value(); }

}  // namespace t3vp
