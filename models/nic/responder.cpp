#include "nic/responder.h"

#include <fmt/format.h>

#include <algorithm>

#include "nic/message_parts.h"
#include "nic/syndrome_status.h"
#include "protocol/response_status.h"
#include "registers/nic_opcode.h"

namespace t3vp::nic {
namespace {

constexpr std::size_t sums_kept = 256;

}  // namespace

Responder::Responder(registers::Nic& registers, NicStatus& status, QueuePairs& pairs, const RegionTable& regions,
                     IoLink& io, Transmitter& transmitter, const NicParameters& parameters, std::uint16_t number)
    : registers_(registers),
      status_(status),
      pairs_(pairs),
      regions_(regions),
      io_(io),
      transmitter_(transmitter),
      mtu_(parameters.mtu),
      number_(number),
      queues_(pairs.count()) {
  registers_.receive_doorbell.on_write([this](std::size_t queue) { post_receive(static_cast<std::uint32_t>(queue)); });
}

void Responder::post_receive(std::uint32_t number) {
  Queue& queue = queues_[number];
  const QueuePairState state = pairs_.state(number);
  const auto posted = static_cast<std::uint32_t>(registers_.receive_doorbell[number].value());
  if (state == QueuePairState::reset || state == QueuePairState::error)
    return registers_.refuse(Status::access_denied,
                             fmt::format("queue pair in init or ready expected, it is in {}", name_of(state)));
  if (is_before(posted, queue.receive_posted))
    return registers_.refuse(Status::bad_value, fmt::format("{} or more expected", queue.receive_posted));
  queue.receive_posted = posted;
}

void Responder::drop(std::uint32_t number) {
  Queue& queue = queues_[number];
  queue.duties_first += queue.duties.size();
  queue.duties.clear();
}

void Responder::received(const Packet& packet) {
  const std::uint32_t number = packet.to_queue_pair;
  Queue& queue = queues_[number];
  if (queue.refuses) return;  // the peer will be notified, and sends no more
  if (packet.sequence == queue.expected) {
    queue.told_gap = false;
    return serve(number, packet);
  }
  if (is_before(packet.sequence, queue.expected)) return serve_again(number, packet);
  if (queue.told_gap) return;
  queue.told_gap = true;
  owe(number, packet, Packet::Kind::out_of_sequence).answer->sequence = queue.expected;
  pay(number);
}

void Responder::serve(std::uint32_t queue, const Packet& packet) {
  if (packet.kind == Packet::Kind::write) serve_write(queue, packet);
  if (packet.kind == Packet::Kind::accumulate) serve_accumulate(queue, packet);
  if (packet.kind == Packet::Kind::read_request) serve_read(queue, packet);
  if (packet.kind == Packet::Kind::add_request) serve_add(queue, packet);
  pay(queue);
}

/// Serves a repeated request: memory is read again, but neither written nor added to.
void Responder::serve_again(std::uint32_t number, const Packet& packet) {
  Queue& queue = queues_[number];
  if (packet.kind == Packet::Kind::read_request) {
    const std::uint32_t expected = queue.expected;
    serve_read(number, packet);
    queue.expected = expected;
  } else if (packet.kind == Packet::Kind::add_request) {
    const auto sum = std::find_if(queue.sums.begin(), queue.sums.end(),
                                  [&](const auto& known) { return known.first == packet.sequence; });
    if (sum != queue.sums.end()) {
      Packet& answer = *owe(number, packet, Packet::Kind::add_response).answer;
      answer.data = sum->second;
      answer.bytes = packet.bytes;
    }
  } else {
    owe(number, packet, Packet::Kind::acknowledge).answer->sequence = queue.expected - 1;
  }
  pay(number);
}

Responder::Duty& Responder::owe(std::uint32_t queue, const Packet& packet, Packet::Kind kind) {
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
  queues_[queue].duties.push_back(std::move(duty));
  return queues_[queue].duties.back();
}

Purpose Responder::for_last_duty(Purpose::What what, std::uint32_t queue) const {
  return pairs_.purpose(what, queue, queues_[queue].last_duty());
}

/// Sends the refusal after all earlier responses, and takes the queue pair to the error state.
void Responder::refuse(std::uint32_t queue, const Packet& packet, NicSyndrome syndrome, const std::string& text) {
  status_.log(status_of(syndrome), packet.address,
              fmt::format("{} for queue pair {}: {}: {}", describe(packet), queue, name_of(syndrome), text));
  owe(queue, packet, Packet::Kind::refuse).answer->syndrome = syndrome;
  queues_[queue].refuses = true;
}

bool Responder::refuse_unless(std::uint32_t queue, const Packet& packet, Use use, std::uint64_t bytes) {
  const Refusal found = regions_.validate(packet.key, packet.address, bytes, use);
  if (found) refuse(queue, packet, NicSyndrome::remote_access, found.text);
  return static_cast<bool>(found);
}

/// Only the last packet of a message is acknowledged. The key is looked up for the whole message with its first packet,
/// and for each packet that follows, since it may be withdrawn in between.
void Responder::serve_write(std::uint32_t number, const Packet& packet) {
  Queue& queue = queues_[number];
  if (refuse_unless(number, packet, Use::remote_write, packet.first ? packet.message_bytes : packet.bytes)) return;
  if (packet.has_immediate && queue.receive_used == queue.receive_posted) {
    queue.told_gap = true;  // what follows comes again as well
    owe(number, packet, Packet::Kind::not_ready);
    return;
  }
  Duty& duty = owe_write(number, packet);
  duty.received = packet.has_immediate;
  if (packet.has_immediate) duty.index = queue.receive_used++;
  duty.immediate = packet.immediate;
  duty.bytes = static_cast<std::uint32_t>(packet.message_bytes);
  if (packet.bytes == 0) return;
  duty.accesses = 1;
  io_.store(packet.address, packet.data.empty() ? nullptr : packet.data.data(), packet.bytes,
            for_last_duty(Purpose::place, number));
}

/// Takes its sequence number, so that memory adds each packet once, however often it comes.
Responder::Duty& Responder::owe_write(std::uint32_t queue, const Packet& packet) {
  ++queues_[queue].expected;
  placed_ += packet.bytes;
  Duty& duty = owe(queue, packet, Packet::Kind::acknowledge);
  duty.is_silent = !packet.last;
  duty.is_write = true;
  duty.address =
      packet.kind == Packet::Kind::write ? packet.address + packet.bytes - packet.message_bytes : packet.address;
  return duty;
}

void Responder::serve_accumulate(std::uint32_t queue, const Packet& packet) {
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
    io_.update(part.area, packet.data.empty() ? nullptr : packet.data.data() + part.offset, element,
               {tile.workgroup, tile.wavefront, packet.from_nic}, for_last_duty(Purpose::place, queue));
}

/// A packet of the response is a duty by itself, and leaves when its bytes have been read.
void Responder::serve_read(std::uint32_t queue, const Packet& packet) {
  if (refuse_unless(queue, packet, Use::remote_read, packet.bytes)) return;
  const std::uint32_t packets = packets_of(packet.bytes, mtu_);
  queues_[queue].expected = packet.sequence + packets;
  for (std::uint32_t i = 0; i < packets; ++i) {
    Duty& duty = owe(queue, packet, Packet::Kind::read_response);
    const std::uint32_t offset = i * mtu_;
    duty.answer->sequence = packet.sequence + i;
    duty.answer->bytes = std::min(packet.bytes - offset, mtu_);
    duty.answer->first = i == 0;
    duty.answer->last = i + 1 == packets;
    if (duty.answer->bytes == 0) continue;
    duty.accesses = 1;
    io_.load(flat(packet.address + offset, duty.answer->bytes), false, for_last_duty(Purpose::answer, queue));
  }
}

void Responder::serve_add(std::uint32_t queue, const Packet& packet) {
  if (packet.address % 8 != 0)
    return refuse(queue, packet, NicSyndrome::remote_invalid_request,
                  fmt::format("fetch-and-add at {:#x}: a multiple of 8 expected", packet.address));
  if (refuse_unless(queue, packet, Use::remote_atomic, packet.bytes)) return;
  ++queues_[queue].expected;
  owe(queue, packet, Packet::Kind::add_response).accesses = 1;
  io_.fetch_add(packet.address, packet.addend, for_last_duty(Purpose::place, queue));
}

void Responder::served(const Purpose& purpose, const tlm::tlm_generic_payload& access) {
  Queue& queue = queues_[purpose.queue];
  if (purpose.number < queue.duties_first) return;  // the queue pair is in error
  Duty& duty = queue.duties[purpose.number - queue.duties_first];
  --duty.accesses;
  if (access.is_response_error()) {
    const Status reason = status_of_data_access(access);
    status_.log(reason, access.get_address(),
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
      queue.sums.emplace_back(duty.answer->sequence, duty.answer->data);
      if (queue.sums.size() > sums_kept) queue.sums.pop_front();
    }
  }
  pay(purpose.queue);
}

/// All of the message is in memory.
void Responder::show_stored(const Duty& duty) {
  constexpr Picoseconds visible = 1000;
  trace_->span(track_, "write stored", now(), now() + visible, flow_to(duty.address));
}

void Responder::complete_receive(std::uint32_t queue, const Duty& duty) {
  t3_nic_completion completion{};
  completion.queue_pair = queue;
  completion.bytes = duty.bytes;
  completion.immediate = duty.immediate;
  completion.index = static_cast<std::uint16_t>(duty.index);
  completion.opcode = static_cast<std::uint8_t>(NicOpcode::received);
  pairs_.complete(queue, completion);
}

/// Responses leave in the order of the packets, each when memory has done its access.
void Responder::pay(std::uint32_t number) {
  Queue& queue = queues_[number];
  while (!queue.duties.empty() && queue.duties.front().accesses == 0) {
    const Duty duty = std::move(queue.duties.front());
    queue.duties.pop_front();
    ++queue.duties_first;
    const bool refuses = duty.answer->kind == Packet::Kind::refuse;
    if (duty.received && !refuses) complete_receive(number, duty);
    if (trace_ != nullptr && duty.is_write && !duty.is_silent && !refuses) show_stored(duty);
    duty.answer->order = io_.release();
    if (!duty.is_silent) transmitter_.send(duty.answer);
    if (refuses)
      return pairs_.enter_error(number, {NicCause::peers_request, duty.answer->syndrome, duty.answer->address});
  }
}

}  // namespace t3vp::nic
