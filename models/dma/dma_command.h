// A pre-programmed command (dma_map): the tiles of a chunk, where they go, and how far they are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "protocol/order_observer.h"
#include "protocol/staged_chunk.h"
#include "protocol/units.h"

namespace t3vp::dma {

/// A wavefront tile to be sent.
struct Job {
  std::uint32_t serial, wg_id, wf_id;  ///< of its command; of the tile
  OrderPoint behind = 0;               ///< the accesses that have made it ready
};

struct Command {
  static constexpr std::uint32_t no_signal = 0xFFFFFFFF;
  enum class Kind : std::uint8_t { store, update, notify };

  StagedChunk range;
  Kind kind = Kind::update;
  TrafficClass reads = TrafficClass::control, writes = TrafficClass::control;  ///< here; in the peer's memory
  std::vector<std::uint64_t> destinations;                                     ///< none of notify
  bool by_queue = false;                                                       ///< of the NIC; else by the links
  std::size_t queue = 0;
  std::uint32_t local_key = 0, remote_key = 0;
  std::uint32_t signal = no_signal;  ///< counter that grows when the command is complete
  bool signals_ready = false;        ///< it grows when all tiles have been triggered
  std::uint32_t block_tiles = 1;
  std::uint64_t tiles = 0;          ///< wavefront tiles that are not empty
  std::uint64_t triggered = 0;      ///< of them
  std::uint64_t done = 0;           ///< arrivals of them acknowledged by a peer, or final for notify
  std::vector<std::uint8_t> ready;  ///< a bit for each tile of each block
  std::vector<OrderPoint> behind;   ///< of each block: what has made its tiles ready
  std::uint32_t serial = 0;         ///< commands before it since reset
  bool begun = false;               ///< a tile has been triggered
  Picoseconds last_done = 0;        ///< when `done` last grew
  OrderPoint added = 0;             ///< where the program was when it added the command
  OrderPoint arrived = 0;           ///< behind all arrivals so far
  OrderPoint made = 0;              ///< behind all that has made tiles ready so far

  /// As many as `done` is in the end.
  std::uint64_t arrivals() const { return tiles * std::max<std::size_t>(destinations.size(), 1); }
  bool is_complete() const { return done == arrivals(); }
  bool is_busy() const { return begun && !is_complete(); }
  bool is_of(const StagedChunk& chunk) const {
    return range.base == chunk.base && range.first == chunk.first && range.count == chunk.count;
  }
  Rectangle tile(const Job& job) const { return range.grid.wavefront_tile(job.wg_id, job.wf_id); }
  /// Whether the tile is the last of its block; the tiles behind it are empty.
  bool ends_block(const Job& job) const {
    const std::uint32_t next = job.wf_id + 1;
    return next % block_tiles == 0 || range.grid.wavefront_tile(job.wg_id, next).empty();
  }
  /// It sends the workgroup's tile to this address of a peer.
  bool sends_to(std::uint32_t wg_id, std::uint64_t peer_address) const {
    return std::any_of(destinations.begin(), destinations.end(), [&](std::uint64_t destination) {
      return range.contains(wg_id, peer_address - destination + range.base);
    });
  }
};

}  // namespace t3vp::dma
