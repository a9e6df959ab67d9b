#include "compute/last_level_cache.h"

#include <algorithm>

#include "protocol/address_map.h"

namespace t3vp {
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

/// Of a mask of up to eight sectors.
std::uint64_t count_sectors(std::uint32_t mask) {
  constexpr std::uint64_t nibbles = 0x4332322132212110;  // bits set in 0 to 15, four bits each
  return (nibbles >> (mask % 16 * 4) & 15) + (nibbles >> (mask / 16 * 4) & 15);
}

}  // namespace

LastLevelCache::LastLevelCache(const sc_core::sc_module_name& name, const CacheParameters& parameters,
                               Picoseconds memory_latency, std::uint16_t gpu)
    : sc_module(name),
      parameters_(parameters),
      memory_latency_(memory_latency),
      sector_time_(cycle_time(parameters.sector_bytes / parameters.bank_bytes_per_cycle, parameters.clock_GHz)),
      base_(address_map::on_gpu(gpu, 0)),
      sector_bits_(static_cast<unsigned>(__builtin_ctz(parameters.sector_bytes))),
      line_sector_bits_(static_cast<unsigned>(__builtin_ctz(parameters.line_bytes / parameters.sector_bytes))),
      tags_(parameters),
      bank_free_(parameters.banks) {
  for (DataTargetSocket<LastLevelCache>* socket : {&compute, &peers}) {
    socket->on_debug(&LastLevelCache::debug);
    socket->report_to(registers.errors, registers.description().name);
  }
  registers.command.on_write([this] {
    if (registers.command.action() == registers::Cache::Command::Action::flush) flush();
  });
  registers.status.on_refresh([this] { registers.status.busy.set(write_backs_under_way_ != 0); });

  SC_HAS_PROCESS(LastLevelCache);
  SC_METHOD(late_fill);
  sensitive << late_fills_.event();
  dont_initialize();
}

unsigned LastLevelCache::debug(int, tlm::tlm_generic_payload& transaction) {
  return memory->transport_dbg(transaction);
}

const std::vector<LastLevelCache::Piece>& LastLevelCache::pieces_of(std::uint64_t address, const Shape& shape) {
  const std::uint64_t per_line = std::uint64_t{1} << line_sector_bits_;
  const bool contiguous = shape.rows == 1 || shape.stride == shape.row_bytes;
  const std::uint32_t rows = contiguous ? 1 : shape.rows;
  const std::uint64_t row_bytes = contiguous ? shape.bytes() : shape.row_bytes;
  std::uint64_t begin = address_map::local_of(address);
  pieces_.clear();
  for (std::uint32_t row = 0; row < rows; ++row, begin += shape.stride) {
    const std::uint64_t end = (begin + row_bytes + parameters_.sector_bytes - 1) >> sector_bits_;
    for (std::uint64_t sector = begin >> sector_bits_; sector < end;) {
      const std::uint64_t first = sector & (per_line - 1), count = std::min(per_line - first, end - sector);
      Piece& piece = pieces_.emplace_back();
      piece.place = tags_.place_of(sector >> line_sector_bits_);
      piece.sectors = static_cast<std::uint8_t>(((1u << count) - 1) << first);
      sector += count;
    }
  }
  return pieces_;
}

void LastLevelCache::from_compute(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  const DataExtension& extension = extension_of(transaction);
  const Picoseconds time = now() + delay + parameters_.latency;
  // Updates are defined where the data is, so they never stop in the cache. What the memory would refuse must not hit
  // here, so it goes there too.
  const bool cacheable = extension.cached && extension.operation != Operation::update &&
                         extension.operation != Operation::wait &&
                         debug(0, transaction) == transaction.get_data_length();
  if (!cacheable) {
    transaction.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    bypass.send(transaction, time + memory_latency_ - now());
  } else if (extension.operation == Operation::load) {
    load(transaction, extension, time);
  } else {
    store(transaction, extension, time);
  }
}

/// Time at which a bank has moved the sectors of one line.
Picoseconds LastLevelCache::serve(const Piece& piece, Picoseconds time) {
  Picoseconds& free = bank_free_[piece.place.bank];
  free = std::max(free, time) + count_sectors(piece.sectors) * sector_time_;
  return free;
}

void LastLevelCache::load(tlm::tlm_generic_payload& transaction, const DataExtension& extension, Picoseconds time) {
  const std::uint32_t index = take(loads_, free_loads_);
  loads_[index] = {&transaction, 1, time};
  transaction.acquire();
  gaps_.clear();
  missing_.clear();
  for (const Piece& piece : pieces_of(transaction.get_address(), extension.shape)) load_piece(piece, index, time);
  fetch(index, time, extension.traffic);
  last_waited_fill_ = last_waiting_load_ = none;
  finish(index);
}

/// Missing sectors become pending, their line without a fill until fetch(). Sectors between two missing ones of a line
/// are read along with them.
void LastLevelCache::load_piece(const Piece& piece, std::uint32_t load, Picoseconds time) {
  const std::uint64_t line = piece.place.line;
  const std::uint8_t sectors = piece.sectors;
  loads_[load].ready = std::max(loads_[load].ready, serve(piece, time));
  const CacheTags::Slot slot = find_or_allocate(piece.place, time);
  CacheTags::Line* held = &tags_.line(slot);
  if ((held->pending & sectors) != 0 && tags_.fill(slot) != CacheTags::no_fill) wait_for(tags_.fill(slot), load);
  const std::uint8_t missing = static_cast<std::uint8_t>(sectors & ~held->valid);
  hits_ += count_sectors(sectors & held->valid);
  if (missing == 0) return;
  misses_ += count_sectors(missing);
  held->valid |= missing;
  held->pending |= missing;
  tags_.fill(slot) = CacheTags::no_fill;

  const std::uint64_t begin =
      line * parameters_.line_bytes + static_cast<std::uint64_t>(__builtin_ctz(missing)) * parameters_.sector_bytes;
  const std::uint64_t end = line * parameters_.line_bytes +
                            static_cast<std::uint64_t>(32 - __builtin_clz(missing)) * parameters_.sector_bytes;
  if (gaps_.empty() || gaps_.back().end != begin) gaps_.push_back({begin, begin, 0});
  gaps_.back().end = end;
  ++gaps_.back().lines;
  missing_.push_back({slot, line});
}

/// Equal gaps at equal distances, such as the rows of a tile, are read by one fill.
void LastLevelCache::fetch(std::uint32_t load, Picoseconds time, TrafficClass traffic) {
  auto line = missing_.cbegin();
  for (auto first = gaps_.cbegin(); first != gaps_.cend();) {
    auto next = first + 1;
    const std::uint64_t stride = next == gaps_.cend() ? 0 : next->begin - first->begin;
    while (next != gaps_.cend() && next->bytes() == first->bytes() && next->begin - (next - 1)->begin == stride) ++next;
    const std::uint32_t index = take(fills_, free_fills_);
    Fill& fill = fills_[index];
    fill.first_waiter = none;
    fill.lines.clear();
    const auto rows = static_cast<std::uint32_t>(next - first);
    const Shape shape{rows, static_cast<std::uint32_t>(first->bytes()), rows == 1 ? 0 : stride};
    const std::uint64_t address = base_ + first->begin;
    for (; first != next; ++first)
      for (const auto end = line + static_cast<std::ptrdiff_t>(first->lines); line != end; ++line) {
        fill.lines.push_back(*line);
        if (tags_.holds(line->slot, line->line)) tags_.fill(line->slot) = index;
      }
    wait_for(index, load);
    access_memory(Operation::load, address, shape, traffic, index, time);
  }
}

void LastLevelCache::wait_for(std::uint32_t fill, std::uint32_t load) {
  if (fill == last_waited_fill_ && load == last_waiting_load_) return;
  last_waited_fill_ = fill;
  last_waiting_load_ = load;
  const std::uint32_t waiter = take(waiters_, free_waiters_);
  waiters_[waiter] = {load, fills_[fill].first_waiter};
  fills_[fill].first_waiter = waiter;
  ++loads_[load].pending;
}

void LastLevelCache::finish(std::uint32_t index) {
  Load& load = loads_[index];
  if (--load.pending != 0) return;
  tlm::tlm_generic_payload& transaction = *load.transaction;
  transaction.set_response_status(load.response);
  const Picoseconds delay = std::max(load.ready, now()) - now();
  free_loads_.push_back(index);
  compute.respond(transaction, delay);
  transaction.release();
}

void LastLevelCache::store(tlm::tlm_generic_payload& transaction, const DataExtension& extension, Picoseconds time) {
  Picoseconds ready = time;
  for (const Piece& piece : pieces_of(transaction.get_address(), extension.shape)) {
    ready = std::max(ready, serve(piece, time));
    CacheTags::Line& held = tags_.line(find_or_allocate(piece.place, time));
    held.valid |= piece.sectors;
    held.dirty |= piece.sectors;
    held.producer = extension.traffic;
    written_ += count_sectors(piece.sectors);
  }
  transaction.set_response_status(tlm::TLM_OK_RESPONSE);
  compute.respond(transaction, ready - now());
}

CacheTags::Slot LastLevelCache::find_or_allocate(const CacheTags::Place& place, Picoseconds time) {
  CacheTags::Slot slot = tags_.find(place);
  if (slot != CacheTags::none) {
    tags_.use(place, slot);
    return slot;
  }
  slot = tags_.victim(place);
  if (tags_.occupied(slot)) write_back(slot, time);
  tags_.occupy(slot, place.line);
  return slot;
}

void LastLevelCache::write_back(CacheTags::Slot slot, Picoseconds time) {
  const CacheTags::Line& held = tags_.line(slot);
  const std::uint64_t address = base_ + tags_.line_in(slot) * parameters_.line_bytes;
  std::uint32_t dirty = held.dirty;
  written_back_ += count_sectors(dirty);
  while (dirty != 0) {
    const std::uint32_t first = static_cast<std::uint32_t>(__builtin_ctz(dirty));
    const std::uint32_t count = static_cast<std::uint32_t>(__builtin_ctz(~(dirty >> first)));
    access_memory(Operation::store, address + std::uint64_t{first} * parameters_.sector_bytes,
                  {1, count * parameters_.sector_bytes, 0}, held.producer, none, time);
    dirty &= ~(((1u << count) - 1) << first);
  }
}

void LastLevelCache::access_memory(Operation operation, std::uint64_t address, const Shape& shape, TrafficClass traffic,
                                   std::uint32_t fill, Picoseconds time) {
  Transaction& access = pool_.make(operation, address, shape);
  access.extension().traffic = traffic;
  access.extension().token = fill;
  if (fill == none) ++write_backs_under_way_;
  memory.send(access, time + memory_latency_ - now());
}

void LastLevelCache::memory_response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  const auto index = static_cast<std::uint32_t>(extension_of(transaction).token);
  const tlm::tlm_response_status response = transaction.get_response_status();
  transaction.release();
  if (index == none) {
    --write_backs_under_way_;
    return;
  }
  const Picoseconds time = now() + delay;
  // A hit from now on is answered after the cache's latency at the earliest, so only a fill that is announced further
  // ahead has to wait for its time.
  if (time > now() + parameters_.latency)
    late_fills_.push(time, {index, response});
  else
    filled(index, time, response);
}

void LastLevelCache::late_fill() {
  while (late_fills_.ready()) {
    const LateFill fill = late_fills_.pop();
    filled(fill.index, now(), fill.response);
  }
  late_fills_.arm();
}

void LastLevelCache::filled(std::uint32_t index, Picoseconds time, tlm::tlm_response_status response) {
  const bool failed = response != tlm::TLM_OK_RESPONSE;
  for (const Missing& missing : fills_[index].lines) {
    if (!tags_.holds(missing.slot, missing.line)) continue;
    CacheTags::Line& held = tags_.line(missing.slot);
    if (tags_.fill(missing.slot) != index) continue;
    if (failed) held.valid = static_cast<std::uint8_t>(held.valid & (~held.pending | held.dirty));
    held.pending = 0;
    tags_.fill(missing.slot) = CacheTags::no_fill;
  }
  std::uint32_t waiter = fills_[index].first_waiter;
  free_fills_.push_back(index);
  last_waited_fill_ = none;  // a fill that the memory completes at once leaves its number to the next of the same load
  while (waiter != none) {
    const Waiter entry = waiters_[waiter];
    free_waiters_.push_back(waiter);
    Load& load = loads_[entry.load];
    load.ready = std::max(load.ready, time);
    if (failed) load.response = response;
    finish(entry.load);
    waiter = entry.next;
  }
}

/// Peers write memory past the cache; a cached copy of what they overwrite is stale.
void LastLevelCache::from_peers(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  const DataExtension& extension = extension_of(transaction);
  if (extension.operation != Operation::load)
    for (const Piece& piece : pieces_of(transaction.get_address(), extension.shape)) drop(piece);
  peer_memory.send(transaction, delay + memory_latency_);
}

void LastLevelCache::drop(const Piece& piece) {
  const CacheTags::Slot slot = tags_.find(piece.place);
  if (slot == CacheTags::none) return;
  const std::uint8_t sectors = piece.sectors;
  CacheTags::Line& held = tags_.line(slot);
  dropped_ += count_sectors(held.valid & sectors);
  held.valid = static_cast<std::uint8_t>(held.valid & ~sectors);
  held.dirty = static_cast<std::uint8_t>(held.dirty & ~sectors);
  held.pending = static_cast<std::uint8_t>(held.pending & ~sectors);
  if (held.valid == 0) tags_.drop(slot);
}

void LastLevelCache::pass_response(int from_peer_memory, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  (from_peer_memory != 0 ? peers : compute).respond(transaction, delay);
}

void LastLevelCache::flush() {
  for (CacheTags::Slot slot = 0; slot < tags_.slots(); ++slot)
    if (tags_.occupied(slot)) write_back(slot, now());
  tags_.clear();
}

void LastLevelCache::visit_statistics(const StatisticVisitor& visit) const {
  const auto number = [](std::uint64_t n) { return static_cast<double>(n); };
  visit("hits", "sectors", "loads served by the cache or by a fill under way", number(hits_));
  visit("misses", "sectors", "loads that had to be filled", number(misses_));
  visit("stores", "sectors", "cached stores", number(written_));
  visit("write_backs", "sectors", "dirty sectors written to memory", number(written_back_));
  visit("dropped", "sectors", "sectors that a peer's write made stale", number(dropped_));
  visit("hit_rate", "fraction", "hits / (hits + misses)",
        hits_ + misses_ == 0 ? 0 : number(hits_) / number(hits_ + misses_));
}

}  // namespace t3vp
