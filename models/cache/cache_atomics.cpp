// Updates that the last-level cache adds itself (T3 7.4: system-wide atomics), and what keeps such a cache coherent.
#include <algorithm>
#include <utility>

#include "cache/last_level_cache.h"
#include "cache/sector_mask.h"
#include "protocol/address_map.h"
#include "protocol/element.h"

namespace t3vp::cache {

void LastLevelCache::make_atomics() {
  atomic_time_ = cycle_time(parameters_.sector_bytes / parameters_.atomic_bytes_per_cycle, parameters_.clock_GHz);
  dma = std::make_unique<DataTargetSocket<LastLevelCache>>("dma", this, &LastLevelCache::from_engine, from_dma);
  dma_memory = std::make_unique<DataInitiatorSocket<LastLevelCache>>("dma_memory", this, &LastLevelCache::pass_response,
                                                                     from_dma);
  dma->on_debug(&LastLevelCache::debug_peers);
  dma->report_to(registers.errors, registers.description().name);
  dma_memory->on_taken(&LastLevelCache::pass_taken);
}

/// Whether the cache adds it. What memory refuses goes there as it is.
bool LastLevelCache::adds(const tlm::tlm_generic_payload& transaction, const DataExtension& extension) {
  if (!has_atomics() || extension.operation != Operation::update) return false;
  const std::uint64_t element = t3vp::bytes_of(extension.element);
  const bool aligned = transaction.get_address() % element == 0 && extension.shape.row_bytes % element == 0 &&
                       extension.shape.stride % element == 0;
  return aligned && in_memory(transaction.get_address(), extension.shape);
}

void LastLevelCache::update(Sender sender, tlm::tlm_generic_payload& transaction, const DataExtension& extension,
                            Picoseconds time) {
  const std::uint32_t index = begin_load({&transaction, 1, time, tlm::TLM_OK_RESPONSE, Cause::current(), sender, true});
  std::uint32_t offset = 0;
  for (const Piece& piece : pieces_of(transaction.get_address(), extension.shape)) {
    loads_[index].ready = std::max(loads_[index].ready, serve(piece, time, atomic_time_));
    updated_ += piece.sector_count;
    add_or_wait({index, offset, piece}, time);
    offset += static_cast<std::uint32_t>(piece.end - piece.begin);
  }
  blame_banks(loads_[index], time);
  fetch_missing(index, time);
  finish(index);
}

/// Stored bytes of sectors that lack others go to memory first: the sum needs whole sectors.
CacheTags::Slot LastLevelCache::slot_to_update(const Piece& piece, bool real, Picoseconds time) {
  const CacheTags::Slot slot = find_or_allocate(piece.place, real, time);
  if (!tags_.line(slot).partial) return slot;
  write_back(slot, time);
  tags_.drop(slot);
  return find_or_allocate(piece.place, real, time);
}

/// A fill of an update must not be evicted by another one: both would begin again, for ever.
bool LastLevelCache::finds_no_way(const Piece& piece) {
  if (tags_.find(piece.place) != CacheTags::none) return false;
  const CacheTags::Slot slot = tags_.victim(piece.place);
  return tags_.occupied(slot) && tags_.line(slot).pending != 0;
}

/// Adds when all sectors are there. Otherwise the addend waits for a fill that brings some of them, and is tried again
/// then: the line may have been evicted or dropped meanwhile.
void LastLevelCache::add_or_wait(const Addend& addend, Picoseconds time) {
  const Piece& piece = addend.piece;
  if (finds_no_way(piece)) {
    ++loads_[addend.load].pending;
    return without_way_.push_back(addend);
  }
  const bool real = loads_[addend.load].transaction->get_data_ptr() != nullptr;
  const CacheTags::Slot slot = slot_to_update(piece, real, time);
  const auto missing = static_cast<std::uint8_t>(piece.sectors & ~tags_.line(slot).valid);
  if (missing != 0) {
    update_misses_ += count_sectors(missing);
    misses_ -= count_sectors(missing);  // of loads
    miss(piece, slot, missing);
  }
  const std::uint32_t awaited = tags_.line(slot).pending & piece.sectors;
  if (awaited == 0) return add_now(addend, slot);
  const std::uint32_t fill = fill_of(slot, static_cast<unsigned>(__builtin_ctz(awaited)));
  if ((fill & planned) == 0) wait_for(fill, addend.load);
  addends_.push_back({fill, addend});
}

/// Sectors stay whole, so that they are dirty as a whole.
void LastLevelCache::add_now(const Addend& addend, CacheTags::Slot slot) {
  const Piece& piece = addend.piece;
  const tlm::tlm_generic_payload& transaction = *loads_[addend.load].transaction;
  const DataExtension& extension = *transaction.get_extension<DataExtension>();
  CacheTags::Line& held = tags_.line(slot);
  held.dirty |= piece.sectors;
  held.producer = extension.traffic;
  if (transaction.get_data_ptr() == nullptr) return;
  add_elements(extension.element, bytes_of(slot) + piece.begin, transaction.get_data_ptr() + addend.offset,
               static_cast<std::size_t>(piece.end - piece.begin) / t3vp::bytes_of(extension.element));
}

void LastLevelCache::add_what_waited(const std::vector<Addend>& addends, Picoseconds time) {
  for (const Addend& addend : addends) {
    add_or_wait(addend, time);
    fetch_missing(addend.load, time);
  }
}

/// Tries what waits for a way of the sets of these lines again.
void LastLevelCache::add_what_found_no_way(const std::vector<Missing>& filled, Picoseconds time) {
  const auto waits_still = [&](const Addend& addend) {
    return std::none_of(filled.begin(), filled.end(), [&](const Missing& missing) {
      return tags_.place_of(missing.line).set == addend.piece.place.set;
    });
  };
  const auto first = std::stable_partition(without_way_.begin(), without_way_.end(), waits_still);
  const std::vector<Addend> tried(first, without_way_.end());
  without_way_.erase(first, without_way_.end());
  add_what_waited(tried, time);
  for (const Addend& addend : tried) finish(addend.load);
}

/// Memory refuses what is of before the reset.
void LastLevelCache::give_up_updates() {
  for (Fill& fill : fills_) fill.addends.clear();
  for (const Addend& addend : std::exchange(without_way_, {})) finish(addend.load);
}

bool LastLevelCache::holds_dirty_bytes(std::uint64_t address, const Shape& shape) {
  const std::vector<Piece>& pieces = pieces_of(address, shape);
  return std::any_of(pieces.begin(), pieces.end(), [this](const Piece& piece) {
    const CacheTags::Slot slot = tags_.find(piece.place);
    return slot != CacheTags::none && (tags_.line(slot).dirty & piece.sectors) != 0;
  });
}

/// Returns when a store that bypasses the cache may reach memory.
Picoseconds LastLevelCache::drop_overwritten(std::uint64_t address, const Shape& shape, Picoseconds arrival) {
  for (const Piece& piece : pieces_of(address, shape)) {
    drop(piece);
    arrival = order_.after(piece.place.line, piece.sectors, arrival);
  }
  for (const Piece& piece : pieces_) order_.add(piece.place.line, piece.sectors, arrival, now());
  return arrival;
}

/// Loads and stores that bypass a cache with atomics; returns false for everything else. `arrival`: in memory.
bool LastLevelCache::passes_coherently(Sender from, tlm::tlm_generic_payload& transaction, Picoseconds time,
                                       Picoseconds arrival) {
  const DataExtension& extension = extension_of(transaction);
  const std::uint64_t address = transaction.get_address();
  const bool loads = extension.operation == Operation::load;
  if (!has_atomics() || !(loads || extension.operation == Operation::store) || !in_memory(address, extension.shape))
    return false;
  if (loads && holds_dirty_bytes(address, extension.shape)) {
    load(from, transaction, extension, time);
    return true;
  }
  if (loads)
    for (const Piece& piece : pieces_of(address, extension.shape))
      arrival = order_.after(piece.place.line, piece.sectors, arrival);
  else
    arrival = drop_overwritten(address, extension.shape, arrival);
  way_to_memory(from).send(transaction, arrival - now());
  return true;
}

/// The engine's accesses have come as far as the memory's latency.
void LastLevelCache::from_engine(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  if (!passes_coherently(from_dma, transaction, now() + delay, now() + delay)) dma_memory->send(transaction, delay);
}

}  // namespace t3vp::cache
