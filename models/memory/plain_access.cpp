// The controller as a plain memory: firmware, loaders and debuggers.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "memory/memory_controller.h"
#include "protocol/access_description.h"
#include "protocol/address_map.h"

namespace t3vp::memory {

void MemoryController::plain_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
  const auto refuse = [&](tlm::tlm_response_status response, const char* text) {
    transaction.set_response_status(response);
    registers.report(Status::bad_access, transaction.get_address(), describe(transaction) + ": " + text);
  };
  if (transaction.get_byte_enable_ptr() != nullptr)
    return refuse(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE, "memory takes no byte enables here");
  if (transaction.get_streaming_width() < transaction.get_data_length())
    return refuse(tlm::TLM_BURST_ERROR_RESPONSE, "memory does not stream");
  if (transaction.get_data_ptr() == nullptr) return refuse(tlm::TLM_BURST_ERROR_RESPONSE, "no data");
  const std::uint64_t address = transaction.get_address();
  if (const std::string found =
          transaction.is_write() ? tracker.use_of({address, address + transaction.get_data_length()}) : "";
      !found.empty()) {
    transaction.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return registers.report(Status::busy, address, describe(transaction) + ": " + found);
  }
  if (plain_debug(transaction) != transaction.get_data_length()) {
    registers.report(
        Status::bad_address, transaction.get_address(),
        fmt::format("{}: not all in the memory of GPU {}, {:#x} to {:#x}", describe(transaction), gpu_,
                    address_map::on_gpu(gpu_, 0), address_map::on_gpu(gpu_, parameters_.capacity_bytes - 1)));
    return;
  }
  transaction.set_dmi_allowed(true);
  delay += to_sc_time(parameters_.processor_access);
}

unsigned MemoryController::plain_debug(tlm::tlm_generic_payload& transaction) {
  const std::uint64_t address = address_map::local_of(transaction.get_address());
  const unsigned bytes = transaction.get_data_length();
  if (address_map::gpu_of(transaction.get_address()) != gpu_ || address + bytes > parameters_.capacity_bytes) {
    transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return 0;
  }
  if (transaction.get_data_ptr() == nullptr && bytes != 0) {
    transaction.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return 0;
  }
  find_zeros(address, bytes);
  if (transaction.is_write()) note_plain_write(address, bytes);
  if (transaction.is_read())
    store_.read(address, transaction.get_data_ptr(), bytes);
  else if (transaction.is_write())
    store_.write(address, transaction.get_data_ptr(), bytes);
  transaction.set_response_status(tlm::TLM_OK_RESPONSE);
  return bytes;
}

/// Firmware has written what is there: it is known, whatever stores without data have been there before.
void MemoryController::note_plain_write(std::uint64_t address, std::uint64_t bytes) {
  ++written_;
  valid_bits_.set(address, bytes);
  if (dataless_ != nullptr && bytes != 0) dataless_->forget_store(address, bytes);
}

bool MemoryController::direct_memory(tlm::tlm_generic_payload& transaction, tlm::tlm_dmi& dmi) {
  const std::uint64_t address = address_map::local_of(transaction.get_address());
  if (address_map::gpu_of(transaction.get_address()) != gpu_ || address >= parameters_.capacity_bytes) return false;
  const std::uint64_t start = address / BackingStore::page_bytes * BackingStore::page_bytes;
  // A pointer knows neither valid bits nor maps.
  if (valid_bits_.concerns(start, BackingStore::page_bytes)) return false;
  const std::uint64_t page = address_map::on_gpu(gpu_, start);
  if (!tracker.use_of({page, page + BackingStore::page_bytes}).empty()) return false;
  dmi.set_dmi_ptr(store_.page(address));
  dmi.set_start_address(address_map::on_gpu(gpu_, start));
  dmi.set_end_address(
      address_map::on_gpu(gpu_, std::min(start + BackingStore::page_bytes, parameters_.capacity_bytes) - 1));
  dmi.set_read_latency(to_sc_time(parameters_.processor_access));
  dmi.set_write_latency(to_sc_time(parameters_.processor_access));
  dmi.allow_read_write();
  return true;
}

/// Debug access of the data path: a 2-D shape in the extension is honoured.
unsigned MemoryController::debug(int, tlm::tlm_generic_payload& transaction) {
  const DataExtension* extension = transaction.get_extension<DataExtension>();
  const Shape shape = extension != nullptr ? extension->shape : Shape{1, transaction.get_data_length(), 0};
  const std::uint64_t address = address_map::local_of(transaction.get_address());
  if (shape.rows == 0 || shape.bytes() != transaction.get_data_length()) {
    transaction.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return 0;
  }
  if (address_map::gpu_of(transaction.get_address()) != gpu_ || !in_memory(address, shape)) {
    transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return 0;
  }
  unsigned char* data = transaction.get_data_ptr();
  for (std::uint32_t row = 0; data != nullptr && row < shape.rows; ++row, data += shape.row_bytes) {
    find_zeros(address + row * shape.stride, shape.row_bytes);
    if (transaction.is_write()) valid_bits_.set(address + row * shape.stride, shape.row_bytes);
    if (transaction.is_read())
      store_.read(address + row * shape.stride, data, shape.row_bytes);
    else
      store_.write(address + row * shape.stride, data, shape.row_bytes);
  }
  transaction.set_response_status(tlm::TLM_OK_RESPONSE);
  return transaction.get_data_length();
}

}  // namespace t3vp::memory
