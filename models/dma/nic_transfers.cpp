#include "dma/nic_transfers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "protocol/access_description.h"
#include "protocol/address_map.h"
#include "protocol/own_address.h"
#include "protocol/response_status.h"
#include "registers/nic.h"
#include "registers/nic_opcode.h"
#include "t3/little_endian.h"
#include "t3/nic_segment.h"
#include "t3/nic_tile.h"
#include "t3/nic_work_entry.h"

namespace t3vp::dma {
namespace {

constexpr std::uint64_t entries_most = 32768;
constexpr std::uint32_t record_bytes = 4, doorbell_bytes = 4;

bool is_power_of_two(std::uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

}  // namespace

NicTransfers::NicTransfers(registers::Dma& registers, CommandTable& table, DmaAccesses& accesses, DmaStatus& status,
                           const Ports& ports, const DmaParameters& parameters, std::uint16_t gpu)
    : registers_(registers),
      table_(table),
      accesses_(accesses),
      status_(status),
      ports_(ports),
      parameters_(parameters),
      gpu_(gpu) {
  table_.check_queues_by([this](const Command& command) { return check(command); });
  registers_.queue_entries.on_write([this](std::size_t number) { begin(number); });
  registers_.queue_posted.on_refresh([this](std::size_t i) { registers_.queue_posted[i].set(queues_[i].posted); });
  registers_.queue_ended.on_refresh([this](std::size_t i) { registers_.queue_ended[i].set(queues_[i].ended); });
}

void NicTransfers::clear() {
  queues_.fill({});
  blocks_.reset();
  bytes_.reset();
}

bool NicTransfers::is_busy() const {
  return std::any_of(queues_.begin(), queues_.end(), [](const Queue& queue) { return queue.is_busy(); });
}

void NicTransfers::forget_removed() {
  const auto is_gone = [this](const Job& job) { return table_.find(job.serial) == nullptr; };
  for (Queue& queue : queues_)
    queue.waiting.erase(std::remove_if(queue.waiting.begin(), queue.waiting.end(), is_gone), queue.waiting.end());
}

std::uint64_t NicTransfers::nic_register(std::uint64_t offset, std::uint64_t stride, std::uint32_t queue_pair) const {
  return address_map::on_gpu(gpu_, address_map::block_base(address_map::Block::nic)) + offset + stride * queue_pair;
}

std::uint64_t NicTransfers::doorbell_of(std::uint32_t queue_pair) const {
  return nic_register(registers::Nic::doorbell_offset, registers::Nic::doorbell_stride, queue_pair);
}

std::uint32_t NicTransfers::pair_of(std::size_t queue) const {
  return static_cast<std::uint32_t>(registers_.queue_pair[queue].number());
}

/// Starts the queue again.
void NicTransfers::begin(std::size_t number) {
  const std::uint64_t entries = registers_.queue_entries[number].value();
  if (table_.uses_queue(number) || queues_[number].is_busy())
    return registers_.refuse(Status::busy, fmt::format("commands send by queue {}: none expected", number));
  if (entries != 0 && (!is_power_of_two(entries) || entries > entries_most))
    return registers_.refuse(Status::bad_value, fmt::format("a power of two, at most {}, or 0 expected", entries_most));
  if (entries != 0)
    if (const std::string wrong = memory_missing(number, entries); !wrong.empty())
      return registers_.refuse(Status::bad_address, wrong);
  queues_[number] = Queue();
}

/// Which of the queue's two ranges is not in memory of this GPU; empty when both are.
std::string NicTransfers::memory_missing(std::size_t number, std::uint64_t entries) const {
  const std::uint64_t ring = registers_.queue_send_base[number].value(),
                      record = registers_.queue_record[number].value();
  if (!ports_.memory.holds(ring, entries * T3_NIC_WORK_ENTRY_ENTRY_BYTES))
    return fmt::format("queue_send_base[{}] {:#x}: {} entries in memory of GPU {} expected{}", number, ring, entries,
                       gpu_, number_hint(gpu_, ring));
  if (!ports_.memory.holds(record, record_bytes))
    return fmt::format("queue_record[{}] {:#x}: {} bytes in memory of GPU {} expected{}", number, record, record_bytes,
                       gpu_, number_hint(gpu_, record));
  return {};
}

ChunkCheck NicTransfers::check(const Command& command) {
  const auto wrong = [&](const std::string& text) {
    return ChunkCheck{Status::invalid_argument,
                      fmt::format("{} by queue {}: {}", command.range.text(), command.queue, text)};
  };
  const std::uint64_t entries = registers_.queue_entries[command.queue].value(),
                      base = registers_.queue_send_base[command.queue].value(),
                      record = registers_.queue_record[command.queue].value();
  const std::uint32_t pair = pair_of(command.queue);
  if (!ports_.nic.reaches(doorbell_of(0)))
    return {Status::no_peer, "this system has no NIC, by which tiles could be sent"};
  if (command.kind != Command::Kind::update) return wrong("a store; only updates go by a queue pair");
  if (!ports_.nic.reaches(doorbell_of(pair))) return wrong(fmt::format("the NIC has no queue pair {}", pair));
  if (entries == 0) return wrong("it has no entries: a send queue expected");
  if (base % T3_NIC_WORK_ENTRY_ENTRY_BYTES != 0 || !ports_.memory.holds(base, entries * T3_NIC_WORK_ENTRY_ENTRY_BYTES))
    return wrong(fmt::format("a send queue of {} entries at {:#x}: memory, 64-byte aligned, expected", entries, base));
  if (record % record_bytes != 0 || !ports_.memory.holds(record, record_bytes))
    return wrong(fmt::format("a doorbell record at {:#x}: 4 aligned bytes of memory expected", record));
  if (command.range.grid.row_stride > UINT32_MAX)
    return wrong(fmt::format("rows {} bytes apart: less than 2^32 expected", command.range.grid.row_stride));
  return table_.check_peer(command.destinations[0]);
}

/// The entry of a tile, as a driver writes it, but not signaled: only errors have a completion.
void NicTransfers::write_entry(std::size_t number, const Job& job, std::uint32_t index) {
  const Command& command = *table_.find(job.serial);
  const TileGrid& grid = command.range.grid;
  const Rectangle part = command.tile(job);
  const Shape shape = grid.shape(part);
  const std::uint64_t offset = grid.offset(part), entries = registers_.queue_entries[number].value();
  t3_nic_work_entry head{};
  head.opcode = static_cast<std::uint8_t>(NicOpcode::accumulate);
  head.index = static_cast<std::uint16_t>(index);
  head.queue_pair = pair_of(number);
  head.segments = 1;
  head.remote_address = command.destinations[0] + offset;
  head.remote_key = command.remote_key;
  const t3_nic_segment segment{command.range.base + offset, command.local_key,
                               static_cast<std::uint32_t>(shape.bytes())};
  t3_nic_tile tile{};
  tile.row_bytes = shape.row_bytes;
  tile.row_stride = static_cast<std::uint32_t>(shape.stride);
  tile.workgroup = job.wg_id;
  tile.wavefront = static_cast<std::uint8_t>(job.wf_id);
  tile.element = static_cast<std::uint8_t>(grid.element);
  unsigned char bytes[T3_NIC_WORK_ENTRY_ENTRY_BYTES] = {};
  t3_nic_work_entry_to(&head, bytes);
  t3_nic_segment_to(&segment, bytes + T3_NIC_WORK_ENTRY_BYTES);
  t3_nic_tile_to(&tile, bytes + T3_NIC_WORK_ENTRY_BYTES + T3_NIC_SEGMENT_ENTRY_BYTES);
  write_control(ports_.memory, registers_.queue_send_base[number].value() + index % entries * sizeof bytes, bytes,
                sizeof bytes, number, queues_[number].order, parameters_.latency);
}

/// Queues, records and doorbells are real in every run.
void NicTransfers::write_control(DataInitiatorBase& socket, std::uint64_t address, const unsigned char* bytes,
                                 std::uint32_t length, std::size_t queue, OrderPoint order, Picoseconds delay) {
  Transaction& transaction =
      accesses_.make(Operation::store, address, {1, length, length}, DmaAccesses::of_queue(queue));
  transaction.extension().traffic = TrafficClass::control;
  transaction.extension().order = order;
  transaction.attach_buffer();
  std::memcpy(transaction.get_data_ptr(), bytes, length);
  socket.send(transaction, delay);
}

void NicTransfers::start() {
  for (std::size_t queue = 0; queue < queues_.size(); ++queue) post(queue);
}

/// Writes entries of as many tiles as there are and the ring has places for, and how many there are then.
void NicTransfers::post(std::size_t number) {
  Queue& queue = queues_[number];
  const auto entries = static_cast<std::uint32_t>(registers_.queue_entries[number].value());
  if (queue.writes != 0) return;
  const auto places = static_cast<std::size_t>(entries - (queue.posted - queue.ended));
  queue.batch = static_cast<std::uint32_t>(std::min(queue.waiting.size(), places));
  if (queue.batch == 0) return;
  queue.writes = queue.batch + 1;
  for (std::uint32_t i = 0; i < queue.batch; ++i) {
    queue.sent.push_back(queue.waiting.front());
    queue.waiting.pop_front();
    if (OrderObserver* const order = accesses_.order()) {
      const Job& job = queue.sent.back();
      queue.order =
          order->join(accesses_.begin_transfer(gpu_, job.behind, table_.find(job.serial)->added), queue.order);
    }
    write_entry(number, queue.sent.back(), queue.posted + i);
  }
  unsigned char record[record_bytes];
  t3_put_number(record, record_bytes, queue.posted + queue.batch);
  write_control(ports_.memory, registers_.queue_record[number].value(), record, record_bytes, number, queue.order,
                parameters_.latency);
}

/// When the entries and the record are in memory, the NIC is notified and asked for each entry's end.
void NicTransfers::written(Transaction& write) {
  const std::size_t number = DmaAccesses::queue_of(write);
  Queue& queue = queues_[number];
  if (write.is_response_error())
    status_.fail(status_of_data_access(write), write.get_address(),
                 describe(write) + ": the work entry could not be written");
  write.release();
  if (--queue.writes != 0) return;
  const std::uint32_t pair = pair_of(number), first = queue.posted;
  queue.posted += queue.batch;
  unsigned char count[doorbell_bytes];
  t3_put_number(count, doorbell_bytes, queue.posted);
  write_control(ports_.nic, doorbell_of(pair), count, doorbell_bytes, number, queue.order, 0);
  if (trace_ != nullptr)
    for (std::size_t i = queue.sent.size() - queue.batch; i < queue.sent.size(); ++i)
      trace_->span(track_, "nic", now(), now() + 1000, flow_of(gpu_, queue.sent[i].wg_id, queue.sent[i].wf_id));
  for (std::uint32_t i = 1; i <= queue.batch; ++i) await(number, pair, first + i);
  post(number);
}

void NicTransfers::await(std::size_t number, std::uint32_t pair, std::uint32_t finished) {
  Transaction& wait = accesses_.make(
      Operation::wait, nic_register(registers::Nic::finished_offset, registers::Nic::finished_stride, pair), {1, 4, 4},
      DmaAccesses::of_queue(number));
  wait.extension().threshold = finished;
  wait.extension().order = queues_[number].order;
  ports_.nic.send(wait, 0);
}

void NicTransfers::rung(Transaction& doorbell) {
  if (doorbell.is_response_error())
    status_.fail(status_of_data_access(doorbell), doorbell.get_address(),
                 describe(doorbell) + ": the NIC has refused the doorbell of a tile");
  doorbell.release();
}

/// Answers come in the order of the entries.
void NicTransfers::ended(Transaction& wait) {
  const std::size_t number = DmaAccesses::queue_of(wait);
  Queue& queue = queues_[number];
  const Job job = queue.sent.front();
  queue.sent.pop_front();
  ++queue.ended;
  Command* const command = table_.find(job.serial);
  const Status status = status_of_data_access(wait);
  if (command != nullptr) {
    const TileGrid& grid = command->range.grid;
    const Rectangle part = command->tile(job);
    if (status == Status::ok) {
      bytes_ += part.elements() * bytes_of(grid.element);
      if (command->ends_block(job)) ++blocks_;
    } else {
      status_.fail(status, command->destinations[0] + grid.offset(part),
                   fmt::format("wavefront {} of workgroup {} by queue pair {} of the NIC: {}", job.wf_id, job.wg_id,
                               pair_of(number), text_of(status)));
    }
    table_.arrived(*command, wait.extension().order);
  }
  wait.release();
  post(number);
}

}  // namespace t3vp::dma
