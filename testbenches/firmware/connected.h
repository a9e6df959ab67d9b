// Queue pairs that tests connect in one call.
#pragma once

#include "t3/nic.h"

namespace t3vp::test {

/// Takes a created queue pair to ready to receive from the peer's, then to ready to send.
inline t3_status connect(t3_context* gpu, const t3_nic_queue* queue, std::uint32_t peer, std::uint32_t peers_number) {
  const t3_nic_qp_attr receive{T3_NIC_QPS_RTR, peer, peers_number}, send{T3_NIC_QPS_RTS, 0, 0};
  T3_TRY(t3_nic_modify_qp(gpu, queue, &receive));
  return t3_nic_modify_qp(gpu, queue, &send);
}

}  // namespace t3vp::test
