// What a channel's specification has to keep: ranges, and rules between parameters.
#pragma once

#include "dram/memory_spec.h"
#include "protocol/parameter_check.h"

namespace t3vp::dram {

/// Rules of geometry, timing and queues. Pointers of subjects are those of a memory file.
void check_rules(const MemorySpec& spec, const RuleCheck& require);

/// Throws ParameterError about the first parameter that is out of range or breaks a rule.
void check_parameters(const ParameterCheck& check, const MemorySpec& spec);

}  // namespace t3vp::dram
