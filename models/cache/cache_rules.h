// Rules between the parameters of the last-level cache.
#pragma once

#include <fmt/format.h>

#include "cache/cache_parameters.h"
#include "protocol/parameter_check.h"

namespace t3vp::cache {

/// The cache keeps a line's sectors as bits of a byte.
inline constexpr std::uint32_t most_sectors = 8;

inline void check_rules(const CacheParameters& p, const RuleCheck& require) {
  const RuleSubject sector{"/sector_bytes", "sector_bytes", static_cast<double>(p.sector_bytes)};
  require(p.sector_bytes <= p.line_bytes, sector, fmt::format("at most line_bytes, {}", p.line_bytes));
  require(p.line_bytes / p.sector_bytes <= most_sectors, sector,
          fmt::format("at most {} sectors in a line of {} B", most_sectors, p.line_bytes));
  const std::uint64_t set_bytes = std::uint64_t{p.banks} * p.ways * p.line_bytes;
  require(p.capacity_bytes >= set_bytes && p.capacity_bytes % set_bytes == 0,
          {"/capacity_MiB", "capacity_bytes", static_cast<double>(p.capacity_bytes)},
          fmt::format("a multiple of banks x ways x line_bytes, {} MiB", static_cast<double>(set_bytes) / (1 << 20)));
}

}  // namespace t3vp::cache
