// The fill that zeroes memory: one range at a time, piece by piece.
#pragma once

#include <string>

#include "dma/dma_accesses.h"
#include "dma/dma_parameters.h"
#include "dma/dma_status.h"
#include "protocol/data_sockets.h"
#include "protocol/output_range.h"

namespace t3vp::dma {

class MemoryFill {
 public:
  using Users = sc_core::sc_port<MemoryUser, 0, sc_core::SC_ZERO_OR_MORE_BOUND>;

  /// `memory` leads to the memory of GPU `gpu`, whose `users` a fill might disturb.
  MemoryFill(registers::Dma& registers, DmaStatus& status, DmaAccesses& accesses, DataInitiatorBase& memory,
             Users& users, const DmaParameters& parameters, bool functional, std::uint16_t gpu);

  /// Software's command, of the range that the registers have.
  void begin();
  /// Memory has answered a piece.
  void filled(Transaction& piece);
  void clear() { next_ = left_ = outstanding_ = 0; }

  bool runs() const { return left_ != 0 || outstanding_ != 0; }
  /// "a fill zeroes ..." when it does so in this range; empty when it does not.
  std::string use_of(const OutputRange& range) const;

 private:
  void go_on();

  registers::Dma& registers_;
  DmaStatus& status_;
  DmaAccesses& accesses_;
  DataInitiatorBase& memory_;
  Users& users_;
  DmaParameters parameters_;
  bool functional_;
  std::uint16_t gpu_;
  std::uint64_t next_ = 0;                    ///< address of the next piece
  std::uint64_t left_ = 0, outstanding_ = 0;  ///< bytes behind it; bytes before it that memory has not answered
  TrafficClass traffic_ = TrafficClass::control;
  OrderPoint order_ = 0;  ///< of its stores
};

}  // namespace t3vp::dma
