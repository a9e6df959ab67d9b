// What is refused gives its code, and the driver goes on working.
#include <catch2/catch.hpp>

#include <cstring>

#include "firmware/gemm_run.h"
#include "firmware/opened_driver.h"
#include "t3/registers/cache.h"
#include "t3/registers/dma.h"
#include "t3/registers/kernel_queue.h"
#include "t3/registers/signals.h"
#include "t3/registers/tracker.h"

namespace t3vp::test::error_paths_test {

namespace {

constexpr t3_status refusals[] = {T3_OVERLAP, T3_UNALIGNED, T3_TABLE_FULL,
                                  T3_NO_PEER, T3_CAPACITY,  T3_INVALID_ARGUMENT};

}  // namespace

TEST_CASE("remote_map hands on why it was refused") {
  Driver driver;
  for (const t3_status code : refusals) {
    driver.mock.refuse_next(T3_BLOCK_OUTPUT_MAP, {code});
    REQUIRE(driver.remote_map() == code);
    driver.require_alive();
  }
}

TEST_CASE("a block that could not be sent is told by the wait, a fill that failed by its call") {
  Driver driver;
  REQUIRE(driver.dma_map() == T3_OK);
  driver.mock.reg(T3_BLOCK_DMA, T3_DMA_STATUS_OFFSET) = T3_BAD_ADDRESS << T3_DMA_STATUS_TRANSFER_SHIFT;
  REQUIRE(t3_wait_dma(&driver.context) == T3_BAD_ADDRESS);
  REQUIRE(t3_remote_unmap_all(&driver.context) == T3_OK);
  driver.require_alive();
  driver.mock.fail_fill(T3_BAD_ADDRESS);
  REQUIRE(t3_fill_zero(&driver.context, &driver.a) == T3_BAD_ADDRESS);
  REQUIRE(t3_fill_zero(&driver.context, &driver.a) == T3_OK);
  driver.require_alive();
}

TEST_CASE("a chunk that the Tracker refuses does not reach the DMA engine") {
  Driver driver;
  for (const t3_status code : refusals) {
    driver.mock.refuse_next(T3_BLOCK_TRACKER, {code});
    driver.mock.take_journal();
    REQUIRE(driver.dma_map() == code);
    for (const std::string& line : driver.mock.take_journal()) REQUIRE(line.rfind("dma", 0) != 0);
    driver.require_alive();
  }
}

TEST_CASE("a chunk that the DMA engine refuses does not stay in the Tracker") {
  Driver driver;
  for (const t3_status code : refusals) {
    driver.mock.refuse_next(T3_BLOCK_DMA, {code});
    driver.mock.take_journal();
    REQUIRE(driver.dma_map() == code);
    const std::vector<std::string> journal = driver.mock.take_journal();
    REQUIRE(std::find(journal.begin(), journal.end(), "untrack") != journal.end());
    driver.require_alive();
  }
}

TEST_CASE("the reason of the refusal outlives a removal that is refused too") {
  Driver driver;
  driver.mock.refuse_next(T3_BLOCK_DMA, {T3_NO_PEER, T3_BUSY});
  REQUIRE(driver.dma_map() == T3_NO_PEER);
}

TEST_CASE("a fill that is refused is not waited for") {
  Driver driver;
  driver.mock.refuse_next(T3_BLOCK_DMA, {T3_UNALIGNED});
  REQUIRE(t3_fill_zero(&driver.context, &driver.out.matrix) == T3_UNALIGNED);
  REQUIRE(t3_fill_zero(&driver.context, &driver.out.matrix) == T3_OK);
  driver.mock.refuse_next(T3_BLOCK_NEAR_MEMORY, {T3_TABLE_FULL});
  REQUIRE(t3_arm_zero(&driver.context, &driver.out.matrix) == T3_TABLE_FULL);
  REQUIRE(t3_arm_zero(&driver.context, &driver.out.matrix) == T3_OK);
  REQUIRE(t3_disarm_zero(&driver.context) == T3_OK);
  driver.require_alive();
}

TEST_CASE("a refused kernel is told by the wait") {
  Driver driver;
  driver.mock.refuse_kernel(T3_BAD_PACKET);
  REQUIRE(driver.gemm() == T3_OK);
  REQUIRE(t3_wait_kernels(&driver.context) == T3_BAD_PACKET);
  REQUIRE(t3_wait_kernels(&driver.context) == T3_OK);  // it has been reported once
  driver.require_alive();
}

TEST_CASE("the codes of the last 256 kernels are kept") {
  Driver driver;
  t3_context* context = &driver.context;
  for (int i = 0; i < 300; ++i) {
    if (i == 280) driver.mock.refuse_kernel(T3_BAD_PACKET);
    REQUIRE(driver.gemm() == T3_OK);
    if (i % 10 == 9) REQUIRE(t3_wait_kernels(context) == (i == 289 ? T3_BAD_PACKET : T3_OK));
  }
  REQUIRE(t3_last_kernel(context) == 300);
  CHECK(t3_wait_kernel(context, 300) == T3_OK);
  CHECK(t3_wait_kernel(context, 281) == T3_BAD_PACKET);
  CHECK(t3_wait_kernel(context, 45) == T3_OK);
  CHECK(t3_wait_kernel(context, 44) == T3_INVALID_ARGUMENT);
  CHECK(t3_wait_kernel(context, 1) == T3_INVALID_ARGUMENT);
  CHECK(t3_wait_kernel(context, 301) == T3_INVALID_ARGUMENT);
  CHECK(t3_wait_kernel(context, UINT64_MAX) == T3_INVALID_ARGUMENT);
}

TEST_CASE("matrices that do not fit together are no GEMM") {
  Driver driver;
  const auto refused = [&](const t3_output& out, const t3_matrix& a, const t3_matrix& b) {
    return t3_gemm(&driver.context, &out, &a, &b, {}) == T3_INVALID_ARGUMENT;
  };
  t3_matrix wrong = driver.a;
  wrong.columns += 1;
  CHECK(refused(driver.out, wrong, driver.b));
  wrong = driver.b;
  wrong.columns -= 1;
  CHECK(refused(driver.out, driver.a, wrong));
  wrong = driver.b;
  wrong.element = T3_FP32;
  CHECK(refused(driver.out, driver.a, wrong));
  t3_output odd = driver.out;
  odd.tiling.rows = 0;
  CHECK(refused(odd, driver.a, driver.b));
  odd = driver.out;
  odd.tiling.wavefronts = 9;
  CHECK(refused(odd, driver.a, driver.b));
  odd = driver.out;
  odd.matrix.rows = 0;
  CHECK(refused(odd, driver.a, driver.b));
  CHECK(driver.mock.packets().empty());
  driver.require_alive();
}

namespace {

/// Every call that takes a context.
void require_refused(t3_context* context, Driver& d) {
  std::uint64_t address = 0;
  t3_error error;
  const t3_attention_operands operands{&d.a, nullptr, nullptr, {}, 1};
  CHECK(t3_close(context) == T3_INVALID_ARGUMENT);
  CHECK(t3_set_timeout(context, 1) == T3_INVALID_ARGUMENT);
  CHECK(t3_ring_previous(context) == 0);
  CHECK(t3_malloc(context, 1, &address) == T3_INVALID_ARGUMENT);
  CHECK(t3_matrix_malloc(context, &d.a) == T3_INVALID_ARGUMENT);
  CHECK(t3_free(context, d.a.address) == T3_INVALID_ARGUMENT);
  CHECK(t3_fill_zero(context, &d.a) == T3_INVALID_ARGUMENT);
  CHECK(t3_arm_zero(context, &d.a) == T3_INVALID_ARGUMENT);
  CHECK(t3_disarm_zero(context) == T3_INVALID_ARGUMENT);
  CHECK(t3_ring_chunk(context, &d.out, 0).workgroups == 0);
  CHECK(t3_remote_map(context, &d.out, {0, 1}, d.peer_out, T3_UPDATE) == T3_INVALID_ARGUMENT);
  CHECK(t3_dma_map(context, &d.out, {0, 1}, d.peer_out, T3_UPDATE, {2, 1, T3_UPDATE}) == T3_INVALID_ARGUMENT);
  CHECK(t3_remote_unmap_all(context) == T3_INVALID_ARGUMENT);
  CHECK(t3_wait_dma(context) == T3_INVALID_ARGUMENT);
  CHECK(t3_gemm(context, &d.out, &d.a, &d.b, {}) == T3_INVALID_ARGUMENT);
  CHECK(t3_rows(context, T3_ROWS_SCALE, &d.a, &d.a, nullptr, nullptr, {}) == T3_INVALID_ARGUMENT);
  CHECK(t3_attention(context, T3_ATTENTION_FORWARD, &d.out, &operands) == T3_INVALID_ARGUMENT);
  CHECK(t3_ring_reduce_scatter(context, &d.out, nullptr) == T3_INVALID_ARGUMENT);
  CHECK(t3_ring_all_gather(context, &d.out) == T3_INVALID_ARGUMENT);
  CHECK(t3_wait_kernels(context) == T3_INVALID_ARGUMENT);
  CHECK(t3_last_kernel(context) == 0);
  CHECK(t3_wait_kernel(context, 1) == T3_INVALID_ARGUMENT);
  CHECK(t3_abort_kernels(context) == T3_INVALID_ARGUMENT);
  CHECK(t3_set_ring_workgroups(context, 1) == T3_INVALID_ARGUMENT);
  CHECK(t3_flush_cache(context) == T3_INVALID_ARGUMENT);
  CHECK(t3_set_arbitration(context, T3_MCA, 0) == T3_INVALID_ARGUMENT);
  CHECK(t3_barrier(context) == T3_INVALID_ARGUMENT);
  CHECK(t3_next_error(context, &error) == T3_INVALID_ARGUMENT);
  CHECK(t3_set_handler(context, T3_LINE_DMA, 1, nullptr, nullptr) == T3_INVALID_ARGUMENT);
  CHECK(t3_mask(context, T3_LINE_DMA) == T3_INVALID_ARGUMENT);
  CHECK(t3_unmask(context, T3_LINE_DMA) == T3_INVALID_ARGUMENT);
}

}  // namespace

TEST_CASE("calls without a context or with one that is closed or copied or was never opened are refused") {
  Driver driver;
  t3_context copy = driver.context, failed;
  require_refused(nullptr, driver);
  require_refused(&copy, driver);
  REQUIRE(t3_close(&driver.context) == T3_OK);
  require_refused(&driver.context, driver);
  std::memset(static_cast<void*>(&failed), 0xA5, sizeof failed);
  require_refused(&failed, driver);
  MockGpu other(0, 0);  // no GPU of none
  REQUIRE(t3_init(&failed, other.hal()) == T3_BAD_VALUE);
  require_refused(&failed, driver);
}

TEST_CASE("calls without an operand or with one outside its range are refused") {
  Driver d;
  t3_context* context = &d.context;
  const t3_attention_operands none{};
  CHECK(t3_init(nullptr, d.mock.hal()) == T3_INVALID_ARGUMENT);
  CHECK(t3_init(context, nullptr) == T3_INVALID_ARGUMENT);
  t3_context second;
  CHECK(t3_init(&second, d.mock.hal()) == T3_BUSY);
  CHECK(t3_reset(nullptr) == T3_INVALID_ARGUMENT);
  CHECK(t3_malloc(context, 0, &d.peer_out) == T3_INVALID_ARGUMENT);
  CHECK(t3_malloc(context, 1, nullptr) == T3_INVALID_ARGUMENT);
  CHECK(t3_matrix_malloc(context, nullptr) == T3_INVALID_ARGUMENT);
  CHECK(t3_fill_zero(context, nullptr) == T3_INVALID_ARGUMENT);
  CHECK(t3_arm_zero(context, nullptr) == T3_INVALID_ARGUMENT);
  CHECK(t3_workgroups(nullptr) == 0);
  CHECK(t3_chunk_of(nullptr, 0, 1).workgroups == 0);
  CHECK(t3_chunk_of(&d.out, 0, 0).workgroups == 0);
  CHECK(t3_chunk_of(&d.out, 3, 3).workgroups == 0);
  CHECK(t3_chunk_of(&d.out, UINT32_MAX, UINT32_MAX).workgroups == 0);
  CHECK(t3_chunk_of(&d.out, UINT32_MAX - 1, UINT32_MAX).workgroups == 1);
  CHECK(t3_ring_chunk(context, nullptr, 0).workgroups == 0);
  CHECK(t3_peer_address(nullptr, 1) == 0);
  CHECK(t3_remote_map(context, nullptr, {0, 1}, 0, T3_UPDATE) == T3_INVALID_ARGUMENT);
  CHECK(t3_remote_map(context, &d.out, {0, 1}, 0, T3_NOTIFY) == T3_INVALID_ARGUMENT);
  CHECK(t3_dma_map(context, nullptr, {0, 1}, 0, T3_UPDATE, {2, 1, T3_UPDATE}) == T3_INVALID_ARGUMENT);
  CHECK(t3_gemm(context, nullptr, &d.a, &d.b, {}) == T3_INVALID_ARGUMENT);
  CHECK(t3_gemm(context, &d.out, nullptr, &d.b, {}) == T3_INVALID_ARGUMENT);
  CHECK(t3_gemm(context, &d.out, &d.a, nullptr, {}) == T3_INVALID_ARGUMENT);
  CHECK(t3_rows(context, T3_ROWS_SCALE, nullptr, &d.a, nullptr, nullptr, {}) == T3_INVALID_ARGUMENT);
  CHECK(t3_rows(context, T3_ROWS_SCALE, &d.a, nullptr, nullptr, nullptr, {}) == T3_INVALID_ARGUMENT);
  CHECK(t3_attention(context, T3_ATTENTION_FORWARD, nullptr, &none) == T3_INVALID_ARGUMENT);
  CHECK(t3_attention(context, T3_ATTENTION_FORWARD, &d.out, nullptr) == T3_INVALID_ARGUMENT);
  CHECK(t3_attention(context, T3_ATTENTION_FORWARD, &d.out, &none) == T3_INVALID_ARGUMENT);
  CHECK(t3_ring_reduce_scatter(context, nullptr, nullptr) == T3_INVALID_ARGUMENT);
  CHECK(t3_ring_all_gather(context, nullptr) == T3_INVALID_ARGUMENT);
  CHECK(t3_next_error(context, nullptr) == T3_INVALID_ARGUMENT);
  CHECK(t3_set_arbitration(context, T3_MCA, 256) == T3_INVALID_ARGUMENT);
  CHECK(t3_set_ring_workgroups(context, 0) == T3_INVALID_ARGUMENT);
  CHECK(t3_set_ring_workgroups(context, 497) == T3_INVALID_ARGUMENT);
  t3_matrix staging = d.out.matrix;
  staging.row_stride += 32;
  CHECK(t3_ring_reduce_scatter(context, &d.out, &staging) == T3_INVALID_ARGUMENT);
  CHECK(d.mock.packets().empty());
  d.require_alive();
}

TEST_CASE("every function of the HAL has to be there") {
  using Member = std::pair<const char*, void (*)(t3_hal&)>;
  const Member members[] = {{"read32", [](t3_hal& h) { h.read32 = nullptr; }},
                            {"read64", [](t3_hal& h) { h.read64 = nullptr; }},
                            {"write32", [](t3_hal& h) { h.write32 = nullptr; }},
                            {"write64", [](t3_hal& h) { h.write64 = nullptr; }},
                            {"read_memory", [](t3_hal& h) { h.read_memory = nullptr; }},
                            {"write_memory", [](t3_hal& h) { h.write_memory = nullptr; }},
                            {"order_writes", [](t3_hal& h) { h.order_writes = nullptr; }},
                            {"take_interrupts", [](t3_hal& h) { h.take_interrupts = nullptr; }},
                            {"lock", [](t3_hal& h) { h.lock = nullptr; }},
                            {"unlock", [](t3_hal& h) { h.unlock = nullptr; }},
                            {"time_ns", [](t3_hal& h) { h.time_ns = nullptr; }},
                            {"wait_for_interrupt", [](t3_hal& h) { h.wait_for_interrupt = nullptr; }},
                            {"wait_ns", [](t3_hal& h) { h.wait_ns = nullptr; }},
                            {"mark", [](t3_hal& h) { h.mark = nullptr; }},
                            {"publish", [](t3_hal& h) { h.publish = nullptr; }},
                            {"has_argument", [](t3_hal& h) { h.has_argument = nullptr; }},
                            {"argument_u64", [](t3_hal& h) { h.argument_u64 = nullptr; }},
                            {"argument_double", [](t3_hal& h) { h.argument_double = nullptr; }},
                            {"argument_bool", [](t3_hal& h) { h.argument_bool = nullptr; }},
                            {"argument_text", [](t3_hal& h) { h.argument_text = nullptr; }},
                            {"log", [](t3_hal& h) { h.log = nullptr; }}};
  for (const auto& [name, remove] : members) {
    INFO(name);
    MockGpu mock(0, 2);
    t3_hal hal = *mock.hal();
    remove(hal);
    t3_context context;
    CHECK(t3_init(&context, &hal) == T3_INVALID_ARGUMENT);
    CHECK(t3_reset(&hal) == T3_INVALID_ARGUMENT);
  }
}

TEST_CASE("waits end at their timeout and go on where they were") {
  Driver driver;
  t3_context* context = &driver.context;
  for (const std::uint64_t timeout : {0u, 250u}) {
    REQUIRE(driver.dma_map() == T3_OK);
    REQUIRE(driver.gemm() == T3_OK);
    driver.mock.hang(true);
    const std::uint64_t begin = driver.mock.time_ns();
    REQUIRE(t3_set_timeout(context, timeout) == T3_OK);
    CHECK(t3_wait_kernels(context) == T3_TIMEOUT);
    CHECK(driver.mock.time_ns() == begin + timeout);
    CHECK(t3_wait_kernel(context, t3_last_kernel(context)) == T3_TIMEOUT);
    CHECK(t3_abort_kernels(context) == T3_TIMEOUT);
    CHECK(t3_wait_dma(context) == T3_TIMEOUT);
    CHECK(t3_fill_zero(context, &driver.a) == T3_TIMEOUT);
    driver.mock.take_journal();
    CHECK(t3_barrier(context) == T3_TIMEOUT);
    CHECK(t3_barrier(context) == T3_TIMEOUT);
    const std::vector<std::string> journal = driver.mock.take_journal();
    CHECK(std::count(journal.begin(), journal.end(), "signal gpu 0") == 1);  // reported once
    CHECK(t3_close(context) == T3_BUSY);
    driver.mock.hang(false);
    REQUIRE(t3_set_timeout(context, T3_FOREVER) == T3_OK);
    REQUIRE(t3_barrier(context) == T3_OK);
    REQUIRE(t3_fill_zero(context, &driver.a) == T3_OK);
    REQUIRE(t3_wait_dma(context) == T3_OK);
    REQUIRE(t3_remote_unmap_all(context) == T3_OK);
    driver.require_alive();
  }
}

TEST_CASE("a wait ends at its timeout though its line is up for what the driver does not know") {
  Driver driver;
  t3_context* context = &driver.context;
  REQUIRE(driver.dma_map() == T3_OK);
  REQUIRE(driver.gemm() == T3_OK);
  REQUIRE(t3_set_timeout(context, 100) == T3_OK);
  driver.mock.hang(true);
  constexpr std::uint64_t unknown = 1u << 31;
  for (const auto& [block, offset] : {std::pair{T3_BLOCK_KERNEL_QUEUE, T3_KERNEL_QUEUE_INTERRUPT_OFFSET},
                                      {T3_BLOCK_DMA, T3_DMA_INTERRUPT_OFFSET},
                                      {T3_BLOCK_TRACKER, T3_TRACKER_INTERRUPT_OFFSET},
                                      {T3_BLOCK_CACHE, T3_CACHE_INTERRUPT_OFFSET},
                                      {T3_BLOCK_SIGNALS, T3_SIGNALS_INTERRUPT_OFFSET}})
    driver.mock.reg(block, offset) |= unknown;
  CHECK(t3_wait_kernels(context) == T3_TIMEOUT);
  CHECK(t3_wait_dma(context) == T3_TIMEOUT);
  CHECK(t3_barrier(context) == T3_TIMEOUT);
  CHECK(t3_flush_cache(context) == T3_TIMEOUT);
  CHECK(t3_fill_zero(context, &driver.a) == T3_TIMEOUT);
  CHECK(t3_remote_unmap_all(context) == T3_BUSY);  // by the GEMM, which hangs
}

TEST_CASE("a removal that times out behind the Tracker's goes on where it was") {
  Driver driver;
  t3_context* context = &driver.context;
  for (const bool all : {false, true}) {
    const auto remove = [&] {
      return all ? t3_remote_unmap_all(context) : t3_dma_unmap(context, &driver.out, driver.chunk);
    };
    REQUIRE(driver.dma_map() == T3_OK);
    driver.mock.hang(true);
    driver.mock.send_after_removal(true);
    REQUIRE(t3_set_timeout(context, 100) == T3_OK);
    REQUIRE(remove() == T3_TIMEOUT);
    driver.mock.send_after_removal(false);
    driver.mock.reg(T3_BLOCK_DMA, T3_DMA_STATUS_OFFSET) = 0;
    if (!all) driver.mock.refuse_next(T3_BLOCK_TRACKER, {T3_INVALID_ARGUMENT});  // it is gone there
    REQUIRE(remove() == T3_OK);
    driver.mock.hang(false);
    REQUIRE(t3_set_timeout(context, T3_FOREVER) == T3_OK);
    driver.require_alive();
  }
}

TEST_CASE("the number of ring workgroups is fixed with the first ring kernel") {
  Driver driver;
  REQUIRE(t3_set_ring_workgroups(&driver.context, 20) == T3_OK);
  REQUIRE(t3_ring_all_gather(&driver.context, &driver.out) == T3_OK);
  REQUIRE(driver.mock.packets().back().workgroups == 20);
  REQUIRE(t3_set_ring_workgroups(&driver.context, 30) == T3_BUSY);
  REQUIRE(t3_set_ring_workgroups(&driver.context, 20) == T3_OK);
  REQUIRE(t3_ring_all_gather(&driver.context, &driver.out) == T3_OK);
  REQUIRE(driver.mock.packets().back().workgroups == 20);
}

TEST_CASE("a block that does not answer gives a code from every call that needs it") {
  const auto with_dead = [](t3_block block, auto call) {
    Driver driver;
    driver.mock.unplug(block);
    return call(driver);
  };
  CHECK(with_dead(T3_BLOCK_OUTPUT_MAP, [](Driver& d) { return d.remote_map(); }) == T3_BAD_ADDRESS);
  CHECK(with_dead(T3_BLOCK_TRACKER, [](Driver& d) { return d.dma_map(); }) == T3_BAD_ADDRESS);
  CHECK(with_dead(T3_BLOCK_DMA, [](Driver& d) { return d.dma_map(); }) == T3_BAD_ADDRESS);
  CHECK(with_dead(T3_BLOCK_DMA, [](Driver& d) { return t3_wait_dma(&d.context); }) == T3_BAD_ADDRESS);
  CHECK(with_dead(T3_BLOCK_DMA, [](Driver& d) { return t3_fill_zero(&d.context, &d.a); }) == T3_BAD_ADDRESS);
  CHECK(with_dead(T3_BLOCK_KERNEL_QUEUE, [](Driver& d) { return d.gemm(); }) == T3_BAD_ADDRESS);
  CHECK(with_dead(T3_BLOCK_KERNEL_QUEUE, [](Driver& d) { return t3_wait_kernels(&d.context); }) == T3_BAD_ADDRESS);
  CHECK(with_dead(T3_BLOCK_SIGNALS, [](Driver& d) { return t3_barrier(&d.context); }) == T3_NO_PEER);
  CHECK(with_dead(T3_BLOCK_CACHE, [](Driver& d) { return t3_flush_cache(&d.context); }) == T3_BAD_ADDRESS);
  CHECK(with_dead(T3_BLOCK_SYSTEM, [](Driver& d) { return t3_init(&d.context, d.mock.hal()); }) == T3_BAD_ADDRESS);
}

TEST_CASE("programs end with the code of the call that failed") {
  GemmRun job;
  job.m = job.n = 256;
  job.k = 64;
  job.tile_rows = job.tile_columns = 128;
  job.wavefronts = 8;
  job.updates = 2;
  job.block_tiles = 1;
  SECTION("overlap") {
    MockGpu mock(0, 4);
    mock.refuse_next(T3_BLOCK_TRACKER, {T3_OVERLAP});
    REQUIRE(job.run(t3_run_fused, mock.hal()) == T3_OVERLAP);
  }
  SECTION("too little memory") {
    for (t3_program* program : {t3_run_sequential, t3_run_fused, t3_run_isolated}) {
      MockGpu mock(0, 4, 64 << 10);
      REQUIRE(job.run(program, mock.hal()) == T3_OUT_OF_MEMORY);
    }
  }
}

}  // namespace t3vp::test::error_paths_test
