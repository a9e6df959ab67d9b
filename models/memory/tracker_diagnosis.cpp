// The Tracker's diagnosis of chunks that lack accesses.
#include <fmt/format.h>

#include <algorithm>

#include "memory/tracker.h"

namespace t3vp::memory {

/// Reads the counted bytes of an incomplete tile; returns false when there are none.
bool Tracker::counted_of(TileName name, std::uint64_t& local, std::uint64_t& incoming) const {
  local = incoming = 0;
  bool any = false;
  for (const Entry& entry : table_.entries())
    if (entry.name == name) any = true, local = entry.local, incoming = entry.incoming;
  const Chunk& chunk = chunks_[name.chunk];
  if (!chunk.spilled[name.tile]) return any;
  Slot slot{};
  tlm::tlm_generic_payload access;
  access.set_read();
  access.set_address(slot_address(name));
  access.set_data_ptr(reinterpret_cast<unsigned char*>(&slot));
  access.set_data_length(sizeof slot);
  spill->transport_dbg(access);
  local += slot.local;
  incoming += slot.incoming;
  return true;
}

std::vector<Tracker::Shortage> Tracker::shortages() const {
  std::vector<Shortage> shortages;
  for (std::size_t place = 0; place < chunks_.size(); ++place)
    if (chunks_[place].mapped && chunks_[place].complete < chunks_[place].tiles)
      shortages.push_back(shortage_of(static_cast<std::uint16_t>(place)));
  return shortages;
}

Tracker::Shortage Tracker::shortage_of(std::uint16_t place) const {
  const Chunk& chunk = chunks_[place];
  const std::uint32_t bytes = bytes_of(chunk.range.grid.element);
  Shortage shortage{
      chunk.range,         chunk.updates,          chunk.tiles,      chunk.complete, chunk.expected / bytes,
      chunk.local / bytes, chunk.incoming / bytes, chunk.range.first};
  TileName first{place, static_cast<std::uint32_t>(chunk.slots())};
  for (const Entry& entry : table_.entries())
    if (entry.name.chunk == place) first.tile = std::min(first.tile, entry.name.tile);
  const auto spilled = std::find(chunk.spilled.begin(), chunk.spilled.end(), true);
  first.tile = std::min(first.tile, static_cast<std::uint32_t>(spilled - chunk.spilled.begin()));
  if (first.tile == chunk.slots()) {
    first.tile = chunk.first_untouched();
  } else {
    counted_of(first, shortage.tile_local, shortage.tile_incoming);
    shortage.tile_local /= bytes;
    shortage.tile_incoming /= bytes;
  }
  shortage.wg_id = chunk.wg_of(first.tile);
  shortage.wf_id = chunk.wf_of(first.tile);
  shortage.address = chunk.address(first.tile);
  shortage.mapped_at = chunk.mapped_at;
  shortage.tile_elements = chunk.rectangle(first.tile).elements();
  for (auto given = chunk.given.lower_bound({first.tile, 0});
       given != chunk.given.end() && given->first.first == first.tile; ++given) {
    shortage.tile_given.resize(given->first.second + 1u);
    shortage.tile_given.back() = given->second / bytes;
  }
  return shortage;
}

std::vector<std::string> Tracker::contents() const {
  std::vector<std::string> lines;
  for (const Chunk& chunk : chunks_) {
    if (!chunk.mapped) continue;
    const std::uint32_t bytes = bytes_of(chunk.range.grid.element);
    lines.push_back(fmt::format(
        "Tracker counts {}: {} of {} wavefront tiles complete, {} of {} element {}s ({} per element): own "
        "kernels' {}, incoming {}",
        chunk.range.text(), chunk.complete, chunk.tiles, (chunk.local + chunk.incoming) / bytes, chunk.expected / bytes,
        name_of(chunk.operation), chunk.updates, chunk.local / bytes, chunk.incoming / bytes));
  }
  return lines;
}

std::vector<std::string> Tracker::diagnosis() const {
  std::vector<std::string> lines;
  for (const Shortage& shortage : shortages()) lines.push_back(describe(shortage));
  return lines;
}

std::string Tracker::describe(const Shortage& s) const {
  std::string text = fmt::format(
      "GPU {} Tracker: workgroups {} to {}: {} of {} wavefront tiles complete, {} of {} element updates counted "
      "({} per element expected): own kernels' {}, incoming {}",
      gpu_, s.range.first, s.range.first + s.range.count - 1, s.complete, s.tiles, s.local + s.incoming, s.expected,
      s.updates, s.local, s.incoming);
  if (s.tile_local + s.tile_incoming != 0)
    text += fmt::format("; first short entry: workgroup {} wavefront {} at {:#x} has {} local + {} incoming of {}",
                        s.wg_id, s.wf_id, s.address, s.tile_local, s.tile_incoming, s.tile_elements * s.updates);
  return text;
}

}  // namespace t3vp::memory
