// The transport by Boost.MPI. It is a library of its own, which t3vp opens when mpirun has started it.
#include <algorithm>
#include <boost/mpi.hpp>
#include <boost/serialization/vector.hpp>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <tuple>

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

  /// OpenMPI 4.1's minimum of unsigned values of 64 bits takes them as values with a sign.
  Least least(const Least& mine) override {
    static constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    std::array<std::int64_t, std::tuple_size_v<Least>> values{}, all{};
    std::transform(mine.begin(), mine.end(), values.begin(),
                   [](std::uint64_t value) { return static_cast<std::int64_t>(std::min(value, most)); });
    mpi::all_reduce(world_, values.data(), static_cast<int>(values.size()), all.data(), mpi::minimum<std::int64_t>());
    Least found{};
    std::transform(all.begin(), all.end(), found.begin(), [](std::int64_t value) {
      const auto as_given = static_cast<std::uint64_t>(value);
      return as_given == most ? ~std::uint64_t{0} : as_given;
    });
    return found;
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
