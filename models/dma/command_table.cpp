// Commands come and go.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dma/dma_engine.h"

namespace t3vp::dma {

DmaEngine::Command* DmaEngine::find(std::uint32_t serial) {
  const auto found = std::find_if(commands_.begin(), commands_.end(),
                                  [serial](const Command& command) { return command.serial == serial; });
  return found == commands_.end() ? nullptr : &*found;
}

/// What further destinations take, too.
std::size_t DmaEngine::used() const {
  std::size_t count = 0;
  for (const Command& command : commands_) count += std::max<std::size_t>(command.destinations.size(), 1);
  return count;
}

void DmaEngine::remove(bool all, bool force) {
  const StagedChunk staged = staged_chunk(registers);
  const auto is_meant = [&](const Command& command) {
    return all || (command.range.base == staged.base && command.range.first == staged.first &&
                   command.range.count == staged.count);
  };
  if (!all && std::none_of(commands_.begin(), commands_.end(), is_meant))
    return refuse(Status::invalid_argument, staged.base, fmt::format("{} are not mapped", staged.text()));
  if (fills() && !force)  // whose failure would be lost in status.code
    return refuse(Status::busy, staged.base, "a fill runs: nothing is removed before it has ended");
  for (const Command& command : commands_)
    if (is_meant(command) && command.is_busy() && !force)
      return refuse(Status::busy, command.range.base,
                    fmt::format("{} are being sent: {} of {} wavefront tiles are done", command.range.text(),
                                command.done, command.arrivals()));
  for (const Command& command : commands_)
    if (is_meant(command) && command.done != 0)
      for (const std::uint64_t destination : command.destinations)
        former_maps_.note(command.range, destination, command.last_done);
  commands_.erase(std::remove_if(commands_.begin(), commands_.end(), is_meant), commands_.end());
  const auto forget = [this](std::deque<Job>& jobs) {
    const auto is_gone = [this](const Job& job) { return find(job.serial) == nullptr; };
    jobs.erase(std::remove_if(jobs.begin(), jobs.end(), is_gone), jobs.end());
  };
  forget(jobs_);
  for (NicQueue& queue : queues_) forget(queue.waiting);
  registers.status.code.set(Status::ok);
  if (commands_.empty()) registers.status.transfer.set(Status::ok);
}

void DmaEngine::add() {
  Command command;
  command.range = staged_chunk(registers);
  command.block_tiles = static_cast<std::uint32_t>(registers.block_tiles.value());
  using Sent = registers::Dma::Command::Operation;
  const Sent operation = registers.command.operation();
  command.kind = operation == Sent::store ? Kind::store : operation == Sent::update ? Kind::update : Kind::notify;
  command.reads = registers.command.reads();
  command.writes = registers.command.writes();
  command.by_queue = command.kind != Kind::notify && registers.way.kind() == registers::Dma::Way::Kind::queue;
  command.queue = static_cast<std::size_t>(registers.way.queue());
  command.local_key = static_cast<std::uint32_t>(registers.local_key.value());
  command.remote_key = static_cast<std::uint32_t>(registers.remote_key.value());

  if (operation == Sent::none)
    return refuse(Status::invalid_argument, command.range.base, "operation none: store, update or notify expected");
  if (const ChunkCheck found = check(command.range, gpu_, memory); found.status != Status::ok)
    return refuse(found.status, command.range.base, found.text);
  if (command.block_tiles == 0 || command.block_tiles > command.range.grid.wavefronts ||
      command.range.grid.wavefronts % command.block_tiles != 0)
    return refuse(Status::invalid_argument, command.range.base,
                  fmt::format("{} wavefront tiles per block: a divisor of the {} wavefronts expected",
                              command.block_tiles, command.range.grid.wavefronts));
  if (command.kind != Kind::notify) {
    command.destinations = {registers.destination_base.value()};
    const ChunkCheck found =
        command.by_queue ? check_route(command) : check_destination(command.range, command.destinations[0]);
    if (found.status != Status::ok) return refuse(found.status, command.destinations[0], found.text);
  }
  for (const Command& other : commands_)
    if (command.range.overlaps(other.range))
      return refuse(Status::overlap, command.range.base, command.range.overlap(other.range));
  if (used() == parameters_.commands)
    return refuse(Status::table_full, command.range.base,
                  fmt::format("all {} commands are in use", parameters_.commands));

  const StagedChunk& range = command.range;
  for (std::uint32_t wg = range.first; wg < range.first + range.count; ++wg)
    for (std::uint32_t wf = 0; wf < range.grid.wavefronts; ++wf)
      if (!range.grid.wavefront_tile(wg, wf).empty()) ++command.tiles;
  command.ready.resize(std::size_t{range.count} * range.grid.wavefronts / command.block_tiles);
  command.serial = serials_++;
  commands_.push_back(std::move(command));
  registers.status.code.set(Status::ok);
}

/// A sent tile could not be taken back from one destination only, so that none is added behind the first tile.
void DmaEngine::add_destination() {
  const StagedChunk staged = staged_chunk(registers);
  const std::uint64_t destination = registers.destination_base.value();
  const auto found = std::find_if(commands_.begin(), commands_.end(), [&](const Command& command) {
    return command.range.base == staged.base && command.range.first == staged.first &&
           command.range.count == staged.count;
  });
  if (found == commands_.end() || found->kind == Kind::notify)
    return refuse(Status::invalid_argument, staged.base, fmt::format("{} are not mapped to a peer", staged.text()));
  Command& command = *found;
  if (command.by_queue)
    return refuse(
        Status::invalid_argument, destination,
        fmt::format("{} are sent by a queue of the NIC, to one peer: no further destination expected", staged.text()));
  if (const ChunkCheck wrong = check_destination(command.range, destination); wrong.status != Status::ok)
    return refuse(wrong.status, destination, wrong.text);
  if (std::count(command.destinations.begin(), command.destinations.end(), destination) != 0)
    return refuse(Status::overlap, destination,
                  fmt::format("{} are sent to {:#x} already", staged.text(), destination));
  if (command.begun)
    return refuse(
        Status::busy, destination,
        fmt::format("{} are being sent: a destination before the first tile is complete expected", staged.text()));
  if (used() == parameters_.commands)
    return refuse(Status::table_full, destination, fmt::format("all {} commands are in use", parameters_.commands));
  command.destinations.push_back(destination);
  registers.status.code.set(Status::ok);
}

/// Whatever the way.
ChunkCheck DmaEngine::check_peer(std::uint64_t destination) const {
  const std::uint64_t peer = address_map::gpu_of(destination);
  if (destination % 32 != 0)
    return {Status::unaligned, fmt::format("destination {:#x} must be a multiple of 32", destination)};
  if (peer == gpu_)
    return {Status::no_peer,
            fmt::format("destination {:#x} is this GPU's own: one of another GPU expected", destination)};
  if (peer == address_map::all_gpus)
    return {Status::no_peer, fmt::format("destination {:#x} is all GPUs': one of another GPU expected", destination)};
  return {};
}

ChunkCheck DmaEngine::check_destination(const StagedChunk& range, std::uint64_t destination) {
  const std::uint64_t peer = address_map::gpu_of(destination);
  if (const ChunkCheck wrong = check_peer(destination); wrong.status != Status::ok) return wrong;
  if (!remote.reaches(destination))
    return {Status::no_peer, fmt::format("GPU {} of destination {:#x} cannot be reached", peer, destination)};
  if (!remote.holds(destination, range.grid.bytes()))
    return {Status::bad_address, fmt::format("destination {:#x} of {:#x} bytes does not end in the memory of GPU {}",
                                             destination, range.grid.bytes(), peer)};
  return {};
}

}  // namespace t3vp::dma
