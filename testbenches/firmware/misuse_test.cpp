// Misuses that the driver itself notices, and that it lives on.
#include <catch2/catch.hpp>
#include <cstring>

#include "firmware/opened_driver.h"
#include "t3/registers/dma.h"
#include "t3/registers/system.h"

namespace t3vp::test::misuse_test {

TEST_CASE("an open context that is opened again stays as it is") {
  Driver driver;
  REQUIRE(t3_init(&driver.context, driver.mock.hal()) == T3_BUSY);
  t3_hal incomplete = *driver.mock.hal();
  incomplete.log = nullptr;
  REQUIRE(t3_init(&driver.context, &incomplete) == T3_INVALID_ARGUMENT);
  REQUIRE(t3_free(&driver.context, driver.a.address) == T3_OK);
  driver.require_alive();
}

TEST_CASE("what fails in a context that was reset says so") {
  Driver driver;
  driver.mock.reg(T3_BLOCK_SYSTEM, T3_SYSTEM_SCRATCH_OFFSET) = 0;
  driver.mock.refuse_next(T3_BLOCK_OUTPUT_MAP, {T3_DISABLED});
  CHECK(driver.remote_map() == T3_STALE);
  CHECK(t3_close(&driver.context) == T3_STALE);
  const t3_hal* hal = driver.mock.hal();
  hal->wait_ns(hal->platform, 10);
  t3_context next;
  REQUIRE(t3_init(&next, hal) == T3_OK);
  CHECK(t3_close(&driver.context) == T3_STALE);
  REQUIRE(t3_close(&next) == T3_OK);
  REQUIRE(t3_init(&driver.context, hal) == T3_OK);
  driver.require_alive();
  driver.mock.unplug(T3_BLOCK_SYSTEM);  // the GPU's number cannot be read: the failure itself is reported
  driver.mock.refuse_next(T3_BLOCK_OUTPUT_MAP, {T3_DISABLED});
  CHECK(driver.remote_map() == T3_DISABLED);
}

TEST_CASE("a GEMM whose options nobody has set is refused") {
  Driver driver;
  for (bool t3_gemm_options::*const option :
       {&t3_gemm_options::update, &t3_gemm_options::transpose_a, &t3_gemm_options::transpose_b}) {
    t3_gemm_options options{};
    std::memset(&(options.*option), 0xA5, 1);
    CHECK(t3_gemm(&driver.context, &driver.out, &driver.a, &driver.b, options) == T3_INVALID_ARGUMENT);
  }
}

TEST_CASE("a refused ring kernel counts as never queued") {
  Driver driver;
  t3_context* context = &driver.context;
  const auto ring = [&] {
    REQUIRE(t3_ring_all_gather(context, &driver.out) == T3_OK);
    return driver.mock.packets().back().all_gather().signal_epoch;
  };
  CHECK(ring() == 0);
  CHECK(ring() == 3);
  REQUIRE(t3_wait_kernels(context) == T3_OK);
  driver.mock.refuse_kernel(T3_BAD_PACKET);
  CHECK(ring() == 6);
  CHECK(ring() == 6);  // queued without a look at the one before
  REQUIRE(t3_wait_kernels(context) == T3_BAD_PACKET);
  driver.mock.refuse_kernel(T3_BAD_PACKET);
  CHECK(ring() == 9);
  for (int i = 0; i < 300; ++i) REQUIRE(driver.gemm() == T3_OK);
  CHECK(ring() == 9);
  REQUIRE(t3_wait_kernels(context) == T3_BAD_PACKET);
  driver.mock.refuse_kernel(T3_BUSY);
  CHECK(ring() == 12);
  CHECK(ring() == 12);
  REQUIRE(t3_wait_kernels(context) == T3_BUSY);
  driver.mock.fail_kernel(T3_BAD_ADDRESS);  // it has run, and all of its steps are counted
  CHECK(ring() == 15);
  CHECK(ring() == 18);
  REQUIRE(t3_wait_kernels(context) == T3_BAD_ADDRESS);
  driver.mock.refuse_kernel(T3_BAD_PACKET);
  CHECK(ring() == 21);
  driver.mock.finish_after_read(T3_BLOCK_DMA, T3_DMA_PENDING_OFFSET);
  REQUIRE(t3_wait_dma(context) == T3_OK);  // it has ended, unnoticed by the driver
  REQUIRE(t3_close(context) == T3_OK);
  REQUIRE(t3_init(context, driver.mock.hal()) == T3_OK);
  CHECK(ring() == 21);
  REQUIRE(t3_wait_kernels(context) == T3_OK);
}

TEST_CASE("an abort behind a refused ring kernel breaks the ring, since neighbours may be in theirs") {
  Driver driver;
  t3_context* context = &driver.context;
  REQUIRE(t3_abort_kernels(context) == T3_OK);
  driver.mock.refuse_kernel(T3_BAD_PACKET);
  REQUIRE(t3_ring_all_gather(context, &driver.out) == T3_OK);
  REQUIRE(t3_wait_kernels(context) == T3_BAD_PACKET);
  REQUIRE(t3_abort_kernels(context) == T3_OK);
  CHECK(t3_ring_all_gather(context, &driver.out) == T3_ABORTED);
  REQUIRE(t3_close(context) == T3_OK);
  REQUIRE(t3_init(context, driver.mock.hal()) == T3_OK);
  CHECK(t3_ring_all_gather(context, &driver.out) == T3_ABORTED);
}

TEST_CASE("zeroing is of a matrix and its padding, never of what is between the rows of a view") {
  Driver driver;
  t3_context* context = &driver.context;
  const auto zeroed = [&](t3_matrix matrix) {
    const t3_status filled = t3_fill_zero(context, &matrix);
    CHECK(t3_arm_zero(context, &matrix) == filled);
    return filled;
  };
  t3_matrix m = driver.a;  // 256 rows of 64 columns, 128 bytes
  CHECK(zeroed(m) == T3_OK);
  m.columns = 32;
  CHECK(zeroed(m) == T3_INVALID_ARGUMENT);
  m.rows = 1;  // a row by itself is whole
  driver.mock.take_journal();
  CHECK(zeroed(m) == T3_OK);
  CHECK(driver.mock.take_journal() == std::vector<std::string>{"fill 64 bytes", "arm 64 bytes"});
  m = driver.a;
  m.columns = 49;  // the rest of its rows is padding
  CHECK(zeroed(m) == T3_OK);
  m.columns = 65;
  CHECK(zeroed(m) == T3_INVALID_ARGUMENT);
  for (const std::uint64_t stride : {std::uint64_t{127}, std::uint64_t{130}, ~std::uint64_t{0}}) {
    m = driver.a;
    m.row_stride = stride;
    CHECK(zeroed(m) == T3_UNALIGNED);
  }
  for (const std::uint64_t stride : {std::uint64_t{0}, std::uint64_t{96}, std::uint64_t{160}, std::uint64_t{1} << 58}) {
    m = driver.a;
    m.row_stride = stride;
    CHECK(zeroed(m) == T3_INVALID_ARGUMENT);
  }
  m = driver.a;
  m.rows = 0;
  CHECK(zeroed(m) == T3_INVALID_ARGUMENT);
  m = driver.a;
  m.columns = 0;
  CHECK(zeroed(m) == T3_INVALID_ARGUMENT);
  m = {driver.a.address, std::uint64_t{1} << 34, 0xFFFFFFFF, 0xFFFFFFFF, T3_FP32, T3_CACHED};
  CHECK(zeroed(m) == T3_INVALID_ARGUMENT);
}

TEST_CASE("maps of what no map can do are refused") {
  Driver d;
  t3_context* context = &d.context;
  const auto notify = [&](t3_operation counted) {
    return t3_dma_map(context, &d.out, d.chunk, 0, T3_NOTIFY, {1, 1, counted});
  };
  CHECK(notify(T3_NOTIFY) == T3_INVALID_ARGUMENT);
  CHECK(notify(T3_STORE) == T3_INVALID_ARGUMENT);  // the output is cached
  CHECK(t3_dma_map(context, &d.out, d.chunk, d.peer_out, T3_STORE, {1, 1, T3_STORE}) == T3_INVALID_ARGUMENT);
  CHECK(t3_ring_reduce_scatter(context, &d.out, nullptr) == T3_INVALID_ARGUMENT);  // updates would pass by the cache
  d.out.matrix.memory = T3_UNCACHED;
  CHECK(notify(T3_STORE) == T3_OK);
  CHECK(t3_remote_unmap_all(context) == T3_OK);
  CHECK(t3_ring_reduce_scatter(context, &d.out, nullptr) == T3_OK);
  d.require_alive();
}

}  // namespace t3vp::test::misuse_test
