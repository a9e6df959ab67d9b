// An initiator of other people's: blocking, payload without a memory manager, with or without our extension.
#pragma once

#include <vector>

#include "data_path/initiator.h"

namespace t3vp {

struct ForeignAnswer {
  tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
  std::vector<unsigned char> data;
  Picoseconds at = 0;
};

/// One b_transport in a process of its own; runs the simulation until nothing more happens.
template <typename Socket>
ForeignAnswer blocking_access(Socket& socket, tlm::tlm_command command, std::uint64_t address,
                              std::vector<unsigned char> data, const DataExtension* extension = nullptr) {
  ForeignAnswer answer;
  answer.data = std::move(data);
  sc_core::sc_spawn([&] {
    tlm::tlm_generic_payload payload;
    DataExtension own;
    if (extension != nullptr) {
      own.copy_from(*extension);
      payload.set_extension(&own);
    }
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(answer.data.data());
    payload.set_data_length(static_cast<unsigned>(answer.data.size()));
    payload.set_streaming_width(payload.get_data_length());
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    sc_core::sc_time delay;
    socket->b_transport(payload, delay);
    sc_core::wait(delay);
    answer.status = payload.get_response_status();
    answer.at = now();
    if (extension != nullptr) payload.clear_extension(&own);
  });
  sc_core::sc_start();
  return answer;
}

/// A payload with a memory manager that keeps nothing, for nb_transport without our extension.
class BarePayload : public tlm::tlm_mm_interface {
 public:
  BarePayload(tlm::tlm_command command, std::uint64_t address, unsigned bytes) : buffer_(bytes), payload_(this) {
    payload_.acquire();
    payload_.set_command(command);
    payload_.set_address(address);
    payload_.set_data_ptr(buffer_.data());
    payload_.set_data_length(bytes);
    payload_.set_streaming_width(bytes);
    payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  }
  tlm::tlm_generic_payload& payload() { return payload_; }
  void free(tlm::tlm_generic_payload*) override {}

 private:
  std::vector<unsigned char> buffer_;
  tlm::tlm_generic_payload payload_;
};

}  // namespace t3vp
