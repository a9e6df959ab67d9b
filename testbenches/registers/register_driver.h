// Drives a register block through its socket and keeps what the block reports. A checker in between sees to it that the
// block keeps the rules of the base protocol.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "protocol/socket_probes.h"
#include "registers/register_block.h"

namespace t3vp {

class RegisterDriver : public sc_core::sc_module, public ErrorReport {
 public:
  tlm_utils::simple_initiator_socket<RegisterDriver, 64> socket{"socket"};
  std::vector<ErrorRecord> reported;
  std::string reporter;
  sc_core::sc_time delay;  ///< the initiator's local time

  explicit RegisterDriver(const sc_core::sc_module_name& name) : sc_module(name) {}

  void drive(RegisterBlock& block) {
    probes_.join(socket, block.socket);
    block.errors.bind(*this);
  }

  void report(const char* block, const ErrorRecord& record) override {
    reporter = block;
    reported.push_back(record);
  }

  struct Answer {
    tlm::tlm_response_status status;
    std::uint64_t value;
  };

  Answer read(std::uint64_t address, unsigned bytes) {
    prepare(tlm::TLM_READ_COMMAND, address, bytes, 0);
    return send();
  }
  tlm::tlm_response_status write(std::uint64_t address, unsigned bytes, std::uint64_t value) {
    prepare(tlm::TLM_WRITE_COMMAND, address, bytes, value);
    return send().status;
  }
  /// The payload of the next send(), for the odd access.
  tlm::tlm_generic_payload& prepare(tlm::tlm_command command, std::uint64_t address, unsigned bytes,
                                    std::uint64_t value) {
    buffer_.fill(0);
    std::memcpy(buffer_.data(), &value, sizeof value);
    payload_.set_command(command);
    payload_.set_address(address);
    payload_.set_data_ptr(buffer_.data());
    payload_.set_data_length(bytes);
    payload_.set_streaming_width(bytes);
    payload_.set_byte_enable_ptr(nullptr);
    payload_.set_dmi_allowed(true);
    payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    return payload_;
  }
  Answer send() {
    socket->b_transport(payload_, delay);
    require_kept_rules();
    return {payload_.get_response_status(), data()};
  }
  bool dmi_allowed() const { return payload_.is_dmi_allowed(); }

  /// Number of bytes read and their value.
  std::pair<unsigned, std::uint64_t> debug_read(std::uint64_t address, unsigned bytes) {
    const unsigned done = socket->transport_dbg(prepare(tlm::TLM_READ_COMMAND, address, bytes, 0));
    require_kept_rules();
    return {done, data()};
  }
  unsigned debug_write(std::uint64_t address, unsigned bytes, std::uint64_t value) {
    const unsigned done = socket->transport_dbg(prepare(tlm::TLM_WRITE_COMMAND, address, bytes, value));
    require_kept_rules();
    return done;
  }

  /// The code of the only report since the last call, or Status::ok when there was none.
  Status take_report() {
    const Status code = reported.size() == 1 ? static_cast<Status>(reported.front().code) : Status::ok;
    reported.clear();
    return code;
  }

 private:
  std::uint64_t data() const {
    std::uint64_t value = 0;
    std::memcpy(&value, buffer_.data(), sizeof value);
    return value;
  }
  /// The test's own accesses may be odd, how the block takes them may not.
  void require_kept_rules() const {
    for (const Violation& violation : probes_.violations().list())
      if (violation.by == Violation::By::target) throw std::logic_error(violation.text());
  }
  SocketProbes probes_{true};
  tlm::tlm_generic_payload payload_;
  std::array<unsigned char, 64> buffer_{};
};

}  // namespace t3vp
