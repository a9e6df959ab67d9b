// Fetch-and-add: an integer in memory that many count with (protocol/data_protocol.h); and what is real in a run
// without data.
#include <fmt/format.h>

#include <cstring>

#include "memory/memory_controller.h"
#include "memory/pieces.h"
#include "protocol/address_map.h"

namespace t3vp::memory {

/// In a run without data: stores without any do not go where data are real, and what is real not where such stores have
/// gone. What is not refused is noted.
Refusal MemoryController::validate_kind(const tlm::tlm_generic_payload& transaction, const DataExtension& extension) {
  const bool real = extension.real || extension.operation == Operation::fetch_add;
  const bool stores = extension.operation == Operation::store || extension.operation == Operation::update;
  if (!real && (!stores || transaction.get_data_ptr() != nullptr)) return {};
  const std::uint64_t local = address_map::local_of(transaction.get_address());
  bool meets = false;
  for_each_piece(local, extension.shape, [&](std::uint64_t address, std::uint64_t part) {
    meets = meets || (real ? dataless_->is_stored(address, part) : dataless_->is_real(address, part));
  });
  if (meets && real)
    return refused(
        Status::access_denied,
        "stores without data have gone to these {} bytes, and nobody knows what would be there: in a run that is not "
        "functional, integers and flags apart from tensors expected",
        DatalessSectors::sector_bytes);
  if (meets)
    return refused(
        Status::access_denied,
        "it has no data, and fetch-and-adds count or flags are there: in a run that is not functional, tensors apart "
        "from them, {} bytes each, expected",
        DatalessSectors::sector_bytes);
  if (extension.operation == Operation::load) return {};
  for_each_piece(local, extension.shape, [&](std::uint64_t address, std::uint64_t part) {
    if (real)
      dataless_->note_real(address, part);
    else
      dataless_->note_store(address, part);
  });
  return {};
}

/// Whether there is an integer for it at its address.
Refusal MemoryController::validate_fetch_add(const tlm::tlm_generic_payload& transaction,
                                             const DataExtension& extension) {
  const std::uint64_t address = transaction.get_address();
  std::string user = tracker.use_of({address, address + transaction.get_data_length()});
  if (!user.empty()) return {Status::access_denied, std::move(user)};
  return dataless_ != nullptr ? validate_kind(transaction, extension) : Refusal{};
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
}

}  // namespace t3vp::memory
