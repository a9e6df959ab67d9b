#include "cache/last_level_cache.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cache/cache_ranges.h"
#include "cache/sector_mask.h"
#include "protocol/address_map.h"
#include "protocol/checked_parameters.h"
#include "protocol/response_status.h"

namespace t3vp::cache {
LastLevelCache::LastLevelCache(const sc_core::sc_module_name& name, const CacheParameters& parameters,
                               Picoseconds memory_latency, std::uint16_t gpu)
    : sc_module(checked(name, parameters)),
      parameters_(parameters),
      memory_latency_(memory_latency),
      sector_time_(cycle_time(parameters.sector_bytes / parameters.bank_bytes_per_cycle, parameters.clock_GHz)),
      base_(address_map::on_gpu(gpu, 0)),
      sector_bits_(static_cast<unsigned>(__builtin_ctz(parameters.sector_bytes))),
      line_sector_bits_(static_cast<unsigned>(__builtin_ctz(parameters.line_bytes / parameters.sector_bytes))),
      tags_(parameters),
      sector_fills_(std::size_t{tags_.slots()} << line_sector_bits_),
      dirty_bytes_(parameters, tags_.slots()),
      bank_free_(parameters.banks),
      of_banks_(parameters.banks),
      probe_(pool_.make(Operation::load, 0, {})) {
  probe_.set_command(tlm::TLM_IGNORE_COMMAND);
  compute.on_debug(&LastLevelCache::debug_compute);
  peers.on_debug(&LastLevelCache::debug_peers);
  nic.on_debug(&LastLevelCache::debug_peers);
  for (DataTargetSocket<LastLevelCache>* socket : {&compute, &peers, &nic})
    socket->report_to(registers.errors, registers.description().name);
  for (DataInitiatorSocket<LastLevelCache>* socket : {&bypass, &peer_memory, &nic_memory})
    socket->on_taken(&LastLevelCache::pass_taken);
  if (has_atomics()) make_atomics();
  registers.command.on_write([this] {
    if (registers.command.action() == registers::Cache::Command::Action::flush) flush();
  });
  registers.interrupt.on_write([this] { update_interrupt(); });
  registers.on_reset([this] {
    tags_.clear();
    give_up_updates();
    flushing_ = false;
    releases_.clear();
    update_interrupt();
  });
  registers.status.on_refresh([this] { registers.status.busy.set(flushing_); });
}

LastLevelCache::~LastLevelCache() = default;

const std::vector<LastLevelCache::Piece>& LastLevelCache::pieces_of(std::uint64_t address, const Shape& shape) {
  const std::uint64_t per_line = parameters_.line_bytes;
  const bool contiguous = shape.rows == 1 || shape.stride == shape.row_bytes;
  const std::uint32_t rows = contiguous ? 1 : shape.rows;
  const std::uint64_t row_bytes = contiguous ? shape.bytes() : shape.row_bytes;
  std::uint64_t begin = address_map::local_of(address);
  pieces_.clear();
  for (std::uint32_t row = 0; row < rows; ++row, begin += shape.stride) {
    const std::uint64_t end = begin + row_bytes;
    for (std::uint64_t at = begin; at < end;) {
      const std::uint64_t from = at & (per_line - 1), to = std::min(per_line, from + end - at);
      Piece& piece = pieces_.emplace_back();
      piece.place = tags_.place_of(at >> (sector_bits_ + line_sector_bits_));
      piece.begin = static_cast<std::uint16_t>(from);
      piece.end = static_cast<std::uint16_t>(to);
      const unsigned first = static_cast<unsigned>(from >> sector_bits_);
      const unsigned last = static_cast<unsigned>((to - 1) >> sector_bits_);
      piece.sectors = static_cast<std::uint8_t>((2u << last) - (1u << first));
      piece.sector_count = static_cast<std::uint8_t>(last - first + 1);
      at += to - from;
    }
  }
  return pieces_;
}

bool LastLevelCache::is_dirty(CacheTags::Slot slot, std::uint32_t byte) const {
  const CacheTags::Line& held = tags_.line(slot);
  return held.partial ? dirty_bytes_.contains(slot, byte) : (held.dirty >> (byte >> sector_bits_) & 1) != 0;
}

/// Sectors all of whose bytes were stored.
std::uint8_t LastLevelCache::stored_whole(CacheTags::Slot slot) const {
  const CacheTags::Line& held = tags_.line(slot);
  return held.partial ? dirty_bytes_.full(slot) : held.dirty;
}

unsigned char* LastLevelCache::bytes_of(CacheTags::Slot slot) {
  // Left as they are: the host gives memory to pages that are used.
  if (!bytes_) bytes_.reset(new unsigned char[std::size_t{tags_.slots()} * parameters_.line_bytes]);
  return bytes_.get() + std::size_t{slot} * parameters_.line_bytes;
}

void LastLevelCache::from_compute(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  const DataExtension& extension = extension_of(transaction);
  const Picoseconds time = now() + delay + parameters_.latency;
  if (adds(transaction, extension)) return update(from_units, transaction, extension, time);
  // Updates and fetch-and-adds are defined where the data is, so they never stop in the cache. What the memory would
  // refuse must not hit
  // here, so it goes there too.
  const bool cacheable = extension.cached &&
                         (extension.operation == Operation::load || extension.operation == Operation::store) &&
                         in_memory(transaction.get_address(), extension.shape);
  if (!cacheable) {
    transaction.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    if (passes_coherently(from_units, transaction, time, time + memory_latency_)) return;
    const bool updates = extension.operation == Operation::update || extension.operation == Operation::fetch_add;
    const Picoseconds arrival =
        updates ? make_way(transaction.get_address(), extension.shape, time) : time + memory_latency_;
    bypass.send(transaction, arrival - now());
  } else if (extension.operation == Operation::load) {
    load(from_units, transaction, extension, time);
  } else {
    store(transaction, extension, time);
  }
}

/// An update adds to what was stored here, so that goes to memory in front of it, and what stayed would be stale.
/// When the update may reach memory.
Picoseconds LastLevelCache::make_way(std::uint64_t address, const Shape& shape, Picoseconds time) {
  Picoseconds arrival = time + memory_latency_;
  for (const Piece& piece : pieces_of(address, shape)) {
    const CacheTags::Slot slot = tags_.find(piece.place);
    if (slot != CacheTags::none) {
      dropped_ += count_sectors(tags_.line(slot).valid | tags_.line(slot).dirty);
      write_back(slot, time);
      tags_.drop(slot);
    }
    arrival = order_.after(piece.place.line, piece.sectors, arrival);
  }
  return arrival;
}

/// Asks by a debug access without data.
bool LastLevelCache::in_memory(std::uint64_t address, const Shape& shape) {
  probe_.set_address(address);
  probe_.set_data_length(static_cast<unsigned>(shape.bytes()));
  probe_.extension().shape = shape;
  return memory->transport_dbg(probe_) == shape.bytes();
}

void LastLevelCache::store(tlm::tlm_generic_payload& transaction, const DataExtension& extension, Picoseconds time) {
  Picoseconds ready = time;
  const unsigned char* data = transaction.get_data_ptr();
  for (const Piece& piece : pieces_of(transaction.get_address(), extension.shape)) {
    ready = std::max(ready, serve(piece, time));
    const CacheTags::Slot slot = find_or_allocate(piece.place, data != nullptr, time);
    mark_stored(piece, slot);
    tags_.line(slot).producer = extension.traffic;
    written_ += piece.sector_count;
    if (data == nullptr) continue;
    std::memcpy(bytes_of(slot) + piece.begin, data, piece.end - piece.begin);
    data += piece.end - piece.begin;
  }
  transaction.set_response_status(tlm::TLM_OK_RESPONSE);
  Cause cause = cause_at(time, Part::dram_latency);
  cause.extend(ready, Part::cache_bandwidth);
  const AtCause answer(std::move(cause));
  compute.respond(transaction, ready - now());
}

void LastLevelCache::mark_stored(const Piece& piece, CacheTags::Slot slot) {
  CacheTags::Line& held = tags_.line(slot);
  const bool whole_sectors = ((piece.begin | piece.end) & (parameters_.sector_bytes - 1)) == 0;
  if (whole_sectors && !held.partial) {
    held.valid |= piece.sectors;
    held.dirty |= piece.sectors;
    return;
  }
  if (!held.partial) dirty_bytes_.begin(slot, held.dirty);
  dirty_bytes_.add(slot, piece.begin, piece.end);
  held.dirty |= piece.sectors;
  const std::uint8_t full = dirty_bytes_.full(slot);
  held.valid |= full;
  held.partial = full != held.dirty;
}

/// A line has bytes if the accesses that allocated it carry data, otherwise none. An access of the other kind allocates
/// it again.
CacheTags::Slot LastLevelCache::find_or_allocate(const CacheTags::Place& place, bool real, Picoseconds time) {
  CacheTags::Slot slot = tags_.find(place);
  if (slot != CacheTags::none) {
    tags_.use(slot);
    if (tags_.line(slot).real == real) return slot;
  } else {
    slot = tags_.victim(place);
  }
  if (tags_.occupied(slot)) write_back(slot, time);
  tags_.occupy(slot, place.line);
  tags_.line(slot).real = real;
  return slot;
}

void LastLevelCache::write_back(CacheTags::Slot slot, Picoseconds time) {
  const CacheTags::Line held = tags_.line(slot);
  if (held.dirty == 0) return;
  const std::uint64_t line = tags_.line_in(slot);
  const Picoseconds arrival = order_.after(line, held.dirty, time + memory_latency_);
  order_.add(line, held.dirty, arrival, now() + memory_latency_);
  written_back_ += count_sectors(held.dirty);
  std::uint32_t dirty = held.dirty;
  while (dirty != 0) {
    const std::uint32_t first = static_cast<std::uint32_t>(__builtin_ctz(dirty));
    const std::uint32_t count = static_cast<std::uint32_t>(__builtin_ctz(~(dirty >> first)));
    const std::uint32_t begin = first * parameters_.sector_bytes, bytes = count * parameters_.sector_bytes;
    Transaction& access = pool_.make(Operation::store, base_ + line * parameters_.line_bytes + begin, {1, bytes, 0});
    access.extension().traffic = held.producer;
    access.extension().token = none;
    if (held.real) {
      access.attach_buffer();
      std::memcpy(access.get_data_ptr(), bytes_of(slot) + begin, bytes);
      if (held.partial) access.attach_byte_enables();
      for (std::uint32_t i = 0; held.partial && i < bytes; ++i)
        if (!dirty_bytes_.contains(slot, begin + i)) access.get_byte_enable_ptr()[i] = TLM_BYTE_DISABLED;
    }
    ++write_backs_in_flight_;
    if (held.real) data_in_flight_.push_back(&access);
    memory.send(access, arrival - now());
    dirty &= ~(((1u << count) - 1) << first);
  }
}

void LastLevelCache::written_back(tlm::tlm_generic_payload& transaction) {
  --write_backs_in_flight_;
  const Status status = status_of_data_access(transaction.get_response_status());
  if (status != Status::ok && registers.status.code() == Status::ok) registers.status.code.set(status);
  if (transaction.get_data_ptr() != nullptr)
    data_in_flight_.erase(std::find(data_in_flight_.begin(), data_in_flight_.end(), &transaction));
  transaction.release();
  end_flush();
  end_releases();
}

/// Reports the end of a flush when no write is on its way to memory any more.
void LastLevelCache::end_flush() {
  if (!flushing_ || write_backs_in_flight_ != 0) return;
  flushing_ = false;
  registers.interrupt.flushed.set(1);
  update_interrupt();
}

void LastLevelCache::update_interrupt() {
  if (interrupt.size() != 0) interrupt->write(registers.interrupt.flushed() != 0);
}

/// Peers read and write memory past the cache, in the order in which they come; a cached copy of what they overwrite is
/// stale. What they fetch and add to is first written back. A NIC that does not invalidate leaves the cache as it is.
void LastLevelCache::from_peers(int way, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  const DataExtension& extension = extension_of(transaction);
  const auto from = static_cast<Sender>(way);
  if (adds(transaction, extension)) return update(from, transaction, extension, now() + delay + parameters_.latency);
  if (passes_coherently(from, transaction, now() + delay + parameters_.latency, now() + delay + memory_latency_))
    return;
  const bool invalidates = way == 1 || parameters_.nic_writes_invalidate;
  const bool adds = extension.operation == Operation::fetch_add;
  Picoseconds arrival = now() + delay + memory_latency_;
  if (extension.operation == Operation::load) {
    for (const Piece& piece : pieces_of(transaction.get_address(), extension.shape))
      arrival = order_.after(piece.place.line, piece.sectors, arrival);
  } else {
    if (adds && invalidates) arrival = make_way(transaction.get_address(), extension.shape, now() + delay);
    for (const Piece& piece : pieces_of(transaction.get_address(), extension.shape)) {
      if (!adds && invalidates) drop(piece);
      arrival = order_.after(piece.place.line, piece.sectors, arrival);
    }
    for (const Piece& piece : pieces_) order_.add(piece.place.line, piece.sectors, arrival, now() + memory_latency_);
  }
  way_to_memory(way).send(transaction, arrival - now());
}

/// Stored bytes beside the overwritten ones stay, to be written back or stored to.
void LastLevelCache::drop(const Piece& piece) {
  const CacheTags::Slot slot = tags_.find(piece.place);
  if (slot == CacheTags::none) return;
  CacheTags::Line& held = tags_.line(slot);
  const auto others = static_cast<std::uint8_t>(~piece.sectors);
  dropped_ += count_sectors((held.valid | held.dirty) & piece.sectors);
  held.valid &= others;
  held.pending &= others;
  tags_.break_groups(slot);
  const bool whole_sectors = ((piece.begin | piece.end) & (parameters_.sector_bytes - 1)) == 0;
  if (whole_sectors && !held.partial) {
    held.dirty &= others;
  } else if (held.dirty != 0) {
    if (!held.partial) dirty_bytes_.begin(slot, held.dirty);
    dirty_bytes_.remove(slot, piece.begin, piece.end);
    held.dirty &= dirty_bytes_.some(slot);
    held.partial = dirty_bytes_.full(slot) != held.dirty;
  }
  if ((held.valid | held.dirty) == 0) tags_.drop(slot);
}

void LastLevelCache::pass_taken(int way, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  sender(way).taken(transaction, delay);
}

void LastLevelCache::pass_response(int way, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  sender(way).respond(transaction, delay);
}

void LastLevelCache::flush() {
  last_flush_ = {now(), {}};
  flushing_ = true;
  registers.status.code.set(Status::ok);
  for (CacheTags::Slot slot = 0; slot < tags_.slots(); ++slot) {
    if (!tags_.occupied(slot)) continue;
    const CacheTags::Line& held = tags_.line(slot);
    last_flush_.bytes[static_cast<std::size_t>(held.producer)] += count_sectors(held.dirty) * parameters_.sector_bytes;
  }
  write_back_all();
  end_flush();
}

void LastLevelCache::release(std::function<void()> done) {
  releases_.push_back(std::move(done));
  write_back_all();
  end_releases();
}

void LastLevelCache::write_back_all() {
  for (CacheTags::Slot slot = 0; slot < tags_.slots(); ++slot)
    if (tags_.occupied(slot)) write_back(slot, now());
  tags_.clear();
}

/// What is called may begin another release.
void LastLevelCache::end_releases() {
  if (write_backs_in_flight_ != 0) return;
  for (const auto& done : std::exchange(releases_, {})) done();
}

/// Reads as compute units do: the cache's bytes where it has some, then those that it is writing back, else memory's.
unsigned LastLevelCache::debug_compute(int, tlm::tlm_generic_payload& transaction) {
  const unsigned bytes = memory->transport_dbg(transaction);
  unsigned char* data = transaction.get_data_ptr();
  if (bytes == 0 || data == nullptr || !(transaction.is_read() || transaction.is_write())) return bytes;
  const DataExtension* extension = transaction.get_extension<DataExtension>();
  for (const Piece& piece :
       pieces_of(transaction.get_address(), extension != nullptr ? extension->shape : Shape{1, bytes, 0})) {
    look(piece, transaction.is_write(), data);
    data += piece.end - piece.begin;
  }
  return bytes;
}

/// A write changes the copies on the way too.
void LastLevelCache::look(const Piece& piece, bool write, unsigned char* data) const {
  const std::uint64_t line = base_ + piece.place.line * parameters_.line_bytes;
  const auto exchange = [&](unsigned char* copy, std::uint32_t at) {
    unsigned char& byte = data[at - piece.begin];
    write ? * copy = byte : byte = *copy;
  };
  for (const Transaction* access : data_in_flight_)
    for (std::uint32_t at = piece.begin; at < piece.end; ++at) {
      const std::uint64_t i = line + at - access->get_address();
      const unsigned char* enables = access->get_byte_enable_ptr();
      if (i < access->get_data_length() && (enables == nullptr || enables[i] == TLM_BYTE_ENABLED))
        exchange(access->get_data_ptr() + i, at);
    }
  const CacheTags::Slot slot = tags_.find(piece.place);
  if (slot == CacheTags::none || !tags_.line(slot).real) return;
  const CacheTags::Line& held = tags_.line(slot);
  for (std::uint32_t at = piece.begin; at < piece.end; ++at) {
    const bool readable = ((held.valid & ~held.pending) >> (at >> sector_bits_) & 1) != 0;
    if (readable || is_dirty(slot, at)) exchange(bytes_.get() + std::size_t{slot} * parameters_.line_bytes + at, at);
  }
}

/// Reads as peers do: memory alone.
unsigned LastLevelCache::debug_peers(int, tlm::tlm_generic_payload& transaction) {
  return memory->transport_dbg(transaction);
}

std::uint64_t LastLevelCache::dirty_bytes(std::uint64_t address, const Shape& shape) {
  std::uint64_t bytes = 0;
  for (const Piece& piece : pieces_of(address, shape)) {
    const CacheTags::Slot slot = tags_.find(piece.place);
    if (slot == CacheTags::none) continue;
    for (std::uint32_t at = piece.begin; at < piece.end; ++at)
      if (is_dirty(slot, at)) ++bytes;
  }
  return bytes;
}

void LastLevelCache::visit_statistics(const StatisticVisitor& visit) const {
  const auto number = [](std::uint64_t n) { return static_cast<double>(n); };
  visit("hits", "sectors", "loads served by the cache or by a fill in flight", number(asked_ - misses_));
  visit("misses", "sectors", "loads that had to be filled", number(misses_));
  visit("stores", "sectors", "cached stores", number(written_));
  visit("write_backs", "sectors", "dirty sectors written to memory", number(written_back_));
  visit("dropped", "sectors", "sectors that a peer's write, the NIC's or an update made stale", number(dropped_));
  if (has_atomics()) visit("updates", "sectors", "updates that the cache has added", number(updated_));
  if (has_atomics()) visit("update_misses", "sectors", "sectors that were fetched for them", number(update_misses_));
  visit("hit_rate", "fraction", "hits / (hits + misses)", asked_ == 0 ? 0 : number(asked_ - misses_) / number(asked_));
}

}  // namespace t3vp::cache
