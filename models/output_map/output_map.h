// The compute units' way to memory: stores to mapped chunks go to a peer (remote_map, T3 4.4), everything else goes
// where its address says: the cache, a peer over the links, this GPU's signals, or its NIC's registers.
//
// A map knows the output's grid, as the Tracker does. A store that touches a mapped chunk and is none of its
// wavefronts' to their tiles is refused, and the first of each map is reported.
//
// Mapped stores are posted: they are taken from the compute unit when there is room for them, and stay here until the
// link has taken them. Their responses, which the peer gives, are the compute unit's.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "output_map/output_map_parameters.h"
#include "protocol/component.h"
#include "protocol/data_sockets.h"
#include "protocol/former_maps.h"
#include "protocol/output_range.h"
#include "protocol/staged_chunk.h"
#include "protocol/transaction_pool.h"
#include "registers/output_map.h"

namespace t3vp::output_map {

class OutputMap : public sc_core::sc_module, public Component, public MapHolder {
 public:
  DataTargetSocket<OutputMap> compute{"compute", this, &OutputMap::request};
  DataInitiatorSocket<OutputMap> cache{"cache", this, &OutputMap::response};
  DataInitiatorSocket<OutputMap> remote{"remote", this, &OutputMap::remote_response};
  DataInitiatorSocket<OutputMap> signals{"signals", this, &OutputMap::response};
  DataInitiatorSocket<OutputMap> nic{"nic", this, &OutputMap::response};  ///< doorbells
  registers::OutputMap registers{"registers"};
  /// The output range of this GPU's kernel.
  sc_core::sc_port<sc_core::sc_signal_in_if<OutputRange>, 0, sc_core::SC_ZERO_OR_MORE_BOUND> running_output{
      "running_output"};

  OutputMap(const sc_core::sc_module_name& name, const OutputMapParameters& parameters, std::uint16_t gpu);
  ~OutputMap() override;

  /// A store of the workgroup to this local address goes to a peer.
  bool maps(std::uint32_t wg_id, std::uint64_t address) const;
  /// From where a mapped store of the workgroup goes to this address of a peer; nothing when none does.
  std::optional<std::uint64_t> sender_of(std::uint32_t wg_id, std::uint64_t peer_address) const;
  const FormerMaps& former_maps() const { return former_maps_; }
  std::string in_the_way(const OutputRange& output, bool stores) const override;
  /// One line for each mapped chunk.
  std::vector<std::string> contents() const override;
  const char* group() const override { return "output_map"; }
  void visit_statistics(const StatisticVisitor& visit) const override;

 private:
  struct Entry {
    StagedChunk range;
    std::uint64_t peer = 0;  ///< address of the same output
    Operation operation = Operation::update;
    TrafficClass traffic = TrafficClass::control;  ///< of what arrives at the peer
    bool blamed = false;                           ///< a store that did not fit has been reported
    Picoseconds last_sent = never;                 ///< when the latest store came; never: none has
  };

  void request(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) { compute.respond(transaction, delay); }
  void remote_taken(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void remote_response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  bool follows_stores(const tlm::tlm_generic_payload& transaction, const DataExtension& extension) const;
  void left(const tlm::tlm_generic_payload& store, Picoseconds delay);
  void post_waiting();
  bool has_room(tlm::tlm_generic_payload& transaction) const;
  void post(tlm::tlm_generic_payload& transaction, Picoseconds delay);
  unsigned debug(int, tlm::tlm_generic_payload& transaction);
  DataInitiatorSocket<OutputMap>& route(std::uint64_t address);
  Entry* find(const tlm::tlm_generic_payload& transaction, const DataExtension& extension);
  void refuse_store(Entry& entry, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void command();
  void add();
  void remove(bool all, bool force);
  bool is_written(const Entry& entry) const;
  void refuse_busy(const Entry& entry);
  void refuse(Status status, std::uint64_t address, const std::string& text);

  OutputMapParameters parameters_;
  std::uint16_t gpu_;
  std::vector<Entry> entries_;
  FormerMaps former_maps_;
  TransactionPool pool_;
  struct Waiting {
    tlm::tlm_generic_payload* transaction;
    Picoseconds arrival;
  };
  std::deque<Waiting> waiting_;     ///< mapped stores without room, and reads of peers behind them
  bool posting_ = false;            ///< waiting stores are being posted
  Picoseconds room_since_ = 0;      ///< when the link took the most recent posted store
  std::uint64_t posted_bytes_ = 0;  ///< taken, not yet on the link
  std::uint64_t mapped_bytes_ = 0;
};

}  // namespace t3vp::output_map
