// DMA engine with pre-programmed commands (dma_map, T3 4.2.2): a trigger from the Tracker marks a wavefront tile ready;
// when all tiles of its block are, the engine reads them as communication and sends them to the peer, or to several,
// with the ids that a peer's Tracker needs. It also zeroes memory on request.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "dma/dma_parameters.h"
#include "dma/nic_queue.h"
#include "protocol/component.h"
#include "protocol/data_sockets.h"
#include "protocol/event_queue.h"
#include "protocol/former_maps.h"
#include "protocol/output_range.h"
#include "protocol/staged_chunk.h"
#include "protocol/tile_grid.h"
#include "protocol/trace.h"
#include "protocol/transaction_pool.h"
#include "registers/dma.h"

namespace t3vp::dma {

class DmaEngine : public sc_core::sc_module, public Component, public MemoryUser {
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
  sc_core::sc_port<MemoryUser, 0, sc_core::SC_ZERO_OR_MORE_BOUND> users{"users"};
  registers::Dma registers{"registers"};

  DmaEngine(const sc_core::sc_module_name& name, const DmaParameters& parameters, bool functional, std::uint16_t gpu,
            Trace* trace);

  /// A command sends the workgroup's tile to this address of a peer.
  bool sends_to(std::uint32_t wg_id, std::uint64_t peer_address) const;
  /// The same, and all tiles of the command have been sent and answered.
  bool has_sent_to(std::uint32_t wg_id, std::uint64_t peer_address) const;
  const FormerMaps& former_maps() const { return former_maps_; }
  std::string use_of(const OutputRange& range) const override;
  /// One line for each command.
  std::vector<std::string> contents() const override;
  /// One line for each command that is not complete.
  std::vector<std::string> diagnosis() const override;
  const char* group() const override { return "dma"; }
  void visit_statistics(const StatisticVisitor& visit) const override;

 private:
  enum class Kind : std::uint8_t { store, update, notify };
  struct Command {
    StagedChunk range;
    Kind kind = Kind::update;
    TrafficClass reads = TrafficClass::control, writes = TrafficClass::control;  ///< here; in the peer's memory
    std::vector<std::uint64_t> destinations;                                     ///< none of notify
    bool by_queue = false;                                                       ///< of the NIC; else by the links
    std::size_t queue = 0;
    std::uint32_t local_key = 0, remote_key = 0;
    std::uint32_t block_tiles = 1;
    std::uint64_t tiles = 0;          ///< wavefront tiles that are not empty
    std::uint64_t done = 0;           ///< arrivals of them acknowledged by a peer, or final for notify
    std::vector<std::uint8_t> ready;  ///< a bit for each tile of each block
    std::uint32_t serial = 0;         ///< commands before it since reset
    bool begun = false;               ///< a tile has been triggered
    Picoseconds last_done = 0;        ///< when `done` last grew

    /// As many as `done` is in the end.
    std::uint64_t arrivals() const { return tiles * std::max<std::size_t>(destinations.size(), 1); }
    bool is_complete() const { return done == arrivals(); }
    bool is_busy() const { return begun && !is_complete(); }
  };
  std::string misfit(const Command& command, const tlm::tlm_generic_payload& message) const;
  static bool ends_block(const Command& command, const Producer& tile);
  void triggered(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void memory_response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void remote_taken(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void remote_response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  bool is_stale(const tlm::tlm_generic_payload& transaction) const;
  void reset();
  void command();
  void add();
  void add_destination();
  ChunkCheck check_peer(std::uint64_t destination) const;
  ChunkCheck check_destination(const StagedChunk& range, std::uint64_t destination);
  std::size_t used() const;
  void refuse(Status status, std::uint64_t address, const std::string& text);
  void fill();
  void remove(bool all, bool force);
  void step();
  void make_ready(const Job& job);
  void fail(Status status, std::uint64_t address, const std::string& text);
  bool fits(std::uint64_t in_flight, std::uint64_t bytes) const;
  void start_jobs();
  void read(const Job& job);
  void send(Transaction& read);
  void send_to(const Command& command, std::uint64_t destination, Transaction& read);
  void left(const tlm::tlm_generic_payload& tile);
  void ended(Transaction& transaction);
  void continue_fill();

  // nic_way.cpp
  std::uint64_t nic_register(std::uint64_t offset, std::uint64_t stride, std::uint32_t queue_pair) const;
  std::uint64_t doorbell_of(std::uint32_t queue_pair) const;
  void begin_queue(std::size_t number);
  ChunkCheck check_route(const Command& command);
  void post(std::size_t number);
  void write_entry(std::size_t number, const Job& job, std::uint32_t index);
  void write_control(DataInitiatorSocket<DmaEngine>& socket, std::uint64_t address, const unsigned char* bytes,
                     std::uint32_t length, std::size_t queue, Picoseconds delay);
  void written(std::size_t number, Transaction& write);
  void await(std::size_t number, std::uint32_t pair, std::uint32_t finished);
  void nic_response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void rung(Transaction& doorbell);
  void entry_ended(std::size_t number, Transaction& wait);

  void tile_done(Command& command, std::size_t arrivals = 1);
  static bool sends_to(const Command& command, std::uint32_t wg_id, std::uint64_t peer_address);
  void update_interrupt();
  bool fills() const { return fill_left_ != 0 || fill_outstanding_ != 0; }
  bool busy() const {
    return std::any_of(queues_.begin(), queues_.end(), [](const NicQueue& queue) { return queue.is_busy(); }) ||
           !jobs_.empty() || bytes_in_flight_ != 0 || unacknowledged_ != 0 || fills() || !events_.empty();
  }
  /// An access for a command carries it; what carries that of a former generation is stale.
  std::uint64_t token_of(std::uint32_t serial) const { return std::uint64_t{generation_} << 32 | serial; }
  /// Null when the command has been removed by force.
  Command* find(std::uint32_t serial);
  Command* command_of(Transaction& transaction) {
    return find(static_cast<std::uint32_t>(transaction.extension().token));
  }

  DmaParameters parameters_;
  bool functional_;
  std::uint16_t gpu_;
  Trace* trace_;
  Trace::Track track_ = 0;
  TransactionPool pool_;
  std::vector<Command> commands_;
  FormerMaps former_maps_;
  std::uint32_t serials_ = 0;
  std::deque<Job> jobs_;  ///< by the links
  std::array<NicQueue, registers::Dma::queue_entries_count> queues_;
  /// Of accesses that are of a queue, plus its number, in place of a command's serial number.
  static constexpr std::uint32_t first_queue_token = 0xFFFFFF00;
  static bool is_queue_token(std::uint32_t serial) {
    return serial - first_queue_token < registers::Dma::queue_entries_count;
  }
  static std::size_t queue_of(Transaction& transaction) {
    return static_cast<std::uint32_t>(transaction.extension().token) - first_queue_token;
  }
  /// A trigger (transaction null), an answer of memory, peer or NIC, or the notice that the link has taken a tile.
  struct Event {
    enum What : std::uint8_t { ready, loaded, taken, acknowledged, filled, written, rung, posted } what;
    Job job;
    Transaction* transaction;
  };
  EventQueue<Event> events_;
  std::uint32_t generation_ = 0;       ///< resets so far
  std::uint64_t bytes_in_flight_ = 0;  ///< read or being read, not taken by all links
  /// Of tiles with several destinations (token, workgroup, wavefront), how many links have not taken them.
  std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>, std::size_t> links_left_;
  std::uint64_t unacknowledged_ = 0;  ///< tiles sent without a response
  std::uint64_t fill_next_ = 0, fill_left_ = 0, fill_outstanding_ = 0;
  TrafficClass fill_traffic_ = TrafficClass::control;
  std::uint64_t blocks_ = 0, bytes_ = 0;
};

}  // namespace t3vp::dma
