#include "nic/send_queues.h"

#include <fmt/format.h>

#include <algorithm>

#include "nic/requester.h"
#include "nic/syndrome_status.h"
#include "protocol/response_status.h"

namespace t3vp::nic {

SendQueues::SendQueues(registers::Nic& registers, NicStatus& status, QueuePairs& pairs, EngineWaits& waits, IoLink& io,
                       Requester& requester, const NicParameters& parameters)
    : registers_(registers),
      status_(status),
      pairs_(pairs),
      waits_(waits),
      io_(io),
      requester_(requester),
      fetches_most_(parameters.entry_fetches),
      queues_(pairs.count()) {
  registers_.finished.on_refresh(
      [this](std::size_t queue) { registers_.finished[queue].set(queues_[queue].finished); });
  registers_.messages.on_refresh([this] { registers_.messages.set(figures_.messages.since_reset()); });
}

void SendQueues::post(std::uint32_t number, std::uint32_t posted) {
  SendQueue& queue = queues_[number];
  const std::uint64_t record = registers_.doorbell_record[number].value(),
                      entries = registers_.send_entries[number].value();
  if (is_before(posted, queue.posted)) {
    status_.log(Status::mismatch, record,
                fmt::format("queue pair {}: its doorbell record says {} entries after {}: as many or more expected",
                            number, posted, queue.posted));
    return status_.raise_error();
  }
  if (posted - queue.finished > entries) {
    status_.log(Status::capacity, record,
                fmt::format("queue pair {}: {} entries are posted and {} have ended: at most the {} of its send queue "
                            "expected in between",
                            number, posted, queue.finished, entries));
    queue.posted = static_cast<std::uint32_t>(queue.finished + entries);  // what lies there is the others'
    return pairs_.enter_error(number, {NicCause::send_queue});
  }
  queue.posted = posted;
  if (pairs_.state(number) == QueuePairState::error) return pairs_.enter_error(number, pairs_.cause(number));
  if (queue.fetched != posted && std::count(to_fetch_.begin(), to_fetch_.end(), number) == 0)
    to_fetch_.push_back(number);
  fetch();
}

void SendQueues::fetch() {
  while (fetching_ < fetches_most_ && !to_fetch_.empty()) {
    const std::uint32_t number = to_fetch_.front();
    to_fetch_.pop_front();
    SendQueue& queue = queues_[number];
    if (queue.fetched == queue.posted) continue;
    const std::uint64_t place = queue.fetched % registers_.send_entries[number].value();
    queue.messages.emplace_back();
    ++fetching_;
    const std::uint64_t entry = registers_.send_base[number].value() + place * T3_NIC_WORK_ENTRY_ENTRY_BYTES;
    io_.load(flat(entry, T3_NIC_WORK_ENTRY_ENTRY_BYTES), true, pairs_.purpose(Purpose::entry, number, queue.fetched++));
    if (queue.fetched != queue.posted) to_fetch_.push_back(number);
  }
}

void SendQueues::entry_read(const Purpose& purpose, const tlm::tlm_generic_payload& access) {
  --fetching_;
  SendQueue& queue = queues_[purpose.queue];
  const auto number = static_cast<std::uint32_t>(purpose.number);
  if (pairs_.is_current(purpose.queue, purpose.generation) && queue.has(number)) {  // else it has been flushed
    Message& message = queue.message(number);
    message.stage = Message::Stage::fetched;
    if (access.is_response_error()) {  // it fails in its turn
      message.syndrome = NicSyndrome::local_protection;
      message.address = access.get_address();
      message.reason = status_of_data_access(access);
    } else {
      message.entry = WorkEntry::from(access.get_data_ptr());
    }
    requester_.go_on(purpose.queue);
  }
  fetch();
}

void SendQueues::fail(std::uint32_t number, std::uint32_t entry, NicSyndrome syndrome, std::uint64_t address,
                      const std::string& text, Status reason) {
  SendQueue& queue = queues_[number];
  Message& message = queue.message(entry);
  if (message.stage == Message::Stage::ended) return;
  message.stage = Message::Stage::ended;
  message.syndrome = syndrome;
  message.address = address;
  message.reason = reason;
  const Status status = reason == Status::ok ? status_of(syndrome) : reason;
  if (!queue.failed) waits_.entry_failed(number, status);
  queue.failed = true;
  status_.log(status, address, fmt::format("queue pair {}, entry {}: {}: {}", number, entry, name_of(syndrome), text));
  finish(number);
}

void SendQueues::finish(std::uint32_t number) {
  SendQueue& queue = queues_[number];
  while (!queue.messages.empty() && queue.messages.front().stage == Message::Stage::ended) {
    if (const Message& failed = queue.messages.front(); failed.syndrome != NicSyndrome::ok)
      return pairs_.enter_error(number, {NicCause::own_entry, failed.syndrome, failed.address});
    const Message message = queue.messages.front();
    queue.messages.pop_front();
    count(message);
    waits_.entry_succeeded(number);
    complete(number, message, queue.finished++);
    waits_.answer_succeeded(number);
  }
  requester_.go_on(number);  // what a fence has held
}

void SendQueues::flush(std::uint32_t number) {
  SendQueue& queue = queues_[number];
  while (queue.finished != queue.posted) {
    Message message;
    if (!queue.messages.empty()) {
      message = queue.messages.front();
      queue.messages.pop_front();
    }
    if (message.stage != Message::Stage::ended || message.syndrome == NicSyndrome::ok)
      message.syndrome = NicSyndrome::flushed;
    complete(number, message, queue.finished++);
  }
  queue.fetched = queue.begun = queue.finished;
}

void SendQueues::forget(std::uint32_t queue) {
  static const SendQueue unused;  // its messages are copied without any memory
  queues_[queue] = unused;
}

void SendQueues::reset() {
  to_fetch_.clear();
  fetching_ = 0;
  figures_.messages.reset();
}

void SendQueues::count(const Message& message) {
  ++figures_.messages;
  if (!message.entry.is_write()) return;
  ++(message.entry.is_inline() ? figures_.inline_writes : figures_.writes);
  figures_.written += message.entry.bytes();
}

void SendQueues::complete(std::uint32_t queue, const Message& message, std::uint32_t number) {
  if (message.syndrome == NicSyndrome::ok && !message.entry.is_signaled()) return;
  t3_nic_completion completion{};
  completion.address = message.address;
  completion.queue_pair = queue;
  completion.index = static_cast<std::uint16_t>(number);
  completion.syndrome = static_cast<std::uint8_t>(message.syndrome);
  completion.reason = static_cast<std::uint8_t>(message.reason);
  if (message.syndrome == NicSyndrome::flushed) {
    const ErrorCause& cause = pairs_.cause(queue);
    completion.cause = static_cast<std::uint8_t>(cause.what);
    completion.cause_syndrome = static_cast<std::uint8_t>(cause.syndrome);
    completion.address = cause.address;
  }
  if (message.stage != Message::Stage::fetching) {
    completion.opcode = message.entry.head.opcode;
    completion.bytes = static_cast<std::uint32_t>(message.entry.bytes());
  }
  pairs_.complete(queue, completion);
}

}  // namespace t3vp::nic
