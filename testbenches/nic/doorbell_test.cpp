// Doorbells that kernels ring by stores.
#include "nic/nic_bench.h"

namespace t3vp::test::doorbell_test {

using namespace nic;

TEST_CASE("a kernel's store to a doorbell is what a write to the register is, at the time of its arrival") {
  NicBench bench;
  bench.connect(0);
  bench.connect(5);
  const std::uint32_t key = bench.b.region(Side::data, 64);
  const std::vector<unsigned char> content = Random(1).bytes(8);
  std::vector<Picoseconds> took;
  for (const bool by_kernel : {false, true}) {
    const Picoseconds begin = now(), delay = by_kernel ? 12'345 : 0;
    bench.a.post_inline(bench.b.base + Side::data, key, content, 5);
    if (by_kernel)
      bench.a.ring_by_kernel(5, delay);
    else
      bench.a.ring(5);
    bench.settle();
    took.push_back(bench.b.memory.arrivals().back().at - begin - delay);
    REQUIRE(bench.a.completions().size() == 1);
  }
  REQUIRE(took[0] == took[1]);
  REQUIRE(bench.a.kernel.answer(0).ok());
  REQUIRE(bench.a.kernel.answer(0).at == bench.a.kernel.answer(0).arrival);
  REQUIRE(bench.b.content(Side::data, 8) == content);
  REQUIRE(bench.a.registers.reported.empty());
}

TEST_CASE("a kernel's doorbell is real in a run without data") {
  NicBench bench({}, false);
  bench.connect();
  const std::uint32_t key = bench.b.region(Side::data, 64);
  bench.a.post_inline(bench.b.base + Side::data, key, {7});
  bench.a.ring_by_kernel();
  bench.settle();
  REQUIRE(bench.b.bytes[Side::data] == 7);
}

TEST_CASE("whatever else a kernel sends to the NIC's registers is refused and told") {
  NicBench bench;
  bench.connect();
  const std::uint64_t doorbell = bench.a.doorbell_of(0);
  struct Case {
    Operation operation;
    std::uint64_t address;
    std::uint32_t bytes;
    bool has_data;
  };
  const Case cases[] = {
      {Operation::store, doorbell, 8, true},      {Operation::store, doorbell, 2, true},
      {Operation::store, doorbell + 2, 4, true},  {Operation::store, doorbell + 8, 4, true},
      {Operation::store, doorbell, 4, false},     {Operation::store, bench.a.doorbell_of(64), 4, true},
      {Operation::store, doorbell - 4, 4, true},  {Operation::update, doorbell, 4, true},
      {Operation::fetch_add, doorbell, 4, false}, {Operation::load, doorbell, 4, false}};
  for (const Case& c : cases) {
    DataAccess access;
    access.operation = c.operation;
    access.address = c.address;
    access.shape = {1, c.bytes, 0};
    if (c.has_data) access.data.resize(c.bytes);
    const std::size_t number = bench.a.kernel.send(access);
    bench.settle();
    INFO(name_of(c.operation) << " of " << c.bytes << " at " << c.address);
    REQUIRE(bench.a.kernel.answer(number).status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    REQUIRE(bench.a.has_reported("compute units may only store the 4 bytes of nic.doorbell[i]"));
    REQUIRE(bench.a.registers.reported.size() == 1);
    bench.a.registers.reported.clear();
  }
  REQUIRE(bench.a.memory.arrivals().empty());
}

TEST_CASE("a kernel tells how many completions it has taken as a write to the register does") {
  NicBench bench;
  bench.connect();
  const std::uint32_t key = bench.b.region(Side::data, 64);
  bench.a.post_inline(bench.b.base + Side::data, key, {7});
  bench.a.ring();
  bench.settle();
  const auto take = [&](std::uint32_t consumed, std::uint32_t queue) {
    DataAccess store;
    store.operation = Operation::store;
    store.address = bench.a.doorbell_of(queue) + 4;
    store.shape = {1, 4, 0};
    store.data.resize(4);
    t3_put_number(store.data.data(), 4, consumed);
    const std::size_t number = bench.a.kernel.send(store);
    bench.settle();
    return bench.a.kernel.answer(number).status;
  };
  REQUIRE(take(1, 0) == tlm::TLM_OK_RESPONSE);
  REQUIRE(bench.a.registers.element("consumed", 0) == 1);
  REQUIRE(bench.a.registers.reported.empty());
  REQUIRE(take(2, 0) == tlm::TLM_COMMAND_ERROR_RESPONSE);
  REQUIRE(bench.a.has_reported("nic.consumed[0]: 0x2, at most the 1 entries that were written"));
  REQUIRE(bench.a.registers.element("consumed", 0) == 1);
  REQUIRE(take(0, 32) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST_CASE("a kernel's doorbell for a queue pair that is not ready is refused, raises the error and is told") {
  NicBench bench;
  const std::size_t number = bench.a.ring_by_kernel(3);
  bench.settle();
  REQUIRE(bench.a.kernel.answer(number).status == tlm::TLM_COMMAND_ERROR_RESPONSE);
  REQUIRE(bench.a.has_reported("nic.doorbell[3]: 0x0, queue pair in ready_to_send expected, it is in reset"));
  REQUIRE((bench.a.registers["interrupt"] & 2) != 0);
  REQUIRE(bench.a.interrupt.read());
}

TEST_CASE("a kernel's doorbell from before a reset is lost") {
  NicBench bench;
  const std::size_t number = bench.a.ring_by_kernel(0, 20'000);
  bench.run_for(10'000);
  bench.a.nic.registers.reset();
  bench.a.completion_queue(0);
  bench.connect();
  bench.settle();
  REQUIRE(bench.a.kernel.answer(number).status == tlm::TLM_COMMAND_ERROR_RESPONSE);
  REQUIRE(bench.a.kernel.answer(number).refusal == static_cast<std::uint32_t>(Status::peer_failed));
  REQUIRE(bench.a.memory.arrivals().empty());
}

}  // namespace t3vp::test::doorbell_test
