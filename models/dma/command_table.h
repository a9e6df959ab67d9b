// The table of pre-programmed commands (dma_map, T3 4.2.2): takes and refuses them, finds the one of a tile, and counts
// what has arrived.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "dma/dma_command.h"
#include "dma/dma_status.h"
#include "protocol/data_sockets.h"
#include "protocol/former_maps.h"
#include "protocol/signal_counters.h"

namespace t3vp::dma {

class CommandTable {
 public:
  using Counters = sc_core::sc_port<SignalCounters, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;
  /// Returns the error of the command's NIC queue; status ok when there is none.
  using QueueCheck = std::function<ChunkCheck(const Command&)>;

  /// `memory` leads to the memory of GPU `gpu`, `remote` to its peers, `counters` to its signals.
  CommandTable(registers::Dma& registers, DmaStatus& status, DataInitiatorBase& memory, DataInitiatorBase& remote,
               Counters& counters, std::uint16_t gpu, std::uint32_t capacity);

  void check_queues_by(QueueCheck check) { check_queue_ = std::move(check); }

  // Software's commands, with what the registers have staged. Each ends in the status.
  void add();
  void add_destination();
  void look() const;
  /// One command, or all. False when nothing was removed.
  bool remove(bool all, bool force, bool fill_runs);
  void clear();

  /// Null when the command has been removed by force.
  Command* find(std::uint32_t serial);
  /// The command of the tile that a trigger names; null, with the reason in `wrong`, when there is none that fits.
  Command* find_triggered(const tlm::tlm_generic_payload& message, std::string& wrong);
  /// A tile of the command has been triggered, behind this point of the order.
  void triggered(Command& command, OrderPoint point);
  /// Tiles of the command have arrived, or are final, at this point of the order.
  void arrived(Command& command, OrderPoint point, std::size_t arrivals = 1);
  void tell_order_to(OrderObserver* observer) { order_ = observer; }

  std::size_t used() const;
  std::size_t pending() const;
  bool uses_queue(std::size_t queue) const;
  bool sends_to(std::uint32_t wg_id, std::uint64_t peer_address) const;
  bool has_sent_to(std::uint32_t wg_id, std::uint64_t peer_address) const;
  const FormerMaps& former_maps() const { return former_maps_; }
  std::vector<std::string> contents() const;
  std::vector<std::string> diagnosis() const;

  /// Whatever the way: why no tile can go there; status ok when it can.
  ChunkCheck check_peer(std::uint64_t destination) const;

 private:
  Command staged() const;
  void signal(const Command& command, OrderPoint point);
  bool takes(const Command& command, registers::Dma::Command::Operation operation);
  /// Stores may go to all GPUs.
  ChunkCheck check_destination(const StagedChunk& range, std::uint64_t destination, bool stores = false);

  registers::Dma& registers_;
  DmaStatus& status_;
  DataInitiatorBase& memory_;
  DataInitiatorBase& remote_;
  Counters& counters_;
  std::uint16_t gpu_;
  std::uint32_t capacity_;
  QueueCheck check_queue_;
  std::vector<Command> commands_;
  FormerMaps former_maps_;
  std::uint32_t serials_ = 0;
  OrderObserver* order_ = nullptr;
};

}  // namespace t3vp::dma
