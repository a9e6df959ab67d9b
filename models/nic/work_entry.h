// A work entry as it lies in a send queue, and what is wrong with one.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "nic/message_parts.h"
#include "nic/network_parameters.h"
#include "nic/region_table.h"
#include "registers/nic_opcode.h"
#include "registers/nic_syndrome.h"
#include "t3/nic_segment.h"
#include "t3/nic_work_entry.h"

namespace t3vp::nic {

struct WorkEntry {
  static constexpr std::uint32_t inline_most = T3_NIC_WORK_ENTRY_ENTRY_BYTES - T3_NIC_WORK_ENTRY_BYTES;

  t3_nic_work_entry head{};
  static constexpr std::uint32_t segments_most = 2;
  std::array<unsigned char, inline_most> tail{};  ///< segments, inline data, addend or tile

  static WorkEntry from(const unsigned char* bytes);

  NicOpcode opcode() const { return static_cast<NicOpcode>(head.opcode); }
  bool is_signaled() const { return (head.flags & T3_NIC_WORK_ENTRY_FLAGS_SIGNALED) != 0; }
  bool is_fenced() const { return (head.flags & T3_NIC_WORK_ENTRY_FLAGS_FENCE) != 0; }
  bool is_inline() const { return (head.flags & T3_NIC_WORK_ENTRY_FLAGS_INLINE) != 0; }
  bool accumulates() const { return opcode() == NicOpcode::accumulate; }
  /// It brings the peer data.
  bool is_write() const {
    return opcode() == NicOpcode::write || opcode() == NicOpcode::write_immediate || accumulates();
  }
  /// Returns whether a result comes back, as for reads and fetch-and-adds.
  bool has_result() const { return opcode() == NicOpcode::read || opcode() == NicOpcode::fetch_add; }
  /// Returns the number of segments, at most as many as fit; an entry with more is refused.
  std::uint32_t segments() const { return is_inline() ? 0 : std::min<std::uint32_t>(head.segments, segments_most); }
  t3_nic_segment segment(std::uint32_t i) const;
  std::uint64_t addend() const { return t3_number_at(tail.data(), 8); }
  t3_nic_tile tile() const { return t3_nic_tile_from(tail.data() + T3_NIC_SEGMENT_ENTRY_BYTES); }
  std::uint64_t bytes() const;
  /// Returns the parts of the message's `bytes` bytes from `offset` on.
  std::vector<MessagePart> parts(std::uint64_t offset, std::uint32_t bytes) const;
};

struct EntryFault {
  NicSyndrome syndrome = NicSyndrome::ok;
  std::uint64_t address = 0;  ///< of the segment
  std::string text;           ///< found and expected
};

/// Returns the fault that this NIC can find before it sends anything. The entry should be number `number` of the queue
/// pair.
EntryFault check(const WorkEntry& entry, std::uint32_t queue_pair, std::uint32_t number, const RegionTable& regions,
                 const NicParameters& parameters);

}  // namespace t3vp::nic
