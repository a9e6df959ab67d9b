#include "memory/memory_faults.h"

#include <algorithm>
#include <vector>

#include "protocol/access_description.h"
#include "protocol/address_map.h"
#include "protocol/truncating_adder.h"

namespace t3vp::memory {

void FaultyAccess::take_effect(BackingStore& store, tlm::tlm_generic_payload& transaction, bool local,
                               Picoseconds time) {
  const DataExtension& extension = *transaction.get_extension<DataExtension>();
  const bool is_tensor = extension.traffic != TrafficClass::control;
  const bool flips = is_tensor && faults_.flip_bit && faults_.flip_bit->access == accesses_;
  if (is_tensor) ++accesses_;
  unsigned char* data = transaction.get_data_ptr();
  if (data == nullptr) return;
  const unsigned char* enables = transaction.get_byte_enable_ptr();
  // A target leaves the data of stores and updates as they are.
  std::vector<unsigned char> flipped;
  const auto flip = [&](unsigned char* bytes, std::uint64_t count) {
    if (faults_.flip_bit->bit / 8 >= count) return;
    bytes[faults_.flip_bit->bit / 8] ^= static_cast<unsigned char>(1u << faults_.flip_bit->bit % 8);
    flipped_ = describe(transaction, time);
  };
  if (flips && extension.operation != Operation::load) {
    flipped.assign(data, data + extension.shape.bytes());
    // A write-back may leave bytes out: the fault strikes the first element that it writes.
    const unsigned char* end = enables + (enables == nullptr ? 0 : flipped.size());
    const auto first = static_cast<std::size_t>(std::find(enables, end, TLM_BYTE_ENABLED) - enables);
    flip(flipped.data() + first, flipped.size() - first);
    data = flipped.data();
  }
  const std::uint64_t base = address_map::local_of(transaction.get_address()), bytes = extension.shape.row_bytes;
  for (std::uint32_t row = 0; row < extension.shape.rows; ++row) {
    const std::uint64_t address = base + row * extension.shape.stride;
    unsigned char* part = data + row * bytes;
    if (extension.operation == Operation::update)
      update(store, transaction, address, part, bytes, local, time);
    else if (extension.operation == Operation::store)
      store.write(address, part, bytes, enables == nullptr ? nullptr : enables + row * bytes);
    else
      store.read(address, part, bytes);
  }
  if (flips && extension.operation == Operation::load) flip(data, extension.shape.bytes());
}

void FaultyAccess::update(BackingStore& store, const tlm::tlm_generic_payload& transaction, std::uint64_t address,
                          const unsigned char* data, std::uint64_t bytes, bool local, Picoseconds time) {
  const ElementType element = transaction.get_extension<DataExtension>()->element;
  const auto& lose = faults_.lose_updates;
  if (lose && (local ? lose->local : lose->peers) && lost_elements_ < lose->elements) {
    if (lost_elements_ == 0) lost_ = describe(transaction, time);
    const std::uint64_t lost = std::min(lose->elements - lost_elements_, bytes / bytes_of(element));
    lost_elements_ += lost;
    address += lost * bytes_of(element);
    data += lost * bytes_of(element);
    bytes -= lost * bytes_of(element);
  }
  if (!faults_.wrong_rounding) return store.update(element, address, data, bytes);
  std::vector<unsigned char> sum(bytes);
  store.read(address, sum.data(), bytes);
  if (add_elements_truncating(element, sum.data(), data, bytes / bytes_of(element)) && rounded_.empty())
    rounded_ = describe(transaction, time);
  store.write(address, sum.data(), bytes);
}

}  // namespace t3vp::memory
