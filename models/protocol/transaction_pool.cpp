#include "protocol/transaction_pool.h"

#include "protocol/units.h"

namespace t3vp {

TransactionPool::~TransactionPool() = default;

Transaction& TransactionPool::make(Operation operation, std::uint64_t address, const Shape& shape) {
  if (free_.empty()) {
    all_.push_back(std::make_unique<Transaction>(this));
    free_.push_back(all_.back().get());
  }
  Transaction& transaction = *free_.back();
  free_.pop_back();
  transaction.acquire();
  transaction.extension_ = DataExtension{};
  transaction.extension_.operation = operation;
  transaction.extension_.shape = shape;
  transaction.extension_.made = now();
  transaction.set_command(is_read(operation) ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND);
  transaction.set_address(address);
  transaction.set_data_length(static_cast<unsigned>(shape.bytes()));
  transaction.set_streaming_width(static_cast<unsigned>(shape.bytes()));
  transaction.set_data_ptr(nullptr);
  transaction.set_byte_enable_ptr(nullptr);
  transaction.set_byte_enable_length(0);
  transaction.set_dmi_allowed(false);
  transaction.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  return transaction;
}

Transaction& TransactionPool::relay(tlm::tlm_generic_payload& original) {
  const DataExtension& extension = t3vp::extension_of(original);
  Transaction& transaction = make(extension.operation, original.get_address(), extension.shape);
  transaction.extension_ = extension;
  transaction.extension_.token = 0;
  transaction.extension_.taken = false;
  transaction.set_data_ptr(original.get_data_ptr());
  transaction.original_ = &original;
  original.acquire();
  return transaction;
}

void TransactionPool::free(tlm::tlm_generic_payload* transaction) {
  free_.push_back(static_cast<Transaction*>(transaction));
}

}  // namespace t3vp
