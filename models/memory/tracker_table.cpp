#include "memory/tracker_table.h"

#include <algorithm>

namespace t3vp::memory {

TrackerTable::TrackerTable(const TrackerParameters& parameters)
    : sets_(parameters.sets),
      ways_(parameters.ways),
      index_(parameters.index),
      entries_(std::size_t{parameters.sets} * parameters.ways) {}

TrackerTable::Entry* TrackerTable::find(std::uint32_t set, TileName name) {
  Entry* const begin = begin_of(set);
  Entry* const end = begin + ways_;
  Entry* const found = std::find_if(begin, end, [name](const Entry& entry) { return entry.name == name; });
  return found == end ? nullptr : found;
}

TrackerTable::Entry* TrackerTable::room(std::uint32_t set) {
  Entry* const begin = begin_of(set);
  Entry* victim = nullptr;
  for (Entry* entry = begin; entry != begin + ways_; ++entry) {
    if (!entry->used()) return entry;
    if (!entry->loading && (victim == nullptr || entry->last_use < victim->last_use)) victim = entry;
  }
  return victim;
}

std::uint64_t TrackerTable::forget(std::uint16_t chunk) {
  std::uint64_t count = 0;
  for (Entry& entry : entries_)
    if (entry.name.chunk == chunk) entry = Entry{}, ++count;
  return count;
}

}  // namespace t3vp::memory
