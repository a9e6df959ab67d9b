// The states of queue pairs: what software asks for, which peer a packet may come from, and how one falls into error.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "nic/completion_queues.h"
#include "nic/nic_packet.h"
#include "nic/nic_status.h"
#include "registers/nic_cause.h"

namespace t3vp::nic {

using QueuePairState = registers::Nic::State::Now;

const char* name_of(QueuePairState state);

/// Why a queue pair is in error.
struct ErrorCause {
  NicCause what = NicCause::none;
  NicSyndrome syndrome = NicSyndrome::ok;
  std::uint64_t address = 0;
};

class QueuePairs {
 public:
  /// Everything of a queue pair ends as flushed; everything of it is gone.
  std::function<void(std::uint32_t queue)> on_error, on_forget;

  /// `memory` leads to the memory that queues lie in.
  QueuePairs(registers::Nic& registers, NicStatus& status, CompletionQueues& completions, DataInitiatorBase& memory);

  std::uint32_t count() const { return static_cast<std::uint32_t>(pairs_.size()); }
  QueuePairState state(std::uint32_t queue) const { return pairs_[queue].state; }
  const ErrorCause& cause(std::uint32_t queue) const { return pairs_[queue].cause; }
  /// Resets so far.
  std::uint32_t generation(std::uint32_t queue) const { return pairs_[queue].generation; }
  bool is_current(std::uint32_t queue, std::uint32_t generation) const {
    return pairs_[queue].generation == generation;
  }
  /// Returns the time of the NIC's reset.
  Picoseconds reset_at() const { return reset_at_; }
  Purpose purpose(Purpose::What what, std::uint32_t queue, std::uint64_t number = 0, std::uint32_t offset = 0) const;

  /// Whether the packet, which was sent at this time, is for its queue pair. Others are dropped.
  bool admits(const Packet& packet, Picoseconds sent);
  /// Takes the queue pair to the error state. If it is there already, the state does not change, and the entries posted
  /// since are flushed.
  void enter_error(std::uint32_t queue, const ErrorCause& cause);
  /// Stores a completion of the queue pair. Without room in its completion queue, it is in error.
  void complete(std::uint32_t queue, const t3_nic_completion& completion);
  /// Packets that are on the wire find queue pairs in reset.
  void reset();
  /// Packets that no queue pair was ready for.
  std::uint64_t dropped() const { return dropped_; }

 private:
  struct Pair {
    QueuePairState state = QueuePairState::reset;
    ErrorCause cause;
    std::uint32_t generation = 0;                  ///< resets so far
    Picoseconds ready_since = 0;                   ///< to receive
    std::optional<std::uint32_t> peer_generation;  ///< of the first request that has come
    bool told_drop = false;
  };

  void change_state(std::size_t number);
  std::string missing_for(QueuePairState to, std::size_t queue);
  void refuse_outside(QueuePairState last, std::size_t queue);
  std::string user_of_completions(std::size_t queue) const;
  void forget(std::uint32_t queue);
  bool drop(std::uint32_t queue, const Packet& packet);

  registers::Nic& registers_;
  NicStatus& status_;
  CompletionQueues& completions_;
  DataInitiatorBase& memory_;
  std::vector<Pair> pairs_;
  Picoseconds reset_at_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace t3vp::nic
