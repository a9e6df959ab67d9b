// What a queue pair remembers: entries that have not ended, packets that are not acknowledged, and what it owes its
// peer.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "nic/nic_packet.h"
#include "nic/work_entry.h"
#include "protocol/data_protocol.h"
#include "registers/nic.h"
#include "registers/nic_cause.h"

namespace t3vp::nic {

using QueuePairState = registers::Nic::State::Now;

inline const char* name_of(QueuePairState state) {
  constexpr const char* names[] = {"reset", "init", "ready_to_receive", "ready_to_send", "error"};
  return names[static_cast<std::size_t>(state)];
}

/// A work entry from when it is asked for until it has ended and all before it have.
struct Message {
  enum class Stage : std::uint8_t { fetching, fetched, begun, sent, ended } stage = Stage::fetching;
  WorkEntry entry;
  std::uint32_t first_sequence = 0;
  std::uint32_t packets = 0;   ///< sequence numbers, those of a read's response
  std::uint32_t made = 0;      ///< packets that payload is being read for, or that have left
  std::uint32_t answered = 0;  ///< packets of results that have come
  std::uint32_t scatters = 0;  ///< stores of results that are under way
  NicSyndrome syndrome = NicSyndrome::ok;
  std::uint64_t address = 0;   ///< that was refused
  Status reason = Status::ok;  ///< of what has refused it

  std::uint32_t last_sequence() const { return first_sequence + packets - 1; }
  bool has_results() const { return answered == packets && scatters == 0; }
};

/// A packet whose payload is being read.
struct Loading {
  std::shared_ptr<Packet> packet;
  std::uint32_t loads = 0;    ///< that are under way
  std::uint32_t message = 0;  ///< its number
};

/// What the peer is owed, in the order of its packets.
struct Duty {
  std::shared_ptr<Packet> answer;
  bool is_silent = false;      ///< nothing is said, a later answer acknowledges it
  std::uint32_t accesses = 0;  ///< of memory that are under way
  bool received = false;       ///< ends with a completion for a receive entry
  bool is_write = false;
  std::uint32_t bytes = 0, immediate = 0, index = 0;
  std::uint64_t address = 0;  ///< of the write's first byte
};

/// Of the DMA engine, for an entry's end.
struct Wait {
  tlm::tlm_generic_payload* request;
  Picoseconds answered;  ///< at the earliest
};

/// Why a queue pair is in error.
struct ErrorCause {
  NicCause what = NicCause::none;
  NicSyndrome syndrome = NicSyndrome::ok;
  std::uint64_t address = 0;
};

struct QueuePair {
  QueuePairState state = QueuePairState::reset;
  ErrorCause cause;
  std::uint32_t generation = 0;  ///< resets so far

  std::uint32_t announced = 0;                                     ///< by the last doorbell
  std::uint32_t posted = 0, fetched = 0, begun = 0, finished = 0;  ///< entries, modulo 2^32
  std::deque<Message> messages;                                    ///< from entry `finished` on
  std::uint32_t succeeded = 0;                                     ///< of those that have finished, without error
  Status failure = Status::aborted;                                ///< why no other one will, once it is in error
  std::deque<Wait> waits;  ///< for one to succeed, in the order of their numbers
  bool failed = false;     ///< an entry has failed, behind which none begins; those before it go on
  bool is_ready = false;   ///< in the list of those with an entry to begin

  std::deque<Loading> loading;
  std::uint64_t loading_first = 0;  ///< number of loading.front() since reset
  std::deque<PacketPointer> unacknowledged;
  std::uint32_t next_sequence = 0;
  unsigned retries = 0, rnr_retries = 0;  ///< since the last progress
  bool resent = false;                    ///< since the last progress
  bool holds = false;                     ///< the receiver is not ready: nothing is sent
  bool timer_runs = false;
  Picoseconds last_progress = 0;

  Picoseconds ready_since = 0;                   ///< to receive
  std::optional<std::uint32_t> peer_generation;  ///< of the first request that has come
  std::uint32_t expected = 0;                    ///< next sequence number of the peer
  bool told_gap = false, refuses = false, told_drop = false;
  std::uint32_t receive_posted = 0, receive_used = 0;
  std::deque<Duty> duties;
  std::uint64_t duties_first = 0;                                         ///< number of duties.front() since reset
  std::deque<std::pair<std::uint32_t, std::vector<unsigned char>>> sums;  ///< by sequence, to be told again

  Message& message(std::uint32_t number) { return messages[number - finished]; }
  bool has(std::uint32_t number) const { return number - finished < messages.size(); }
};

}  // namespace t3vp::nic
