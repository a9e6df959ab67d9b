// Queues as streams (t3/streams.h): what the driver queues, and what it refuses without a look at the hardware.
#include <catch2/catch.hpp>

#include "firmware/opened_driver.h"
#include "t3/launch.h"
#include "t3/streams.h"

namespace t3vp::test::streams_test {

namespace {

struct Streams : Driver {
  std::uint32_t other = 0;
  t3_event event{};
  Streams() { REQUIRE(t3_queue_create(&context, {}, &other) == T3_OK); }
  t3_status launch(std::uint32_t queue) { return t3_launch_gemm(&context, queue, &out, &a, &b, {}); }
  t3_status record(std::uint32_t queue) { return t3_event_record(&context, queue, &event); }
};

}  // namespace

TEST_CASE("an event has happened when all kernels before it have ended, and no others") {
  Streams driver;
  driver.mock.hold_queue(1, true);
  REQUIRE(driver.launch(1) == T3_OK);
  REQUIRE(driver.record(1) == T3_OK);
  REQUIRE(driver.launch(1) == T3_OK);
  REQUIRE(t3_event_query(&driver.context, &driver.event) == T3_BUSY);
  REQUIRE(t3_event_wait(&driver.context, &driver.event, 0) == T3_TIMEOUT);
  REQUIRE(t3_event_wait(&driver.context, &driver.event, T3_FOREVER) == T3_STUCK);
  driver.mock.hold_queue(1, false);
  REQUIRE(t3_event_wait(&driver.context, &driver.event, T3_FOREVER) == T3_OK);
  REQUIRE(t3_event_query(&driver.context, &driver.event) == T3_OK);
}

TEST_CASE("a queue waits for another one's event by a packet, and for its own or one that has happened by none") {
  Streams driver;
  driver.mock.hold_queue(0, true);
  REQUIRE((driver.launch(0) == T3_OK && driver.record(0) == T3_OK));
  REQUIRE(t3_queue_wait_event(&driver.context, 0, &driver.event) == T3_OK);
  REQUIRE(driver.mock.packets().size() == 1);
  REQUIRE(t3_queue_wait_event(&driver.context, 1, &driver.event) == T3_OK);
  REQUIRE(driver.mock.packets().size() == 2);
  const QueuedKernel waiting = driver.mock.packets().back();
  REQUIRE((waiting.queue == 1 && waiting.kernel == 0 && waiting.argument_bytes == 0));
  REQUIRE(waiting.flags == (T3_KERNEL_PACKET_FLAGS_BARRIER | T3_KERNEL_PACKET_FLAGS_WAIT));
  REQUIRE((waiting.workgroups == 0 && waiting.t3_kernel_packet::arguments == 1));
  driver.mock.hold_queue(0, false);
  REQUIRE(t3_synchronize(&driver.context, T3_FOREVER) == T3_OK);
  REQUIRE(t3_queue_wait_event(&driver.context, 1, &driver.event) == T3_OK);
  REQUIRE(driver.mock.packets().size() == 2);
  REQUIRE(t3_queue_in_use(&driver.context) == 0);
}

TEST_CASE("a queue is destroyed when it has no kernels, and its events have happened") {
  Streams driver;
  driver.mock.hold_queue(1, true);
  REQUIRE((driver.launch(1) == T3_OK && driver.record(1) == T3_OK));
  REQUIRE(t3_queue_destroy(&driver.context, 1) == T3_BUSY);
  driver.mock.hold_queue(1, false);
  REQUIRE(t3_wait_queue(&driver.context, 1) == T3_OK);
  REQUIRE(t3_use_queue(&driver.context, 1) == T3_OK);
  REQUIRE(t3_queue_destroy(&driver.context, 1) == T3_BUSY);
  REQUIRE(t3_use_queue(&driver.context, 0) == T3_OK);
  REQUIRE(t3_queue_destroy(&driver.context, 1) == T3_OK);
  REQUIRE(t3_event_query(&driver.context, &driver.event) == T3_OK);
  REQUIRE(driver.launch(1) == T3_INVALID_ARGUMENT);
  std::uint32_t again = 0;
  REQUIRE(t3_queue_create(&driver.context, {}, &again) == T3_OK);
  REQUIRE(again == 1);
  REQUIRE(driver.launch(1) == T3_OK);
  REQUIRE(t3_last_launch(&driver.context, 1) == 2);
  REQUIRE(t3_synchronize(&driver.context, T3_FOREVER) == T3_OK);
  driver.require_alive();
}

TEST_CASE("kernels of a queue release while it is set, and copies always do") {
  Streams driver;
  REQUIRE(driver.launch(1) == T3_OK);
  REQUIRE(driver.mock.packets().back().flags == T3_KERNEL_PACKET_FLAGS_BARRIER);
  REQUIRE(t3_queue_set_release(&driver.context, 1, true) == T3_OK);
  REQUIRE(driver.launch(1) == T3_OK);
  REQUIRE(driver.mock.packets().back().flags == (T3_KERNEL_PACKET_FLAGS_BARRIER | T3_KERNEL_PACKET_FLAGS_RELEASE));
  REQUIRE(t3_queue_set_release(&driver.context, 1, false) == T3_OK);
  REQUIRE(driver.launch(1) == T3_OK);
  REQUIRE(driver.mock.packets().back().flags == T3_KERNEL_PACKET_FLAGS_BARRIER);
  REQUIRE(t3_copy_async(&driver.context, 1, driver.out.matrix.address, driver.a.address, 64) == T3_OK);
  REQUIRE(driver.mock.packets().back().flags == (T3_KERNEL_PACKET_FLAGS_BARRIER | T3_KERNEL_PACKET_FLAGS_RELEASE));
}

TEST_CASE("all queues are waited for, and the first failure of the lowest queue is told") {
  Streams driver;
  driver.mock.refuse_kernel(T3_BAD_PACKET);
  REQUIRE(driver.launch(0) == T3_OK);
  REQUIRE(driver.launch(1) == T3_OK);
  REQUIRE(t3_synchronize(&driver.context, T3_FOREVER) == T3_BAD_PACKET);
  REQUIRE(t3_synchronize(&driver.context, T3_FOREVER) == T3_OK);
  driver.mock.hold_queue(1, true);
  REQUIRE(driver.launch(1) == T3_OK);
  REQUIRE(t3_synchronize(&driver.context, 0) == T3_TIMEOUT);
}

TEST_CASE("events of nobody and of another context are refused") {
  Streams driver, second;
  REQUIRE(t3_event_query(&driver.context, &driver.event) == T3_INVALID_ARGUMENT);
  REQUIRE(t3_event_query(&driver.context, nullptr) == T3_INVALID_ARGUMENT);
  REQUIRE(second.record(0) == T3_OK);
  REQUIRE(t3_event_wait(&driver.context, &second.event, T3_FOREVER) == T3_INVALID_ARGUMENT);
  REQUIRE(t3_queue_wait_event(&driver.context, 1, &second.event) == T3_INVALID_ARGUMENT);
  REQUIRE(driver.record(T3_QUEUES) == T3_INVALID_ARGUMENT);
  REQUIRE(t3_event_record(&driver.context, 0, nullptr) == T3_INVALID_ARGUMENT);
}

}  // namespace t3vp::test::streams_test
