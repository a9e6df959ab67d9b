#include "nic/queue_pairs.h"

#include <fmt/format.h>

#include "protocol/own_address.h"
#include "t3/nic_completion.h"
#include "t3/nic_work_entry.h"

namespace t3vp::nic {
namespace {

constexpr std::uint64_t send_entries_most = 32768;

bool is_power_of_two(std::uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

}  // namespace

const char* name_of(QueuePairState state) {
  constexpr const char* names[] = {"reset", "init", "ready_to_receive", "ready_to_send", "error"};
  return names[static_cast<std::size_t>(state)];
}

QueuePairs::QueuePairs(registers::Nic& registers, NicStatus& status, CompletionQueues& completions,
                       DataInitiatorBase& memory)
    : registers_(registers),
      status_(status),
      completions_(completions),
      memory_(memory),
      pairs_(registers.send_base.size()) {
  registers_.state_register.on_write([this](std::size_t queue) { change_state(queue); });
  registers_.state_register.on_refresh(
      [this](std::size_t queue) { registers_.state_register[queue].now.set(pairs_[queue].state); });
  for (auto* described : {&registers_.send_base, &registers_.doorbell_record, &registers_.send_entries})
    described->on_write([this](std::size_t queue) { refuse_outside(QueuePairState::reset, queue); });
  registers_.completion_queue.on_write([this](std::size_t queue) { refuse_outside(QueuePairState::reset, queue); });
  registers_.peer.on_write([this](std::size_t queue) { refuse_outside(QueuePairState::init, queue); });
  registers_.retry.on_write([this](std::size_t queue) { refuse_outside(QueuePairState::init, queue); });
  completions_.user_of = [this](std::size_t queue) { return user_of_completions(queue); };
}

Purpose QueuePairs::purpose(Purpose::What what, std::uint32_t queue, std::uint64_t number, std::uint32_t offset) const {
  Purpose made;
  made.what = what;
  made.queue = queue;
  made.generation = pairs_[queue].generation;
  made.number = number;
  made.offset = offset;
  return made;
}

void QueuePairs::reset() {
  reset_at_ = now();
  for (std::uint32_t queue = 0; queue < pairs_.size(); ++queue) forget(queue);
}

/// Returns the missing settings of the state; empty when none is missing.
std::string QueuePairs::missing_for(QueuePairState to, std::size_t queue) {
  const std::uint64_t base = registers_.send_base[queue].value(), entries = registers_.send_entries[queue].value(),
                      record = registers_.doorbell_record[queue].value(), nic = registers_.number.value();
  if (to == QueuePairState::init) {
    if (!is_power_of_two(entries) || entries > send_entries_most)
      return fmt::format("send_entries {}: a power of two, at most {}, expected", entries, send_entries_most);
    if (base % T3_NIC_WORK_ENTRY_ENTRY_BYTES != 0)
      return fmt::format("send_base {:#x}: a multiple of 64 expected", base);
    if (!memory_.holds(base, entries * T3_NIC_WORK_ENTRY_ENTRY_BYTES))
      return fmt::format("send queue of {} entries at {:#x}: memory expected{}", entries, base, number_hint(nic, base));
    if (record % 4 != 0 || !memory_.holds(record, 4))
      return fmt::format("doorbell_record {:#x}: 4 aligned bytes of memory expected{}", record,
                         number_hint(nic, record));
    const auto completion = static_cast<std::uint32_t>(registers_.completion_queue[queue].number());
    if (!completions_.is_there(completion))
      return fmt::format("completion queue {} has no entries: a power of two expected", completion);
    const std::uint64_t ring = registers_.completion_base[completion].value(),
                        places = registers_.completion_entries[completion].value();
    if (!memory_.holds(ring, places * T3_NIC_COMPLETION_ENTRY_BYTES))
      return fmt::format("completion queue {} of {} entries at {:#x}: memory expected{}", completion, places, ring,
                         number_hint(nic, ring));
  }
  if (to == QueuePairState::ready_to_receive && registers_.peer[queue].queue_pair() >= pairs_.size())
    return fmt::format("peer.queue_pair {}: at most {} expected", registers_.peer[queue].queue_pair(),
                       pairs_.size() - 1);
  return {};
}

/// Settings of a state cannot be changed after it.
void QueuePairs::refuse_outside(QueuePairState last, std::size_t queue) {
  const QueuePairState state = pairs_[queue].state;
  if (state <= last) return;
  const char* expected = last == QueuePairState::reset ? "reset" : "reset or init";
  registers_.refuse(Status::busy, fmt::format("queue pair in {} expected, it is in {}", expected, name_of(state)));
}

/// A queue pair whose completions go there, in words; empty when there is none.
std::string QueuePairs::user_of_completions(std::size_t queue) const {
  for (std::size_t i = 0; i < pairs_.size(); ++i)
    if (pairs_[i].state != QueuePairState::reset && registers_.completion_queue[i].number() == queue)
      return fmt::format("queue pair {} in reset expected, whose completions go here, it is in {}", i,
                         name_of(pairs_[i].state));
  return {};
}

void QueuePairs::change_state(std::size_t number) {
  const auto queue = static_cast<std::uint32_t>(number);
  Pair& pair = pairs_[queue];
  const QueuePairState to = registers_.state_register[queue].now();
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
    return registers_.refuse(Status::bad_value,
                             fmt::format("reset{} expected of a queue pair in {}", next, name_of(pair.state)));
  }
  if (const std::string missing = missing_for(to, queue); !missing.empty())
    return registers_.refuse(Status::invalid_argument, missing);
  pair.state = to;
  pair.told_drop = false;
  if (to == QueuePairState::ready_to_receive) pair.ready_since = now();
}

/// Everything of the queue pair is gone, on this side.
void QueuePairs::forget(std::uint32_t queue) {
  const std::uint32_t generation = pairs_[queue].generation + 1;
  pairs_[queue] = Pair();
  pairs_[queue].generation = generation;
  on_forget(queue);
}

void QueuePairs::enter_error(std::uint32_t queue, const ErrorCause& cause) {
  Pair& pair = pairs_[queue];
  const bool is_new = pair.state != QueuePairState::error;
  pair.state = QueuePairState::error;
  if (is_new) pair.cause = cause;
  pair.told_drop = false;
  on_error(queue);
  if (is_new) status_.raise_error();
}

void QueuePairs::complete(std::uint32_t queue, const t3_nic_completion& completion) {
  const auto to = static_cast<std::uint32_t>(registers_.completion_queue[queue].number());
  if (completions_.add(to, completion)) return;
  status_.raise_error();
  if (pairs_[queue].state != QueuePairState::error) enter_error(queue, {NicCause::completion_queue});
}

bool QueuePairs::admits(const Packet& packet, Picoseconds sent) {
  const std::uint32_t queue = packet.to_queue_pair;
  if (queue >= pairs_.size()) {
    ++dropped_;
    status_.log(Status::no_peer, 0,
                fmt::format("{} for queue pair {}: at most {} expected", describe(packet), queue, pairs_.size() - 1));
    return false;
  }
  Pair& pair = pairs_[queue];
  // Sequence numbers start again with each generation of a queue pair, where InfiniBand's start at random. Without the
  // check, packets of an earlier generation would be taken for current ones: a request sent before its receiver was
  // ready, or a response to a forgotten request.
  const bool is_of_an_earlier_generation =
      packet.is_request() ? sent < pair.ready_since : packet.generation != pair.generation;
  if (is_of_an_earlier_generation) {
    ++dropped_;
    return false;
  }
  const auto peer = registers_.peer[queue];
  const bool is_connected =
      pair.state == QueuePairState::ready_to_receive || pair.state == QueuePairState::ready_to_send;
  if (!is_connected || peer.nic() != packet.from_nic || peer.queue_pair() != packet.from_queue_pair)
    return drop(queue, packet);
  if (!packet.is_request()) return true;
  if (pair.peer_generation.value_or(packet.generation) != packet.generation) return drop(queue, packet);
  pair.peer_generation = packet.generation;
  return true;
}

/// The sender is not notified and tries until its retries are used up. Only the first drop of a state is logged, and
/// none when the log has the queue pair's own mistake.
bool QueuePairs::drop(std::uint32_t queue, const Packet& packet) {
  ++dropped_;
  Pair& pair = pairs_[queue];
  const bool is_known = pair.state == QueuePairState::error && pair.cause.what != NicCause::software;
  if (pair.told_drop || is_known) return false;
  pair.told_drop = true;
  const auto peer = registers_.peer[queue];
  status_.log(Status::no_peer, 0,
              fmt::format("{} for queue pair {} in {} with peer {} of NIC {}{} is dropped", describe(packet), queue,
                          name_of(pair.state), peer.queue_pair(), peer.nic(),
                          pair.peer_generation && *pair.peer_generation != packet.generation
                              ? ", which has been reset since: this one has to be reset and connected anew, too,"
                              : ""));
  return false;
}

}  // namespace t3vp::nic
