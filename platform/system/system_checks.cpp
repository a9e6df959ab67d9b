#include "system/system_checks.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "cache/cache_rules.h"
#include "compute/compute_rules.h"
#include "dram/address_decoder.h"
#include "endpoint/endpoint_rules.h"
#include "io/described_keys.h"
#include "memory/controller_rules.h"
#include "nic/nic_rules.h"
#include "power/power_rules.h"
#include "t3/t3.h"

namespace t3vp {
namespace {

/// 32 bytes hold so many of the smallest elements; rows of slabs and tiles start at multiples of 32 bytes.
constexpr std::uint32_t aligned_elements = 16;
/// The cache numbers the lines of the memory from 1 in 32 bits.
constexpr std::uint64_t most_lines = 0xFFFFFFFF;

class Checks {
 public:
  explicit Checks(const Document& document) : document_(document) {}

  void require(bool right, const std::string& pointer, const std::string& expected) const {
    if (!right) document_.reject(pointer, expected);
  }
  void at_least(double value, double least, const std::string& pointer, const std::string& what) const {
    require(value >= least, pointer, fmt::format("at least {} ({})", least, what));
  }
  /// The models' own rules, of a section of the file.
  RuleCheck rules_of(const std::string& section) const {
    return [this, section](bool holds, const RuleSubject& subject, const std::string& expected) {
      require(holds, section + subject.pointer, expected);
    };
  }

 private:
  const Document& document_;
};

void check_drain(const Checks& checks, const Document& document, const dram::MemorySpec& spec) {
  const bool end_is_given = document.content.contains("write_drain_to");
  checks.require(spec.write_drain_to < spec.write_drain_from, end_is_given ? "/write_drain_to" : "/write_drain_from",
                 end_is_given ? fmt::format("less than write_drain_from, {}", spec.write_drain_from)
                              : fmt::format("more than write_drain_to, {}", spec.write_drain_to));
}

void check_compute(const Checks& checks, const compute::ComputeParameters& p, const t3_kernel_parameters& kernels) {
  const t3_ring_parameters& ring = kernels.ring;
  check_rules(p, checks.rules_of("/compute"));
  checks.require(std::uint64_t{p.compute_units} * ring.workgroups_per_cu <= T3_RING_WORKGROUPS_MAX,
                 ring.workgroups_per_cu > 1 ? "/kernels/ring/workgroups_per_cu" : "/compute/compute_units",
                 fmt::format("at most {} ring workgroups on all compute units, each has a signal counter",
                             static_cast<int>(T3_RING_WORKGROUPS_MAX)));
  const auto holds = [&](double bytes, const char* what) {
    checks.at_least(p.register_bytes / 1024.0, std::ceil(bytes / 1024), "/compute/register_KiB", what);
  };
  holds(4.0 * p.tile_rows * p.tile_columns, "the fp32 sums of a tile");
  holds(2.0 * ring.block_bytes * ring.blocks_in_flight, "the blocks of a ring workgroup");
  holds(4.0 * kernels.rows.block_bytes, "the operands of a row workgroup");
}

void check_tile(const Checks& checks, const std::string& pointer, TileShape tile, const compute::ComputeParameters& p) {
  checks.require(tile.rows % p.wavefronts == 0, pointer,
                 fmt::format("rows that are a multiple of wavefronts, {}", p.wavefronts));
  checks.require(tile.columns % aligned_elements == 0, pointer,
                 fmt::format("columns that are a multiple of {}", aligned_elements));
}

}  // namespace

void check_memory(const Document& document, const dram::MemorySpec& spec) {
  const Checks checks(document);
  check_described(document, "memory");
  check_rules(spec, checks.rules_of(""));
  check_drain(checks, document, spec);
  try {
    const dram::AddressDecoder decoder(spec);
  } catch (const std::invalid_argument& error) {
    document.reject("/address_map", fmt::format("a map of the geometry ({})", error.what()));
  }
}

void check_system(const Document& document, const SystemConfiguration& system) {
  const Checks checks(document);
  check_described(document, "system");
  check_compute(checks, system.compute, system.kernels);
  for (std::size_t i = 0; i < system.tiles.size(); ++i)
    check_tile(checks, fmt::format("/compute/tiles/{}", i), system.tiles[i], system.compute);
  check_rules(system.cache, checks.rules_of("/cache"));
  check_rules(system.memory, checks.rules_of("/memory"));
  checks.require(system.memory.capacity_bytes / system.cache.line_bytes <= most_lines, "/memory/capacity_GiB",
                 fmt::format("at most {} lines of the cache, {} B each", most_lines, system.cache.line_bytes));
  if (system.nic) check_rules(*system.nic, checks.rules_of("/nic"));
  if (system.endpoint) check_rules(*system.endpoint, checks.rules_of("/endpoint"));
  if (system.power) check_rules(*system.power, checks.rules_of("/power"));
}

void check_explicit_tile(const Document& run, const char* place, const SystemConfiguration& system, TileShape tile) {
  const Checks checks(run);
  const TileShape largest{system.compute.tile_rows, system.compute.tile_columns};
  check_tile(checks, place, tile, system.compute);
  checks.require(tile.elements() <= largest.elements(), place,
                 fmt::format("at most {} elements, those of the system's tile of {}x{}", largest.elements(),
                             largest.rows, largest.columns));
}

void check_tile_fits(const Document& document, const SystemConfiguration& system, ElementType element) {
  const Checks checks(document);
  const compute::ComputeParameters& compute = system.compute;
  const std::uint32_t tile = compute.tile_rows / compute.wavefronts * compute.tile_columns * bytes_of(element);
  const std::string what = fmt::format("a wavefront tile of {}", name_of(element));
  checks.at_least(system.dma.bytes_in_flight, tile, "/dma/bytes_in_flight", what);
}

}  // namespace t3vp
