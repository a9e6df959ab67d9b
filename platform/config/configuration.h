// Everything a simulation needs to know, with defaults applied and checked: what a run file, its system file and its
// memory file say, and what --set changes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "config/json_document.h"
#include "config/software.h"
#include "hardware/topology.h"
#include "memory/policy_choice.h"
#include "protocol/tile_grid.h"
#include "workload/shapes.h"
#include "workloads/shared/host_times.h"

namespace t3vp {

/// What one link, of one direction, has otherwise than `links` says.
struct LinkOverride {
  interconnect::LinkEnd from, to;
  std::optional<double> bandwidth_GBps;
  std::optional<Picoseconds> latency;
  std::optional<std::uint32_t> receive_buffer_bytes;
};

/// A GPU whose parameters are not those of the system.
struct OtherGpu {
  std::uint32_t gpu;
  GpuParameters parameters;
};

/// A system file: the hardware, and the tiles of its GEMM library.
struct SystemConfiguration : GemmSystem {
  std::string name;
  Topology topology;
  std::vector<LinkOverride> overrides;
  nic::WireParameters wire;  ///< between NICs
  t3_host_times host{};      ///< of embedding tables in bulk, where NICs join the GPUs
  std::vector<OtherGpu> other_gpus;
};

/// The last ones are of kernels that exchange or sum up what they compute, of embedding tables, with vectors or of
/// experts, fused_backward of a training pass; the others of all else.
enum class Method { sequential, t3, t3_mca, ideal_overlap, ideal_rs_nmc, bulk, zero_copy, fused, fused_backward };
inline constexpr Method all_methods[] = {Method::sequential,    Method::t3,           Method::t3_mca,
                                         Method::ideal_overlap, Method::ideal_rs_nmc, Method::bulk,
                                         Method::zero_copy,     Method::fused,        Method::fused_backward};

/// What a policy that is for the reduce-scatter arbitrates, such as mca: everything up to the all-gather, which then is
/// arbitrated by round-robin, or all.
enum class McaScope { reduce_scatter, always };

/// The phases of a method that runs them apart.
struct Phases {
  bool gemm = true, reduce_scatter = true, all_gather = true;
};

/// Hardware faults to inject, and one of the programs. GPUs, links and everything else count from 0.
struct Faults {
  struct LoseUpdates {
    std::uint32_t gpu;
    memory::MemoryFaults::LoseUpdates what;
  };
  struct FlipBit {
    std::uint32_t gpu;
    memory::MemoryFaults::FlipBit what;
  };
  struct WrongElement {
    std::uint32_t gpu;
    std::uint64_t index;  ///< of `out`, row by row
  };
  struct DropPacket {
    std::uint32_t link;
    std::uint64_t packet;
  };
  struct DropPackets {
    std::uint32_t gpu;  ///< whose NIC sends them
    std::uint64_t count;
  };
  std::optional<std::uint32_t> dma_map_updates;  ///< that the programs tell dma_map to expect
  std::optional<LoseUpdates> lose_updates;
  std::optional<FlipBit> flip_bit;
  std::optional<std::uint32_t> wrong_rounding;  ///< GPU
  std::optional<DropPacket> drop_packet;
  std::optional<DropPackets> drop_packets;
  std::optional<WrongElement> wrong_element;
};

/// When to give a run up; docs/for-architects.md.
struct Limits {
  std::optional<double> simulated_ms, wall_s;
  double firmware_s = 30;  ///< host time that firmware may compute between two calls of the HAL
  /// Reads of one register, always with the same value, while nothing else happens in the node.
  std::uint64_t polls = 10'000'000;
  std::uint64_t errors = 100'000;  ///< entries of a GPU's error log
};

struct RunConfiguration {
  SystemConfiguration system;
  Workload workload;
  std::uint32_t gpus = 0;
  Method method = Method::t3_mca;
  std::string arbitration;        ///< a policy's name, with its parameter or without: "mca-10"
  memory::PolicyChoice policy{};  ///< the same
  McaScope mca_scope = McaScope::reduce_scatter;
  Phases phases;
  bool functional = false;
  Operands operands = Operands::exact;  ///< of a functional run; of a layer always random
  bool mirror = false;
  bool check_protocol = false;  ///< protocol checkers between all sockets
  double quantum_ns = 1000;
  std::string firmware = "native";
  Software software;
  std::uint64_t seed = 1;
  Faults faults;
  Limits limits;

  nlohmann::json resolved;  ///< the whole as one run file, everything written inline
  std::string config_hash;  ///< of `resolved`: 16 hexadecimal digits
};

/// The names that files and reports use.
const char* name_of(Method method);
const char* name_of(McaScope scope);

/// Whether the method is one of embedding tables, or of what else kernels exchange.
bool is_of_kernels(Method method);

/// Whether embedding tables are pooled and exchanged in one persistent kernel.
bool pools_fused(Method method);

/// Whether the method runs GEMM, reduce-scatter and all-gather apart.
bool is_ideal(Method method);

/// Its own, or the system's.
const GpuParameters& parameters_of(const SystemConfiguration& system, std::uint32_t gpu);

/// What joins the GPUs, with what single links have otherwise; the one GPU of a mirror.
Fabric fabric_of(const RunConfiguration& configuration);
/// The same of all GPUs, also where one stands for them.
Fabric whole_fabric_of(const RunConfiguration& configuration);

/// Directions of links, as report.links lists them.
std::uint32_t link_count(const RunConfiguration& configuration);

/// Updates of an element of a GPU's own chunk, with a fused method.
std::uint32_t updates_of(const RunConfiguration& configuration);

/// The GEMM's output stays scattered over the owners of its chunks, with no all-gather behind.
bool is_scattered(const RunConfiguration& configuration);
/// The chunk of the GEMM's output that the GPU owns.
std::uint32_t chunk_of(const RunConfiguration& configuration, std::uint32_t gpu);
/// Whether a GPU has this element of the GEMM's output in the end: all, or behind a reduce-scatter without an
/// all-gather those of the tiles that it owns.
bool owns(const RunConfiguration& configuration, std::uint32_t gpu, std::uint32_t row, std::uint32_t column);

/// Output tiles of the workload on the system; rows padded to 32 bytes.
TileGrid output_grid(const RunConfiguration& configuration);

/// What the GPUs compute together.
GemmProblem gemm_problem(const RunConfiguration& configuration);

/// Loads a run file with every file it names, and applies "path=value" settings. The path goes into the resolved
/// configuration (--print-config shows it), whichever file the key is in; "memory." is short for "system.memory.dram.".
/// The value is JSON, or else a string; null removes the key. Throws InputError.
RunConfiguration load_run(const std::filesystem::path& file, const std::vector<std::string>& settings = {});
/// The same of a run file that has been read, or was never a file.
RunConfiguration load_run(Document run, const std::vector<std::string>& settings);

/// The same work without the names of label, model and sub-layer: equal work has equal configurations then.
RunConfiguration without_names(RunConfiguration configuration);

/// Loads a system file with its memory file. Throws InputError.
SystemConfiguration load_system(const std::filesystem::path& file);

/// Loads a memory file; paths of settings go into it ("timing.CCDWL=8"). Throws InputError.
dram::MemorySpec load_memory(const std::filesystem::path& file, const std::vector<std::string>& settings = {});

}  // namespace t3vp
