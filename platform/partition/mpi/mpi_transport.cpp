// The transport by Boost.MPI. It is a library of its own, which t3vp opens when mpirun has started it.
#include <boost/mpi.hpp>
#include <boost/serialization/vector.hpp>
#include <cstdlib>
#include <functional>

#include "partition/transport.h"

namespace t3vp {
namespace {

namespace mpi = boost::mpi;

class MpiTransport : public Transport {
 public:
  std::uint32_t rank() const override { return static_cast<std::uint32_t>(world_.rank()); }
  std::uint32_t ranks() const override { return static_cast<std::uint32_t>(world_.size()); }

  std::vector<Message> exchange(const std::vector<std::uint32_t>& partners,
                                const std::vector<Message>& messages) override {
    std::vector<mpi::request> sends;
    for (std::size_t i = 0; i < partners.size(); ++i)
      sends.push_back(
          world_.isend(static_cast<int>(partners[i]), tag, messages[i].data(), static_cast<int>(messages[i].size())));
    std::vector<Message> received;
    for (const std::uint32_t partner : partners) {
      const mpi::status status = world_.probe(static_cast<int>(partner), tag);
      received.emplace_back(static_cast<std::size_t>(*status.count<char>()));
      world_.recv(static_cast<int>(partner), tag, received.back().data(), static_cast<int>(received.back().size()));
    }
    mpi::wait_all(sends.begin(), sends.end());
    return received;
  }

  std::vector<Message> all_gather(const Message& mine) override {
    std::vector<Message> all;
    mpi::all_gather(world_, mine, all);
    return all;
  }

  Least least(const Least& mine) override {
    Least all{};
    mpi::all_reduce(world_, mine.data(), static_cast<int>(mine.size()), all.data(), mpi::minimum<std::uint64_t>());
    return all;
  }

  void abort(int exit_code) override {
    world_.abort(exit_code);
    std::_Exit(exit_code);
  }

 private:
  static constexpr int tag = 0;
  mpi::environment environment_{mpi::threading::funneled};
  mpi::communicator world_;
};

}  // namespace
}  // namespace t3vp

extern "C" t3vp::Transport* t3vp_open_transport() { return new t3vp::MpiTransport; }
