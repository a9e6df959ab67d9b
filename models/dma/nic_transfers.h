// Tiles that go by a queue pair of the NIC: no compute unit and no host has a part in it. The engine writes the work
// entry and the doorbell record to memory, rings, and waits for the entry's end at the NIC.
#pragma once

#include <array>
#include <deque>

#include "dma/command_table.h"
#include "dma/dma_accesses.h"
#include "dma/dma_parameters.h"
#include "protocol/run_count.h"
#include "protocol/trace.h"

namespace t3vp::dma {

class NicTransfers {
 public:
  /// The ports for writes and doorbells. The sockets' responses come back through written(), rung() and ended().
  struct Ports {
    DataInitiatorBase& memory;
    DataInitiatorBase& nic;
  };

  NicTransfers(registers::Dma& registers, CommandTable& table, DmaAccesses& accesses, DmaStatus& status,
               const Ports& ports, const DmaParameters& parameters, std::uint16_t gpu);

  void show_on(Trace* trace, Trace::Track track) {
    trace_ = trace;
    track_ = track;
  }

  /// The tile waits for a place in the send queue behind those before it.
  void add(std::size_t queue, const Job& job) { queues_[queue].waiting.push_back(job); }
  /// Posts what waits and has a place, in all queues.
  void start();
  /// Memory has a work entry or a doorbell record.
  void written(Transaction& write);
  /// The NIC has taken a doorbell, or not.
  void rung(Transaction& doorbell);
  /// A work entry has ended.
  void ended(Transaction& wait);
  /// Tiles of commands that are gone are not posted.
  void forget_removed();
  void clear();

  bool is_busy() const;
  const RunCount& blocks() const { return blocks_; }
  const RunCount& bytes() const { return bytes_; }

 private:
  /// A queue pair as the engine uses it: tiles that wait for a place in its send queue, the entries that are being
  /// written there, and those whose end is awaited.
  struct Queue {
    std::deque<Job> waiting;   ///< for a place
    std::deque<Job> sent;      ///< from entry `ended` on, those that are being written too
    std::uint32_t posted = 0;  ///< entries that the NIC has been notified of, since the queue began, modulo 2^32
    std::uint32_t ended = 0;   ///< entries
    std::uint32_t batch = 0;   ///< entries that are being written: the doorbell rings when all have been
    std::uint32_t writes = 0;  ///< of the batch and the doorbell record, that memory has not answered
    OrderPoint order = 0;      ///< of the latest batch, and all before it
    bool is_busy() const { return !waiting.empty() || !sent.empty(); }
  };

  void begin(std::size_t number);
  std::string memory_missing(std::size_t number, std::uint64_t entries) const;
  ChunkCheck check(const Command& command);
  void post(std::size_t number);
  void write_entry(std::size_t number, const Job& job, std::uint32_t index);
  void write_control(DataInitiatorBase& socket, std::uint64_t address, const unsigned char* bytes, std::uint32_t length,
                     std::size_t queue, OrderPoint order, Picoseconds delay);
  void await(std::size_t number, std::uint32_t pair, std::uint32_t finished);
  std::uint32_t pair_of(std::size_t queue) const;
  std::uint64_t nic_register(std::uint64_t offset, std::uint64_t stride, std::uint32_t queue_pair) const;
  std::uint64_t doorbell_of(std::uint32_t queue_pair) const;

  registers::Dma& registers_;
  CommandTable& table_;
  DmaAccesses& accesses_;
  DmaStatus& status_;
  Ports ports_;
  DmaParameters parameters_;
  std::uint16_t gpu_;
  Trace* trace_ = nullptr;
  Trace::Track track_ = 0;
  std::array<Queue, registers::Dma::queue_entries_count> queues_;
  RunCount blocks_, bytes_;
};

}  // namespace t3vp::dma
