// The Tracker at the memory controller (T3 4.2.1): counts the accesses to every wavefront tile of the mapped chunks and
// triggers the DMA engine when a tile has had all it expects.
//
// An access is matched with its chunk when the controller accepts it, and counted run by run as it enters the DRAM
// queues. A full set of the table spills its least recently used entry to a table in HBM, with its counts, and reads it
// back on the tile's next access. Counts of a tile whose entry is on its way back, or of a set whose entries all are,
// wait; memory does not, since stalling incoming traffic could deadlock the links: only triggers come later.
//
// What does not fit its map (another operation or element type, outside the tile, of no wavefront or of one whose tile
// is elsewhere, more than expected, through the cache) is reported, the first of each chunk, and leaves its code in
// status.counting.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "memory/controller_parameters.h"
#include "memory/tracker_table.h"
#include "protocol/component.h"
#include "protocol/data_sockets.h"
#include "protocol/event_queue.h"
#include "protocol/output_range.h"
#include "protocol/run_count.h"
#include "protocol/staged_chunk.h"
#include "protocol/trace.h"
#include "protocol/transaction_pool.h"
#include "registers/tracker.h"

namespace t3vp::memory {

class Tracker : public sc_core::sc_module, public Component, public MapHolder, public MemoryUser, public OrderTeller {
 public:
  registers::Tracker registers{"registers"};
  /// It leads to the DMA engine: a store without data names the complete tile, its place, shape and element type.
  DataInitiatorSocket<Tracker> trigger{"trigger", this, &Tracker::triggered};
  /// It leads to the controller's port. A diagnosis reads through it what has been spilled, which changes nothing.
  mutable DataInitiatorSocket<Tracker> spill{"spill", this, &Tracker::moved};
  /// An access did not fit its map.
  sc_core::sc_port<sc_core::sc_signal_inout_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> interrupt{"interrupt"};
  /// The output range of this GPU's kernel.
  sc_core::sc_port<sc_core::sc_signal_in_if<OutputRange>, 0, sc_core::SC_ZERO_OR_MORE_BOUND> running_output{
      "running_output"};

  Tracker(const sc_core::sc_module_name& name, const TrackerParameters& parameters, std::uint16_t gpu, Trace* trace);
  ~Tracker() override;

  /// A store or update that the controller accepts.
  struct Access {
    Producer producer;
    std::uint64_t address = 0;
    Shape shape;
    Operation operation = Operation::store;
    ElementType element = ElementType::fp16;
    bool local = true;        ///< of this GPU's own blocks, not of peers
    bool from_cache = false;  ///< a write-back: it names no tile
    bool of_kernel = false;   ///< of this GPU's, past the cache, or of a peer's
    OrderPoint order = 0;
  };
  /// For what an accepted access counts.
  struct Counted {
    TileName name;
    std::uint16_t generation = 0;  ///< of the chunk's place
    bool local = true;
    OrderPoint order = 0;
    bool any() const { return name.chunk != TileName::no_chunk; }
  };
  Counted accept(const Access& access);
  /// Part of an accepted access enters a DRAM queue at `time`, now or later, by this cause.
  void count(const Counted& counted, std::uint64_t bytes, Picoseconds time, const Cause& cause);

  /// A mapped chunk that is short of accesses, in elements, and its first tile that has had some (or its first tile).
  struct Shortage {
    StagedChunk range;
    std::uint32_t updates = 0;              ///< expected per element
    std::uint64_t tiles = 0, complete = 0;  ///< wavefront tiles
    std::uint64_t expected = 0, local = 0, incoming = 0;
    std::uint32_t wg_id = 0;
    std::uint8_t wf_id = 0;
    std::uint64_t address = 0;
    std::uint64_t tile_elements = 0, tile_local = 0, tile_incoming = 0;
    Picoseconds mapped_at = 0;
    /// The amount that each GPU has contributed to the tile, by the GPU's number; empty where one peer sends at most.
    /// GPUs beyond the last element have sent nothing.
    std::vector<std::uint64_t> tile_given{};
  };
  std::vector<Shortage> shortages() const;

  /// One line for each mapped chunk.
  std::vector<std::string> contents() const override;
  /// One line for each shortage: what there is and what is expected. Who sends to it no Tracker knows.
  std::vector<std::string> diagnosis() const override;

  std::string in_the_way(const OutputRange& output, bool stores) const override;
  std::string kept_in(const OutputRange& range) const override;
  std::string use_of(const OutputRange& range) const override;

  /// Storage of the table (T3 4.2.1: 256 x 8 x 76 bits = 19 KiB).
  std::uint64_t size_bytes() const;
  /// Statistics of the whole run: wavefront tiles that had all their accesses; most entries in use at a time; entries
  /// moved to HBM; the sum of the times by which triggers came after their tiles' last accesses, since counts waited
  /// for spilled entries.
  std::uint64_t triggers() const { return triggers_.total(); }
  std::uint64_t peak_entries() const { return most_; }
  std::uint64_t spills() const { return spills_.total(); }
  double trigger_wait_ns() const { return to_ns(trigger_wait_); }
  const char* group() const override { return "tracker"; }
  void visit_statistics(const StatisticVisitor& visit) const override;

 private:
  struct Chunk {
    bool mapped = false;
    std::uint16_t generation = 0;  ///< of its place in the list
    StagedChunk range;
    std::uint32_t updates = 0;
    Operation operation = Operation::update;
    std::uint64_t local = 0, incoming = 0;  ///< bytes, over all tiles
    std::uint64_t expected = 0;             ///< bytes, over all tiles
    std::uint64_t tiles = 0, complete = 0;  ///< wavefront tiles that are not empty
    std::uint64_t accepted = 0;             ///< accesses
    std::uint64_t first_slot = 0;           ///< of the spill table
    std::vector<bool> done, spilled;        ///< by tile
    std::vector<OrderPoint> counted;        ///< by tile, what has been counted; empty where nobody checks for races
    bool blamed = false;                    ///< an access that did not fit has been reported
    Picoseconds mapped_at = 0;
    /// Accepted bytes by tile and GPU, for the diagnosis alone: of maps to which several peers send.
    std::map<std::pair<std::uint32_t, std::uint16_t>, std::uint64_t> given;

    std::uint64_t slots() const { return std::uint64_t{range.count} * range.grid.wavefronts; }
    std::uint32_t wg_of(std::uint32_t tile) const { return range.first + tile / range.grid.wavefronts; }
    std::uint8_t wf_of(std::uint32_t tile) const { return static_cast<std::uint8_t>(tile % range.grid.wavefronts); }
    std::optional<std::uint32_t> tile_at(std::uint64_t byte) const;
    /// Returns the first tile without a counted access, of an incomplete chunk without entries.
    std::uint32_t first_untouched() const {
      std::uint32_t tile = 0;
      while (tile + 1 < slots() && (done[tile] || tile_bytes(tile) == 0)) ++tile;
      return tile;
    }
    Rectangle rectangle(std::uint32_t tile) const { return range.grid.wavefront_tile(wg_of(tile), wf_of(tile)); }
    std::uint64_t tile_bytes(std::uint32_t tile) const {
      return rectangle(tile).elements() * bytes_of(range.grid.element);
    }
    std::uint64_t address(std::uint32_t tile) const { return range.base + range.grid.offset(rectangle(tile)); }
  };
  /// An entry in memory.
  struct Slot {
    std::uint32_t wg_id, wf_id;
    std::uint64_t address;  ///< of the tile
    std::uint64_t local, incoming;
  };
  static constexpr std::uint32_t slot_bytes = sizeof(Slot);  ///< of the spill table: one column access
  static_assert(slot_bytes == 32);
  struct Waiting {
    Counted counted;
    std::uint64_t bytes;
    Picoseconds time;
    Cause cause;
  };
  using Entry = TrackerTable::Entry;

  // Commands: tracker_commands.cpp.
  void command();
  void add_chunk();
  void remove(bool all, bool force);
  bool is_busy(const Chunk& chunk) const;
  static std::string progress(const Chunk& chunk);
  bool is_written(const StagedChunk& range) const;
  void update_interrupt();
  void discard(std::uint16_t place);
  void reset();
  std::uint32_t ways_needed(const Chunk& more, std::uint16_t place) const;
  std::uint64_t free_slots(std::uint64_t count) const;
  bool in_use() const;
  void refuse(Status status, std::uint64_t address, const std::string& text);

  // Accepting and counting.
  static bool fits(const Chunk& chunk, const Access& access);
  static std::string misfit(const Chunk& chunk, const Access& access);
  void blame(Chunk& chunk, Status status, std::uint64_t address, const std::string& text);
  void check_write_back(const Access& access);
  void check_stray(const Access& access);
  static std::string stray(const Chunk& chunk, const Access& access);
  void check_late(const Access& access);
  std::uint32_t set_of(TileName name) const;
  bool add_to_entry(const Counted& counted, std::uint64_t bytes, Picoseconds time, const Cause& cause);
  void count_entry();
  void complete_if_full(Entry& entry);
  void update_hull();

  // The table in memory.
  void spill_entry(Entry& entry, Picoseconds time);
  void reload(Entry& entry, Picoseconds time);
  std::uint64_t slot_address(TileName name) const {
    return registers.spill_base.value() + (chunks_[name.chunk].first_slot + name.tile) * slot_bytes;
  }
  Transaction& slot_access(Operation operation, TileName name);
  Picoseconds spill_delay(Picoseconds time);
  void moved(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void step();
  void reloaded(tlm::tlm_generic_payload& transaction);
  void go_on(std::uint32_t set);
  void triggered(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);

  // tracker_diagnosis.cpp
  bool counted_of(TileName name, std::uint64_t& local, std::uint64_t& incoming) const;
  Shortage shortage_of(std::uint16_t place) const;
  std::string describe(const Shortage& shortage) const;

  TrackerParameters parameters_;
  std::uint16_t gpu_;
  Trace* trace_;
  Trace::Track track_ = 0;
  std::vector<Chunk> chunks_;
  std::size_t last_chunk_ = 0;
  std::uint64_t hull_begin_ = 0, hull_end_ = 0;  ///< addresses outside belong to no incomplete chunk
  std::vector<StagedChunk> discarded_;           ///< by force: what arrives late is reported
  TrackerTable table_;
  std::unordered_map<std::uint32_t, std::deque<Waiting>> waiting_;  ///< by set
  EventQueue<tlm::tlm_generic_payload*> moved_{[this] { step(); }, Part::tracker};
  Picoseconds last_moved_ = 0;  ///< when the latest access to the spill table is made
  TransactionPool pool_;
  std::uint64_t used_ = 0, peak_ = 0;  ///< entries: now, and the most since the last reset
  std::uint64_t most_ = 0;             ///< the most entries at a time of the whole run
  RunCount triggers_, spills_;
  std::uint64_t reloads_ = 0;
  Picoseconds trigger_wait_ = 0;
};

}  // namespace t3vp::memory
