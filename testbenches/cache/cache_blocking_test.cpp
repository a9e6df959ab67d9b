// Initiators of other people's on the cache's sockets.
#include "cache_bench.h"
#include "data_path/foreign_access.h"
#include "protocol/stubs.h"

namespace t3vp::test::cache_blocking_test {

using namespace cache;

namespace {

DataAccess access_of(Operation operation, std::uint64_t address, std::uint32_t bytes, unsigned char value = 0) {
  DataAccess access;
  access.operation = operation;
  access.address = address;
  access.shape = {1, bytes, 0};
  if (operation != Operation::load) access.data.assign(bytes, value);
  return access;
}

}  // namespace

TEST_CASE("the cache serves blocking initiators of the compute units' side between others") {
  CacheBench bench(CacheBench::fully_associative(4));
  std::vector<DataAccess> accesses;
  for (std::uint32_t i = 0; i < 8; ++i) {  // twice the cache
    accesses.push_back(access_of(Operation::store, i * 128, 64, static_cast<unsigned char>(i + 1)));
    accesses.push_back(access_of(Operation::load, i * 128, 64));
    accesses.push_back(access_of(Operation::load, i * 128 + 64, 32));
    accesses.push_back(access_of(Operation::update, 0x8000 + i * 128, 32));
  }
  const std::vector<ForeignAnswer> answers = blocking_accesses(bench.compute.socket, accesses, [&] {
    for (std::uint32_t i = 0; i < 8; ++i) bench.compute.load(0x4000 + i * 256, 128);
    for (std::uint32_t i = 0; i < 8; ++i) bench.compute.store(0x4000 + i * 256, 128);
  });
  REQUIRE(all_ok(answers));
  REQUIRE(bench.compute.answers.size() == 16);
  REQUIRE(bench.compute.all_answered_well());
  for (std::size_t i = 0; i < answers.size(); ++i)
    if (accesses[i % 32].operation == Operation::load && accesses[i % 32].shape.bytes() == 64)
      REQUIRE(answers[i].data == accesses[i % 32 - 1].data);
}

TEST_CASE("the cache serves blocking initiators of the peers' side between others") {
  CacheBench bench(CacheBench::fully_associative(4));
  std::vector<DataAccess> accesses;
  for (std::uint32_t i = 0; i < 8; ++i) {
    accesses.push_back(access_of(Operation::store, i * 128, 64, static_cast<unsigned char>(i + 1)));
    accesses.push_back(access_of(Operation::update, 0x8000 + i * 128, 32));
  }
  const std::vector<ForeignAnswer> answers = blocking_accesses(bench.peer.socket, accesses, [&] {
    for (std::uint32_t i = 0; i < 8; ++i) bench.compute.load(i * 128, 128);
    for (std::uint32_t i = 0; i < 8; ++i) bench.peer.store(0x4000 + i * 256, 128);
  });
  REQUIRE(all_ok(answers));
  REQUIRE(bench.compute.all_answered_well());
  REQUIRE(bench.peer.answers.size() == 8);
  REQUIRE(bench.peer.all_answered_well());
}

namespace {

/// Completes every access within its call, the n-th n nanoseconds after its arrival, and refuses the one that is set.
struct EagerMemory : sc_core::sc_module {
  DataTargetSocket<EagerMemory> socket{"socket", this, &EagerMemory::request};
  unsigned accesses = 0, refused = 0;

  explicit EagerMemory(const sc_core::sc_module_name& name) : sc_module(name) { socket.on_debug(&EagerMemory::debug); }
  void request(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
    ++accesses;
    transaction.set_response_status(accesses == refused ? tlm::TLM_ADDRESS_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE);
    socket.respond(transaction, delay + accesses * Picoseconds{1000});
  }
  unsigned debug(int, tlm::tlm_generic_payload& transaction) {
    transaction.set_response_status(tlm::TLM_OK_RESPONSE);
    return transaction.get_data_length();
  }
};

}  // namespace

TEST_CASE("a load whose fills the memory completes at once waits for the latest and keeps an error of any") {
  const CacheParameters parameters = CacheBench::of_sets(8, 4);
  LastLevelCache cache("cache", parameters, CacheBench::memory_latency, 0);
  EagerMemory memory("memory"), bypass("bypass"), peer_memory("peer_memory");
  Requester compute("compute"), peer("peer");
  NamedRegisters registers{cache.registers};
  compute.socket.bind(cache.compute);
  peer.socket.bind(cache.peers);
  cache.memory.bind(memory.socket);
  cache.bypass.bind(bypass.socket);
  cache.peer_memory.bind(peer_memory.socket);
  Stubs stubs;
  stubs.stub(cache.nic);
  stubs.stub(cache.nic_memory);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  compute.load(0x0, 32);
  compute.load(0x80, 32);
  memory.accesses = 0;
  memory.refused = 2;
  const std::size_t number = compute.load(0x0, 0x180);  // without those sectors: two fills
  sc_core::sc_start(sc_core::sc_time(10, sc_core::SC_US));
  REQUIRE(memory.accesses == 2);
  REQUIRE(compute.answers[number].status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  REQUIRE(compute.answers[number].time == parameters.latency + CacheBench::memory_latency + 2000);
}

}  // namespace t3vp::test::cache_blocking_test
