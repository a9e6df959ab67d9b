// Last-level cache of a GPU. Lines of accesses with data hold their bytes; the others are tags alone. A run without
// data needs no memory for contents and takes the same simulated time.
//
// Cached loads fetch missing sectors; hits on sectors in flight wait for them. Cached stores allocate without a fetch.
// An eviction writes back only the stored bytes, in the traffic class of the store. A load of bytes that a sector
// stored in part does not have fetches the sector (GPGPU-Sim's lazy fetch on read).
//
// Loads and stores with `cached` false bypass the cache without a look at its tags (T3 4.3: uncached output). Peers'
// writes bypass it and drop the bytes that they overwrite; the NIC's do so where a parameter says so. The GPU's own
// updates bypass it, cached or not. The lines that they touch are written back first and invalidated. The cache does
// not see writes of firmware, the DMA engine and memory itself, and they do not see its dirty bytes: software flushes.
//
// A cache with atomics (atomic_bytes_per_cycle) adds updates itself, local ones and those of peers: it fetches missing
// sectors, adds in the element type, and keeps the sums as dirty bytes. Then the update goes on to memory, whose
// Tracker counts it; it takes no DRAM access there. Such a cache is coherent: the DMA engine's accesses come through it
// as well, loads that bypass it see its dirty bytes, and stores that bypass it drop what they overwrite.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "cache/cache_tags.h"
#include "cache/dirty_bytes.h"
#include "cache/loaded_blocks.h"
#include "cache/write_order.h"
#include "protocol/cache_release.h"
#include "protocol/component.h"
#include "protocol/data_sockets.h"
#include "protocol/event_queue.h"
#include "protocol/transaction_pool.h"
#include "registers/cache.h"

namespace t3vp::cache {

class LastLevelCache : public sc_core::sc_module, public Component, public CacheRelease {
 public:
  DataTargetSocket<LastLevelCache> compute{"compute", this, &LastLevelCache::from_compute};  ///< the compute units
  DataTargetSocket<LastLevelCache> peers{"peers", this, &LastLevelCache::from_peers, 1};     ///< the links
  DataTargetSocket<LastLevelCache> nic{"nic", this, &LastLevelCache::from_peers, 2};         ///< for its peers
  /// Fills and write-backs.
  DataInitiatorSocket<LastLevelCache> memory{"memory", this, &LastLevelCache::memory_response};
  /// Uncached accesses of the compute units.
  DataInitiatorSocket<LastLevelCache> bypass{"bypass", this, &LastLevelCache::pass_response, 0};
  DataInitiatorSocket<LastLevelCache> peer_memory{"peer_memory", this, &LastLevelCache::pass_response, 1};
  DataInitiatorSocket<LastLevelCache> nic_memory{"nic_memory", this, &LastLevelCache::pass_response, 2};
  /// Of the DMA engine; null in a cache without atomics.
  std::unique_ptr<DataTargetSocket<LastLevelCache>> dma;
  std::unique_ptr<DataInitiatorSocket<LastLevelCache>> dma_memory;
  registers::Cache registers{"registers"};
  sc_core::sc_port<sc_core::sc_signal_inout_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> interrupt{"interrupt"};

  /// `memory_latency`: from the cache to the memory controller's queues.
  LastLevelCache(const sc_core::sc_module_name& name, const CacheParameters& parameters, Picoseconds memory_latency,
                 std::uint16_t gpu);
  ~LastLevelCache() override;

  /// The time and the bytes, by traffic class, that the last flush wrote back.
  struct Flush {
    Picoseconds time = 0;
    std::array<std::uint64_t, traffic_classes_most> bytes{};
  };
  const Flush& last_flush() const { return last_flush_; }
  /// Bytes of a range that were stored and have not been written back.
  std::uint64_t dirty_bytes(std::uint64_t address, const Shape& shape);
  void release(std::function<void()> done) override;
  const char* group() const override { return "cache"; }
  void visit_statistics(const StatisticVisitor& visit) const override;

 private:
  /// Whose accesses come.
  enum Sender : int { from_units, from_links, from_nic, from_dma };
  /// A cached load, or an update, that waits for fills.
  struct Load {
    tlm::tlm_generic_payload* transaction = nullptr;
    std::uint32_t pending = 0;
    Picoseconds ready = 0;
    tlm::tlm_response_status response = tlm::TLM_OK_RESPONSE;  ///< of the last fill that failed
    Cause cause = {};                                          ///< of its latest data
    Sender sender = from_units;
    bool is_update = false;
  };
  struct Piece {  ///< of an access: what it touches of one line
    CacheTags::Place place;
    std::uint16_t begin, end;  ///< bytes of the line
    std::uint8_t sectors, sector_count;
  };
  struct Missing {  ///< sectors of a line that a fill brings
    CacheTags::Slot slot;
    std::uint8_t sectors;
    std::uint64_t line;
  };
  /// The part of an update that is added to one line.
  struct Addend {
    std::uint32_t load, offset;  ///< the update, and where the data begin in its own
    Piece piece;
  };
  struct WaitingAddend {
    std::uint32_t fill;
    Addend addend;
  };
  /// Bytes that a fill brings to a load.
  struct Copy {
    std::uint32_t fill, load;
    std::uint32_t offset, bytes;  ///< in the load's data
    std::uint64_t address;        ///< local
  };
  /// One 2-D read of missing sectors, and the loads that wait for it.
  struct Fill {
    std::uint64_t begin;  ///< local address
    Shape shape;
    std::uint64_t number = 0;  ///< 0: it is not on its way
    std::vector<Missing> lines;
    std::vector<Copy> copies;
    std::vector<Addend> addends;
    std::uint32_t first_waiter = none;
    std::uint32_t next = none;  ///< of the same load
  };
  struct Waiter {
    std::uint32_t load, next;
  };
  struct Gap {  ///< consecutive missing sectors of the load at hand
    std::uint64_t begin, end;
    std::size_t lines;
    std::uint64_t bytes() const { return end - begin; }
  };
  struct LateFill {
    std::uint32_t index;
    tlm::tlm_generic_payload* transaction;
  };
  static constexpr std::uint32_t none = 0xFFFFFFFF;
  static constexpr std::uint32_t planned = 0x80000000;  ///< fill of a sector: number in missing_ of the load at hand

  void from_compute(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void from_peers(int way, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void from_engine(int way, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void memory_response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void pass_taken(int way, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void pass_response(int way, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  DataTargetSocket<LastLevelCache>& sender(int way) {
    return way == from_units ? compute : way == from_links ? peers : way == from_nic ? nic : *dma;
  }
  /// Returns the socket of accesses that bypass the cache.
  DataInitiatorSocket<LastLevelCache>& way_to_memory(int way) {
    return way == from_units ? bypass : way == from_links ? peer_memory : way == from_nic ? nic_memory : *dma_memory;
  }
  unsigned debug_compute(int, tlm::tlm_generic_payload& transaction);
  unsigned debug_peers(int, tlm::tlm_generic_payload& transaction);
  void look(const Piece& piece, bool write, unsigned char* data) const;
  bool in_memory(std::uint64_t address, const Shape& shape);

  void load(Sender sender, tlm::tlm_generic_payload& transaction, const DataExtension& extension, Picoseconds time);
  bool load_block(Sender sender, tlm::tlm_generic_payload& transaction, const Shape& shape, Picoseconds time);
  void note_block();
  std::uint32_t begin_load(const Load& load);
  static void blame_banks(Load& load, Picoseconds time);
  void fetch_missing(std::uint32_t load, Picoseconds time);
  CacheTags::Slot load_piece(const Piece& piece, std::uint32_t load, bool real, Picoseconds time);
  void miss(const Piece& piece, CacheTags::Slot slot, std::uint8_t missing);
  std::uint8_t stored_sectors(const Piece& piece, CacheTags::Slot slot, std::uint32_t sectors) const;
  void copy_out(const Piece& piece, CacheTags::Slot slot, std::uint32_t load, std::uint32_t offset);
  void copy_when_filled(std::uint32_t fill, std::uint32_t load, std::uint32_t offset, std::uint64_t address,
                        std::uint32_t bytes);
  std::uint32_t plan_fills(std::uint32_t load);
  void wait_for(std::uint32_t fill, std::uint32_t load);
  void fetch(std::uint32_t fill, const tlm::tlm_generic_payload& load, Picoseconds time);
  void late_fill();
  void filled(std::uint32_t fill, Picoseconds time, tlm::tlm_generic_payload& transaction);
  void settle(std::uint32_t fill, const Missing& missing, const tlm::tlm_generic_payload& transaction);
  void finish(std::uint32_t load);

  // Atomics: cache_atomics.cpp.
  bool has_atomics() const { return parameters_.atomic_bytes_per_cycle != 0; }
  void make_atomics();
  bool adds(const tlm::tlm_generic_payload& transaction, const DataExtension& extension);
  void update(Sender sender, tlm::tlm_generic_payload& transaction, const DataExtension& extension, Picoseconds time);
  CacheTags::Slot slot_to_update(const Piece& piece, bool real, Picoseconds time);
  void add_or_wait(const Addend& addend, Picoseconds time);
  void add_now(const Addend& addend, CacheTags::Slot slot);
  void add_what_waited(const std::vector<Addend>& addends, Picoseconds time);
  bool finds_no_way(const Piece& piece);
  void add_what_found_no_way(const std::vector<Missing>& filled, Picoseconds time);
  void give_up_updates();
  bool holds_dirty_bytes(std::uint64_t address, const Shape& shape);
  Picoseconds drop_overwritten(std::uint64_t address, const Shape& shape, Picoseconds arrival);
  bool passes_coherently(Sender sender, tlm::tlm_generic_payload& transaction, Picoseconds time, Picoseconds arrival);

  void store(tlm::tlm_generic_payload& transaction, const DataExtension& extension, Picoseconds time);
  void mark_stored(const Piece& piece, CacheTags::Slot slot);
  CacheTags::Slot find_or_allocate(const CacheTags::Place& place, bool real, Picoseconds time);
  void write_back(CacheTags::Slot slot, Picoseconds time);
  void written_back(tlm::tlm_generic_payload& transaction);
  void drop(const Piece& piece);
  Picoseconds make_way(std::uint64_t address, const Shape& shape, Picoseconds time);
  void flush();
  void write_back_all();
  void end_releases();
  void end_flush();
  void update_interrupt();

  const std::vector<Piece>& pieces_of(std::uint64_t address, const Shape& shape);
  /// Time at which a bank has moved the sectors of one line, or has added to them.
  Picoseconds serve(const Piece& piece, Picoseconds time) { return serve(piece, time, sector_time_); }
  Picoseconds serve(const Piece& piece, Picoseconds time, Picoseconds of_a_sector) {
    Picoseconds& free = bank_free_[piece.place.bank];
    free = std::max(free, time) + piece.sector_count * of_a_sector;
    return free;
  }
  bool is_dirty(CacheTags::Slot slot, std::uint32_t byte) const;
  std::uint8_t stored_whole(CacheTags::Slot slot) const;
  unsigned char* bytes_of(CacheTags::Slot slot);
  std::uint32_t& fill_of(CacheTags::Slot slot, unsigned sector) {
    return sector_fills_[(std::size_t{slot} << line_sector_bits_) + sector];
  }
  /// On the simulating machine.
  void prefetch(CacheTags::Slot slot) {
    tags_.prefetch(slot);
    __builtin_prefetch(&fill_of(slot, 0));
  }

  CacheParameters parameters_;
  Picoseconds memory_latency_, sector_time_;
  Picoseconds atomic_time_ = 0;  ///< of a sector
  std::uint64_t base_;
  unsigned sector_bits_, line_sector_bits_;
  CacheTags tags_;
  std::vector<std::uint32_t> sector_fills_;  ///< what brings a pending sector
  DirtyBytes dirty_bytes_;
  std::unique_ptr<unsigned char[]> bytes_;  ///< of all lines, from the first access with data on
  WriteOrder order_;
  std::vector<Picoseconds> bank_free_;
  std::vector<Load> loads_;
  std::vector<Fill> fills_;
  std::vector<Waiter> waiters_;
  std::vector<std::uint32_t> free_loads_, free_fills_, free_waiters_;
  std::vector<Piece> pieces_;                 ///< of the access at hand
  std::vector<Gap> gaps_;                     ///< of the load at hand
  std::vector<Missing> missing_;              ///< lines of those
  std::vector<std::uint32_t> planned_fills_;  ///< of those
  std::vector<Copy> copies_;                  ///< of the load at hand
  std::vector<WaitingAddend> addends_;        ///< of the update at hand
  std::vector<Addend> without_way_;           ///< all ways of their sets have fills in flight
  std::uint32_t last_waited_fill_ = none, last_waiting_load_ = none;
  LoadedBlocks blocks_;
  LoadedBlock* noted_ = nullptr;         ///< the load at hand, if its tags are to be kept as a group
  std::vector<CacheTags::Slot> slots_;   ///< of that load
  std::vector<std::uint32_t> of_banks_;  ///< sectors of that load; 0 between loads
  std::uint64_t fills_made_ = 0;
  EventQueue<LateFill> late_fills_{[this] { late_fill(); }, Part::dram_latency};
  std::uint64_t write_backs_in_flight_ = 0;
  bool flushing_ = false;
  std::vector<std::function<void()>> releases_;    ///< that wait for write-backs
  std::deque<const Transaction*> data_in_flight_;  ///< write-backs with data, in the order of their leaving
  Flush last_flush_;
  std::uint64_t asked_ = 0, misses_ = 0, written_ = 0, written_back_ = 0, dropped_ = 0;  ///< sectors
  std::uint64_t updated_ = 0, update_misses_ = 0;                                        ///< sectors
  TransactionPool pool_;
  Transaction& probe_;  ///< asks memory what it would serve
};

}  // namespace t3vp::cache
