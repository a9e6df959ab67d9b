// Last-level cache of a GPU: tags and bank time only, the data lies in memory and is reached by debug transport.
//
// Cached loads fetch missing sectors, hits on sectors under way wait for them; cached stores allocate without a fetch
// and are written back when evicted, in the traffic class of who stored them. Accesses with `cached` false bypass the
// cache, as do peers' writes, which drop the lines they overwrite (T3 4.3: uncached output).
#pragma once

#include <array>
#include <vector>

#include "compute/cache_tags.h"
#include "protocol/data_sockets.h"
#include "protocol/event_queue.h"
#include "protocol/statistics.h"
#include "protocol/transaction_pool.h"
#include "registers/cache.h"

namespace t3vp {

class LastLevelCache : public sc_core::sc_module {
 public:
  DataTargetSocket<LastLevelCache> compute{"compute", this, &LastLevelCache::from_compute};  ///< the compute units
  DataTargetSocket<LastLevelCache> peers{"peers", this, &LastLevelCache::from_peers};        ///< the links
  /// Fills and write-backs.
  DataInitiatorSocket<LastLevelCache> memory{"memory", this, &LastLevelCache::memory_response};
  /// Uncached accesses of the compute units.
  DataInitiatorSocket<LastLevelCache> bypass{"bypass", this, &LastLevelCache::pass_response, 0};
  DataInitiatorSocket<LastLevelCache> peer_memory{"peer_memory", this, &LastLevelCache::pass_response, 1};
  registers::Cache registers{"registers"};

  /// `memory_latency`: from the cache to the memory controller's queues.
  LastLevelCache(const sc_core::sc_module_name& name, const CacheParameters& parameters, Picoseconds memory_latency,
                 std::uint16_t gpu);

  void visit_statistics(const StatisticVisitor& visit) const;

 private:
  /// A cached load that waits for fills.
  struct Load {
    tlm::tlm_generic_payload* transaction = nullptr;
    std::uint32_t pending = 0;
    Picoseconds ready = 0;
    tlm::tlm_response_status response = tlm::TLM_OK_RESPONSE;  ///< of the last fill that failed
  };
  struct Piece {  ///< of an access: what it touches of one line
    CacheTags::Place place;
    std::uint8_t sectors;
  };
  struct Missing {
    CacheTags::Slot slot;
    std::uint64_t line;
  };
  /// One 2-D read of missing sectors, and the loads that wait for it.
  struct Fill {
    std::vector<Missing> lines;
    std::uint32_t first_waiter = none;
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
    tlm::tlm_response_status response;
  };
  static constexpr std::uint32_t none = 0xFFFFFFFF;

  void from_compute(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void from_peers(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void memory_response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void pass_response(int from_peer_memory, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  unsigned debug(int, tlm::tlm_generic_payload& transaction);

  void load(tlm::tlm_generic_payload& transaction, const DataExtension& extension, Picoseconds time);
  void store(tlm::tlm_generic_payload& transaction, const DataExtension& extension, Picoseconds time);
  const std::vector<Piece>& pieces_of(std::uint64_t address, const Shape& shape);
  void load_piece(const Piece& piece, std::uint32_t load, Picoseconds time);
  void fetch(std::uint32_t load, Picoseconds time, TrafficClass traffic);
  void wait_for(std::uint32_t fill, std::uint32_t load);
  void late_fill();
  void filled(std::uint32_t fill, Picoseconds time, tlm::tlm_response_status response);
  void finish(std::uint32_t load);
  CacheTags::Slot find_or_allocate(const CacheTags::Place& place, Picoseconds time);
  void write_back(CacheTags::Slot slot, Picoseconds time);
  void access_memory(Operation operation, std::uint64_t address, const Shape& shape, TrafficClass traffic,
                     std::uint32_t fill, Picoseconds time);
  Picoseconds serve(const Piece& piece, Picoseconds time);
  void drop(const Piece& piece);
  void flush();

  CacheParameters parameters_;
  Picoseconds memory_latency_, sector_time_;
  std::uint64_t base_;
  unsigned sector_bits_, line_sector_bits_;
  CacheTags tags_;
  std::vector<Picoseconds> bank_free_;
  std::vector<Load> loads_;
  std::vector<Fill> fills_;
  std::vector<Waiter> waiters_;
  std::vector<std::uint32_t> free_loads_, free_fills_, free_waiters_;
  std::vector<Piece> pieces_;     ///< of the access at hand
  std::vector<Gap> gaps_;         ///< of the load at hand
  std::vector<Missing> missing_;  ///< lines of those
  std::uint32_t last_waited_fill_ = none, last_waiting_load_ = none;
  EventQueue<LateFill> late_fills_;
  std::uint64_t write_backs_under_way_ = 0;
  std::uint64_t hits_ = 0, misses_ = 0, written_ = 0, written_back_ = 0, dropped_ = 0;  ///< sectors
  TransactionPool pool_;
};

}  // namespace t3vp
