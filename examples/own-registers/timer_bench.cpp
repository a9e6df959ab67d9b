// A timer whose registers are described in timer.registers.json, driven through its socket.
#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <cstdio>
#include <systemc>

#include "registers/timer.h"
#include "t3/registers/timer.h"

namespace {

using Registers = t3vp::registers::Timer;

class Timer : public sc_core::sc_module {
 public:
  Registers registers{"registers"};

  explicit Timer(const sc_core::sc_module_name& name) : sc_module(name) {
    registers.control.on_write([this] {
      if (!registers.control.run()) return;
      std::uint32_t expired = 0;
      for (std::size_t i = 0; i < registers.ticks.size(); ++i)
        if (registers.ticks[i].value() != 0) expired |= 1u << i;
      registers.interrupt.expired.set(expired);
    });
  }
};

class Host : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Host, 64> socket{"socket"};

  explicit Host(const sc_core::sc_module_name& name) : sc_module(name) {}

  /// Returns whether the block took the access. T has the register's width.
  template <typename T>
  bool access(tlm::tlm_command command, std::uint64_t offset, T& value) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(offset);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    payload.set_data_length(sizeof value);
    payload.set_streaming_width(sizeof value);
    sc_core::sc_time delay;
    socket->b_transport(payload, delay);
    return payload.is_response_ok();
  }
};

}  // namespace

static_assert(T3_TIMER_CONTROL_OFFSET == Registers::control_offset, "firmware has the same constants in C");

int sc_main(int, char**) {
  Timer timer("timer");
  Host host("host");
  host.socket.bind(timer.registers.socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);

  std::uint32_t word = 0;
  bool right = host.access(tlm::TLM_READ_COMMAND, Registers::identity_offset, word) && word == 0x54494d45;
  right &= !host.access(tlm::TLM_WRITE_COMMAND, Registers::identity_offset, word);  // it is read-only
  std::uint64_t ticks = 100;
  right &= host.access(tlm::TLM_WRITE_COMMAND, Registers::ticks_offset + 2 * Registers::ticks_stride, ticks);
  word = 1;
  right &= host.access(tlm::TLM_WRITE_COMMAND, Registers::control_offset, word);
  right &= host.access(tlm::TLM_READ_COMMAND, Registers::interrupt_offset, word) && word == 1u << 2;
  std::printf("%s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
