// The transport by Boost.MPI. It is a library of its own, which t3vp opens when mpirun has started it.
#include <algorithm>
#include <boost/mpi.hpp>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

#include "partition/transport.h"

namespace t3vp {
namespace {

namespace mpi = boost::mpi;

/// Time of waiting. A stop of this process by its terminal counts as a second at most.
class WaitClock {
 public:
  double seconds() {
    const auto time = Clock::now();
    waited_ += std::min(std::chrono::duration<double>(time - before_).count(), 1.0);
    before_ = time;
    return waited_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point before_ = Clock::now();
  double waited_ = 0;
};

class MpiTransport : public Transport {
 public:
  ~MpiTransport() override {
    for (MPI_Win& window : windows_) MPI_Win_free(&window);
  }

  std::uint32_t rank() const override { return static_cast<std::uint32_t>(world_.rank()); }
  std::uint32_t ranks() const override { return static_cast<std::uint32_t>(world_.size()); }

  void send(std::vector<Message> messages) override {
    outgoing_ = std::move(messages);
    for (std::uint32_t other = 0; other < ranks(); ++other) {
      if (other == rank()) continue;
      const Message& message = outgoing_[other];
      open_.push_back(
          {other, world_.isend(static_cast<int>(other), tag, message.data(), static_cast<int>(message.size()))});
    }
  }

  std::vector<Message> receive() override {
    std::vector<Message> received(ranks());
    for (std::uint32_t other = 0; other < ranks(); ++other)
      if (other != rank()) open_.push_back({other, {}});
    WaitClock clock;
    constexpr unsigned tries_per_look = 1000;
    for (unsigned tries = 1; !open_.empty(); ++tries) {
      const auto is_over = [&](Transfer& transfer) { return advance(transfer, received[transfer.rank]); };
      open_.erase(std::remove_if(open_.begin(), open_.end(), is_over), open_.end());
      if (tries % tries_per_look == 0 && !open_.empty()) look_at_wait(clock.seconds(), ranks_of_open());
    }
    return received;
  }

  void* shared_memory(std::size_t bytes) override {
    const mpi::communicator machine = machine_of(world_);
    void* memory = nullptr;
    MPI_Win window = MPI_WIN_NULL;
    const auto own_bytes = static_cast<MPI_Aint>(machine.rank() == 0 ? bytes : 0);
    if (MPI_Win_allocate_shared(own_bytes, 1, MPI_INFO_NULL, machine, &memory, &window) != MPI_SUCCESS)
      throw std::runtime_error("the processes of mpirun on one machine cannot share memory");
    windows_.push_back(window);
    MPI_Aint first_bytes = 0;
    int unit = 0;
    MPI_Win_shared_query(window, 0, &first_bytes, &unit, &memory);
    if (machine.rank() == 0) std::memset(memory, 0, bytes);
    machine.barrier();
    return memory;
  }

  void abort(int exit_code) override {
    world_.abort(exit_code);
    std::_Exit(exit_code);
  }

 private:
  static constexpr int tag = 0;

  static mpi::communicator machine_of(const mpi::communicator& world) {
    MPI_Comm machine = MPI_COMM_NULL;
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, world.rank(), MPI_INFO_NULL, &machine);
    return {machine, mpi::comm_take_ownership};
  }

  /// To a rank or from it.
  struct Transfer {
    std::uint32_t rank;
    std::optional<mpi::request> request;  ///< none: of a message that has not been seen yet
  };

  /// Returns whether the transfer is over.
  bool advance(Transfer& transfer, Message& received) const {
    if (!transfer.request) {
      const auto from = static_cast<int>(transfer.rank);
      const auto status = world_.iprobe(from, tag);
      if (!status) return false;
      received.resize(static_cast<std::size_t>(*status->count<char>()));
      transfer.request = world_.irecv(from, tag, received.data(), static_cast<int>(received.size()));
    }
    return static_cast<bool>(transfer.request->test());
  }

  Silent ranks_of_open() const {
    Silent silent;
    for (const Transfer& transfer : open_) silent.push_back(transfer.rank);
    std::sort(silent.begin(), silent.end());
    silent.erase(std::unique(silent.begin(), silent.end()), silent.end());
    return silent;
  }

  mpi::environment environment_{mpi::threading::funneled};
  mpi::communicator world_;
  std::vector<MPI_Win> windows_;
  std::vector<Message> outgoing_;
  std::vector<Transfer> open_;
};

}  // namespace
}  // namespace t3vp

extern "C" t3vp::Transport* t3vp_open_transport() { return new t3vp::MpiTransport; }
