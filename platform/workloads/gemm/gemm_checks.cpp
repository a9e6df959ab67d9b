// Refuses sub-layers that cannot run.
#include <fmt/format.h>

#include <algorithm>

#include "memory/valid_bits.h"
#include "workloads/gemm/gemm_workload.h"
#include "workloads/shared/room_checks.h"

namespace t3vp {

/// Over links, or NICs where the method needs no links between nodes.
void GemmWorkload::check_links(const Document& system, const RunSettings& settings, bool join_all) const {
  constexpr std::uint32_t most_nodes = 9;  // the DMA engine has a queue for each of eight others
  const std::string& method = settings.method;
  const bool sends_by_nic = method == "sequential" || ((method == "t3" || method == "t3-mca") && is_hierarchical());
  if (by_nic_ && sends_by_nic) {
    if (!settings.system.nic) system.reject("/nic", "nothing", "NICs, since links do not join all GPUs");
    if (settings.gpus / gpus_per_node_ > most_nodes)
      system.reject("/links/topology/gpus_per_node",
                    fmt::format("at least {}, for {} nodes at most that NICs join",
                                (settings.gpus + most_nodes - 1) / most_nodes, most_nodes));
    return;
  }
  if (!join_all)
    reject_separate_gpus(system, settings, "GEMM",
                         by_nic_ ? ", or, by NICs, method sequential, or t3 and t3-mca with fused "
                                   "hierarchical-reduce-scatter"
                                 : "");
}

/// A mirror's own chunks stand for its neighbours', so that they have to be of one size.
void GemmWorkload::check_mirror(const Document& run, const RunSettings& settings) const {
  check_mirrored_data(run, settings);
  if (settings.system.topology.channels_by_distance)
    run.reject("/simulate", "all, or system.links.topology ring: the mirror of a GEMM stands for a ring");
  if (fused_ != T3_FUSED_RING_REDUCE_SCATTER)
    run.reject("/simulate", fmt::format("all, or workload.fused ring-reduce-scatter and not {}: a mirror stands for a "
                                        "ring, whose GPUs send to one alone",
                                        name_of(fused_)));
  if (following_ != T3_FOLLOWING_NONE) run.reject("/simulate", "all, or workload.following none");
  if (split_k_ != 1)
    run.reject("/simulate", "all, or workload.split_k 1: a mirror's first chunk leaves as it is stored");
  const std::vector<std::uint64_t> chunks = chunk_elements(grid(settings), settings.gpus);
  for (const std::uint64_t elements : chunks)
    if (elements != chunks[0])
      run.reject("/simulate", fmt::format("all, or M and N of equal chunks: those of {} GPUs have {} and {} elements",
                                          settings.gpus, chunks[0], elements));
}

/// Entries of the Tracker's fullest set when nothing may spill and every tile that it counts is there at once.
std::uint64_t GemmWorkload::tracker_ways_needed(const RunSettings& settings) const {
  const TileGrid grid = this->grid(settings);
  const std::uint32_t gpus = settings.gpus;
  const std::uint64_t sets = settings.system.tracker.sets;
  const auto before = [sets](std::uint64_t wg_id, std::uint64_t set) {
    return wg_id / sets + (set < wg_id % sets ? 1 : 0);
  };
  std::uint64_t most = 0;
  const std::uint32_t chunks = is_hierarchical() ? gpus_per_node_ : gpus;  // or what a local rank of each node sums
  for (std::uint32_t gpu = 0; gpu < (settings.mirror ? 1 : chunks); ++gpu) {
    const bool ring = fused_ == T3_FUSED_RING_REDUCE_SCATTER;
    const std::uint32_t chunk = ring ? (gpu + 1) % gpus : gpu;  // in a ring the one that leaves by remote_map
    const std::uint64_t begin = grid.chunk_begin(chunk, chunks), end = grid.chunk_begin(chunk + 1, chunks);
    for (std::uint64_t set = 0; set < sets; ++set) {
      const std::uint64_t all = before(grid.workgroups(), set), inside = before(end, set) - before(begin, set);
      most = std::max(most, ring ? all - (split_k_ == 1 ? inside : 0)
                            : fused_ == T3_FUSED_ALL_REDUCE || fused_ == T3_FUSED_SWITCH_ALL_REDUCE
                                ? all
                                : inside * t3_fused_slabs(fused_, gpus));
    }
  }
  return most * grid.wavefronts;
}

GemmWorkload::Entries GemmWorkload::entries(std::uint32_t gpus) const {
  const std::uint32_t nodes = gpus / gpus_per_node_;
  switch (fused_) {
    case T3_FUSED_HIERARCHICAL_REDUCE_SCATTER:
      return {gpus_per_node_ - 1, nodes, nodes};
    case T3_FUSED_DIRECT_REDUCE_SCATTER:
      return {gpus - 1, 1, 1};
    case T3_FUSED_ALL_REDUCE:  // the own chunk goes to all others, whose chunks are announced
      return {gpus - 1, gpus, 2 * (gpus - 1)};
    case T3_FUSED_SWITCH_ALL_REDUCE:  // which all get by one store
      return {gpus - 1, gpus, gpus};
    case T3_FUSED_ALL_TO_ALL:
      return {gpus - 1, gpus, gpus};
    default:
      if (split_k_ != 1) return {0, gpus, gpus};  // the first chunk leaves by dma_map as well
      return {1, gpus - 1, gpus - 1};
  }
}

/// Every chunk that a GPU maps has an entry in a table of each block that knows it.
void GemmWorkload::check_tables(const Document& run, const Document& system, const RunSettings& settings) const {
  const Entries needed = entries(settings.gpus);
  constexpr std::uint32_t most_updates = 255;  // that the Tracker counts of an element
  if (updates_of(settings.gpus) > most_updates && split_k_ != 1)
    run.reject("/workload/split_k", fmt::format("less with {} GPUs and fused {}, at most {} updates are counted of an "
                                                "element",
                                                settings.gpus, name_of(fused_), most_updates));
  if (updates_of(settings.gpus) > most_updates)
    run.reject(run.content.contains("gpus") ? "/gpus" : "/workload/tp",
               fmt::format("at most {} with fused {}, the updates that are counted of an element", most_updates,
                           name_of(fused_)));
  const auto require = [&](const char* place, std::uint32_t found, std::uint32_t least) {
    if (found < least)
      system.reject(place, fmt::format("at least {}, the chunks that {} GPUs map with {}", least, settings.gpus,
                                       settings.method));
  };
  require("/tracker/chunks", settings.system.tracker.chunks, needed.counted);
  require("/dma/commands", settings.system.dma.commands, needed.sent);
  require("/output_map/entries", settings.system.output_map.entries, needed.stored);
  // With another index the sets depend on the order of the maps. The Tracker refuses maps that may spill.
  if (!settings.system.tracker.strict || settings.system.tracker.index != memory::TrackerIndex::workgroup) return;
  const std::uint64_t ways = tracker_ways_needed(settings);
  if (settings.system.tracker.ways < ways)
    system.reject("/tracker/ways", fmt::format("at least {}, since nothing may spill with tracker.strict", ways));
}

/// With valid bits the programs write no zeros, so there must be enough valid bits.
void GemmWorkload::check_valid_bits(const Document& run, const RunSettings& settings) const {
  const std::uint64_t bits = settings.system.memory.valid_bits_bytes,
                      needed = memory::ValidBits::storage_bytes(grid(settings).bytes());
  if (is_fused(settings) && bits != 0 && needed > bits)
    run.reject("/system/memory/valid_bits_KiB", fmt::format("{} bytes of valid bits", bits),
               fmt::format("0 or at least the {} that the output needs", needed));
}

void GemmWorkload::check_fused(const Document& run, const RunSettings& settings) const {
  if (run.content.at("workload").contains("fused") && settings.built_in_program != "fused")
    run.reject("/workload/fused", "this key only with method t3 or t3-mca");
  if (is_hierarchical() && settings.system.topology.kind != Topology::Kind::nodes)
    run.reject("/workload/fused", fmt::format("another one: {} needs links of kind nodes", name_of(fused_)));
  const Topology& topology = settings.system.topology;
  if (fused_ == T3_FUSED_SWITCH_ALL_REDUCE && !(topology.kind == Topology::Kind::switched && topology.reduces))
    run.reject("/workload/fused", fmt::format("another one: {} needs a switch with reduction that joins all GPUs "
                                              "(system.links.topology)",
                                              name_of(fused_)));
  const bool adds_as_it_comes = fused_ == T3_FUSED_DIRECT_REDUCE_SCATTER || fused_ == T3_FUSED_ALL_REDUCE ||
                                fused_ == T3_FUSED_SWITCH_ALL_REDUCE || is_hierarchical();
  if (adds_as_it_comes && settings.operands == Operands::random)
    run.reject("/operands", fmt::format("exact with fused {}: other sums are rounded in the order in which they arrive",
                                        name_of(fused_)));
}

/// Near memory it is done with the chunk that a GPU owns. What it gives has more digits than bf16 holds exactly.
void GemmWorkload::check_following(const Document& run, const RunSettings& settings) const {
  const std::string& program = settings.built_in_program;
  if (following_ == T3_FOLLOWING_NONE) return;
  if ((program != "fused" && program != "sequential") || by_nic_ || settings.gpus < 2)
    run.reject("/workload/following", "none, or method t3, t3-mca or sequential with two or more GPUs that links join");
  if (fused_ == T3_FUSED_ALL_TO_ALL || is_hierarchical())
    run.reject("/workload/following",
               fmt::format("none with fused {}: sums of a chunk on its owner's GPU", name_of(fused_)));
  if (program == "fused" && !settings.system.memory.near_memory)
    run.reject("/workload/following", "none, or no cache.atomic_bytes_per_cycle: near-memory units follow the sums");
  if (settings.functional && (settings.operands == Operands::random || gemm_.element == ElementType::bf16))
    run.reject("/workload/following", "none, or exact operands in fp16 or fp32: other results would be rounded twice");
}

/// Sums of a share of k are larger than those of all of it, which bf16 would round. On a ring a GPU's shares meet
/// before others are added, so that fp16 holds them.
void GemmWorkload::check_split(const Document& run, const RunSettings& settings) const {
  const std::uint32_t depth = settings.system.compute.slab_depth, k_tiles = (gemm_.k + depth - 1) / depth;
  const bool is_alone = settings.built_in_program == "isolated" && settings.gpus == 1 && !settings.functional;
  if (run.content.at("workload").contains("split_k") && settings.built_in_program != "fused" && !is_alone)
    run.reject(
        "/workload/split_k",
        "this key only with method t3 or t3-mca and without another program, or timing-only with an ideal method "
        "and one GPU");
  if (split_k_ == 1) return;
  if (split_k_ > k_tiles)
    run.reject("/workload/split_k", fmt::format("at most {}, the K tiles of {} elements", k_tiles, depth));
  if (fused_ == T3_FUSED_ALL_TO_ALL)
    run.reject("/workload/split_k", "1 with fused all-to-all, whose stores are not added");
  if (settings.functional && (settings.operands == Operands::random || gemm_.element == ElementType::bf16))
    run.reject("/workload/split_k",
               "1, or exact operands in fp16 or fp32: sums of a share of k would be rounded in another order");
  if (settings.functional && gemm_.element == ElementType::fp16 && fused_ != T3_FUSED_RING_REDUCE_SCATTER)
    run.reject("/workload/split_k",
               fmt::format("1, or fp32 with fused {}: shares of several GPUs are added at once, and "
                           "are larger than fp16 holds exactly",
                           name_of(fused_)));
}

/// Keys of the GEMM's kernel. The order of tiles is the method's where stores start the communication.
void GemmWorkload::check_kernel(const Document& run, const RunSettings& settings) const {
  const bool is_alone = settings.built_in_program == "isolated" || settings.built_in_program == "sequential";
  const std::uint32_t most = settings.system.compute.prefetch_slabs;
  if (stages_ > most) run.reject("/workload/gemm/stages", fmt::format("0 to {}, compute.prefetch_slabs", most));
  if (group_ != 1 && !is_alone)
    run.reject("/workload/gemm/group", "1, or method sequential, ideal-overlap or ideal-rs-nmc");
  if (persistent_workgroups_ != 0 && (!is_alone || split_k_ != 1))
    run.reject("/workload/gemm/persistent_workgroups",
               "0, or method sequential, ideal-overlap or ideal-rs-nmc without split_k");
  if (cache_ != T3_CACHE_CLEAN && (!is_alone || by_nic_))
    run.reject("/workload/cache_at_start", "clean, or method sequential, ideal-overlap or ideal-rs-nmc over links");
}

void GemmWorkload::check_tiles(const Document& run, const RunSettings& settings) const {
  const TileGrid grid = this->grid(settings);
  const std::uint64_t tiles = std::uint64_t{grid.tiles_down()} * grid.tiles_across();
  const std::uint64_t most =
      is_fused(settings) ? std::uint64_t{most_mapped_workgroups} * settings.gpus : no_workgroup - 1;
  if (tiles > most)
    run.reject("/workload", fmt::format("an output of {} tiles", tiles), fmt::format("at most {} tiles", most));
  if (tiles < 2 && settings.gpus >= 2)
    run.reject("/workload", fmt::format("an output of {} tile", tiles),
               fmt::format("at least {} tiles, so that each of {} GPUs has a chunk", settings.gpus, settings.gpus));
  if (tiles < settings.gpus)
    run.reject(run.content.contains("gpus") ? "/gpus" : "/workload/tp",
               fmt::format("at most {}, the output's tiles, so that every GPU has a chunk", tiles));
}

void GemmWorkload::check(const Document& run, const Document& system, const RunSettings& settings) const {
  check_gemm_method(run, settings);
  check_tiles(run, settings);
  require_room(run, settings, buffers(settings, 0), "operands, output and what the method keeps beside them");
  check_fused(run, settings);
  check_split(run, settings);
  check_kernel(run, settings);
  check_following(run, settings);
  if (is_fused(settings)) check_tables(run, system, settings);
  check_valid_bits(run, settings);
  if (settings.mirror) check_mirror(run, settings);
}

}  // namespace t3vp
