#include "data_path/foreign_access.h"
#include "memory/memory_bench.h"

namespace t3vp::test::bad_access_test {

using namespace memory;

namespace {

constexpr Shape line{1, 64, 0};

DataAccess access_of(Operation operation, std::uint64_t address, const Shape& shape) {
  return {operation, address, shape, {}, Stream::compute, TrafficClass::gemm_read, ElementType::fp32, {}};
}

/// The response is an error, reported once to the error log. No DRAM access is made, and the controller continues.
void check_refused(MemoryBench& bench, const DataAccess& access, tlm::tlm_response_status response, Status code) {
  const std::uint64_t before = bench.controller.dram_accesses();
  const DataAnswer answer = bench.perform(bench.cache, access);
  CAPTURE(access.address, access.shape.rows, access.shape.row_bytes, access.shape.stride);
  REQUIRE(answer.count == 1);
  REQUIRE(answer.status == response);
  REQUIRE(answer.at >= answer.arrival);
  REQUIRE(bench.registers.reported.size() == 1);
  REQUIRE_FALSE(bench.registers.reported[0].text.empty());
  REQUIRE(bench.registers.take_report() == code);
  REQUIRE(bench.controller.dram_accesses() == before);
  REQUIRE(bench.load(0, line).ok());
}

}  // namespace

TEST_CASE("what lies outside the GPU's memory is answered with an address error") {
  MemoryBench bench;
  const std::uint64_t end = bench.parameters.capacity_bytes;
  const auto refused = [&](std::uint64_t address, const Shape& shape) {
    check_refused(bench, access_of(Operation::load, address, shape), tlm::TLM_ADDRESS_ERROR_RESPONSE,
                  Status::bad_address);
  };
  refused(address_map::on_gpu(0, 0), line);
  refused(address_map::on_gpu(2, 0), line);
  refused(local(end), line);
  refused(local(end - 32), line);
  refused(local(address_map::registers_base), line);
  refused(local(0), {2, 64, end});
  refused(local(0), {2, 64, std::uint64_t{1} << address_map::gpu_shift});  // the same place on the next GPU
  refused(local(0), {5, 64, std::uint64_t{1} << 62});                      // wraps around to the first row
  refused(local(0), {3, 64, ~std::uint64_t{0} - 31});                      // backwards
  REQUIRE(bench.load(end - 64, line).ok());
  REQUIRE(bench.load(end - 64 - 3 * 1024, {4, 64, 1024}).ok());
}

TEST_CASE("a refused access is answered at the time of its arrival") {
  MemoryBench bench;
  for (const Picoseconds later : {0u, 1u, 12'345u, 777'777u}) {
    const std::size_t number =
        bench.send(bench.cache, access_of(Operation::load, local(bench.parameters.capacity_bytes), line), later);
    bench.settle();
    REQUIRE(bench.cache.answer(number).status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    REQUIRE(bench.cache.answer(number).at == bench.cache.answer(number).arrival);
  }
}

TEST_CASE("an access without a data extension is answered with an error") {
  MemoryBench bench;
  BarePayload bare(tlm::TLM_READ_COMMAND, local(0), 64);
  const std::size_t number = bench.cache.send(bare.payload(), bench.controller.lookahead());
  bench.settle();
  REQUIRE(bench.cache.answer(number).count == 1);
  REQUIRE(bench.cache.answer(number).status == tlm::TLM_GENERIC_ERROR_RESPONSE);
  REQUIRE(bench.registers.take_report() == Status::invalid_argument);
}

TEST_CASE("an access of no bytes, or whose shape is not its length, is answered with an error") {
  MemoryBench bench;
  check_refused(bench, access_of(Operation::store, local(0), {0, 64, 64}), tlm::TLM_GENERIC_ERROR_RESPONSE,
                Status::invalid_argument);
  TransactionPool pool;
  Transaction& longer = pool.make(Operation::store, local(0), {1, 64, 0});
  longer.attach_buffer();
  longer.extension().shape.row_bytes = 4096;
  const std::size_t number = bench.cache.send(longer, bench.controller.lookahead());
  bench.settle();
  REQUIRE(bench.cache.answer(number).status == tlm::TLM_GENERIC_ERROR_RESPONSE);
}

TEST_CASE("memory has no signals to wait for") {
  MemoryBench bench;
  check_refused(bench, access_of(Operation::wait, local(0), {1, 8, 0}), tlm::TLM_COMMAND_ERROR_RESPONSE,
                Status::invalid_argument);
}

TEST_CASE("an update that is not aligned to its elements is refused") {
  MemoryBench bench;
  const auto refused = [&](std::uint64_t address, const Shape& shape) {
    check_refused(bench, access_of(Operation::update, local(address), shape), tlm::TLM_BURST_ERROR_RESPONSE,
                  Status::unaligned);
  };
  refused(2, line);
  refused(0, {1, 62, 0});
  refused(0, {2, 64, 1022});
  DataAccess halves = access_of(Operation::update, local(2), line);
  halves.element = ElementType::bf16;
  REQUIRE(bench.perform(bench.cache, halves).ok());
}

TEST_CASE("a foreign initiator's b_transport works with the extension and is refused without") {
  MemoryBench bench;
  DataExtension extension;
  extension.shape = {2, 16, 32};
  extension.operation = Operation::store;
  const std::vector<unsigned char> sent(32, 7);
  const Picoseconds begin = now();
  const ForeignAnswer stored =
      blocking_access(bench.cache.socket, tlm::TLM_WRITE_COMMAND, local(100), sent, &extension);
  REQUIRE(stored.status == tlm::TLM_OK_RESPONSE);
  REQUIRE(stored.at > begin);
  extension.operation = Operation::load;
  const ForeignAnswer loaded = blocking_access(bench.cache.socket, tlm::TLM_READ_COMMAND, local(100),
                                               std::vector<unsigned char>(32), &extension);
  REQUIRE(loaded.status == tlm::TLM_OK_RESPONSE);
  REQUIRE(loaded.data == sent);
  const ForeignAnswer refused =
      blocking_access(bench.cache.socket, tlm::TLM_READ_COMMAND, local(100), std::vector<unsigned char>(32));
  REQUIRE(refused.status == tlm::TLM_GENERIC_ERROR_RESPONSE);
}

TEST_CASE("debug access that does not fit its buffer or the memory reads nothing") {
  MemoryBench bench;
  TransactionPool pool;
  Transaction& debug = pool.make(Operation::load, local(0), line);
  debug.attach_buffer();
  REQUIRE(bench.cache.socket->transport_dbg(debug) == 64);
  debug.extension().shape = {64, 64, 64};
  REQUIRE(bench.cache.socket->transport_dbg(debug) == 0);
  REQUIRE(debug.get_response_status() == tlm::TLM_GENERIC_ERROR_RESPONSE);
  debug.extension().shape = line;
  debug.set_address(local(bench.parameters.capacity_bytes));
  REQUIRE(bench.cache.socket->transport_dbg(debug) == 0);
  REQUIRE(debug.get_response_status() == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  debug.release();
}

TEST_CASE("a functional memory refuses tensors without data") {
  MemoryBench bench(MemoryBench::small(), true);
  for (DataInitiator* port : {&bench.cache, &bench.bypass, &bench.peers, &bench.dma})
    for (const Operation operation : {Operation::load, Operation::store, Operation::update}) {
      TransactionPool pool;
      Transaction& without = pool.make(operation, local(0), line);
      const std::size_t number = port->send(without, bench.controller.lookahead());
      bench.settle();
      CAPTURE(name_of(operation));
      REQUIRE(port->answer(number).status == tlm::TLM_GENERIC_ERROR_RESPONSE);
      REQUIRE(bench.registers.take_report() == Status::invalid_argument);
    }
  REQUIRE(bench.controller.dram_accesses() == 0);
}

}  // namespace t3vp::test::bad_access_test
