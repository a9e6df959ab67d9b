// The driver's writes to the NIC's registers and to the queues in memory.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstring>

#include "firmware/connected.h"
#include "firmware/opened_driver.h"
#include "t3/little_endian.h"
#include "t3/nic.h"
#include "t3/nic_segment.h"
#include "t3/nic_work_entry.h"
#include "t3/shmem.h"

namespace t3vp::test::nic_driver_test {

namespace {

struct NicDriver : Driver {
  t3_nic_queue queue{};

  NicDriver() {
    queue.number = 5, queue.completion_queue = 3, queue.entries = 4;
    REQUIRE(t3_malloc(&context, t3_nic_queue_bytes(4), &queue.memory) == T3_OK);
  }
  std::uint64_t& pair(std::uint32_t offset) { return mock.reg(T3_BLOCK_NIC, offset + 5 * T3_NIC_STATE_STRIDE); }
  std::uint64_t& completions(std::uint32_t offset) {
    return mock.reg(T3_BLOCK_NIC, offset + 3 * T3_NIC_COMPLETION_BASE_STRIDE);
  }
  std::vector<unsigned char> at(std::uint64_t address, std::uint64_t bytes) {
    std::vector<unsigned char> data(bytes);
    REQUIRE(mock.hal()->read_memory(mock.hal()->platform, address, data.data(), bytes) == T3_OK);
    return data;
  }
  void complete(std::uint32_t number, std::uint8_t opcode = T3_NIC_WRITE, std::uint8_t syndrome = 0) {
    t3_nic_completion entry{};
    entry.index = static_cast<std::uint16_t>(number);
    entry.opcode = opcode, entry.syndrome = syndrome;
    entry.phase = number / 4 % 2 == 0 ? 1 : 0;
    unsigned char bytes[32];
    t3_nic_completion_to(&entry, bytes);
    mock.hal()->write_memory(mock.hal()->platform, t3_nic_completions_of(&queue) + 32 * (number % 4), bytes, 32);
    mock.hal()->order_writes(mock.hal()->platform);
  }
  void open() {
    REQUIRE(t3_nic_create_qp(&context, &queue) == T3_OK);
    REQUIRE(connect(&context, &queue, 3, 7) == T3_OK);
  }
};

}  // namespace

TEST_CASE("a region is staged and registered and its key comes back") {
  NicDriver d;
  d.mock.reg(T3_BLOCK_NIC, T3_NIC_KEY_OFFSET) = 0x1203;
  std::uint32_t key = 0;
  REQUIRE(t3_nic_reg_mr(&d.context, d.a.address, 100, T3_NIC_REMOTE_WRITE, &key) == T3_OK);
  CHECK(key == 0x1203);
  CHECK(d.mock.reg(T3_BLOCK_NIC, T3_NIC_REGION_BASE_OFFSET) == d.a.address);
  CHECK(d.mock.reg(T3_BLOCK_NIC, T3_NIC_REGION_BYTES_OFFSET) == 100);
  CHECK(d.mock.reg(T3_BLOCK_NIC, T3_NIC_REGION_ACCESS_OFFSET) == T3_NIC_REGION_ACCESS_REMOTE_WRITE_MASK);
  CHECK(t3_nic_reg_mr(&d.context, d.a.address, 100, 32, &key) == T3_INVALID_ARGUMENT);
  d.mock.reg(T3_BLOCK_NIC, T3_NIC_STATUS_OFFSET) = T3_TABLE_FULL;
  CHECK(t3_nic_reg_mr(&d.context, d.a.address, 100, 0, &key) == T3_TABLE_FULL);
  d.mock.reg(T3_BLOCK_NIC, T3_NIC_STATUS_OFFSET) = T3_INVALID_ARGUMENT;
  CHECK(t3_nic_dereg_mr(&d.context, 9) == T3_INVALID_ARGUMENT);
  CHECK(d.mock.reg(T3_BLOCK_NIC, T3_NIC_KEY_OFFSET) == 9);
}

TEST_CASE("a queue that is not created or has been reset is refused by every call") {
  NicDriver d;
  std::uint32_t count = 0;
  t3_nic_completion completion{};
  t3_nic_message message{};
  message.opcode = T3_NIC_WRITE;
  const auto all_refuse = [&] {
    return t3_nic_post_send(&d.context, &d.queue, &message) == T3_INVALID_ARGUMENT &&
           t3_nic_post_recv(&d.context, &d.queue, 1) == T3_INVALID_ARGUMENT &&
           t3_nic_poll_cq(&d.context, &d.queue, 1, &completion, &count) == T3_INVALID_ARGUMENT &&
           t3_nic_wait(&d.context, &d.queue, &completion) == T3_INVALID_ARGUMENT &&
           connect(&d.context, &d.queue, 1, 0) == T3_INVALID_ARGUMENT &&
           t3_nic_destroy_qp(&d.context, &d.queue) == T3_INVALID_ARGUMENT;
  };
  CHECK(all_refuse());
  d.open();
  d.complete(0);
  REQUIRE(t3_nic_destroy_qp(&d.context, &d.queue) == T3_OK);
  CHECK(all_refuse());
  CHECK(count == 0);
}

TEST_CASE("a completion queue has one queue pair and a context with queue pairs is not closed") {
  NicDriver d;
  d.open();
  t3_nic_queue other = d.queue;
  other.number = 6;
  CHECK(t3_nic_create_qp(&d.context, &other) == T3_BUSY);
  CHECK(t3_close(&d.context) == T3_BUSY);
  REQUIRE(t3_nic_destroy_qp(&d.context, &d.queue) == T3_OK);
  CHECK(t3_nic_create_qp(&d.context, &other) == T3_OK);
  REQUIRE(t3_nic_destroy_qp(&d.context, &other) == T3_OK);
  CHECK(t3_close(&d.context) == T3_OK);
}

TEST_CASE("a queue pair is created with empty rings and connected") {
  NicDriver d;
  d.open();
  CHECK(d.pair(T3_NIC_SEND_BASE_OFFSET) == t3_nic_send_of(&d.queue));
  CHECK(d.pair(T3_NIC_DOORBELL_RECORD_OFFSET) == t3_nic_record_of(&d.queue));
  CHECK(d.pair(T3_NIC_SEND_ENTRIES_OFFSET) == 4);
  CHECK(d.pair(T3_NIC_COMPLETION_QUEUE_OFFSET) == 3);
  CHECK(d.pair(T3_NIC_PEER_OFFSET) == (3u << 16 | 7));
  CHECK(d.pair(T3_NIC_STATE_OFFSET) == T3_NIC_STATE_NOW_READY_TO_SEND);
  CHECK(d.completions(T3_NIC_COMPLETION_ENTRIES_OFFSET) == 4);
  CHECK(d.completions(T3_NIC_COMPLETION_BASE_OFFSET) == t3_nic_completions_of(&d.queue));
  for (std::uint16_t place = 0; place < 4; ++place) {
    const auto bytes = d.at(t3_nic_completions_of(&d.queue) + 32 * place, 32);
    CHECK(t3_nic_completion_from(bytes.data()).index == static_cast<std::uint16_t>(place - 4));
    CHECK(t3_nic_completion_from(bytes.data()).phase == 0);
  }
  CHECK(t3_nic_create_qp(&d.context, &d.queue) == T3_BUSY);
  REQUIRE(t3_nic_destroy_qp(&d.context, &d.queue) == T3_OK);
  CHECK(t3_nic_create_qp(&d.context, &d.queue) == T3_OK);
  CHECK(connect(&d.context, &d.queue, 4, 0) == T3_NO_PEER);
  t3_nic_queue wrong = d.queue;
  wrong.entries = 3;
  CHECK(t3_nic_create_qp(&d.context, &wrong) == T3_INVALID_ARGUMENT);
  wrong = d.queue, wrong.memory += 32;
  CHECK(t3_nic_create_qp(&d.context, &wrong) == T3_UNALIGNED);
  wrong = d.queue, wrong.number = 64;
  CHECK(t3_nic_create_qp(&d.context, &wrong) == T3_INVALID_ARGUMENT);
}

TEST_CASE("entries are written before the record and that before the doorbell and a full ring is told") {
  NicDriver d;
  d.open();
  d.mock.take_order();
  t3_nic_message message{};
  message.opcode = T3_NIC_WRITE;
  message.remote_address = 0x300000001000, message.rkey = 0x77;
  message.local_address = d.a.address, message.lkey = 0x55, message.bytes = 99;
  REQUIRE(t3_nic_post_send(&d.context, &d.queue, &message) == T3_OK);
  CHECK(d.mock.take_order() == std::vector<std::string>{"memory", "order", "memory", "order"});
  const auto bytes = d.at(t3_nic_send_of(&d.queue), 64);
  const t3_nic_work_entry head = t3_nic_work_entry_from(bytes.data());
  CHECK(head.opcode == T3_NIC_WRITE);
  CHECK(head.flags == T3_NIC_WORK_ENTRY_FLAGS_SIGNALED);
  CHECK(head.queue_pair == 5);
  CHECK(head.remote_key == 0x77);
  CHECK(head.segments == 1);
  CHECK(t3_nic_segment_from(bytes.data() + 32).bytes == 99);
  CHECK(t3_nic_segment_from(bytes.data() + 32).key == 0x55);
  CHECK(t3_number_at(d.at(t3_nic_record_of(&d.queue), 4).data(), 4) == 1);
  CHECK(d.pair(T3_NIC_DOORBELL_OFFSET) == 1);
  const unsigned char data[5] = {1, 2, 3, 4, 5};
  message.inline_data = data, message.bytes = 5, message.fence = true;
  REQUIRE(t3_nic_post_send(&d.context, &d.queue, &message) == T3_OK);
  const auto second = d.at(t3_nic_send_of(&d.queue) + 64, 64);
  CHECK(t3_nic_work_entry_from(second.data()).index == 1);
  CHECK(t3_nic_work_entry_from(second.data()).inline_bytes == 5);
  CHECK(std::equal(data, data + 5, second.data() + 32));
  message.bytes = 33;
  CHECK(t3_nic_post_send(&d.context, &d.queue, &message) == T3_CAPACITY);
  message = {};
  message.opcode = T3_NIC_READ;
  REQUIRE(t3_nic_post_send(&d.context, &d.queue, &message) == T3_OK);
  CHECK(t3_nic_work_entry_from(d.at(t3_nic_send_of(&d.queue) + 128, 64).data()).segments == 0);
  message.opcode = T3_NIC_FETCH_ADD, message.addend = 7, message.bytes = 8;
  REQUIRE(t3_nic_post_send(&d.context, &d.queue, &message) == T3_OK);
  CHECK(t3_number_at(d.at(t3_nic_send_of(&d.queue) + 192 + 32, 8).data(), 8) == 7);
  CHECK(t3_nic_segment_from(d.at(t3_nic_send_of(&d.queue) + 192 + 48, 16).data()).bytes == 8);
  CHECK(t3_nic_post_send(&d.context, &d.queue, &message) == T3_BUSY);
  message.opcode = static_cast<t3_nic_opcode>(99);
  CHECK(t3_nic_post_send(&d.context, &d.queue, &message) == T3_INVALID_ARGUMENT);
  message = {};
  message.opcode = T3_NIC_READ;
  std::memset(&message.fence, 2, 1);
  CHECK(t3_nic_post_send(&d.context, &d.queue, &message) == T3_INVALID_ARGUMENT);
}

TEST_CASE("a queue pair of kernels takes nothing of the host") {
  NicDriver d;
  d.open();
  d.queue.is_kernels = true;
  std::uint32_t count = 0;
  t3_nic_completion completion{};
  t3_nic_message message{};
  message.opcode = T3_NIC_READ;
  d.mock.take_order();
  CHECK(t3_nic_post_send(&d.context, &d.queue, &message) == T3_ACCESS_DENIED);
  CHECK(t3_nic_post_recv(&d.context, &d.queue, 1) == T3_ACCESS_DENIED);
  CHECK(t3_nic_poll_cq(&d.context, &d.queue, 1, &completion, &count) == T3_ACCESS_DENIED);
  CHECK(t3_nic_wait(&d.context, &d.queue, &completion) == T3_ACCESS_DENIED);
  CHECK(d.mock.take_order().empty());
  CHECK(t3_nic_destroy_qp(&d.context, &d.queue) == T3_OK);
}

TEST_CASE("completions are taken by their phase and make room") {
  NicDriver d;
  d.open();
  t3_nic_message message{};
  message.opcode = T3_NIC_READ;
  std::uint32_t count = 1;
  t3_nic_completion completion{};
  for (std::uint32_t i = 0; i < 9; ++i) {
    REQUIRE(t3_nic_post_send(&d.context, &d.queue, &message) == T3_OK);
    REQUIRE(t3_nic_poll_cq(&d.context, &d.queue, 1, &completion, &count) == T3_OK);
    REQUIRE(count == 0);
    d.complete(i, T3_NIC_READ, i == 8 ? T3_NIC_REMOTE_ACCESS : T3_NIC_OK);
    REQUIRE(t3_nic_wait(&d.context, &d.queue, &completion) == T3_OK);
    REQUIRE(completion.index == i);
    REQUIRE(d.mock.reg(T3_BLOCK_NIC, T3_NIC_CONSUMED_OFFSET + 3 * T3_NIC_CONSUMED_STRIDE) == i + 1);
  }
  CHECK(t3_nic_status(&completion) == T3_ACCESS_DENIED);
  completion.syndrome = T3_NIC_RETRY_EXCEEDED;
  CHECK(t3_nic_status(&completion) == T3_NO_PEER);
  completion.syndrome = T3_NIC_FLUSHED;
  CHECK(t3_nic_status(&completion) == T3_ABORTED);
  completion.syndrome = T3_NIC_REMOTE_OPERATION, completion.reason = T3_DISABLED;
  CHECK(t3_nic_status(&completion) == T3_DISABLED);
}

TEST_CASE("several completions are taken at once, as many as there is room for, and announced once") {
  NicDriver d;
  d.open();
  t3_nic_message message{};
  message.opcode = T3_NIC_READ;
  for (int i = 0; i < 4; ++i) REQUIRE(t3_nic_post_send(&d.context, &d.queue, &message) == T3_OK);
  for (std::uint32_t i = 0; i < 3; ++i) d.complete(i, T3_NIC_READ);
  std::uint32_t count = 9;
  std::array<t3_nic_completion, 4> completions{};
  std::uint64_t& consumed = d.mock.reg(T3_BLOCK_NIC, T3_NIC_CONSUMED_OFFSET + 3 * T3_NIC_CONSUMED_STRIDE);
  CHECK(t3_nic_poll_cq(&d.context, &d.queue, 0, completions.data(), &count) == T3_INVALID_ARGUMENT);
  CHECK(t3_nic_poll_cq(&d.context, &d.queue, 1, nullptr, &count) == T3_INVALID_ARGUMENT);
  CHECK(t3_nic_poll_cq(&d.context, &d.queue, 1, completions.data(), nullptr) == T3_INVALID_ARGUMENT);
  REQUIRE(t3_nic_poll_cq(&d.context, &d.queue, 2, completions.data(), &count) == T3_OK);
  CHECK(count == 2);
  CHECK((completions[0].index == 0 && completions[1].index == 1));
  CHECK(consumed == 2);
  REQUIRE(t3_nic_poll_cq(&d.context, &d.queue, 4, completions.data(), &count) == T3_OK);
  CHECK(count == 1);
  CHECK(completions[0].index == 2);
  CHECK(consumed == 3);
  REQUIRE(t3_nic_poll_cq(&d.context, &d.queue, 4, completions.data(), &count) == T3_OK);
  CHECK(count == 0);
  CHECK(d.queue.posted - d.queue.ended == 1);
}

TEST_CASE("receive entries add up until the queue pair is reset") {
  NicDriver d;
  d.open();
  const std::uint64_t& doorbell =
      d.mock.reg(T3_BLOCK_NIC, T3_NIC_RECEIVE_DOORBELL_OFFSET + 5 * T3_NIC_RECEIVE_DOORBELL_STRIDE);
  CHECK(t3_nic_post_recv(&d.context, &d.queue, 0) == T3_INVALID_ARGUMENT);
  REQUIRE(t3_nic_post_recv(&d.context, &d.queue, 3) == T3_OK);
  CHECK(doorbell == 3);
  REQUIRE(t3_nic_post_recv(&d.context, &d.queue, 2) == T3_OK);
  CHECK(doorbell == 5);
  REQUIRE(t3_nic_destroy_qp(&d.context, &d.queue) == T3_OK);
  d.pair(T3_NIC_STATE_OFFSET) = T3_NIC_STATE_NOW_RESET;
  d.completions(T3_NIC_COMPLETION_ENTRIES_OFFSET) = 0;
  d.open();
  REQUIRE(t3_nic_post_recv(&d.context, &d.queue, 1) == T3_OK);
  CHECK(doorbell == 1);
}

TEST_CASE("a peer's write with immediate makes no room for entries") {
  NicDriver d;
  d.open();
  t3_nic_message message{};
  message.opcode = T3_NIC_READ;
  for (int i = 0; i < 4; ++i) REQUIRE(t3_nic_post_send(&d.context, &d.queue, &message) == T3_OK);
  std::uint32_t count = 0;
  t3_nic_completion completion{};
  d.complete(0, T3_NIC_RECEIVED);
  REQUIRE(t3_nic_poll_cq(&d.context, &d.queue, 1, &completion, &count) == T3_OK);
  REQUIRE(count == 1);
  CHECK(t3_nic_post_send(&d.context, &d.queue, &message) == T3_BUSY);
}

TEST_CASE("a symmetric heap that other GPUs have elsewhere is refused") {
  Driver d;
  t3_shmem_heap heap{};
  CHECK(t3_shmem_init(&d.context, {4096, 11, 16, false, false, false}, &heap) == T3_CAPACITY);
  CHECK(t3_shmem_init(&d.context, {4096, 1, 12, false, false, false}, &heap) == T3_INVALID_ARGUMENT);
  for (const bool second : {false, true}) {
    t3_shmem_options options{4096, 1, 16, false, false, false};
    std::memset(second ? &options.for_host : &options.cached_completions, 2, 1);
    CHECK(t3_shmem_init(&d.context, options, &heap) == T3_INVALID_ARGUMENT);
  }
  std::vector<unsigned char> others(4 * 56);
  d.mock.bring("t3_shmem_init", others);
  CHECK(t3_shmem_init(&d.context, {4096, 1, 16, false, false, false}, &heap) == T3_MISMATCH);
}

}  // namespace t3vp::test::nic_driver_test
