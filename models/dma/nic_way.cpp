// Tiles that go by a queue pair of the NIC: no compute unit and no host has a part in it. The engine writes the work
// entry and the doorbell record to memory, rings, and waits for the entry's end at the NIC.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "dma/dma_engine.h"
#include "protocol/address_map.h"
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

std::uint64_t DmaEngine::nic_register(std::uint64_t offset, std::uint64_t stride, std::uint32_t queue_pair) const {
  return address_map::on_gpu(gpu_, address_map::block_base(address_map::Block::nic)) + offset + stride * queue_pair;
}

std::uint64_t DmaEngine::doorbell_of(std::uint32_t queue_pair) const {
  return nic_register(registers::Nic::doorbell_offset, registers::Nic::doorbell_stride, queue_pair);
}

/// The queue begins anew.
void DmaEngine::begin_queue(std::size_t number) {
  const std::uint64_t entries = registers.queue_entries[number].value();
  NicQueue& queue = queues_[number];
  const bool is_used = std::any_of(commands_.begin(), commands_.end(),
                                   [&](const Command& command) { return command.by_queue && command.queue == number; });
  if (is_used || queue.is_busy())
    return registers.refuse(Status::busy, fmt::format("commands send by queue {}: none expected", number));
  if (entries != 0 && (!is_power_of_two(entries) || entries > entries_most))
    return registers.refuse(Status::bad_value, fmt::format("a power of two, at most {}, or 0 expected", entries_most));
  queue = NicQueue();
}

ChunkCheck DmaEngine::check_route(const Command& command) {
  const auto wrong = [&](const std::string& text) {
    return ChunkCheck{Status::invalid_argument,
                      fmt::format("{} by queue {}: {}", command.range.text(), command.queue, text)};
  };
  const std::uint64_t entries = registers.queue_entries[command.queue].value(),
                      base = registers.queue_send_base[command.queue].value(),
                      record = registers.queue_record[command.queue].value();
  const auto pair = static_cast<std::uint32_t>(registers.queue_pair[command.queue].number());
  if (!nic.reaches(doorbell_of(0))) return {Status::no_peer, "this system has no NIC, by which tiles could be sent"};
  if (command.kind != Kind::update) return wrong("a store; only updates go by a queue pair");
  if (!nic.reaches(doorbell_of(pair))) return wrong(fmt::format("the NIC has no queue pair {}", pair));
  if (entries == 0) return wrong("it has no entries: a send queue expected");
  if (base % T3_NIC_WORK_ENTRY_ENTRY_BYTES != 0 || !memory.holds(base, entries * T3_NIC_WORK_ENTRY_ENTRY_BYTES))
    return wrong(fmt::format("a send queue of {} entries at {:#x}: memory, 64-byte aligned, expected", entries, base));
  if (record % record_bytes != 0 || !memory.holds(record, record_bytes))
    return wrong(fmt::format("a doorbell record at {:#x}: 4 aligned bytes of memory expected", record));
  if (command.range.grid.row_stride > UINT32_MAX)
    return wrong(fmt::format("rows {} bytes apart: less than 2^32 expected", command.range.grid.row_stride));
  return check_peer(command.destinations[0]);
}

/// The entry of a tile, as a driver writes it, but not signaled: only errors have a completion.
void DmaEngine::write_entry(std::size_t number, const Job& job, std::uint32_t index) {
  const Command& command = *find(job.serial);
  const TileGrid& grid = command.range.grid;
  const Rectangle part = grid.wavefront_tile(job.wg_id, job.wf_id);
  const Shape shape = grid.shape(part);
  const std::uint64_t offset = grid.offset(part), entries = registers.queue_entries[number].value();
  t3_nic_work_entry head{};
  head.opcode = static_cast<std::uint8_t>(NicOpcode::accumulate);
  head.index = static_cast<std::uint16_t>(index);
  head.queue_pair = static_cast<std::uint32_t>(registers.queue_pair[number].number());
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
  write_control(memory, registers.queue_send_base[number].value() + index % entries * sizeof bytes, bytes, sizeof bytes,
                number, parameters_.latency);
}

/// Queues, records and doorbells are real in every run.
void DmaEngine::write_control(DataInitiatorSocket<DmaEngine>& socket, std::uint64_t address, const unsigned char* bytes,
                              std::uint32_t length, std::size_t queue, Picoseconds delay) {
  Transaction& transaction = pool_.make(Operation::store, address, {1, length, length});
  transaction.extension().stream = Stream::communication;
  transaction.extension().traffic = TrafficClass::control;
  transaction.extension().cached = false;
  transaction.extension().token = token_of(first_queue_token + static_cast<std::uint32_t>(queue));
  transaction.attach_buffer();
  std::memcpy(transaction.get_data_ptr(), bytes, length);
  socket.send(transaction, delay);
}

/// Writes entries of as many tiles as there are and the ring has places for, and how many there are then.
void DmaEngine::post(std::size_t number) {
  NicQueue& queue = queues_[number];
  const auto entries = static_cast<std::uint32_t>(registers.queue_entries[number].value());
  if (queue.writes != 0) return;
  const auto places = static_cast<std::size_t>(entries - (queue.posted - queue.ended));
  queue.batch = static_cast<std::uint32_t>(std::min(queue.waiting.size(), places));
  if (queue.batch == 0) return;
  queue.writes = queue.batch + 1;
  for (std::uint32_t i = 0; i < queue.batch; ++i) {
    queue.sent.push_back(queue.waiting.front());
    queue.waiting.pop_front();
    write_entry(number, queue.sent.back(), queue.posted + i);
  }
  unsigned char record[record_bytes];
  t3_put_number(record, record_bytes, queue.posted + queue.batch);
  write_control(memory, registers.queue_record[number].value(), record, record_bytes, number, parameters_.latency);
}

/// When memory has the entries and the record, the NIC is told, and asked for each entry's end.
void DmaEngine::written(std::size_t number, Transaction& write) {
  NicQueue& queue = queues_[number];
  if (write.is_response_error())
    fail(status_of_data_access(write), write.get_address(), describe(write) + ": the work entry could not be written");
  write.release();
  if (--queue.writes != 0) return;
  const auto pair = static_cast<std::uint32_t>(registers.queue_pair[number].number());
  const std::uint32_t first = queue.posted;
  queue.posted += queue.batch;
  unsigned char count[doorbell_bytes];
  t3_put_number(count, doorbell_bytes, queue.posted);
  write_control(nic, doorbell_of(pair), count, doorbell_bytes, number, 0);
  if (trace_ != nullptr)
    for (std::size_t i = queue.sent.size() - queue.batch; i < queue.sent.size(); ++i)
      trace_->span(track_, "nic", now(), now() + 1000, flow_of(gpu_, queue.sent[i].wg_id, queue.sent[i].wf_id));
  for (std::uint32_t i = 1; i <= queue.batch; ++i) await(number, pair, first + i);
  post(number);
}

void DmaEngine::await(std::size_t number, std::uint32_t pair, std::uint32_t finished) {
  Transaction& wait = pool_.make(
      Operation::wait, nic_register(registers::Nic::finished_offset, registers::Nic::finished_stride, pair), {1, 4, 4});
  wait.extension().stream = Stream::communication;
  wait.extension().cached = false;
  wait.extension().threshold = finished;
  wait.extension().token = token_of(first_queue_token + static_cast<std::uint32_t>(number));
  nic.send(wait, 0);
}

void DmaEngine::nic_response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  if (is_stale(transaction)) return transaction.release();
  const bool rings = extension_of(transaction).operation == Operation::store;
  events_.push(now() + delay, {rings ? Event::rung : Event::posted, {}, static_cast<Transaction*>(&transaction)});
}

void DmaEngine::rung(Transaction& doorbell) {
  if (doorbell.is_response_error())
    fail(status_of_data_access(doorbell), doorbell.get_address(),
         describe(doorbell) + ": the NIC has refused the doorbell of a tile");
  doorbell.release();
}

/// Answers come in the order of the entries.
void DmaEngine::entry_ended(std::size_t number, Transaction& wait) {
  NicQueue& queue = queues_[number];
  const Job job = queue.sent.front();
  queue.sent.pop_front();
  ++queue.ended;
  Command* const command = find(job.serial);
  const Status status = status_of_data_access(wait);
  if (command != nullptr) {
    const TileGrid& grid = command->range.grid;
    const Rectangle part = grid.wavefront_tile(job.wg_id, job.wf_id);
    if (status == Status::ok) {
      bytes_ += part.elements() * bytes_of(grid.element);
      if (ends_block(*command, {job.wg_id, static_cast<std::uint8_t>(job.wf_id), gpu_})) ++blocks_;
    } else {
      fail(status, command->destinations[0] + grid.offset(part),
           fmt::format("wavefront {} of workgroup {} by queue pair {} of the NIC: {}", job.wf_id, job.wg_id,
                       registers.queue_pair[number].number(), text_of(status)));
    }
    tile_done(*command);
  }
  wait.release();
  post(number);
}

}  // namespace t3vp::dma
