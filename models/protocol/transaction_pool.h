// Pooled transactions of the data path: no heap allocation per access once the pool is warm.
#pragma once

#include <memory>
#include <vector>

#include "protocol/data_protocol.h"

namespace t3vp {

/// A payload with its extension and, when it carries data, its own buffer. Returned to the pool by the last release().
class Transaction : public tlm::tlm_generic_payload {
 public:
  explicit Transaction(tlm::tlm_mm_interface* pool) : tlm::tlm_generic_payload(pool) { set_extension(&extension_); }
  ~Transaction() override { clear_extension(&extension_); }

  DataExtension& extension() { return extension_; }
  bool is_relay() const { return original_ != nullptr; }
  /// The payload that a transaction stands for which relay() has made.
  tlm::tlm_generic_payload& original() { return *original_; }
  const tlm::tlm_generic_payload& original() const { return *original_; }
  /// Ends a relay: the original, which is returned with the relay's response, is the caller's to answer and to release.
  tlm::tlm_generic_payload& end_relay() {
    tlm::tlm_generic_payload& original = *original_;
    original.set_response_status(get_response_status());
    t3vp::extension_of(original).refusal = extension_.refusal;
    release();
    return original;
  }

  /// The sender's generation. It separates requests sent before a reset from later ones, and a link knows by it whose
  /// credits it holds.
  std::uint32_t generation = 0;

  /// Gives the payload a zeroed buffer of its data length.
  void attach_buffer() {
    buffer_.assign(get_data_length(), 0);
    set_data_ptr(buffer_.data());
  }
  /// Gives the payload byte enables, all enabled.
  void attach_byte_enables() {
    enables_.assign(get_data_length(), TLM_BYTE_ENABLED);
    set_byte_enable_ptr(enables_.data());
    set_byte_enable_length(get_data_length());
  }

 private:
  friend class TransactionPool;
  DataExtension extension_;
  tlm::tlm_generic_payload* original_ = nullptr;
  std::vector<unsigned char> buffer_, enables_;
};

class TransactionPool : public tlm::tlm_mm_interface {
 public:
  TransactionPool() = default;
  ~TransactionPool() override;
  TransactionPool(const TransactionPool&) = delete;
  TransactionPool& operator=(const TransactionPool&) = delete;

  /// An acquired transaction: INCOMPLETE, default extension with `shape`, no data.
  Transaction& make(Operation operation, std::uint64_t address, const Shape& shape);

  /// An acquired transaction with which a block sends a store or update on under its own name, when it takes the
  /// request from its sender itself: the same access of the same data. The original is acquired and the caller's to
  /// release.
  Transaction& relay(tlm::tlm_generic_payload& original);

  void free(tlm::tlm_generic_payload* transaction) override;

 private:
  std::vector<std::unique_ptr<Transaction>> all_;
  std::vector<Transaction*> free_;
};

}  // namespace t3vp
