// An initiator of data traffic for benches: random or listed accesses, with limits and counts.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "protocol/data_sockets.h"
#include "protocol/transaction_pool.h"

namespace t3vp {

struct TrafficAccess {
  Operation operation = Operation::load;
  std::uint64_t address = 0;
  std::uint32_t bytes = 32;
};

/// Accesses of one size at random addresses, which are multiples of that size.
struct RandomTraffic {
  std::uint64_t first = 0, bytes = 0;         ///< the range of addresses
  std::uint32_t access_bytes = 32;            ///< of each access, a multiple of 32
  double loads = 1, stores = 0, updates = 0;  ///< relative frequencies of the operations
  std::uint64_t seed = 1;                     ///< the same seed gives the same accesses
};

struct TrafficLimits {
  std::uint64_t count = 1000;    ///< accesses to send; a list is repeated until then
  std::uint32_t in_flight = 64;  ///< the most that have no response yet
  double GBps = 0;               ///< the highest rate of sending; 0: no limit
};

struct TrafficCounts {
  std::uint64_t loads = 0, stores = 0, updates = 0;  ///< sent
  std::uint64_t bytes = 0;                           ///< sent
  std::uint64_t responses = 0, refused = 0;          ///< refused: responses other than OK, which are responses too
  Picoseconds begin = 0, end = 0;                    ///< first arrival at the target, last response
  Picoseconds least_latency = never, most_latency = 0, total_latency = 0;  ///< from arrival to response

  std::uint64_t sent() const { return loads + stores + updates; }
  double mean_latency_ns() const { return responses == 0 ? 0 : to_ns(total_latency) / static_cast<double>(responses); }
  /// From the first arrival to the last response.
  double GBps() const { return end <= begin ? 0 : 1e3 * static_cast<double>(bytes) / static_cast<double>(end - begin); }
};

class TrafficInitiator : public sc_core::sc_module {
 public:
  struct Options {
    Stream stream = Stream::compute;
    TrafficClass traffic = TrafficClass::gemm_read;  ///< class in which its accesses count
    ElementType element = ElementType::fp32;         ///< in which updates add
    bool has_data = false;                           ///< accesses carry data, for functional targets
    /// Time from sending to arrival. A memory controller needs its lookahead().
    Picoseconds lead = 0;
  };

  DataInitiatorSocket<TrafficInitiator> socket{"socket", this, &TrafficInitiator::response};

  TrafficInitiator(const sc_core::sc_module_name& name, const Options& options);

  /// The accesses are sent with the next sc_start(). Counts start from 0 again. Throws std::invalid_argument about an
  /// empty list or range, a size that is 0 or no multiple of 32, no operation, and limits of 0; and std::logic_error
  /// while accesses are in flight.
  void start(std::vector<TrafficAccess> list, const TrafficLimits& limits);
  void start(const RandomTraffic& random, const TrafficLimits& limits);

  const TrafficCounts& counts() const { return counts_; }
  bool is_done() const { return counts_.responses == limits_.count; }

  /// Called before an access is sent; it may change its extension and, with data, what it stores or adds (1 in each
  /// element unless it does).
  std::function<void(Transaction&)> on_send;
  /// Called with each response, while its data are there.
  std::function<void(tlm::tlm_generic_payload&)> on_response;

 private:
  void start(std::function<TrafficAccess(std::uint64_t)> next, const TrafficLimits& limits);
  void send();
  void send(const TrafficAccess& next, Picoseconds arrival);
  void fill(Transaction& access) const;
  void response(int id, tlm::tlm_generic_payload& transaction, Picoseconds delay);

  Options options_;
  TransactionPool pool_;
  TrafficLimits limits_;
  TrafficCounts counts_;
  std::function<TrafficAccess(std::uint64_t)> next_;
  /// Times from which accesses may be sent: one for each that is not in flight.
  std::priority_queue<Picoseconds, std::vector<Picoseconds>, std::greater<>> free_from_;
  Picoseconds next_time_ = 0;  ///< the rate allows no access before
  bool sending_ = false;
  sc_core::sc_event wake_;
};

}  // namespace t3vp
