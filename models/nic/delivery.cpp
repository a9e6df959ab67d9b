#include "nic/delivery.h"

#include <fmt/format.h>

#include <algorithm>

#include "protocol/response_status.h"

namespace t3vp::nic {
namespace {

constexpr Picoseconds timeout_unit = 4'096'000, receiver_unit = 1'024'000;
constexpr unsigned for_ever = 7;  // receiver-not-ready retries

}  // namespace

Delivery::Delivery(registers::Nic& registers, QueuePairs& pairs, SendQueues& entries, IoLink& io,
                   Transmitter& transmitter, NicEvents& events, std::uint32_t mtu)
    : registers_(registers),
      pairs_(pairs),
      entries_(entries),
      io_(io),
      transmitter_(transmitter),
      events_(events),
      mtu_(mtu),
      queues_(pairs.count()) {}

void Delivery::send(std::uint32_t number, const PacketPointer& packet) {
  Queue& queue = queues_[number];
  if (queue.unacknowledged.empty()) queue.last_progress = now();
  queue.unacknowledged.push_back(packet);
  const std::uint64_t payload = packet->payload();
  if (queue.holds) {
    events_.push(now(), {NicEvent::left, number, pairs_.generation(number), payload});
  } else {
    const Picoseconds leaves = transmitter_.send(packet);
    if (payload != 0) events_.push(now() + leaves, {NicEvent::left, 0, 0, payload});
  }
  start_timer(number);
}

void Delivery::received(const Packet& packet) {
  const std::uint32_t queue = packet.to_queue_pair;
  switch (packet.kind) {
    case Packet::Kind::acknowledge:
      ++acknowledgements_;
      return acknowledge(queue, packet.sequence);
    case Packet::Kind::out_of_sequence:
      acknowledge(queue, packet.sequence - 1);
      return resend(queue, "a packet was lost");
    case Packet::Kind::not_ready:
      acknowledge(queue, packet.sequence - 1);
      return receiver_not_ready(queue, packet.sequence);
    case Packet::Kind::refuse:
      acknowledge(queue, packet.sequence - 1);
      return refused(queue, packet);
    default:
      return take_result(queue, packet);
  }
}

/// All packets up to this one have arrived, and answers to them have been sent: what has not come of those is lost.
void Delivery::acknowledge(std::uint32_t number, std::uint32_t sequence) {
  Queue& queue = queues_[number];
  while (!queue.unacknowledged.empty()) {
    const Packet& packet = *queue.unacknowledged.front();
    const bool is_write = packet.is_write();
    const std::uint32_t last = packet.sequence + (is_write ? 1 : packets_of(packet.bytes, mtu_)) - 1;
    if (is_before(sequence, last)) break;
    if (!is_write) {
      const std::deque<Message>& messages = entries_[number].messages;
      const auto asker = std::find_if(messages.begin(), messages.end(), [&](const Message& message) {
        return message.entry.has_result() && message.packets != 0 && message.first_sequence == packet.sequence;
      });
      if (asker != messages.end() && asker->answered != asker->packets) return resend(number, "a result was lost");
    }
    queue.unacknowledged.pop_front();
    queue.retries = queue.rnr_retries = 0;
    queue.resent = false;
    queue.last_progress = now();
  }
  end_messages(number, sequence);
}

/// Writes end when they are acknowledged, the others when their results are in memory.
void Delivery::end_messages(std::uint32_t queue, std::uint32_t sequence) {
  for (Message& message : entries_[queue].messages) {
    if (message.stage == Message::Stage::ended) continue;
    if (message.stage != Message::Stage::sent || is_before(sequence, message.last_sequence())) break;
    if (message.entry.is_write() || message.has_results()) message.stage = Message::Stage::ended;
  }
  entries_.finish(queue);
}

/// A packet of the response to a read, or a fetch-and-add's: its bytes go to the entry's segments.
void Delivery::take_result(std::uint32_t queue, const Packet& packet) {
  SendQueue& entries = entries_[queue];
  const auto asker = std::find_if(entries.messages.begin(), entries.messages.end(), [&](const Message& message) {
    return message.entry.has_result() && message.stage == Message::Stage::sent &&
           packet.sequence - message.first_sequence < message.packets;
  });
  if (asker == entries.messages.end()) return acknowledge(queue, packet.sequence);  // it has come before
  Message& message = *asker;
  const std::uint32_t place = packet.sequence - message.first_sequence;
  if (place < message.answered) return;
  if (place > message.answered) return resend(queue, "a result was lost");
  ++message.answered;
  queues_[queue].last_progress = now();
  const std::uint64_t offset = std::uint64_t{place} * mtu_;
  const std::uint32_t number = entries.number_of(static_cast<std::size_t>(asker - entries.messages.begin()));
  for (const MessagePart& part : message.entry.parts(offset, packet.bytes)) {
    ++message.scatters;
    io_.store(part.area.begin, packet.data.empty() ? nullptr : packet.data.data() + part.offset,
              part.area.shape.row_bytes, pairs_.purpose(Purpose::scatter, queue, number));
  }
  acknowledge(queue, packet.sequence);
}

void Delivery::scattered(const Purpose& purpose, const tlm::tlm_generic_payload& access) {
  SendQueue& entries = entries_[purpose.queue];
  const auto number = static_cast<std::uint32_t>(purpose.number);
  if (!entries.has(number)) return;  // it has been flushed
  Message& message = entries.message(number);
  --message.scatters;
  if (access.is_response_error())
    return entries_.fail(purpose.queue, number, NicSyndrome::local_protection, access.get_address(),
                         "its result could not be stored", status_of_data_access(access));
  if (message.stage == Message::Stage::sent && message.has_results()) {
    message.stage = Message::Stage::ended;
    entries_.finish(purpose.queue);
  }
}

void Delivery::refused(std::uint32_t queue, const Packet& packet) {
  const SendQueue& entries = entries_[queue];
  for (std::size_t i = 0; i < entries.messages.size(); ++i) {
    const Message& message = entries.messages[i];
    if (message.packets == 0 || packet.sequence - message.first_sequence >= message.packets) continue;
    const std::string reason = packet.reason == Status::ok ? "" : fmt::format(": {}", text_of(packet.reason));
    return entries_.fail(queue, entries.number_of(i), packet.syndrome, packet.address,
                         fmt::format("NIC {} has refused {:#x}: {}{}", packet.from_nic, packet.address,
                                     text_of(packet.syndrome), reason),
                         packet.reason);
  }
}

/// Resends once for each loss, which may be reported several times.
void Delivery::resend(std::uint32_t number, const char* reason) {
  Queue& queue = queues_[number];
  if (queue.unacknowledged.empty() || queue.holds || queue.resent) return;
  const unsigned allowed = static_cast<unsigned>(registers_.retry[number].retries());
  if (++queue.retries > allowed)
    return entries_.fail(number, entries_[number].finished, NicSyndrome::retry_exceeded, 0,
                         fmt::format("{}, and sent {} times again without progress", reason, allowed));
  queue.resent = true;
  send_again(number);
}

void Delivery::send_again(std::uint32_t number) {
  Queue& queue = queues_[number];
  queue.holds = false;
  queue.last_progress = now();
  for (Message& message : entries_[number].messages)
    if (message.stage == Message::Stage::sent && message.answered != message.packets) message.answered = 0;
  for (const PacketPointer& packet : queue.unacknowledged) {
    ++resent_;
    transmitter_.send(packet);
  }
}

/// One event at a time: it looks when the last progress was.
void Delivery::start_timer(std::uint32_t number) {
  Queue& queue = queues_[number];
  const auto exponent = registers_.retry[number].timeout();
  if (exponent == 0 || queue.timer_runs || queue.unacknowledged.empty()) return;
  queue.timer_runs = true;
  events_.push(queue.last_progress + (timeout_unit << exponent),
               {NicEvent::timeout, number, pairs_.generation(number)});
}

void Delivery::timer_ended(std::uint32_t number) {
  Queue& queue = queues_[number];
  queue.timer_runs = false;
  if (queue.unacknowledged.empty() || pairs_.state(number) != QueuePairState::ready_to_send) return;
  const Picoseconds timeout = timeout_unit << registers_.retry[number].timeout();
  if (queue.holds) queue.last_progress = now();
  if (queue.last_progress + timeout <= now()) {
    queue.resent = false;
    resend(number, "no acknowledgement has come");
  }
  start_timer(number);
}

void Delivery::receiver_not_ready(std::uint32_t number, std::uint32_t sequence) {
  Queue& queue = queues_[number];
  if (queue.holds || queue.unacknowledged.empty()) return;
  const auto retry = registers_.retry[number];
  const auto allowed = static_cast<unsigned>(retry.rnr_retries());
  if (++queue.rnr_retries > allowed && allowed != for_ever)
    return entries_.fail(
        number, entries_[number].finished, NicSyndrome::rnr_retry_exceeded, 0,
        fmt::format("the receiver of packet {} has no receive entry, {} times again", sequence, allowed));
  queue.holds = true;
  events_.push(now() + (receiver_unit << retry.rnr_timer()),
               {NicEvent::receiver_wait, number, pairs_.generation(number)});
}

}  // namespace t3vp::nic
