#include "processor/system.h"

#include "processor/processor_rules.h"
#include "protocol/checked_parameters.h"

namespace t3vp::processor {

System::System(const sc_core::sc_module_name& name, std::uint32_t gpu_number, std::uint32_t gpu_count,
               std::uint64_t memory_size, std::uint32_t reset_width_ns)
    : registers::System(checked(name, with_reset(reset_width_ns))), reset_width_ns_(reset_width_ns) {
  SC_HAS_PROCESS(System);
  const auto identify = [this, gpu_number, gpu_count, memory_size] {
    gpu.set(gpu_number);
    gpus.set(gpu_count);
    memory_bytes.set(memory_size);
    reset_ns.set(reset_width_ns_);
  };
  identify();
  on_reset(identify);
  reset_register.on_write([this] {
    if (reset_register.key() == Reset::Key::all) reset_requested_.notify(sc_core::SC_ZERO_TIME);
  });
  SC_METHOD(drive);
  sensitive << reset_requested_;
  dont_initialize();
}

/// The blocks take the rising edge.
void System::drive() {
  const bool rises = !reset_pulse.read();
  reset_pulse.write(rises);
  if (rises) next_trigger(reset_width_ns_, sc_core::SC_NS);
}

}  // namespace t3vp::processor
