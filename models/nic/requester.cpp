#include "nic/requester.h"

#include <algorithm>
#include <cstring>

#include "protocol/response_status.h"

namespace t3vp::nic {

Requester::Requester(registers::Nic& registers, QueuePairs& pairs, SendQueues& entries, Delivery& delivery,
                     const RegionTable& regions, IoLink& io, NicEvents& events, const NicParameters& parameters,
                     bool functional, std::uint16_t number)
    : registers_(registers),
      pairs_(pairs),
      entries_(entries),
      delivery_(delivery),
      regions_(regions),
      io_(io),
      events_(events),
      parameters_(parameters),
      functional_(functional),
      number_(number),
      queues_(pairs.count()) {}

std::uint64_t Requester::Queue::loading_bytes() const {
  std::uint64_t bytes = 0;
  for (const Loading& load : loading) bytes += load.packet->payload();
  return bytes;
}

void Requester::stop() {
  ready_.clear();
  wait_for_room_.clear();
  for (Queue& queue : queues_) queue.is_ready = false;
}

void Requester::reset() {
  begin_is_due_ = false;
  payload_in_flight_ = 0;
}

void Requester::drop(std::uint32_t number) {
  Queue& queue = queues_[number];
  const std::uint64_t bytes = queue.loading_bytes();
  queue.loading_first += queue.loading.size();
  queue.loading.clear();
  if (bytes != 0) room_made(bytes);
}

void Requester::forget(std::uint32_t number) {
  Queue& queue = queues_[number];
  const std::uint64_t bytes = queue.loading_bytes();
  queue.loading.clear();
  queue.loading_first = 0;
  queue.next_sequence = 0;  // `is_ready` stays as the list has it, which finds nothing to begin
  if (bytes != 0) room_made(bytes);
}

void Requester::go_on(std::uint32_t queue) {
  make_ready(queue);
  begin_messages();
}

void Requester::interval_ended() {
  begin_is_due_ = false;
  begin_messages();
}

/// Entries begin one behind the other, each when all packets of the one before it are being read.
bool Requester::can_begin(std::uint32_t number) const {
  const SendQueue& queue = entries_[number];
  if (pairs_.state(number) != QueuePairState::ready_to_send || queue.failed || queue.begun == queue.fetched)
    return false;
  const std::uint32_t next = queue.begun - queue.finished;
  const Message& message = queue.messages[next];
  if (message.stage != Message::Stage::fetched) return false;
  if (next != 0 && queue.messages[next - 1].stage == Message::Stage::begun) return false;
  return !message.entry.is_fenced() ||
         std::none_of(queue.messages.begin(), queue.messages.begin() + next, [](const Message& earlier) {
           return earlier.entry.has_result() && earlier.stage != Message::Stage::ended;
         });
}

void Requester::make_ready(std::uint32_t queue) {
  if (queues_[queue].is_ready || !can_begin(queue)) return;
  queues_[queue].is_ready = true;
  ready_.push_back(queue);
}

/// One message per interval, of the queue pairs in turns.
void Requester::begin_messages() {
  while (!ready_.empty() && next_begin_ <= now()) {
    const std::uint32_t queue = ready_.front();
    ready_.pop_front();
    queues_[queue].is_ready = false;
    if (!can_begin(queue)) continue;
    next_begin_ = now() + from_ns(1000.0 / parameters_.messages_per_us);
    begin(queue);
    make_ready(queue);
  }
  if (ready_.empty() || begin_is_due_) return;
  begin_is_due_ = true;
  events_.push(next_begin_, {NicEvent::begin});
}

void Requester::begin(std::uint32_t queue) {
  const std::uint32_t number = entries_[queue].begun++;
  Message& message = entries_[queue].message(number);
  if (message.syndrome != NicSyndrome::ok)
    return entries_.fail(queue, number, message.syndrome, message.address, "the entry could not be read",
                         message.reason);
  if (const EntryFault fault = check(message.entry, queue, number, regions_, parameters_);
      fault.syndrome != NicSyndrome::ok)
    return entries_.fail(queue, number, fault.syndrome, fault.address, fault.text);
  message.stage = Message::Stage::begun;
  message.first_sequence = queues_[queue].next_sequence;
  message.packets = packets_of(message.entry.bytes(), parameters_.mtu);
  queues_[queue].next_sequence += message.packets;
  make_packets(queue);
}

/// Makes packets of the message that has begun while there is room for their payload. One packet always has room.
void Requester::make_packets(std::uint32_t number) {
  SendQueue& queue = entries_[number];
  if (queue.begun == queue.finished) return;
  Message& message = queue.messages[queue.begun - queue.finished - 1];
  const std::uint32_t packets = message.entry.is_write() ? message.packets : 1;
  while (message.stage == Message::Stage::begun) {
    const bool fits = payload_in_flight_ == 0 || payload_in_flight_ + parameters_.mtu <= parameters_.payload_in_flight;
    if (!fits) {
      if (std::count(wait_for_room_.begin(), wait_for_room_.end(), number) == 0) wait_for_room_.push_back(number);
      break;
    }
    make_packet(number, message);
    if (++message.made == packets) message.stage = Message::Stage::sent;
  }
  make_ready(number);
  send_loaded(number);
}

void Requester::make_packet(std::uint32_t number, Message& message) {
  const SendQueue& queue = entries_[number];
  const t3_nic_work_entry& head = message.entry.head;
  const std::uint64_t offset = std::uint64_t{message.made} * parameters_.mtu, bytes = message.entry.bytes();
  auto packet = std::make_shared<Packet>();
  packet->kind = message.entry.accumulates()                 ? Packet::Kind::accumulate
                 : message.entry.is_write()                  ? Packet::Kind::write
                 : message.entry.opcode() == NicOpcode::read ? Packet::Kind::read_request
                                                             : Packet::Kind::add_request;
  packet->generation = pairs_.generation(number);
  packet->from_nic = number_;
  packet->to_nic = static_cast<std::uint16_t>(registers_.peer[number].nic());
  packet->from_queue_pair = number;
  packet->to_queue_pair = static_cast<std::uint32_t>(registers_.peer[number].queue_pair());
  packet->sequence = message.first_sequence + message.made;
  packet->address = head.remote_address + (message.entry.accumulates() ? 0 : offset);
  if (message.entry.accumulates()) {
    packet->offset = offset;
    packet->tile = message.entry.tile();
  }
  packet->key = head.remote_key;
  packet->order = io_.release();
  packet->message_bytes = bytes;
  packet->addend = message.entry.addend();
  packet->first = message.made == 0;
  packet->last = !message.entry.is_write() || message.made + 1 == message.packets;
  packet->immediate = head.immediate;
  packet->has_immediate = packet->last && message.entry.opcode() == NicOpcode::write_immediate;
  packet->bytes = static_cast<std::uint32_t>(
      message.entry.is_write() ? std::min<std::uint64_t>(bytes - offset, parameters_.mtu) : bytes);
  std::deque<Loading>& loading = queues_[number].loading;
  loading.push_back({packet, 0, queue.number_of(static_cast<std::size_t>(&message - &queue.messages.front()))});
  if (message.entry.is_write()) {
    payload_in_flight_ += packet->bytes;
    load_payload(number, message, loading.back(), offset);
  }
}

/// Inline data have come with the entry; of segments, reads the parts that lie in the packet.
void Requester::load_payload(std::uint32_t number, const Message& message, Loading& loading, std::uint64_t offset) {
  const Queue& queue = queues_[number];
  Packet& packet = *loading.packet;
  if (message.entry.is_inline()) {
    packet.data.assign(message.entry.tail.begin(), message.entry.tail.begin() + packet.bytes);
    return;
  }
  if (functional_) packet.data.resize(packet.bytes);
  const std::uint64_t place = queue.loading_first + queue.loading.size() - 1;
  for (const MessagePart& part : message.entry.parts(offset, packet.bytes)) {
    ++loading.loads;
    io_.load(part.area, false, pairs_.purpose(Purpose::payload, number, place, part.offset));
  }
}

void Requester::payload_read(const Purpose& purpose, const tlm::tlm_generic_payload& access) {
  Queue& queue = queues_[purpose.queue];
  if (purpose.number < queue.loading_first) return;  // it has been flushed
  Loading& loading = queue.loading[purpose.number - queue.loading_first];
  --loading.loads;
  if (access.is_response_error())
    return entries_.fail(purpose.queue, loading.message, NicSyndrome::local_protection, access.get_address(),
                         "its data could not be read", status_of_data_access(access));
  if (access.get_data_ptr() != nullptr && !loading.packet->data.empty())
    std::memcpy(loading.packet->data.data() + purpose.offset, access.get_data_ptr(), access.get_data_length());
  send_loaded(purpose.queue);
}

/// Packets leave in the order of their sequence numbers.
void Requester::send_loaded(std::uint32_t number) {
  Queue& queue = queues_[number];
  SendQueue& entries = entries_[number];
  while (!queue.loading.empty() && queue.loading.front().loads == 0) {
    const Loading loading = queue.loading.front();
    if (entries.has(loading.message) && entries.message(loading.message).syndrome != NicSyndrome::ok) return;
    queue.loading.pop_front();
    ++queue.loading_first;
    delivery_.send(number, loading.packet);
  }
}

void Requester::room_made(std::uint64_t bytes) {
  payload_in_flight_ -= bytes;
  for (std::size_t turns = wait_for_room_.size(); turns != 0 && !wait_for_room_.empty(); --turns) {
    const std::uint32_t queue = wait_for_room_.front();
    wait_for_room_.pop_front();
    if (pairs_.state(queue) == QueuePairState::ready_to_send && !entries_[queue].failed) make_packets(queue);
  }
  begin_messages();
}

}  // namespace t3vp::nic
