#include "processor/interrupt_controller.h"

namespace t3vp::processor {

InterruptController::InterruptController(const sc_core::sc_module_name& name) : registers::InterruptController(name) {
  SC_HAS_PROCESS(InterruptController);
  pending.on_refresh([this] { pending.set(raised()); });
  enable.on_write([this] { enable_changed_.notify(sc_core::SC_ZERO_TIME); });
  on_reset([this] { enable_changed_.notify(sc_core::SC_ZERO_TIME); });

  SC_METHOD(drive);
  sensitive << enable_changed_;
  for (sc_core::sc_in<bool>& line : lines) sensitive << line;
}

std::uint32_t InterruptController::raised() const {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) bits |= lines[i].read() ? 1u << i : 0u;
  return bits;
}

}  // namespace t3vp::processor
