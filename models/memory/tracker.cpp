#include "memory/tracker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "memory/tracker_ranges.h"
#include "protocol/checked_parameters.h"

namespace t3vp::memory {
namespace {

constexpr unsigned entry_bits = 76;  // T3 4.2.1: tag, start address and counter

bool names_tile(const Producer& producer) { return producer.wg_id != no_workgroup && producer.wf_id != no_wavefront; }

}  // namespace

Tracker::Tracker(const sc_core::sc_module_name& name, const TrackerParameters& parameters, std::uint16_t gpu,
                 Trace* trace)
    : sc_module(checked(name, parameters)), parameters_(parameters), gpu_(gpu), trace_(trace), table_(parameters) {
  if (trace_ != nullptr) track_ = trace_->track(fmt::format("GPU {}", gpu), "Tracker");
  registers.command.on_write([this] { command(); });
  registers.interrupt.on_write([this] { update_interrupt(); });
  registers.lock_while("chunks are mapped", [this] { return in_use(); });
  registers.on_reset([this] { reset(); });
  reset();
  registers.entries.on_refresh([this] { registers.entries.set(used_); });
  registers.peak_entries.on_refresh([this] { registers.peak_entries.set(peak_); });
  registers.triggers.on_refresh([this] { registers.triggers.set(triggers_.since_reset()); });
  registers.spills.on_refresh([this] { registers.spills.set(spills_.since_reset()); });
  registers.status.on_refresh([this] {
    registers.status.busy.set(
        std::any_of(chunks_.begin(), chunks_.end(), [this](const Chunk& chunk) { return is_busy(chunk); }));
  });
  registers.chunks.on_refresh([this] {
    registers.chunks.set(static_cast<std::uint64_t>(
        std::count_if(chunks_.begin(), chunks_.end(), [](const Chunk& chunk) { return chunk.mapped; })));
  });
}

Tracker::~Tracker() = default;

Tracker::Counted Tracker::accept(const Access& access) {
  const Producer& producer = access.producer;
  if (!names_tile(producer)) {
    if (access.from_cache)
      check_write_back(access);
    else
      check_stray(access);
    return {};
  }
  for (std::size_t tried = 0; tried < chunks_.size(); ++tried, last_chunk_ = (last_chunk_ + 1) % chunks_.size()) {
    Chunk& chunk = chunks_[last_chunk_];
    if (!chunk.mapped || !chunk.range.contains(producer.wg_id, access.address)) continue;
    const std::uint32_t wavefronts = chunk.range.grid.wavefronts;
    const std::uint32_t tile = (producer.wg_id - chunk.range.first) * wavefronts + producer.wf_id;
    if (producer.wf_id < wavefronts && chunk.done[tile]) {
      // Another operation on what is complete is none of the map's: an all-gather's store, say.
      if (access.operation == chunk.operation)
        blame(chunk, Status::excess, access.address,
              fmt::format("{} of wavefront {} of workgroup {}, whose tile has had all its {} per element",
                          name_of(access.operation), producer.wf_id, producer.wg_id, chunk.updates));
      else if (chunk.complete != chunk.tiles &&
               !chunk.range.fits(producer, access.element, {access.address, access.shape}))
        blame(chunk, Status::mismatch, access.address, misfit(chunk, access));
      return {};
    }
    if (!fits(chunk, access)) {
      if (!chunk.blamed) blame(chunk, Status::mismatch, access.address, misfit(chunk, access));
      return {};
    }
    ++chunk.accepted;
    if (chunk.updates > 2) chunk.given[{tile, producer.gpu}] += access.shape.bytes();
    return {{static_cast<std::uint16_t>(last_chunk_), tile}, chunk.generation, access.local, access.order};
  }
  check_stray(access);
  if (!discarded_.empty()) check_late(access);
  return {};
}

bool Tracker::fits(const Chunk& chunk, const Access& access) {
  return access.operation == chunk.operation &&
         chunk.range.fits(access.producer, access.element, {access.address, access.shape});
}

/// Why an access is none that the chunk's map expects.
std::string Tracker::misfit(const Chunk& chunk, const Access& access) {
  const Producer& producer = access.producer;
  const std::string who =
      fmt::format("{} of wavefront {} of workgroup {}", name_of(access.operation), producer.wf_id, producer.wg_id);
  const bool has_tile = producer.wf_id < chunk.range.grid.wavefronts &&
                        !chunk.range.grid.wavefront_tile(producer.wg_id, producer.wf_id).empty();
  if (has_tile && access.operation != chunk.operation)
    return fmt::format("{}: the mapped {} count {}s", who, chunk.range.text(), name_of(chunk.operation));
  return chunk.range.misfit(who, producer, access.element, {access.address, access.shape});
}

/// Only a map's first access that does not fit is reported; the others would hide it.
void Tracker::blame(Chunk& chunk, Status status, std::uint64_t address, const std::string& text) {
  if (chunk.blamed) return;
  chunk.blamed = true;
  registers.report(status, address, text);
  if (registers.status.counting() == Status::ok) registers.status.counting.set(status);
  registers.interrupt.error.set(1);
  update_interrupt();
}

/// Stores that a map is to count must not come out of the cache, where they have lost their tile's name.
void Tracker::check_write_back(const Access& access) {
  if (access.address >= hull_end_ || access.address + access.shape.bytes() <= hull_begin_) return;
  for (Chunk& chunk : chunks_) {
    if (!chunk.mapped) continue;
    const std::optional<std::uint32_t> tile = chunk.tile_at(access.address);
    if (!tile || chunk.done[*tile]) continue;
    blame(chunk, Status::mismatch, access.address,
          fmt::format("the cache writes back part of workgroup {}'s tile: stores of the mapped {} bypass the cache",
                      chunk.wg_of(*tile), chunk.range.text()));
  }
}

/// The chunk's tile that has the byte.
std::optional<std::uint32_t> Tracker::Chunk::tile_at(std::uint64_t byte) const {
  const TileGrid& grid = range.grid;
  const std::uint64_t at = byte - range.base;
  if (at >= grid.bytes()) return {};
  const auto row = static_cast<std::uint32_t>(at / grid.row_stride);
  const auto column = static_cast<std::uint32_t>(at % grid.row_stride / bytes_of(grid.element));
  const std::uint32_t wg = row / grid.tile_rows * grid.tiles_across() + column / grid.tile_columns;
  if (column >= grid.columns || wg - range.first >= range.count) return {};
  return (wg - range.first) * grid.wavefronts + row % grid.tile_rows / (grid.tile_rows / grid.wavefronts);
}

/// What is stored into a mapped tile and is of none of the map's cannot be counted: by a ring kernel, of this GPU or of
/// a neighbour, whose stores name no wavefront, or by a kernel whose stores name no tile, or one of another place. The
/// driver's and the DMA engine's name none either; they prepare an output. A complete map has nothing to count, but a
/// tile's name with its operation is meant for it.
void Tracker::check_stray(const Access& access) {
  if (access.producer.wg_id == no_workgroup && !access.of_kernel) return;
  const bool is_meant = names_tile(access.producer);
  for (Chunk& chunk : chunks_) {
    if (!chunk.mapped || chunk.blamed || !chunk.range.touches({access.address, access.shape})) continue;
    if (chunk.complete != chunk.tiles || (is_meant && access.operation == chunk.operation))
      blame(chunk, Status::mismatch, access.address, stray(chunk, access));
  }
}

/// "update of wavefront 2 of GPU 0's workgroup 104: the mapped ... count those of wavefront 2 of workgroup 4 there"
std::string Tracker::stray(const Chunk& chunk, const Access& access) {
  const Producer& producer = access.producer;
  const std::string who =
      producer.wg_id == no_workgroup ? fmt::format("no workgroup of GPU {}", producer.gpu)
      : producer.wf_id == no_wavefront
          ? fmt::format("no wavefront of GPU {}'s workgroup {}", producer.gpu, producer.wg_id)
          : fmt::format("wavefront {} of GPU {}'s workgroup {}", producer.wf_id, producer.gpu, producer.wg_id);
  const std::optional<std::uint32_t> tile = chunk.tile_at(access.address);
  return fmt::format(
      "{} of {}: the mapped {} count those of {}", name_of(access.operation), who, chunk.range.text(),
      tile ? fmt::format("wavefront {} of workgroup {} there", chunk.wf_of(*tile), chunk.wg_of(*tile)) : "wavefronts");
}

void Tracker::check_late(const Access& access) {
  const auto late = std::find_if(discarded_.begin(), discarded_.end(), [&](const StagedChunk& range) {
    return range.contains(access.producer.wg_id, access.address);
  });
  if (late == discarded_.end()) return;
  registers.report(Status::aborted, access.address,
                   fmt::format("{} of wavefront {} of workgroup {} comes after the map of {} was removed by force",
                               name_of(access.operation), access.producer.wf_id, access.producer.wg_id, late->text()));
}

void Tracker::count(const Counted& counted, std::uint64_t bytes, Picoseconds time, const Cause& cause) {
  const Chunk& chunk = chunks_[counted.name.chunk];
  if (chunk.generation != counted.generation) return;  // removed by force in between
  if (!waiting_.empty()) {
    const auto found = waiting_.find(set_of(counted.name));
    if (found != waiting_.end()) return found->second.push_back({counted, bytes, time, cause});
  }
  if (!add_to_entry(counted, bytes, time, cause))
    waiting_[set_of(counted.name)].push_back({counted, bytes, time, cause});
}

std::uint32_t Tracker::set_of(TileName name) const {
  const Chunk& chunk = chunks_[name.chunk];
  return table_.set_of(name.chunk, chunk.wg_of(name.tile), chunk.range.grid.wavefronts, chunk.wf_of(name.tile));
}

/// False when no entry of the set can be had now.
bool Tracker::add_to_entry(const Counted& counted, std::uint64_t bytes, Picoseconds time, const Cause& cause) {
  Chunk& chunk = chunks_[counted.name.chunk];
  const std::uint32_t tile = counted.name.tile, set = set_of(counted.name);
  if (chunk.done[tile]) {
    blame(chunk, Status::excess, chunk.address(tile),
          fmt::format("wavefront {} of workgroup {} has had more than {} {}s per element", chunk.wf_of(tile),
                      chunk.wg_of(tile), chunk.updates, name_of(chunk.operation)));
    return true;
  }
  const AtCause at_count(cause);
  Entry* entry = table_.find(set, counted.name);
  if (entry == nullptr) {
    entry = table_.room(set);
    if (entry == nullptr) return false;
    if (entry->used()) spill_entry(*entry, time);
    *entry = Entry{};
    entry->name = counted.name;
    entry->expected = chunk.tile_bytes(tile) * chunk.updates;
    if (chunk.spilled[tile])
      reload(*entry, time);
    else
      count_entry();
  }
  table_.touch(*entry);
  if (order_ != nullptr) {
    chunk.counted.resize(chunk.slots());
    chunk.counted[tile] = order_->join(chunk.counted[tile], counted.order);
  }
  (counted.local ? entry->local : entry->incoming) += bytes;
  (counted.local ? chunk.local : chunk.incoming) += bytes;
  entry->last_count = std::max(entry->last_count, time);
  entry->cause.follow(cause);
  complete_if_full(*entry);
  return true;
}

void Tracker::count_entry() {
  peak_ = std::max(peak_, ++used_);
  most_ = std::max(most_, used_);
}

void Tracker::complete_if_full(Entry& entry) {
  const std::uint64_t counted = entry.local + entry.incoming;
  if (entry.loading || counted < entry.expected) return;
  Chunk& chunk = chunks_[entry.name.chunk];
  const std::uint32_t tile = entry.name.tile;
  if (counted > entry.expected)
    blame(chunk, Status::excess, chunk.address(tile),
          fmt::format("wavefront {} of workgroup {} has had {} bytes of {}s, {} are expected", chunk.wf_of(tile),
                      chunk.wg_of(tile), counted, name_of(chunk.operation), entry.expected));
  ++triggers_;
  ++chunk.complete;
  chunk.done[tile] = true;
  --used_;
  const TileGrid& grid = chunk.range.grid;
  Transaction& message = pool_.make(Operation::store, chunk.address(tile), grid.shape(chunk.rectangle(tile)));
  message.extension().element = grid.element;
  message.extension().producer = {chunk.wg_of(tile), chunk.wf_of(tile), gpu_};
  if (order_ != nullptr) message.extension().order = std::exchange(chunk.counted[tile], 0);
  const Picoseconds time = std::max(entry.last_count, now());
  trigger_wait_ += time - entry.last_count;
  if (trace_ != nullptr)
    trace_->span(track_, "trigger", time, time + 1000, flow_of(gpu_, chunk.wg_of(tile), chunk.wf_of(tile)));
  const AtCause at_trigger([&] {
    Cause cause = std::move(entry.cause);
    cause.extend(time, Part::tracker);
    return cause;
  }());
  entry = Entry{};
  if (chunk.complete == chunk.tiles) update_hull();
  chunk.given.erase(chunk.given.lower_bound({tile, 0}), chunk.given.lower_bound({tile + 1, 0}));
  trigger.send(message, time - now());
}

/// Nothing waits for a trigger; who refuses one reports it.
void Tracker::triggered(int, tlm::tlm_generic_payload& transaction, Picoseconds) { transaction.release(); }

Transaction& Tracker::slot_access(Operation operation, TileName name) {
  const Chunk& chunk = chunks_[name.chunk];
  Transaction& access = pool_.make(operation, slot_address(name), {1, slot_bytes, 0});
  access.extension().stream = Stream::communication;
  access.extension().traffic = TrafficClass::control;
  access.extension().token = std::uint64_t{name.chunk} << 48 | std::uint64_t{chunk.generation} << 32 | name.tile;
  access.attach_buffer();
  return access;
}

/// Counts come ahead of their times, and not in their order, but a slot is never read before it is written.
Picoseconds Tracker::spill_delay(Picoseconds time) {
  last_moved_ = std::max({last_moved_, time, now()});
  return last_moved_ - now();
}

void Tracker::spill_entry(Entry& entry, Picoseconds time) {
  Chunk& chunk = chunks_[entry.name.chunk];
  const std::uint32_t tile = entry.name.tile;
  ++spills_;
  chunk.spilled[tile] = true;
  Transaction& access = slot_access(Operation::store, entry.name);
  const Slot slot{chunk.wg_of(tile), chunk.wf_of(tile), chunk.address(tile), entry.local, entry.incoming};
  std::memcpy(access.get_data_ptr(), &slot, sizeof slot);
  spill.send(access, spill_delay(time));
}

void Tracker::reload(Entry& entry, Picoseconds time) {
  ++reloads_;
  entry.loading = true;
  chunks_[entry.name.chunk].spilled[entry.name.tile] = false;
  spill.send(slot_access(Operation::load, entry.name), spill_delay(time));
}

void Tracker::moved(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  moved_.push(now() + delay, &transaction);
}

void Tracker::step() {
  while (moved_.ready()) {
    tlm::tlm_generic_payload& transaction = *moved_.pop();
    if (extension_of(transaction).operation == Operation::load) reloaded(transaction);
    transaction.release();
  }
  moved_.arm();
}

void Tracker::reloaded(tlm::tlm_generic_payload& transaction) {
  const std::uint64_t token = extension_of(transaction).token;
  const TileName name{static_cast<std::uint16_t>(token >> 48), static_cast<std::uint32_t>(token)};
  Chunk& chunk = chunks_[name.chunk];
  if (chunk.generation != static_cast<std::uint16_t>(token >> 32)) return;  // removed by force in between
  const std::uint32_t set = set_of(name);
  Entry& entry = *table_.find(set, name);
  Slot slot{};
  std::memcpy(&slot, transaction.get_data_ptr(), sizeof slot);
  if (slot.wg_id == chunk.wg_of(name.tile) && slot.wf_id == chunk.wf_of(name.tile) &&
      slot.address == chunk.address(name.tile)) {
    entry.local += slot.local;
    entry.incoming += slot.incoming;
  } else {
    blame(chunk, Status::mismatch, transaction.get_address(),
          fmt::format("the spill table has been overwritten: the counts of wavefront {} of workgroup {} are lost",
                      chunk.wf_of(name.tile), chunk.wg_of(name.tile)));
  }
  entry.loading = false;
  entry.cause.extend(now(), Part::tracker);
  complete_if_full(entry);
  go_on(set);
}

/// Counts what has waited for an entry of the set.
void Tracker::go_on(std::uint32_t set) {
  const auto found = waiting_.find(set);
  if (found == waiting_.end()) return;
  std::deque<Waiting> waiting = std::move(found->second);
  waiting_.erase(found);
  while (!waiting.empty()) {
    const Waiting& next = waiting.front();
    if (chunks_[next.counted.name.chunk].generation == next.counted.generation &&
        !add_to_entry(next.counted, next.bytes, next.time, next.cause))
      break;
    waiting.pop_front();
  }
  if (!waiting.empty()) waiting_[set] = std::move(waiting);
}

std::uint64_t Tracker::size_bytes() const {
  return (std::uint64_t{parameters_.sets} * parameters_.ways * entry_bits + 7) / 8;
}

void Tracker::visit_statistics(const StatisticVisitor& visit) const {
  const auto number = [](std::uint64_t n) { return static_cast<double>(n); };
  visit("triggers", "tiles", "wavefront tiles that had all their accesses", number(triggers()));
  visit("peak_entries", "entries", "most entries in use at a time, spilled ones included", number(peak_entries()));
  visit("spills", "entries", "entries moved to HBM because their set was full", number(spills()));
  visit("reloads", "entries", "entries moved back", number(reloads_));
  visit("trigger_wait", "ns", "by which triggers came after their tiles' last accesses, in sum", trigger_wait_ns());
  visit("size_bytes", "bytes", "storage of the table", number(size_bytes()));
}

}  // namespace t3vp::memory
