// Initiators of other people's: blocking, payload without a memory manager, with or without our extension.
#pragma once

#include <vector>

#include "data_path/initiator.h"

namespace t3vp {

struct ForeignAnswer {
  bool returned = false;
  bool as_lent = false;  ///< the payload came back without a memory manager and without references
  tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
  std::vector<unsigned char> data;
  Picoseconds at = 0;

  bool ok() const { return returned && as_lent && status == tlm::TLM_OK_RESPONSE; }
};

/// One b_transport in the calling thread process.
template <typename Socket>
void access_blocking(Socket& socket, tlm::tlm_command command, std::uint64_t address, const DataExtension* extension,
                     ForeignAnswer& answer) {
  tlm::tlm_generic_payload payload;
  DataExtension own;
  if (extension != nullptr) {
    own.copy_from(*extension);
    payload.set_extension(&own);
  }
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(answer.data.empty() ? nullptr : answer.data.data());
  payload.set_data_length(static_cast<unsigned>(answer.data.size()));
  payload.set_streaming_width(payload.get_data_length());
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  sc_core::sc_time delay;
  socket->b_transport(payload, delay);
  answer.as_lent = !payload.has_mm() && payload.get_ref_count() == 0;
  sc_core::wait(delay);
  answer.returned = true;
  answer.status = payload.get_response_status();
  answer.at = now();
  if (extension != nullptr) payload.clear_extension(&own);
}

/// One b_transport in a process of its own; runs the simulation until nothing more happens.
template <typename Socket>
ForeignAnswer blocking_access(Socket& socket, tlm::tlm_command command, std::uint64_t address,
                              std::vector<unsigned char> data, const DataExtension* extension = nullptr) {
  ForeignAnswer answer;
  answer.data = std::move(data);
  sc_core::sc_spawn([&] { access_blocking(socket, command, address, extension, answer); });
  sc_core::sc_start();
  return answer;
}

/// Three processes make the accesses by b_transport, each of them one after the other, while `meanwhile` sends what it
/// likes by nb_transport. Runs until nothing more happens. Three answers to each access.
template <typename Socket, typename Meanwhile>
std::vector<ForeignAnswer> blocking_accesses(Socket& socket, const std::vector<DataAccess>& accesses,
                                             Meanwhile meanwhile) {
  constexpr std::size_t processes = 3;
  std::vector<ForeignAnswer> answers(processes * accesses.size());
  for (std::size_t p = 0; p < processes; ++p)
    sc_core::sc_spawn([&, p] {
      for (std::size_t i = 0; i < accesses.size(); ++i) {
        const DataAccess& access = accesses[i];
        ForeignAnswer& answer = answers[p * accesses.size() + i];
        DataExtension extension;
        extension.operation = access.operation;
        extension.shape = access.shape;
        extension.element = access.element;
        extension.stream = access.stream;
        extension.traffic = access.traffic;
        extension.producer = access.producer;
        extension.threshold = access.threshold;
        extension.ring = access.ring;
        answer.data = access.data;
        answer.data.resize(access.shape.bytes());
        const bool reads = access.operation == Operation::load || access.operation == Operation::wait;
        access_blocking(socket, reads ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND, access.address, &extension,
                        answer);
      }
    });
  meanwhile();
  sc_core::sc_start();
  return answers;
}

inline bool all_ok(const std::vector<ForeignAnswer>& answers) {
  return std::all_of(answers.begin(), answers.end(), [](const ForeignAnswer& answer) { return answer.ok(); });
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
