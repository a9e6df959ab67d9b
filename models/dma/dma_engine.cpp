#include "dma/dma_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "protocol/access_description.h"
#include "protocol/response_status.h"

namespace t3vp::dma {
namespace {
constexpr std::uint64_t fill_piece = 4096;
}

DmaEngine::DmaEngine(const sc_core::sc_module_name& name, const DmaParameters& parameters, bool functional,
                     std::uint16_t gpu, Trace* trace)
    : sc_module(name), parameters_(parameters), functional_(functional), gpu_(gpu), trace_(trace) {
  if (trace_ != nullptr) track_ = trace_->track(fmt::format("GPU {}", gpu), "DMA");
  trigger.report_to(registers.errors, registers.description().name);
  trigger.expect({false, true});
  registers.command.on_write([this] { command(); });
  registers.interrupt.on_write([this] { update_interrupt(); });
  registers.capacity.set(parameters.commands);
  registers.status.on_refresh([this] { registers.status.busy.set(busy()); });
  registers.used.on_refresh([this] { registers.used.set(used()); });
  registers.pending.on_refresh([this] {
    registers.pending.set(static_cast<std::uint64_t>(
        std::count_if(commands_.begin(), commands_.end(), [](const Command& c) { return !c.is_complete(); })));
  });
  registers.blocks.on_refresh([this] { registers.blocks.set(blocks_); });
  registers.bytes.on_refresh([this] { registers.bytes.set(bytes_); });
  registers.queue_entries.on_write([this](std::size_t number) { begin_queue(number); });
  registers.queue_posted.on_refresh([this](std::size_t i) { registers.queue_posted[i].set(queues_[i].posted); });
  registers.queue_ended.on_refresh([this](std::size_t i) { registers.queue_ended[i].set(queues_[i].ended); });
  registers.on_reset([this] { reset(); });
  remote.on_taken(&DmaEngine::remote_taken);

  SC_HAS_PROCESS(DmaEngine);
  SC_METHOD(step);
  sensitive << events_.event();
  dont_initialize();
}

/// What has been sent and no memory has taken is lost; answers to anything that was under way find nobody who asked.
void DmaEngine::reset() {
  ++generation_;
  while (!events_.empty()) {
    const Event event = events_.pop();
    if (event.transaction != nullptr && event.what != Event::taken) event.transaction->release();
  }
  commands_.clear();
  former_maps_.clear();
  jobs_.clear();
  queues_.fill({});
  links_left_.clear();
  bytes_in_flight_ = unacknowledged_ = fill_left_ = fill_outstanding_ = blocks_ = bytes_ = 0;
  registers.capacity.set(parameters_.commands);
  update_interrupt();
}

bool DmaEngine::is_stale(const tlm::tlm_generic_payload& transaction) const {
  return transaction.get_extension<DataExtension>()->token >> 32 != generation_;
}

void DmaEngine::update_interrupt() {
  interrupt.write(registers.interrupt.complete() != 0 || registers.interrupt.filled() != 0);
  if (error_interrupt.size() != 0) error_interrupt->write(registers.interrupt.error() != 0);
}

/// A transfer has failed: the first one's code stays until the table is empty.
void DmaEngine::fail(Status status, std::uint64_t address, const std::string& text) {
  registers.report(status, address, text);
  if (registers.status.transfer() == Status::ok) registers.status.transfer.set(status);
  registers.interrupt.error.set(1);
  update_interrupt();
}

void DmaEngine::command() {
  using Action = registers::Dma::Command::Action;
  switch (registers.command.action()) {
    case Action::add:
      add();
      break;
    case Action::remove_all:
      remove(true, registers.command.force() != 0);
      break;
    case Action::remove:
      remove(false, registers.command.force() != 0);
      break;
    case Action::add_destination:
      add_destination();
      break;
    case Action::fill:
      fill();
      break;
    case Action::none:
      break;
  }
}

void DmaEngine::refuse(Status status, std::uint64_t address, const std::string& text) {
  registers.status.code.set(status);
  registers.report(status, address, text);
}

/// Why the command's tile of these ids is not the one that has been triggered; empty when it is.
std::string DmaEngine::misfit(const Command& command, const tlm::tlm_generic_payload& message) const {
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

/// What fits no command is a failed transfer: the Tracker's maps and the commands do not agree.
void DmaEngine::triggered(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  const Producer producer = extension_of(transaction).producer;
  if (extension_of(transaction).operation != Operation::store) {
    registers.report(Status::invalid_argument, transaction.get_address(),
                     describe(transaction) + ": a trigger is a store");
    transaction.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return trigger.respond(transaction, delay);
  }
  const auto command = std::find_if(commands_.begin(), commands_.end(), [&](const Command& candidate) {
    return candidate.range.contains(producer.wg_id, transaction.get_address());
  });
  const std::string wrong =
      command == commands_.end() ? std::string("no command covers it") : misfit(*command, transaction);
  if (wrong.empty()) {
    command->begun = true;
    events_.push(now() + delay, {Event::ready, {command->serial, producer.wg_id, producer.wf_id}, nullptr});
    transaction.set_response_status(tlm::TLM_OK_RESPONSE);
  } else {
    fail(Status::mismatch, transaction.get_address(),
         fmt::format("trigger of workgroup {} wavefront {}: {}", producer.wg_id, producer.wf_id, wrong));
    transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
  trigger.respond(transaction, delay);
}

void DmaEngine::step() {
  while (events_.ready()) {
    const Event event = events_.pop();
    switch (event.what) {
      case Event::ready:
        make_ready(event.job);
        break;
      case Event::loaded:
        send(*event.transaction);
        break;
      case Event::taken:
        left(*event.transaction);
        break;
      case Event::acknowledged:
        --unacknowledged_;
        ended(*event.transaction);
        break;
      case Event::written:
        written(queue_of(*event.transaction), *event.transaction);
        break;
      case Event::rung:
        rung(*event.transaction);
        break;
      case Event::posted:
        entry_ended(queue_of(*event.transaction), *event.transaction);
        break;
      case Event::filled:
        fill_outstanding_ -= event.transaction->get_data_length();
        if (event.transaction->is_response_error()) {
          registers.status.code.set(status_of_data_access(*event.transaction));
          fill_left_ = 0;
        }
        event.transaction->release();
        continue_fill();
        break;
    }
  }
  start_jobs();
  for (std::size_t queue = 0; queue < queues_.size(); ++queue) post(queue);
  events_.arm();
}

/// A tile has had all its accesses; its block goes when all tiles of it have.
void DmaEngine::make_ready(const Job& job) {
  Command* const command = find(job.serial);
  if (command == nullptr) return;
  const TileGrid& grid = command->range.grid;
  const std::uint32_t tile = (job.wg_id - command->range.first) * grid.wavefronts + job.wf_id;
  std::uint8_t& ready = command->ready[tile / command->block_tiles];
  const auto bit = static_cast<std::uint8_t>(1u << tile % command->block_tiles);
  if ((ready & bit) != 0)
    return fail(Status::excess, command->range.base + grid.offset(grid.wavefront_tile(job.wg_id, job.wf_id)),
                fmt::format("wavefront {} of workgroup {} is triggered a second time", job.wf_id, job.wg_id));
  ready |= bit;
  if (command->kind == Kind::notify) return tile_done(*command);
  const std::uint32_t first_wf = job.wf_id / command->block_tiles * command->block_tiles;
  std::uint32_t expected = 0;
  for (std::uint32_t wf = first_wf; wf < first_wf + command->block_tiles; ++wf)
    if (!grid.wavefront_tile(job.wg_id, wf).empty()) ++expected;
  if (ready != (1u << expected) - 1) return;  // the empty tiles are the last
  std::deque<Job>& line = command->by_queue ? queues_[command->queue].waiting : jobs_;
  for (std::uint32_t wf = first_wf; wf < first_wf + expected; ++wf) line.push_back({job.serial, job.wg_id, wf});
}

/// A piece larger than the whole buffer may go when the buffer is empty.
bool DmaEngine::fits(std::uint64_t in_flight, std::uint64_t bytes) const {
  return in_flight == 0 || in_flight + bytes <= parameters_.bytes_in_flight;
}

void DmaEngine::start_jobs() {
  while (!jobs_.empty()) {
    const Job& job = jobs_.front();
    const TileGrid& grid = find(job.serial)->range.grid;
    const std::uint64_t bytes = grid.wavefront_tile(job.wg_id, job.wf_id).elements() * bytes_of(grid.element);
    if (!fits(bytes_in_flight_, bytes)) return;
    read(job);
    jobs_.pop_front();
  }
}

void DmaEngine::read(const Job& job) {
  const Command& command = *find(job.serial);
  const TileGrid& grid = command.range.grid;
  const Rectangle part = grid.wavefront_tile(job.wg_id, job.wf_id);
  Transaction& transaction = pool_.make(Operation::load, command.range.base + grid.offset(part), grid.shape(part));
  DataExtension& extension = transaction.extension();
  extension.stream = Stream::communication;
  extension.traffic = command.reads;
  extension.element = grid.element;
  extension.cached = false;
  extension.producer = {job.wg_id, static_cast<std::uint8_t>(job.wf_id), gpu_};
  extension.token = token_of(job.serial);
  if (functional_) transaction.attach_buffer();
  bytes_in_flight_ += extension.shape.bytes();
  memory.send(transaction, parameters_.latency);
}

void DmaEngine::memory_response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  if (is_stale(transaction)) return transaction.release();
  const bool load = extension_of(transaction).operation == Operation::load;
  const auto serial = static_cast<std::uint32_t>(extension_of(transaction).token);
  const Event::What what = load ? Event::loaded : is_queue_token(serial) ? Event::written : Event::filled;
  events_.push(now() + delay, {what, {}, static_cast<Transaction*>(&transaction)});
}

/// Whether the tile is the last of its block; the tiles behind it are empty.
bool DmaEngine::ends_block(const Command& command, const Producer& tile) {
  const std::uint32_t next = tile.wf_id + 1u;
  return next % command.block_tiles == 0 || command.range.grid.wavefront_tile(tile.wg_id, next).empty();
}

/// The data read goes out as a store or update of the same tile in the peers' memories.
void DmaEngine::send(Transaction& read) {
  const Command* const found = command_of(read);
  if (found == nullptr || read.is_response_error()) return ended(read);
  const Command& command = *found;
  const Producer& producer = read.extension().producer;
  if (trace_ != nullptr)
    trace_->span(track_, "dma", now(), now() + 1000, flow_of(gpu_, producer.wg_id, producer.wf_id));
  if (ends_block(command, producer)) blocks_ += command.destinations.size();
  if (command.destinations.size() > 1)
    links_left_[{read.extension().token, producer.wg_id, producer.wf_id}] = command.destinations.size();
  for (const std::uint64_t destination : command.destinations) send_to(command, destination, read);
  read.release();
}

void DmaEngine::send_to(const Command& command, std::uint64_t destination, Transaction& read) {
  const DataExtension& extension = read.extension();
  Transaction& transaction = pool_.make(command.kind == Kind::update ? Operation::update : Operation::store,
                                        read.get_address() - command.range.base + destination, extension.shape);
  transaction.extension().stream = Stream::communication;
  transaction.extension().traffic = command.writes;
  transaction.extension().element = extension.element;
  transaction.extension().cached = false;
  transaction.extension().producer = extension.producer;
  transaction.extension().token = extension.token;
  if (const unsigned char* data = read.get_data_ptr()) {
    transaction.attach_buffer();
    std::memcpy(transaction.get_data_ptr(), data, transaction.get_data_length());
  }
  ++unacknowledged_;
  remote.send(transaction, 0);
}

/// Room is made when the last link has taken the tile.
void DmaEngine::left(const tlm::tlm_generic_payload& tile) {
  const DataExtension& extension = *tile.get_extension<DataExtension>();
  const auto found = links_left_.find({extension.token, extension.producer.wg_id, extension.producer.wf_id});
  if (found != links_left_.end() && --found->second != 0) return;
  if (found != links_left_.end()) links_left_.erase(found);
  bytes_in_flight_ -= extension.shape.bytes();
}

void DmaEngine::remote_taken(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  if (is_stale(transaction)) return;
  events_.push(now() + delay, {Event::taken, {}, static_cast<Transaction*>(&transaction)});
}

void DmaEngine::remote_response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  if (is_stale(transaction)) return transaction.release();
  events_.push(now() + delay, {Event::acknowledged, {}, static_cast<Transaction*>(&transaction)});
}

/// A tile could not be read, or its peer has answered.
void DmaEngine::ended(Transaction& transaction) {
  const DataExtension& extension = transaction.extension();
  if (!extension.taken) left(transaction);
  const Status status = status_of_data_access(transaction);
  if (status == Status::ok && extension.operation != Operation::load) bytes_ += extension.shape.bytes();
  Command* const command = command_of(transaction);
  if (command != nullptr && status != Status::ok)
    fail(status, transaction.get_address(),
         extension.taken ? text_of_refusal(transaction)
                         : describe(transaction) + ": the tile could not be read or sent");
  const bool unsent = extension.operation == Operation::load;
  transaction.release();
  if (command != nullptr) tile_done(*command, unsent ? command->destinations.size() : 1);
}

void DmaEngine::tile_done(Command& command, std::size_t arrivals) {
  command.last_done = now();
  command.done += arrivals;
  if (!command.is_complete()) return;
  registers.interrupt.complete.set(1);
  update_interrupt();
}

void DmaEngine::fill() {
  const std::uint64_t base = registers.fill_base.value(), bytes = registers.fill_bytes.value();
  const auto refuse = [&](Status status, const std::string& text) { this->refuse(status, base, text); };
  if (fills())
    return refuse(Status::busy, fmt::format("a fill runs, {:#x} bytes are left from {:#x} on: none before it has ended",
                                            fill_left_ + fill_outstanding_, fill_next_ - fill_outstanding_));
  if (base % 32 != 0 || bytes % 32 != 0)
    return refuse(Status::unaligned, fmt::format("fill of {} bytes at {:#x}: multiples of 32 expected", bytes, base));
  if (bytes == 0)
    return refuse(Status::invalid_argument, fmt::format("fill of 0 bytes at {:#x}: 32 or more expected", base));
  if (address_map::gpu_of(base) != gpu_ || !memory.holds(base, bytes))
    return refuse(Status::bad_address,
                  fmt::format("fill of {:#x} bytes at {:#x} is not all in the memory of GPU {}", bytes, base, gpu_));
  for (int i = 0; i < users.size(); ++i)
    if (const std::string found = users[i]->use_of({base, base + bytes}); !found.empty())
      return refuse(Status::busy, fmt::format("fill of {:#x} bytes at {:#x}: {}, and nothing is zeroed before that has "
                                              "ended",
                                              bytes, base, found));
  registers.status.code.set(Status::ok);
  fill_next_ = base;
  fill_left_ = bytes;
  fill_traffic_ = registers.command.writes();
  continue_fill();
}

/// A fill; what is sent goes to peers.
std::string DmaEngine::use_of(const OutputRange& range) const {
  const std::uint64_t begin = fill_next_ - fill_outstanding_, end = fill_next_ + fill_left_;
  if (!fills() || !range.overlaps(begin, end - begin)) return {};
  return fmt::format("a fill zeroes {:#x} to {:#x}", begin, end - 1);
}

void DmaEngine::continue_fill() {
  while (fill_left_ != 0) {
    const auto bytes = static_cast<std::uint32_t>(std::min(fill_left_, fill_piece));
    if (!fits(fill_outstanding_, bytes)) return;
    Transaction& transaction = pool_.make(Operation::store, fill_next_, {1, bytes, 0});
    transaction.extension().stream = Stream::communication;
    transaction.extension().traffic = fill_traffic_;
    transaction.extension().cached = false;
    transaction.extension().token = token_of(~0u);
    if (functional_) transaction.attach_buffer();
    fill_next_ += bytes;
    fill_left_ -= bytes;
    fill_outstanding_ += bytes;
    memory.send(transaction, parameters_.latency);
  }
  if (fills()) return;
  registers.interrupt.filled.set(1);
  update_interrupt();
}

void DmaEngine::visit_statistics(const StatisticVisitor& visit) const {
  visit("blocks", "blocks", "DMA blocks sent", static_cast<double>(blocks_));
  visit("bytes", "bytes", "payload sent", static_cast<double>(bytes_));
}

}  // namespace t3vp::dma
