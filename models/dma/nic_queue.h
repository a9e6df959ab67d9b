// A queue pair of the NIC as the DMA engine uses it: tiles that wait for a place in its send queue, the entries that
// are being written there, and those whose end is awaited.
#pragma once

#include <cstdint>
#include <deque>

namespace t3vp::dma {

/// A wavefront tile to be sent.
struct Job {
  std::uint32_t serial, wg_id, wf_id;  ///< of its command; of the tile
};

struct NicQueue {
  std::deque<Job> waiting;   ///< for a place
  std::deque<Job> sent;      ///< from entry `ended` on, those that are being written too
  std::uint32_t posted = 0;  ///< entries of which the NIC has been told, since the queue began, modulo 2^32
  std::uint32_t ended = 0;   ///< entries
  std::uint32_t batch = 0;   ///< entries that are being written: the doorbell rings when all have been
  std::uint32_t writes = 0;  ///< of the batch and the doorbell record, that memory has not answered
  bool is_busy() const { return !waiting.empty() || !sent.empty(); }
};

}  // namespace t3vp::dma
