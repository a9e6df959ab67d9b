#include "interconnect/chunk_mirror.h"

#include "protocol/address_map.h"

namespace t3vp {

ChunkMirror::ChunkMirror(const sc_core::sc_module_name& name, const TileGrid& grid, std::uint32_t gpus,
                         std::uint16_t gpu)
    : sc_module(name), grid_(grid), chunk_workgroups_(grid.workgroups() / gpus), gpu_(gpu) {
  in.register_nb_transport_fw(this, &ChunkMirror::request, 0);
  out.register_nb_transport_bw(this, &ChunkMirror::response, 0);
}

tlm::tlm_sync_enum ChunkMirror::request(int, tlm::tlm_generic_payload& transaction, tlm::tlm_phase& phase,
                                        sc_core::sc_time& delay) {
  DataExtension* extension = transaction.get_extension<DataExtension>();
  std::uint64_t local = address_map::local_of(transaction.get_address());
  if (extension != nullptr && extension->producer.wg_id < grid_.workgroups()) {
    Producer& producer = extension->producer;
    const std::uint32_t next = (producer.wg_id + chunk_workgroups_) % grid_.workgroups();
    local += grid_.offset(grid_.tile(next)) - grid_.offset(grid_.tile(producer.wg_id));
    producer.wg_id = next;
  }
  transaction.set_address(address_map::on_gpu(gpu_, local));
  return out->nb_transport_fw(transaction, phase, delay);
}

tlm::tlm_sync_enum ChunkMirror::response(int, tlm::tlm_generic_payload& transaction, tlm::tlm_phase& phase,
                                         sc_core::sc_time& delay) {
  return in->nb_transport_bw(transaction, phase, delay);
}

}  // namespace t3vp
