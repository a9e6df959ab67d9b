#include "system/system_checks.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "dram/address_decoder.h"
#include "dram/request_queue.h"
#include "io/described_keys.h"
#include "t3/t3.h"

namespace t3vp {
namespace {

/// 32 bytes hold so many of the smallest elements; rows of slabs and tiles start at multiples of 32 bytes.
constexpr std::uint32_t aligned_elements = 16;
/// The cache keeps a line's sectors as bits of a byte, and numbers the lines of the memory from 1 in 32 bits.
constexpr std::uint32_t most_sectors = 8;
constexpr std::uint64_t most_lines = 0xFFFFFFFF;
/// Rows are counted in 32 bits, the last number means none.
constexpr std::uint64_t most_rows = 0xFFFFFFFF;

class Checks {
 public:
  explicit Checks(const Document& document) : document_(document) {}

  void require(bool right, const std::string& pointer, const std::string& expected) const {
    if (!right) document_.reject(pointer, expected);
  }
  void at_least(double value, double least, const std::string& pointer, const std::string& what) const {
    require(value >= least, pointer, fmt::format("at least {} ({})", least, what));
  }

 private:
  const Document& document_;
};

void check_geometry(const Checks& checks, const dram::Geometry& g) {
  checks.require(g.pseudo_channels * g.bank_groups * g.banks_per_group <= dram::max_banks, "/geometry/banks_per_group",
                 fmt::format("at most {} banks in a channel", dram::max_banks));
}

void check_timing(const Checks& checks, const dram::MemorySpec& spec) {
  const dram::Timing& t = spec.timing;
  checks.at_least(t.RAS, t.RCDRD, "/timing/RAS", "RCDRD");
  checks.at_least(t.RC, t.RAS + t.RP, "/timing/RC", "RAS + RP");
  checks.at_least(t.RRDL, t.RRDS, "/timing/RRDL", "RRDS");
  checks.at_least(t.CCDS, t.BURST, "/timing/CCDS", "BURST");
  checks.at_least(t.CCDL, t.CCDS, "/timing/CCDL", "CCDS");
  checks.at_least(t.CCDWL, t.CCDL, "/timing/CCDWL", "CCDL");
  checks.at_least(t.WTRL, t.WTRS, "/timing/WTRL", "WTRS");
  checks.require(t.FAW == 0 || t.FAW >= t.RRDS, "/timing/FAW", "0 or at least RRDS");
  if (!spec.refresh) return;
  checks.at_least(t.RFC, 1, "/timing/RFC", "for refresh");
  checks.at_least(t.REFI, t.RFC + t.RC, "/timing/REFI", "RFC + RC");
}

void check_queues(const Checks& checks, const Document& document, const dram::MemorySpec& spec) {
  const std::uint32_t most = dram::most_queue_entries / (spec.has_split_queues() ? 2 : 1);
  checks.require(spec.queue_depth <= most, "/queue_depth",
                 fmt::format("at most {}{}", most, spec.has_split_queues() ? " in each of the two queues" : ""));
  const bool end_is_given = document.content.contains("write_drain_to");
  checks.require(spec.write_drain_to < spec.write_drain_from, end_is_given ? "/write_drain_to" : "/write_drain_from",
                 end_is_given ? fmt::format("less than write_drain_from, {}", spec.write_drain_from)
                              : fmt::format("more than write_drain_to, {}", spec.write_drain_to));
}

void check_compute(const Checks& checks, const compute::ComputeParameters& p, const t3_kernel_parameters& kernels) {
  const t3_ring_parameters& ring = kernels.ring;
  checks.require(p.tile_rows % p.wavefronts == 0, "/compute/tile_rows",
                 fmt::format("a multiple of wavefronts, {}", p.wavefronts));
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

void check_cache(const Checks& checks, const cache::CacheParameters& p) {
  checks.require(p.sector_bytes <= p.line_bytes, "/cache/sector_bytes",
                 fmt::format("at most line_bytes, {}", p.line_bytes));
  checks.require(p.line_bytes / p.sector_bytes <= most_sectors, "/cache/sector_bytes",
                 fmt::format("at most {} sectors in a line of {} B", most_sectors, p.line_bytes));
  const std::uint64_t set_bytes = std::uint64_t{p.banks} * p.ways * p.line_bytes;
  checks.require(
      p.capacity_bytes >= set_bytes && p.capacity_bytes % set_bytes == 0, "/cache/capacity_MiB",
      fmt::format("a multiple of banks x ways x line_bytes, {} MiB", static_cast<double>(set_bytes) / (1 << 20)));
}

void check_controller(const Checks& checks, const memory::MemoryParameters& p) {
  checks.require(
      p.capacity_bytes != 0, "/memory/capacity_GiB",
      fmt::format("at least channels x interleave_bytes, {} B", std::uint64_t{p.channels} * p.interleave_bytes));
  const dram::Geometry& g = p.dram.geometry;
  const std::uint64_t banks_bytes = std::uint64_t{g.pseudo_channels} * g.bank_groups * g.banks_per_group * g.row_bytes;
  checks.require(p.capacity_bytes / p.channels / banks_bytes < most_rows, "/memory/capacity_GiB",
                 fmt::format("fewer than {} rows of {} B in all banks of a channel", most_rows, banks_bytes));
  for (std::size_t band = 1; band < p.mca_bands.size(); ++band)
    checks.require(p.mca_bands[band - 1] <= p.mca_bands[band], fmt::format("/memory/mca_bands/{}", band),
                   "no less than the band before");
}

void check_nic(const Checks& checks, const nic::NicParameters& p) {
  checks.at_least(p.payload_in_flight / 1024.0, p.mtu / 1024.0, "/nic/payload_in_flight_KiB", "mtu_bytes in KiB");
}

}  // namespace

void check_memory(const Document& document, const dram::MemorySpec& spec) {
  const Checks checks(document);
  check_described(document, "memory");
  check_geometry(checks, spec.geometry);
  check_timing(checks, spec);
  check_queues(checks, document, spec);
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
  check_cache(checks, system.cache);
  check_controller(checks, system.memory);
  checks.require(system.memory.capacity_bytes / system.cache.line_bytes <= most_lines, "/memory/capacity_GiB",
                 fmt::format("at most {} lines of the cache, {} B each", most_lines, system.cache.line_bytes));
  if (system.nic) check_nic(checks, *system.nic);
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
