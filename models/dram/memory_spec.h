// One DRAM channel as data: configs/memory/*.json. Times are DRAM clock cycles. Plain C++, no SystemC.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dram/command_bus_parameters.h"
#include "dram/dram_parameters.h"
#include "dram/geometry_parameters.h"
#include "dram/timing_parameters.h"

namespace t3vp::dram {

/// How a channel serves accesses: a column command for each, or a decision for each run of them in a row.
enum class Model : std::uint8_t { exact, loosely_timed };

/// Queueing. shared_round_robin has one queue (GPGPU-Sim). A bank takes one request at a time, at most one bank per
/// cycle. Banks have their commands in round-robin order. An entry leaves the queue when its bank takes it.
/// split_oldest_first has a queue for reads and one for writes (Ramulator, DRAMSys). Writes are drained in bursts. The
/// oldest request whose command is legal goes first, and an entry holds its place until its column command.
/// by_geometry is the latter with pseudo-channels, else the former.
struct MemorySpec : DramParameters, CommandBusParameters {
  std::string name = "hbm2-legacy";
  Model model = Model::exact;  ///< the system's memory.model
  Geometry geometry;
  Timing timing;
  std::string address_map = "accel";      ///< bgint, accel or rocol
  std::vector<std::string> address_bits;  ///< in place of address_map: from the lowest, such as "byte:5", "column:3"

  /// Reads and writes in a queue each, of queue_depth entries each.
  bool has_split_queues() const {
    if (queueing == Queueing::by_geometry) return geometry.pseudo_channels > 1;
    return queueing == Queueing::split_oldest_first;
  }
};

}  // namespace t3vp::dram
