// What the parameters of the control path have to keep.
#pragma once

#include "processor/control_parameters.h"
#include "processor/core_ranges.h"
#include "processor/processor_ranges.h"

namespace t3vp::processor {

/// Throws ParameterError about the first parameter that is out of range.
inline void check_parameters(const ParameterCheck& check, const ProcessorParameters& p) {
  check_parameters(check, static_cast<const ProcessorFileParameters&>(p));
  check_parameters(check.below("core"), static_cast<const CoreFileParameters&>(p.core));
  constexpr std::uint64_t most_memory = std::uint64_t{1} << 39;
  check.require(p.core.memory_bytes >= 1 && p.core.memory_bytes <= most_memory, "core.memory_bytes",
                p.core.memory_bytes, "1 to 549755813888 B");
}

inline ProcessorFileParameters with_error_log(std::uint32_t entries) {
  ProcessorFileParameters parameters;
  parameters.error_log_entries = entries;
  return parameters;
}

inline ProcessorFileParameters with_register_access(Picoseconds time) {
  ProcessorFileParameters parameters;
  parameters.register_access = time;
  return parameters;
}

inline ProcessorFileParameters with_reset(std::uint32_t reset_ns) {
  ProcessorFileParameters parameters;
  parameters.reset_ns = reset_ns;
  return parameters;
}

}  // namespace t3vp::processor
