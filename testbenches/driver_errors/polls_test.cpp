// Programs that poll, or serve interrupts, while nothing else happens: a limit ends the run, and what they do is named.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "driver_errors/whole_runs.h"
#include "guests/guest_page.h"
#include "t3/registers/error_log.h"
#include "t3/registers/interrupt_controller.h"
#include "t3/registers/kernel_queue.h"
#include "t3/registers/signals.h"

namespace t3vp::test::polls_test {

using Catch::Contains;

namespace {

/// GPU 1 reads for ever what never changes; the others wait for it.
t3_status poll_a_register(const t3_hal* hal, const t3_run* run) {
  Waiter w(hal, run);
  const std::uint64_t completed = t3_block_base(hal->gpu, T3_BLOCK_KERNEL_QUEUE) + 0x18;
  std::uint64_t value = 0;
  while (hal->gpu == 1 && value == 0) {
    hal->read64(hal->platform, completed, &value);
    hal->wait_ns(hal->platform, 20);
  }
  return t3_barrier(&w.gpu);
}

/// All poll two registers and clear a bit again and again.
t3_status poll_two_registers(const t3_hal* hal, const t3_run* run) {
  Waiter w(hal, run);
  const std::uint64_t dma = t3_block_base(hal->gpu, T3_BLOCK_DMA), tracker = t3_block_base(hal->gpu, T3_BLOCK_TRACKER);
  w.map();
  std::uint32_t status = 0, pending = 1;
  for (std::uint32_t n = 0; n < 8; ++n) hal->read32(hal->platform, dma + 8 + 4 * n, &status);  // some wrongly
  while (pending != 0) {
    hal->write32(hal->platform, dma + 0x4C, 1);
    hal->read32(hal->platform, tracker + 0x34, &status);
    hal->read32(hal->platform, dma + 0x48, &pending);
  }
  return T3_OK;
}

t3_status poll_memory(const t3_hal* hal, const t3_run*) {
  std::uint64_t flag = 0;
  while (flag == 0) hal->read_memory(hal->platform, t3_on_gpu(hal->gpu, 0x8000), &flag, sizeof flag);
  return T3_OK;
}

/// As long as the limit allows, and one read less.
t3_status poll_999_times(const t3_hal* hal, const t3_run*) {
  std::uint64_t value = 0;
  for (int i = 0; i < 999; ++i)
    hal->read64(hal->platform, t3_block_base(hal->gpu, T3_BLOCK_KERNEL_QUEUE) + 0x18, &value);
  return T3_OK;
}

/// What a kernel changes in the end.
t3_status poll_a_kernel(const t3_hal* hal, const t3_run* run) {
  Waiter w(hal, run);
  w.multiply(2048);
  std::uint64_t value = 0, reads = 0;
  for (; value == 0; ++reads) hal->read64(hal->platform, t3_block_base(hal->gpu, T3_BLOCK_KERNEL_QUEUE) + 0x18, &value);
  return reads > 150 ? T3_OK : T3_BAD_VALUE;
}

/// Waits with timeouts, again and again.
t3_status retry_for_ever(const t3_hal* hal, const t3_run* run) {
  Waiter w(hal, run);
  w.map();
  t3_set_timeout(&w.gpu, 1000);
  while (t3_wait_dma(&w.gpu) == T3_TIMEOUT) continue;
  return T3_OK;
}

/// One polls what the other changes a long time later, by a single signal.
t3_status poll_a_sleeper(const t3_hal* hal, const t3_run*) {
  const std::uint64_t signals = t3_block_base(0, T3_BLOCK_SIGNALS);
  if (hal->gpu != 0) {
    hal->wait_ns(hal->platform, 3000000);
    return hal->write64(hal->platform, signals + 0x1000 + 8 * 100, 1);
  }
  std::uint64_t value = 0;
  while (value == 0) hal->read64(hal->platform, signals + 8 * 100, &value);
  return T3_OK;
}

}  // namespace

TEST_CASE("a register that is polled while nothing can change it ends the run and is named") {
  const RunResult result = run(poll_a_register, {"gpus=3", "limits.polls=1000"});
  REQUIRE(result.diagnosis.size() == 3);
  CHECK(result.diagnosis[0] == "GPU 0 firmware waits for the next GPU in a barrier");
  CHECK_THAT(result.diagnosis[1],
             Contains("GPU 1 firmware polls: it has read kernel_queue.completed[0] at 0x1f0000040018 ") &&
                 Contains(" times, always 0x0"));
  CHECK(result.diagnosis[2] == "GPU 2 firmware waits for the next GPU in a barrier");
}

TEST_CASE("registers that all GPUs poll by turns are found too") {
  const RunResult result = run(poll_two_registers, {"gpus=2", "limits.polls=1000"});
  const auto polls = [&result](const std::string& text) {
    return std::any_of(result.diagnosis.begin(), result.diagnosis.end(),
                       [&text](const std::string& line) { return line.find(text) != std::string::npos; });
  };
  CHECK((polls("GPU 0 firmware polls: it has read tracker.status at 0xf0000090034 ") ||
         polls("GPU 0 firmware polls: it has read dma.pending at 0xf00000a0048 ")));
  CHECK((polls("GPU 1 firmware polls: it has read tracker.status at 0x1f0000090034 ") ||
         polls("GPU 1 firmware polls: it has read dma.pending at 0x1f00000a0048 ")));
}

TEST_CASE("memory that is polled is named") {
  const RunResult result = run(poll_memory, {"gpus=2", "limits.polls=1000"});
  CHECK_THAT(result.diagnosis.at(0),
             Contains("GPU 0 firmware polls: it has read memory at 0x8000 ") && Contains(" times, always 0x0"));
}

TEST_CASE("a limit of simulated time names what is polled and what is waited for") {
  REQUIRE_THROWS_WITH(
      run(poll_a_register, {"gpus=2", "limits.simulated_ms=0.5"}),
      Contains("limits.simulated_ms: ") &&
          Contains("; GPU 1 firmware polls: it has read kernel_queue.completed[0] at 0x1f0000040018 ") &&
          Contains(" times, always 0x0; GPU 0 firmware waits for the next GPU in a barrier"));
}

TEST_CASE("polls that end by themselves end no run") {
  const RunResult result = run(poll_999_times, {"gpus=2", "limits.polls=1000"});
  CHECK(result.diagnosis.empty());
}

TEST_CASE("waits that are tried again after each timeout end the run when nothing can change") {
  const RunResult result = run(retry_for_ever, {"gpus=2", "limits.polls=500"});
  REQUIRE(result.diagnosis.size() >= 2);
  CHECK_THAT(result.diagnosis[0], Contains("GPU 0 firmware "));
}

TEST_CASE("polls of what another program changes after a long sleep end no run") {
  const RunResult result = run(poll_a_sleeper, {"gpus=2", "limits.polls=500"});
  CHECK(result.diagnosis.empty());
}

TEST_CASE("polls of what will change end no run") {
  const RunResult result = run(poll_a_kernel, {"gpus=2", "limits.polls=400"});
  CHECK(result.diagnosis.empty());
}

namespace {

/// Takes an entry out of the error log and causes the next one.
void err_again(t3_context* context, const t3_interrupt*, void*) {
  t3_error error;
  std::uint32_t value = 0;
  t3_next_error(context, &error);
  t3_hal_of(context)->read32(t3_hal_of(context)->platform, t3_block_base(t3_gpu(context), T3_BLOCK_SYSTEM) + 0xFF0,
                             &value);
}

/// Leaves the entry where it is.
void look_away(t3_context*, const t3_interrupt*, void*) {}

/// Causes an error that is noticed when the handler has long returned: the peer has no such memory.
void err_later(t3_context* context, const t3_interrupt*, void*) {
  const std::uint64_t word = 0;
  t3_error error;
  t3_next_error(context, &error);
  t3_hal_of(context)->write_memory(t3_hal_of(context)->platform, t3_on_gpu(1, std::uint64_t{1} << 43), &word,
                                   sizeof word);
}

/// Queues a packet that is refused, which is reported to it.
void queue_again(t3_context* context, const t3_interrupt*, void*) {
  t3_error error;
  while (t3_next_error(context, &error) == T3_OK && error.code != T3_OK) {
  }
  const unsigned char arguments[32] = {};
  t3_run_kernel(context, "gemm", arguments, sizeof arguments, {});
}

t3_handler* handler_of_errors = nullptr;

t3_status err_for_ever(const t3_hal* hal, const t3_run* run) {
  Waiter w(hal, run);
  const bool goes_on_later = handler_of_errors == err_later || handler_of_errors == queue_again;
  std::uint32_t value = 0;
  if (hal->gpu == 0) t3_set_handler(&w.gpu, T3_LINE_ERROR_LOG, 1, handler_of_errors, nullptr);
  if (hal->gpu == 0) hal->read32(hal->platform, t3_block_base(hal->gpu, T3_BLOCK_SYSTEM) + 0xFF0, &value);
  while (hal->gpu == 1 && goes_on_later) hal->wait_ns(hal->platform, 100'000);
  return t3_barrier(&w.gpu);
}

/// Runs some kernels that are reported to a handler, then only waits for long.
t3_status handle_kernels_then_wait(const t3_hal* hal, const t3_run* run) {
  Waiter w(hal, run);
  t3_set_handler(&w.gpu, T3_LINE_KERNEL_QUEUE, 1, look_away, nullptr);
  for (int i = 0; i < 24; ++i) w.multiply(64);
  w.tell(t3_wait_kernels(&w.gpu));
  for (;;) hal->wait_ns(hal->platform, 400'000);
}

/// Watches another counter than the barrier's, which the driver waits for.
void watch_counter_5(t3_context* context, const t3_interrupt*, void*) {
  t3_hal_of(context)->write32(t3_hal_of(context)->platform,
                              t3_block_base(t3_gpu(context), T3_BLOCK_SIGNALS) + T3_SIGNALS_WATCH_OFFSET, 5);
}

t3_status watch_by_hand(const t3_hal* hal, const t3_run* run) {
  Waiter w(hal, run);
  if (hal->gpu == 0) {
    t3_set_handler(&w.gpu, T3_LINE_KERNEL_QUEUE, 1, watch_counter_5, nullptr);
    w.multiply(64);
  } else {
    hal->wait_ns(hal->platform, 200'000);
  }
  w.tell(t3_barrier(&w.gpu));
  return T3_OK;
}

/// An interrupt entry of the program's own that clears nothing; GPU 1 lets time pass.
t3_status enter_for_ever(const t3_hal* hal, const t3_run* run) {
  Waiter w(hal, run);
  if (hal->gpu == 0) {
    hal->take_interrupts(
        hal->platform, [](void*) {}, nullptr);
    hal->write32(hal->platform, t3_block_base(0, T3_BLOCK_INTERRUPT_CONTROLLER) + T3_INTERRUPT_CONTROLLER_ENABLE_OFFSET,
                 1u << T3_LINE_KERNEL_QUEUE);
    w.multiply(64);
  }
  hal->wait_ns(hal->platform, 100'000);
  return t3_barrier(&w.gpu);
}

/// GPU 1 ends, GPU 2 lets time pass for ever, the others meet.
t3_status meet_an_ended_one(const t3_hal* hal, const t3_run* run) {
  Waiter w(hal, run);
  w.tell(t3_barrier(&w.gpu));
  while (hal->gpu == 2 && !answers[0].empty() && answers[0].back() != T3_STUCK) hal->wait_ns(hal->platform, 400'000);
  if (hal->gpu == 0) w.tell(t3_barrier(&w.gpu));
  return T3_OK;
}

/// GPU 0 calls one barrier more than GPU 1, and nothing else happens.
t3_status meet_once_more(const t3_hal* hal, const t3_run* run) {
  Waiter w(hal, run);
  w.tell(t3_barrier(&w.gpu));
  if (hal->gpu == 0) w.tell(t3_barrier(&w.gpu));
  return T3_OK;
}

/// GPU 1 comes late, when nothing has happened for long.
t3_status meet_a_late_one(const t3_hal* hal, const t3_run* run) {
  Waiter w(hal, run);
  if (hal->gpu == 1) hal->wait_ns(hal->platform, 5'000'000);
  w.tell(t3_barrier(&w.gpu));
  return T3_OK;
}

constexpr const char* serves_errors =
    "GPU 0 firmware serves interrupts over and over: its handlers have found line error_log up ";

}  // namespace

TEST_CASE("a handler that causes an error each time is named with its line at a limit of simulated time") {
  handler_of_errors = err_again;
  REQUIRE_THROWS_WITH(run(err_for_ever, {"gpus=2", "limits.simulated_ms=0.5"}),
                      Contains("limits.simulated_ms: ") && Contains(std::string("; ") + serves_errors) &&
                          Contains(" times in a row, the last time at ") &&
                          Contains("; GPU 1 firmware waits for the next GPU in a barrier"));
}

TEST_CASE("a handler of errors that queues what is refused ends the run by the limit of errors") {
  handler_of_errors = queue_again;
  const RunResult result = run(err_for_ever, {"gpus=2", "limits.errors=1000"});
  REQUIRE_THAT(fmt::format("{}", fmt::join(result.diagnosis, "\n")),
               Contains("limits.errors: a GPU's error log has got more than 1000 entries") && Contains(serves_errors));
}

TEST_CASE("a barrier with a GPU whose program has ended is stuck though others let time pass") {
  const RunResult result = run(meet_an_ended_one, {"gpus=3"});
  REQUIRE_THAT(result.diagnosis,
               Catch::VectorContains(
                   std::string("GPU 0 firmware waits for the next GPU in a barrier: the program of GPU 1 has ended")));
  REQUIRE(answers[0] == std::vector<t3_status>{T3_OK, T3_OK, T3_OK, T3_STUCK});
}

TEST_CASE("a barrier with a GPU whose program has ended says so when nothing happens any more") {
  const RunResult result = run(meet_once_more, {"gpus=2"});
  REQUIRE(
      result.diagnosis ==
      std::vector<std::string>{"GPU 0 firmware waits for the next GPU in a barrier: the program of GPU 1 has ended"});
  REQUIRE(answers[0].back() == T3_STUCK);
}

TEST_CASE("a barrier with a GPU that comes late is none with one that has ended") {
  const RunResult result = run(meet_a_late_one, {"gpus=3"});
  REQUIRE(result.diagnosis.empty());
}

TEST_CASE("a handler that leaves its cause is named with its line at a limit of simulated time") {
  handler_of_errors = look_away;
  REQUIRE_THROWS_WITH(run(err_for_ever, {"gpus=2", "limits.simulated_ms=0.5"}),
                      Contains(std::string("; ") + serves_errors));
}

TEST_CASE("a handler whose errors come later is named with its line") {
  handler_of_errors = err_later;
  REQUIRE_THROWS_WITH(run(err_for_ever, {"gpus=2", "limits.simulated_ms=0.5"}),
                      Contains(std::string("; ") + serves_errors));
}

TEST_CASE("a handler that causes an error each time ends the run by the limit of polls") {
  handler_of_errors = err_again;
  const RunResult result = run(err_for_ever, {"gpus=2", "limits.polls=1000"});
  CAPTURE(result.diagnosis);
  const auto is_told = [](const std::string& line) { return line.rfind(serves_errors, 0) == 0; };
  CHECK(std::count_if(result.diagnosis.begin(), result.diagnosis.end(), is_told) == 1);
}

TEST_CASE("an entry of the program's own that clears nothing ends the run by the limit of polls") {
  const RunResult result = run(enter_for_ever, {"gpus=2", "limits.polls=1000"});
  CAPTURE(result.diagnosis);
  REQUIRE(!result.diagnosis.empty());
  CHECK_THAT(result.diagnosis[0],
             Contains("GPU 0 firmware serves interrupts over and over: its handlers have found line kernel_queue up "));
}

TEST_CASE("an entry of the program's own that clears nothing is named at a limit of simulated time") {
  REQUIRE_THROWS_WITH(run(enter_for_ever, {"gpus=2", "limits.simulated_ms=0.3"}),
                      Contains("limits.simulated_ms: ") && Contains("have found line kernel_queue up "));
}

TEST_CASE("handlers that have done their work are not named") {
  REQUIRE_THROWS_WITH(run(handle_kernels_then_wait, {"gpus=2", "limits.simulated_ms=3"}),
                      Contains("limits.simulated_ms: ") && !Contains("serves interrupts"));
}

TEST_CASE("a counter that is watched by hand while a barrier waits is told with the barrier's") {
  const RunResult result = run(watch_by_hand, {"gpus=2"});
  REQUIRE(answers[0].back() == T3_STUCK);
  REQUIRE(!result.diagnosis.empty());
  CHECK(result.diagnosis[0] ==
        "GPU 0 firmware waits for the next GPU in a barrier; signals.watch names counter 5, which is 0: nothing tells "
        "of counter 0, the barrier's, which is 1");
}

TEST_CASE("calls at once are counted from when time or a kernel last went on") {
  GuestPage page;
  for (std::uint64_t passes = 1; passes <= 3; ++passes) {
    page.pass(0);
    CHECK(page.at_once == passes);
  }
  page.pass(0, true);
  CHECK(page.at_once == 0);
  CHECK(page.passes == 4);
}

}  // namespace t3vp::test::polls_test
