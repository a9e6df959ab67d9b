// How a phase of a program is described: once, for reports, for pictures and for checks of both.
#pragma once

namespace t3vp {

struct Phase {
  const char* key;               ///< as programs mark it, and its name below `time_ns`
  const char* name;              ///< for people
  const char* within = "total";  ///< key of the phase that contains it; empty: none does
  bool communicates = false;     ///< it is communication, except for the phases within it
};

}  // namespace t3vp
