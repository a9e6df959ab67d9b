// What software writes: regions, states of queue pairs.
#include <fmt/format.h>

#include "nic/rdma_nic.h"

namespace t3vp::nic {
namespace {

constexpr std::uint64_t entries_most = 32768;

bool is_power_of_two(std::uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

}  // namespace

void Nic::command() {
  using Action = registers::Nic::Command::Action;
  registers.status.code.set(Status::ok);
  if (registers.command.action() == Action::register_region) register_region();
  if (registers.command.action() == Action::withdraw) withdraw();
}

void Nic::register_region() {
  const std::uint64_t base = registers.region_base.value(), bytes = registers.region_bytes.value();
  const auto refuse = [&](Status status, const std::string& text) {
    registers.status.code.set(status);
    log(status, base, text);
  };
  if (bytes == 0 || base + bytes - 1 < base)
    return refuse(Status::invalid_argument,
                  fmt::format("region of {:#x} bytes at {:#x}: 1 byte or more, and no wrap, expected", bytes, base));
  if (!io.memory.holds(base, bytes))
    return refuse(Status::bad_address,
                  fmt::format("region of {:#x} bytes at {:#x}: memory of one GPU expected", bytes, base));
  if (regions_.is_full())
    return refuse(Status::table_full, fmt::format("all {} places for regions are in use", regions_.places()));
  const auto& rights = registers.region_access;
  registers.key.set(regions_.add(base, bytes,
                                 {rights.local_write() != 0, rights.remote_read() != 0, rights.remote_write() != 0,
                                  rights.remote_atomic() != 0, rights.remote_accumulate() != 0}));
}

void Nic::withdraw() {
  const auto key = static_cast<std::uint32_t>(registers.key.value());
  if (regions_.withdraw(key)) return;
  registers.status.code.set(Status::invalid_argument);
  log(Status::invalid_argument, 0, fmt::format("key {:#x} is withdrawn: one of a registered region expected", key));
}

/// What the state needs and has not; empty when nothing is missing.
std::string Nic::missing_for(QueuePairState to, std::size_t queue) {
  const std::uint64_t base = registers.send_base[queue].value(), entries = registers.send_entries[queue].value(),
                      record = registers.doorbell_record[queue].value();
  if (to == QueuePairState::init) {
    if (!is_power_of_two(entries) || entries > entries_most)
      return fmt::format("send_entries {}: a power of two, at most {}, expected", entries, entries_most);
    if (base % T3_NIC_WORK_ENTRY_ENTRY_BYTES != 0)
      return fmt::format("send_base {:#x}: a multiple of 64 expected", base);
    if (!io.memory.holds(base, entries * T3_NIC_WORK_ENTRY_ENTRY_BYTES))
      return fmt::format("send queue of {} entries at {:#x}: memory expected", entries, base);
    if (record % 4 != 0 || !io.memory.holds(record, 4))
      return fmt::format("doorbell_record {:#x}: 4 aligned bytes of memory expected", record);
    const auto completion = static_cast<std::uint32_t>(registers.completion_queue[queue].number());
    if (!completions_.is_there(completion))
      return fmt::format("completion queue {} has no entries: a power of two expected", completion);
  }
  if (to == QueuePairState::ready_to_receive && registers.peer[queue].queue_pair() >= queue_pairs_.size())
    return fmt::format("peer.queue_pair {}: at most {} expected", registers.peer[queue].queue_pair(),
                       queue_pairs_.size() - 1);
  return {};
}

/// What a state has been given is not changed behind it.
void Nic::refuse_outside(QueuePairState last, std::size_t queue) {
  const QueuePairState state = queue_pairs_[queue].state;
  if (state <= last) return;
  const char* expected = last == QueuePairState::reset ? "reset" : "reset or init";
  registers.refuse(Status::busy, fmt::format("queue pair in {} expected, it is in {}", expected, name_of(state)));
}

/// A queue pair whose completions go there, in words; empty when there is none.
std::string Nic::user_of_completions(std::size_t queue) const {
  for (std::size_t i = 0; i < queue_pairs_.size(); ++i)
    if (queue_pairs_[i].state != QueuePairState::reset && registers.completion_queue[i].number() == queue)
      return fmt::format("queue pair {} in reset expected, whose completions go here, it is in {}", i,
                         name_of(queue_pairs_[i].state));
  return {};
}

void Nic::change_state(std::size_t number) {
  const auto queue = static_cast<std::uint32_t>(number);
  QueuePair& pair = queue_pairs_[queue];
  const QueuePairState to = registers.state_register[queue].now();
  if (to == QueuePairState::reset) return forget(queue);
  if (to == QueuePairState::error && pair.state != QueuePairState::reset)
    return enter_error(queue, {NicCause::software});
  const bool is_next =
      pair.state < QueuePairState::ready_to_send && static_cast<unsigned>(to) == static_cast<unsigned>(pair.state) + 1;
  if (!is_next) {
    const std::string next =
        pair.state < QueuePairState::ready_to_send
            ? fmt::format(" or {}", name_of(static_cast<QueuePairState>(static_cast<unsigned>(pair.state) + 1)))
            : "";
    return registers.refuse(Status::bad_value,
                            fmt::format("reset{} expected of a queue pair in {}", next, name_of(pair.state)));
  }
  if (const std::string missing = missing_for(to, queue); !missing.empty())
    return registers.refuse(Status::invalid_argument, missing);
  pair.state = to;
  pair.told_drop = false;
  if (to == QueuePairState::ready_to_receive) pair.ready_since = now();
}

/// Everything of the queue pair is gone, on this side.
void Nic::forget(std::uint32_t queue) {
  QueuePair& pair = queue_pairs_[queue];
  end_waits(queue);
  std::uint64_t loading = 0;
  for (const Loading& load : pair.loading) loading += load.packet->payload();
  const bool is_listed = pair.is_ready;  // it stays in the list, which finds nothing to begin
  const std::uint32_t generation = pair.generation + 1;
  static const QueuePair unused;  // its queues are copied without any memory
  pair = unused;
  pair.generation = generation;
  pair.is_ready = is_listed;
  if (loading != 0) room_made(loading);
}

/// All entries end as flushed, those that are still to be read as well; the packets under way find nobody.
void Nic::enter_error(std::uint32_t queue, const ErrorCause& cause) {
  QueuePair& pair = queue_pairs_[queue];
  std::uint64_t loading = 0;
  for (const Loading& load : pair.loading) loading += load.packet->payload();
  pair.loading_first += pair.loading.size();
  pair.loading.clear();
  pair.unacknowledged.clear();
  pair.duties_first += pair.duties.size();
  pair.duties.clear();
  const bool is_new = pair.state != QueuePairState::error;
  pair.state = QueuePairState::error;
  if (is_new) pair.cause = cause;
  pair.told_drop = false;
  while (pair.finished != pair.posted) {
    Message message;
    if (!pair.messages.empty()) {
      message = pair.messages.front();
      pair.messages.pop_front();
    }
    if (message.stage != Message::Stage::ended || message.syndrome == NicSyndrome::ok)
      message.syndrome = NicSyndrome::flushed;
    complete(queue, message, pair.finished++);
  }
  pair.fetched = pair.begun = pair.finished;
  end_waits(queue);
  if (loading != 0) room_made(loading);
  if (is_new) raise_error();
}

}  // namespace t3vp::nic
