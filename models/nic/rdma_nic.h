// RDMA network interface. It takes work entries from send queues in memory and sends them as messages to a peer's NIC,
// over a fabric that may lose packets. It executes the peers' requests in memory and reports the end of each entry in
// completion queues. The registers (nic.registers.json) are the software's view; README.md describes the path of a
// message.
//
// The NIC owns the parts, each with its own state. It passes them their events: stores to the doorbell page, packets,
// memory's responses and the time.
#pragma once

#include <string>
#include <vector>

#include "nic/delivery.h"
#include "nic/doorbells.h"
#include "nic/memory_regions.h"
#include "nic/requester.h"
#include "nic/responder.h"
#include "protocol/component.h"

namespace t3vp::nic {

class Nic : public sc_core::sc_module, public PacketReceiver, public Component {
 public:
  IoLink io;  ///< its socket `memory` goes to the memory that keys and queues are about
  /// Kernels' stores of 4 bytes to doorbells; everything else of theirs is refused.
  DataTargetSocket<Nic> doorbells{"doorbells", this, &Nic::kernel_request};
  /// The DMA engine's stores to doorbells, and its waits for nic.finished[i].
  DataTargetSocket<Nic> engine{"engine", this, &Nic::engine_request};
  sc_core::sc_port<PacketCarrier> wire{"wire"};
  sc_core::sc_out<bool> interrupt{"interrupt"};
  registers::Nic registers{"registers"};

  /// `number` is the NIC's place on the wire, and on the timeline its GPU's. Without `functional`, what segments bring
  /// has no data; inline data, fetch-and-adds, queues and completions are always real.
  Nic(const sc_core::sc_module_name& name, const NicParameters& parameters, bool functional, std::uint16_t number,
      Trace* trace = nullptr);
  ~Nic() override;

  void receive(const PacketPointer& packet, Picoseconds sent) override;

  const char* group() const override { return "nic"; }
  void visit_statistics(const StatisticVisitor& visit) const override;
  std::uint64_t resent() const { return delivery_.resent(); }  ///< packets
  bool has_work() const { return !diagnosis().empty(); }       ///< entries that have not ended
  /// One line for each queue pair with entries that have not ended.
  std::vector<std::string> diagnosis() const override;

 private:
  void kernel_request(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void take_stores();
  unsigned engine_debug(int, tlm::tlm_generic_payload& transaction);
  void engine_request(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void take_engine_requests();
  void step();
  void handle(const NicEvent& event);
  void answered(const Purpose& purpose, const tlm::tlm_generic_payload& access);
  void completion_stored(std::uint32_t queue, const tlm::tlm_generic_payload& access);
  void flush(std::uint32_t queue);
  void forget(std::uint32_t queue);
  void reset();
  void update_interrupt();

  std::uint16_t number_;
  NicEvents events_{[this] { step(); }, Part::nic};
  NicStatus status_;
  CompletionQueues completions_;
  QueuePairs pairs_;
  MemoryRegions regions_;
  Transmitter transmitter_;
  EngineWaits waits_;
  SendQueues entries_;
  Delivery delivery_;
  Requester requester_;
  Responder responder_;
  Doorbells doorbells_;
  EventQueue<tlm::tlm_generic_payload*> stores_{[this] { take_stores(); }, Part::nic};  ///< of kernels
  EventQueue<tlm::tlm_generic_payload*> engine_requests_{[this] { take_engine_requests(); }, Part::nic};
};

}  // namespace t3vp::nic
