// One DRAM channel as data: configs/memory/*.json. Times are DRAM clock cycles. Plain C++, no SystemC.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace t3vp::dram {

struct Geometry {
  std::uint32_t pseudo_channels = 1, bank_groups = 4, banks_per_group = 4, rows = 8192;
  std::uint32_t row_bytes = 2048;   ///< of a bank of one pseudo-channel
  std::uint32_t access_bytes = 32;  ///< of a column access
};

/// JEDEC names without the leading t. 0 for FAW, RFC and REFI: not modelled.
struct Timing {
  std::uint32_t RCDRD = 14, RCDWR = 11, RP = 14, RAS = 33, RC = 47, RRDS = 4, RRDL = 4, FAW = 0;
  std::uint32_t CL = 14, CWL = 2, BURST = 1;  ///< BURST: data-bus cycles of an access
  std::uint32_t CCDS = 1, CCDL = 2;
  std::uint32_t CCDWL = 4;                    ///< after a near-memory update, same bank group (T3 5.1.1, Table 1)
  std::uint32_t RTW = 15;                     ///< read command to write command
  std::uint32_t WTRS = 3, WTRL = 3, WR = 12;  ///< from the end of write data
  std::uint32_t RTP = 1;                      ///< read to precharge, same bank
  std::uint32_t RTPL = 4;                     ///< read to precharge, any bank of the group (GPGPU-Sim's RTPL)
  std::uint32_t RFC = 0, REFI = 0;
};

/// shared_round_robin: one queue; a bank takes one request at a time, at most one bank per cycle, and banks have their
/// commands in turn; an entry leaves the queue when its bank takes it (GPGPU-Sim). split_oldest_first: reads and writes
/// have a queue each, writes are drained in bursts, the oldest request whose command is legal goes first, and an entry
/// holds its place until its column command (Ramulator, DRAMSys). by_geometry: the latter with pseudo-channels.
enum class Queueing : std::uint8_t { by_geometry, shared_round_robin, split_oldest_first };

struct MemorySpec {
  std::string name = "hbm2-legacy";
  Geometry geometry;
  Timing timing;
  double clock_GHz = 1.0;
  bool dual_command_bus = true;       ///< a row and a column command may share a cycle
  std::uint32_t activate_cycles = 1;  ///< of ACT on the row-command bus
  bool refresh = false;
  std::uint32_t queue_depth = 64;  ///< entries of one column access each; of each queue if there are two
  Queueing queueing = Queueing::by_geometry;
  double write_drain_from = 0.7, write_drain_to = 0.4;  ///< part of the write queue: a burst of writes starts, ends
  std::string address_map = "accel";                    ///< bgint, accel or rocol
  std::vector<std::string> address_bits;  ///< in place of address_map: from the lowest, such as "byte:5", "column:3"

  /// Reads and writes in a queue each, of queue_depth entries each.
  bool has_split_queues() const {
    if (queueing == Queueing::by_geometry) return geometry.pseudo_channels > 1;
    return queueing == Queueing::split_oldest_first;
  }
};

}  // namespace t3vp::dram
