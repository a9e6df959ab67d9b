// Serves the requests of peers: writes, reads and fetch-and-adds in memory, with responses in the order of their
// packets.
#pragma once

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "nic/network_parameters.h"
#include "nic/queue_pairs.h"
#include "nic/region_table.h"
#include "nic/transmitter.h"

namespace t3vp::nic {

class Responder {
 public:
  Responder(registers::Nic& registers, NicStatus& status, QueuePairs& pairs, const RegionTable& regions, IoLink& io,
            Transmitter& transmitter, const NicParameters& parameters, std::uint16_t number);

  void show_on(Trace* trace, Trace::Track track) {
    trace_ = trace;
    track_ = track;
  }

  /// A request of the peer's.
  void received(const Packet& packet);
  /// Memory has done what a packet asks for, or a part of it.
  void served(const Purpose& purpose, const tlm::tlm_generic_payload& access);
  /// Drops the queue pair's pending responses.
  void drop(std::uint32_t queue);
  void forget(std::uint32_t queue) { queues_[queue] = Queue(); }
  /// Bytes of peers' writes stored in memory, or added to it.
  std::uint64_t placed() const { return placed_; }

 private:
  /// A pending response to the peer, in the order of its packets.
  struct Duty {
    std::shared_ptr<Packet> answer;
    bool is_silent = false;      ///< nothing is said, a later answer acknowledges it
    std::uint32_t accesses = 0;  ///< of memory that are in flight
    bool received = false;       ///< ends with a completion for a receive entry
    bool is_write = false;
    std::uint32_t bytes = 0, immediate = 0, index = 0;
    std::uint64_t address = 0;  ///< of the write's first byte
  };
  struct Queue {
    std::uint32_t expected = 0;  ///< next sequence number of the peer
    bool told_gap = false, refuses = false;
    std::uint32_t receive_posted = 0, receive_used = 0;
    std::deque<Duty> duties;
    std::uint64_t duties_first = 0;                                         ///< number of duties.front() since reset
    std::deque<std::pair<std::uint32_t, std::vector<unsigned char>>> sums;  ///< by sequence, for repeated requests

    std::uint64_t last_duty() const { return duties_first + duties.size() - 1; }
  };

  void post_receive(std::uint32_t queue);
  void serve(std::uint32_t queue, const Packet& packet);
  void serve_write(std::uint32_t queue, const Packet& packet);
  void serve_accumulate(std::uint32_t queue, const Packet& packet);
  void serve_read(std::uint32_t queue, const Packet& packet);
  void serve_add(std::uint32_t queue, const Packet& packet);
  void serve_again(std::uint32_t queue, const Packet& packet);
  Duty& owe(std::uint32_t queue, const Packet& packet, Packet::Kind kind);
  Duty& owe_write(std::uint32_t queue, const Packet& packet);
  Purpose for_last_duty(Purpose::What what, std::uint32_t queue) const;
  bool refuse_unless(std::uint32_t queue, const Packet& packet, Use use, std::uint64_t bytes);
  void refuse(std::uint32_t queue, const Packet& packet, NicSyndrome syndrome, const std::string& text);
  void pay(std::uint32_t queue);
  void complete_receive(std::uint32_t queue, const Duty& duty);
  void show_stored(const Duty& duty);

  registers::Nic& registers_;
  NicStatus& status_;
  QueuePairs& pairs_;
  const RegionTable& regions_;
  IoLink& io_;
  Transmitter& transmitter_;
  std::uint32_t mtu_;
  std::uint16_t number_;
  std::vector<Queue> queues_;
  std::uint64_t placed_ = 0;
  Trace* trace_ = nullptr;
  Trace::Track track_ = 0;
};

}  // namespace t3vp::nic
