#include <Eigen/Core>
#include <cstring>

#include "memory/memory_bench.h"

namespace t3vp::test::update_test {

using namespace memory;

namespace {

template <typename Element>
std::vector<unsigned char> bytes_of_elements(const std::vector<Element>& elements) {
  std::vector<unsigned char> bytes(elements.size() * sizeof(Element));
  std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

template <typename Element>
std::vector<Element> random_elements(Random& random, std::size_t count) {
  std::uniform_real_distribution<float> exponent(-8, 8), mantissa(-2, 2);
  std::vector<Element> elements;
  for (std::size_t i = 0; i < count; ++i)
    elements.push_back(static_cast<Element>(mantissa(random.engine()) * std::exp2(exponent(random.engine()))));
  return elements;
}

/// Eigen's own addition, in the order in which the updates arrive.
template <typename Element>
void check_updates(ElementType type, std::size_t number) {
  MemoryBench bench;
  Random random(3);
  const std::uint32_t columns = 45, rows = 7;
  const Shape shape{rows, columns * bytes_of(type), 512};
  const std::uint64_t address = BackingStore::page_bytes - 1024 + 4;  // over a page boundary
  std::vector<Element> sum(columns * rows, Element(0));
  for (int round = 0; round < 5; ++round) {
    const auto addend = random_elements<Element>(random, sum.size());
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = sum[i] + addend[i];
    bench.send(round % 2 == 0 ? bench.bypass : bench.peers,
               {Operation::update,
                local(address),
                shape,
                bytes_of_elements(addend),
                round % 2 == 0 ? Stream::compute : Stream::communication,
                TrafficClass::gemm_write,
                type,
                {}},
               static_cast<Picoseconds>(round) * 1000);
  }
  bench.settle();
  REQUIRE(bench.load(address, shape).data == bytes_of_elements(sum));
  REQUIRE(bench.near_memory.element("updates", number) == 5 * sum.size());
}

}  // namespace

TEST_CASE("fp16 updates agree with Eigen bit by bit") { check_updates<Eigen::half>(ElementType::fp16, 0); }
TEST_CASE("bf16 updates agree with Eigen bit by bit") { check_updates<Eigen::bfloat16>(ElementType::bf16, 1); }
TEST_CASE("fp32 updates agree with Eigen bit by bit") { check_updates<float>(ElementType::fp32, 2); }

TEST_CASE("an update is refused and leaves memory alone while near-memory compute is off") {
  MemoryBench bench;
  const Shape shape{1, 64, 0};
  const DataAccess update{
      Operation::update,        local(0),          shape, std::vector<unsigned char>(64, 1), Stream::compute,
      TrafficClass::gemm_write, ElementType::fp16, {}};
  REQUIRE(bench.near_memory.set("control", 0) == tlm::TLM_OK_RESPONSE);
  const DataAnswer refused = bench.perform(bench.bypass, update);
  REQUIRE(refused.count == 1);
  REQUIRE(refused.status == tlm::TLM_GENERIC_ERROR_RESPONSE);
  REQUIRE(bench.registers.reported.size() == 1);
  REQUIRE(bench.registers.reported[0].address == local(0));
  REQUIRE(bench.registers.take_report() == Status::disabled);
  REQUIRE(bench.load(0, shape).data == std::vector<unsigned char>(64, 0));
  REQUIRE(bench.near_memory.element("updates", 0) == 0);

  REQUIRE(bench.near_memory.set("control", 1) == tlm::TLM_OK_RESPONSE);
  REQUIRE(bench.perform(bench.bypass, update).ok());
  REQUIRE(bench.load(0, shape).data == update.data);
}

TEST_CASE("near-memory statistics start again at a reset") {
  MemoryBench bench;
  bench.perform(
      bench.bypass,
      {Operation::update, local(0), {1, 64, 0}, {}, Stream::compute, TrafficClass::gemm_write, ElementType::fp32, {}});
  REQUIRE(bench.near_memory.element("updates", 2) == 16);
  bench.controller.near_memory.reset();
  REQUIRE(bench.near_memory.element("updates", 2) == 0);
}

}  // namespace t3vp::test::update_test
