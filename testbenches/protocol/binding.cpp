// Compiled by a test only. A plain memory would overwrite where an update has to add, so it must not fit a data socket.
#include <tlm_utils/simple_target_socket.h>

#include "protocol/data_sockets.h"

struct Initiator : sc_core::sc_module {
  t3vp::DataInitiatorSocket<Initiator> socket{"socket", this, &Initiator::response};
  void response(int, tlm::tlm_generic_payload&, t3vp::Picoseconds) {}
};

#ifdef PLAIN_MEMORY
struct Memory : sc_core::sc_module {
  tlm_utils::simple_target_socket<Memory, 256> socket{"socket"};
};
#else
struct Memory : sc_core::sc_module {
  t3vp::DataTargetSocket<Memory> socket{"socket", this, &Memory::request};
  void request(int, tlm::tlm_generic_payload&, t3vp::Picoseconds) {}
};
#endif

void bind(Initiator& initiator, Memory& memory) { initiator.socket.bind(memory.socket); }
