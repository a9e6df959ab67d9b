// Gathers the level-sensitive lines of a GPU's blocks for its command processor.
#pragma once

#include <systemc>

#include "protocol/address_map.h"
#include "registers/interrupt_controller.h"

namespace t3vp::processor {

class InterruptController : public registers::InterruptController {
 public:
  static constexpr std::size_t line_count = address_map::line_count;

  sc_core::sc_vector<sc_core::sc_in<bool>> lines{"lines", line_count};
  sc_core::sc_out<bool> interrupt{"interrupt"};

  explicit InterruptController(const sc_core::sc_module_name& name);

 private:
  std::uint32_t raised() const;
  void drive() { interrupt.write((raised() & enable.value()) != 0); }

  sc_core::sc_event enable_changed_;
};

}  // namespace t3vp::processor
