// The management network between the hosts of a node: all-gathers of small data, as MPI makes them when a job starts.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <systemc>
#include <vector>

#include "protocol/cause.h"
#include "registers/status.h"

namespace t3vp::processor {

class HostNetwork : public sc_core::sc_object {
 public:
  /// `latency`: of an all-gather, from the last host that comes to its end.
  HostNetwork(const char* name, std::size_t hosts, Picoseconds latency);

  std::size_t hosts() const { return next_.size(); }
  /// The host takes part in its next all-gather; the one that it has come to and not left goes on, whatever it brings.
  void come(std::size_t host, const char* name, const unsigned char* mine, std::uint64_t bytes);
  /// All have come, and its time is over.
  bool is_over(std::size_t host) const;
  /// Notified when an all-gather is over.
  const sc_core::sc_event& over() const { return over_; }
  /// Ends an all-gather for this host: copies the contribution of each host, in order. Returns Status::mismatch with a
  /// text when the hosts have not joined the same one.
  Status leave(std::size_t host, unsigned char* all, std::string& mistake);
  /// The cause of the end of the all-gather that this host waits in: the last host that has come.
  const Cause& cause_for(std::size_t host) { return round_of(host).cause; }
  /// Hosts that have not come to what this one waits in; empty when it waits in nothing, or for its time alone.
  std::vector<std::size_t> missing(std::size_t host) const;

 private:
  struct Round {
    std::string name, mistake;
    std::uint64_t bytes = 0;
    std::vector<unsigned char> all;
    std::vector<bool> come;
    std::size_t left = 0;
    Picoseconds end = never;
    Cause cause;  ///< of its end
  };
  Round& round_of(std::size_t host);
  const Round* waits_in(std::size_t host) const;

  Picoseconds latency_;
  std::vector<std::uint64_t> next_;  ///< of each host: number of the all-gather that it comes to next, or waits in
  std::deque<Round> rounds_;
  std::uint64_t first_ = 0;  ///< number of rounds_.front()
  sc_core::sc_event over_;
};

}  // namespace t3vp::processor
