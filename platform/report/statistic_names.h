// How the report names statistics: whoever writes or reads them asks here.
#pragma once

#include <cstddef>
#include <string>

namespace t3vp {

/// What the names of a GPU's statistics begin with; the name relative to the GPU follows ("tracker.spills").
inline std::string statistics_of_gpu(std::size_t gpu) { return "gpu" + std::to_string(gpu) + "."; }

/// The same for the statistics of a GPU's NIC.
inline std::string statistics_of_nic(std::size_t gpu) { return statistics_of_gpu(gpu) + "nic."; }

inline bool is_statistic_of(const std::string& name, const std::string& prefix) {
  return name.compare(0, prefix.size(), prefix) == 0;
}

}  // namespace t3vp
