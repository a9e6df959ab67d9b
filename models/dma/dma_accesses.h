// The engine's accesses to memory, peers and the NIC. Each carries the token of its command. A response to an access
// from before a reset is stale and is dropped.
#pragma once

#include <cstdint>

#include "protocol/transaction_pool.h"
#include "registers/dma.h"

namespace t3vp::dma {

class DmaAccesses {
 public:
  static constexpr std::uint32_t fill = 0xFFFFFFFF;  ///< the serial number of a fill's stores

  /// `for_whom`: the serial number of a command, of_queue(), of_copy() or `fill`.
  Transaction& make(Operation operation, std::uint64_t address, const Shape& shape, std::uint32_t for_whom) {
    Transaction& transaction = pool_.make(operation, address, shape);
    transaction.extension().stream = Stream::communication;
    transaction.extension().cached = false;
    transaction.extension().token = std::uint64_t{generation_} << 32 | for_whom;
    return transaction;
  }

  void tell_order_to(OrderObserver* observer) { order_ = observer; }
  /// Returns the point of a transfer that begins behind these points.
  OrderPoint begin_transfer(std::uint16_t gpu, OrderPoint behind, OrderPoint and_behind = 0) {
    if (order_ == nullptr) return 0;
    return order_->begin_transfer(gpu, OrderObserver::dma, order_->join(behind, and_behind));
  }
  OrderObserver* order() const { return order_; }

  void begin_generation() { ++generation_; }
  bool is_stale(const tlm::tlm_generic_payload& transaction) const {
    return token_of(transaction) >> 32 != generation_;
  }

  static std::uint32_t for_whom(const tlm::tlm_generic_payload& transaction) {
    return static_cast<std::uint32_t>(token_of(transaction));
  }
  /// Returns the token of an access for a queue of the NIC.
  static std::uint32_t of_queue(std::size_t queue) { return first_queue + static_cast<std::uint32_t>(queue); }
  static bool is_of_queue(const tlm::tlm_generic_payload& transaction) {
    return for_whom(transaction) - first_queue < registers::Dma::queue_entries_count;
  }
  static std::size_t queue_of(const tlm::tlm_generic_payload& transaction) {
    return for_whom(transaction) - first_queue;
  }
  /// The same for copies in a queue of the engine.
  static std::uint32_t of_copy(std::size_t queue) { return first_copy + static_cast<std::uint32_t>(queue); }
  static bool is_of_copy(const tlm::tlm_generic_payload& transaction) {
    return for_whom(transaction) - first_copy < first_queue - first_copy;
  }
  static std::size_t copy_of(const tlm::tlm_generic_payload& transaction) { return for_whom(transaction) - first_copy; }

 private:
  static constexpr std::uint32_t first_copy = 0xFFFFFE00;
  static constexpr std::uint32_t first_queue = 0xFFFFFF00;
  static std::uint64_t token_of(const tlm::tlm_generic_payload& transaction) {
    return transaction.get_extension<DataExtension>()->token;
  }

  OrderObserver* order_ = nullptr;
  TransactionPool pool_;
  std::uint32_t generation_ = 0;  ///< resets so far
};

/// Says whether so many more bytes may be in flight. What is larger than the whole buffer may go when the buffer is
/// empty.
inline bool fits(std::uint64_t buffer, std::uint64_t in_flight, std::uint64_t bytes) {
  return in_flight == 0 || in_flight + bytes <= buffer;
}

}  // namespace t3vp::dma
