#include "cache/write_order.h"

#include <algorithm>

namespace t3vp::cache {

Picoseconds WriteOrder::look_up(std::uint64_t line, std::uint8_t sectors, Picoseconds arrival) const {
  const auto number = static_cast<std::uint32_t>(line);
  for (const Entry& entry : buckets_[bucket_of(number)].entries)
    if (entry.line == number && (entry.sectors & sectors) != 0) arrival = std::max(arrival, entry.arrival + 1);
  return arrival;
}

/// Returns whether the entry found a slot. A line has one entry: all its writes in flight count as one.
bool WriteOrder::insert(const Entry& entry, Picoseconds earliest) {
  Entry* place = nullptr;
  for (Entry& other : buckets_[bucket_of(entry.line)].entries) {
    const bool over = other.arrival < earliest;
    if (!over && other.line == entry.line) {
      other.sectors |= entry.sectors;
      other.arrival = std::max(other.arrival, entry.arrival);
      return true;
    }
    if (over) place = &other;
  }
  if (place != nullptr) *place = entry;
  return place != nullptr;
}

void WriteOrder::add(std::uint64_t line, std::uint8_t sectors, Picoseconds arrival, Picoseconds earliest) {
  latest_ = std::max(latest_, arrival);
  const Entry entry{static_cast<std::uint32_t>(line), sectors, arrival};
  while (!insert(entry, earliest)) {
    const std::vector<Bucket> old = std::move(buckets_);
    buckets_ = std::vector<Bucket>(old.size() * 2);
    --shift_;
    for (const Bucket& bucket : old)
      for (const Entry& other : bucket.entries)
        if (other.arrival >= earliest) insert(other, earliest);
  }
}

}  // namespace t3vp::cache
