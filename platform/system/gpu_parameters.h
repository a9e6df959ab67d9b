// Everything that a GPU and a node are made from: the parameters of their blocks, without a workload and without
// SystemC.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cache/cache_parameters.h"
#include "compute/cluster_parameters.h"
#include "dma/dma_parameters.h"
#include "endpoint/endpoint_parameters.h"
#include "interconnect/link_parameters.h"
#include "interconnect/merging.h"
#include "interconnect/route.h"
#include "io/software_library.h"
#include "memory/controller_parameters.h"
#include "nic/network_parameters.h"
#include "output_map/output_map_parameters.h"
#include "power/power_parameters.h"
#include "processor/control_parameters.h"
#include "protocol/tile_grid.h"

namespace t3vp {

/// A block of a library, in one of the GPU's spare windows (node/plugin_block.h).
struct PluggedBlock {
  SoftwareLibrary library;
  std::string block;         ///< its name in the library
  InputPlace block_at;       ///< where the system file names it
  std::uint32_t window = 0;  ///< of plugin_0 and up
  std::string settings;      ///< an object, as JSON text
};

struct GpuParameters {
  compute::ComputeParameters compute;
  t3_kernel_parameters kernels = t3_default_kernel_parameters();  ///< tuning of the kernel libraries
  output_map::OutputMapParameters output_map;
  cache::CacheParameters cache;
  memory::MemoryParameters memory;
  memory::TrackerParameters tracker;
  dma::DmaParameters dma;
  processor::ProcessorParameters processor;
  interconnect::LinkParameters links;
  std::optional<nic::NicParameters> nic;  ///< nothing: it has none
  std::optional<endpoint::EndpointParameters> endpoint;
  std::optional<power::PowerParameters> power;  ///< nothing: no limit, and no energy is counted
  std::vector<PluggedBlock> plugged;
};

/// Which checkers are at work.
struct RunChecks {
  bool protocol = false;  ///< protocol checkers between all sockets
  bool memory = false;    ///< accesses are held against what the driver has allocated
  bool races = false;     ///< accesses that nothing orders; needs data
};

inline bool operator==(const RunChecks& a, const RunChecks& b) {
  return a.protocol == b.protocol && a.memory == b.memory && a.races == b.races;
}
inline bool operator!=(const RunChecks& a, const RunChecks& b) { return !(a == b); }

/// The level of detail of the simulation. Times do not depend on it.
struct SimulationOptions {
  bool functional = true;  ///< tensors carry data
  RunChecks checks;
  bool protocol_later = false;  ///< without the check, protocol checkers are there and sleep until they are woken

  bool has_checkers() const { return checks.protocol || protocol_later; }
};

/// A GPU's place among its neighbours: what its ports lead to.
struct Placement {
  std::uint16_t gpu = 0;                  ///< number of the GPU
  std::uint32_t gpus = 1;                 ///< GPUs of the node
  std::vector<std::uint32_t> neighbours;  ///< behind each outgoing port: a GPU, or from `gpus` on a switch
  interconnect::Route route;              ///< by GPU, the outgoing port that leads there
  std::uint32_t receivers = 0;            ///< links that lead to this GPU
};

struct SwitchPlacement {
  std::vector<std::uint32_t> neighbours;  ///< the GPU behind each outgoing port
  interconnect::Route route;
  std::uint32_t receivers = 0;
  Picoseconds latency = 0;
  bool reduces = false;  ///< adds what its GPUs have, and stores to all of them
  interconnect::Merging merging;
};

/// One direction of a link.
struct LinkPlacement {
  interconnect::LinkEnd from, to;
  interconnect::LinkParameters parameters;
  std::uint32_t receiver = 0;  ///< number of the input at its end
};

/// The links and switches that join GPUs (topology.h makes it).
struct Fabric {
  std::vector<Placement> gpus;  ///< of every simulated GPU, in the order of their numbers
  std::vector<SwitchPlacement> switches;
  std::vector<LinkPlacement> links;  ///< one for each port, GPU after GPU, then switch after switch
};

/// The ring or torus that one GPU represents.
struct Mirrored {
  TileGrid chunks;                   ///< of a ring: what it sends comes back to it, as the next chunk's of this output
  std::vector<std::uint32_t> torus;  ///< its dimensions; empty: it is a ring
};

struct NodeParameters {
  Fabric fabric;
  std::vector<GpuParameters> gpus;   ///< as many as the fabric has
  nic::WireParameters wire;          ///< between the NICs of all GPUs that have one
  std::optional<Mirrored> mirrored;  ///< one GPU stands for all
  SimulationOptions options;
};

}  // namespace t3vp
