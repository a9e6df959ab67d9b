// The NIC's way to memory over the I/O link: loads, stores and fetch-and-adds with latency and bandwidth, each with the
// purpose that it is for.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "nic/network_parameters.h"
#include "protocol/area.h"
#include "protocol/data_sockets.h"
#include "protocol/event_queue.h"
#include "protocol/transaction_pool.h"

namespace t3vp::nic {

/// One after the other.
inline Area flat(std::uint64_t address, std::uint32_t bytes) { return {address, {1, bytes, bytes}}; }

/// Why memory is accessed, and for whom.
struct Purpose {
  enum What : std::uint8_t {
    record,   ///< doorbell record
    entry,    ///< work entry
    payload,  ///< of a packet to be sent
    place,    ///< a packet's bytes, or an addend, on behalf of a peer
    answer,   ///< bytes that a peer reads
    scatter,  ///< result of a read or fetch-and-add
    completion
  } what = record;
  std::uint32_t queue = 0;       ///< queue pair or completion queue
  std::uint32_t generation = 0;  ///< of the queue pair: resets so far
  std::uint64_t number = 0;      ///< of the work entry, packet or duty
  std::uint32_t offset = 0;      ///< of the bytes in their packet
  std::uint64_t value = 0;       ///< what the doorbell said
};

class IoLink : public sc_core::sc_module, public OrderTeller {
 public:
  DataInitiatorSocket<IoLink> memory{"memory", this, &IoLink::response};
  /// Gets each access when its answer has reached the NIC; data of a load are in the payload.
  std::function<void(const Purpose&, const tlm::tlm_generic_payload&)> on_answer;

  /// `number` is the NIC's.
  IoLink(const sc_core::sc_module_name& name, const NicParameters& parameters, bool functional, std::uint16_t number);
  ~IoLink() override;

  /// A load does not overtake the stores before it, as on PCI Express. `real`: its data are needed in runs without
  /// data, too.
  void load(const Area& from, bool real, const Purpose& purpose);
  /// `data` null: timing only; else they are real, so that in a run without data no tensor's store may share their
  /// sectors.
  void store(std::uint64_t address, const unsigned char* data, std::uint32_t bytes, const Purpose& purpose);
  /// Memory adds in the element type; `producer` is the tile that it counts for.
  void update(const Area& to, const unsigned char* data, ElementType element, const Producer& producer,
              const Purpose& purpose);
  void fetch_add(std::uint64_t address, std::uint64_t addend, const Purpose& purpose);
  /// Responses to accesses in flight are ignored after this.
  void reset();

  // The order of what the NIC does; nothing where nobody checks for races.

  /// It goes on behind the point.
  void follow(OrderPoint point);
  /// It goes on behind what the host program has done.
  void follow_program();
  /// Returns where it is, for others to see.
  OrderPoint release();

 private:
  struct Answer {
    Transaction* transaction;
    bool at_nic;  ///< else it is still at memory
  };
  Transaction& make(Operation operation, const Area& area, const Purpose& purpose);
  void send_write(Transaction& transaction, const unsigned char* data);
  TrafficClass traffic_of(const Purpose& purpose) const;
  void response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void step();
  void bring(Transaction& transaction);
  void deliver(Transaction& transaction);
  /// Time from now until so many bytes have left.
  Picoseconds take_turn(Picoseconds& free, std::uint64_t bytes) const;

  NicParameters parameters_;
  bool functional_;
  std::uint16_t number_;
  TrafficClass reads_, writes_;  ///< control when kernels have taken all classes that there are
  TransactionPool pool_;
  std::vector<Purpose> purposes_;  ///< by the low half of the access' token
  std::vector<std::uint32_t> unused_;
  std::uint32_t generation_ = 0;  ///< resets so far, the high half
  EventQueue<Answer> events_{[this] { step(); }, Part::nic};
  Picoseconds in_free_ = 0, out_free_ = 0;
};

}  // namespace t3vp::nic
