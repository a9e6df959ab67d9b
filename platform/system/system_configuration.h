// A system file as values: the hardware, what joins its GPUs, and the tiles of its GEMM library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "system/topology.h"

namespace t3vp {

/// The part of the output that a GEMM workgroup computes, in elements.
struct TileShape {
  std::uint32_t rows = 0, columns = 0;
  std::uint64_t elements() const { return std::uint64_t{rows} * columns; }
  bool operator==(const TileShape& other) const { return rows == other.rows && columns == other.columns; }
};

/// A GPU and the tiles of its GEMM library, besides those of its own compute parameters.
struct GemmSystem : GpuParameters {
  std::vector<TileShape> tiles;
};

/// Parameters that override those of `links`, for one direction of one link.
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

/// Time that the node's CPU takes where it stands between kernels and NICs (GPU-initiated overlap, Figure 3).
struct HostTimes {
  std::uint64_t kernel_end_ns = 0;  ///< from a kernel's end until the CPU notices it
  std::uint64_t post_ns = 0;        ///< to post one message
  std::uint64_t launch_ns = 0;      ///< to launch the kernel behind the messages
};

struct SystemConfiguration : GemmSystem {
  std::string name;
  Topology topology;
  std::vector<LinkOverride> overrides;
  nic::WireParameters wire;  ///< between NICs
  HostTimes host;
  std::vector<OtherGpu> other_gpus;
};

/// The GPU's own parameters, or the system's.
const GpuParameters& parameters_of(const SystemConfiguration& system, std::uint32_t gpu);

/// The links of all GPUs, with the overrides applied.
Fabric whole_fabric_of(const SystemConfiguration& system, std::uint32_t gpus);
/// Returns the same fabric, or the links of the one GPU that represents all.
Fabric fabric_of(const SystemConfiguration& system, std::uint32_t gpus, bool mirror);

bool is_of(const LinkOverride& override, const LinkPlacement& link);

}  // namespace t3vp
