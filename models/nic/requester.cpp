// From the doorbell to the wire: records, work entries, payload, packets.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "nic/rdma_nic.h"
#include "protocol/response_status.h"

namespace t3vp::nic {

void Nic::read_record(std::uint32_t queue, std::uint32_t announced) {
  Purpose why = purpose(Purpose::record, queue);
  why.value = announced;
  io.load(flat(registers.doorbell_record[queue].value(), 4), true, why);
}

/// The record counts; the doorbell that it disagrees with is a mistake in the order of the two.
void Nic::learn(std::uint32_t queue, std::uint32_t posted, std::uint32_t announced) {
  QueuePair& pair = queue_pairs_[queue];
  const std::uint64_t record = registers.doorbell_record[queue].value(),
                      entries = registers.send_entries[queue].value();
  if (is_before(posted, announced)) {
    log(Status::mismatch, record,
        fmt::format("queue pair {}: the doorbell says {} entries, its record {}: the record written first expected",
                    queue, announced, posted));
    if (pair.announced == announced) pair.announced = pair.posted;  // it may be rung again, behind the record
    raise_error();
  }
  if (is_before(posted, pair.posted)) {
    log(Status::mismatch, record,
        fmt::format("queue pair {}: its doorbell record says {} entries after {}: as many or more expected", queue,
                    posted, pair.posted));
    return raise_error();
  }
  if (posted - pair.finished > entries) {
    log(Status::capacity, record,
        fmt::format("queue pair {}: {} entries are posted and {} have ended: at most the {} of its send queue expected "
                    "in between",
                    queue, posted, pair.finished, entries));
    pair.posted = static_cast<std::uint32_t>(pair.finished + entries);  // what lies there is the others'
    return enter_error(queue, {NicCause::send_queue});
  }
  pair.posted = posted;
  if (pair.state == QueuePairState::error) return enter_error(queue, pair.cause);
  if (pair.fetched != posted && std::count(to_fetch_.begin(), to_fetch_.end(), queue) == 0) to_fetch_.push_back(queue);
  fetch();
}

void Nic::fetch() {
  while (fetching_ < parameters_.entry_fetches && !to_fetch_.empty()) {
    const std::uint32_t queue = to_fetch_.front();
    to_fetch_.pop_front();
    QueuePair& pair = queue_pairs_[queue];
    if (pair.fetched == pair.posted) continue;
    const std::uint64_t place = pair.fetched % registers.send_entries[queue].value();
    pair.messages.emplace_back();
    ++fetching_;
    const std::uint64_t entry = registers.send_base[queue].value() + place * T3_NIC_WORK_ENTRY_ENTRY_BYTES;
    io.load(flat(entry, T3_NIC_WORK_ENTRY_ENTRY_BYTES), true, purpose(Purpose::entry, queue, pair.fetched++));
    if (pair.fetched != pair.posted) to_fetch_.push_back(queue);
  }
}

void Nic::entry_arrived(const Purpose& purpose, const tlm::tlm_generic_payload& access) {
  QueuePair& pair = queue_pairs_[purpose.queue];
  const auto number = static_cast<std::uint32_t>(purpose.number);
  if (!pair.has(number)) return;  // it has been flushed
  Message& message = pair.message(number);
  message.stage = Message::Stage::fetched;
  if (access.is_response_error()) {  // it fails in its turn
    message.syndrome = NicSyndrome::local_protection;
    message.address = access.get_address();
    message.reason = status_of_data_access(access);
  } else {
    message.entry = WorkEntry::from(access.get_data_ptr());
  }
  make_ready(purpose.queue);
  begin_messages();
}

/// Entries begin one behind the other, each when all packets of the one before it are being read.
bool Nic::can_begin(const QueuePair& pair) const {
  if (pair.state != QueuePairState::ready_to_send || pair.failed || pair.begun == pair.fetched) return false;
  const std::uint32_t next = pair.begun - pair.finished;
  const Message& message = pair.messages[next];
  if (message.stage != Message::Stage::fetched) return false;
  if (next != 0 && pair.messages[next - 1].stage == Message::Stage::begun) return false;
  return !message.entry.is_fenced() ||
         std::none_of(pair.messages.begin(), pair.messages.begin() + next, [](const Message& earlier) {
           return earlier.entry.has_result() && earlier.stage != Message::Stage::ended;
         });
}

void Nic::make_ready(std::uint32_t queue) {
  QueuePair& pair = queue_pairs_[queue];
  if (pair.is_ready || !can_begin(pair)) return;
  pair.is_ready = true;
  ready_.push_back(queue);
}

/// One message per interval, of the queue pairs in turns.
void Nic::begin_messages() {
  while (!ready_.empty() && next_begin_ <= now()) {
    const std::uint32_t queue = ready_.front();
    ready_.pop_front();
    queue_pairs_[queue].is_ready = false;
    if (!can_begin(queue_pairs_[queue])) continue;
    next_begin_ = now() + from_ns(1000.0 / parameters_.messages_per_us);
    begin(queue);
    make_ready(queue);
  }
  if (ready_.empty() || begin_is_due_) return;
  begin_is_due_ = true;
  events_.push(next_begin_, {Event::begin});
}

void Nic::begin(std::uint32_t queue) {
  QueuePair& pair = queue_pairs_[queue];
  const std::uint32_t number = pair.begun++;
  Message& message = pair.message(number);
  if (message.syndrome != NicSyndrome::ok)
    return fail(queue, number, message.syndrome, message.address, "the entry could not be read", message.reason);
  if (const EntryFault fault = check(message.entry, queue, number, regions_, parameters_);
      fault.syndrome != NicSyndrome::ok)
    return fail(queue, number, fault.syndrome, fault.address, fault.text);
  message.stage = Message::Stage::begun;
  message.first_sequence = pair.next_sequence;
  message.packets = packets_of(message.entry.bytes(), parameters_.mtu);
  pair.next_sequence += message.packets;
  make_packets(queue);
}

/// Makes packets of the message that has begun while there is room for their payload. One packet always has room.
void Nic::make_packets(std::uint32_t queue) {
  QueuePair& pair = queue_pairs_[queue];
  if (pair.begun == pair.finished) return;
  Message& message = pair.messages[pair.begun - pair.finished - 1];
  const std::uint32_t packets = message.entry.is_write() ? message.packets : 1;
  while (message.stage == Message::Stage::begun) {
    const bool fits = payload_in_flight_ == 0 || payload_in_flight_ + parameters_.mtu <= parameters_.payload_in_flight;
    if (!fits) {
      if (std::count(wait_for_room_.begin(), wait_for_room_.end(), queue) == 0) wait_for_room_.push_back(queue);
      break;
    }
    make_packet(queue, message);
    if (++message.made == packets) message.stage = Message::Stage::sent;
  }
  make_ready(queue);
  send_loaded(queue);
}

void Nic::make_packet(std::uint32_t queue, Message& message) {
  QueuePair& pair = queue_pairs_[queue];
  const t3_nic_work_entry& head = message.entry.head;
  const std::uint64_t offset = std::uint64_t{message.made} * parameters_.mtu, bytes = message.entry.bytes();
  auto packet = std::make_shared<Packet>();
  packet->kind = message.entry.accumulates()                 ? Packet::Kind::accumulate
                 : message.entry.is_write()                  ? Packet::Kind::write
                 : message.entry.opcode() == NicOpcode::read ? Packet::Kind::read_request
                                                             : Packet::Kind::add_request;
  packet->generation = pair.generation;
  packet->from_nic = number_;
  packet->to_nic = static_cast<std::uint16_t>(registers.peer[queue].nic());
  packet->from_queue_pair = queue;
  packet->to_queue_pair = static_cast<std::uint32_t>(registers.peer[queue].queue_pair());
  packet->sequence = message.first_sequence + message.made;
  packet->address = head.remote_address + (message.entry.accumulates() ? 0 : offset);
  if (message.entry.accumulates()) {
    packet->offset = offset;
    packet->tile = message.entry.tile();
  }
  packet->key = head.remote_key;
  packet->message_bytes = bytes;
  packet->addend = message.entry.addend();
  packet->first = message.made == 0;
  packet->last = !message.entry.is_write() || message.made + 1 == message.packets;
  packet->immediate = head.immediate;
  packet->has_immediate = packet->last && message.entry.opcode() == NicOpcode::write_immediate;
  packet->bytes = static_cast<std::uint32_t>(
      message.entry.is_write() ? std::min<std::uint64_t>(bytes - offset, parameters_.mtu) : bytes);
  pair.loading.push_back({packet, 0, static_cast<std::uint32_t>(pair.finished + (&message - &pair.messages.front()))});
  if (message.entry.is_write()) {
    payload_in_flight_ += packet->bytes;
    load_payload(queue, message, pair.loading.back(), offset);
  }
}

/// Inline data have come with the entry; of segments, reads the parts that lie in the packet.
void Nic::load_payload(std::uint32_t queue, const Message& message, Loading& loading, std::uint64_t offset) {
  QueuePair& pair = queue_pairs_[queue];
  Packet& packet = *loading.packet;
  if (message.entry.is_inline()) {
    packet.data.assign(message.entry.tail.begin(), message.entry.tail.begin() + packet.bytes);
    return;
  }
  if (functional_) packet.data.resize(packet.bytes);
  const std::uint64_t number = pair.loading_first + pair.loading.size() - 1;
  for (const MessagePart& part : message.entry.parts(offset, packet.bytes)) {
    ++loading.loads;
    io.load(part.area, false, purpose(Purpose::payload, queue, number, part.offset));
  }
}

void Nic::payload_arrived(const Purpose& purpose, const tlm::tlm_generic_payload& access) {
  QueuePair& pair = queue_pairs_[purpose.queue];
  if (purpose.number < pair.loading_first) return;  // it has been flushed
  Loading& loading = pair.loading[purpose.number - pair.loading_first];
  --loading.loads;
  if (access.is_response_error())
    return fail(purpose.queue, loading.message, NicSyndrome::local_protection, access.get_address(),
                "its data could not be read", status_of_data_access(access));
  if (access.get_data_ptr() != nullptr && !loading.packet->data.empty())
    std::memcpy(loading.packet->data.data() + purpose.offset, access.get_data_ptr(), access.get_data_length());
  send_loaded(purpose.queue);
}

/// Packets leave in the order of their sequence numbers.
void Nic::send_loaded(std::uint32_t queue) {
  QueuePair& pair = queue_pairs_[queue];
  while (!pair.loading.empty() && pair.loading.front().loads == 0) {
    const Loading loading = pair.loading.front();
    if (pair.has(loading.message) && pair.message(loading.message).syndrome != NicSyndrome::ok) return;
    pair.loading.pop_front();
    ++pair.loading_first;
    if (pair.unacknowledged.empty()) pair.last_progress = now();
    pair.unacknowledged.push_back(loading.packet);
    const std::uint64_t payload = loading.packet->payload();
    if (pair.holds)
      events_.push(now(), {Event::left, queue, pair.generation, payload});
    else
      put_on_wire(loading.packet, payload);
    start_timer(queue);
  }
}

/// `payload` makes room when it has left.
void Nic::put_on_wire(const PacketPointer& packet, std::uint64_t payload) {
  const PacketCarrier::Departure departure = wire->send(packet);
  figures_.payload += packet->payload();
  ++figures_.packets;
  figures_.wire_bytes += wire_bytes(*packet);
  figures_.sending += departure.takes;
  if (departure.is_lost) ++figures_.lost;
  if (trace_ != nullptr) show_sent(*packet, departure);
  if (payload != 0) events_.push(now() + departure.leaves, {Event::left, 0, 0, payload});
}

/// The arrow to a message ends at its first packet.
void Nic::show_sent(const Packet& packet, const PacketCarrier::Departure& departure) {
  const Picoseconds end = now() + departure.leaves, begin = end - departure.takes;
  if (packet.is_write() && packet.first)
    trace_->span(sends_, name_of(packet.kind), begin, end, flow_to(packet.address));
  else
    trace_->span(sends_, name_of(packet.kind), begin, end);
}

void Nic::room_made(std::uint64_t bytes) {
  payload_in_flight_ -= bytes;
  for (std::size_t turns = wait_for_room_.size(); turns != 0 && !wait_for_room_.empty(); --turns) {
    const std::uint32_t queue = wait_for_room_.front();
    wait_for_room_.pop_front();
    if (queue_pairs_[queue].state == QueuePairState::ready_to_send && !queue_pairs_[queue].failed) make_packets(queue);
  }
  begin_messages();
}

}  // namespace t3vp::nic
