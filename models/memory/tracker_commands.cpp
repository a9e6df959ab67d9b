// The Tracker's command register: chunks are mapped and removed.
#include <fmt/format.h>

#include <algorithm>

#include "memory/tracker.h"
#include "protocol/own_address.h"

namespace t3vp::memory {
namespace {

/// Whether some of the range is a tile of the chunk and not between its tiles.
bool has_tiles_in(const StagedChunk& chunk, const OutputRange& range) {
  if (!range.overlaps(chunk.base, chunk.grid.bytes())) return false;
  const std::uint64_t begin = std::max(range.begin, chunk.base);
  const std::uint64_t bytes = std::min(range.end, chunk.base + chunk.grid.bytes()) - begin;
  // What is longer than a row has 32 bits for is more than the gaps between a chunk's tiles.
  return bytes > ~std::uint32_t{0} || chunk.touches({begin, {1, static_cast<std::uint32_t>(bytes), 0}});
}

}  // namespace

void Tracker::command() {
  using Action = registers::Tracker::Command::Action;
  const bool force = registers.command.force() != 0;
  switch (registers.command.action()) {
    case Action::add:
      return add_chunk();
    case Action::remove:
      return remove(false, force);
    case Action::remove_all:
      return remove(true, force);
    case Action::none:
      break;
  }
}

void Tracker::reset() {
  registers.sets.set(parameters_.sets);
  registers.ways.set(parameters_.ways);
  registers.capacity.set(parameters_.chunks);
  peak_ = 0;
  triggers_.reset();
  spills_.reset();
  for (std::size_t place = 0; place < chunks_.size(); ++place)
    if (chunks_[place].mapped) discard(static_cast<std::uint16_t>(place));
  discarded_.clear();
  update_interrupt();
}

void Tracker::update_interrupt() {
  if (interrupt.size() != 0) interrupt->write(registers.interrupt.error() != 0);
}

void Tracker::refuse(Status status, std::uint64_t address, const std::string& text) {
  registers.status.code.set(status);
  registers.report(status, address, text);
}

bool Tracker::in_use() const {
  return std::any_of(chunks_.begin(), chunks_.end(), [](const Chunk& chunk) { return chunk.mapped; });
}

void Tracker::add_chunk() {
  Chunk chunk;
  chunk.range = staged_chunk(registers);
  chunk.updates = static_cast<std::uint32_t>(registers.updates.value());
  const auto operation = registers.command.operation();
  using Operations = registers::Tracker::Command::Operation;
  chunk.operation = operation == Operations::store ? Operation::store : Operation::update;

  const StagedChunk& range = chunk.range;
  if (operation == Operations::none)
    return refuse(Status::invalid_argument, range.base, "operation none: store or update expected");
  if (chunk.updates == 0 || chunk.updates > 255)
    return refuse(Status::invalid_argument, range.base,
                  fmt::format("{} updates of each element: 1 to 255 expected", chunk.updates));
  if (const ChunkCheck found = check(range, gpu_, spill); found.status != Status::ok)
    return refuse(found.status, range.base, found.text);
  if (is_written(range))
    return refuse(
        Status::busy, range.base,
        fmt::format("{}: a kernel that writes them runs, and nothing is mapped before it has ended", range.text()));
  auto place = std::find_if(chunks_.begin(), chunks_.end(), [](const Chunk& other) { return !other.mapped; });
  if (place == chunks_.end() && chunks_.size() == parameters_.chunks)
    return refuse(Status::table_full, range.base, fmt::format("all {} chunks are in use", parameters_.chunks));
  for (const Chunk& other : chunks_)
    if (other.mapped && range.overlaps(other.range))
      return refuse(Status::overlap, range.base, range.overlap(other.range));
  chunk.first_slot = free_slots(chunk.slots());
  const std::uint64_t table = registers.spill_entries.value();
  const std::uint32_t needed = chunk.first_slot + chunk.slots() <= table && !parameters_.strict
                                   ? 0
                                   : ways_needed(chunk, static_cast<std::uint16_t>(place - chunks_.begin()));
  if (needed > parameters_.ways)
    return refuse(
        Status::capacity, range.base,
        fmt::format("{} workgroups of {} wavefronts need {} ways with what is mapped, the Tracker has {}{}",
                    range.count, range.grid.wavefronts, needed, parameters_.ways,
                    parameters_.strict ? std::string()
                                       : fmt::format(" and its table in memory, for what spills, {} of the {} entries",
                                                     table, chunk.first_slot + chunk.slots())));
  if (needed == 0 && registers.spill_base.value() % slot_bytes != 0)
    return refuse(
        Status::unaligned, registers.spill_base.value(),
        fmt::format("the spill table at {:#x}: a multiple of {} expected", registers.spill_base.value(), slot_bytes));
  if (needed == 0 && table != 0 && !spill.holds(registers.spill_base.value(), table * slot_bytes))
    return refuse(Status::bad_address, registers.spill_base.value(),
                  fmt::format("the spill table of {} entries at {:#x} does not end in the memory of GPU {}{}", table,
                              registers.spill_base.value(), gpu_, number_hint(gpu_, registers.spill_base.value())));
  chunk.done.resize(chunk.slots());
  chunk.spilled.resize(chunk.slots());
  for (std::uint32_t tile = 0; tile < chunk.slots(); ++tile) {
    const std::uint64_t bytes = chunk.tile_bytes(tile);
    chunk.expected += bytes * chunk.updates;
    if (bytes != 0) ++chunk.tiles;
  }
  if (place == chunks_.end()) place = chunks_.insert(place, Chunk{});
  chunk.mapped = true;
  chunk.mapped_at = now();
  chunk.generation = place->generation;
  *place = std::move(chunk);
  discarded_.erase(std::remove_if(discarded_.begin(), discarded_.end(),
                                  [&](const StagedChunk& late) { return late.overlaps(place->range); }),
                   discarded_.end());
  update_hull();
  registers.status.code.set(Status::ok);
}

/// The lowest place in the spill table where so many entries are free together; chunks keep theirs while mapped.
std::uint64_t Tracker::free_slots(std::uint64_t count) const {
  std::uint64_t first = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (const Chunk& other : chunks_)
      if (other.mapped && first < other.first_slot + other.slots() && other.first_slot < first + count) {
        first = other.first_slot + other.slots();
        moved = true;
      }
  }
  return first;
}

/// Counts the fullest set's when all tiles of the mapped chunks, and of one more at this place of the list, have an
/// entry at the same time.
std::uint32_t Tracker::ways_needed(const Chunk& more, std::uint16_t more_place) const {
  std::vector<std::uint32_t> entries(parameters_.sets);
  const auto add = [&](std::uint16_t place, const StagedChunk& range) {
    for (std::uint32_t wg = range.first; wg < range.first + range.count; ++wg)
      for (std::uint32_t wf = 0; wf < range.grid.wavefronts; ++wf)
        ++entries[table_.set_of(place, wg, range.grid.wavefronts, wf)];
  };
  for (std::size_t place = 0; place < chunks_.size(); ++place)
    if (chunks_[place].mapped) add(static_cast<std::uint16_t>(place), chunks_[place].range);
  add(more_place, more.range);
  return *std::max_element(entries.begin(), entries.end());
}

/// A map is busy from the first access that it counts, or from the start of a kernel that writes its output, until it
/// is complete.
bool Tracker::is_busy(const Chunk& chunk) const {
  if (!chunk.mapped || chunk.complete == chunk.tiles) return false;
  return chunk.accepted != 0 || is_written(chunk.range);
}

bool Tracker::is_written(const StagedChunk& range) const {
  for (int i = 0; i < running_output.size(); ++i)
    if (running_output[i]->read().overlaps(range.base, range.grid.bytes())) return true;
  return false;
}

std::string Tracker::in_the_way(const OutputRange& output, bool) const {
  for (const Chunk& chunk : chunks_)
    if (chunk.mapped && chunk.complete != chunk.tiles && has_tiles_in(chunk.range, output))
      return fmt::format("{} are mapped and not complete", chunk.range.text());
  return {};
}

/// "workgroups 4 to 7 of the output at 0x1000 are being counted: 1 of 16 wavefront tiles are complete"
std::string Tracker::progress(const Chunk& chunk) {
  return fmt::format("{} are being counted: {} of {} wavefront tiles are complete", chunk.range.text(), chunk.complete,
                     chunk.tiles);
}

std::string Tracker::use_of(const OutputRange& range) const {
  for (const Chunk& chunk : chunks_)
    if (chunk.mapped && chunk.accepted != 0 && chunk.complete != chunk.tiles && has_tiles_in(chunk.range, range))
      return progress(chunk);
  return kept_in(range);
}

/// All of it, from the first map to the end of the last one: which entries will spill is not known before.
std::string Tracker::kept_in(const OutputRange& range) const {
  const std::uint64_t base = registers.spill_base.value(), bytes = registers.spill_entries.value() * slot_bytes;
  if (!in_use() || bytes == 0 || !range.overlaps(base, bytes)) return {};
  return fmt::format("the Tracker keeps counts of what is mapped in its spill table at {:#x} to {:#x}", base,
                     base + bytes - 1);
}

void Tracker::remove(bool all, bool force) {
  const StagedChunk staged = staged_chunk(registers);
  const auto is_meant = [&](const Chunk& chunk) {
    return chunk.mapped && (all || (chunk.range.base == staged.base && chunk.range.first == staged.first &&
                                    chunk.range.count == staged.count));
  };
  if (!all && std::none_of(chunks_.begin(), chunks_.end(), is_meant))
    return refuse(Status::invalid_argument, staged.base, fmt::format("{} are not mapped", staged.text()));
  for (const Chunk& chunk : chunks_)
    if (is_meant(chunk) && is_busy(chunk) && !force)
      return refuse(Status::busy, chunk.range.base, progress(chunk) + ", and nothing is removed before all are");
  for (std::size_t place = 0; place < chunks_.size(); ++place) {
    if (!is_meant(chunks_[place])) continue;
    if (is_busy(chunks_[place])) discarded_.push_back(chunks_[place].range);
    discard(static_cast<std::uint16_t>(place));
  }
  registers.status.code.set(Status::ok);
  if (!in_use()) registers.status.counting.set(Status::ok);
}

/// The chunk's counts, wherever they are, are gone. What is on its way for them finds another generation.
void Tracker::discard(std::uint16_t place) {
  Chunk& chunk = chunks_[place];
  used_ -= static_cast<std::uint64_t>(std::count(chunk.spilled.begin(), chunk.spilled.end(), true));
  used_ -= table_.forget(place);
  const auto generation = static_cast<std::uint16_t>(chunk.generation + 1);
  chunk = Chunk{};
  chunk.generation = generation;
  update_hull();
  std::vector<std::uint32_t> sets;
  for (const auto& [set, waiting] : waiting_) sets.push_back(set);
  std::sort(sets.begin(), sets.end());
  for (const std::uint32_t set : sets) go_on(set);
}

void Tracker::update_hull() {
  hull_begin_ = ~std::uint64_t{0};
  hull_end_ = 0;
  for (const Chunk& chunk : chunks_) {
    if (!chunk.mapped || chunk.complete == chunk.tiles) continue;
    hull_begin_ = std::min(hull_begin_, chunk.range.base);
    hull_end_ = std::max(hull_end_, chunk.range.base + chunk.range.grid.bytes());
  }
}

}  // namespace t3vp::memory
