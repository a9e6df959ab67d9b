// A block that breaks the protocol in a run with check=protocol.
#include <catch2/catch.hpp>

#include "driver_errors/gpu_pair.h"
#include "protocol/transaction_pool.h"

namespace t3vp::test::protocol_check_test {

using Catch::Contains;

TEST_CASE("violations of the protocol are one line with the sockets and the rule and the access") {
  GpuPair pair(t3_run_fused, {"check=protocol"});
  TransactionPool pool;
  sc_core::sc_spawn([&] {
    sc_core::wait(1, sc_core::SC_US);
    for (int i = 0; i < 3; ++i) {
      Transaction& store = pool.make(Operation::store, address_map::on_gpu(1, 0x100), {1, 64, 0});
      store.set_streaming_width(8);
      pair.gpu(1).fabric.memory.send(store, 0);
    }
  });
  pair.run();
  const std::string line = pair.broken_rules();
  CHECK_THAT(line, Catch::StartsWith("3 violations of the protocol, the first: node.gpu1.fabric.memory -> "
                                     "node.gpu1.cache.peers: a streaming width below the data length"));
  CHECK_THAT(line, Contains("store of 64 bytes at 0x100000000100 at 1000.000 ns"));
  CHECK(line.find('\n') == std::string::npos);
  REQUIRE(pair.logged(1).size() == 6);  // each is refused, and its answer belongs to nothing that the port sent
  pair.require_right_result();
}

TEST_CASE("a run that keeps the protocol has no line about it") {
  GpuPair pair(t3_run_fused, {"check=all"});
  pair.run();
  REQUIRE(pair.broken_rules().empty());
  pair.require_right_result();
}

}  // namespace t3vp::test::protocol_check_test
