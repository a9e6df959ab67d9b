#include "dma/command_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "protocol/access_description.h"
#include "protocol/gpu_name.h"
#include "registers/signals.h"
#include "t3/address.h"

namespace t3vp::dma {

CommandTable::CommandTable(registers::Dma& registers, DmaStatus& status, DataInitiatorBase& memory,
                           DataInitiatorBase& remote, Counters& counters, std::uint16_t gpu, std::uint32_t capacity)
    : registers_(registers),
      status_(status),
      memory_(memory),
      remote_(remote),
      counters_(counters),
      gpu_(gpu),
      capacity_(capacity) {}

void CommandTable::clear() {
  commands_.clear();
  former_maps_.clear();
}

Command* CommandTable::find(std::uint32_t serial) {
  const auto found = std::find_if(commands_.begin(), commands_.end(),
                                  [serial](const Command& command) { return command.serial == serial; });
  return found == commands_.end() ? nullptr : &*found;
}

/// Returns the used entries, further destinations included.
std::size_t CommandTable::used() const {
  std::size_t count = 0;
  for (const Command& command : commands_) count += std::max<std::size_t>(command.destinations.size(), 1);
  return count;
}

std::size_t CommandTable::pending() const {
  return static_cast<std::size_t>(
      std::count_if(commands_.begin(), commands_.end(), [](const Command& c) { return !c.is_complete(); }));
}

bool CommandTable::uses_queue(std::size_t queue) const {
  return std::any_of(commands_.begin(), commands_.end(),
                     [&](const Command& command) { return command.by_queue && command.queue == queue; });
}

bool CommandTable::remove(bool all, bool force, bool fill_runs) {
  const StagedChunk staged = staged_chunk(registers_);
  const auto is_meant = [&](const Command& command) { return all || command.is_of(staged); };
  const auto refuse = [&](Status status, std::uint64_t address, const std::string& text) {
    status_.refuse(status, address, text);
    return false;
  };
  if (!all && std::none_of(commands_.begin(), commands_.end(), is_meant))
    return refuse(Status::invalid_argument, staged.base, fmt::format("{} are not mapped", staged.text()));
  if (fill_runs && !force)  // whose failure would be lost in status.code
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
  status_.accept();
  if (commands_.empty()) status_.table_is_empty();
  return true;
}

Command CommandTable::staged() const {
  Command command;
  command.range = staged_chunk(registers_);
  command.block_tiles = static_cast<std::uint32_t>(registers_.block_tiles.value());
  using Sent = registers::Dma::Command::Operation;
  const Sent operation = registers_.command.operation();
  command.kind = operation == Sent::store    ? Command::Kind::store
                 : operation == Sent::update ? Command::Kind::update
                                             : Command::Kind::notify;
  command.reads = registers_.command.reads();
  command.writes = registers_.command.writes();
  command.by_queue = command.kind != Command::Kind::notify && registers_.way.kind() == registers::Dma::Way::Kind::queue;
  command.queue = static_cast<std::size_t>(registers_.way.queue());
  command.local_key = static_cast<std::uint32_t>(registers_.local_key.value());
  command.remote_key = static_cast<std::uint32_t>(registers_.remote_key.value());
  command.signal = static_cast<std::uint32_t>(registers_.signal.value());
  command.signals_ready = registers_.signal_point.when() == registers::Dma::SignalPoint::When::ready;
  if (command.kind != Command::Kind::notify) command.destinations = {registers_.destination_base.value()};
  return command;
}

/// False when the command is refused, with the reason in the status.
bool CommandTable::takes(const Command& command, registers::Dma::Command::Operation operation) {
  const StagedChunk& range = command.range;
  const auto refuse = [&](Status status, std::uint64_t address, const std::string& text) {
    status_.refuse(status, address, text);
    return false;
  };
  if (operation == registers::Dma::Command::Operation::none)
    return refuse(Status::invalid_argument, range.base, "operation none: store, update or notify expected");
  if (const ChunkCheck found = check(range, gpu_, memory_); found.status != Status::ok)
    return refuse(found.status, range.base, found.text);
  if (command.signal != Command::no_signal &&
      (command.signal == T3_SIGNAL_BARRIER || command.signal >= registers::Signals::value_count))
    return refuse(
        Status::invalid_argument, range.base,
        fmt::format("signal {}: a counter below {} that is not the barrier's, {}, or {:#x} for none, expected",
                    command.signal, registers::Signals::value_count, T3_SIGNAL_BARRIER, Command::no_signal));
  if (command.block_tiles == 0 || command.block_tiles > range.grid.wavefronts ||
      range.grid.wavefronts % command.block_tiles != 0)
    return refuse(Status::invalid_argument, range.base,
                  fmt::format("{} wavefront tiles per block: a divisor of the {} wavefronts expected",
                              command.block_tiles, range.grid.wavefronts));
  if (command.kind != Command::Kind::notify) {
    const std::uint64_t destination = command.destinations[0];
    const ChunkCheck found = command.by_queue
                                 ? check_queue_(command)
                                 : check_destination(range, destination, command.kind == Command::Kind::store);
    if (found.status != Status::ok) return refuse(found.status, destination, found.text);
  }
  for (const Command& other : commands_)
    if (range.overlaps(other.range)) return refuse(Status::overlap, range.base, range.overlap(other.range));
  if (used() == capacity_)
    return refuse(Status::table_full, range.base, fmt::format("all {} commands are in use", capacity_));
  return true;
}

void CommandTable::add() {
  Command command = staged();
  if (!takes(command, registers_.command.operation())) return;
  const StagedChunk& range = command.range;
  for (std::uint32_t wg = range.first; wg < range.first + range.count; ++wg)
    for (std::uint32_t wf = 0; wf < range.grid.wavefronts; ++wf)
      if (!range.grid.wavefront_tile(wg, wf).empty()) ++command.tiles;
  command.ready.resize(std::size_t{range.count} * range.grid.wavefronts / command.block_tiles);
  command.behind.resize(command.ready.size());
  command.serial = serials_++;
  if (order_ != nullptr) command.added = order_->point_of(gpu_, OrderObserver::program);
  commands_.push_back(std::move(command));
  status_.accept();
}

namespace {

/// A further destination has the layout of its command. Returns what differs; empty when nothing does.
std::string other_layout(const StagedChunk& staged, const StagedChunk& mapped) {
  const TileGrid &a = staged.grid, &b = mapped.grid;
  if (a.wavefronts != b.wavefronts)
    return fmt::format("{} wavefronts per workgroup: the map's {} expected", a.wavefronts, b.wavefronts);
  if (a.tile_rows != b.tile_rows || a.tile_columns != b.tile_columns)
    return fmt::format("tiles of {} x {}: the map's {} x {} expected", a.tile_rows, a.tile_columns, b.tile_rows,
                       b.tile_columns);
  if (a.rows != b.rows || a.columns != b.columns || a.row_stride != b.row_stride || a.element != b.element)
    return fmt::format("an output of {} x {} {}, {} bytes from row to row: the map's {} x {} {}, {} bytes, expected",
                       a.rows, a.columns, name_of(a.element), a.row_stride, b.rows, b.columns, name_of(b.element),
                       b.row_stride);
  return {};
}

/// The destination of the command whose bytes this one would overwrite, or none.
std::optional<std::uint64_t> overlapped(const Command& command, std::uint64_t destination) {
  StagedChunk added = command.range, there = command.range;
  added.base = destination;
  for (const std::uint64_t other : command.destinations) {
    there.base = other;
    if (added.touches(there)) return other;
  }
  return std::nullopt;
}

}  // namespace

/// A sent tile could not be taken back from one destination only, so that none is added behind the first tile.
void CommandTable::add_destination() {
  const StagedChunk staged = staged_chunk(registers_);
  const std::uint64_t destination = registers_.destination_base.value();
  const auto found =
      std::find_if(commands_.begin(), commands_.end(), [&](const Command& command) { return command.is_of(staged); });
  if (found == commands_.end() || found->kind == Command::Kind::notify)
    return status_.refuse(Status::invalid_argument, staged.base,
                          fmt::format("{} are not mapped to a peer", staged.text()));
  Command& command = *found;
  if (command.by_queue)
    return status_.refuse(
        Status::invalid_argument, destination,
        fmt::format("{} are sent by a queue of the NIC, to one peer: no further destination expected", staged.text()));
  if (const std::string wrong = other_layout(staged, command.range); !wrong.empty())
    return status_.refuse(Status::invalid_argument, destination,
                          fmt::format("a further destination for {} with {}", staged.text(), wrong));
  if (const ChunkCheck wrong = check_destination(command.range, destination); wrong.status != Status::ok)
    return status_.refuse(wrong.status, destination, wrong.text);
  const std::optional<std::uint64_t> other = overlapped(command, destination);
  if (other == destination)
    return status_.refuse(Status::overlap, destination,
                          fmt::format("{} are sent to {:#x} already", staged.text(), destination));
  if (other)
    return status_.refuse(Status::overlap, destination,
                          fmt::format("{} at {:#x} overlap the same at {:#x}, where they are sent already: no common "
                                      "bytes expected",
                                      staged.text(), destination, *other));
  if (command.begun)
    return status_.refuse(
        Status::busy, destination,
        fmt::format("{} are being sent: a destination before the first tile is complete expected", staged.text()));
  if (used() == capacity_)
    return status_.refuse(Status::table_full, destination, fmt::format("all {} commands are in use", capacity_));
  command.destinations.push_back(destination);
  status_.accept();
}

ChunkCheck CommandTable::check_peer(std::uint64_t destination) const {
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

ChunkCheck CommandTable::check_destination(const StagedChunk& range, std::uint64_t destination, bool stores) {
  const std::uint64_t peer = address_map::gpu_of(destination);
  const bool is_multicast = stores && peer == address_map::all_gpus && remote_.reaches(destination);
  const ChunkCheck wrong =
      check_peer(is_multicast ? address_map::on_gpu(gpu_ + 1, address_map::local_of(destination)) : destination);
  if (wrong.status != Status::ok) return wrong;
  if (!remote_.reaches(destination))
    return {Status::no_peer, fmt::format("GPU {} of destination {:#x} cannot be reached", peer, destination)};
  if (!remote_.holds(destination, range.grid.bytes()))
    return {Status::bad_address, fmt::format("destination {:#x} of {:#x} bytes does not end in the memory of {}",
                                             destination, range.grid.bytes(), gpu_name(peer))};
  return {};
}

namespace {

/// Why the command's tile of these ids is not the one that has been triggered; empty when it is.
std::string misfit(const Command& command, const tlm::tlm_generic_payload& message) {
  const DataExtension& extension = *message.get_extension<DataExtension>();
  const Producer& producer = extension.producer;
  const StagedChunk& range = command.range;
  if (producer.wf_id >= range.grid.wavefronts)
    return fmt::format("the command for {} has {} wavefronts", range.text(), range.grid.wavefronts);
  const Rectangle part = range.grid.wavefront_tile(producer.wg_id, producer.wf_id);
  const Shape tile = range.grid.shape(part), &complete = extension.shape;
  const std::uint64_t address = range.base + range.grid.offset(part);
  const bool same = message.get_address() == address && complete.rows == tile.rows &&
                    complete.row_bytes == tile.row_bytes && complete.stride == tile.stride &&
                    extension.element == range.grid.element;
  if (same) return {};
  return fmt::format(
      "{} rows of {} bytes of {}, {} apart, at {:#x} are complete; the command for {} has {} rows of {} bytes of {}, "
      "{} apart, at {:#x}",
      complete.rows, complete.row_bytes, name_of(extension.element), complete.stride, message.get_address(),
      range.text(), tile.rows, tile.row_bytes, name_of(range.grid.element), tile.stride, address);
}

}  // namespace

Command* CommandTable::find_triggered(const tlm::tlm_generic_payload& message, std::string& wrong) {
  const std::uint32_t wg_id = message.get_extension<DataExtension>()->producer.wg_id;
  const auto command = std::find_if(commands_.begin(), commands_.end(), [&](const Command& candidate) {
    return candidate.range.contains(wg_id, message.get_address());
  });
  wrong = command == commands_.end() ? std::string("no command covers it") : misfit(*command, message);
  return wrong.empty() ? &*command : nullptr;
}

void CommandTable::signal(const Command& command, OrderPoint point) {
  if (command.signal != Command::no_signal && counters_.size() != 0) counters_->count(command.signal, point);
}

void CommandTable::triggered(Command& command, OrderPoint point) {
  if (order_ != nullptr) command.made = order_->join(command.made, point);
  if (++command.triggered == command.tiles && command.signals_ready) signal(command, command.made);
}

void CommandTable::arrived(Command& command, OrderPoint point, std::size_t arrivals) {
  command.last_done = now();
  command.done += arrivals;
  if (order_ != nullptr) {
    command.arrived = order_->join(command.arrived, point);
    order_->show(address_map::on_gpu(gpu_, address_map::block_base(address_map::Block::dma)), command.arrived);
  }
  if (!command.is_complete()) return;
  if (!command.signals_ready) signal(command, command.arrived);
  status_.command_is_complete();
}

/// The code of a fill that has failed stays in the status.
void CommandTable::look() const {
  const StagedChunk staged = staged_chunk(registers_);
  const auto found =
      std::find_if(commands_.begin(), commands_.end(), [&](const Command& command) { return command.is_of(staged); });
  const bool is_mapped = found != commands_.end();
  registers_.chunk_done.set(is_mapped ? found->done : 0);
  registers_.chunk_tiles.set(is_mapped ? found->arrivals() : 0);
  if (!is_mapped)
    registers_.report(Status::invalid_argument, staged.base, fmt::format("{} are not mapped", staged.text()));
}

bool CommandTable::sends_to(std::uint32_t wg_id, std::uint64_t peer_address) const {
  return std::any_of(commands_.begin(), commands_.end(),
                     [&](const Command& command) { return command.sends_to(wg_id, peer_address); });
}

bool CommandTable::has_sent_to(std::uint32_t wg_id, std::uint64_t peer_address) const {
  return std::any_of(commands_.begin(), commands_.end(), [&](const Command& command) {
    return command.sends_to(wg_id, peer_address) && command.is_complete();
  });
}

std::vector<std::string> CommandTable::contents() const {
  constexpr const char* kinds[] = {"store", "update", "notify"};
  std::vector<std::string> lines;
  for (const Command& command : commands_) {
    std::string line =
        fmt::format("dma_map of {}: {}", command.range.text(), kinds[static_cast<std::size_t>(command.kind)]);
    for (const std::uint64_t destination : command.destinations)
      line += fmt::format("{} to {:#x} of {}", destination == command.destinations.front() ? "" : ",", destination,
                          gpu_name(address_map::gpu_of(destination)));
    if (command.by_queue) line += fmt::format(" by queue {}", command.queue);
    lines.push_back(line + fmt::format("; {} of {} wavefront tiles {}", command.done, command.arrivals(),
                                       command.kind == Command::Kind::notify ? "are final" : "have arrived"));
  }
  return lines;
}

std::vector<std::string> CommandTable::diagnosis() const {
  std::vector<std::string> lines;
  for (const Command& command : commands_)
    if (!command.is_complete())
      lines.push_back(fmt::format("GPU {} DMA: {} of {} wavefront tiles of {} {}", gpu_, command.done,
                                  command.arrivals(), command.range.text(),
                                  command.kind == Command::Kind::notify ? "are final" : "have arrived"));
  return lines;
}

}  // namespace t3vp::dma
