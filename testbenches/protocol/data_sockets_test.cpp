#include "protocol/data_sockets.h"

#include <catch2/catch.hpp>

#include "protocol/address_map.h"
#include "protocol/transaction_pool.h"

using namespace t3vp;

namespace {

struct Initiator : sc_core::sc_module {
  DataInitiatorSocket<Initiator> socket{"socket"};
  TransactionPool pool;
  unsigned responses = 0;
  Picoseconds response_delay = 0;

  explicit Initiator(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_nb_transport_bw(this, &Initiator::response, 0);
  }
  tlm::tlm_sync_enum response(int, tlm::tlm_generic_payload&, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    REQUIRE(phase == tlm::BEGIN_RESP);
    ++responses;
    response_delay = from_sc_time(delay);
    return tlm::TLM_COMPLETED;
  }
};

struct Target : sc_core::sc_module {
  DataTargetSocket<Target> socket{"socket"};
  tlm::tlm_sync_enum answer = tlm::TLM_ACCEPTED;
  Picoseconds request_delay = 0, latency = 0;
  tlm::tlm_generic_payload* request_seen = nullptr;

  explicit Target(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_nb_transport_fw(this, &Target::request, 0);
  }
  tlm::tlm_sync_enum request(int, tlm::tlm_generic_payload& transaction, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay) {
    REQUIRE(phase == tlm::BEGIN_REQ);
    request_delay = from_sc_time(delay);
    request_seen = &transaction;
    transaction.set_response_status(tlm::TLM_OK_RESPONSE);
    delay += to_sc_time(latency);
    return answer;
  }
};

struct Bench {
  Initiator initiator{"initiator"};
  Target target{"target"};
  Bench() {
    initiator.socket.bind(target.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
};

}  // namespace

TEST_CASE("a request arrives with its delay and is answered by a call with the answer's delay") {
  Bench bench;
  Transaction& transaction = bench.initiator.pool.make(Operation::load, 64, {1, 32, 0});
  Picoseconds delay = 1'234'567;
  REQUIRE(send_request(bench.initiator.socket, transaction, delay));
  REQUIRE(bench.target.request_delay == 1'234'567);
  REQUIRE(bench.target.request_seen == &transaction);
  REQUIRE(bench.initiator.responses == 0);
  send_response(bench.target.socket, transaction, 7'000'000'000'000);
  REQUIRE(bench.initiator.responses == 1);
  REQUIRE(bench.initiator.response_delay == 7'000'000'000'000);
  transaction.release();
}

TEST_CASE("a request that is completed at once tells when") {
  Bench bench;
  bench.target.answer = tlm::TLM_COMPLETED;
  bench.target.latency = 500;
  Transaction& transaction = bench.initiator.pool.make(Operation::store, 64, {1, 32, 0});
  Picoseconds delay = 100;
  REQUIRE(!send_request(bench.initiator.socket, transaction, delay));
  REQUIRE(delay == 600);
  REQUIRE(bench.initiator.responses == 0);
  transaction.release();
}

TEST_CASE("times are integer picoseconds") {
  REQUIRE(from_ns(114.3) == 114'300);
  REQUIRE(to_ns(114'300) == 114.3);
  REQUIRE(from_sc_time(to_sc_time(never - 1)) == never - 1);
  REQUIRE(to_sc_time(1'000) == sc_core::sc_time(1, sc_core::SC_NS));
  REQUIRE(transfer_time(75, 75) == 1'000);
  REQUIRE(transfer_time(1, 3) == 334);  // rounded up, never faster than the bandwidth
  REQUIRE(transfer_time(0, 75) == 0);
  REQUIRE(cycle_time(1, 1.4) == 714);
  REQUIRE(cycle_time(7, 1.4) == 5'000);
}

TEST_CASE("addresses name a GPU and a place in it") {
  using namespace address_map;
  constexpr std::uint64_t in_memory = on_gpu(5, 0x1234), in_registers = on_gpu(5, block_base(Block::signals) + 8);
  REQUIRE((gpu_of(in_memory) == 5 && local_of(in_memory) == 0x1234 && is_hbm(in_memory)));
  REQUIRE((gpu_of(in_registers) == 5 && !is_hbm(in_registers)));
  REQUIRE(is_hbm(on_gpu(5, hbm_limit - 1)));
  REQUIRE(!is_hbm(on_gpu(5, hbm_limit)));
  REQUIRE(gpu_of(on_gpu(5, local_mask)) == 5);
  REQUIRE(block_base(Block::signals) == (std::uint64_t{0xF} << 40) + 0x30000);
}

TEST_CASE("every traffic class has a name") {
  REQUIRE(std::string(name_of(TrafficClass::gemm_read)) == "gemm_read");
  REQUIRE(std::string(name_of(TrafficClass::ag_write)) == "ag_write");
  REQUIRE(std::string(name_of(TrafficClass::control)) == "control");
}
