#include "memory/backing_store.h"

#include <catch2/catch.hpp>
#include <cstring>

namespace t3vp::test::backing_store_test {

using namespace memory;

TEST_CASE("what was never written reads as zero and takes no host memory") {
  const BackingStore store;
  std::vector<unsigned char> data(200'000, 9);
  store.read(12345, data.data(), data.size());
  REQUIRE(data == std::vector<unsigned char>(data.size(), 0));
  REQUIRE(store.allocated_bytes() == 0);
}

TEST_CASE("a write over a page boundary allocates both pages and nothing else changes") {
  BackingStore store;
  const std::vector<unsigned char> data{1, 2, 3, 4};
  store.write(BackingStore::page_bytes - 2, data.data(), data.size());
  REQUIRE(store.allocated_bytes() == 2 * BackingStore::page_bytes);
  std::vector<unsigned char> around(6);
  store.read(BackingStore::page_bytes - 3, around.data(), around.size());
  REQUIRE(around == std::vector<unsigned char>{0, 1, 2, 3, 4, 0});
  REQUIRE(store.page(BackingStore::page_bytes)[0] == 3);
}

TEST_CASE("an update over a page boundary adds every element once") {
  BackingStore store;
  std::vector<float> ones(64, 1.0f), sum(64);
  std::vector<unsigned char> bytes(ones.size() * sizeof(float));
  std::memcpy(bytes.data(), ones.data(), bytes.size());
  const std::uint64_t address = 3 * BackingStore::page_bytes - 100;
  for (int i = 0; i < 3; ++i) store.update(ElementType::fp32, address, bytes.data(), bytes.size());
  store.read(address, bytes.data(), bytes.size());
  std::memcpy(sum.data(), bytes.data(), bytes.size());
  REQUIRE(sum == std::vector<float>(64, 3.0f));
}

}  // namespace t3vp::test::backing_store_test
