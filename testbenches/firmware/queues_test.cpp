// Several queues of kernels as the driver opens and uses them.
#include <catch2/catch.hpp>

#include "driver/context_state.h"
#include "firmware/opened_driver.h"
#include "t3/registers/kernel_queue.h"

namespace t3vp::test::queues_test {

namespace {

struct QueueDriver : Driver {
  std::uint32_t open(t3_queue_options options = {}) {
    std::uint32_t queue = 0;
    REQUIRE(t3_queue_create(&context, options, &queue) == T3_OK);
    return queue;
  }
  void use(std::uint32_t queue) { REQUIRE(t3_use_queue(&context, queue) == T3_OK); }
  std::uint64_t of_queue(std::uint32_t offset, std::uint32_t queue) {
    return mock.reg(T3_BLOCK_KERNEL_QUEUE, offset + queue * T3_KERNEL_QUEUE_BASE_STRIDE);
  }
  std::uint64_t mask(std::uint32_t queue, std::uint32_t word) {
    const std::uint32_t words = T3_KERNEL_QUEUE_CU_MASK_COUNT / T3_QUEUES;
    return mock.reg(T3_BLOCK_KERNEL_QUEUE, T3_KERNEL_QUEUE_CU_MASK_OFFSET + 8 * (queue * words + word));
  }
};

}  // namespace

TEST_CASE("kernels go to the queue in use and so do the calls about them") {
  QueueDriver driver;
  REQUIRE(driver.open() == 1);
  REQUIRE(driver.gemm() == T3_OK);
  driver.use(1);
  REQUIRE(t3_last_kernel(&driver.context) == 0);
  REQUIRE((driver.gemm() == T3_OK && driver.gemm() == T3_OK));
  REQUIRE(t3_last_kernel(&driver.context) == 2);
  REQUIRE(driver.mock.packets().at(0).queue == 0);
  REQUIRE((driver.mock.packets().at(1).queue == 1 && driver.mock.packets().at(2).queue == 1));
  driver.mock.hold_queue(0, true);
  REQUIRE(t3_wait_kernel(&driver.context, 2) == T3_OK);
  REQUIRE(t3_wait_kernels(&driver.context) == T3_OK);
  REQUIRE(t3_wait_kernel(&driver.context, 3) == T3_INVALID_ARGUMENT);
  REQUIRE(t3_close(&driver.context) == T3_BUSY);
  driver.use(0);
  REQUIRE(t3_last_kernel(&driver.context) == 1);
  driver.mock.hold_queue(0, false);
  REQUIRE(t3_wait_kernels(&driver.context) == T3_OK);
  REQUIRE(t3_use_queue(&driver.context, 2) == T3_INVALID_ARGUMENT);
  REQUIRE(t3_use_queue(&driver.context, T3_QUEUES) == T3_INVALID_ARGUMENT);
  driver.require_alive();
}

TEST_CASE("what ends in other queues does not keep a wait awake") {
  QueueDriver driver;
  driver.open();
  driver.use(1);
  driver.mock.hold_queue(1, true);
  REQUIRE(driver.gemm() == T3_OK);
  driver.use(0);
  REQUIRE(driver.gemm() == T3_OK);
  driver.use(1);
  REQUIRE(t3_wait_kernels(&driver.context) == T3_STUCK);  // the mock's signals go on and nothing else does
  driver.mock.hold_queue(1, false);
  REQUIRE(t3_wait_kernels(&driver.context) == T3_OK);
}

TEST_CASE("16 queues at most, with rings apart at the end of memory that stay there for the next context") {
  QueueDriver driver;
  std::uint64_t below = state_of(&driver.context)->memory_end;
  for (std::uint32_t queue = 1; queue < 16; ++queue) {
    REQUIRE(driver.open() == queue);
    const std::uint64_t base = driver.of_queue(T3_KERNEL_QUEUE_BASE_OFFSET, queue);
    const std::uint64_t bytes = driver.of_queue(T3_KERNEL_QUEUE_ENTRIES_OFFSET, queue) * T3_KERNEL_PACKET_ENTRY_BYTES;
    REQUIRE((base % T3_KERNEL_PACKET_ENTRY_BYTES == 0 && base + bytes <= below));
    REQUIRE(state_of(&driver.context)->heap_end <= base);
    below = base;
  }
  std::uint32_t queue = 0;
  REQUIRE(t3_queue_create(&driver.context, {}, &queue) == T3_TABLE_FULL);
  REQUIRE(t3_queue_create(&driver.context, {}, nullptr) == T3_INVALID_ARGUMENT);
  driver.use(3);
  REQUIRE(driver.gemm() == T3_OK);
  REQUIRE(t3_wait_kernels(&driver.context) == T3_OK);
  REQUIRE(t3_close(&driver.context) == T3_OK);
  REQUIRE(t3_init(&driver.context, driver.mock.hal()) == T3_OK);
  REQUIRE(state_of(&driver.context)->heap_end == below);
  REQUIRE(t3_use_queue(&driver.context, 3) == T3_INVALID_ARGUMENT);
  const std::uint64_t first = driver.of_queue(T3_KERNEL_QUEUE_BASE_OFFSET, 1);
  REQUIRE(driver.open() == 1);
  REQUIRE(driver.of_queue(T3_KERNEL_QUEUE_BASE_OFFSET, 1) == first);
  REQUIRE(state_of(&driver.context)->heap_end == below);
}

TEST_CASE("a queue's ring has its place though the end of memory is not aligned") {
  MockGpu mock(1, 4, (1u << 20) + 72);
  t3_context context;
  REQUIRE(t3_init(&context, mock.hal()) == T3_OK);
  std::uint32_t queue = 0;
  REQUIRE(t3_queue_create(&context, {}, &queue) == T3_OK);
  const std::uint64_t base = mock.reg(T3_BLOCK_KERNEL_QUEUE, T3_KERNEL_QUEUE_BASE_OFFSET + T3_KERNEL_QUEUE_BASE_STRIDE);
  REQUIRE(base % T3_KERNEL_PACKET_ENTRY_BYTES == 0);
  REQUIRE(state_of(&context)->heap_end == base);
}

TEST_CASE("a queue is opened before there is a spill table and while there is memory") {
  QueueDriver driver;
  std::uint32_t queue = 0;
  std::uint64_t rest = 0;
  REQUIRE(driver.dma_map() == T3_OK);
  REQUIRE(t3_queue_create(&driver.context, {}, &queue) == T3_BUSY);
  REQUIRE(t3_wait_dma(&driver.context) == T3_OK);
  REQUIRE(t3_remote_unmap_all(&driver.context) == T3_OK);
  REQUIRE(t3_close(&driver.context) == T3_OK);
  REQUIRE(t3_init(&driver.context, driver.mock.hal()) == T3_OK);
  REQUIRE(t3_malloc(&driver.context, state_of(&driver.context)->heap_end - state_of(&driver.context)->heap_begin,
                    &rest) == T3_OK);
  REQUIRE(t3_queue_create(&driver.context, {}, &queue) == T3_OUT_OF_MEMORY);
  REQUIRE(t3_free(&driver.context, rest) == T3_OK);
  REQUIRE(t3_queue_create(&driver.context, {}, &queue) == T3_OK);
}

TEST_CASE("all maps are removed when no kernel is queued in whichever queue") {
  QueueDriver driver;
  const std::uint32_t queue = driver.open({});
  REQUIRE(driver.dma_map() == T3_OK);
  REQUIRE(t3_wait_dma(&driver.context) == T3_OK);
  REQUIRE(t3_use_queue(&driver.context, queue) == T3_OK);
  driver.mock.hold_queue(queue, true);
  REQUIRE(driver.gemm() == T3_OK);
  driver.mock.take_journal();
  REQUIRE(t3_remote_unmap_all(&driver.context) == T3_BUSY);
  REQUIRE(driver.mock.take_journal().empty());
  driver.mock.hold_queue(queue, false);
  REQUIRE(t3_wait_kernels(&driver.context) == T3_OK);
  REQUIRE(t3_remote_unmap_all(&driver.context) == T3_OK);
}

TEST_CASE("a queue has the priority and the mask that it is given, and all compute units without a mask") {
  QueueDriver driver;
  t3_queue_options options{};
  options.priority = 5;
  const std::uint32_t queue = driver.open(options);
  REQUIRE(driver.of_queue(T3_KERNEL_QUEUE_PRIORITY_OFFSET, queue) == 5);
  for (std::uint32_t word = 0; word < 8; ++word) REQUIRE(driver.mask(queue, word) == ~0ull);
  options.cu_mask[1] = 0xF0;
  options.priority = 0;
  REQUIRE(driver.gemm() == T3_OK);
  REQUIRE(t3_set_queue(&driver.context, 0, options) == T3_BUSY);
  REQUIRE(t3_wait_kernels(&driver.context) == T3_OK);
  for (const std::uint32_t set : {0u, queue}) {
    REQUIRE(t3_set_queue(&driver.context, set, options) == T3_OK);
    for (std::uint32_t word = 0; word < 8; ++word) REQUIRE(driver.mask(set, word) == (word == 1 ? 0xF0 : 0));
  }
  REQUIRE(driver.of_queue(T3_KERNEL_QUEUE_PRIORITY_OFFSET, queue) == 0);
  REQUIRE(t3_set_queue(&driver.context, 2, options) == T3_INVALID_ARGUMENT);
  REQUIRE(t3_close(&driver.context) == T3_OK);  // the next context begins with queue 0 as after a reset
  REQUIRE(driver.mask(0, 1) == ~0ull);
}

TEST_CASE("failures are told by waits for their queue") {
  QueueDriver driver;
  driver.open();
  driver.use(1);
  driver.mock.refuse_kernel(T3_BAD_PACKET);
  REQUIRE(driver.gemm() == T3_OK);
  driver.mock.hold_queue(0, true);
  REQUIRE(t3_wait_kernel(&driver.context, 1) == T3_BAD_PACKET);
  driver.use(0);
  driver.mock.hold_queue(0, false);
  REQUIRE(driver.gemm() == T3_OK);
  REQUIRE(t3_wait_kernels(&driver.context) == T3_OK);
  driver.use(1);
  REQUIRE(t3_wait_kernels(&driver.context) == T3_BAD_PACKET);
  REQUIRE(t3_wait_kernels(&driver.context) == T3_OK);
}

TEST_CASE("an abort is that of the queue in use, and ring kernels take turns across queues") {
  QueueDriver driver;
  driver.open();
  driver.out.matrix.memory = T3_UNCACHED;
  REQUIRE(t3_ring_all_gather(&driver.context, &driver.out) == T3_OK);
  driver.use(1);
  REQUIRE(t3_set_timeout(&driver.context, 0) == T3_OK);
  REQUIRE(t3_ring_all_gather(&driver.context, &driver.out) == T3_TIMEOUT);
  REQUIRE(driver.mock.packets().size() == 1);
  REQUIRE(t3_abort_kernels(&driver.context) == T3_OK);  // there is none in queue 1
  REQUIRE(driver.of_queue(T3_KERNEL_QUEUE_COMMAND_OFFSET, 1) == T3_KERNEL_QUEUE_COMMAND_ACTION_ABORT);
  REQUIRE(driver.of_queue(T3_KERNEL_QUEUE_COMMAND_OFFSET, 0) == 0);
  REQUIRE(t3_set_timeout(&driver.context, T3_FOREVER) == T3_OK);
  REQUIRE(t3_ring_all_gather(&driver.context, &driver.out) == T3_OK);
  REQUIRE((driver.mock.packets().size() == 2 && driver.mock.packets().back().queue == 1));
  REQUIRE(driver.mock.packets().back().all_gather().signal_epoch == 3);
  driver.use(0);
  REQUIRE(t3_ring_all_gather(&driver.context, &driver.out) == T3_OK);
  REQUIRE(driver.mock.packets().back().all_gather().signal_epoch == 6);
}

TEST_CASE("a handler hears of each queue's kernels, has that queue in use and changes nothing for the program") {
  QueueDriver driver;
  driver.open();
  struct Heard {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> kernels;
    std::vector<std::uint64_t> last;
  } heard;
  REQUIRE(t3_set_handler(
              &driver.context, T3_LINE_KERNEL_QUEUE, 1,
              [](t3_context* context, const t3_interrupt* interrupt, void* argument) {
                auto* all = static_cast<Heard*>(argument);
                all->kernels.emplace_back(interrupt->queue, interrupt->number);
                all->last.push_back(t3_last_kernel(context));
                t3_use_queue(context, 1 - interrupt->queue);
              },
              &heard) == T3_OK);
  REQUIRE((driver.gemm() == T3_OK && driver.gemm() == T3_OK));
  driver.use(1);
  REQUIRE(driver.gemm() == T3_OK);
  REQUIRE(t3_wait_kernels(&driver.context) == T3_OK);
  REQUIRE(heard.kernels == std::vector<std::pair<std::uint32_t, std::uint64_t>>{{0, 1}, {0, 2}, {1, 1}});
  REQUIRE(heard.last == std::vector<std::uint64_t>{2, 2, 1});
  REQUIRE(t3_last_kernel(&driver.context) == 1);
  REQUIRE(driver.gemm() == T3_OK);
  REQUIRE(driver.mock.packets().back().queue == 1);
}

}  // namespace t3vp::test::queues_test
