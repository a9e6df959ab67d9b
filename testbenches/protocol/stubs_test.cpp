#include "protocol/stubs.h"

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "socket_bench.h"

namespace t3vp::test::stubs_test {

namespace {

struct Open : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Open, 64> registers{"registers"};
  tlm_utils::simple_target_socket<Open, 64> control{"control"};

  explicit Open(const sc_core::sc_module_name& name) : sc_module(name) {
    control.register_b_transport(this, &Open::transport);
  }
  void transport(tlm::tlm_generic_payload&, sc_core::sc_time&) {}
};

}  // namespace

TEST_CASE("a bench elaborates with stubs on the sockets that it leaves open, and nothing is behind them") {
  SocketInitiator sender("sender");
  SocketTarget receiver("receiver");
  Open open("open");
  Stubs stubs;
  stubs.stub(sender.socket);
  stubs.stub(receiver.socket);
  stubs.stub(open.registers);
  stubs.stub(open.control);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);

  Transaction& store = sender.pool.make(Operation::store, 0x40, {1, 32, 0});
  sender.socket.send(store, 500);
  REQUIRE(sender.responses == 1);
  REQUIRE(sender.response_delay == 500);
  REQUIRE(store.get_response_status() == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  REQUIRE_FALSE(sender.socket.reaches(0x40));

  std::uint32_t word = 0;
  tlm::tlm_generic_payload read;
  read.set_command(tlm::TLM_READ_COMMAND);
  read.set_data_ptr(reinterpret_cast<unsigned char*>(&word));
  read.set_data_length(sizeof word);
  read.set_streaming_width(sizeof word);
  sc_core::sc_time delay;
  open.registers->b_transport(read, delay);
  REQUIRE(read.get_response_status() == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  REQUIRE(open.registers->transport_dbg(read) == 0);

  sc_core::sc_start();
  REQUIRE(receiver.seen.empty());
}

}  // namespace t3vp::test::stubs_test
