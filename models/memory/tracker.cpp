#include "memory/tracker.h"

#include <fmt/format.h>

#include <algorithm>

namespace t3vp {

namespace {
constexpr std::uint32_t entry_bytes = 32;  // of the spill table: one column access
constexpr unsigned entry_bits = 76;        // T3 4.2.1: tag, start address and counter
}  // namespace

Tracker::Tracker(const sc_core::sc_module_name& name, const TrackerParameters& parameters, std::uint16_t gpu,
                 Trace* trace)
    : sc_module(name),
      parameters_(parameters),
      gpu_(gpu),
      trace_(trace),
      table_(std::size_t{parameters.sets} * parameters.ways) {
  if (trace_ != nullptr) track_ = trace_->track(fmt::format("GPU {}", gpu), "Tracker");
  registers.command.on_write([this] { command(); });
  registers.on_reset([this] { reset(); });
  reset();
  registers.entries.on_refresh([this] { registers.entries.set(used_); });
  registers.peak_entries.on_refresh([this] { registers.peak_entries.set(peak_); });
  registers.triggers.on_refresh([this] { registers.triggers.set(triggers_); });
  registers.spills.on_refresh([this] { registers.spills.set(spills_); });
  registers.chunks.on_refresh([this] { registers.chunks.set(chunks_.size()); });
}

void Tracker::command() {
  using Action = registers::Tracker::Command::Action;
  switch (registers.command.action()) {
    case Action::add:
      add_chunk();
      break;
    case Action::remove_all:
      forget();
      registers.status.code.set(Status::ok);
      break;
    case Action::none:
      break;
  }
}

void Tracker::reset() {
  registers.sets.set(parameters_.sets);
  registers.ways.set(parameters_.ways);
  registers.capacity.set(parameters_.chunks);
  peak_ = triggers_ = spills_ = reloads_ = 0;
  forget();
}

void Tracker::forget() {
  chunks_.clear();
  last_chunk_ = 0;
  std::fill(table_.begin(), table_.end(), Entry{});
  spilled_.clear();
  used_ = 0;
}

void Tracker::add_chunk() {
  Chunk chunk;
  chunk.range = staged_chunk(registers);
  chunk.updates = static_cast<std::uint32_t>(registers.updates.value());
  const auto operation = registers.command.operation();
  using Counted = registers::Tracker::Command::Operation;
  chunk.operation = operation == Counted::store ? Operation::store : Operation::update;

  const auto refuse = [&](Status status, const std::string& text) {
    registers.status.code.set(status);
    registers.report(status, chunk.range.base, text);
  };
  if (operation == Counted::none || chunk.updates == 0 || chunk.updates > 255)
    return refuse(
        Status::invalid_argument,
        fmt::format("operation store or update and 1 to 255 updates expected, found {} updates", chunk.updates));
  if (const ChunkCheck found = check(chunk.range, gpu_, spill); found.status != Status::ok)
    return refuse(found.status, found.text);
  if (chunks_.size() == parameters_.chunks)
    return refuse(Status::table_full, fmt::format("all {} chunks are in use", parameters_.chunks));
  for (const Chunk& other : chunks_)
    if (chunk.range.overlaps(other.range))
      return refuse(Status::overlap, fmt::format("{} overlap the mapped {}", chunk.range.text(), other.range.text()));
  if (const std::uint32_t needed = parameters_.strict ? ways_needed(chunk) : 0; needed > parameters_.ways)
    return refuse(Status::capacity,
                  fmt::format("{} workgroups of {} wavefronts need {} ways with what is mapped, the Tracker has {}",
                              chunk.range.count, chunk.range.grid.wavefronts, needed, parameters_.ways));
  const StagedChunk& range = chunk.range;
  for (std::uint32_t wg = range.first; wg < range.first + range.count; ++wg)
    for (std::uint32_t wf = 0; wf < range.grid.wavefronts; ++wf) {
      const std::uint64_t elements = range.grid.wavefront_tile(wg, wf).elements();
      chunk.expected += elements * chunk.updates;
      if (elements != 0) ++chunk.tiles;
    }
  chunks_.push_back(chunk);
  registers.status.code.set(Status::ok);
}

/// Of the fullest set, when all tiles of the mapped chunks and of one more have an entry at the same time.
std::uint32_t Tracker::ways_needed(const Chunk& more) const {
  std::vector<std::uint32_t> entries(parameters_.sets);
  const auto add = [&](const StagedChunk& range) {
    for (std::uint32_t wg = range.first; wg < range.first + range.count; ++wg)
      entries[wg % parameters_.sets] += range.grid.wavefronts;
  };
  for (const Chunk& chunk : chunks_) add(chunk.range);
  add(more.range);
  return *std::max_element(entries.begin(), entries.end());
}

Tracker::Chunk* Tracker::chunk_of(const Producer& producer, std::uint64_t address, Operation operation) {
  for (std::size_t tried = 0; tried < chunks_.size(); ++tried, last_chunk_ = (last_chunk_ + 1) % chunks_.size()) {
    Chunk& chunk = chunks_[last_chunk_];
    if (operation == chunk.operation && chunk.range.contains(producer.wg_id, address)) return &chunk;
  }
  return nullptr;
}

void Tracker::count(const Producer& producer, std::uint64_t address, std::uint64_t bytes, Operation operation,
                    bool local, Picoseconds time) {
  if (producer.wg_id == no_workgroup || producer.wf_id == no_wavefront) return;
  Chunk* chunk = chunk_of(producer, address, operation);
  if (chunk == nullptr) return;
  const std::uint64_t tile = chunk->range.grid.wavefront_tile(producer.wg_id, producer.wf_id).elements();
  if (tile == 0)
    return registers.report(
        Status::invalid_argument, address,
        fmt::format("access of wavefront {} of workgroup {}, which has no such tile in the mapped {}", producer.wf_id,
                    producer.wg_id, chunk->range.text()));
  Entry& entry = entry_of(producer, static_cast<std::uint16_t>(chunk - chunks_.data()), time);
  const std::uint64_t elements = bytes / bytes_of(chunk->range.grid.element);
  (local ? entry.local : entry.incoming) += elements;
  (local ? chunk->local : chunk->incoming) += elements;
  entry.start = std::min(entry.start, address);
  if (entry.local + entry.incoming >= tile * chunk->updates) complete(*chunk, entry, time);
}

Tracker::Entry& Tracker::entry_of(const Producer& producer, std::uint16_t chunk, Picoseconds time) {
  const std::size_t set = std::size_t{producer.wg_id % parameters_.sets} * parameters_.ways;
  for (std::uint32_t way = 0; way < parameters_.ways; ++way) {
    Entry& entry = table_[set + way];
    if (entry.wg_id == producer.wg_id && entry.wf_id == producer.wf_id && entry.chunk == chunk) {
      entry.last_use = ++uses_;
      return entry;
    }
  }
  Entry& entry = make_room(producer.wg_id, time);
  entry = Entry{};
  entry.wg_id = producer.wg_id;
  entry.wf_id = producer.wf_id;
  entry.chunk = chunk;
  const auto found = spilled_.find(key_of(entry));
  if (found != spilled_.end()) {
    entry = found->second;
    spilled_.erase(found);
    ++reloads_;
    move_entry(Operation::load, key_of(entry), time);
  } else {
    peak_ = std::max(peak_, ++used_);
  }
  entry.last_use = ++uses_;
  return entry;
}

Tracker::Entry& Tracker::make_room(std::uint32_t wg_id, Picoseconds time) {
  const std::size_t set = std::size_t{wg_id % parameters_.sets} * parameters_.ways;
  Entry* victim = &table_[set];
  for (std::uint32_t way = 0; way < parameters_.ways; ++way) {
    Entry& entry = table_[set + way];
    if (!entry.used()) return entry;
    if (entry.last_use < victim->last_use) victim = &entry;
  }
  const std::uint64_t key = key_of(*victim);
  spilled_[key] = *victim;
  ++spills_;
  move_entry(Operation::store, key, time);
  return *victim;
}

/// The traffic of a spill or a reload. Counting goes on at once: the Tracker is not in the critical path (T3 4.2.1).
void Tracker::move_entry(Operation operation, std::uint64_t key, Picoseconds time) {
  const std::uint64_t slots = registers.spill_entries.value();
  if (slots == 0 || spilled_.size() > slots) {
    registers.report(Status::capacity, registers.spill_base.value(),
                     fmt::format("{} spilled entries, the spill table has {}", spilled_.size(), slots));
    if (slots == 0) return;
  }
  Transaction& access =
      pool_.make(operation, registers.spill_base.value() + key % slots * entry_bytes, {1, entry_bytes, 0});
  access.extension().stream = Stream::communication;
  access.extension().traffic = TrafficClass::control;
  spill.send(access, time - now());
}

void Tracker::complete(Chunk& chunk, Entry& entry, Picoseconds time) {
  ++triggers_;
  ++chunk.complete;
  Transaction& message = pool_.make(Operation::store, entry.start, {1, 0, 0});
  message.extension().producer = {entry.wg_id, entry.wf_id, gpu_};
  if (trace_ != nullptr) trace_->span(track_, "trigger", time, time + 1000, flow_of(gpu_, entry.wg_id, entry.wf_id));
  entry = Entry{};
  --used_;
  trigger.send(message, time - now());
}

/// Nothing waits for a spill or a trigger; who refuses one reports it.
void Tracker::done(int, tlm::tlm_generic_payload& transaction, Picoseconds) { transaction.release(); }

std::vector<Tracker::Shortage> Tracker::shortages() const {
  std::vector<Shortage> shortages;
  for (const Chunk& chunk : chunks_)
    if (chunk.complete < chunk.tiles) shortages.push_back(shortage_of(chunk));
  return shortages;
}

Tracker::Shortage Tracker::shortage_of(const Chunk& chunk) const {
  Shortage shortage{chunk.range,    chunk.updates, chunk.tiles,    chunk.complete,
                    chunk.expected, chunk.local,   chunk.incoming, chunk.range.first};
  const Entry* first = nullptr;
  const auto consider = [&](const Entry& entry) {
    if (entry.used() && &chunks_[entry.chunk] == &chunk && (first == nullptr || key_of(entry) < key_of(*first)))
      first = &entry;
  };
  for (const Entry& entry : table_) consider(entry);
  for (const auto& [key, entry] : spilled_) consider(entry);
  if (first != nullptr) {
    shortage.wg_id = first->wg_id;
    shortage.wf_id = first->wf_id;
    shortage.tile_local = first->local;
    shortage.tile_incoming = first->incoming;
  }
  const TileGrid& grid = chunk.range.grid;
  const Rectangle tile = grid.wavefront_tile(shortage.wg_id, shortage.wf_id);
  shortage.address = chunk.range.base + grid.offset(tile);
  shortage.tile_elements = tile.elements();
  return shortage;
}

std::vector<std::string> Tracker::diagnosis() const {
  std::vector<std::string> lines;
  for (const Shortage& shortage : shortages()) lines.push_back(describe(shortage));
  return lines;
}

std::string Tracker::describe(const Shortage& s) const {
  const std::uint64_t each = s.expected / s.updates;
  std::string text = fmt::format(
      "GPU {} Tracker: workgroups {} to {}: {} of {} wavefront tiles complete, {} of {} element updates counted "
      "({} per element expected): own GEMM {} of {}, incoming {} of {}",
      gpu_, s.range.first, s.range.first + s.range.count - 1, s.complete, s.tiles, s.local + s.incoming, s.expected,
      s.updates, s.local, each, s.incoming, s.expected - each);
  if (s.tile_local + s.tile_incoming != 0)
    text += fmt::format("; first short entry: workgroup {} wavefront {} at {:#x} has {} local + {} incoming of {}",
                        s.wg_id, s.wf_id, s.address, s.tile_local, s.tile_incoming, s.tile_elements * s.updates);
  if (s.local < each) text += fmt::format("; GPU {}'s GEMM owes {} elements", gpu_, each - s.local);
  if (s.incoming < s.expected - each)
    text += fmt::format("; the peer that sends to GPU {} owes {} elements", gpu_, s.expected - each - s.incoming);
  return text;
}

std::uint64_t Tracker::size_bytes() const {
  return (std::uint64_t{parameters_.sets} * parameters_.ways * entry_bits + 7) / 8;
}

void Tracker::visit_statistics(const StatisticVisitor& visit) const {
  const auto number = [](std::uint64_t n) { return static_cast<double>(n); };
  visit("triggers", "tiles", "wavefront tiles that had all their accesses", number(triggers_));
  visit("peak_entries", "entries", "most entries in use at a time, spilled ones included", number(peak_));
  visit("spills", "entries", "entries moved to HBM because their set was full", number(spills_));
  visit("reloads", "entries", "entries moved back", number(reloads_));
  visit("size_bytes", "bytes", "storage of the table", number(size_bytes()));
}

}  // namespace t3vp
