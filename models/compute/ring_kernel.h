// Ring reduce-scatter and all-gather on the compute units (T3 2.3, Figures 3 and 10a).
//
// Every workgroup owns the same share of each chunk and goes through the steps on its own: wait for the sender's signal
// of the step before, load the share (for a staged reduction also what was received, and add), store it to the
// receiver, signal the receiver. With near-memory reduction (T3 4.3) the stores are updates of the receiver's output
// and nothing is added here.
//
// Neighbours must mean the same: a signal carries what the sender's kernel is and where it stores, a wait what this
// kernel expects. Where they differ the wait is refused, and the kernel ends with mismatch. A kernel that has failed
// keeps the ring going; its further signals say so, and the receiver's kernel fails and passes it on.
//
// Reduce-scatter of N GPUs: steps 0..N-2 send chunk (g+1+s) mod N; step N-1 reduces chunk g in place (staged) or waits
// for it (near-memory). All-gather: steps 0..N-2 send chunk (g+s) mod N, step N-1 waits for the last chunk.
#pragma once

#include <memory>
#include <vector>

#include "compute/chunk_blocks.h"
#include "compute/kernel_model.h"
#include "protocol/ring_signal.h"

namespace t3vp {

class RingKernel : public KernelModel {
 public:
  RingKernel(KernelHost& host, const KernelPacket& packet);

  std::uint32_t workgroups() const override { return packet_.workgroups; }
  std::uint32_t workgroups_per_cu() const override { return host_.parameters().ring_workgroups_per_cu; }
  bool is_producer() const override { return false; }
  void start(Slot slot, std::uint32_t index) override;
  void answered(Slot slot, Transaction& transaction) override;
  void elapsed(Slot slot, std::uint32_t tag) override;

 private:
  /// A block between its loads and its store.
  struct Flight {
    Block block;
    std::uint32_t loads = 0;
    bool busy = false;
    std::vector<unsigned char> sum;  ///< functional only
  };
  struct Workgroup {
    std::uint32_t index = 0, step = 0;
    std::uint64_t next = 0, end = 0;  ///< blocks of the step's share
    std::uint32_t in_flight = 0;
    Picoseconds begin = 0;
    std::vector<Flight> flights;
  };
  enum class Answer : std::uint64_t { local, received, stored, signalled, waited };

  bool reduces() const { return packet_.kernel == KernelKind::ring_reduce_scatter; }
  bool staged() const { return is_staged(packet_); }
  bool last(std::uint32_t step) const { return step + 1 == packet_.gpus; }
  std::uint32_t chunk_of(std::uint32_t step) const;
  TrafficClass traffic(Operation operation) const;

  void begin_step(Slot slot);
  void begin_share(Slot slot);
  void advance(Slot slot);
  void load(Slot slot, std::uint32_t flight, std::uint64_t base, Answer answer);
  void loaded(Slot slot, std::uint32_t flight, Transaction& transaction);
  void store(Slot slot, std::uint32_t flight);
  void end_step(Slot slot);
  void signal_receiver(Slot slot);
  void wait_for_sender(Slot slot);
  RingSignal agreement(std::uint32_t receiver, std::uint64_t out, std::uint64_t staging) const;
  std::uint64_t signal_address(std::uint64_t gpu, std::uint64_t register_offset, std::uint32_t workgroup) const;

  KernelHost& host_;
  KernelPacket packet_;
  TileGrid grid_;
  std::vector<ChunkBlocks> chunks_;
  std::shared_ptr<const RingSignal> sent_, expected_;  ///< what this kernel's stores carry, what its waits expect
  std::vector<Workgroup> workgroups_;                  ///< by slot
};

}  // namespace t3vp
