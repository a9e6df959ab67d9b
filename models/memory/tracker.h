// The Tracker at the memory controller (T3 4.2.1): counts the accesses to every wavefront tile of the mapped chunks and
// triggers the DMA engine when a tile has had all it expects.
//
// The table has sets x ways entries, indexed by the workgroup id's low bits and tagged with its high bits and the
// wavefront. A full set spills its least recently used entry to a table in HBM and reads it back on its next access,
// since stalling incoming traffic could deadlock the ring; spills are timed and counted.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "memory/parameters.h"
#include "protocol/data_sockets.h"
#include "protocol/statistics.h"
#include "protocol/trace.h"
#include "protocol/transaction_pool.h"
#include "registers/staged_chunk.h"
#include "registers/tracker.h"

namespace t3vp {

class Tracker : public sc_core::sc_module {
 public:
  registers::Tracker registers{"registers"};
  /// To the DMA engine: a store of no bytes names the complete tile.
  DataInitiatorSocket<Tracker> trigger{"trigger", this, &Tracker::done};
  DataInitiatorSocket<Tracker> spill{"spill", this, &Tracker::done};  ///< to the controller's port

  Tracker(const sc_core::sc_module_name& name, const TrackerParameters& parameters, std::uint16_t gpu, Trace* trace);

  /// Counts an access that the controller accepts at `time` (now or later). `local` tells this GPU's own stores from
  /// what peers sent.
  void count(const Producer& producer, std::uint64_t address, std::uint64_t bytes, Operation operation, bool local,
             Picoseconds time);

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
  };
  std::vector<Shortage> shortages() const;

  /// One line for each shortage: what there is, what is expected, and who owes the rest.
  std::vector<std::string> diagnosis() const;

  /// Storage of the table (T3 4.2.1: 256 x 8 x 76 bits = 19 KiB).
  std::uint64_t size_bytes() const;
  void visit_statistics(const StatisticVisitor& visit) const;

 private:
  struct Chunk {
    StagedChunk range;
    std::uint32_t updates = 0;
    Operation operation = Operation::update;
    std::uint64_t expected = 0, local = 0, incoming = 0;  ///< elements, over all tiles
    std::uint64_t tiles = 0, complete = 0;                ///< wavefront tiles
  };
  struct Entry {
    std::uint32_t wg_id = no_workgroup;
    std::uint8_t wf_id = no_wavefront;
    std::uint16_t chunk = 0;
    std::uint64_t start = ~std::uint64_t{0};  ///< smallest address seen
    std::uint64_t local = 0, incoming = 0;    ///< elements counted
    std::uint64_t last_use = 0;
    bool used() const { return wg_id != no_workgroup; }
  };
  /// The chunk is part of it since two outputs may have tiles of the same ids; the start address tells them apart.
  static std::uint64_t key_of(const Entry& entry) {
    return std::uint64_t{entry.chunk} << 40 | std::uint64_t{entry.wg_id} << 8 | entry.wf_id;
  }

  void command();
  void add_chunk();
  std::uint32_t ways_needed(const Chunk& more) const;
  void forget();
  void reset();
  Chunk* chunk_of(const Producer& producer, std::uint64_t address, Operation operation);
  Entry& entry_of(const Producer& producer, std::uint16_t chunk, Picoseconds time);
  Entry& make_room(std::uint32_t wg_id, Picoseconds time);
  void move_entry(Operation operation, std::uint64_t key, Picoseconds time);
  void complete(Chunk& chunk, Entry& entry, Picoseconds time);
  void done(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  Shortage shortage_of(const Chunk& chunk) const;
  std::string describe(const Shortage& shortage) const;

  TrackerParameters parameters_;
  std::uint16_t gpu_;
  Trace* trace_;
  Trace::Track track_ = 0;
  std::vector<Chunk> chunks_;
  std::size_t last_chunk_ = 0;
  std::vector<Entry> table_;
  std::unordered_map<std::uint64_t, Entry> spilled_;
  TransactionPool pool_;
  std::uint64_t uses_ = 0, used_ = 0, peak_ = 0, triggers_ = 0, spills_ = 0, reloads_ = 0;
};

}  // namespace t3vp
