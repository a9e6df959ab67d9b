#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

#include "driver/context_state.h"
#include "firmware/mock_gpu.h"
#include "t3/registers/cache.h"
#include "t3/registers/dma.h"
#include "t3/registers/interrupt_controller.h"
#include "t3/registers/kernel_queue.h"
#include "t3/registers/tracker.h"

namespace t3vp::test::driver_test {

namespace {

struct Driver {
  MockGpu mock;
  t3_context context;

  explicit Driver(std::uint32_t gpu = 0, std::uint32_t gpus = 4, std::uint64_t memory_bytes = 1u << 30)
      : mock(gpu, gpus, memory_bytes) {
    REQUIRE(t3_init(&context, mock.hal()) == T3_OK);
  }
};

t3_output small_output(t3_context* context) {
  t3_output out{};
  out.matrix.rows = out.matrix.columns = 256;
  out.tiling = {128, 128, 8};
  REQUIRE(t3_matrix_malloc(context, &out.matrix) == T3_OK);
  return out;
}

}  // namespace

TEST_CASE("allocations are aligned, in local memory and apart") {
  Driver driver(3);
  std::uint64_t end = 0;
  for (const std::uint64_t bytes : {1u, 255u, 256u, 257u, 5000u}) {
    std::uint64_t address = 0;
    REQUIRE(t3_malloc(&driver.context, bytes, &address) == T3_OK);
    REQUIRE(address % 256 == 0);
    REQUIRE(t3_gpu_of(address) == 3);
    REQUIRE(address >= end);
    end = address + bytes;
  }
}

TEST_CASE("memory can be used to the last byte, and running out of it is survived") {
  Driver driver(0, 1, 1 << 16);
  std::uint64_t probe = 0;
  REQUIRE(t3_malloc(&driver.context, 1, &probe) == T3_OK);
  const std::uint64_t left = (1u << 16) - (probe + 256);
  std::uint64_t address = 0;
  REQUIRE(t3_malloc(&driver.context, left + 1, &address) == T3_OUT_OF_MEMORY);
  REQUIRE(t3_malloc(&driver.context, ~std::uint64_t{0}, &address) == T3_OUT_OF_MEMORY);
  REQUIRE(t3_malloc(&driver.context, left, &address) == T3_OK);
  REQUIRE(address + left == 1u << 16);
  REQUIRE(t3_malloc(&driver.context, 1, &address) == T3_OUT_OF_MEMORY);
}

TEST_CASE("a gap in the heap is given to what fits it exactly, and not to a byte more") {
  Driver driver;
  std::uint64_t first = 0, freed = 0, last = 0, address = 0;
  REQUIRE(t3_malloc(&driver.context, 256, &first) == T3_OK);
  REQUIRE(t3_malloc(&driver.context, 500, &freed) == T3_OK);  // 512 with what the next one's alignment adds
  REQUIRE(t3_malloc(&driver.context, 256, &last) == T3_OK);
  REQUIRE(freed == first + 256);
  REQUIRE(last == freed + 512);
  REQUIRE(t3_free(&driver.context, freed) == T3_OK);
  CHECK(t3_malloc(&driver.context, 513, &address) == T3_OK);
  CHECK(address == last + 256);
  for (const std::uint64_t bytes : {512u, 511u}) {
    CHECK(t3_malloc(&driver.context, bytes, &address) == T3_OK);
    CHECK(address == freed);
    REQUIRE(t3_free(&driver.context, freed) == T3_OK);
  }
  // The gap at the beginning of the heap, and the one that two neighbours leave.
  REQUIRE(t3_free(&driver.context, first) == T3_OK);
  CHECK(t3_malloc(&driver.context, 768, &address) == T3_OK);
  CHECK(address == first);
  REQUIRE(t3_free(&driver.context, first) == T3_OK);
  CHECK(t3_malloc(&driver.context, 769, &address) == T3_OK);
  CHECK(address == last + 256 + 768);  // behind the 513 bytes
}

TEST_CASE("the end of memory need not be aligned") {
  Driver driver(0, 1, (1 << 16) + 100);
  std::uint64_t address = 0;
  REQUIRE(t3_malloc(&driver.context, 1, &address) == T3_OK);
  REQUIRE(t3_malloc(&driver.context, (1 << 16) + 50 - (address + 256), &address) == T3_OK);
  REQUIRE(t3_malloc(&driver.context, 1, &address) == T3_OUT_OF_MEMORY);
}

TEST_CASE("rows start at multiples of 32 bytes") {
  Driver driver;
  const auto stride = [&](std::uint32_t columns, t3_element element) {
    t3_matrix matrix{};
    matrix.rows = 2;
    matrix.columns = columns;
    matrix.element = element;
    REQUIRE(t3_matrix_malloc(&driver.context, &matrix) == T3_OK);
    return matrix.row_stride;
  };
  CHECK(stride(1, T3_FP16) == 32);
  CHECK(stride(16, T3_BF16) == 32);
  CHECK(stride(17, T3_FP16) == 64);
  CHECK(stride(17, T3_FP32) == 96);
}

TEST_CASE("a processor that is told another place than its registers say does not start") {
  MockGpu mock(0, 4);
  mock.reg(T3_BLOCK_SYSTEM, 0x04) = 1;
  t3_context context;
  REQUIRE(t3_init(&context, mock.hal()) == T3_BAD_VALUE);
}

TEST_CASE("the packet ring holds more kernels than it has entries, one after the other") {
  Driver driver;
  const t3_output out = small_output(&driver.context);
  t3_matrix a{}, b{};
  a.rows = b.columns = 256;
  a.columns = b.rows = 64;
  REQUIRE(t3_matrix_malloc(&driver.context, &a) == T3_OK);
  REQUIRE(t3_matrix_malloc(&driver.context, &b) == T3_OK);
  for (std::uint32_t i = 0; i < 50; ++i) {
    t3_gemm_options options{};
    options.first_workgroup = i;
    REQUIRE(t3_gemm(&driver.context, &out, &a, &b, options) == T3_OK);
    const std::uint64_t in_flight = driver.mock.packets().size() - driver.mock.reg(T3_BLOCK_KERNEL_QUEUE, 0x18);
    REQUIRE(in_flight <= 16);
  }
  REQUIRE(t3_wait_kernels(&driver.context) == T3_OK);
  REQUIRE(driver.mock.packets().size() == 50);
  for (std::uint32_t i = 0; i < 50; ++i) REQUIRE(driver.mock.packets()[i].gemm().first_workgroup == i % 4);
}

TEST_CASE("every ring kernel goes on counting where the one before it has stopped") {
  Driver driver(1, 4);
  const t3_output out = small_output(&driver.context);
  for (std::uint64_t i = 0; i < 5; ++i) {
    REQUIRE(t3_ring_reduce_scatter(&driver.context, &out, &out.matrix) == T3_OK);
    REQUIRE(driver.mock.packets().back().reduce_scatter().signal_epoch == 6 * i);
    REQUIRE(t3_ring_all_gather(&driver.context, &out) == T3_OK);
    REQUIRE(driver.mock.packets().back().all_gather().signal_epoch == 6 * i + 3);
  }
}

TEST_CASE("any kernel can be queued by its name with its arguments behind its packet or in memory of the caller's") {
  Driver driver(1, 4);
  t3_context* context = &driver.context;
  std::vector<unsigned char> arguments(T3_ARGUMENT_ROOM + 1);
  std::iota(arguments.begin(), arguments.end(), static_cast<unsigned char>(1));
  const t3_kernel_options grid{6, 5, 0};
  REQUIRE(t3_run_kernel(context, "scale", arguments.data(), T3_ARGUMENT_ROOM, grid) == T3_OK);
  const QueuedKernel near = driver.mock.packets().back();
  CHECK((near.kernel == t3_kernel_handle("scale") && near.workgroups == 6 && near.max_compute_units == 5));
  CHECK(near.arguments == state_of(context)->queues[0].base + T3_KERNEL_PACKET_BYTES);
  CHECK(near.bytes == std::vector<unsigned char>(arguments.begin(), arguments.end() - 1));
  CHECK(t3_run_kernel(context, "scale", arguments.data(), T3_ARGUMENT_ROOM + 1, grid) == T3_CAPACITY);
  std::uint64_t memory = 0;
  REQUIRE(t3_malloc(context, arguments.size(), &memory) == T3_OK);
  REQUIRE(t3_run_kernel(context, "scale", arguments.data(), T3_ARGUMENT_ROOM + 1, {0, 0, memory}) == T3_OK);
  const QueuedKernel far = driver.mock.packets().back();
  CHECK((far.arguments == memory && far.bytes == arguments));
  const std::uint64_t ring = state_of(context)->queues[0].base;
  const std::uint64_t end = ring + std::uint64_t{T3_QUEUE_ENTRIES} * T3_KERNEL_PACKET_ENTRY_BYTES;
  for (const std::uint64_t address : {ring, ring + T3_KERNEL_PACKET_BYTES, end - 32})
    CHECK(t3_run_kernel(context, "scale", arguments.data(), 64, {0, 0, address}) == T3_INVALID_ARGUMENT);
  CHECK(t3_run_kernel(context, "scale", arguments.data(), 64, {0, 0, memory + 16}) == T3_UNALIGNED);
  const std::uint64_t behind = state_of(context)->memory_end;
  for (const std::uint64_t address : {ring - 32, behind - 32, behind, t3_on_gpu(t3_gpu(context) + 1u, memory)})
    CHECK(t3_run_kernel(context, "scale", arguments.data(), 64, {0, 0, address}) == T3_BAD_ADDRESS);
  CHECK(t3_run_kernel(context, nullptr, arguments.data(), 1, grid) == T3_INVALID_ARGUMENT);
  CHECK(t3_run_kernel(context, "scale", nullptr, 1, grid) == T3_INVALID_ARGUMENT);
  CHECK(t3_run_kernel(context, "scale", arguments.data(), 0, grid) == T3_INVALID_ARGUMENT);
  CHECK(driver.mock.packets().size() == 2);
}

TEST_CASE("ring kernels on a single GPU are nothing") {
  Driver driver(0, 1);
  const t3_output out = small_output(&driver.context);
  REQUIRE(t3_ring_reduce_scatter(&driver.context, &out, nullptr) == T3_OK);
  REQUIRE(t3_ring_all_gather(&driver.context, &out) == T3_OK);
  REQUIRE(t3_wait_kernels(&driver.context) == T3_OK);
  REQUIRE(driver.mock.packets().empty());
}

namespace {

t3_status map_two(Driver& driver, const t3_output& out) {
  return t3_dma_map(&driver.context, &out, {0, 2}, t3_peer_address(&out.matrix, 3), T3_UPDATE, {2, 1, T3_UPDATE});
}

}  // namespace

TEST_CASE("the Tracker gets a spill table that is large enough before its first chunk") {
  Driver driver;
  const t3_output out = small_output(&driver.context);
  REQUIRE(map_two(driver, out) == T3_OK);
  const std::uint64_t base = driver.mock.reg(T3_BLOCK_TRACKER, T3_TRACKER_SPILL_BASE_OFFSET);
  REQUIRE(driver.mock.reg(T3_BLOCK_TRACKER, T3_TRACKER_SPILL_ENTRIES_OFFSET) == 4 * 8);
  REQUIRE(base % 32 == 0);
  REQUIRE(base >= out.matrix.address + 256 * out.matrix.row_stride);
  REQUIRE(base + 4 * 8 * 32 <= 1u << 30);
}

TEST_CASE("what a GPU maps moves nothing that it allocates later, and spill tables take the place of smaller ones") {
  Driver maps, maps_not;
  for (std::uint32_t tiles = 1; tiles <= 16; tiles *= 2) {
    t3_output outs[2];
    for (Driver* driver : {&maps, &maps_not}) {
      t3_output& out = outs[driver == &maps ? 0 : 1];
      out = {};
      out.matrix.rows = 128 * tiles;
      out.matrix.columns = 256;
      out.tiling = {128, 128, 8};
      REQUIRE(t3_matrix_malloc(&driver->context, &out.matrix) == T3_OK);
    }
    REQUIRE(outs[0].matrix.address == outs[1].matrix.address);
    REQUIRE(map_two(maps, outs[0]) == T3_OK);
    REQUIRE(maps.mock.reg(T3_BLOCK_TRACKER, T3_TRACKER_SPILL_BASE_OFFSET) == (1u << 30) - 2 * tiles * 8 * 32);
    REQUIRE(t3_remote_unmap_all(&maps.context) == T3_OK);
  }
  REQUIRE(state_of(&maps.context)->allocation_count == state_of(&maps_not.context)->allocation_count);
}

TEST_CASE("no more counts than there is room for are reserved while chunks are mapped") {
  Driver driver;
  const t3_output out = small_output(&driver.context);  // four workgroups
  REQUIRE(map_two(driver, out) == T3_OK);
  driver.mock.reg(T3_BLOCK_TRACKER, T3_TRACKER_CHUNKS_OFFSET) = 1;
  REQUIRE(t3_reserve_counts(&driver.context, &out, 4) == T3_OK);
  REQUIRE(t3_reserve_counts(&driver.context, &out, 5) == T3_BUSY);
  REQUIRE(driver.mock.reg(T3_BLOCK_TRACKER, T3_TRACKER_SPILL_ENTRIES_OFFSET) == 4 * 8);
  t3_output larger = out;  // the Tracker may have room for a part of it
  larger.matrix.rows *= 2;
  REQUIRE(t3_matrix_malloc(&driver.context, &larger.matrix) == T3_OK);
  REQUIRE(map_two(driver, larger) == T3_OK);
  driver.mock.reg(T3_BLOCK_TRACKER, T3_TRACKER_CHUNKS_OFFSET) = 0;
  REQUIRE(t3_reserve_counts(&driver.context, &out, 5) == T3_OK);
  REQUIRE(driver.mock.reg(T3_BLOCK_TRACKER, T3_TRACKER_SPILL_ENTRIES_OFFSET) == 5 * 8);
}

TEST_CASE("a spill table and what is allocated do not overlap") {
  Driver driver(0, 4, 1 << 18);
  const t3_output out = small_output(&driver.context);  // takes half of the memory
  std::uint64_t rest = 0;
  REQUIRE(t3_malloc(&driver.context, 0x1F000, &rest) == T3_OK);
  REQUIRE(map_two(driver, out) == T3_OUT_OF_MEMORY);
  REQUIRE(t3_free(&driver.context, rest) == T3_OK);
  REQUIRE(map_two(driver, out) == T3_OK);
  REQUIRE(t3_malloc(&driver.context, 0x1F000, &rest) == T3_OUT_OF_MEMORY);
  REQUIRE(t3_malloc(&driver.context, 0x1F000 - 4 * 8 * 32, &rest) == T3_OK);
  REQUIRE(rest + 0x1F000 - 4 * 8 * 32 == driver.mock.reg(T3_BLOCK_TRACKER, T3_TRACKER_SPILL_BASE_OFFSET));
}

TEST_CASE("the driver's own memory cannot be freed and is given to nobody") {
  Driver driver(2, 4, 1 << 18);
  const std::uint64_t ring = driver.mock.reg(T3_BLOCK_KERNEL_QUEUE, T3_KERNEL_QUEUE_BASE_OFFSET);
  REQUIRE(t3_free(&driver.context, ring) == T3_INVALID_ARGUMENT);
  const t3_output out = small_output(&driver.context);
  REQUIRE(out.matrix.address >= ring + 16 * T3_KERNEL_PACKET_ENTRY_BYTES);
  REQUIRE(map_two(driver, out) == T3_OK);
  REQUIRE(t3_free(&driver.context, driver.mock.reg(T3_BLOCK_TRACKER, T3_TRACKER_SPILL_BASE_OFFSET)) ==
          T3_INVALID_ARGUMENT);
  MockGpu tiny(0, 1, 1024);  // has no room for the ring
  t3_context context;
  REQUIRE(t3_init(&context, tiny.hal()) == T3_OUT_OF_MEMORY);
}

TEST_CASE("errors come out of the log oldest first") {
  Driver driver;
  driver.mock.log_error({T3_OVERLAP, T3_BLOCK_TRACKER, 0x100, 5});
  driver.mock.log_error({T3_NO_PEER, T3_BLOCK_DMA, 0x200, 6});
  t3_error error;
  REQUIRE(t3_next_error(&driver.context, &error) == T3_OK);
  CHECK((error.code == T3_OVERLAP && error.block == T3_BLOCK_TRACKER && error.address == 0x100 && error.time_ns == 5));
  REQUIRE(t3_next_error(&driver.context, &error) == T3_OK);
  CHECK((error.code == T3_NO_PEER && error.block == T3_BLOCK_DMA));
  REQUIRE(t3_next_error(&driver.context, &error) == T3_OK);
  CHECK(error.code == T3_OK);
}

TEST_CASE("an unread error does not keep waits from sleeping") {
  Driver driver;
  driver.mock.log_error({T3_OVERLAP, T3_BLOCK_TRACKER, 0x100, 5});
  const t3_output out = small_output(&driver.context);
  REQUIRE(t3_ring_all_gather(&driver.context, &out) == T3_OK);
  REQUIRE(t3_wait_kernels(&driver.context) == T3_OK);
  REQUIRE((driver.mock.reg(T3_BLOCK_INTERRUPT_CONTROLLER, T3_INTERRUPT_CONTROLLER_ENABLE_OFFSET) & 8) == 0);
}

TEST_CASE("work that ends between the driver's look at it and its sleep is not missed") {
  Driver driver;
  const t3_output out = small_output(&driver.context);
  REQUIRE(t3_ring_all_gather(&driver.context, &out) == T3_OK);
  driver.mock.finish_after_read(T3_BLOCK_KERNEL_QUEUE, T3_KERNEL_QUEUE_COMPLETED_OFFSET);
  REQUIRE(t3_wait_kernels(&driver.context) == T3_OK);
  REQUIRE(t3_dma_map(&driver.context, &out, {0, 2}, t3_peer_address(&out.matrix, 3), T3_UPDATE, {2, 1, T3_UPDATE}) ==
          T3_OK);
  driver.mock.finish_after_read(T3_BLOCK_DMA, T3_DMA_PENDING_OFFSET);
  REQUIRE(t3_wait_dma(&driver.context) == T3_OK);
  driver.mock.finish_after_read(T3_BLOCK_DMA, T3_DMA_INTERRUPT_OFFSET);
  REQUIRE(t3_fill_zero(&driver.context, &out.matrix) == T3_OK);
}

TEST_CASE("a flush returns when the cache is no longer busy") {
  Driver driver;
  REQUIRE(t3_flush_cache(&driver.context) == T3_OK);
  std::uint32_t status = ~0u;
  const t3_hal* hal = driver.mock.hal();
  REQUIRE(hal->read32(hal->platform, t3_block_base(0, T3_BLOCK_CACHE) + T3_CACHE_STATUS_OFFSET, &status) == T3_OK);
  REQUIRE(status == 0);
}

}  // namespace t3vp::test::driver_test
