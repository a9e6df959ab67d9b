// The management network between the hosts of a node: all-gathers of small data, as MPI makes them when a job starts.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <systemc>
#include <vector>

#include "protocol/cause.h"
#include "protocol/units.h"
#include "registers/status.h"

namespace t3vp::processor {

class HostNetwork : public sc_core::sc_object {
 public:
  /// `latency`: of an all-gather, from the last host that comes to its end.
  HostNetwork(const char* name, std::size_t hosts, Picoseconds latency);

  /// A host joins an all-gather, with what it brings.
  struct Joining {
    std::size_t host;
    std::string name;
    std::vector<unsigned char> mine;
    Picoseconds time;
    Cause cause;  ///< of the all-gather's end, if this host is the last one
  };

  std::size_t hosts() const { return next_.size(); }
  /// Some hosts are in other processes, whose networks are notified of what joins here. `here`: the number of hosts in
  /// this process.
  void share(std::size_t here, std::function<void(const Joining&)> notify);
  /// A host of another process joins, at a time from which no more than the latency has passed.
  void join_from_elsewhere(const Joining& joining);
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
    Picoseconds latest = 0;  ///< time at which the last host so far has come
    std::size_t last = 0;    ///< that host: of several at one time the highest number
    Picoseconds end = never;
    Cause cause;  ///< of its end
  };
  void join(const Joining& joining);
  Round& round_of(std::size_t host);
  const Round* waits_in(std::size_t host) const;

  Picoseconds latency_;
  std::size_t here_;  ///< hosts of this process
  std::function<void(const Joining&)> notify_;
  std::vector<std::uint64_t> next_;  ///< of each host: number of the all-gather that it comes to next, or waits in
  std::deque<Round> rounds_;
  std::uint64_t first_ = 0;  ///< number of rounds_.front()
  sc_core::sc_event over_;
};

}  // namespace t3vp::processor
