// The transport by Boost.MPI. It is a library of its own, which t3vp opens when mpirun has started it.
#include <algorithm>
#include <boost/mpi.hpp>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

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

  std::vector<Message> exchange(std::vector<Message> messages) override {
    Silent silent;
    std::vector<mpi::request> sends;
    for (std::uint32_t other = 0; other < ranks(); ++other) {
      if (other == rank()) continue;
      silent.push_back(other);
      const Message& message = messages[other];
      sends.push_back(world_.isend(static_cast<int>(other), tag, message.data(), static_cast<int>(message.size())));
    }
    std::vector<Message> received(ranks());
    WaitClock clock;
    constexpr unsigned tries_per_look = 1000;
    for (unsigned tries = 0; !silent.empty(); ++tries) {
      const auto has_come = [&](std::uint32_t other) { return receive(other, received[other]); };
      silent.erase(std::remove_if(silent.begin(), silent.end(), has_come), silent.end());
      if (tries % tries_per_look == tries_per_look - 1) look_at_wait(clock.seconds(), silent);
    }
    mpi::wait_all(sends.begin(), sends.end());
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

  /// Returns false when no message is there.
  bool receive(std::uint32_t from, Message& message) const {
    const auto status = world_.iprobe(static_cast<int>(from), tag);
    if (!status) return false;
    message.resize(static_cast<std::size_t>(*status->count<char>()));
    world_.recv(static_cast<int>(from), tag, message.data(), static_cast<int>(message.size()));
    return true;
  }

  mpi::environment environment_{mpi::threading::funneled};
  mpi::communicator world_;
  std::vector<MPI_Win> windows_;
};

}  // namespace
}  // namespace t3vp

extern "C" t3vp::Transport* t3vp_open_transport() { return new t3vp::MpiTransport; }
