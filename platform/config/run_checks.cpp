#include "config/run_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/faults.h"
#include "config/heap.h"
#include "config/topology.h"
#include "config/workload_checks.h"
#include "memory/valid_bits.h"
#include "t3/kernel_packet.h"
#include "workload/collective.h"
#include "workload/layer.h"

namespace t3vp {
namespace {

/// A mirror's own chunks stand for its neighbours', so that they have to be of one size.
void check_mirror(const Document& run, const RunConfiguration& c) {
  check_mirrored_data(run, c);
  if (c.system.topology.channels_by_distance)
    run.reject("/simulate", "all: a mirror of a GEMM's chunks stands for a ring");
  if (c.workload.fused != T3_FUSED_RING_REDUCE_SCATTER)
    run.reject("/simulate", fmt::format("all with fused {}: a mirror stands for a ring, whose GPUs send to one alone",
                                        name_of(c.workload.fused)));
  const std::vector<std::uint64_t> chunks = chunk_elements(output_grid(c), c.gpus);
  for (const std::uint64_t elements : chunks)
    if (elements != chunks[0])
      run.reject("/simulate", fmt::format("all, since the {} GPUs' chunks differ ({} and {} elements)", c.gpus,
                                          chunks[0], elements));
}

constexpr std::uint64_t nic_ring_bytes = 64 + 256 * 96;  // of a queue pair with its completions
constexpr std::uint64_t spill_entry_bytes = 32;          // of the table that the driver gives the Tracker

bool is_fused(const RunConfiguration& c) { return c.software.is("fused") && c.gpus > 1; }

/// Workgroups of which a GPU counts accesses, those of the same number in several slabs each for itself.
std::uint64_t counted_workgroups(const RunConfiguration& c) {
  const TileGrid grid = output_grid(c);
  const std::uint64_t tiles = grid.workgroups(), largest = (tiles + c.gpus - 1) / c.gpus;
  switch (c.workload.fused) {
    case T3_FUSED_DIRECT_REDUCE_SCATTER:
      return largest;
    case T3_FUSED_ALL_TO_ALL:
      return largest * c.gpus;
    case T3_FUSED_HIERARCHICAL_REDUCE_SCATTER:
      return (tiles + c.workload.gpus_per_node - 1) / c.workload.gpus_per_node;
    default:
      return tiles;
  }
}

void check_memory_holds(const Document& run, const RunConfiguration& c, std::uint64_t tiles) {
  const GemmShape& g = c.workload.gemm;
  Heap heap;
  heap.take_matrix(g.m, g.k, g.element);
  heap.take_matrix(g.transpose_b ? g.n : g.k, g.transpose_b ? g.k : g.n, g.element);
  heap.take_matrix(std::uint64_t{g.m} * t3_fused_slabs(c.workload.fused, c.gpus), g.n, g.element);
  if (c.workload.by_nic)
    for (std::uint32_t other = 1; other < c.gpus / c.workload.gpus_per_node; ++other) heap.take(nic_ring_bytes);
  if (is_fused(c))
    heap.take(std::max(tiles, counted_workgroups(c)) * c.system.compute.wavefronts * spill_entry_bytes);
  else if (c.method != Method::ideal_rs_nmc)
    heap.take_matrix(g.m, g.n, g.element);  // what the reduce-scatter receives
  require_room(run, c, heap, "operands, output and what the method keeps beside them");
}

/// Entries of the Tracker's fullest set when nothing may spill and every tile that it counts is there at once.
std::uint64_t tracker_ways_needed(const RunConfiguration& c, const TileGrid& grid) {
  const std::uint64_t sets = c.system.tracker.sets;
  const auto before = [sets](std::uint64_t wg_id, std::uint64_t set) {
    return wg_id / sets + (set < wg_id % sets ? 1 : 0);
  };
  std::uint64_t most = 0;
  const t3_fused_kind fused = c.workload.fused;
  const bool of_nodes = fused == T3_FUSED_HIERARCHICAL_REDUCE_SCATTER;
  const std::uint32_t chunks = of_nodes ? c.workload.gpus_per_node : c.gpus;  // or what a place of each node sums
  for (std::uint32_t gpu = 0; gpu < (c.mirror ? 1 : chunks); ++gpu) {
    const bool ring = fused == T3_FUSED_RING_REDUCE_SCATTER;
    const std::uint32_t chunk = ring ? (gpu + 1) % c.gpus : gpu;  // in a ring the one that leaves by remote_map
    const std::uint64_t begin = grid.chunk_begin(chunk, chunks), end = grid.chunk_begin(chunk + 1, chunks);
    for (std::uint64_t set = 0; set < sets; ++set) {
      const std::uint64_t all = before(grid.workgroups(), set), inside = before(end, set) - before(begin, set);
      most = std::max(most, ring                           ? all - inside
                            : fused == T3_FUSED_ALL_REDUCE ? all
                                                           : inside * t3_fused_slabs(fused, c.gpus));
    }
  }
  return most * grid.wavefronts;
}

/// Entries of a GPU's tables: chunks that leave by remote_map, that are counted, that are sent or announced.
struct Entries {
  std::uint32_t stored, counted, sent;
};

Entries entries_of(const Workload& workload, std::uint32_t gpus) {
  const std::uint32_t node = workload.gpus_per_node, nodes = gpus / node;
  switch (workload.fused) {
    case T3_FUSED_HIERARCHICAL_REDUCE_SCATTER:
      return {node - 1, nodes, nodes};
    case T3_FUSED_DIRECT_REDUCE_SCATTER:
      return {gpus - 1, 1, 1};
    case T3_FUSED_ALL_REDUCE:  // the own chunk goes to all others, whose chunks are announced
      return {gpus - 1, gpus, 2 * (gpus - 1)};
    case T3_FUSED_ALL_TO_ALL:
      return {gpus - 1, gpus, gpus};
    default:
      return {1, gpus - 1, gpus - 1};
  }
}

/// Every chunk that a GPU maps has an entry in a table of each block that knows it.
void check_tables(const Document& run, const Document& system, const RunConfiguration& c) {
  const TileGrid grid = output_grid(c);
  const Entries entries = entries_of(c.workload, c.gpus);
  constexpr std::uint32_t most_updates = 255;  // that the Tracker counts of an element
  if (updates_of(c) > most_updates)
    run.reject(run.content.contains("gpus") ? "/gpus" : "/workload/tp",
               fmt::format("at most {} with fused {}, the updates that are counted of an element", most_updates,
                           name_of(c.workload.fused)));
  const auto require = [&](const char* place, std::uint32_t found, std::uint32_t needed) {
    if (found < needed)
      system.reject(place,
                    fmt::format("at least {}, the chunks that {} GPUs map with {}", needed, c.gpus, name_of(c.method)));
  };
  require("/tracker/chunks", c.system.tracker.chunks, entries.counted);
  require("/dma/commands", c.system.dma.commands, entries.sent);
  require("/output_map/entries", c.system.output_map.entries, entries.stored);
  if (!c.system.tracker.strict) return;
  const std::uint64_t ways = tracker_ways_needed(c, grid);
  if (c.system.tracker.ways < ways)
    system.reject("/tracker/ways", fmt::format("at least {}, since nothing may spill with tracker.strict", ways));
}

/// With valid bits the programs write no zeros, so that there have to be enough.
void check_valid_bits(const Document& run, const RunConfiguration& c) {
  const std::uint64_t bits = c.system.memory.valid_bits_bytes,
                      needed = memory::ValidBits::storage_bytes(output_grid(c).bytes());
  if (is_fused(c) && bits != 0 && needed > bits)
    run.reject("/system/memory/valid_bits_KiB", fmt::format("{} bytes of valid bits", bits),
               fmt::format("0 or at least the {} that the output needs", needed));
}

/// A program takes what its method and workload give it; a program of the user's own may do without a workload.
void check_program(const Document& run, const RunConfiguration& c) {
  const Software& software = c.software;
  const bool layer = c.workload.layer.has_value(), collective = c.workload.collective.has_value(),
             embedding = c.workload.embedding.has_value(), gemv = c.workload.gemv.has_value(),
             experts = c.workload.experts.has_value();
  if (!software.library && c.workload.empty())
    run.reject("/workload", "a workload, since the program is " + software.program);
  if (layer != software.is("layer"))
    run.reject("/program", layer ? "layer, or nothing, of a layer" : "another program, since there is no layer");
  if (!software.library && collective != software.is("collective"))
    run.reject("/program", collective ? "collective, or nothing, of a collective alone"
                                      : "another program, since there is no collective alone");
  const bool pass = c.workload.dlrm.has_value();
  if (!software.library && (embedding && !pass) != software.is("embedding"))
    run.reject("/program", embedding && !pass ? "embedding, or nothing, of embedding tables"
                           : pass             ? "dlrm, or nothing, of embedding tables with mlp"
                                              : "another program, since there are no embedding tables");
  if (!software.library && pass != software.is("dlrm"))
    run.reject("/program", pass ? "dlrm, or nothing, of embedding tables with mlp"
                                : "another program, since there are no embedding tables with mlp");
  if (!software.library && gemv != software.is("gemv"))
    run.reject("/program",
               gemv ? "gemv, or nothing, of a matrix times a vector" : "another program, since there is no gemv");
  if (!software.library && experts != software.is("experts"))
    run.reject("/program", experts ? "experts, or nothing, of experts" : "another program, since there are no experts");
  if (!embedding && !gemv && !experts && is_of_kernels(c.method))
    run.reject(
        "/method",
        "another one: bulk, zero-copy and fused are of embedding tables, bulk and fused of gemv and experts, bulk, "
        "fused and fused-backward of embedding tables with mlp");
  if (!layer && !c.workload.is_of_several() && is_ideal(c.method) && !software.is("isolated"))
    run.reject("/program", fmt::format("isolated, or nothing, with method {}", name_of(c.method)));
}

void check_layer(const Document& run, const Document& system, const RunConfiguration& c) {
  const LayerWorkload& layer = *c.workload.layer;
  if (!c.system.other_gpus.empty()) system.reject("/gpus", "nothing: of a layer one GPU is simulated");
  if (c.method != Method::sequential)
    run.reject("/method", "sequential, or nothing: the operations of a layer run one after the other");
  if (c.functional && layer.training && layer.fused_attention)
    run.reject("/data", "timing-only: fused attention computes no data in its backward pass");
  Heap heap;
  for (const LayerTensor& tensor : layer_program(layer, c.system.compute).tensors) heap.take(tensor.bytes);
  require_room(run, c, heap, "tensors");
}

void check_fused(const Document& run, const RunConfiguration& c) {
  const t3_fused_kind fused = c.workload.fused;
  if (run.content.at("workload").contains("fused") && !c.software.is("fused"))
    run.reject("/workload/fused", "this key only with method t3 or t3-mca");
  const bool of_nodes = fused == T3_FUSED_HIERARCHICAL_REDUCE_SCATTER;
  if (of_nodes && c.system.topology.kind != Topology::Kind::nodes)
    run.reject("/workload/fused", fmt::format("another one: {} needs links of kind nodes", name_of(fused)));
  const bool adds_as_it_comes = fused == T3_FUSED_DIRECT_REDUCE_SCATTER || fused == T3_FUSED_ALL_REDUCE || of_nodes;
  if (adds_as_it_comes && c.operands == Operands::random)
    run.reject("/operands", fmt::format("exact with fused {}: other sums are rounded in the order in which they arrive",
                                        name_of(fused)));
}

void check_gemm(const Document& run, const Document& system, const RunConfiguration& c) {
  const TileGrid grid = output_grid(c);
  const std::uint64_t tiles = std::uint64_t{grid.tiles_down()} * grid.tiles_across();
  const std::uint64_t most = is_fused(c) ? std::uint64_t{most_mapped_workgroups} * c.gpus : no_workgroup - 1;
  if (tiles > most)
    run.reject("/workload", fmt::format("an output of {} tiles", tiles), fmt::format("at most {} tiles", most));
  if (tiles < 2 && c.gpus >= 2)
    run.reject("/workload", fmt::format("an output of {} tile", tiles),
               fmt::format("at least {} tiles, so that each of {} GPUs has a chunk", c.gpus, c.gpus));
  if (tiles < c.gpus)
    run.reject(run.content.contains("gpus") ? "/gpus" : "/workload/tp",
               fmt::format("at most {}, the output's tiles, so that every GPU has a chunk", tiles));
  if (!c.software.library) check_memory_holds(run, c, tiles);
  check_fused(run, c);
  if (is_fused(c)) check_tables(run, system, c);
  check_valid_bits(run, c);
  if (c.mirror) check_mirror(run, c);
}

}  // namespace

void check_run(const Document& run, const Document& system, const RunConfiguration& c) {
  check_topology(run, system, c);
  check_program(run, c);
  if (c.workload.layer)
    check_layer(run, system, c);
  else if (c.workload.collective)
    check_collective(run, system, c);
  else if (c.workload.embedding)
    check_embedding(run, system, c);
  else if (c.workload.gemv)
    check_gemv(run, system, c);
  else if (c.workload.experts)
    check_experts(run, c);
  else if (c.workload.has_gemm())
    check_gemm(run, system, c);
  else if (c.mirror)
    run.reject("/simulate", "all, since there is no workload whose chunks a mirror could send back");
  if (run.content.contains("phases") && (!is_ideal(c.method) || c.functional))
    run.reject("/phases", "this key only with method ideal-overlap or ideal-rs-nmc and data timing-only");
  check_faults(run, c);
}

}  // namespace t3vp
