#include "protocol/request_check.h"

#include "protocol/address_map.h"
#include "protocol/error_report.h"

namespace t3vp {
namespace {

constexpr std::uint32_t argument = malformed_argument, address = malformed_address, access = malformed_access;

constexpr Malformed no_extension{tlm::TLM_GENERIC_ERROR_RESPONSE, argument, "no data extension"};
constexpr Malformed bad_operation{
    tlm::TLM_COMMAND_ERROR_RESPONSE, argument,
    "an operation that there is not: load, store, update, wait, fetch-and-add, request or "
    "answer expected"};
constexpr Malformed bad_command{tlm::TLM_COMMAND_ERROR_RESPONSE, argument,
                                "command and operation disagree: read for load, wait and fetch-and-add, write for "
                                "the others"};
constexpr Malformed bad_size{tlm::TLM_BURST_ERROR_RESPONSE, access,
                             "a fetch-and-add of other than one integer of 4 or 8 bytes"};
constexpr Malformed not_asked{tlm::TLM_GENERIC_ERROR_RESPONSE, argument,
                              "a request or answer that is about no load and no fetch-and-add"};
constexpr Malformed bad_element{tlm::TLM_GENERIC_ERROR_RESPONSE, argument,
                                "an element type that there is not: fp16, bf16 or fp32 expected"};
constexpr Malformed bad_traffic{tlm::TLM_GENERIC_ERROR_RESPONSE, argument, "a traffic class that there is not"};
constexpr Malformed bad_stream{tlm::TLM_GENERIC_ERROR_RESPONSE, argument,
                               "a stream that there is not: compute or communication expected"};
constexpr Malformed byte_enables{tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE, access,
                                 "byte enables where none are taken, or not one for each byte of a store"};
constexpr Malformed streaming{tlm::TLM_BURST_ERROR_RESPONSE, access,
                              "a streaming width below the data length: the data path does not stream"};
constexpr Malformed no_rows{tlm::TLM_GENERIC_ERROR_RESPONSE, argument, "a shape of no rows: 1 or more expected"};
constexpr Malformed no_bytes{tlm::TLM_GENERIC_ERROR_RESPONSE, argument, "no bytes: 1 or more expected"};
constexpr Malformed other_length{tlm::TLM_GENERIC_ERROR_RESPONSE, argument,
                                 "the shape's rows x row_bytes are not the data length"};
constexpr Malformed wraps{tlm::TLM_ADDRESS_ERROR_RESPONSE, address, "the shape reaches beyond its GPU's addresses"};
constexpr Malformed no_data{tlm::TLM_GENERIC_ERROR_RESPONSE, argument,
                            "no data where they are needed: a data pointer expected in a functional run"};
constexpr Malformed bad_phase{tlm::TLM_GENERIC_ERROR_RESPONSE, argument,
                              "a phase that the data path does not have: BEGIN_REQ expected"};
constexpr Malformed bad_delay{tlm::TLM_GENERIC_ERROR_RESPONSE, argument,
                              "a delay that wraps: at most data_protocol.h's longest_delay expected"};
constexpr Malformed no_manager{tlm::TLM_GENERIC_ERROR_RESPONSE, argument,
                               "nb_transport without a memory manager or not acquired"};

bool is_message(Operation operation) { return operation == Operation::request || operation == Operation::answer; }

bool in_address_space(std::uint64_t at, const Shape& shape) {
  const std::uint64_t left = address_map::local_mask + 1 - address_map::local_of(at);
  std::uint64_t last_row = 0;
  return !__builtin_mul_overflow(std::uint64_t{shape.rows - 1}, shape.stride, &last_row) && last_row < left &&
         shape.row_bytes <= left - last_row;
}

}  // namespace

const Malformed* malformed(const tlm::tlm_generic_payload& transaction, RequestRules rules) {
  const DataExtension* extension = transaction.get_extension<DataExtension>();
  if (extension == nullptr) return &no_extension;
  if (extension->operation > Operation::answer) return &bad_operation;
  if (is_read(extension->operation) ? !transaction.is_read() : !transaction.is_write()) return &bad_command;
  if (extension->element > ElementType::fp32) return &bad_element;
  if (!is_traffic_class(extension->traffic)) return &bad_traffic;
  if (extension->stream > Stream::communication) return &bad_stream;
  const std::uint32_t length = transaction.get_data_length();
  if (transaction.get_byte_enable_ptr() != nullptr &&
      !(rules.byte_enables && extension->operation == Operation::store &&
        transaction.get_byte_enable_length() == length))
    return &byte_enables;
  if (transaction.get_streaming_width() < length) return &streaming;
  const Shape& shape = extension->shape;
  if (shape.rows == 0) return &no_rows;
  if (shape.bytes() != length) return &other_length;
  if (length == 0 && !rules.empty) return &no_bytes;
  if (!in_address_space(transaction.get_address(), shape)) return &wraps;
  const bool adds = extension->operation == Operation::fetch_add;
  if (adds && (shape.rows != 1 || (length != 4 && length != 8))) return &bad_size;
  if (is_message(extension->operation)) return extension->fabric.asked == nullptr ? &not_asked : nullptr;
  if ((rules.data || adds) && transaction.get_data_ptr() == nullptr && length != 0 &&
      extension->operation != Operation::wait)
    return &no_data;
  return nullptr;
}

const Malformed* malformed(const tlm::tlm_generic_payload& transaction, const tlm::tlm_phase& phase,
                           const sc_core::sc_time& delay, RequestRules rules) {
  if (phase != tlm::BEGIN_REQ) return &bad_phase;
  if (!transaction.has_mm() || transaction.get_ref_count() == 0) return &no_manager;
  if (const Malformed* found = malformed_delay(delay)) return found;
  return malformed(transaction, rules);
}

const Malformed* malformed_delay(const sc_core::sc_time& delay) {
  return from_sc_time(delay) > longest_delay ? &bad_delay : nullptr;
}

}  // namespace t3vp
