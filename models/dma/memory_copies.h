// Copies that software queues: bytes of this GPU's memory go to any GPU, and a flag behind them. Each queue does one
// copy after the other, and the queues work at once, as the several copy engines of real GPUs do.
#pragma once

#include <deque>
#include <vector>

#include "dma/dma_accesses.h"
#include "dma/dma_parameters.h"
#include "dma/dma_status.h"
#include "protocol/data_sockets.h"
#include "protocol/output_range.h"
#include "protocol/run_count.h"

namespace t3vp::dma {

class MemoryCopies {
 public:
  struct Ports {
    DataInitiatorBase& memory;
    DataInitiatorBase& remote;
  };

  MemoryCopies(registers::Dma& registers, DmaStatus& status, DmaAccesses& accesses, const Ports& ports,
               const DmaParameters& parameters, bool functional, std::uint16_t gpu);

  /// Software's command: the copy of the registers waits behind those of its queue.
  void add();
  /// Begins copies, and reads pieces as long as there is room for them.
  void start();
  /// A piece has been read, or could not be: it goes to its target.
  void loaded(Transaction& read);
  /// A link has taken a piece.
  void taken(const Transaction& piece);
  /// A piece or a flag has been answered, by a peer or by this GPU's memory.
  void acknowledged(Transaction& sent);
  void clear();

  bool runs() const { return ended_ != added_; }
  const RunCount& bytes() const { return bytes_; }
  /// "a copy writes ..." when one does so in this range; empty when none does. Others may read what it reads.
  std::string use_of(const OutputRange& range) const;

 private:
  struct Copy {
    std::uint64_t from, to, bytes;
    std::uint64_t flag, flag_value;  ///< flag 0: there is none
    std::uint32_t flag_bytes;
    TrafficClass reads, writes;
    OrderPoint order;
    std::uint64_t next = 0;        ///< bytes whose read has been sent
    std::uint64_t unanswered = 0;  ///< bytes that have been read or are being read, and that no target has answered
    bool has_failed = false;
  };
  struct Queue {
    std::deque<Copy> copies;
    std::uint64_t in_flight = 0;  ///< bytes that have been read or are being read, and that no link has taken
  };

  bool refuses(const Copy& copy) const;
  void read(std::size_t queue);
  DataInitiatorBase& socket_to(std::uint64_t address);
  void fail(Copy& copy, Transaction& transaction);
  void answered(std::size_t queue, std::uint64_t bytes);
  void write_flag(std::size_t queue);
  void end(std::size_t queue);

  registers::Dma& registers_;
  DmaStatus& status_;
  DmaAccesses& accesses_;
  Ports ports_;
  DmaParameters parameters_;
  bool functional_;
  std::uint16_t gpu_;
  std::vector<Queue> queues_;
  std::uint64_t added_ = 0, ended_ = 0;  ///< copies since reset
  RunCount bytes_;
};

}  // namespace t3vp::dma
