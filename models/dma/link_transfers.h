// Tiles that go by the links: read from memory as communication, sent to each destination with their ids, and done when
// the peers have answered.
#pragma once

#include <deque>
#include <map>
#include <tuple>

#include "dma/command_table.h"
#include "dma/dma_accesses.h"
#include "dma/dma_parameters.h"
#include "protocol/run_count.h"
#include "protocol/trace.h"

namespace t3vp::dma {

class LinkTransfers {
 public:
  /// The ports for reads and sends. The sockets' responses come back through loaded(), taken() and acknowledged().
  struct Ports {
    DataInitiatorBase& memory;
    DataInitiatorBase& remote;
  };

  LinkTransfers(CommandTable& table, DmaAccesses& accesses, DmaStatus& status, const Ports& ports,
                const DmaParameters& parameters, bool functional, std::uint16_t gpu);

  void show_on(Trace* trace, Trace::Track track) {
    trace_ = trace;
    track_ = track;
  }

  /// The tile waits for room behind those before it.
  void add(const Job& job) { jobs_.push_back(job); }
  /// Reads tiles as long as there is room for them.
  void start();
  /// The tile has been read, or could not be: it goes out as a store or update of the same tile of the peers.
  void loaded(Transaction& read);
  /// A link has taken the tile.
  void taken(const Transaction& tile) { left(tile); }
  /// A peer has answered.
  void acknowledged(Transaction& sent);
  /// Tiles of commands that are gone are not sent.
  void forget_removed();
  void clear();

  bool is_busy() const { return !jobs_.empty() || bytes_in_flight_ != 0 || unacknowledged_ != 0; }
  const RunCount& blocks() const { return blocks_; }
  const RunCount& bytes() const { return bytes_; }

 private:
  void read(const Job& job);
  void send_to(const Command& command, std::uint64_t destination, Transaction& read);
  void left(const Transaction& tile);
  void ended(Transaction& transaction);

  CommandTable& table_;
  DmaAccesses& accesses_;
  DmaStatus& status_;
  Ports ports_;
  DmaParameters parameters_;
  bool functional_;
  std::uint16_t gpu_;
  Trace* trace_ = nullptr;
  Trace::Track track_ = 0;
  std::deque<Job> jobs_;
  std::uint64_t bytes_in_flight_ = 0;  ///< read or being read, not taken by all links
  /// For each tile with several destinations (token, workgroup, wavefront), the number of links that have not taken it.
  std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>, std::size_t> links_left_;
  std::uint64_t unacknowledged_ = 0;  ///< tiles sent without a response
  RunCount blocks_, bytes_;
};

}  // namespace t3vp::dma
