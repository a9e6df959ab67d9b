#include "interconnect/chunk_mirror.h"

#include "interconnect/route_rules.h"
#include "protocol/access_description.h"
#include "protocol/address_map.h"
#include "protocol/checked_parameters.h"
#include "protocol/ring_signal.h"

namespace t3vp::interconnect {

ChunkMirror::ChunkMirror(const sc_core::sc_module_name& name, const TileGrid& grid, std::uint32_t gpus,
                         std::uint16_t gpu)
    : sc_module(checked(name, MirroredGpus{{gpus}})),
      grid_(grid),
      chunk_workgroups_(grid.workgroups() / gpus),
      gpu_(gpu) {
  in.on_debug(&ChunkMirror::debug);
  out.on_taken(&ChunkMirror::taken);
}

void ChunkMirror::request(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  DataExtension& extension = extension_of(transaction);
  if (extension.operation == Operation::request) {
    if (errors.size() != 0)
      errors->report("links", {static_cast<std::uint32_t>(Status::no_peer), transaction.get_address(),
                               describe(*extension.fabric.asked) +
                                   ": one GPU stands for all (simulate mirror), so that there is no memory of others "
                                   "to read: a run that simulates all GPUs expected"});
    transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return in.respond(transaction, delay);
  }
  Producer& producer = extension.producer;
  std::uint64_t local = address_map::local_of(transaction.get_address());
  if (producer.wg_id < grid_.workgroups()) {
    const std::uint32_t next = (producer.wg_id + chunk_workgroups_) % grid_.workgroups();
    local += grid_.offset(grid_.tile(next)) - grid_.offset(grid_.tile(producer.wg_id));
    producer.wg_id = next;
  }
  transaction.set_address(address_map::on_gpu(gpu_, local));
  if (extension.ring != nullptr) {
    // The other neighbour's receiver is the next in the ring.
    const auto ring = std::make_shared<RingSignal>(*extension.ring);
    ring->receiver = (ring->receiver + 1) % ring->gpus;
    extension.ring = ring;
  }
  out.send(transaction, delay);
}

/// Reads the same bytes of the GPU that represents the ring: all memories are alike.
unsigned ChunkMirror::debug(int, tlm::tlm_generic_payload& transaction) {
  const std::uint64_t address = transaction.get_address();
  transaction.set_address(address_map::on_gpu(gpu_, address_map::local_of(address)));
  const unsigned bytes = out->transport_dbg(transaction);
  transaction.set_address(address);
  return bytes;
}

}  // namespace t3vp::interconnect
