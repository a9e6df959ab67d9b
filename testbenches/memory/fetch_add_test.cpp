// Fetch-and-add at the memory controller: sums, refusals, and runs without data.
#include <cstring>

#include "data_path/foreign_access.h"
#include "memory/memory_bench.h"

namespace t3vp::test::fetch_add_test {

using namespace memory;

using Catch::Contains;

namespace {

DataAccess add(std::uint64_t address, std::uint32_t bytes, std::uint64_t addend = 1) {
  DataAccess access;
  access.operation = Operation::fetch_add;
  access.address = local(address);
  access.shape = {1, bytes, 0};
  access.traffic = TrafficClass::control;
  access.addend = addend;
  return access;
}

DataAccess store(std::uint64_t address, std::uint32_t bytes) {
  DataAccess access;
  access.operation = Operation::store;
  access.address = local(address);
  access.shape = {1, bytes, 0};
  return access;
}

std::uint64_t value_of(const DataAnswer& answer) {
  std::uint64_t value = 0;
  std::memcpy(&value, answer.data.data(), answer.data.size());
  return value;
}

void check_refused(MemoryBench& bench, const DataAccess& access, Status status, const std::string& text) {
  CHECK(bench.perform(bench.peers, access).status != tlm::TLM_OK_RESPONSE);
  REQUIRE(bench.registers.reported.size() == 1);
  CHECK_THAT(bench.registers.reported[0].text, Contains(text));
  CHECK(bench.registers.take_report() == status);
}

}  // namespace

TEST_CASE("fetch-and-adds from all sides add up and each finds what was there") {
  MemoryBench bench(MemoryBench::small(), true);
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < 50; ++i)
    for (DataInitiator* from : {&bench.bypass, &bench.peers, &bench.dma}) {
      const DataAnswer answer = bench.perform(*from, add(0x48, 8, i << 33));
      REQUIRE(answer.ok());
      CHECK(value_of(answer) == sum);
      sum += i << 33;
    }
}

TEST_CASE("fetch-and-adds of one moment find different values") {
  MemoryBench bench(MemoryBench::small(), true);
  std::vector<std::size_t> sent;
  for (std::uint64_t i = 0; i < 10; ++i) sent.push_back(bench.send(bench.peers, add(0x48, 8)));
  bench.settle();
  for (std::uint64_t i = 0; i < 10; ++i) CHECK(value_of(bench.peers.answer(sent[i])) == i);
}

TEST_CASE("a fetch-and-add is one access of the DRAM and answered with its data") {
  MemoryBench bench(MemoryBench::small(), true);
  DataAccess update = store(2 << 20, 4);
  update.operation = Operation::update;
  update.element = ElementType::fp32;
  update.data.assign(4, 0);
  const DataAnswer updated = bench.perform(bench.peers, update);
  REQUIRE(updated.ok());
  const std::uint64_t before = bench.controller.dram_accesses();
  const DataAnswer added = bench.perform(bench.peers, add(1 << 20, 4));
  CHECK(bench.controller.dram_accesses() == before + 1);
  CHECK(bench.controller.dram_bytes()[index_of(TrafficClass::control)] == 32);
  // An update is answered when it enters the DRAM's queue.
  CHECK(added.at - added.arrival > updated.at - updated.arrival + 5'000);
}

TEST_CASE("a fetch-and-add is refused where it cannot be done, in words") {
  MemoryBench bench(MemoryBench::small(), true);
  check_refused(bench, add(0x44, 8), Status::unaligned, "fetch-and-add at 0x100000000044 is not aligned to its 8-byte");
  check_refused(bench, add(bench.parameters.capacity_bytes, 4), Status::bad_address, "are not in the");
  bench.near_memory.set("control", 0);
  check_refused(bench, add(0x40, 4), Status::disabled, "fetch-and-add while near_memory.control.enable is 0");
  bench.near_memory.set("control", 1);
  CHECK(bench.perform(bench.peers, add(0x40, 4)).ok());
}

TEST_CASE("in a run without data counters are real and tensors are not where they are") {
  MemoryBench bench;
  for (std::uint64_t i = 0; i < 3; ++i) CHECK(value_of(bench.perform(bench.peers, add(0x100, 8, 5))) == i * 5);
  REQUIRE(bench.perform(bench.bypass, store(0x120, 100)).ok());
  check_refused(bench, add(0x140, 8), Status::access_denied, "stores without data have gone to these 32 bytes");
  check_refused(bench, add(0x180, 8), Status::access_denied, "integers and flags apart from tensors expected");
  CHECK(bench.perform(bench.peers, add(0x1A0, 8)).ok());
  check_refused(bench, store(0xE0, 64), Status::access_denied,
                "it has no data, and fetch-and-adds count or flags are there");
  CHECK(bench.perform(bench.bypass, store(0xE0, 32)).ok());
}

TEST_CASE("in a run without data flags are real and tensors are not where they are") {
  MemoryBench bench;
  const auto flag = [](std::uint64_t address, std::vector<unsigned char> data) {
    DataAccess access = store(address, static_cast<std::uint32_t>(data.size()));
    access.data = std::move(data);
    access.real = true;
    return access;
  };
  const auto read = [](std::uint64_t address, std::uint32_t bytes) {
    DataAccess access = store(address, bytes);
    access.operation = Operation::load;
    access.real = true;
    return access;
  };
  REQUIRE(bench.perform(bench.peers, flag(0x100, {1, 2, 3})).ok());
  CHECK(bench.perform(bench.bypass, read(0x101, 2)).data == std::vector<unsigned char>{2, 3});
  check_refused(bench, store(0x100, 32), Status::access_denied,
                "store at 0x100000000100: it has no data, and fetch-and-adds count or flags are there");
  REQUIRE(bench.perform(bench.bypass, store(0x120, 32)).ok());
  check_refused(bench, flag(0x124, {1}), Status::access_denied, "store at 0x100000000124: stores without data have");
  check_refused(bench, read(0x13F, 1), Status::access_denied, "load at 0x10000000013f: stores without data have gone");
  CHECK(bench.perform(bench.cache, read(0x140, 1)).data == std::vector<unsigned char>{0});
  REQUIRE(blocking_access(bench.plain.socket, tlm::TLM_WRITE_COMMAND, local(0x120), {7}).status ==
          tlm::TLM_OK_RESPONSE);
  CHECK(bench.perform(bench.bypass, read(0x120, 1)).data == std::vector<unsigned char>{7});
}

TEST_CASE("in a functional run stores and fetch-and-adds of one place meet") {
  MemoryBench bench(MemoryBench::small(), true);
  REQUIRE(bench.store(0x40, {1, 4, 0}, {7, 0, 0, 0}).ok());
  CHECK(value_of(bench.perform(bench.peers, add(0x40, 4, 2))) == 7);
  CHECK(bench.load(0x40, {1, 4, 0}).data == std::vector<unsigned char>{9, 0, 0, 0});
}

}  // namespace t3vp::test::fetch_add_test
