#include <map>

#include "memory/memory_bench.h"

namespace t3vp::test::data_test {

using namespace memory;

namespace {

/// Every byte of memory on its own.
struct ByteMap {
  std::map<std::uint64_t, unsigned char> bytes;

  template <typename Visit>
  static void for_each_byte(std::uint64_t address, const Shape& shape, Visit visit) {
    std::size_t i = 0;
    for (std::uint32_t row = 0; row < shape.rows; ++row)
      for (std::uint32_t column = 0; column < shape.row_bytes; ++column)
        visit(address + row * shape.stride + column, i++);
  }
  void store(std::uint64_t address, const Shape& shape, const std::vector<unsigned char>& data) {
    for_each_byte(address, shape, [&](std::uint64_t at, std::size_t i) { bytes[at] = data[i]; });
  }
  std::vector<unsigned char> load(std::uint64_t address, const Shape& shape) {
    std::vector<unsigned char> data(shape.bytes());
    for_each_byte(address, shape, [&](std::uint64_t at, std::size_t i) { data[i] = bytes[at]; });
    return data;
  }
};

Shape random_shape(Random& random) {
  const std::uint32_t rows = 1 + random.below(9), row_bytes = 1 + random.below(700);
  return {rows, row_bytes, row_bytes + random.below(3) * (random.below(5000))};
}

}  // namespace

TEST_CASE("loads return what stores wrote, whatever the shapes, tails, channels and pages") {
  MemoryBench bench;
  ByteMap reference;
  Random random(1);
  constexpr std::uint64_t window = 3 * BackingStore::page_bytes;
  for (int i = 0; i < 400; ++i) {
    const std::uint64_t address = random.below(window);
    const Shape shape = random_shape(random);
    if (random.coin()) {
      const auto data = random.bytes(shape.bytes());
      REQUIRE(bench.store(address, shape, data).ok());
      reference.store(address, shape, data);
    } else {
      const DataAnswer answer = bench.load(address, shape);
      REQUIRE(answer.ok());
      REQUIRE(answer.data == reference.load(address, shape));
    }
  }
}

TEST_CASE("accesses under way together take effect in the order of their arrival") {
  MemoryBench bench;
  Random random(2);
  ByteMap reference;
  std::vector<std::pair<std::size_t, std::vector<unsigned char>>> expected;
  Picoseconds at = 0;
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t address = random.below(4096);
    const Shape shape = random_shape(random);
    DataAccess access{Operation::load, local(address), shape, {}, Stream::compute, TrafficClass::gemm_read, {}, {}};
    at += random.below(3000);
    if (random.coin()) {
      access.operation = Operation::store;
      access.data = random.bytes(shape.bytes());
      access.stream = Stream::communication;
      reference.store(address, shape, access.data);
      bench.send(bench.cache, access, at);
    } else {
      expected.emplace_back(bench.send(bench.cache, access, at), reference.load(address, shape));
    }
  }
  bench.settle();
  for (const auto& [number, data] : expected) REQUIRE(bench.cache.answer(number).data == data);
}

TEST_CASE("timing-only accesses take the time of real ones and leave memory alone") {
  MemoryBench bench;
  const Shape shape{4, 256, 1024};
  const std::vector<unsigned char> ones(shape.bytes(), 1);
  DataAccess access{Operation::store, local(0), shape, ones, Stream::compute, TrafficClass::gemm_write, {}, {}};
  const auto time_of = [&] {
    bench.run_for(10 * bench.controller.lookahead() - now() % bench.controller.lookahead());
    const DataAnswer answer = bench.perform(bench.cache, access);
    REQUIRE(answer.ok());
    return answer.at - answer.arrival;
  };
  time_of();  // opens the rows
  const Picoseconds real = time_of();
  access.data.clear();
  REQUIRE(time_of() == real);
  REQUIRE(bench.load(0, shape).data == ones);
}

TEST_CASE("a store with byte enables writes the enabled bytes, in as many accesses as without") {
  MemoryBench bench;
  Random random(5);
  const Shape shape{5, 70, 1000};
  const std::vector<unsigned char> before = random.bytes(shape.bytes());
  REQUIRE(bench.store(100, shape, before).ok());
  const std::uint64_t accesses = bench.controller.dram_accesses();
  TransactionPool pool;
  Transaction& store = pool.make(Operation::store, local(100), shape);
  store.attach_buffer();
  store.attach_byte_enables();
  std::vector<unsigned char> expected = before;
  for (std::size_t i = 0; i < shape.bytes(); ++i) {
    store.get_data_ptr()[i] = static_cast<unsigned char>(random.below(256));
    if (random.coin())
      store.get_byte_enable_ptr()[i] = TLM_BYTE_DISABLED;
    else
      expected[i] = store.get_data_ptr()[i];
  }
  const std::size_t number = bench.cache.send(store, bench.controller.lookahead());
  bench.run_for(10'000'000);
  REQUIRE(bench.cache.answer(number).ok());
  REQUIRE(bench.controller.dram_accesses() == 2 * accesses);
  REQUIRE(bench.load(100, shape).data == expected);
}

TEST_CASE("an injected fault strikes the first byte that a store with byte enables writes, and no other") {
  MemoryParameters parameters = MemoryBench::small();
  parameters.faults.flip_bit = MemoryFaults::FlipBit{1, 6};
  MemoryBench bench(parameters);
  const Shape shape{2, 64, 512};
  const std::vector<unsigned char> before(shape.bytes(), 0x11);
  REQUIRE(bench.store(0, shape, before).ok());  // access 0
  TransactionPool pool;
  Transaction& store = pool.make(Operation::store, local(0), shape);
  store.extension().traffic = TrafficClass::gemm_write;
  store.attach_buffer();
  store.attach_byte_enables();
  std::vector<unsigned char> expected = before;
  for (std::size_t i = 0; i < shape.bytes(); ++i) {
    store.get_data_ptr()[i] = 0x22;
    const bool written = i == 70 || i == 90;
    store.get_byte_enable_ptr()[i] = written ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
    if (written) expected[i] = 0x22;
  }
  expected[70] ^= 1 << 6;
  const std::size_t number = bench.cache.send(store, bench.controller.lookahead());
  bench.run_for(10'000'000);
  REQUIRE(bench.cache.answer(number).ok());
  REQUIRE(bench.load(0, shape).data == expected);
  REQUIRE_THAT(bench.controller.faults()->flipped(), Catch::Contains("store of 128 bytes at "));
}

TEST_CASE("an injected fault strikes no bit that its access does not have") {
  MemoryParameters parameters = MemoryBench::small();
  parameters.faults.flip_bit = MemoryFaults::FlipBit{0, 20};
  MemoryBench bench(parameters);
  REQUIRE(bench.store(0, {1, 2, 0}, {0x11, 0x22}).ok());
  REQUIRE(bench.load(0, {1, 4, 0}).data == std::vector<unsigned char>{0x11, 0x22, 0, 0});
  REQUIRE(bench.controller.faults()->accesses() == 2);
  REQUIRE(bench.controller.faults()->flipped().empty());
}

TEST_CASE("debug access of the data path honours 2-D shapes and takes no time") {
  MemoryBench bench;
  const Shape shape{3, 40, 100};
  TransactionPool pool;
  Transaction& write = pool.make(Operation::store, local(1000), shape);
  write.attach_buffer();
  for (unsigned i = 0; i < shape.bytes(); ++i) write.get_data_ptr()[i] = static_cast<unsigned char>(i);
  const Picoseconds before = now();
  REQUIRE(bench.cache.socket->transport_dbg(write) == shape.bytes());
  REQUIRE(now() == before);
  REQUIRE(bench.load(1200, {1, 40, 0}).data.front() == 80);
  REQUIRE(bench.load(1040, {1, 60, 0}).data == std::vector<unsigned char>(60, 0));
  write.release();
}

}  // namespace t3vp::test::data_test
