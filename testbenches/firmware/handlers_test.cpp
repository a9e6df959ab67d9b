// Interrupt handlers, locks and order as the driver asks the HAL for them.
#include <catch2/catch.hpp>
#include <functional>
#include <tuple>
#include <utility>

#include "driver/context_state.h"
#include "firmware/opened_driver.h"
#include "t3/registers/cache.h"
#include "t3/registers/dma.h"
#include "t3/registers/error_log.h"
#include "t3/registers/interrupt_controller.h"
#include "t3/registers/kernel_queue.h"
#include "t3/registers/signals.h"

namespace t3vp::test::handlers_test {

namespace {

using Texts = std::vector<std::string>;

struct HandledDriver : Driver {
  Texts heard;
  std::function<void(const t3_interrupt&)> then;

  t3_status handle(t3_line line, std::uint32_t priority = 1) {
    return t3_set_handler(
        &context, line, priority,
        [](t3_context*, const t3_interrupt* interrupt, void* argument) {
          static_cast<HandledDriver*>(argument)->hear(*interrupt);
        },
        this);
  }
  Texts take_heard() { return std::exchange(heard, {}); }

 private:
  void hear(const t3_interrupt& interrupt) {
    constexpr const char* names[] = {"kernel", "dma", "signals", "error_log", "tracker", "dma_error", "cache"};
    std::string text = names[interrupt.line];
    if (interrupt.number != 0) text += " " + std::to_string(interrupt.number);
    if (interrupt.code != T3_OK) text += std::string(": ") + t3_status_text(interrupt.code);
    heard.push_back(text);
    if (then) then(interrupt);
  }
};

}  // namespace

TEST_CASE("a packet is in memory before its doorbell") {
  HandledDriver driver;  // its memory takes no write before it is ordered, and its doorbell reads memory
  for (int i = 0; i < 40; ++i) {
    t3_gemm_options options{};
    options.first_workgroup = static_cast<std::uint32_t>(i) % 4;
    REQUIRE(t3_gemm(&driver.context, &driver.out, &driver.a, &driver.b, options) == T3_OK);
    REQUIRE(driver.mock.packets().back().gemm().first_workgroup == options.first_workgroup);
  }
  const Texts order = driver.mock.take_order();
  REQUIRE(order.size() == 3 * 40);
  for (std::size_t i = 0; i < order.size(); i += 3) {
    REQUIRE(order[i] == "memory");
    REQUIRE(order[i + 1] == "order");
    REQUIRE(order[i + 2] == "doorbell");
  }
}

TEST_CASE("memory is ordered before another GPU hears of it") {
  HandledDriver driver;
  REQUIRE(t3_barrier(&driver.context) == T3_OK);
  const Texts order = driver.mock.take_order();
  REQUIRE(order == Texts{"order", "signal", "order", "signal", "order", "signal"});
}

TEST_CASE("handlers hear of every kernel by itself with its code and of others once") {
  HandledDriver driver;
  for (const t3_line line : {T3_LINE_KERNEL_QUEUE, T3_LINE_DMA, T3_LINE_CACHE}) REQUIRE(driver.handle(line) == T3_OK);
  for (int i = 0; i < 5; ++i) {
    if (i == 3) REQUIRE(t3_wait_kernels(&driver.context) == T3_OK);
    if (i == 3) driver.mock.refuse_kernel(T3_BAD_PACKET);
    REQUIRE(driver.gemm() == T3_OK);
  }
  REQUIRE(driver.take_heard() == Texts{"kernel 1", "kernel 2", "kernel 3"});
  REQUIRE(t3_wait_kernels(&driver.context) == T3_BAD_PACKET);
  REQUIRE(
      driver.take_heard() ==
      Texts{"kernel 4: the kernel packet, its arguments or the kernel's plan are malformed, or are not for this GPU",
            "kernel 5"});
  REQUIRE(t3_flush_cache(&driver.context) == T3_OK);
  REQUIRE(driver.take_heard() == Texts{"cache"});
  REQUIRE(t3_fill_zero(&driver.context, &driver.a) == T3_OK);
  REQUIRE(driver.take_heard() == Texts{"dma"});
  driver.mock.fail_fill(T3_BAD_ADDRESS);
  REQUIRE(t3_fill_zero(&driver.context, &driver.a) == T3_BAD_ADDRESS);
  REQUIRE(driver.take_heard() == Texts{"dma: nothing answers at the address"});
  REQUIRE(driver.dma_map() == T3_OK);
  REQUIRE(t3_wait_dma(&driver.context) == T3_OK);
  REQUIRE(driver.take_heard() == Texts{"dma"});
  REQUIRE(driver.mock.unlocked_accesses() == 0);
}

TEST_CASE("a transfer that fails raises its own line and the wait for transfers leaves that to its handler") {
  HandledDriver driver;
  REQUIRE(driver.handle(T3_LINE_DMA_ERROR) == T3_OK);
  REQUIRE(driver.dma_map() == T3_OK);
  driver.mock.reg(T3_BLOCK_DMA, T3_DMA_STATUS_OFFSET) = T3_DISABLED << T3_DMA_STATUS_TRANSFER_SHIFT;
  driver.mock.reg(T3_BLOCK_DMA, T3_DMA_INTERRUPT_OFFSET) |= T3_DMA_INTERRUPT_ERROR_MASK;
  REQUIRE(t3_wait_dma(&driver.context) == T3_DISABLED);
  REQUIRE(driver.take_heard() == Texts{"dma_error: the unit that should do this is switched off"});
  REQUIRE(driver.mock.reg(T3_BLOCK_DMA, T3_DMA_INTERRUPT_OFFSET) == 0);
}

TEST_CASE("what happens while a line is masked is told when it is unmasked") {
  HandledDriver driver;
  REQUIRE(driver.handle(T3_LINE_KERNEL_QUEUE) == T3_OK);
  REQUIRE(driver.handle(T3_LINE_CACHE) == T3_OK);
  for (const t3_line line : {T3_LINE_KERNEL_QUEUE, T3_LINE_CACHE}) REQUIRE(t3_mask(&driver.context, line) == T3_OK);
  REQUIRE(driver.gemm() == T3_OK);
  REQUIRE(driver.gemm() == T3_OK);
  REQUIRE(t3_wait_kernels(&driver.context) == T3_OK);
  REQUIRE(t3_flush_cache(&driver.context) == T3_OK);
  REQUIRE(driver.take_heard().empty());
  REQUIRE(t3_unmask(&driver.context, T3_LINE_CACHE) == T3_OK);
  REQUIRE(driver.take_heard() == Texts{"cache"});
  REQUIRE(t3_unmask(&driver.context, T3_LINE_KERNEL_QUEUE) == T3_OK);
  REQUIRE(driver.take_heard() == Texts{"kernel 1", "kernel 2"});
  REQUIRE(t3_unmask(&driver.context, T3_LINE_KERNEL_QUEUE) == T3_OK);
  REQUIRE(driver.take_heard().empty());

  // A handler masks its own line, and is called while no wait runs.
  driver.then = [&](const t3_interrupt&) { REQUIRE(t3_mask(&driver.context, T3_LINE_KERNEL_QUEUE) == T3_OK); };
  REQUIRE(driver.gemm() == T3_OK);
  REQUIRE(driver.gemm() == T3_OK);
  t3_error error;
  driver.mock.finish_after_read(T3_BLOCK_ERROR_LOG, T3_ERROR_LOG_COUNT_OFFSET);
  REQUIRE(t3_next_error(&driver.context, &error) == T3_OK);
  REQUIRE(driver.take_heard() == Texts{"kernel 3"});
  REQUIRE(t3_unmask(&driver.context, T3_LINE_KERNEL_QUEUE) == T3_OK);
  REQUIRE(driver.take_heard() == Texts{"kernel 4"});
}

TEST_CASE("a handler is interrupted by higher priorities only") {
  for (const bool cache_is_higher : {true, false}) {
    HandledDriver driver;
    REQUIRE(driver.handle(T3_LINE_KERNEL_QUEUE, 2) == T3_OK);
    REQUIRE(driver.handle(T3_LINE_CACHE, cache_is_higher ? 3 : 2) == T3_OK);
    driver.then = [&](const t3_interrupt& interrupt) {
      if (interrupt.line != T3_LINE_KERNEL_QUEUE) return;
      REQUIRE(t3_flush_cache(&driver.context) == T3_OK);
      driver.heard.emplace_back("end of the kernel's");
    };
    REQUIRE(driver.gemm() == T3_OK);
    REQUIRE(t3_wait_kernels(&driver.context) == T3_OK);
    if (cache_is_higher)
      REQUIRE(driver.take_heard() == Texts{"kernel 1", "cache", "end of the kernel's"});
    else
      REQUIRE(driver.take_heard() == Texts{"kernel 1", "end of the kernel's", "cache"});
    REQUIRE(driver.mock.unlocked_accesses() == 0);
    REQUIRE(driver.mock.locks() == 0);
  }
}

TEST_CASE("a handler may call the driver while a call waits but not what that call is in") {
  HandledDriver driver;
  t3_context* context = &driver.context;
  REQUIRE(driver.handle(T3_LINE_KERNEL_QUEUE) == T3_OK);
  std::vector<t3_status> answers;
  driver.then = [&](const t3_interrupt& interrupt) {
    std::uint64_t address = 0;
    answers.push_back(t3_close(context));
    answers.push_back(t3_malloc(context, 100, &address));
    answers.push_back(t3_free(context, address));
    if (interrupt.number <= 30) answers.push_back(driver.gemm());
  };
  REQUIRE(driver.gemm() == T3_OK);
  while (t3_last_kernel(context) <= 30) REQUIRE(t3_wait_kernels(context) == T3_OK);
  REQUIRE(t3_wait_kernels(context) == T3_OK);
  REQUIRE(driver.take_heard().size() == 31);
  REQUIRE(answers.size() == 4 * 31 - 1);
  for (std::size_t i = 0; i < answers.size(); ++i) REQUIRE(answers[i] == (i % 4 == 0 ? T3_BUSY : T3_OK));

  answers.clear();
  driver.then = [&](const t3_interrupt&) {
    answers.push_back(t3_fill_zero(context, &driver.a));
    answers.push_back(t3_barrier(context));
  };
  REQUIRE(driver.gemm() == T3_OK);
  REQUIRE(t3_fill_zero(context, &driver.b) == T3_OK);
  REQUIRE(answers == std::vector<t3_status>{T3_BUSY, T3_OK});
  REQUIRE(driver.gemm() == T3_OK);
  driver.mock.reg(T3_BLOCK_SIGNALS, T3_SIGNALS_VALUE_OFFSET) =
      state_of(context)->barrier_rounds;  // the next GPU is not ahead
  REQUIRE(t3_barrier(context) == T3_OK);
  REQUIRE(answers == std::vector<t3_status>{T3_BUSY, T3_OK, T3_OK, T3_BUSY});
  driver.then = {};
  REQUIRE(t3_close(context) == T3_OK);
}

TEST_CASE("a handler may queue kernels while a call waits for room") {
  HandledDriver driver;
  t3_context* context = &driver.context;
  REQUIRE(driver.handle(T3_LINE_KERNEL_QUEUE) == T3_OK);
  driver.then = [&](const t3_interrupt& interrupt) {
    if (interrupt.number % 2 == 1 && interrupt.number < 60) REQUIRE(t3_ring_all_gather(context, &driver.out) == T3_OK);
  };
  for (int i = 0; i < 60; ++i) {
    REQUIRE(t3_ring_all_gather(context, &driver.out) == T3_OK);
    const std::uint64_t ended = driver.mock.reg(T3_BLOCK_KERNEL_QUEUE, T3_KERNEL_QUEUE_COMPLETED_OFFSET);
    REQUIRE(driver.mock.packets().size() - ended <= 16);
  }
  REQUIRE(t3_wait_kernels(context) == T3_OK);
  REQUIRE(driver.mock.packets().size() == 90);
  for (std::size_t i = 0; i < 90; ++i) REQUIRE(driver.mock.packets()[i].all_gather().signal_epoch == 3 * i);
}

TEST_CASE("a handler hears of nothing from before it was set or after it was taken away") {
  HandledDriver driver;
  t3_context* context = &driver.context;
  REQUIRE(driver.gemm() == T3_OK);
  REQUIRE(t3_wait_kernels(context) == T3_OK);
  REQUIRE(driver.handle(T3_LINE_KERNEL_QUEUE) == T3_OK);
  REQUIRE(driver.take_heard().empty());
  REQUIRE(driver.gemm() == T3_OK);
  REQUIRE(t3_wait_kernels(context) == T3_OK);
  REQUIRE(driver.take_heard() == Texts{"kernel 2"});
  REQUIRE(t3_set_handler(context, T3_LINE_KERNEL_QUEUE, 0, nullptr, nullptr) == T3_OK);
  REQUIRE(driver.gemm() == T3_OK);
  REQUIRE(t3_wait_kernels(context) == T3_OK);
  REQUIRE(driver.take_heard().empty());
  REQUIRE(driver.mock.reg(T3_BLOCK_INTERRUPT_CONTROLLER, T3_INTERRUPT_CONTROLLER_ENABLE_OFFSET) <= 1);
}

TEST_CASE("a line whose block does not answer is told once and masked") {
  for (const auto& [line, block, offset] :
       {std::tuple{T3_LINE_CACHE, T3_BLOCK_CACHE, T3_CACHE_INTERRUPT_OFFSET},
        std::tuple{T3_LINE_KERNEL_QUEUE, T3_BLOCK_KERNEL_QUEUE, T3_KERNEL_QUEUE_INTERRUPT_OFFSET}}) {
    HandledDriver driver;
    REQUIRE(driver.handle(line) == T3_OK);
    driver.mock.reg(block, offset) = 1;
    driver.mock.unplug(block);
    REQUIRE(t3_set_timeout(&driver.context, T3_FOREVER) == T3_OK);
    REQUIRE(driver.take_heard().size() == 1);
    REQUIRE(t3_set_timeout(&driver.context, T3_FOREVER) == T3_OK);
    REQUIRE(driver.take_heard().empty());
  }
}

TEST_CASE("lines that are none and handlers without priority are refused") {
  HandledDriver driver;
  CHECK(driver.handle(T3_LINE_COUNT) == T3_INVALID_ARGUMENT);
  CHECK(driver.handle(T3_LINE_DMA, 0) == T3_INVALID_ARGUMENT);
  CHECK(t3_mask(&driver.context, T3_LINE_COUNT) == T3_INVALID_ARGUMENT);
  CHECK(t3_unmask(&driver.context, T3_LINE_COUNT) == T3_INVALID_ARGUMENT);
}

}  // namespace t3vp::test::handlers_test
