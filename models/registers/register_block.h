// Base of the register blocks that generate.py makes from *.registers.json: a TLM-2.0 target which enforces the
// description on every access, so that a block only writes what its registers mean.
//
// An access has exactly the register's width and alignment, or is half of a 64-bit register. Halves come in pairs, the
// low one first: a write of the low half is held until that of the high half commits both as one write; a read of the
// low half is the read of the register, and holds the high half for the next read. A block holds one half of each kind.
//
// What a guest does wrong leaves the register unchanged, is answered and is reported on `errors`:
//
//   no register there                                  ADDRESS_ERROR      Status::bad_address
//   other width, misaligned, streaming                 BURST_ERROR        Status::bad_access
//   a high half without its low half                   BURST_ERROR        Status::bad_access
//   byte enables                                       BYTE_ENABLE_ERROR  Status::bad_access
//   RO written, WO read, written while locked          COMMAND_ERROR      Status::access_denied
//   no member of an enumeration, reserved bits not 0   GENERIC_ERROR      Status::bad_value
//   refused by the block's callback                    GENERIC_ERROR      what the block says
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <functional>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "protocol/error_report.h"
#include "registers/register.h"
#include "registers/register_description.h"
#include "registers/register_observer.h"
#include "registers/status.h"

namespace t3vp {

class RegisterBlock : public sc_core::sc_module {
 public:
  /// Addresses are offsets in the block. DMI is refused; debug accesses have no side effects and take no time.
  tlm_utils::simple_target_socket<RegisterBlock, 64> socket{"socket"};
  ErrorPort errors{"errors"};
  /// A rising edge resets.
  sc_core::sc_port<sc_core::sc_signal_in_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> reset_line{"reset_line"};

  RegisterBlock(const sc_core::sc_module_name& name, const BlockDescription& description);
  ~RegisterBlock() override;

  const BlockDescription& description() const { return description_; }

  /// Sets the block's address in the node's address space: its reports have whole addresses.
  void locate(std::uint64_t base) { base_ = base; }

  /// Sets the observer of every access; null means none. The observer outlives the simulation.
  void observe(RegisterObserver* observer) { observer_ = observer; }
  bool is_observed() const { return observer_ != nullptr; }
  /// Reports a write to the observer. For a block that takes writes by sockets of its own as well, while it is
  /// observed.
  void tell_write(RegisterAccess access) const;

  /// All registers to their reset values, then the callback of on_reset.
  void reset();
  void on_reset(std::function<void()> callback) { on_reset_ = std::move(callback); }

  /// While `busy` says true, registers with "lock": "busy" cannot be written. `reason` says what goes on then, "a
  /// kernel runs".
  void lock_while(const char* reason, std::function<bool()> busy) {
    lock_reason_ = reason;
    locked_ = std::move(busy);
  }

  /// Logs an error under the name of the block.
  void report(Status code, std::uint64_t address, const std::string& text);
  /// For on_write and on_read callbacks. The access fails, and a write leaves the register unchanged. The log shows the
  /// register's address, its name, the value that was written and the rule, "a multiple of 128 expected".
  void refuse(Status code, const std::string& rule);

 protected:
  RegisterState& state(std::size_t number) { return states_[number]; }

 private:
  struct Slot {
    std::uint16_t number;  ///< of the register in the description
    std::uint16_t element;
  };
  static constexpr std::uint16_t no_register = 0xFFFF;
  /// Half of a 64-bit register, until the other half is accessed.
  struct Half {
    const std::uint64_t* of = nullptr;  ///< the register's value
    std::uint32_t bits = 0;
  };
  /// The access that is being served.
  struct Access {
    const RegisterState* state = nullptr;
    std::size_t element = 0;
    bool writes = false;
    std::uint64_t value = 0;  ///< that is written
    bool refused = false;
  };

  void end_of_elaboration() override;
  void lay_out();
  const Slot* slot_at(std::uint64_t address) const;

  void b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& transaction);
  tlm::tlm_response_status access(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay);
  void tell(const tlm::tlm_generic_payload& transaction, const sc_core::sc_time& delay) const;
  tlm::tlm_response_status read(RegisterState& state, std::size_t element, std::uint64_t& value);
  tlm::tlm_response_status write(RegisterState& state, std::size_t element, std::uint64_t written);
  tlm::tlm_response_status read_half(RegisterState& state, std::size_t element, bool high, std::uint64_t& value);
  tlm::tlm_response_status write_half(RegisterState& state, std::size_t element, bool high, std::uint32_t written);
  tlm::tlm_response_status refuse_read(const RegisterState& state, std::size_t element);
  tlm::tlm_response_status refuse_write(const RegisterState& state, std::size_t element, std::uint64_t written);
  bool debug_read(std::uint64_t address, unsigned char& byte);
  unsigned debug_write(std::uint64_t address, const unsigned char* data, unsigned length);

  tlm::tlm_response_status no_register_at(std::uint64_t address);
  tlm::tlm_response_status bad_shape(const RegisterState& state, std::size_t element,
                                     const tlm::tlm_generic_payload& transaction);
  tlm::tlm_response_status half_without_low(const RegisterState& state, std::size_t element, const char* how);
  tlm::tlm_response_status denied(const RegisterState& state, std::size_t element, const std::string& why);
  tlm::tlm_response_status bad_value(const RegisterState& state, std::size_t element, std::uint64_t value);
  std::uint64_t address_of(const RegisterDescription& d, std::size_t element) const;

  const BlockDescription& description_;
  std::vector<Slot> slots_;  ///< one per 32-bit word of the block
  std::vector<std::uint64_t> values_;
  std::vector<RegisterState> states_;
  std::function<void()> on_reset_;
  std::function<bool()> locked_;
  const char* lock_reason_ = "";
  std::uint64_t base_ = 0;
  Access access_;
  Half written_low_, read_high_;
  RegisterObserver* observer_ = nullptr;
  std::uint64_t before_ = 0;  ///< of the register that is accessed, for the observer alone
};

}  // namespace t3vp
