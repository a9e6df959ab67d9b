// What becomes of messages: acknowledgements, results, refusals, retries, completions.
#include <fmt/format.h>

#include <algorithm>

#include "nic/rdma_nic.h"
#include "nic/syndrome_status.h"
#include "protocol/response_status.h"

namespace t3vp::nic {
namespace {

constexpr Picoseconds timeout_unit = 4'096'000, receiver_unit = 1'024'000;
constexpr unsigned for_ever = 7;  // receiver-not-ready retries

}  // namespace

void Nic::answer_received(std::uint32_t queue, const Packet& packet) {
  switch (packet.kind) {
    case Packet::Kind::acknowledge:
      ++figures_.acknowledgements;
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

void Nic::progress(QueuePair& pair) {
  pair.retries = pair.rnr_retries = 0;
  pair.resent = false;
  pair.last_progress = now();
}

/// All packets up to this one have arrived, and answers to them have been sent: what has not come of those is lost.
void Nic::acknowledge(std::uint32_t queue, std::uint32_t sequence) {
  QueuePair& pair = queue_pairs_[queue];
  while (!pair.unacknowledged.empty()) {
    const Packet& packet = *pair.unacknowledged.front();
    const bool is_write = packet.is_write();
    const std::uint32_t last = packet.sequence + (is_write ? 1 : packets_of(packet.bytes, parameters_.mtu)) - 1;
    if (is_before(sequence, last)) break;
    if (!is_write) {
      const auto asker = std::find_if(pair.messages.begin(), pair.messages.end(), [&](const Message& message) {
        return message.entry.has_result() && message.packets != 0 && message.first_sequence == packet.sequence;
      });
      if (asker != pair.messages.end() && asker->answered != asker->packets) return resend(queue, "a result was lost");
    }
    pair.unacknowledged.pop_front();
    progress(pair);
  }
  end_messages(queue, sequence);
}

/// Writes end when they are acknowledged, the others when their results are in memory.
void Nic::end_messages(std::uint32_t queue, std::uint32_t sequence) {
  for (Message& message : queue_pairs_[queue].messages) {
    if (message.stage == Message::Stage::ended) continue;
    if (message.stage != Message::Stage::sent || is_before(sequence, message.last_sequence())) break;
    if (message.entry.is_write() || message.has_results()) message.stage = Message::Stage::ended;
  }
  finish(queue);
}

/// A packet of the response to a read, or a fetch-and-add's: its bytes go to the entry's segments.
void Nic::take_result(std::uint32_t queue, const Packet& packet) {
  QueuePair& pair = queue_pairs_[queue];
  const auto asker = std::find_if(pair.messages.begin(), pair.messages.end(), [&](const Message& message) {
    return message.entry.has_result() && message.stage == Message::Stage::sent &&
           packet.sequence - message.first_sequence < message.packets;
  });
  if (asker == pair.messages.end()) return acknowledge(queue, packet.sequence);  // it has come before
  Message& message = *asker;
  const std::uint32_t place = packet.sequence - message.first_sequence;
  if (place < message.answered) return;
  if (place > message.answered) return resend(queue, "a result was lost");
  ++message.answered;
  pair.last_progress = now();
  const std::uint64_t offset = std::uint64_t{place} * parameters_.mtu;
  const auto number = static_cast<std::uint32_t>(pair.finished + (asker - pair.messages.begin()));
  for (const MessagePart& part : message.entry.parts(offset, packet.bytes)) {
    ++message.scatters;
    io.store(part.area.begin, packet.data.empty() ? nullptr : packet.data.data() + part.offset,
             part.area.shape.row_bytes, purpose(Purpose::scatter, queue, number));
  }
  acknowledge(queue, packet.sequence);
}

void Nic::scattered(const Purpose& purpose, const tlm::tlm_generic_payload& access) {
  QueuePair& pair = queue_pairs_[purpose.queue];
  const auto number = static_cast<std::uint32_t>(purpose.number);
  if (!pair.has(number)) return;  // it has been flushed
  Message& message = pair.message(number);
  --message.scatters;
  if (access.is_response_error())
    return fail(purpose.queue, number, NicSyndrome::local_protection, access.get_address(),
                "its result could not be stored", status_of_data_access(access));
  if (message.stage == Message::Stage::sent && message.has_results()) {
    message.stage = Message::Stage::ended;
    finish(purpose.queue);
  }
}

/// The entry ends with this syndrome when those before it have ended; none behind it begins.
void Nic::fail(std::uint32_t queue, std::uint32_t number, NicSyndrome syndrome, std::uint64_t address,
               const std::string& text, Status reason) {
  QueuePair& pair = queue_pairs_[queue];
  Message& message = pair.message(number);
  if (message.stage == Message::Stage::ended) return;
  message.stage = Message::Stage::ended;
  message.syndrome = syndrome;
  message.address = address;
  message.reason = reason;
  const Status status = reason == Status::ok ? status_of(syndrome) : reason;
  if (!pair.failed) pair.failure = status;
  pair.failed = true;
  log(status, address, fmt::format("queue pair {}, entry {}: {}: {}", queue, number, name_of(syndrome), text));
  finish(queue);
}

void Nic::refused(std::uint32_t queue, const Packet& packet) {
  QueuePair& pair = queue_pairs_[queue];
  for (std::uint32_t i = 0; i < pair.messages.size(); ++i) {
    const Message& message = pair.messages[i];
    if (message.packets == 0 || packet.sequence - message.first_sequence >= message.packets) continue;
    const std::string reason = packet.reason == Status::ok ? "" : fmt::format(": {}", text_of(packet.reason));
    return fail(queue, pair.finished + i, packet.syndrome, packet.address,
                fmt::format("NIC {} has refused {:#x}: {}{}", packet.from_nic, packet.address, text_of(packet.syndrome),
                            reason),
                packet.reason);
  }
}

void Nic::finish(std::uint32_t queue) {
  QueuePair& pair = queue_pairs_[queue];
  while (!pair.messages.empty() && pair.messages.front().stage == Message::Stage::ended) {
    if (const Message& failed = pair.messages.front(); failed.syndrome != NicSyndrome::ok)
      return enter_error(queue, {NicCause::own_entry, failed.syndrome, failed.address});
    const Message message = pair.messages.front();
    pair.messages.pop_front();
    count(message);
    ++pair.succeeded;
    complete(queue, message, pair.finished++);
    answer_waits(queue);
  }
  make_ready(queue);  // what a fence has held
  begin_messages();
}

void Nic::count(const Message& message) {
  ++figures_.messages;
  if (!message.entry.is_write()) return;
  ++(message.entry.is_inline() ? figures_.inline_writes : figures_.writes);
  figures_.written += message.entry.bytes();
}

void Nic::complete(std::uint32_t queue, const Message& message, std::uint32_t number) {
  if (message.syndrome == NicSyndrome::ok && !message.entry.is_signaled()) return;
  t3_nic_completion completion{};
  completion.address = message.address;
  completion.queue_pair = queue;
  completion.index = static_cast<std::uint16_t>(number);
  completion.syndrome = static_cast<std::uint8_t>(message.syndrome);
  completion.reason = static_cast<std::uint8_t>(message.reason);
  if (message.syndrome == NicSyndrome::flushed) {
    const ErrorCause& cause = queue_pairs_[queue].cause;
    completion.cause = static_cast<std::uint8_t>(cause.what);
    completion.cause_syndrome = static_cast<std::uint8_t>(cause.syndrome);
    completion.address = cause.address;
  }
  if (message.stage != Message::Stage::fetching) {
    completion.opcode = message.entry.head.opcode;
    completion.bytes = static_cast<std::uint32_t>(message.entry.bytes());
  }
  add_completion(queue, completion);
}

void Nic::add_completion(std::uint32_t queue, const t3_nic_completion& completion) {
  const auto to = static_cast<std::uint32_t>(registers.completion_queue[queue].number());
  if (completions_.add(to, completion)) {
    ++figures_.completions;
    return;
  }
  raise_error();
  if (queue_pairs_[queue].state != QueuePairState::error) enter_error(queue, {NicCause::completion_queue});
}

/// All that is not acknowledged goes again; once for each loss, which may be told several times.
void Nic::resend(std::uint32_t queue, const char* reason) {
  QueuePair& pair = queue_pairs_[queue];
  if (pair.unacknowledged.empty() || pair.holds || pair.resent) return;
  const unsigned allowed = static_cast<unsigned>(registers.retry[queue].retries());
  if (++pair.retries > allowed)
    return fail(queue, pair.finished, NicSyndrome::retry_exceeded, 0,
                fmt::format("{}, and sent {} times again without progress", reason, allowed));
  pair.resent = true;
  send_again(pair);
}

void Nic::send_again(QueuePair& pair) {
  pair.holds = false;
  pair.last_progress = now();
  for (Message& message : pair.messages)
    if (message.stage == Message::Stage::sent && message.answered != message.packets) message.answered = 0;
  for (const PacketPointer& packet : pair.unacknowledged) {
    ++figures_.resent;
    put_on_wire(packet, 0);
  }
}

/// One event at a time: it looks when the last progress was.
void Nic::start_timer(std::uint32_t queue) {
  QueuePair& pair = queue_pairs_[queue];
  const auto exponent = registers.retry[queue].timeout();
  if (exponent == 0 || pair.timer_runs || pair.unacknowledged.empty()) return;
  pair.timer_runs = true;
  events_.push(pair.last_progress + (timeout_unit << exponent), {Event::timeout, queue, pair.generation});
}

void Nic::timer_ended(std::uint32_t queue) {
  QueuePair& pair = queue_pairs_[queue];
  pair.timer_runs = false;
  if (pair.unacknowledged.empty() || pair.state != QueuePairState::ready_to_send) return;
  const Picoseconds timeout = timeout_unit << registers.retry[queue].timeout();
  if (pair.holds) pair.last_progress = now();
  if (pair.last_progress + timeout <= now()) {
    pair.resent = false;
    resend(queue, "no acknowledgement has come");
  }
  start_timer(queue);
}

void Nic::receiver_not_ready(std::uint32_t queue, std::uint32_t sequence) {
  QueuePair& pair = queue_pairs_[queue];
  if (pair.holds || pair.unacknowledged.empty()) return;
  const auto retry = registers.retry[queue];
  const auto allowed = static_cast<unsigned>(retry.rnr_retries());
  if (++pair.rnr_retries > allowed && allowed != for_ever)
    return fail(queue, pair.finished, NicSyndrome::rnr_retry_exceeded, 0,
                fmt::format("the receiver of packet {} has no receive entry, {} times again", sequence, allowed));
  pair.holds = true;
  events_.push(now() + (receiver_unit << retry.rnr_timer()), {Event::receiver_wait, queue, pair.generation});
}

}  // namespace t3vp::nic
