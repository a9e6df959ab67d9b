// Identity and reset of a GPU.
#pragma once

#include <systemc>

#include "registers/system.h"

namespace t3vp::processor {

class System : public registers::System {
 public:
  sc_core::sc_out<bool> reset_pulse{"reset_pulse"};  ///< to the reset_line of every block of the GPU

  System(const sc_core::sc_module_name& name, std::uint32_t gpu_number, std::uint32_t gpu_count,
         std::uint64_t memory_size, std::uint32_t reset_width_ns = 1);

 private:
  void drive();

  const std::uint32_t reset_width_ns_;
  sc_core::sc_event reset_requested_;
};

}  // namespace t3vp::processor
