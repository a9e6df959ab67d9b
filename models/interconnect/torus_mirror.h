// Lets one GPU represent all GPUs of a torus that do the same, each from its own position. What it sends to a neighbour
// returns as what its opposite neighbour sends to it at that moment, with all GPU numbers seen from there. The GPU's
// own links therefore carry what all GPUs send through them, each packet over every link of its route. No other GPU has
// data of its own.
#pragma once

#include <memory>
#include <vector>

#include "protocol/data_sockets.h"

namespace t3vp::interconnect {

class TorusMirror : public sc_core::sc_module {
 public:
  /// The far end of the link at each port, and what comes from it.
  std::vector<std::unique_ptr<DataTargetSocket<TorusMirror>>> in;
  std::vector<std::unique_ptr<DataInitiatorSocket<TorusMirror>>> out;

  /// Numbers count the first dimension first. `neighbours[i]` is the GPU behind port i of GPU 0, which stands for all.
  TorusMirror(const sc_core::sc_module_name& name, std::vector<std::uint32_t> dimensions,
              std::vector<std::uint32_t> neighbours);

  /// Memory in which a row of so many bytes has an equal part for each GPU, in the order of their numbers: what is
  /// stored in one's is stored in that of another one there. Elsewhere all GPUs store to the same addresses.
  struct Parts {
    std::uint64_t begin, bytes, row_bytes;
  };
  /// From now on, and for nothing that lies there from before. A row that is not so shared is the same for all.
  void add(const Parts& parts);

  /// The number of a GPU as it is seen from another one that takes itself for GPU 0.
  std::uint32_t seen_from(std::uint32_t origin, std::uint32_t gpu) const;

 private:
  void request(int port, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void taken(int port, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void response(int port, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  unsigned debug(int port, tlm::tlm_generic_payload& transaction);
  std::uint64_t local_seen_from(std::uint32_t origin, std::uint64_t address) const;

  std::vector<std::uint32_t> dimensions_, neighbours_;
  std::uint32_t gpus_ = 1;
  std::vector<Parts> parts_;
};

}  // namespace t3vp::interconnect
