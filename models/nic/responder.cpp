// What peers ask for: writes, reads and fetch-and-adds in memory, answered in the order of their packets.
#include <fmt/format.h>

#include <algorithm>

#include "nic/rdma_nic.h"
#include "nic/syndrome_status.h"
#include "protocol/response_status.h"

namespace t3vp::nic {
namespace {

constexpr std::size_t sums_kept = 256;

}  // namespace

void Nic::request_received(std::uint32_t queue, const Packet& packet) {
  QueuePair& pair = queue_pairs_[queue];
  if (pair.refuses) return;  // the peer will be told, and sends no more
  if (packet.sequence == pair.expected) {
    pair.told_gap = false;
    return serve(queue, packet);
  }
  if (is_before(packet.sequence, pair.expected)) return serve_again(queue, packet);
  if (pair.told_gap) return;
  pair.told_gap = true;
  owe(queue, packet, Packet::Kind::out_of_sequence).answer->sequence = pair.expected;
  pay(queue);
}

void Nic::serve(std::uint32_t queue, const Packet& packet) {
  if (packet.kind == Packet::Kind::write) serve_write(queue, packet);
  if (packet.kind == Packet::Kind::accumulate) serve_accumulate(queue, packet);
  if (packet.kind == Packet::Kind::read_request) serve_read(queue, packet);
  if (packet.kind == Packet::Kind::add_request) serve_add(queue, packet);
  pay(queue);
}

/// What has been served once: memory is read again, but neither written nor added to.
void Nic::serve_again(std::uint32_t queue, const Packet& packet) {
  QueuePair& pair = queue_pairs_[queue];
  if (packet.kind == Packet::Kind::read_request) {
    const std::uint32_t expected = pair.expected;
    serve_read(queue, packet);
    pair.expected = expected;
  } else if (packet.kind == Packet::Kind::add_request) {
    const auto sum = std::find_if(pair.sums.begin(), pair.sums.end(),
                                  [&](const auto& known) { return known.first == packet.sequence; });
    if (sum != pair.sums.end()) {
      Packet& answer = *owe(queue, packet, Packet::Kind::add_response).answer;
      answer.data = sum->second;
      answer.bytes = packet.bytes;
    }
  } else {
    owe(queue, packet, Packet::Kind::acknowledge).answer->sequence = pair.expected - 1;
  }
  pay(queue);
}

Duty& Nic::owe(std::uint32_t queue, const Packet& packet, Packet::Kind kind) {
  Duty duty;
  duty.answer = std::make_shared<Packet>();
  Packet& answer = *duty.answer;
  answer.kind = kind;
  answer.generation = packet.generation;
  answer.from_nic = number_;
  answer.to_nic = packet.from_nic;
  answer.from_queue_pair = queue;
  answer.to_queue_pair = packet.from_queue_pair;
  answer.sequence = packet.sequence;
  answer.address = packet.address;
  queue_pairs_[queue].duties.push_back(std::move(duty));
  return queue_pairs_[queue].duties.back();
}

std::uint64_t Nic::last_duty(std::uint32_t queue) const {
  const QueuePair& pair = queue_pairs_[queue];
  return pair.duties_first + pair.duties.size() - 1;
}

/// When what is owed before has been paid, the refusal is sent, and the queue pair is in error.
void Nic::refuse(std::uint32_t queue, const Packet& packet, NicSyndrome syndrome, const std::string& text) {
  log(status_of(syndrome), packet.address,
      fmt::format("{} for queue pair {}: {}: {}", describe(packet), queue, name_of(syndrome), text));
  owe(queue, packet, Packet::Kind::refuse).answer->syndrome = syndrome;
  queue_pairs_[queue].refuses = true;
}

bool Nic::refuse_unless(std::uint32_t queue, const Packet& packet, Use use, std::uint64_t bytes) {
  const std::string text = regions_.refusal(packet.key, packet.address, bytes, use);
  if (text.empty()) return false;
  refuse(queue, packet, NicSyndrome::remote_access, text);
  return true;
}

/// Only the last packet of a message is acknowledged. The key is looked up for the whole message with its first packet,
/// and for each packet that follows, since it may be withdrawn in between.
void Nic::serve_write(std::uint32_t queue, const Packet& packet) {
  QueuePair& pair = queue_pairs_[queue];
  if (refuse_unless(queue, packet, Use::remote_write, packet.first ? packet.message_bytes : packet.bytes)) return;
  if (packet.has_immediate && pair.receive_used == pair.receive_posted) {
    pair.told_gap = true;  // what follows comes again as well
    owe(queue, packet, Packet::Kind::not_ready);
    return;
  }
  Duty& duty = owe_write(queue, packet);
  duty.received = packet.has_immediate;
  if (packet.has_immediate) duty.index = pair.receive_used++;
  duty.immediate = packet.immediate;
  duty.bytes = static_cast<std::uint32_t>(packet.message_bytes);
  if (packet.bytes == 0) return;
  duty.accesses = 1;
  io.store(packet.address, packet.data.empty() ? nullptr : packet.data.data(), packet.bytes,
           purpose(Purpose::place, queue, last_duty(queue)));
}

/// Takes its sequence number, so that memory adds each packet once, however often it comes.
Duty& Nic::owe_write(std::uint32_t queue, const Packet& packet) {
  ++queue_pairs_[queue].expected;
  figures_.placed += packet.bytes;
  Duty& duty = owe(queue, packet, Packet::Kind::acknowledge);
  duty.is_silent = !packet.last;
  duty.is_write = true;
  duty.address =
      packet.kind == Packet::Kind::write ? packet.address + packet.bytes - packet.message_bytes : packet.address;
  return duty;
}

void Nic::serve_accumulate(std::uint32_t queue, const Packet& packet) {
  const t3_nic_tile& tile = packet.tile;
  const auto element = static_cast<ElementType>(tile.element);
  if (packet.address % bytes_of(element) != 0)
    return refuse(queue, packet, NicSyndrome::remote_invalid_request,
                  fmt::format("accumulate of {} at {:#x}: a multiple of {} expected", name_of(element), packet.address,
                              bytes_of(element)));
  if (refuse_unless(queue, packet, Use::remote_accumulate, extent_of(tile, packet.message_bytes))) return;
  const std::vector<MessagePart> parts = parts_of(tile, packet.address, packet.offset, packet.bytes);
  owe_write(queue, packet).accesses = static_cast<std::uint32_t>(parts.size());
  for (const MessagePart& part : parts)
    io.update(part.area, packet.data.empty() ? nullptr : packet.data.data() + part.offset, element,
              {tile.workgroup, tile.wavefront, packet.from_nic}, purpose(Purpose::place, queue, last_duty(queue)));
}

/// A packet of the response is a duty by itself, and leaves when its bytes have been read.
void Nic::serve_read(std::uint32_t queue, const Packet& packet) {
  QueuePair& pair = queue_pairs_[queue];
  if (refuse_unless(queue, packet, Use::remote_read, packet.bytes)) return;
  const std::uint32_t packets = packets_of(packet.bytes, parameters_.mtu);
  pair.expected = packet.sequence + packets;
  for (std::uint32_t i = 0; i < packets; ++i) {
    Duty& duty = owe(queue, packet, Packet::Kind::read_response);
    const std::uint32_t offset = i * parameters_.mtu;
    duty.answer->sequence = packet.sequence + i;
    duty.answer->bytes = std::min(packet.bytes - offset, parameters_.mtu);
    duty.answer->first = i == 0;
    duty.answer->last = i + 1 == packets;
    if (duty.answer->bytes == 0) continue;
    duty.accesses = 1;
    io.load(flat(packet.address + offset, duty.answer->bytes), false,
            purpose(Purpose::answer, queue, last_duty(queue)));
  }
}

void Nic::serve_add(std::uint32_t queue, const Packet& packet) {
  if (packet.address % 8 != 0)
    return refuse(queue, packet, NicSyndrome::remote_invalid_request,
                  fmt::format("fetch-and-add at {:#x}: a multiple of 8 expected", packet.address));
  if (refuse_unless(queue, packet, Use::remote_atomic, packet.bytes)) return;
  ++queue_pairs_[queue].expected;
  owe(queue, packet, Packet::Kind::add_response).accesses = 1;
  io.fetch_add(packet.address, packet.addend, purpose(Purpose::place, queue, last_duty(queue)));
}

void Nic::placed(const Purpose& purpose, const tlm::tlm_generic_payload& access) {
  QueuePair& pair = queue_pairs_[purpose.queue];
  if (purpose.number < pair.duties_first) return;  // the queue pair is in error
  Duty& duty = pair.duties[purpose.number - pair.duties_first];
  --duty.accesses;
  if (access.is_response_error()) {
    const Status reason = status_of_data_access(access);
    log(reason, access.get_address(),
        fmt::format("memory has refused {} bytes at {:#x} of a peer's message to queue pair {}: {}",
                    access.get_data_length(), access.get_address(), purpose.queue,
                    reason == Status::disabled ? "near-memory compute is off" : text_of(reason)));
    duty.is_silent = false;
    duty.answer->kind = Packet::Kind::refuse;
    duty.answer->reason = reason;
    duty.answer->syndrome = NicSyndrome::remote_operation;
  } else if (access.is_read() && access.get_data_ptr() != nullptr) {
    duty.answer->data.assign(access.get_data_ptr(), access.get_data_ptr() + access.get_data_length());
    duty.answer->bytes = access.get_data_length();
    if (duty.answer->kind == Packet::Kind::add_response) {
      pair.sums.emplace_back(duty.answer->sequence, duty.answer->data);
      if (pair.sums.size() > sums_kept) pair.sums.pop_front();
    }
  }
  pay(purpose.queue);
}

/// All of the message is in memory.
void Nic::show_stored(const Duty& duty) {
  constexpr Picoseconds visible = 1000;
  trace_->span(stores_of_peers_, "write stored", now(), now() + visible, flow_to(duty.address));
}

/// Answers leave in the order of the packets, each when memory has done what they say.
void Nic::pay(std::uint32_t queue) {
  QueuePair& pair = queue_pairs_[queue];
  while (!pair.duties.empty() && pair.duties.front().accesses == 0) {
    const Duty duty = std::move(pair.duties.front());
    pair.duties.pop_front();
    ++pair.duties_first;
    const bool refuses = duty.answer->kind == Packet::Kind::refuse;
    if (duty.received && !refuses) {
      t3_nic_completion completion{};
      completion.queue_pair = queue;
      completion.bytes = duty.bytes;
      completion.immediate = duty.immediate;
      completion.index = static_cast<std::uint16_t>(duty.index);
      completion.opcode = static_cast<std::uint8_t>(NicOpcode::received);
      add_completion(queue, completion);
    }
    if (trace_ != nullptr && duty.is_write && !duty.is_silent && !refuses) show_stored(duty);
    if (!duty.is_silent) put_on_wire(duty.answer, 0);
    if (refuses) return enter_error(queue, {NicCause::peers_request, duty.answer->syndrome, duty.answer->address});
  }
}

}  // namespace t3vp::nic
