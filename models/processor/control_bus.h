// The control path of a GPU: routes accesses to register blocks, local memory and other GPUs by the node's address map.
//
// Register blocks see the offset in their block; memory and the fabric see the whole address. An access that no target
// serves completes with ADDRESS_ERROR and is logged.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <string>
#include <systemc>
#include <tlm>

#include "protocol/address_map.h"
#include "protocol/error_report.h"
#include "protocol/units.h"
#include "registers/register_observer.h"

namespace t3vp::processor {

class ControlBus : public sc_core::sc_module {
 public:
  using Initiator = tlm_utils::simple_initiator_socket_optional<ControlBus, 64>;

  /// The command processor's accesses; one to a register or to another GPU takes `register_access`.
  tlm_utils::simple_target_socket_optional<ControlBus, 64> processor{"processor"};
  sc_core::sc_vector<Initiator> blocks{"blocks", address_map::block_count};
  Initiator memory{"memory"};
  Initiator remote{"remote"};  ///< to the fabric, always at the current time
  ErrorPort errors{"errors"};

  ControlBus(const sc_core::sc_module_name& name, std::uint16_t gpu, Picoseconds register_access);
  ~ControlBus() override;

  /// The observer of accesses that address no register block, and of accesses to other GPUs' registers; blocks report
  /// their own. Null: none.
  void observe(RegisterObserver* observer) { observer_ = observer; }

  Initiator& block(address_map::Block block) { return blocks[static_cast<std::size_t>(block)]; }

 private:
  struct Route {
    Initiator* socket = nullptr;
    std::uint64_t address = 0;  ///< as the target sees it
    bool takes_time = false;
  };

  Route route(std::uint64_t address);
  void from_processor(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay);
  void forward(const Route& route, tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay);
  void refuse(tlm::tlm_generic_payload& transaction, const std::string& why);
  void tell(const tlm::tlm_generic_payload& transaction, const sc_core::sc_time& delay) const;
  unsigned debug(const Route& route, tlm::tlm_generic_payload& transaction);
  unsigned debug_from_processor(tlm::tlm_generic_payload& transaction);

  std::uint16_t gpu_;
  sc_core::sc_time register_access_;
  RegisterObserver* observer_ = nullptr;
};

}  // namespace t3vp::processor
