#include "protocol/stubs.h"

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

namespace t3vp {
namespace {

struct DataEnd : sc_core::sc_module {
  DataTargetSocket<DataEnd> socket{"socket", this, &DataEnd::request};

  explicit DataEnd(const sc_core::sc_module_name& name) : sc_module(name) { socket.expect({false, true, true}); }
  void request(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
    transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    socket.respond(transaction, delay);
  }
};

struct ControlEnd : sc_core::sc_module {
  tlm_utils::simple_target_socket<ControlEnd, 64> socket{"socket"};

  explicit ControlEnd(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_b_transport(this, &ControlEnd::transport);
    socket.register_transport_dbg(this, &ControlEnd::debug);
  }
  void transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time&) {
    transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
  unsigned debug(tlm::tlm_generic_payload& transaction) {
    transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return 0;
  }
};

struct DataSilence : sc_core::sc_module {
  DataInitiatorSocket<DataSilence> socket{"socket", this, &DataSilence::response};

  explicit DataSilence(const sc_core::sc_module_name& name) : sc_module(name) {}
  void response(int, tlm::tlm_generic_payload&, Picoseconds) {}
};

struct ControlSilence : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<ControlSilence, 64> socket{"socket"};

  explicit ControlSilence(const sc_core::sc_module_name& name) : sc_module(name) {}
};

template <typename End>
std::unique_ptr<End> make_end() {
  return std::make_unique<End>(sc_core::sc_gen_unique_name("stub"));
}

}  // namespace

void Stubs::stub(DataInitiatorBase& socket) {
  auto end = make_end<DataEnd>();
  end->socket.bind(socket);
  ends_.push_back(std::move(end));
}

void Stubs::stub(ControlInitiator& socket) {
  auto end = make_end<ControlEnd>();
  end->socket.bind(socket);
  ends_.push_back(std::move(end));
}

void Stubs::stub(DataTargetBase& socket) {
  auto end = make_end<DataSilence>();
  end->socket.bind(socket);
  ends_.push_back(std::move(end));
}

void Stubs::stub(ControlTarget& socket) {
  auto end = make_end<ControlSilence>();
  end->socket.bind(socket);
  ends_.push_back(std::move(end));
}

}  // namespace t3vp
