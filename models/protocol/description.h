// An access in words, for diagnoses.
#pragma once

#include <string>

#include "protocol/data_protocol.h"
#include "protocol/units.h"

namespace t3vp {

/// "an update of 4096 B at 0x100000380800 of GPU 1's workgroup 24 wavefront 0 at 1234.5 ns"; the producer where there
/// is one.
std::string described(const tlm::tlm_generic_payload& transaction, Picoseconds time);

}  // namespace t3vp
