// An access in words, for diagnoses.
#pragma once

#include <string>

#include "protocol/data_protocol.h"
#include "protocol/units.h"

namespace t3vp {

/// "update of 4096 bytes at 0x100000380800 of GPU 1's workgroup 24 wavefront 0"; the producer where there is one. The
/// request may be malformed or of the control path.
std::string describe(const tlm::tlm_generic_payload& transaction);

/// Returns the same with its time: "... at 1234.500 ns".
std::string describe(const tlm::tlm_generic_payload& transaction, Picoseconds time);

}  // namespace t3vp
