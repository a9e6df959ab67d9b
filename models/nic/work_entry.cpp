#include "nic/work_entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace t3vp::nic {
namespace {

constexpr std::uint32_t add_bytes = 8;
constexpr std::uint8_t flags_known =
    T3_NIC_WORK_ENTRY_FLAGS_SIGNALED | T3_NIC_WORK_ENTRY_FLAGS_FENCE | T3_NIC_WORK_ENTRY_FLAGS_INLINE;

EntryFault check_head(const t3_nic_work_entry& head, std::uint32_t queue_pair, std::uint32_t number) {
  const auto fault = [](std::string text) { return EntryFault{NicSyndrome::local_operation, 0, std::move(text)}; };
  if (head.index != (number & 0xFFFF))
    return fault(
        fmt::format("index {}: {} expected, the entry's place has not been written", head.index, number & 0xFFFF));
  if (head.queue_pair != queue_pair)
    return fault(fmt::format("queue pair {}: {} expected", head.queue_pair, queue_pair));
  if ((head.flags & ~flags_known) != 0)
    return fault(fmt::format("flags {:#x}: bits of {:#x} only expected", head.flags, flags_known));
  if (head.reserved != 0 || head.reserved_too != 0) return fault("reserved fields are not 0");
  switch (static_cast<NicOpcode>(head.opcode)) {
    case NicOpcode::write:
    case NicOpcode::write_immediate:
    case NicOpcode::read:
    case NicOpcode::fetch_add:
    case NicOpcode::accumulate:
      return {};
    default:
      return fault(
          fmt::format("opcode {}: write, write_immediate, read, fetch_add or accumulate expected", head.opcode));
  }
}

EntryFault check_tile(const WorkEntry& entry) {
  const auto fault = [](std::string text) { return EntryFault{NicSyndrome::local_operation, 0, std::move(text)}; };
  const t3_nic_tile tile = entry.tile();
  if (tile.reserved != 0) return fault("reserved fields are not 0");
  if (tile.element > static_cast<std::uint8_t>(ElementType::fp32))
    return fault(fmt::format("element {}: fp16, bf16 or fp32 expected", tile.element));
  const std::uint32_t element = bytes_of(static_cast<ElementType>(tile.element));
  const std::uint64_t bytes = entry.bytes();
  if (bytes == 0 || tile.row_bytes == 0 || tile.row_bytes % element != 0 || bytes % tile.row_bytes != 0)
    return fault(fmt::format("{} bytes in rows of {}: 1 whole row or more of {}-byte elements expected", bytes,
                             tile.row_bytes, element));
  if (bytes != tile.row_bytes && (tile.row_stride < tile.row_bytes || tile.row_stride % element != 0))
    return fault(fmt::format("rows of {} bytes, {} apart: {} or more, whole {}-byte elements, expected", tile.row_bytes,
                             tile.row_stride, tile.row_bytes, element));
  return {};
}

EntryFault check_lengths(const WorkEntry& entry, const NicParameters& parameters) {
  const auto fault = [](std::string text) { return EntryFault{NicSyndrome::local_length, 0, std::move(text)}; };
  if (entry.is_inline() && (!entry.is_write() || entry.accumulates()))
    return fault(fmt::format("{} with inline data: segments expected", name_of(entry.opcode())));
  if (entry.is_inline() && entry.head.inline_bytes > WorkEntry::inline_most)
    return fault(fmt::format("{} inline bytes: at most {} expected", entry.head.inline_bytes, WorkEntry::inline_most));
  if (entry.is_inline()) return {};
  if (entry.opcode() == NicOpcode::fetch_add) {
    if (entry.head.segments != 1)
      return fault(fmt::format("fetch_add with {} segments: 1 expected", entry.head.segments));
    if (entry.segment(0).bytes != add_bytes)
      return fault(fmt::format("fetch_add with a result of {} bytes: 8 expected", entry.segment(0).bytes));
    return {};
  }
  if (entry.accumulates() && entry.head.segments != 1)
    return fault(fmt::format("accumulate with {} segments: 1 expected", entry.head.segments));
  if (entry.head.segments > WorkEntry::segments_most)
    return fault(fmt::format("{} segments: at most {} expected", entry.head.segments, WorkEntry::segments_most));
  if (entry.bytes() > parameters.message_bytes)
    return fault(fmt::format("{} bytes: at most {} expected", entry.bytes(), parameters.message_bytes));
  return {};
}

}  // namespace

WorkEntry WorkEntry::from(const unsigned char* bytes) {
  WorkEntry entry;
  entry.head = t3_nic_work_entry_from(bytes);
  std::memcpy(entry.tail.data(), bytes + T3_NIC_WORK_ENTRY_BYTES, inline_most);
  return entry;
}

t3_nic_segment WorkEntry::segment(std::uint32_t i) const {
  const std::uint32_t place = opcode() == NicOpcode::fetch_add ? 1 : i;
  return t3_nic_segment_from(tail.data() + place * T3_NIC_SEGMENT_ENTRY_BYTES);
}

std::uint64_t WorkEntry::bytes() const {
  if (is_inline()) return head.inline_bytes;
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < segments(); ++i) sum += segment(i).bytes;
  return sum;
}

std::vector<MessagePart> WorkEntry::parts(std::uint64_t offset, std::uint32_t bytes) const {
  if (accumulates()) return parts_of(tile(), segment(0).address, offset, bytes);
  std::vector<MessagePart> parts;
  std::uint64_t begin = 0;  // of the segment in the message
  for (std::uint32_t i = 0; i < segments(); ++i) {
    const t3_nic_segment s = segment(i);
    const std::uint64_t from = std::max(begin, offset), to = std::min(begin + s.bytes, offset + bytes);
    const auto length = static_cast<std::uint32_t>(to - from);
    if (from < to)
      parts.push_back({{s.address + (from - begin), {1, length, length}}, static_cast<std::uint32_t>(from - offset)});
    begin += s.bytes;
  }
  return parts;
}

EntryFault check(const WorkEntry& entry, std::uint32_t queue_pair, std::uint32_t number, const RegionTable& regions,
                 const NicParameters& parameters) {
  if (EntryFault fault = check_head(entry.head, queue_pair, number); fault.syndrome != NicSyndrome::ok) return fault;
  if (EntryFault fault = check_lengths(entry, parameters); fault.syndrome != NicSyndrome::ok) return fault;
  if (entry.accumulates())
    if (EntryFault fault = check_tile(entry); fault.syndrome != NicSyndrome::ok) return fault;
  for (std::uint32_t i = 0; i < entry.segments(); ++i) {
    const t3_nic_segment segment = entry.segment(i);
    const Use use = entry.is_write() ? Use::local_read : Use::local_write;
    const std::uint64_t covered = entry.accumulates() ? extent_of(entry.tile(), segment.bytes) : segment.bytes;
    if (Refusal found = regions.validate(segment.key, segment.address, covered, use))
      return {NicSyndrome::local_protection, segment.address, std::move(found.text)};
  }
  return {};
}

}  // namespace t3vp::nic
