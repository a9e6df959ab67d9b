// What fused methods make of the GPUs' outputs, by the names that run files give it.
#pragma once

#include <string>

#include "t3/fused.h"

namespace t3vp {

std::string name_of(t3_fused_kind kind);

}  // namespace t3vp
