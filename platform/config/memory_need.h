// An estimate of the simulating machine's memory that a run will take. A run that cannot fit is refused before it
// starts.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/configuration.h"

namespace t3vp {

struct MemoryPart {
  std::string what;  ///< with the key of the configuration that decides
  double bytes = 0;  ///< of all GPUs
};

/// An estimate that is rather too high than too low; docs/developing/performance.md has the formula.
std::vector<MemoryPart> memory_need(const RunConfiguration& configuration);

/// Bytes that this process can still have: of the machine's memory and swap what is free, of its control groups and its
/// address space what their limits leave.
double available_memory();

/// Throws InputError about `file` when the run needs more than is available.
void require_memory(const std::filesystem::path& file, const RunConfiguration& configuration);
void require_memory(const std::filesystem::path& file, const std::vector<MemoryPart>& parts);

}  // namespace t3vp
