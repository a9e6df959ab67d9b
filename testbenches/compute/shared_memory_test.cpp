// What programs read, write and poll byte by byte, in memory that they share with others.
#include <set>

#include "guest_bench.h"
#include "protocol/address_map.h"

namespace t3vp::test::shared_memory_test {

using Catch::Contains;

namespace {

constexpr std::uint64_t shared = 0x6000;  // of guest_plan, 64 bytes of each GPU

std::uint64_t on(std::uint64_t gpu, std::uint64_t offset) { return address_map::on_gpu(gpu, shared + offset); }

bool is_first(const t3_wave* wave) { return wave->workgroup == 0 && wave->wave == 0; }

std::vector<LoggedAccess> loads_of(GuestBench& guest, std::uint64_t address) {
  std::vector<LoggedAccess> found;
  for (const LoggedAccess& access : guest.bench.memory.accesses(Operation::load))
    if (access.address == address) found.push_back(access);
  return found;
}

void require_bytes(bool functional) {
  static std::array<unsigned char, 64> found;
  GuestBench guest(
      [](t3_wave* wave) {
        if (!is_first(wave)) return;
        std::array<unsigned char, 64> bytes{};
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i + 1);
        t3_write(wave, on(1, 0), bytes.data(), 64);
        t3_write(wave, on(0, 3), bytes.data() + 10, 1);
        bytes.fill(0);  // it has been taken
        t3_fence(wave);
        if (!t3_read(wave, on(1, 0), 64, found.data())) found.fill(0xEE);
        if (!t3_read(wave, on(0, 2), 3, found.data())) found.fill(0xEE);
      },
      functional);
  guest.bench.run(guest.gemm.packet);
  REQUIRE(guest.bench.gpu().error() == Status::ok);
  CHECK(found[0] == 0);
  CHECK(found[1] == 11);
  CHECK(found[2] == 0);
  for (std::size_t i = 3; i < found.size(); ++i) REQUIRE(found[i] == i + 1);
  CHECK(guest.bench.memory.at(on(1, 63))[0] == 64);
  for (const LoggedAccess& access : guest.bench.memory.log)
    if (address_map::local_of(access.address) / 64 == shared / 64) {
      CHECK(access.has_data);
      CHECK(!access.cached);
      CHECK(access.traffic == TrafficClass::control);
    }
}

}  // namespace

TEST_CASE("a program writes bytes on every GPU and reads what is there") { require_bytes(true); }

TEST_CASE("bytes that a program writes and reads are real in a run without data") { require_bytes(false); }

TEST_CASE("a write leaves behind the wave's stores and returns at once and a drain waits for it") {
  static Picoseconds left, drained;
  GuestBench guest([](t3_wave* wave) {
    if (!is_first(wave)) return;
    const auto* const p = static_cast<const t3_gemm_arguments*>(wave->arguments);
    t3_vector_work work{};
    work.operands = 1;
    work.tiles[0] = {0, 1, 8, T3_FP32};
    t3_work(wave, &work);
    t3_access access{};
    access.address = p->out, access.rows = 1, access.columns = 8, access.element = T3_FP32;
    t3_store(wave, work.tiles[0], access);
    const std::uint32_t flag = 1;
    t3_write(wave, on(1, 0), &flag, sizeof flag);
    left = now();
    t3_fence(wave);
    drained = now();
  });
  guest.bench.run(guest.gemm.packet);
  REQUIRE(guest.bench.gpu().error() == Status::ok);
  const auto stores = guest.bench.memory.accesses(Operation::store);
  REQUIRE(stores.size() == 2);
  CHECK(stores[1].address == on(1, 0));
  CHECK(stores[1].arrival > stores[0].arrival);
  CHECK(drained >= stores[1].arrival + guest.bench.memory.latency);
  CHECK(left < stores[1].arrival + guest.bench.memory.latency);
}

TEST_CASE("a poll reads until its condition holds and not more often than its loop goes round") {
  static t3_condition condition;
  static Picoseconds ended;
  static bool done;
  GuestBench guest([](t3_wave* wave) {
    if (!is_first(wave)) return;
    done = t3_wait_value(wave, condition);
    ended = now();
  });
  const auto run = [&](t3_condition asked, std::uint64_t value) {
    condition = asked;
    done = false;
    guest.bench.memory.log.clear();
    std::size_t reads = 0;
    guest.bench.memory.observe = [&](const LoggedAccess& access) {
      if (access.address != asked.address || access.operation != Operation::load) return;
      if (++reads == 5) std::memcpy(guest.bench.memory.at(asked.address), &value, sizeof value);
    };
    const std::uint64_t none = 0;
    std::memcpy(guest.bench.memory.at(asked.address & ~std::uint64_t{7}), &none, sizeof none);
    guest.bench.run(guest.gemm.packet);
    REQUIRE(guest.bench.gpu().error() == Status::ok);
    CHECK(done);
    CHECK(reads == 5);
    return loads_of(guest, asked.address);
  };
  const Picoseconds loop = guest.bench.parameters.poll;
  for (const t3_condition& asked :
       {t3_condition{on(0, 8), 8, T3_EQUAL, ~std::uint64_t{0}, 7, false},
        t3_condition{on(0, 0), 1, T3_EQUAL, 3, 3, true}, t3_condition{on(1, 4), 4, T3_AT_LEAST, 0xFFFFFFFF, 6, false},
        t3_condition{on(0, 2), 2, T3_NOT_EQUAL, 0x4, 0, false}}) {
    const auto reads = run(asked, 7);
    CHECK(reads.front().cached == asked.cached);
    for (std::size_t i = 1; i < reads.size(); ++i) CHECK(reads[i].arrival - reads[i - 1].arrival == loop);
    CHECK(ended >= reads.back().arrival + guest.bench.memory.latency);
  }
  guest.bench.memory.latency = 3 * loop;
  const auto slow = run({on(0, 0), 4, T3_EQUAL, 1, 1, false}, 1);
  for (std::size_t i = 1; i < slow.size(); ++i)
    CHECK(slow[i].arrival - slow[i - 1].arrival >= guest.bench.memory.latency);
}

TEST_CASE("a refused read or poll is the kernel's failure and the program is told") {
  static std::array<bool, 2> done;
  GuestBench guest([](t3_wave* wave) {
    if (!is_first(wave)) return;
    unsigned char byte = 0;
    done[0] = t3_read(wave, on(0, 0), 1, &byte);
    done[1] = t3_wait_value(wave, {on(0, 0), 1, T3_EQUAL, 1, 1, false});
  });
  guest.bench.memory.judge = [](const LoggedAccess& access) {
    return access.address == on(0, 0) ? tlm::TLM_COMMAND_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE;
  };
  done = {true, true};
  guest.bench.run(guest.gemm.packet);
  CHECK(guest.bench.gpu().error() == Status::access_denied);
  CHECK(done == std::array<bool, 2>{false, false});
}

TEST_CASE("a refused write is the kernel's failure") {
  GuestBench guest([](t3_wave* wave) {
    if (!is_first(wave)) return;
    const unsigned char byte = 1;
    t3_write(wave, on(0, 0), &byte, 1);
    t3_fence(wave);
  });
  guest.bench.memory.judge = [](const LoggedAccess& access) {
    return access.address == on(0, 0) ? tlm::TLM_COMMAND_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE;
  };
  guest.bench.run(guest.gemm.packet);
  CHECK(guest.bench.gpu().error() == Status::access_denied);
}

TEST_CASE("polls that are held read nothing and go on in the rhythm of their loop") {
  GuestBench guest([](t3_wave* wave) {
    if (is_first(wave)) (void)t3_wait_value(wave, {on(0, 0), 4, T3_EQUAL, 1, 1, false});
  });
  ClusterUnderTest& gpu = guest.bench.gpu();
  const Picoseconds loop = guest.bench.parameters.poll;
  gpu.put(guest.bench.memory, guest.gemm.packet);
  gpu.ring();
  guest.bench.wait(20 * loop);
  CHECK(gpu.cluster.polling() == 1);
  const std::size_t before = loads_of(guest, on(0, 0)).size();
  CHECK(before > 5);
  CHECK(gpu.cluster.polls_in_vain() + 1 >= before);
  CHECK_THAT(gpu.cluster.diagnosis().at(0),
             Contains("guest: workgroup 0, wave 0 polls 4 bytes at 0x6000 under mask 0x1: 0x0 the last of ") &&
                 Contains(" times, 0x1 expected"));
  gpu.cluster.hold_polls(true);
  sc_core::sc_start();
  CHECK(!sc_core::sc_pending_activity());
  guest.bench.wait(7 * loop + loop / 3);
  CHECK(loads_of(guest, on(0, 0)).size() <= before + 1);
  guest.bench.memory.at(on(0, 0))[0] = 1;
  gpu.cluster.hold_polls(false);
  REQUIRE(guest.bench.finish());
  CHECK(gpu.error() == Status::ok);
  const auto reads = loads_of(guest, on(0, 0));
  CHECK((reads.back().arrival - reads.front().arrival) % loop == 0);
}

TEST_CASE("a kernel that polls can be aborted") {
  GuestBench guest([](t3_wave* wave) { (void)t3_wait_value(wave, {on(1, 0), 8, T3_AT_LEAST, 7, 7, false}); });
  ClusterUnderTest& gpu = guest.bench.gpu();
  gpu.put(guest.bench.memory, guest.gemm.packet);
  gpu.ring();
  guest.bench.wait(20 * guest.bench.parameters.poll);
  gpu.abort();
  REQUIRE(guest.bench.finish());
  CHECK(gpu.error() == Status::aborted);
  guest.bench.wait(20 * guest.bench.parameters.poll);
  CHECK(gpu.cluster.polling() == 0);
}

TEST_CASE("what a program reads and writes is touched on its account") {
  static std::uint64_t read;
  GuestBench guest([](t3_wave* wave) {
    if (is_first(wave)) (void)t3_read(wave, on(1, 0), 8, &read);
  });
  read = 0;
  guest.bench.memory.at(on(1, 0))[0] = 5;
  bool changed = false;
  guest.bench.gpu().cluster.on_code([&, known = std::uint64_t{0}](const KernelCode* code) mutable {
    if (code != nullptr) CHECK(read == known);
    changed = changed || read != known;
    known = read;
  });
  guest.bench.run(guest.gemm.packet);
  CHECK(changed);
}

}  // namespace t3vp::test::shared_memory_test
