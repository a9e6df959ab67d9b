// Loads of the last-level cache: what hits, what is fetched, and who waits for it.
#include <algorithm>
#include <cstring>

#include "cache/last_level_cache.h"
#include "cache/sector_mask.h"

namespace t3vp::cache {
namespace {

template <typename Value>
std::uint32_t take(std::vector<Value>& all, std::vector<std::uint32_t>& free) {
  if (free.empty()) {
    all.emplace_back();
    return static_cast<std::uint32_t>(all.size() - 1);
  }
  const std::uint32_t index = free.back();
  free.pop_back();
  return index;
}

/// Returns the offset of the byte at an address in the packed data of a 2-D access.
std::uint64_t offset_in(std::uint64_t begin, const Shape& shape, std::uint64_t address) {
  const std::uint64_t distance = address - begin;
  const std::uint64_t row = shape.rows == 1 ? 0 : std::min<std::uint64_t>(distance / shape.stride, shape.rows - 1);
  return row * shape.row_bytes + distance - row * shape.stride;
}

unsigned lowest(std::uint32_t mask) { return static_cast<unsigned>(__builtin_ctz(mask)); }

}  // namespace

std::uint32_t LastLevelCache::begin_load(const Load& load) {
  const std::uint32_t index = take(loads_, free_loads_);
  loads_[index] = load;
  load.transaction->acquire();
  return index;
}

void LastLevelCache::load(Sender sender, tlm::tlm_generic_payload& transaction, const DataExtension& extension,
                          Picoseconds time) {
  const bool real = transaction.get_data_ptr() != nullptr;
  // Functional loads copy the bytes of each line. A cache with atomics changes lines in more ways than break groups.
  const bool may_be_block = !real && !has_atomics() && LoadedBlocks::may_be_block(extension.shape);
  if (may_be_block && load_block(sender, transaction, extension.shape, time)) return;
  const std::uint32_t index =
      begin_load({&transaction, 1, time, tlm::TLM_OK_RESPONSE, Cause::current(), sender, false});
  std::uint32_t offset = 0;
  for (const Piece& piece : pieces_of(transaction.get_address(), extension.shape)) {
    const CacheTags::Slot slot = load_piece(piece, index, real, time);
    if (real) copy_out(piece, slot, index, offset);
    if (noted_ != nullptr) slots_.push_back(slot);
    offset += static_cast<std::uint32_t>(piece.end - piece.begin);
  }
  blame_banks(loads_[index], time);
  if (noted_ != nullptr) note_block();
  fetch_missing(index, time);
  finish(index);
}

/// Answers a load of a block whose lines are all here (loaded_blocks.h). Returns false when there is none; then the
/// load is to be noted.
bool LastLevelCache::load_block(Sender sender, tlm::tlm_generic_payload& transaction, const Shape& shape,
                                Picoseconds time) {
  const std::uint64_t begin = address_map::local_of(transaction.get_address());
  LoadedBlock* const block = blocks_.find(begin, shape, tags_);
  if (block == nullptr) {
    noted_ = &blocks_.begin(begin, shape);
    slots_.clear();
    return false;
  }
  tags_.use_group(block->group);
  const std::uint32_t index =
      begin_load({&transaction, 1, time, tlm::TLM_OK_RESPONSE, Cause::current(), sender, false});
  Load& load = loads_[index];
  for (const LoadedBlock::Share& share : block->shares) {
    Picoseconds& free = bank_free_[share.bank];
    free = std::max(free, time) + share.sectors * sector_time_;
    load.ready = std::max(load.ready, free);
    asked_ += share.sectors;
  }
  blame_banks(load, time);
  const auto has_come = [this](const LoadedBlock::Fill& fill) { return fills_[fill.index].number != fill.number; };
  block->fills.erase(std::remove_if(block->fills.begin(), block->fills.end(), has_come), block->fills.end());
  for (const LoadedBlock::Fill& fill : block->fills) wait_for(fill.index, index);
  last_waited_fill_ = last_waiting_load_ = none;
  finish(index);
  return true;
}

/// Keeps what the tags have said about the load at hand, if all of its lines have stayed.
void LastLevelCache::note_block() {
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (!tags_.holds(slots_[i], pieces_[i].place.line)) {
      noted_ = nullptr;
      return;
    }
  noted_->group = tags_.group(slots_);
  for (const Piece& piece : pieces_) of_banks_[piece.place.bank] += piece.sector_count;
  for (const Piece& piece : pieces_) {
    std::uint32_t& sectors = of_banks_[piece.place.bank];
    if (sectors != 0) noted_->shares.push_back({piece.place.bank, sectors});
    sectors = 0;
  }
}

/// A load whose access has come to the banks at `time` waits for them until it is ready.
void LastLevelCache::blame_banks(Load& load, Picoseconds time) {
  load.cause.extend(time, Part::dram_latency);
  load.cause.extend(load.ready, Part::cache_bandwidth);
}

/// Plans and sends the fills of what was noted as missing, and forgets the notes.
void LastLevelCache::fetch_missing(std::uint32_t load, Picoseconds time) {
  const tlm::tlm_generic_payload& transaction = *loads_[load].transaction;
  std::uint32_t next = plan_fills(load);
  last_waited_fill_ = last_waiting_load_ = none;
  gaps_.clear();
  missing_.clear();
  copies_.clear();
  addends_.clear();
  noted_ = nullptr;
  // An answer may come within the call and bring further loads.
  while (next != none) {
    const std::uint32_t fill = next;
    next = fills_[fill].next;
    fetch(fill, transaction, time);
  }
}

CacheTags::Slot LastLevelCache::load_piece(const Piece& piece, std::uint32_t load, bool real, Picoseconds time) {
  loads_[load].ready = std::max(loads_[load].ready, serve(piece, time));
  const CacheTags::Slot slot = find_or_allocate(piece.place, real, time);
  const CacheTags::Line& held = tags_.line(slot);
  auto missing = static_cast<std::uint8_t>(piece.sectors & ~held.valid);
  if ((missing & held.dirty) != 0)
    missing = static_cast<std::uint8_t>(missing & ~stored_sectors(piece, slot, missing & held.dirty));
  for (std::uint32_t awaited = held.pending & piece.sectors; awaited != 0; awaited &= awaited - 1) {
    const std::uint32_t fill = fill_of(slot, lowest(awaited));
    if ((fill & planned) == 0) wait_for(fill, load);
  }
  asked_ += piece.sector_count;
  if (missing != 0) miss(piece, slot, missing);
  return slot;
}

/// Finds those sectors, among some that cannot be read whole, whose bytes that the piece asks for were all stored.
std::uint8_t LastLevelCache::stored_sectors(const Piece& piece, CacheTags::Slot slot, std::uint32_t sectors) const {
  std::uint8_t result = 0;
  for (std::uint32_t left = sectors; left != 0; left &= left - 1) {
    const std::uint32_t sector = lowest(left), begin = sector << sector_bits_;
    const std::uint32_t from = std::max<std::uint32_t>(piece.begin, begin);
    const std::uint32_t to = std::min<std::uint32_t>(piece.end, begin + parameters_.sector_bytes);
    if (dirty_bytes_.contains(slot, from, to)) result |= static_cast<std::uint8_t>(1u << sector);
  }
  return result;
}

/// Missing sectors become pending, without a fill until plan_fills(). Sectors between two missing ones of a line are
/// read along with them.
void LastLevelCache::miss(const Piece& piece, CacheTags::Slot slot, std::uint8_t missing) {
  const std::uint64_t line = piece.place.line;
  CacheTags::Line& held = tags_.line(slot);
  misses_ += count_sectors(missing);
  held.valid |= missing;
  held.pending |= missing;
  for (std::uint32_t left = missing; left != 0; left &= left - 1)
    fill_of(slot, lowest(left)) = planned | static_cast<std::uint32_t>(missing_.size());

  const std::uint64_t begin = line * parameters_.line_bytes + std::uint64_t{lowest(missing)} * parameters_.sector_bytes;
  const std::uint64_t end = line * parameters_.line_bytes +
                            static_cast<std::uint64_t>(32 - __builtin_clz(missing)) * parameters_.sector_bytes;
  if (gaps_.empty() || gaps_.back().end != begin) gaps_.push_back({begin, begin, 0});
  gaps_.back().end = end;
  ++gaps_.back().lines;
  Missing& added = missing_.emplace_back();  // in its place: a copy would wait for the stores of its parts
  added.slot = slot;
  added.sectors = missing;
  added.line = line;
}

/// Copies to the load what the line holds: readable sectors, and stored bytes of sectors in flight. The other bytes of
/// those sectors follow with their fill.
void LastLevelCache::copy_out(const Piece& piece, CacheTags::Slot slot, std::uint32_t load, std::uint32_t offset) {
  const CacheTags::Line& held = tags_.line(slot);
  unsigned char* data = loads_[load].transaction->get_data_ptr() + offset;
  const unsigned char* bytes = bytes_of(slot);
  if ((held.pending & piece.sectors) == 0) {
    std::memcpy(data, bytes + piece.begin, piece.end - piece.begin);
    return;
  }
  const std::uint64_t line = piece.place.line * parameters_.line_bytes;
  for (std::uint32_t at = piece.begin; at < piece.end;) {
    const std::uint32_t sector = at >> sector_bits_;
    const std::uint32_t to = std::min<std::uint32_t>(piece.end, (sector + 1) << sector_bits_);
    const bool pending = (held.pending >> sector & 1) != 0, stored = (held.dirty >> sector & 1) != 0;
    while (at < to) {
      // A sector is copied as a whole, unless some of its bytes were stored while its fill is in flight.
      const std::uint32_t from = at - piece.begin, count = pending && stored ? 1 : to - at;
      if (!pending || (stored && is_dirty(slot, at)))
        std::memcpy(data + from, bytes + at, count);
      else
        copy_when_filled(fill_of(slot, sector), load, offset + from, line + at, count);
      at += count;
    }
  }
}

void LastLevelCache::copy_when_filled(std::uint32_t fill, std::uint32_t load, std::uint32_t offset,
                                      std::uint64_t address, std::uint32_t bytes) {
  if (!copies_.empty()) {
    Copy& last = copies_.back();
    if (last.fill == fill && last.offset + last.bytes == offset && last.address + last.bytes == address) {
      last.bytes += bytes;
      return;
    }
  }
  copies_.push_back({fill, load, offset, bytes, address});
}

/// Equal gaps at equal distances, such as the rows of a tile, are read by one fill. The first of the load's fills.
std::uint32_t LastLevelCache::plan_fills(std::uint32_t load) {
  std::uint32_t first_fill = none, last_fill = none;
  std::uint32_t line = 0;
  planned_fills_.clear();
  for (auto first = gaps_.cbegin(); first != gaps_.cend();) {
    auto next = first + 1;
    const std::uint64_t stride = next == gaps_.cend() ? 0 : next->begin - first->begin;
    while (next != gaps_.cend() && next->bytes() == first->bytes() && next->begin - (next - 1)->begin == stride) ++next;
    const std::uint32_t index = take(fills_, free_fills_);
    (last_fill == none ? first_fill : fills_[last_fill].next) = index;
    last_fill = index;
    Fill& fill = fills_[index];
    const auto rows = static_cast<std::uint32_t>(next - first);
    fill.begin = first->begin;
    fill.shape = {rows, static_cast<std::uint32_t>(first->bytes()), rows == 1 ? 0 : stride};
    fill.first_waiter = fill.next = none;
    fill.number = ++fills_made_;
    fill.lines.clear();
    fill.copies.clear();
    fill.addends.clear();
    for (; first != next; ++first)
      for (const std::uint32_t end = line + static_cast<std::uint32_t>(first->lines); line != end; ++line) {
        const Missing& missing = missing_[line];
        fill.lines.push_back(missing);
        planned_fills_.push_back(index);
        for (std::uint32_t left = missing.sectors; left != 0; left &= left - 1) {
          std::uint32_t& brought_by = fill_of(missing.slot, lowest(left));
          if (brought_by == (planned | line)) brought_by = index;
        }
      }
    wait_for(index, load);
  }
  const auto fill_of_number = [this](std::uint32_t fill) -> Fill& {
    return fills_[(fill & planned) != 0 ? planned_fills_[fill & ~planned] : fill];
  };
  for (const Copy& copy : copies_) fill_of_number(copy.fill).copies.push_back(copy);
  for (const WaitingAddend& waiting : addends_) fill_of_number(waiting.fill).addends.push_back(waiting.addend);
  return first_fill;
}

void LastLevelCache::wait_for(std::uint32_t fill, std::uint32_t load) {
  if (fill == last_waited_fill_ && load == last_waiting_load_) return;
  last_waited_fill_ = fill;
  last_waiting_load_ = load;
  const std::uint32_t waiter = take(waiters_, free_waiters_);
  waiters_[waiter] = {load, fills_[fill].first_waiter};
  fills_[fill].first_waiter = waiter;
  ++loads_[load].pending;
  if (noted_ != nullptr) noted_->fills.push_back({fill, fills_[fill].number});
}

/// For the load.
void LastLevelCache::fetch(std::uint32_t index, const tlm::tlm_generic_payload& load, Picoseconds time) {
  const Fill& fill = fills_[index];
  Picoseconds arrival = time + memory_latency_;
  for (const Missing& missing : fill.lines) arrival = order_.after(missing.line, missing.sectors, arrival);
  Transaction& access = pool_.make(Operation::load, base_ + fill.begin, fill.shape);
  const DataExtension& extension = *load.get_extension<DataExtension>();
  access.extension().traffic = extension.traffic;
  access.extension().real = extension.real;
  if (has_atomics()) access.extension().stream = extension.stream;
  access.extension().token = index;
  if (load.get_data_ptr() != nullptr) access.attach_buffer();
  memory.send(access, arrival - now());
}

void LastLevelCache::memory_response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  const auto index = static_cast<std::uint32_t>(extension_of(transaction).token);
  if (index == none) return written_back(transaction);
  const Picoseconds time = now() + delay;
  // A hit from now on is answered after the cache's latency at the earliest, so only a fill that is announced further
  // ahead has to wait for its time.
  if (time > now() + parameters_.latency)
    late_fills_.push(time, {index, &transaction});
  else
    filled(index, time, transaction);
}

void LastLevelCache::late_fill() {
  while (late_fills_.ready()) {
    const LateFill fill = late_fills_.pop();
    filled(fill.index, now(), *fill.transaction);
  }
  late_fills_.arm();
}

void LastLevelCache::filled(std::uint32_t index, Picoseconds time, tlm::tlm_generic_payload& transaction) {
  const tlm::tlm_response_status response = transaction.get_response_status();
  const bool failed = response != tlm::TLM_OK_RESPONSE;
  const Cause cause = Cause::current();
  const Fill& fill = fills_[index];
  constexpr std::size_t ahead = 8;
  for (std::size_t i = 0; i < fill.lines.size(); ++i) {
    if (i + ahead < fill.lines.size()) prefetch(fill.lines[i + ahead].slot);
    settle(index, fill.lines[i], transaction);
  }
  const std::vector<Missing> filled_lines = without_way_.empty() ? std::vector<Missing>() : fill.lines;
  const std::vector<Addend> addends = failed ? std::vector<Addend>() : std::move(fills_[index].addends);
  if (!failed)
    for (const Copy& copy : fill.copies)
      std::memcpy(loads_[copy.load].transaction->get_data_ptr() + copy.offset,
                  transaction.get_data_ptr() + offset_in(fill.begin, fill.shape, copy.address), copy.bytes);
  transaction.release();
  std::uint32_t waiter = fill.first_waiter;
  fills_[index].number = 0;
  free_fills_.push_back(index);
  if (!addends.empty()) add_what_waited(addends, time);
  if (!filled_lines.empty()) add_what_found_no_way(filled_lines, time);
  while (waiter != none) {
    const Waiter entry = waiters_[waiter];
    free_waiters_.push_back(waiter);
    Load& load = loads_[entry.load];
    load.ready = std::max(load.ready, time);
    load.cause.follow(cause);
    if (failed) load.response = response;
    finish(entry.load);
    waiter = entry.next;
  }
}

/// Puts what the fill has brought into the line, except bytes that were stored in the meantime and sectors that were
/// dropped.
void LastLevelCache::settle(std::uint32_t index, const Missing& missing, const tlm::tlm_generic_payload& transaction) {
  const CacheTags::Slot slot = missing.slot;
  if (!tags_.holds(slot, missing.line)) return;
  CacheTags::Line& held = tags_.line(slot);
  std::uint8_t brought = 0;
  for (std::uint32_t left = missing.sectors & held.pending; left != 0; left &= left - 1)
    if (fill_of(slot, lowest(left)) == index) brought |= static_cast<std::uint8_t>(1u << lowest(left));
  held.pending = static_cast<std::uint8_t>(held.pending & ~brought);
  if (!transaction.is_response_ok()) {
    held.valid = static_cast<std::uint8_t>(held.valid & (~brought | stored_whole(slot)));
    tags_.break_groups(slot);
    return;
  }
  if (transaction.get_data_ptr() == nullptr) return;
  const Fill& fill = fills_[index];
  for (std::uint32_t left = brought; left != 0; left &= left - 1) {
    const std::uint32_t sector = lowest(left), begin = sector << sector_bits_;
    const unsigned char* data =
        transaction.get_data_ptr() + offset_in(fill.begin, fill.shape, missing.line * parameters_.line_bytes + begin);
    const bool stored = (held.dirty >> sector & 1) != 0;
    for (std::uint32_t i = 0; stored && i < parameters_.sector_bytes; ++i)
      if (!is_dirty(slot, begin + i)) bytes_of(slot)[begin + i] = data[i];
    if (!stored) std::memcpy(bytes_of(slot) + begin, data, parameters_.sector_bytes);
  }
}

void LastLevelCache::finish(std::uint32_t index) {
  Load& load = loads_[index];
  if (--load.pending != 0) return;
  tlm::tlm_generic_payload& transaction = *load.transaction;
  const Picoseconds delay = std::max(load.ready, now()) - now();
  const bool goes_on = load.is_update && load.response == tlm::TLM_OK_RESPONSE;
  const Sender from = load.sender;
  if (!goes_on) transaction.set_response_status(load.response);
  free_loads_.push_back(index);
  Cause::current() = std::move(load.cause);
  if (goes_on)
    way_to_memory(from).send(transaction, delay + memory_latency_);
  else
    sender(from).respond(transaction, delay);
  transaction.release();
}

}  // namespace t3vp::cache
