// How the processes of one run talk: a rank each, all of which make the same calls in the same order. MPI is behind it
// (mpi/), in a library that is loaded when a run is started by mpirun.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace t3vp {

using Message = std::vector<char>;

class Transport {
 public:
  virtual ~Transport() = default;

  virtual std::uint32_t rank() const = 0;
  virtual std::uint32_t ranks() const = 0;
  /// Begins to send a message to each rank but this one. receive() follows.
  virtual void send(std::vector<Message> messages) = 0;
  /// Returns what all ranks have sent, once each has.
  virtual std::vector<Message> receive() = 0;
  /// Memory that the ranks on this machine share, of zeros at first. It lives as long as this.
  virtual void* shared_memory(std::size_t bytes) = 0;
  /// Ends all processes.
  [[noreturn]] virtual void abort(int exit_code) = 0;

  /// Does one after the other.
  std::vector<Message> exchange(std::vector<Message> messages) {
    send(std::move(messages));
    return receive();
  }
  /// Returns the messages of all ranks, in order.
  std::vector<Message> all_gather(const Message& mine);
  /// The least of all ranks, of each value by itself.
  using Least = std::array<std::uint64_t, 2>;
  Least least(const Least& mine);

  /// Ranks from which nothing has come.
  using Silent = std::vector<std::uint32_t>;
  /// From now on receive() calls `act` again and again while it waits for longer than that. Zero: it waits for ever.
  void limit_waits(double seconds, std::function<void(const Silent&)> act);

 protected:
  /// To be called by receive() now and then while it waits. `seconds`: since when it waits.
  /// The lowest rank that waits acts first, the next one later, as that may hang as well.
  void look_at_wait(double seconds, const Silent& silent) const {
    constexpr double turn_s = 5;
    const auto silent_below = std::lower_bound(silent.begin(), silent.end(), rank()) - silent.begin();
    const double waiting_below = static_cast<double>(rank()) - static_cast<double>(silent_below);
    if (wait_limit_s_ > 0 && seconds > wait_limit_s_ + turn_s * waiting_below) act_(silent);
  }

 private:
  double wait_limit_s_ = 0;
  std::function<void(const Silent&)> act_;
};

}  // namespace t3vp
