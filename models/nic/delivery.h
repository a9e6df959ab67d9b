// Reliable delivery: packets that are not acknowledged, what becomes of their messages, and what is sent again.
#pragma once

#include <deque>
#include <vector>

#include "nic/nic_events.h"
#include "nic/send_queues.h"
#include "nic/transmitter.h"

namespace t3vp::nic {

class Delivery {
 public:
  Delivery(registers::Nic& registers, QueuePairs& pairs, SendQueues& entries, IoLink& io, Transmitter& transmitter,
           NicEvents& events, std::uint32_t mtu);

  /// The packet follows those before it. Its payload makes room when it has left.
  void send(std::uint32_t queue, const PacketPointer& packet);
  /// A packet of the peer's that answers one of these.
  void received(const Packet& packet);
  /// A part of a result is in memory.
  void scattered(const Purpose& purpose, const tlm::tlm_generic_payload& access);
  void timer_ended(std::uint32_t queue);
  /// All that is not acknowledged goes again.
  void send_again(std::uint32_t queue);
  /// Forgets the packets in flight; their acknowledgements are then ignored.
  void drop(std::uint32_t queue) { queues_[queue].unacknowledged.clear(); }
  void forget(std::uint32_t queue) { queues_[queue] = Queue(); }

  /// The oldest packet that is not acknowledged; null when there is none.
  const Packet* oldest(std::uint32_t queue) const {
    return queues_[queue].unacknowledged.empty() ? nullptr : queues_[queue].unacknowledged.front().get();
  }
  std::uint64_t acknowledgements() const { return acknowledgements_; }  ///< packets received
  std::uint64_t resent() const { return resent_; }                      ///< packets

 private:
  struct Queue {
    std::deque<PacketPointer> unacknowledged;
    unsigned retries = 0, rnr_retries = 0;  ///< since the last progress
    bool resent = false;                    ///< since the last progress
    bool holds = false;                     ///< the receiver is not ready: nothing is sent
    bool timer_runs = false;
    Picoseconds last_progress = 0;
  };

  void acknowledge(std::uint32_t queue, std::uint32_t sequence);
  void take_result(std::uint32_t queue, const Packet& packet);
  void end_messages(std::uint32_t queue, std::uint32_t sequence);
  void refused(std::uint32_t queue, const Packet& packet);
  void resend(std::uint32_t queue, const char* reason);
  void start_timer(std::uint32_t queue);
  void receiver_not_ready(std::uint32_t queue, std::uint32_t sequence);

  registers::Nic& registers_;
  QueuePairs& pairs_;
  SendQueues& entries_;
  IoLink& io_;
  Transmitter& transmitter_;
  NicEvents& events_;
  std::uint32_t mtu_;
  std::vector<Queue> queues_;
  std::uint64_t acknowledgements_ = 0, resent_ = 0;
};

}  // namespace t3vp::nic
