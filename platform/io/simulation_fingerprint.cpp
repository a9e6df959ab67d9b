#include "simulation_fingerprint.h"

#include "io/fingerprint.h"

namespace t3vp {

const char* simulation_fingerprint() { return simulation_fingerprint_of_sources; }

}  // namespace t3vp
