#include "protocol/transaction_pool.h"

#include <catch2/catch.hpp>
#include <random>
#include <set>

namespace t3vp::test::transaction_pool_test {

namespace {

void check_fresh(Transaction& transaction, Operation operation, std::uint64_t address, const Shape& shape) {
  REQUIRE(transaction.get_address() == address);
  REQUIRE(transaction.is_read() == (operation == Operation::load || operation == Operation::wait));
  REQUIRE(transaction.is_write() == (operation == Operation::store || operation == Operation::update));
  REQUIRE(transaction.get_data_length() == shape.bytes());
  REQUIRE(transaction.get_streaming_width() == shape.bytes());
  REQUIRE(transaction.get_data_ptr() == nullptr);
  REQUIRE(transaction.get_byte_enable_ptr() == nullptr);
  REQUIRE(!transaction.is_dmi_allowed());
  REQUIRE(transaction.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE);
  REQUIRE(transaction.get_ref_count() == 1);
  const DataExtension defaults;
  const DataExtension& extension = transaction.extension();
  REQUIRE(&extension == transaction.get_extension<DataExtension>());
  REQUIRE(extension.operation == operation);
  REQUIRE((extension.shape.rows == shape.rows && extension.shape.row_bytes == shape.row_bytes &&
           extension.shape.stride == shape.stride));
  REQUIRE(extension.stream == defaults.stream);
  REQUIRE(extension.element == defaults.element);
  REQUIRE(extension.traffic == defaults.traffic);
  REQUIRE(extension.cached == defaults.cached);
  REQUIRE(extension.producer.wg_id == no_workgroup);
  REQUIRE(extension.producer.wf_id == no_wavefront);
  REQUIRE(extension.producer.gpu == 0);
  REQUIRE(extension.threshold == 0);
  REQUIRE(extension.token == 0);
}

/// Everything that users and targets of a transaction may leave behind.
void use(Transaction& transaction) {
  transaction.attach_buffer();
  transaction.get_data_ptr()[0] = 0xEE;
  transaction.set_byte_enable_ptr(transaction.get_data_ptr());
  transaction.set_dmi_allowed(true);
  transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  DataExtension& extension = transaction.extension();
  extension.stream = Stream::communication;
  extension.element = ElementType::fp32;
  extension.traffic = TrafficClass::ag_write;
  extension.cached = false;
  extension.producer = {7, 3, 2};
  extension.threshold = 5;
  extension.token = 9;
}

}  // namespace

TEST_CASE("a transaction is as new however often it has been used") {
  TransactionPool pool;
  std::mt19937 random(6);
  for (int i = 0; i < 100; ++i) {
    const auto operation = static_cast<Operation>(random() % 4);
    const Shape shape{1 + static_cast<std::uint32_t>(random() % 4), 32, 64};
    Transaction& transaction = pool.make(operation, random(), shape);
    check_fresh(transaction, operation, transaction.get_address(), shape);
    use(transaction);
    transaction.release();
  }
}

TEST_CASE("released transactions are used again, held ones are not") {
  TransactionPool pool;
  Transaction& held = pool.make(Operation::load, 0, {1, 32, 0});
  std::set<Transaction*> seen;
  for (int round = 0; round < 50; ++round) {
    std::set<Transaction*> now;
    for (int i = 0; i < 10; ++i) now.insert(&pool.make(Operation::store, 64, {1, 32, 0}));
    REQUIRE(now.size() == 10);
    REQUIRE(now.count(&held) == 0);
    seen.insert(now.begin(), now.end());
    for (Transaction* transaction : now) transaction->release();
  }
  REQUIRE(seen.size() == 10);
  REQUIRE(held.get_address() == 0);
  held.release();
}

TEST_CASE("the last release returns a transaction to its pool") {
  TransactionPool pool;
  Transaction& first = pool.make(Operation::load, 0, {1, 32, 0});
  first.acquire();
  first.release();
  Transaction& second = pool.make(Operation::load, 0, {1, 32, 0});
  REQUIRE(&second != &first);
  first.release();
  REQUIRE(&pool.make(Operation::load, 0, {1, 32, 0}) == &first);
}

TEST_CASE("a buffer has the size of the data and is zero") {
  TransactionPool pool;
  for (const std::uint32_t bytes : {256u, 64u, 512u}) {
    Transaction& transaction = pool.make(Operation::load, 0, {2, bytes, 4096});
    transaction.attach_buffer();
    const unsigned char* data = transaction.get_data_ptr();
    REQUIRE(std::vector<unsigned char>(data, data + 2 * bytes) == std::vector<unsigned char>(2 * bytes, 0));
    std::memset(transaction.get_data_ptr(), 0xFF, 2 * bytes);
    transaction.release();
  }
}

TEST_CASE("a deep copy carries the extension") {
  TransactionPool pool;
  Transaction& transaction = pool.make(Operation::update, 128, {1, 32, 0});
  transaction.extension().producer = {7, 3, 2};
  tlm::tlm_generic_payload copy;
  copy.deep_copy_from(transaction);
  REQUIRE(copy.get_address() == 128);
  REQUIRE(extension_of(copy).operation == Operation::update);
  REQUIRE(extension_of(copy).producer.wg_id == 7);
  REQUIRE(&extension_of(copy) != &transaction.extension());
  transaction.release();
}

}  // namespace t3vp::test::transaction_pool_test
