// Kernels with their queue as an argument (t3/launch.h).
#include <catch2/catch.hpp>

#include "firmware/opened_driver.h"
#include "t3/launch.h"

namespace t3vp::test::launch_test {

namespace {

struct TwoQueues : Driver {
  std::uint32_t other = 0;
  TwoQueues() { REQUIRE(t3_queue_create(&context, {}, &other) == T3_OK); }
  t3_status launch(std::uint32_t queue) { return t3_launch_gemm(&context, queue, &out, &a, &b, {}); }
};

}  // namespace

TEST_CASE("a kernel goes to the queue that its call names, and the queue in use stays") {
  TwoQueues driver;
  REQUIRE(driver.launch(1) == T3_OK);
  REQUIRE(driver.launch(0) == T3_OK);
  REQUIRE(t3_queue_in_use(&driver.context) == 0);
  REQUIRE(t3_use_queue(&driver.context, 1) == T3_OK);
  REQUIRE(driver.launch(0) == T3_OK);
  REQUIRE(t3_queue_in_use(&driver.context) == 1);
  const auto packets = driver.mock.packets();
  REQUIRE((packets.at(0).queue == 1 && packets.at(1).queue == 0 && packets.at(2).queue == 0));
  REQUIRE((t3_last_launch(&driver.context, 0) == 2 && t3_last_launch(&driver.context, 1) == 1));
}

TEST_CASE("a wait is for the kernels of the queue that it names") {
  TwoQueues driver;
  driver.mock.hold_queue(1, true);
  REQUIRE((driver.launch(0) == T3_OK && driver.launch(1) == T3_OK));
  REQUIRE(t3_wait_queue(&driver.context, 0) == T3_OK);
  REQUIRE(t3_wait_launch(&driver.context, 0, 1) == T3_OK);
  REQUIRE(t3_wait_queue(&driver.context, 1) == T3_STUCK);
  REQUIRE(t3_queue_in_use(&driver.context) == 0);
  driver.mock.hold_queue(1, false);
  REQUIRE(t3_wait_launch(&driver.context, 1, 1) == T3_OK);
  REQUIRE(t3_wait_launch(&driver.context, 1, 2) == T3_INVALID_ARGUMENT);
}

TEST_CASE("every call refuses a queue that is not open, and the queue in use stays") {
  TwoQueues driver;
  t3_context& gpu = driver.context;
  REQUIRE(t3_use_queue(&gpu, 1) == T3_OK);
  const std::size_t before = driver.mock.packets().size();
  for (const std::uint32_t queue : {2u, static_cast<std::uint32_t>(T3_QUEUES), UINT32_MAX}) {
    const unsigned char bytes[8] = {};
    CHECK(driver.launch(queue) == T3_INVALID_ARGUMENT);
    CHECK(t3_launch_kernel(&gpu, queue, "gemm", bytes, sizeof bytes, {}) == T3_INVALID_ARGUMENT);
    CHECK(t3_launch_ring_all_gather(&gpu, queue, &driver.out) == T3_INVALID_ARGUMENT);
    CHECK(t3_launch_ring_reduce_scatter(&gpu, queue, &driver.out, nullptr) == T3_INVALID_ARGUMENT);
    CHECK(t3_wait_queue(&gpu, queue) == T3_INVALID_ARGUMENT);
    CHECK(t3_wait_launch(&gpu, queue, 1) == T3_INVALID_ARGUMENT);
    CHECK(t3_abort_queue(&gpu, queue) == T3_INVALID_ARGUMENT);
    CHECK(t3_last_launch(&gpu, queue) == 0);
  }
  REQUIRE(driver.mock.packets().size() == before);
  REQUIRE(t3_queue_in_use(&gpu) == 1);
}

}  // namespace t3vp::test::launch_test
