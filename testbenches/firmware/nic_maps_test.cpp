// Queue pairs that the driver lends to the DMA engine, and maps that go by them.
#include "t3/nic_maps.h"
#include "firmware/connected.h"
#include "firmware/opened_driver.h"
#include "t3/nic_work_entry.h"

namespace t3vp::test::nic_maps_test {

namespace {

struct MapDriver : Driver {
  t3_nic_queue queue{};
  const t3_nic_route way{2, 0x11, 0x22};
  const t3_dma_options options{2, 1, T3_UPDATE};

  MapDriver() {
    queue.number = 5, queue.completion_queue = 3, queue.entries = 4;
    REQUIRE(t3_malloc(&context, t3_nic_queue_bytes(4), &queue.memory) == T3_OK);
    REQUIRE(t3_nic_create_qp(&context, &queue) == T3_OK);
    REQUIRE(connect(&context, &queue, 3, 7) == T3_OK);
  }
  std::uint64_t& engine(std::uint32_t offset) {
    return mock.reg(T3_BLOCK_DMA, offset + 2 * T3_DMA_QUEUE_ENTRIES_STRIDE);
  }
  std::uint64_t& state() { return mock.reg(T3_BLOCK_NIC, T3_NIC_STATE_OFFSET + 5 * T3_NIC_STATE_STRIDE); }
  t3_status lend(std::uint32_t number = 2) { return t3_dma_lend(&context, number, &queue); }
  t3_status map(const t3_nic_route* by) { return t3_dma_map_nic(&context, &out, chunk, peer_out, by, options); }
};

}  // namespace

TEST_CASE("a queue pair that is lent is described to the DMA engine, and taken back it is the host's again") {
  MapDriver d;
  REQUIRE(d.lend() == T3_OK);
  CHECK(d.engine(T3_DMA_QUEUE_SEND_BASE_OFFSET) == t3_nic_send_of(&d.queue));
  CHECK(d.engine(T3_DMA_QUEUE_RECORD_OFFSET) == t3_nic_record_of(&d.queue));
  CHECK(d.engine(T3_DMA_QUEUE_PAIR_OFFSET) == 5);
  CHECK(d.engine(T3_DMA_QUEUE_ENTRIES_OFFSET) == 4);
  t3_nic_message message{};
  message.opcode = T3_NIC_WRITE;
  CHECK(t3_nic_post_send(&d.context, &d.queue, &message) == T3_BUSY);
  CHECK(t3_nic_destroy_qp(&d.context, &d.queue) == T3_BUSY);
  std::uint32_t count = 1;
  t3_nic_completion completion{};
  CHECK(t3_nic_poll_cq(&d.context, &d.queue, 1, &completion, &count) == T3_OK);  // of entries that have failed
  CHECK(count == 0);
  REQUIRE(t3_dma_take_back(&d.context, 2, &d.queue) == T3_OK);
  CHECK(d.engine(T3_DMA_QUEUE_ENTRIES_OFFSET) == 0);
  CHECK(t3_nic_destroy_qp(&d.context, &d.queue) == T3_OK);
}

TEST_CASE("what cannot be lent or taken back is refused by its reason") {
  MapDriver d;
  CHECK(d.lend(T3_DMA_QUEUES) == T3_INVALID_ARGUMENT);
  CHECK(t3_dma_lend(&d.context, 2, nullptr) == T3_INVALID_ARGUMENT);
  t3_nic_queue other{};
  CHECK(t3_dma_lend(&d.context, 2, &other) == T3_INVALID_ARGUMENT);  // never created
  CHECK(t3_dma_take_back(&d.context, 2, &d.queue) == T3_INVALID_ARGUMENT);
  for (const std::uint32_t now : {T3_NIC_STATE_NOW_INIT, T3_NIC_STATE_NOW_READY_TO_RECEIVE, T3_NIC_STATE_NOW_ERROR}) {
    d.state() = now;
    CHECK(d.lend() == T3_ACCESS_DENIED);
  }
  d.state() = T3_NIC_STATE_NOW_READY_TO_SEND;
  d.engine(T3_DMA_QUEUE_ENTRIES_OFFSET) = 16;
  CHECK(d.lend() == T3_BUSY);  // another queue pair is lent as it
  d.engine(T3_DMA_QUEUE_ENTRIES_OFFSET) = 0;
  t3_nic_message message{};
  message.opcode = T3_NIC_READ;
  REQUIRE(t3_nic_post_send(&d.context, &d.queue, &message) == T3_OK);
  CHECK(d.lend() == T3_BUSY);  // its entries are not all the engine's
  d.queue.posted = 0;
  REQUIRE(d.lend() == T3_OK);
  CHECK(d.lend() == T3_BUSY);
  CHECK(t3_dma_take_back(&d.context, 3, &d.queue) == T3_INVALID_ARGUMENT);  // it is lent as another one
  d.engine(T3_DMA_QUEUE_POSTED_OFFSET) = 6;
  REQUIRE(t3_dma_take_back(&d.context, 2, &d.queue) == T3_OK);
  CHECK(d.lend() == T3_BUSY);  // the engine's entries are in it
  REQUIRE(t3_nic_destroy_qp(&d.context, &d.queue) == T3_OK);
  d.state() = T3_NIC_STATE_NOW_RESET;
  REQUIRE(t3_nic_create_qp(&d.context, &d.queue) == T3_OK);
  d.state() = T3_NIC_STATE_NOW_READY_TO_SEND;
  d.queue.is_kernels = true;
  CHECK(d.lend() == T3_ACCESS_DENIED);
  d.queue.is_kernels = false;
  CHECK(d.lend() == T3_OK);
}

TEST_CASE("a map by the NIC says its way and its keys, and those behind it go by the links again") {
  MapDriver d;
  REQUIRE(d.lend() == T3_OK);
  d.mock.take_journal();
  REQUIRE(d.map(&d.way) == T3_OK);
  CHECK(d.mock.take_journal() == std::vector<std::string>{"track 0+2 x2 update", "dma 0+2 update gpu 0 by queue 2"});
  CHECK(d.mock.reg(T3_BLOCK_DMA, T3_DMA_LOCAL_KEY_OFFSET) == 0x11);
  CHECK(d.mock.reg(T3_BLOCK_DMA, T3_DMA_REMOTE_KEY_OFFSET) == 0x22);
  REQUIRE(t3_dma_map(&d.context, &d.out, {2, 1}, d.peer_out, T3_UPDATE, d.options) == T3_OK);
  CHECK(d.mock.take_journal() == std::vector<std::string>{"track 2+1 x2 update", "dma 2+1 update gpu 0"});
}

TEST_CASE("a map by the NIC that cannot be is refused, and nothing is mapped") {
  MapDriver d;
  CHECK(d.map(nullptr) == T3_INVALID_ARGUMENT);
  const t3_nic_route beyond{T3_DMA_QUEUES, 0, 0};
  CHECK(d.map(&beyond) == T3_INVALID_ARGUMENT);
  for (const t3_status code : {T3_NO_PEER, T3_INVALID_ARGUMENT}) {  // no NIC; nothing lent
    d.mock.refuse_next(T3_BLOCK_DMA, {code});
    d.mock.take_journal();
    CHECK(d.map(&d.way) == code);
    CHECK(d.mock.take_journal().back() == "untrack");
    CHECK(d.mock.reg(T3_BLOCK_DMA, T3_DMA_WAY_OFFSET) == 0);
  }
}

TEST_CASE("the host posts an accumulate with its tile behind the segment") {
  MapDriver d;
  t3_nic_message message{};
  message.opcode = T3_NIC_ACCUMULATE;
  message.local_address = d.a.address, message.lkey = 3, message.bytes = 128;
  message.tile = {64, 256, 9, 4, T3_BF16, 0};
  REQUIRE(t3_nic_post_send(&d.context, &d.queue, &message) == T3_OK);
  unsigned char entry[64];
  REQUIRE(d.mock.hal()->read_memory(d.mock.hal()->platform, t3_nic_send_of(&d.queue), entry, 64) == T3_OK);
  CHECK(t3_nic_work_entry_from(entry).opcode == T3_NIC_ACCUMULATE);
  const t3_nic_tile tile = t3_nic_tile_from(entry + 48);
  CHECK(tile.row_bytes == 64);
  CHECK(tile.row_stride == 256);
  CHECK(tile.workgroup == 9);
  CHECK(tile.wavefront == 4);
  CHECK(tile.element == T3_BF16);
}

}  // namespace t3vp::test::nic_maps_test
