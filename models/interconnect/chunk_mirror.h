// Lets one GPU represent a homogeneous ring (T3 5.1.1). What it sends to its neighbour returns as what its other
// neighbour would send at that moment: the same bytes of the next chunk. Read requests are refused, since no peer
// exists.
#pragma once

#include "protocol/data_sockets.h"
#include "protocol/tile_grid.h"

namespace t3vp::interconnect {

class ChunkMirror : public sc_core::sc_module {
 public:
  DataTargetSocket<ChunkMirror> in{"in", this, &ChunkMirror::request};
  DataInitiatorSocket<ChunkMirror> out{"out", this, &ChunkMirror::response};
  ErrorPort errors{"errors"};

  /// `grid` is the output's; chunks are equal when its workgroups divide by `gpus`. `gpu` receives everything.
  ChunkMirror(const sc_core::sc_module_name& name, const TileGrid& grid, std::uint32_t gpus, std::uint16_t gpu);

 private:
  void request(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void taken(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) { in.taken(transaction, delay); }
  void response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) { in.respond(transaction, delay); }
  unsigned debug(int, tlm::tlm_generic_payload& transaction);

  TileGrid grid_;
  std::uint32_t chunk_workgroups_;
  std::uint16_t gpu_;
};

}  // namespace t3vp::interconnect
