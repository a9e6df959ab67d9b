#include "memory/memory_bench.h"

namespace t3vp::test::order_test {

using namespace memory;

namespace {

MemoryParameters one_channel(std::uint32_t interleave_bytes) {
  MemoryParameters parameters = MemoryBench::small(1);
  parameters.interleave_bytes = interleave_bytes;
  return parameters;
}

DataAccess access_of(Operation operation, Stream stream, std::uint64_t address, std::uint32_t bytes) {
  return {operation, local(address), {1, bytes, 0}, {}, stream, TrafficClass::gemm_write, ElementType::fp16, {}};
}

/// Loads of different rows of one bank: the queue that they are in moves on every tRC only.
void keep_busy(MemoryBench& bench, Stream stream) {
  const dram::AddressDecoder decoder(bench.parameters.dram);
  DataInitiator& initiator = stream == Stream::compute ? bench.cache : bench.dma;
  std::uint32_t row = decoder.row(0);
  for (std::uint64_t address = 0, sent = 0; sent < 120; address += 1024) {
    if (decoder.bank(address) != decoder.bank(0) || (sent > 0 && decoder.row(address) == row)) continue;
    row = decoder.row(address);
    bench.send(initiator, access_of(Operation::load, stream, address, 32));
    ++sent;
  }
}

/// An address in another bank than the busy one.
std::uint64_t free_address(const MemoryBench& bench, std::uint64_t from) {
  const dram::AddressDecoder decoder(bench.parameters.dram);
  while (decoder.bank(from) == decoder.bank(0)) from += 1024;
  return from;
}

/// A long compute queue with an update of `bytes` at its end, and communication reads of its end and elsewhere.
void check_not_overtaken(std::uint32_t interleave_bytes, std::uint32_t bytes) {
  MemoryBench bench(one_channel(interleave_bytes));
  const std::uint64_t updated = free_address(bench, (32 << 20) + 2048),
                      elsewhere = free_address(bench, (32 << 20) + (16 << 10));
  keep_busy(bench, Stream::compute);
  const std::size_t update = bench.send(bench.bypass, access_of(Operation::update, Stream::compute, updated, bytes));
  const std::size_t free_read = bench.send(bench.dma, access_of(Operation::load, Stream::communication, elsewhere, 32));
  const std::size_t read =
      bench.send(bench.dma, access_of(Operation::load, Stream::communication, updated + bytes - 32, 32));
  bench.settle();
  REQUIRE(bench.dma.answer(free_read).at < bench.bypass.answer(update).at);  // communication need not wait as such
  REQUIRE(bench.dma.answer(read).at > bench.bypass.answer(update).at);
}

}  // namespace

TEST_CASE("a communication read does not overtake the compute update of its address") { check_not_overtaken(256, 256); }
TEST_CASE("nor one that ends in a block of 1 KiB") { check_not_overtaken(1024, 1024); }
TEST_CASE("nor one of small blocks") { check_not_overtaken(64, 512); }

TEST_CASE("a compute store does not overtake the communication update of its address") {
  MemoryBench bench(one_channel(256));
  bench.registers.set("arbitration", 1);  // compute_first
  const std::uint64_t shared = free_address(bench, (32 << 20) + 2048);
  keep_busy(bench, Stream::communication);
  const std::size_t update = bench.send(bench.dma, access_of(Operation::update, Stream::communication, shared, 32));
  const std::size_t free_store =
      bench.send(bench.bypass, access_of(Operation::store, Stream::compute, shared + 8192, 32));
  const std::size_t store = bench.send(bench.bypass, access_of(Operation::store, Stream::compute, shared, 32));
  bench.settle();
  REQUIRE(bench.bypass.answer(free_store).at < bench.dma.answer(update).at);
  REQUIRE(bench.bypass.answer(store).at > bench.dma.answer(update).at);
}

}  // namespace t3vp::test::order_test
