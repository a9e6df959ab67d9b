// The collectives of fused methods, by their names in run files.
#pragma once

#include <string>

#include "t3/fused.h"

namespace t3vp {

std::string name_of(t3_fused_kind kind);

}  // namespace t3vp
