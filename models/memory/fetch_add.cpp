// Fetch-and-add: an integer in memory that many count with (protocol/data_protocol.h).
#include <fmt/format.h>

#include <cstring>

#include "memory/memory_controller.h"
#include "memory/pieces.h"
#include "protocol/address_map.h"

namespace t3vp::memory {

/// In a run without data: a store or update without any does not go where fetch-and-adds have been, and is noted.
bool MemoryController::keeps_counters(const tlm::tlm_generic_payload& transaction, const DataExtension& extension) {
  if (transaction.get_data_ptr() != nullptr) return true;
  const std::uint64_t local = address_map::local_of(transaction.get_address());
  bool keeps = true;
  for_each_piece(local, extension.shape, [&](std::uint64_t address, std::uint64_t part) {
    keeps = keeps && !dataless_->is_counted(address, part);
  });
  if (keeps)
    for_each_piece(local, extension.shape,
                   [this](std::uint64_t address, std::uint64_t part) { dataless_->note_store(address, part); });
  return keeps;
}

/// Empty, or why there is no integer for it at its address.
std::string MemoryController::mistake_of_fetch_add(const tlm::tlm_generic_payload& transaction) const {
  const std::uint64_t address = transaction.get_address(), local = address_map::local_of(address);
  const unsigned bytes = transaction.get_data_length();
  if (const std::string found = tracker.use_of({address, address + bytes}); !found.empty()) return found;
  if (dataless_ != nullptr && dataless_->is_stored(local, bytes))
    return fmt::format(
        "stores without data have gone to these {} bytes, and nobody knows what would be there: in a run that is not "
        "functional, integers apart from tensors expected",
        DatalessSectors::sector_bytes);
  return {};
}

/// At once, between what has come before it and what comes behind it.
void MemoryController::fetch_and_add(tlm::tlm_generic_payload& transaction, const DataExtension& extension) {
  const std::uint64_t address = address_map::local_of(transaction.get_address());
  const unsigned bytes = transaction.get_data_length();
  find_zeros(address, bytes);
  store_.read(address, transaction.get_data_ptr(), bytes);
  std::uint64_t sum = 0;
  std::memcpy(&sum, transaction.get_data_ptr(), bytes);
  sum += extension.addend;
  unsigned char result[sizeof sum];
  std::memcpy(result, &sum, sizeof sum);
  store_.write(address, result, bytes);
  if (dataless_ != nullptr) dataless_->note_fetch_add(address, bytes);
}

}  // namespace t3vp::memory
