// DMA engine with pre-programmed commands (dma_map, T3 4.2.2): a trigger from the Tracker marks a wavefront tile ready;
// when all tiles of its block are, the engine reads them as communication and sends them to the peer, or to several,
// with the ids that a peer's Tracker needs. It also copies and zeroes memory on request.
//
// The engine owns the table of commands and those who work on it: LinkTransfers, NicTransfers, MemoryCopies and
// MemoryFill. It orders in time what reaches them.
#pragma once

#include <string>
#include <vector>

#include "dma/command_table.h"
#include "dma/dma_parameters.h"
#include "dma/link_transfers.h"
#include "dma/memory_copies.h"
#include "dma/memory_fill.h"
#include "dma/nic_transfers.h"
#include "protocol/component.h"
#include "protocol/event_queue.h"

namespace t3vp::dma {

class DmaEngine : public sc_core::sc_module, public Component, public MemoryUser, public OrderTeller {
 public:
  /// The Tracker's messages: a store without data names a complete tile, its place, shape and element type.
  DataTargetSocket<DmaEngine> trigger{"trigger", this, &DmaEngine::triggered};
  DataInitiatorSocket<DmaEngine> memory{"memory", this, &DmaEngine::memory_response};
  DataInitiatorSocket<DmaEngine> remote{"remote", this, &DmaEngine::remote_response};  ///< to the links
  DataInitiatorSocket<DmaEngine> nic{"nic", this, &DmaEngine::nic_response};  ///< doorbells, and what has ended
  sc_core::sc_out<bool> interrupt{"interrupt"};
  sc_core::sc_port<sc_core::sc_signal_inout_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> error_interrupt{
      "error_interrupt"};
  /// Whose writes a fill might undo.
  MemoryFill::Users users{"users"};
  CommandTable::Counters counters{"counters"};  ///< of this GPU's signals
  registers::Dma registers{"registers"};

  DmaEngine(const sc_core::sc_module_name& name, const DmaParameters& parameters, bool functional, std::uint16_t gpu,
            Trace* trace);
  ~DmaEngine() override;

  /// A command sends the workgroup's tile to this address of a peer.
  bool sends_to(std::uint32_t wg_id, std::uint64_t peer_address) const { return table_.sends_to(wg_id, peer_address); }
  /// The same, and all tiles of the command have been sent and answered.
  bool has_sent_to(std::uint32_t wg_id, std::uint64_t peer_address) const {
    return table_.has_sent_to(wg_id, peer_address);
  }
  void tell_order_to(OrderObserver* observer) override {
    table_.tell_order_to(observer);
    accesses_.tell_order_to(observer);
  }
  const FormerMaps& former_maps() const { return table_.former_maps(); }
  /// A fill or a copy; other data go to peers.
  std::string use_of(const OutputRange& range) const override {
    const std::string filled = fill_.use_of(range);
    return filled.empty() ? copies_.use_of(range) : filled;
  }
  /// One line for each command.
  std::vector<std::string> contents() const override { return table_.contents(); }
  /// One line for each command that is not complete.
  std::vector<std::string> diagnosis() const override { return table_.diagnosis(); }
  const char* group() const override { return "dma"; }
  void visit_statistics(const StatisticVisitor& visit) const override;

 private:
  /// A trigger (transaction null), a response of memory, peer or NIC, or the notice that the link has taken a tile.
  struct Event {
    enum What : std::uint8_t {
      ready,
      loaded,
      taken,
      acknowledged,
      copy_loaded,
      copy_taken,
      copied,
      filled,
      written,
      rung,
      posted
    } what;
    Job job;
    Transaction* transaction;
  };

  void triggered(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void memory_response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void remote_taken(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void remote_response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void nic_response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void push(Event::What what, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void step();
  void handle(const Event& event);
  void make_ready(const Job& job);
  void command();
  void remove(bool all);
  void reset();
  void update_interrupt();
  bool busy() const {
    return links_.is_busy() || queues_.is_busy() || copies_.runs() || fill_.runs() || !events_.empty();
  }

  DmaParameters parameters_;
  DmaAccesses accesses_;
  DmaStatus status_;
  CommandTable table_;
  LinkTransfers links_;
  NicTransfers queues_;
  MemoryCopies copies_;
  MemoryFill fill_;
  EventQueue<Event> events_{[this] { step(); }, Part::dma};
};

}  // namespace t3vp::dma
