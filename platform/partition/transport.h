// How the processes of one run talk: a rank each, all of which make the same calls in the same order. MPI is behind it
// (mpi/), in a library that is loaded when a run is started by mpirun.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace t3vp {

using Message = std::vector<char>;

class Transport {
 public:
  virtual ~Transport() = default;

  virtual std::uint32_t rank() const = 0;
  virtual std::uint32_t ranks() const = 0;
  /// Sends a message to each partner, and returns theirs. This rank is a partner of its partners.
  virtual std::vector<Message> exchange(const std::vector<std::uint32_t>& partners,
                                        const std::vector<Message>& messages) = 0;
  /// Returns the messages of all ranks, in order.
  virtual std::vector<Message> all_gather(const Message& mine) = 0;
  /// The least of all ranks, of each value by itself. Values from 2^63 - 1 on count as one.
  using Least = std::array<std::uint64_t, 3>;
  virtual Least least(const Least& mine) = 0;
  /// Ends all processes.
  [[noreturn]] virtual void abort(int exit_code) = 0;
};

}  // namespace t3vp
