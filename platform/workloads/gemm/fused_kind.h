// What fused methods make of the GPUs' outputs, by the names that run files give it.
#pragma once

#include "t3/fused.h"

namespace t3vp {

inline constexpr t3_fused_kind all_fused_kinds[] = {T3_FUSED_RING_REDUCE_SCATTER, T3_FUSED_DIRECT_REDUCE_SCATTER,
                                                    T3_FUSED_ALL_REDUCE, T3_FUSED_ALL_TO_ALL,
                                                    T3_FUSED_HIERARCHICAL_REDUCE_SCATTER};
const char* name_of(t3_fused_kind kind);

}  // namespace t3vp
