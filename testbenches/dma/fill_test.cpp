#include <map>

#include "dma/dma_bench.h"

namespace t3vp::test::fill_test {

using namespace dma;

namespace {

constexpr std::uint64_t base = address_map::on_gpu(bench_gpu, 0x3020);

}  // namespace

TEST_CASE("a fill zeroes exactly its range, in order, and tells when it is done") {
  DmaBench bench;
  const std::uint64_t bytes = 10 * 4096 + 96;
  bench.writes = TrafficClass::setup;
  REQUIRE(bench.fill(base, bytes) == Status::ok);
  REQUIRE(bench.busy());
  bench.settle();
  std::uint64_t next = base;
  for (const DataTarget::Arrival& store : bench.memory.arrivals()) {
    REQUIRE(store.address == next);
    REQUIRE(store.extension.operation == Operation::store);
    REQUIRE(store.extension.traffic == TrafficClass::setup);
    REQUIRE(store.extension.producer.wg_id == no_workgroup);
    REQUIRE(store.data == std::vector<unsigned char>(store.extension.shape.bytes(), 0));
    next += store.extension.shape.bytes();
  }
  REQUIRE(next == base + bytes);
  REQUIRE_FALSE(bench.busy());
  REQUIRE(bench.registers["interrupt"] == 2);
  REQUIRE(bench.interrupt.read());
}

TEST_CASE("a fill keeps no more bytes under way than the engine can buffer, and refuses a second one") {
  DmaParameters parameters;
  parameters.bytes_in_flight = 10'000;
  DmaBench bench(parameters);
  REQUIRE(bench.fill(base, 1 << 20) == Status::ok);
  REQUIRE(bench.fill(base, 32) == Status::busy);
  bench.settle();
  REQUIRE(bench.memory.most_bytes_held() <= 10'000);
  REQUIRE(bench.memory.most_bytes_held() >= 8192);
  REQUIRE(bench.fill(base, 32) == Status::ok);
}

TEST_CASE("a fill outside local memory, unaligned or of nothing is refused") {
  DmaBench bench;
  const auto refused = [&](std::uint64_t at, std::uint64_t bytes, Status code) {
    CAPTURE(at, bytes);
    REQUIRE(bench.fill(at, bytes) == code);
    REQUIRE(bench.registers.take_report() == code);
    REQUIRE_FALSE(bench.busy());
  };
  const std::uint64_t end = address_map::on_gpu(bench_gpu, address_map::hbm_limit);
  refused(base + 16, 64, Status::unaligned);
  refused(base, 48, Status::unaligned);
  refused(base, 0, Status::invalid_argument);
  refused(address_map::on_gpu(peer_gpu, 0x1000), 64, Status::bad_address);
  refused(end, 64, Status::bad_address);
  refused(end - 32, 64, Status::bad_address);
  refused(base, std::uint64_t{1} << address_map::gpu_shift, Status::bad_address);  // ends in the next GPU's memory
  refused(base, ~std::uint64_t{31}, Status::bad_address);                          // wraps around
  REQUIRE(bench.memory.arrivals().empty());
}

TEST_CASE("a fill that the memory refuses stops, and says so") {
  DmaParameters parameters;
  parameters.bytes_in_flight = 8192;
  DmaBench bench(parameters);
  bench.memory.serve = [](tlm::tlm_generic_payload& transaction) {
    return transaction.get_address() >= base + 16384 ? tlm::TLM_ADDRESS_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE;
  };
  REQUIRE(bench.fill(base, std::uint64_t{1} << 30) == Status::ok);
  bench.run_for(100'000'000);
  REQUIRE_FALSE(bench.busy());
  REQUIRE(bench.registers.command_status() == Status::bad_address);
  REQUIRE(bench.registers["interrupt"] == 2);
  REQUIRE(bench.memory.arrivals().size() < 10);
}

TEST_CASE("a fill tells when its last store is answered, and not before") {
  DmaBench bench;
  bench.memory.holds = true;
  bench.run_for(1'000'000);
  const Picoseconds begin = now();
  REQUIRE(bench.fill(base, 3 * 4096) == Status::ok);
  bench.settle();
  REQUIRE(bench.memory.arrivals().size() == 3);
  for (const DataTarget::Arrival& store : bench.memory.arrivals())
    REQUIRE(store.at == begin + bench.parameters.latency);
  for (int answered = 0; answered < 3; ++answered) {
    REQUIRE(bench.busy());
    REQUIRE(bench.registers["interrupt"] == 0);
    bench.registers.set("command", 2);  // remove_all
    REQUIRE(bench.registers.command_status() == Status::busy);
    bench.memory.answer_one();
    bench.settle();
  }
  REQUIRE_FALSE(bench.busy());
  REQUIRE(bench.registers["interrupt"] == 2);
}

TEST_CASE("nothing is zeroed where somebody else writes") {
  DmaBench bench;
  bench.user.text = "a kernel runs";
  REQUIRE(bench.fill(base, 64) == Status::busy);
  REQUIRE(bench.registers.reported.size() == 1);
  CHECK(bench.registers.reported[0].address == base);
  CHECK(bench.registers.reported[0].text ==
        fmt::format("fill of 0x40 bytes at {0:#x}: a kernel runs {0:#x} {1:#x}, and nothing is zeroed before that has "
                    "ended",
                    base, base + 64));
  REQUIRE_FALSE(bench.busy());
  bench.settle();
  REQUIRE(bench.memory.arrivals().empty());
  REQUIRE(bench.registers["interrupt"] == 0);
  bench.user.text.clear();
  REQUIRE(bench.fill(base, 64) == Status::ok);
}

TEST_CASE("a fill tells where it writes until its last store is answered") {
  DmaBench bench;
  const auto found = [&](std::uint64_t begin, std::uint64_t end) {
    return bench.engine.use_of({base + begin, base + end});
  };
  const std::uint64_t bytes = 2 * 4096;
  bench.memory.holds = true;
  REQUIRE(found(0, bytes).empty());
  REQUIRE(bench.fill(base, bytes) == Status::ok);
  bench.settle();
  const std::string all = fmt::format("a fill zeroes {:#x} to {:#x}", base, base + bytes - 1);
  REQUIRE(bench.memory.arrivals().size() == 2);
  CHECK(found(0, 1) == all);
  CHECK(found(bytes - 1, 2 * bytes) == all);
  CHECK(bench.engine.use_of({base - 32, base}).empty());
  CHECK(found(bytes, 2 * bytes).empty());
  bench.memory.answer_one();
  bench.settle();
  CHECK_FALSE(found(bytes - 1, bytes).empty());
  bench.memory.answer_one();
  bench.settle();
  CHECK(found(0, 2 * bytes).empty());
}

}  // namespace t3vp::test::fill_test
