// The collectives of one ring of the engine, one after the other. Every GPU of the ring works on messages in the same
// order (ring_plan.h): it loads, receives and sends them in that order, and each goes on when its data is there.
//
// Why no ring waits for ever. A message is sent when there is a place for it at the next GPU, so what arrives never
// waits for a place. Consider the first message in the order, k, that some GPU g has not sent. Its previous GPU has
// sent all before k, and the next GPU too. The message that g makes k of came in `per_step` places before k, so it has
// arrived. The next GPU has sent on all that came in more than `per_step` places before k, so that at most `per_step`
// of its places are taken. There are more (RingShare), so g sends k.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "endpoint/ring_plan.h"
#include "endpoint/sram_access.h"
#include "protocol/data_sockets.h"
#include "protocol/event_queue.h"
#include "protocol/run_count.h"
#include "protocol/transaction_pool.h"
#include "registers/element.h"

namespace t3vp::endpoint {

/// A ring's share of the memory, in messages.
struct RingShare {
  std::uint32_t places = 0;    ///< for what arrives
  std::uint32_t buffers = 0;   ///< for what is loaded
  std::uint32_t per_step = 0;  ///< fewer than places

  static RingShare of(std::uint64_t sram_bytes, std::uint32_t rings, std::uint32_t message_bytes);
};

struct Collective {
  RingPlan plan;
  std::uint64_t buffer = 0;  ///< its address
  ElementType element = ElementType::fp16;
  std::uint16_t next = 0, previous = 0;  ///< numbers of the GPUs
  std::uint32_t number = 0;              ///< of the ring's collectives since the reset
  OrderPoint order = 0;
};

/// Something that a ring has waited for.
struct RingEvent {
  enum What : std::uint8_t { arrived, kept, loaded, ready, added, left, answered, stored } what;
  std::uint32_t ring;
  tlm::tlm_generic_payload* transaction = nullptr;
  // Of kept, ready and added: the message in the ring's order, and how often the ring had been cleared.
  std::uint64_t unit = 0;
  std::uint16_t generation = 0;
};

class RingCollectives {
 public:
  /// All rings of an engine share these.
  struct Engine {
    DataTargetBase& arrivals;
    DataInitiatorBase& memory;
    DataInitiatorBase& remote;
    EventQueue<RingEvent>& events;
    SramAccess& sram;  ///< its memory, and its adders
    SramAccess& adders;
    TransactionPool& pool;
    std::uint32_t message_bytes;
    Picoseconds latency;
    bool functional;
    std::uint16_t gpu;
    std::function<void(const Collective&)> ended;
    std::function<void(Status, std::uint64_t address, const std::string&)> failed;
  };

  RingCollectives(Engine& engine, std::uint32_t number) : engine_(engine), number_(number) {}

  void share(const RingShare& share) { share_ = share; }
  const RingShare& share() const { return share_; }
  void start(Collective collective);
  void handle(const RingEvent& event);
  /// Forgets everything. What has arrived is refused with this status.
  void clear(Status status);

  std::size_t queued() const { return collectives_.size(); }
  bool has_failed() const { return has_failed_; }
  bool is_busy() const { return !collectives_.empty() || !arrivals_.empty(); }
  /// Whether the ring has a collective that uses some of these bytes.
  bool uses(std::uint64_t address, std::uint64_t bytes) const;
  /// What it waits for, in a line; empty when it waits for nothing.
  std::string diagnosis() const;

  const RunCount& sent_bytes() const { return sent_bytes_; }
  const RunCount& added_bytes() const { return added_bytes_; }
  std::uint64_t messages() const { return messages_; }
  /// Places and buffers that were in use at once, at most.
  std::uint32_t most_used() const { return most_used_; }
  Picoseconds stalled() const { return stalled_; }

  /// Returns the ring that has made an access with this token.
  static std::uint32_t maker_of(std::uint64_t token) { return static_cast<std::uint32_t>(token >> 40 & 0xFF); }
  /// Address of a message at a GPU: it names the ring, and the place in the buffer.
  static std::uint64_t address_at(std::uint16_t gpu, std::uint32_t ring, std::uint64_t offset = 0);
  static std::uint32_t ring_of(std::uint64_t address);

 private:
  /// In place of an operation in a message: the sender's ring has failed.
  static constexpr std::uint8_t failure_mark = 0xFF;

  struct Active {
    Collective collective;
    RingOrder order;
    std::uint64_t unfinished = 0;  ///< messages that have been made and are not done
  };
  struct Unit {
    Active* active;
    RingMessage message;
    tlm::tlm_generic_payload* incoming = nullptr;  ///< holds its place until it is answered
    bool is_kept = false, is_loaded = false, is_added = false, has_left = false, is_stored = false, is_done = false;
    std::vector<unsigned char> data, own;  ///< what has arrived, or is loaded; what is to be added. Empty without data

    const RingPlan& plan() const { return active->collective.plan; }
    bool receives() const { return plan().receives(message.step); }
    bool loads() const { return plan().loads(message.step); }
    bool stores() const { return plan().stores(message.step); }
    bool sends() const { return plan().sends(message.step); }
    bool adds() const { return receives() && loads(); }
    bool is_ready() const { return (!receives() || is_kept) && (!loads() || is_loaded) && (!adds() || is_added); }
  };

  Unit* find_or_make(std::uint64_t unit);
  Unit& at(std::uint64_t unit) { return units_[unit - first_]; }
  bool make_next();
  void go_on();
  void load_ahead();
  void load(std::uint64_t number, Unit& unit);
  void match_arrivals();
  bool is_expected(const Unit& unit, const tlm::tlm_generic_payload& message) const;
  void add_if_there(std::uint64_t number);
  void use_result(std::uint64_t number);
  void send_in_order();
  void send(std::uint64_t number, Unit& unit);
  void store(std::uint64_t number, Unit& unit);
  void finish(Unit& unit);
  void retire();
  void take(const RingEvent& event);
  void end_access(const RingEvent& event);
  bool is_refused(Transaction& transaction, const char* what);
  void fail(Status status, std::uint64_t address, const std::string& text);
  void tell_failure(std::uint16_t next);
  void refuse_message(tlm::tlm_generic_payload& message, Status status);
  void note_use();
  void note_stall(bool stalls);
  Transaction& access(Operation operation, std::uint64_t address, const Unit& unit, std::uint64_t number);
  std::uint64_t token_of(std::uint64_t number) const {
    return std::uint64_t{generation_} << 48 | std::uint64_t{number_} << 40 | number;
  }
  void push(Picoseconds time, RingEvent::What what, std::uint64_t number) {
    engine_.events.push(time, {what, number_, nullptr, number, generation_});
  }

  Engine& engine_;
  std::uint32_t number_;
  RingShare share_;
  std::deque<Active> collectives_;
  std::deque<Unit> units_;   ///< in their order, from `first_` on
  std::uint64_t first_ = 0;  ///< number of the oldest unit that is not done
  std::uint64_t next_load_ = 0, next_receive_ = 0, next_send_ = 0;
  std::deque<tlm::tlm_generic_payload*> arrivals_;  ///< that no unit has taken
  std::uint32_t places_used_ = 0, buffers_used_ = 0, unanswered_ = 0;
  std::uint32_t started_ = 0;
  std::uint16_t generation_ = 0;  ///< a response from before the last clear() is stale
  bool has_failed_ = false;
  RunCount sent_bytes_, added_bytes_;
  std::uint64_t messages_ = 0;
  std::uint32_t most_used_ = 0;
  Picoseconds stalled_ = 0, stalled_since_ = never;
};

}  // namespace t3vp::endpoint
