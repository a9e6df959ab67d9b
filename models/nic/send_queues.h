// Work entries from when they are posted until they have ended: fetched from the send queues in memory, handed to the
// requester in order, and completed in order.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "nic/engine_waits.h"
#include "nic/network_parameters.h"
#include "nic/nic_packet.h"
#include "nic/queue_pairs.h"
#include "nic/work_entry.h"
#include "protocol/run_count.h"

namespace t3vp::nic {

class Requester;

/// A work entry from when it is asked for until it has ended and all before it have.
struct Message {
  enum class Stage : std::uint8_t { fetching, fetched, begun, sent, ended } stage = Stage::fetching;
  WorkEntry entry;
  std::uint32_t first_sequence = 0;
  std::uint32_t packets = 0;   ///< sequence numbers, those of a read's response
  std::uint32_t made = 0;      ///< packets that payload is being read for, or that have left
  std::uint32_t answered = 0;  ///< packets of results that have come
  std::uint32_t scatters = 0;  ///< stores of results that are in flight
  NicSyndrome syndrome = NicSyndrome::ok;
  std::uint64_t address = 0;   ///< that was refused
  Status reason = Status::ok;  ///< of what has refused it

  std::uint32_t last_sequence() const { return first_sequence + packets - 1; }
  bool has_results() const { return answered == packets && scatters == 0; }
};

struct SendQueue {
  std::uint32_t posted = 0, fetched = 0, begun = 0, finished = 0;  ///< entries, modulo 2^32
  std::deque<Message> messages;                                    ///< from entry `finished` on
  bool failed = false;  ///< an entry has failed, behind which none begins; those before it go on

  Message& message(std::uint32_t number) { return messages[number - finished]; }
  bool has(std::uint32_t number) const { return number - finished < messages.size(); }
  std::uint32_t number_of(std::size_t place) const { return static_cast<std::uint32_t>(finished + place); }
};

class SendQueues {
 public:
  struct Figures {
    RunCount messages;
    std::uint64_t writes = 0, inline_writes = 0, written = 0;
  };

  /// `requester` is notified when an entry may begin.
  SendQueues(registers::Nic& registers, NicStatus& status, QueuePairs& pairs, EngineWaits& waits, IoLink& io,
             Requester& requester, const NicParameters& parameters);

  SendQueue& operator[](std::uint32_t queue) { return queues_[queue]; }
  const SendQueue& operator[](std::uint32_t queue) const { return queues_[queue]; }

  /// So many entries have been posted since the queue pair was reset. What is wrong with that is logged.
  void post(std::uint32_t queue, std::uint32_t posted);
  /// An entry has been read, on behalf of a queue pair that may have been reset since.
  void entry_read(const Purpose& purpose, const tlm::tlm_generic_payload& access);
  /// The entry ends with this syndrome when those before it have ended; none behind it begins.
  void fail(std::uint32_t queue, std::uint32_t number, NicSyndrome syndrome, std::uint64_t address,
            const std::string& text, Status reason = Status::ok);
  /// Completes the entries that have ended, as far as all before them have.
  void finish(std::uint32_t queue);
  /// All entries end as flushed, those that are still to be read as well.
  void flush(std::uint32_t queue);
  void forget(std::uint32_t queue);
  /// Resets all queue pairs, which forget() has cleared.
  void reset();
  const Figures& figures() const { return figures_; }

 private:
  void fetch();
  void count(const Message& message);
  void complete(std::uint32_t queue, const Message& message, std::uint32_t number);

  registers::Nic& registers_;
  NicStatus& status_;
  QueuePairs& pairs_;
  EngineWaits& waits_;
  IoLink& io_;
  Requester& requester_;
  std::uint32_t fetches_most_;
  std::vector<SendQueue> queues_;
  std::deque<std::uint32_t> to_fetch_;  ///< queue pairs with entries to fetch, in turns
  std::uint32_t fetching_ = 0;          ///< entries that are being read
  Figures figures_;
};

}  // namespace t3vp::nic
