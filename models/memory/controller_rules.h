// Rules between the parameters of the memory controller.
#pragma once

#include <fmt/format.h>

#include "dram/spec_rules.h"
#include "memory/controller_parameters.h"
#include "memory/memory_ranges.h"

namespace t3vp::memory {

/// Rows are counted in 32 bits. The last number means none.
inline constexpr std::uint64_t most_rows = 0xFFFFFFFF;

inline void check_rules(const MemoryParameters& p, const RuleCheck& require) {
  const RuleSubject capacity{"/capacity_GiB", "capacity_bytes", static_cast<double>(p.capacity_bytes)};
  const std::uint64_t block = std::uint64_t{p.channels} * p.interleave_bytes;
  require(p.capacity_bytes != 0, capacity, fmt::format("at least channels x interleave_bytes, {} B", block));
  const dram::Geometry& g = p.dram.geometry;
  const std::uint64_t banks_bytes = std::uint64_t{g.pseudo_channels} * g.bank_groups * g.banks_per_group * g.row_bytes;
  require(p.capacity_bytes / p.channels / banks_bytes < most_rows, capacity,
          fmt::format("fewer than {} rows of {} B in all banks of a channel", most_rows, banks_bytes));
  for (std::size_t band = 1; band < p.mca_bands.size(); ++band)
    require(p.mca_bands[band - 1] <= p.mca_bands[band],
            {fmt::format("/mca_bands/{}", band), fmt::format("mca_bands[{}]", band), p.mca_bands[band]},
            "no less than the band before");
}

/// Throws ParameterError about the first parameter that is out of range or breaks a rule.
inline void check_parameters(const ParameterCheck& check, const MemoryParameters& p) {
  check_parameters(check, static_cast<const MemoryFileParameters&>(p));
  check_parameters(check.below("dram"), p.dram);
  check_rules(p, rules_of(check));
  check.require(p.links_GBps >= 0, "links_GBps", p.links_GBps, "0 or more");
}

}  // namespace t3vp::memory
