// The settings of a run file other than its workload, with defaults applied. Workloads depend on them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "memory/policy_choice.h"
#include "system/system_configuration.h"

namespace t3vp {

/// Values of operands: such that no sum is ever rounded, or any in [-1, 1].
enum class Operands { exact, random };

/// The scope of a policy that is for the reduce-scatter, such as mca: all traffic up to the all-gather, which
/// round-robin then arbitrates, or all.
enum class McaScope { reduce_scatter, always };

/// The phases of a method that runs them apart.
struct Phases {
  bool gemm = true, reduce_scatter = true, all_gather = true;
  bool are_all() const { return gemm && reduce_scatter && all_gather; }
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
  std::optional<std::uint32_t> dma_map_updates;  ///< that the programs pass to dma_map as expected
  std::optional<LoseUpdates> lose_updates;
  std::optional<FlipBit> flip_bit;
  std::optional<std::uint32_t> wrong_rounding;  ///< GPU
  std::optional<DropPacket> drop_packet;
  std::optional<DropPackets> drop_packets;
  std::optional<WrongElement> wrong_element;
};

struct RunSettings {
  SystemConfiguration system;
  std::uint32_t gpus = 0;
  std::string method;
  std::string arbitration;        ///< a policy's name, with its parameter or without: "mca-10"
  memory::PolicyChoice policy{};  ///< the same
  McaScope mca_scope = McaScope::reduce_scatter;
  Phases phases;
  std::string collectives = "auto";  ///< algorithm of collectives that a method has, or auto
  bool functional = false;
  Operands operands = Operands::exact;  ///< of a functional run
  bool mirror = false;                  ///< one GPU stands for all
  std::uint64_t seed = 1;
  /// One of the programs that the platform comes with; empty: the user's own.
  std::string built_in_program;
  Faults faults;
};

/// The names that files and reports use.
const char* name_of(Operands operands);
const char* name_of(McaScope scope);

inline Fabric fabric_of(const RunSettings& s) { return fabric_of(s.system, s.gpus, s.mirror); }
inline Fabric whole_fabric_of(const RunSettings& s) { return whole_fabric_of(s.system, s.gpus); }

}  // namespace t3vp
