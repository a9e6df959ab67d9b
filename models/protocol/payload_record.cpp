#include "protocol/payload_record.h"

#include <functional>
#include <string_view>

namespace t3vp {
namespace {

std::uint64_t hash_of_write(const tlm::tlm_generic_payload& transaction) {
  if (!transaction.is_write() || transaction.get_data_ptr() == nullptr) return 0;
  return std::hash<std::string_view>()(
      {reinterpret_cast<const char*>(transaction.get_data_ptr()), transaction.get_data_length()});
}

}  // namespace

PayloadRecord::PayloadRecord(const tlm::tlm_generic_payload& transaction)
    : command_(transaction.get_command()),
      address_(transaction.get_address()),
      data_(transaction.get_data_ptr()),
      byte_enables_(transaction.get_byte_enable_ptr()),
      length_(transaction.get_data_length()),
      streaming_width_(transaction.get_streaming_width()),
      byte_enable_length_(transaction.get_byte_enable_length()),
      written_(hash_of_write(transaction)) {}

const char* PayloadRecord::change(const tlm::tlm_generic_payload& transaction) const {
  if (transaction.get_command() != command_) return "command changed";
  if (transaction.get_data_ptr() != data_) return "data pointer changed";
  if (transaction.get_data_length() != length_) return "data length changed";
  if (transaction.get_streaming_width() != streaming_width_) return "streaming width changed";
  if (transaction.get_byte_enable_ptr() != byte_enables_ || transaction.get_byte_enable_length() != byte_enable_length_)
    return "byte enables changed";
  if (hash_of_write(transaction) != written_) return "data of a write changed";
  return nullptr;
}

}  // namespace t3vp
