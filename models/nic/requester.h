// From a fetched work entry to the wire: messages begin one per interval, their payload is read, their packets leave in
// the order of their sequence numbers.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "nic/delivery.h"
#include "nic/nic_events.h"
#include "nic/region_table.h"
#include "nic/send_queues.h"

namespace t3vp::nic {

class Requester {
 public:
  Requester(registers::Nic& registers, QueuePairs& pairs, SendQueues& entries, Delivery& delivery,
            const RegionTable& regions, IoLink& io, NicEvents& events, const NicParameters& parameters, bool functional,
            std::uint16_t number);

  /// An entry of the queue pair may be able to begin.
  void go_on(std::uint32_t queue);
  /// The next message may begin.
  void interval_ended();
  void payload_read(const Purpose& purpose, const tlm::tlm_generic_payload& access);
  /// Payload has left the buffer.
  void room_made(std::uint64_t bytes);
  /// Forgets the packets whose payload is being read.
  void drop(std::uint32_t queue);
  void forget(std::uint32_t queue);
  /// Before all queue pairs are forgotten, so that none of them begins anything, and behind that.
  void stop();
  void reset();

 private:
  /// A packet whose payload is being read.
  struct Loading {
    std::shared_ptr<Packet> packet;
    std::uint32_t loads = 0;    ///< that are in flight
    std::uint32_t message = 0;  ///< its number
  };
  struct Queue {
    bool is_ready = false;  ///< in the list of those with an entry to begin
    std::uint32_t next_sequence = 0;
    std::deque<Loading> loading;
    std::uint64_t loading_first = 0;  ///< number of loading.front() since reset

    std::uint64_t loading_bytes() const;
  };

  bool can_begin(std::uint32_t queue) const;
  void make_ready(std::uint32_t queue);
  void begin_messages();
  void begin(std::uint32_t queue);
  void make_packets(std::uint32_t queue);
  void make_packet(std::uint32_t queue, Message& message);
  void load_payload(std::uint32_t queue, const Message& message, Loading& loading, std::uint64_t offset);
  void send_loaded(std::uint32_t queue);

  registers::Nic& registers_;
  QueuePairs& pairs_;
  SendQueues& entries_;
  Delivery& delivery_;
  const RegionTable& regions_;
  IoLink& io_;
  NicEvents& events_;
  NicParameters parameters_;
  bool functional_;
  std::uint16_t number_;
  std::vector<Queue> queues_;
  std::deque<std::uint32_t> ready_;          ///< queue pairs with an entry to begin, in turns
  Picoseconds next_begin_ = 0;               ///< when the next message may begin
  bool begin_is_due_ = false;                ///< an event will come then
  std::deque<std::uint32_t> wait_for_room_;  ///< queue pairs whose next packet has no room yet
  std::uint64_t payload_in_flight_ = 0;
};

}  // namespace t3vp::nic
