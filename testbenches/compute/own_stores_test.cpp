// The accesses of a program while its own stores and updates are in flight. Those to all GPUs reach its own GPU by
// another route than its other accesses.
#include <algorithm>

#include "guest_bench.h"
#include "protocol/address_map.h"
#include "registers/signals.h"

namespace t3vp::test::own_stores_test {

using Catch::Contains;

namespace {

constexpr t3_tile row{0, 1, 8, T3_FP32}, other_row{1, 1, 8, T3_FP32};

std::uint64_t out_of(const t3_wave* wave) { return static_cast<const t3_gemm_arguments*>(wave->arguments)->out; }

t3_access row_at(std::uint64_t address) {
  t3_access access{};
  access.address = address;
  access.rows = 1, access.columns = 8, access.element = T3_FP32;
  return access;
}

t3_access row_on(const t3_wave* wave, std::uint64_t gpu) {
  return row_at(address_map::on_gpu(gpu, address_map::local_of(out_of(wave))));
}

void compute_row(t3_wave* wave) {
  t3_vector_work work{};
  work.operations = work.operands = 1;
  work.tiles[0] = row;
  t3_work(wave, &work);
}

/// The output may be stored, loaded and counted in on every GPU.
t3_plan plan_of_all(const t3_device* device, const t3_launch* launch) {
  t3_plan plan = guest_plan(device, launch);
  plan.workgroups = plan.waves = 1;
  const std::uint64_t begin = address_map::local_of(plan.written[0].begin);
  plan.sent[0] = plan.fetched[0] = plan.shared[0] = {begin, begin + 4 * 32};
  return plan;
}

struct AllBench : GuestBench {
  explicit AllBench(void (*run)(t3_wave*)) : GuestBench(run) { kernel.plan = &plan_of_all; }
};

constexpr std::uint64_t all = address_map::all_gpus;

struct Order {
  std::uint64_t stored_on, next_on;
  t3_call_kind stored, next;
  const char* text;  ///< of the refusal; null: it is right
};

static Order order;
static bool drains;

void store_then_next(t3_wave* wave) {
  compute_row(wave);
  (order.stored == T3_CALL_STORE ? t3_store : t3_update)(wave, row, row_on(wave, order.stored_on));
  if (drains) t3_fence(wave);
  const t3_access access = row_on(wave, order.next_on);
  std::uint32_t old = 0;
  if (order.next == T3_CALL_FETCH_ADD) (void)t3_fetch_add_32(wave, access.address + 28, 1, &old);
  if (order.next == T3_CALL_LOAD) t3_load(wave, other_row, access), t3_wait_tile(wave, other_row);
  if (order.next == T3_CALL_STORE) t3_store(wave, row, access);
  if (order.next == T3_CALL_UPDATE) t3_update(wave, row, access);
  t3_fence(wave);
}

}  // namespace

TEST_CASE("what the own store or update under way may be behind is refused without a drain between them") {
  const Order orders[] = {
      {0, 0, T3_CALL_STORE, T3_CALL_FETCH_ADD, "a fetch-and-add of 4 bytes at 0x9001c: its own store of 1 rows"},
      {0, 0, T3_CALL_UPDATE, T3_CALL_FETCH_ADD, "a fetch-and-add of 4 bytes at 0x9001c: its own update of 1 rows"},
      {1, 1, T3_CALL_STORE, T3_CALL_FETCH_ADD, "a fetch-and-add of 4 bytes at 0x10000009001c: its own store of"},
      {all, 0, T3_CALL_STORE, T3_CALL_FETCH_ADD, "a fetch-and-add of 4 bytes at 0x9001c: its own store of 1 rows"},
      {all, 0, T3_CALL_STORE, T3_CALL_LOAD, "a load of 1 rows 0 bytes apart at 0x90000: its own store of 1 rows"},
      {all, 1, T3_CALL_STORE, T3_CALL_LOAD, "a load of 1 rows 0 bytes apart at 0x100000090000: its own store"},
      {all, 0, T3_CALL_STORE, T3_CALL_STORE, "a store of 1 rows 0 bytes apart at 0x90000: its own store of 1 rows"},
      {all, 0, T3_CALL_UPDATE, T3_CALL_UPDATE, "an update of 1 rows 0 bytes apart at 0x90000: its own update of 1"},
      {0, all, T3_CALL_STORE, T3_CALL_STORE, "a store of 1 rows 0 bytes apart at 0xffffe00000090000: its own store"},
      {0, all, T3_CALL_UPDATE, T3_CALL_LOAD, "a load of 1 rows 0 bytes apart at 0xffffe00000090000: its own update"},
      {1, all, T3_CALL_UPDATE, T3_CALL_LOAD, "a load of 1 rows 0 bytes apart at 0xffffe00000090000: its own update"},
      {1, 0, T3_CALL_STORE, T3_CALL_LOAD, nullptr},
      {1, 0, T3_CALL_STORE, T3_CALL_FETCH_ADD, nullptr},
      {all, 1, T3_CALL_STORE, T3_CALL_STORE, nullptr},
      {1, all, T3_CALL_STORE, T3_CALL_STORE, nullptr},
      {0, 0, T3_CALL_STORE, T3_CALL_UPDATE, nullptr},
      {0, 1, T3_CALL_STORE, T3_CALL_STORE, nullptr},
  };
  AllBench guest(store_then_next);
  for (const Order& each : orders) {
    order = each;
    drains = false;
    guest.bench.run(guest.gemm.packet);
    INFO((each.text == nullptr ? "" : each.text));
    CHECK(guest.bench.gpu().error() == (each.text == nullptr ? Status::ok : Status::aborted));
    if (each.text == nullptr) continue;
    const std::string report = guest.report();
    CHECK_THAT(report, Contains(each.text) && Catch::EndsWith(" is under way, t3_fence before it expected"));
    drains = true;
    guest.bench.run(guest.gemm.packet);
    CHECK(guest.bench.gpu().error() == Status::ok);
  }
}

TEST_CASE("a drain waits for the answers to stores to all GPUs and of others until they are taken") {
  const auto next_after = [](AllBench& guest, std::uint64_t gpu) {
    order = {gpu, 0, T3_CALL_STORE, T3_CALL_LOAD, nullptr};
    drains = true;
    guest.bench.memory.log.clear();
    guest.bench.run(guest.gemm.packet);
    CHECK(guest.bench.gpu().error() == Status::ok);
    const auto& log = guest.bench.memory.log;
    const auto stored = std::find_if(log.begin(), log.end(),
                                     [](const LoggedAccess& access) { return access.operation == Operation::store; });
    const auto loaded = std::find_if(log.begin(), log.end(), [](const LoggedAccess& access) {
      return access.operation == Operation::load && access.address == 0x90000;
    });
    REQUIRE((stored != log.end() && loaded != log.end()));
    return loaded->arrival - stored->arrival;
  };
  AllBench guest(store_then_next);
  guest.bench.memory.acknowledged_after = 40'000'000;
  CHECK(next_after(guest, 1) == guest.bench.memory.latency);
  CHECK(next_after(guest, all) == guest.bench.memory.latency + guest.bench.memory.acknowledged_after);
}

TEST_CASE("a plan that says that tiles are named is held for stores to all GPUs too") {
  AllBench guest([](t3_wave* wave) {
    compute_row(wave);
    t3_access access = row_on(wave, all);
    access.uncached = true;
    access.of.named = drains;
    t3_store(wave, row, access);
    t3_fence(wave);
  });
  guest.kernel.plan = [](const t3_device* device, const t3_launch* launch) {
    t3_plan plan = plan_of_all(device, launch);
    plan.tiles_named = T3_TILES_NAMED;
    return plan;
  };
  drains = false;
  guest.bench.run(guest.gemm.packet);
  CHECK(guest.bench.gpu().error() == Status::aborted);
  CHECK_THAT(guest.report(), Contains("a store to 0xffffe00000090000 to 0xffffe0000009001f that names no tile: its "
                                      "plan says T3_TILES_NAMED, a name expected"));
  drains = true;
  guest.bench.run(guest.gemm.packet);
  CHECK(guest.bench.gpu().error() == Status::ok);
}

TEST_CASE("a signal that goes to another GPU than the agreement is with is the kernel's own mistake") {
  static std::uint64_t to;
  AllBench guest([](t3_wave* wave) {
    t3_counter counter{};
    counter.address = address_map::on_gpu(
        to, address_map::block_base(address_map::Block::signals) + registers::Signals::add_offset + 8);
    t3_signal(wave, counter);
  });
  guest.kernel.agree = [](const void*, t3_agreement* sent, t3_agreement* expected) {
    sent->gpus = expected->gpus = 2;
    sent->receiver = 1;
  };
  const std::pair<std::uint64_t, const char*> refused[] = {{0, "a signal to its own GPU 0: "},
                                                           {all, "a signal to all GPUs: "}};
  for (const auto& [gpu, text] : refused) {
    to = gpu;
    guest.bench.run(guest.gemm.packet);
    CHECK(guest.bench.gpu().error() == Status::aborted);
    CHECK_THAT(guest.report(),
               Contains(text + std::string("its agreement's receiver is GPU 1 of the ring, which is expected")));
  }
  to = 1;
  guest.bench.run(guest.gemm.packet);
  CHECK(guest.bench.gpu().error() == Status::ok);
}

}  // namespace t3vp::test::own_stores_test
