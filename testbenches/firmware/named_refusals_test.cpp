// Calls that refuse a parameter name it: t3_last_error has call, parameter and what was expected, and the platform is
// told before and after it has been read.
#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "driver/context_state.h"
#include "firmware/refused_calls.h"
#include "t3/launch.h"
#include "t3/nic_maps.h"
#include "t3/registers/kernel_queue.h"
#include "t3/shmem.h"
#include "t3/streams.h"

namespace t3vp::test::named_refusals_test {

namespace {

t3_status with_state(Refusing& d, std::uint32_t state, t3_status (*call)(Refusing& d)) {
  d.open();
  d.mock.reg(T3_BLOCK_NIC, T3_NIC_STATE_OFFSET + 5 * T3_NIC_STATE_STRIDE) = state;
  return call(d);
}

t3_status refused_by_nic(Refusing& d, t3_status code) {
  d.mock.reg(T3_BLOCK_NIC, T3_NIC_STATUS_OFFSET) = code;
  return t3_nic_reg_mr(&d.context, d.a.address, 64, 0, &d.key);
}

const RefusedCall regions[] = {
    {[](Refusing& d) { return t3_nic_reg_mr(&d.context, d.a.address, 64, 0, nullptr); }, T3_INVALID_ARGUMENT,
     "t3_nic_reg_mr", "key", "a place for it"},
    {[](Refusing& d) { return t3_nic_reg_mr(&d.context, d.a.address, 64, 32, &d.key); }, T3_INVALID_ARGUMENT,
     "t3_nic_reg_mr", "access", "rights of T3_NIC_ALL_ACCESS"},
    {[](Refusing& d) { return refused_by_nic(d, T3_INVALID_ARGUMENT); }, T3_INVALID_ARGUMENT, "t3_nic_reg_mr", "bytes",
     "1 or more"},
    {[](Refusing& d) { return refused_by_nic(d, T3_BAD_ADDRESS); }, T3_BAD_ADDRESS, "t3_nic_reg_mr", "address",
     "bytes within this GPU's memory"},
    {[](Refusing& d) { return refused_by_nic(d, T3_TABLE_FULL); }, T3_TABLE_FULL, "t3_nic_reg_mr", "", ""},
    {[](Refusing& d) {
       d.mock.reg(T3_BLOCK_NIC, T3_NIC_STATUS_OFFSET) = T3_INVALID_ARGUMENT;
       return t3_nic_dereg_mr(&d.context, 9);
     },
     T3_INVALID_ARGUMENT, "t3_nic_dereg_mr", "key", "a key of t3_nic_reg_mr that is still valid"},
    {[](Refusing& d) {
       d.mock.unplug(T3_BLOCK_NIC);
       return t3_nic_reg_mr(&d.context, d.a.address, 64, 0, &d.key);
     },
     T3_BAD_ADDRESS, "t3_nic_reg_mr", "", "this GPU has no NIC"},
    {[](Refusing& d) {
       d.mock.unplug(T3_BLOCK_NIC);
       return t3_nic_create_qp(&d.context, &d.queue);
     },
     T3_BAD_ADDRESS, "t3_nic_create_qp", "", "this GPU has no NIC"},
};

const RefusedCall queue_pairs[] = {
    {[](Refusing& d) { return t3_nic_create_qp(&d.context, nullptr); }, T3_INVALID_ARGUMENT, "t3_nic_create_qp",
     "queue", "a structure of the program's"},
    {[](Refusing& d) { return d.create([](t3_nic_queue& q) { q.number = 64; }); }, T3_INVALID_ARGUMENT,
     "t3_nic_create_qp", "queue->number", "one below T3_NIC_PAIRS"},
    {[](Refusing& d) { return d.create([](t3_nic_queue& q) { q.completion_queue = 32; }); }, T3_INVALID_ARGUMENT,
     "t3_nic_create_qp", "queue->completion_queue", "one below T3_NIC_COMPLETION_BASE_COUNT"},
    {[](Refusing& d) { return d.create([](t3_nic_queue& q) { q.entries = 3; }); }, T3_INVALID_ARGUMENT,
     "t3_nic_create_qp", "queue->entries", "a power of two up to T3_NIC_ENTRIES_MAX"},
    {[](Refusing& d) { return d.create([](t3_nic_queue& q) { q.memory += 32; }); }, T3_UNALIGNED, "t3_nic_create_qp",
     "queue->memory", "a multiple of 64"},
    {[](Refusing& d) { return d.create([](t3_nic_queue& q) { q.memory += 64; }); }, T3_INVALID_ARGUMENT,
     "t3_nic_create_qp", "queue->memory", "t3_nic_queue_bytes(entries) within one piece of t3_malloc"},
    {[](Refusing& d) {
       d.open();
       return d.create([](t3_nic_queue& q) { q.number = q.completion_queue = 6; });
     },
     T3_OVERLAP, "t3_nic_create_qp", "queue->memory", "memory without another queue pair's rings"},
    {[](Refusing& d) { return connect(&d.context, &d.queue, 3, 7); }, T3_INVALID_ARGUMENT, "t3_nic_modify_qp", "queue",
     "a queue pair of t3_nic_create_qp that has not been destroyed"},
    {[](Refusing& d) {
       d.open();
       return connect(&d.context, &d.queue, 4, 7);
     },
     T3_NO_PEER, "t3_nic_modify_qp", "attr->dest_gpu", "a GPU of the node"},
    {[](Refusing& d) {
       d.open();
       return connect(&d.context, &d.queue, 3, 64);
     },
     T3_INVALID_ARGUMENT, "t3_nic_modify_qp", "attr->dest_qp_num", "one below T3_NIC_PAIRS"},
    {[](Refusing& d) {
       d.open();
       return t3_nic_modify_qp(&d.context, &d.queue, nullptr);
     },
     T3_INVALID_ARGUMENT, "t3_nic_modify_qp", "attr", "a state"},
    {[](Refusing& d) {
       d.open();
       const t3_nic_qp_attr attr{T3_NIC_QPS_INIT, 0, 0};
       return t3_nic_modify_qp(&d.context, &d.queue, &attr);
     },
     T3_INVALID_ARGUMENT, "t3_nic_modify_qp", "attr->qp_state", "T3_NIC_QPS_RTR, T3_NIC_QPS_RTS or T3_NIC_QPS_ERR"},
    {[](Refusing& d) { return t3_nic_query_qp(&d.context, &d.queue, nullptr); }, T3_INVALID_ARGUMENT, "t3_nic_query_qp",
     "state", "a place for it"},
    {[](Refusing& d) { return t3_nic_query_qp(&d.context, nullptr, &d.state); }, T3_INVALID_ARGUMENT, "t3_nic_query_qp",
     "queue", "a structure of the program's"},
    {[](Refusing& d) { return t3_nic_destroy_qp(&d.context, &d.queue); }, T3_INVALID_ARGUMENT, "t3_nic_destroy_qp",
     "queue", "a queue pair of t3_nic_create_qp that has not been destroyed"},
};

const RefusedCall messages[] = {
    {[](Refusing& d) { return t3_nic_post_send(&d.context, &d.queue, &d.message); }, T3_INVALID_ARGUMENT,
     "t3_nic_post_send", "queue", "a queue pair of t3_nic_create_qp that has not been destroyed"},
    {[](Refusing& d) {
       d.open();
       d.queue.is_kernels = true;
       return t3_nic_post_send(&d.context, &d.queue, &d.message);
     },
     T3_ACCESS_DENIED, "t3_nic_post_send", "queue", "a queue pair of the host"},
    {[](Refusing& d) {
       d.open();
       return t3_nic_post_send(&d.context, &d.queue, nullptr);
     },
     T3_INVALID_ARGUMENT, "t3_nic_post_send", "message", "a message"},
    {[](Refusing& d) { return d.post([](t3_nic_message& m) { m.opcode = static_cast<t3_nic_opcode>(99); }); },
     T3_INVALID_ARGUMENT, "t3_nic_post_send", "message->opcode", "one of enum t3_nic_opcode"},
    {[](Refusing& d) { return d.post([](t3_nic_message& m) { std::memset(&m.fence, 2, 1); }); }, T3_INVALID_ARGUMENT,
     "t3_nic_post_send", "message->fence", "true or false"},
    {[](Refusing& d) { return d.post([](t3_nic_message& m) { m.inline_data = &m, m.bytes = 33; }); }, T3_CAPACITY,
     "t3_nic_post_send", "message->bytes", "at most T3_NIC_INLINE_BYTES of inline data"},
    {[](Refusing& d) {
       d.open();
       return t3_nic_post_recv(&d.context, &d.queue, 0);
     },
     T3_INVALID_ARGUMENT, "t3_nic_post_recv", "count", "1 or more"},
    {[](Refusing& d) {
       d.open();
       return t3_nic_poll_cq(&d.context, &d.queue, 1, &d.completion, nullptr);
     },
     T3_INVALID_ARGUMENT, "t3_nic_poll_cq", "count", "a place for it"},
    {[](Refusing& d) {
       d.open();
       return t3_nic_poll_cq(&d.context, &d.queue, 1, nullptr, &d.count);
     },
     T3_INVALID_ARGUMENT, "t3_nic_poll_cq", "completions", "a place for them"},
    {[](Refusing& d) {
       d.open();
       return t3_nic_poll_cq(&d.context, &d.queue, 0, &d.completion, &d.count);
     },
     T3_INVALID_ARGUMENT, "t3_nic_poll_cq", "most", "1 or more"},
    {[](Refusing& d) {
       d.open();
       return t3_nic_wait(&d.context, &d.queue, nullptr);
     },
     T3_INVALID_ARGUMENT, "t3_nic_wait", "completion", "a place for it"},
};

t3_status lend(Refusing& d) { return t3_dma_lend(&d.context, 2, &d.queue); }

const RefusedCall lent[] = {
    {[](Refusing& d) {
       d.open();
       return t3_dma_lend(&d.context, T3_DMA_QUEUES, &d.queue);
     },
     T3_INVALID_ARGUMENT, "t3_dma_lend", "dma_queue", "a queue of the DMA engine, below T3_DMA_QUEUES"},
    {lend, T3_INVALID_ARGUMENT, "t3_dma_lend", "queue", "a queue pair of t3_nic_create_qp that has not been destroyed"},
    {[](Refusing& d) { return with_state(d, T3_NIC_STATE_NOW_INIT, lend); }, T3_ACCESS_DENIED, "t3_dma_lend", "queue",
     "a queue pair that is ready to send"},
    {[](Refusing& d) {
       d.open();
       d.queue.is_kernels = true;
       return lend(d);
     },
     T3_ACCESS_DENIED, "t3_dma_lend", "queue", "a queue pair of the host"},
    {[](Refusing& d) {
       d.open();
       return t3_dma_take_back(&d.context, 2, &d.queue);
     },
     T3_INVALID_ARGUMENT, "t3_dma_take_back", "queue", "a queue pair that is lent"},
    {[](Refusing& d) {
       d.open();
       REQUIRE(lend(d) == T3_OK);
       return t3_dma_take_back(&d.context, 3, &d.queue);
     },
     T3_INVALID_ARGUMENT, "t3_dma_take_back", "dma_queue", "the queue that the queue pair is lent as"},
    {[](Refusing& d) {
       return t3_dma_map_nic(&d.context, &d.out, d.chunk, d.peer_out, nullptr, {2, 1, T3_UPDATE});
     },
     T3_INVALID_ARGUMENT, "t3_dma_map_nic", "route->dma_queue", "a queue that t3_dma_lend has lent"},
};

t3_status of_heap(Refusing& d, t3_status (*call)(Refusing& d)) {
  REQUIRE(d.init([](t3_shmem_options&) {}) == T3_OK);
  return call(d);
}

const RefusedCall heaps[] = {
    {[](Refusing& d) {
       return t3_shmem_init(&d.context, {4096, 1, 16, false, false, false}, nullptr);
     },
     T3_INVALID_ARGUMENT, "t3_shmem_init", "heap", "a place for it"},
    {[](Refusing& d) { return d.init([](t3_shmem_options& o) { o.heap_bytes = 0; }); }, T3_INVALID_ARGUMENT,
     "t3_shmem_init", "options.heap_bytes", "1 or more"},
    {[](Refusing& d) { return d.init([](t3_shmem_options& o) { o.contexts = 0; }); }, T3_INVALID_ARGUMENT,
     "t3_shmem_init", "options.contexts", "1 or more"},
    {[](Refusing& d) { return d.init([](t3_shmem_options& o) { o.entries = 12; }); }, T3_INVALID_ARGUMENT,
     "t3_shmem_init", "options.entries", "a power of two, 2 or more"},
    {[](Refusing& d) { return d.init([](t3_shmem_options& o) { std::memset(&o.for_host, 2, 1); }); },
     T3_INVALID_ARGUMENT, "t3_shmem_init", "options.for_host", "true or false"},
    {[](Refusing& d) { return d.init([](t3_shmem_options& o) { std::memset(&o.cached_completions, 2, 1); }); },
     T3_INVALID_ARGUMENT, "t3_shmem_init", "options.cached_completions", "true or false"},
    {[](Refusing& d) { return d.init([](t3_shmem_options& o) { std::memset(&o.collectives, 2, 1); }); },
     T3_INVALID_ARGUMENT, "t3_shmem_init", "options.collectives", "true or false"},
    {[](Refusing& d) { return d.init([](t3_shmem_options& o) { o.entries = 65536; }); }, T3_CAPACITY, "t3_shmem_init",
     "options.entries", "at most T3_NIC_ENTRIES_MAX"},
    {[](Refusing& d) { return d.init([](t3_shmem_options& o) { o.contexts = 11; }); }, T3_CAPACITY, "t3_shmem_init",
     "options.contexts", "contexts x (gpus - 1) up to T3_SHMEM_QUEUES_MAX"},
    {[](Refusing& d) { return d.init([](t3_shmem_options& o) { o.heap_bytes = UINT64_C(1) << 40; }); },
     T3_OUT_OF_MEMORY, "t3_shmem_init", "", "there is no room for table, queues and heap"},
    {[](Refusing& d) {
       d.mock.bring("t3_shmem_init", std::vector<unsigned char>(4 * 64));
       return d.init([](t3_shmem_options&) {});
     },
     T3_MISMATCH, "t3_shmem_init", "", "the GPUs do not agree, see the HAL's log"},
    {[](Refusing& d) {
       d.mock.unplug(T3_BLOCK_NIC);
       return d.init([](t3_shmem_options&) {});
     },
     T3_BAD_ADDRESS, "t3_shmem_init", "", "the heap cannot be registered at the NIC"},
    {[](Refusing& d) { return t3_shmem_malloc(&d.context, &d.heap, 64, &d.address); }, T3_INVALID_ARGUMENT,
     "t3_shmem_malloc", "heap", "a heap of t3_shmem_init"},
    {[](Refusing& d) {
       return of_heap(d, [](Refusing& e) { return t3_shmem_malloc(&e.context, &e.heap, 0, &e.address); });
     },
     T3_INVALID_ARGUMENT, "t3_shmem_malloc", "bytes", "1 or more"},
    {[](Refusing& d) {
       return of_heap(d, [](Refusing& e) { return t3_shmem_malloc(&e.context, &e.heap, 64, nullptr); });
     },
     T3_INVALID_ARGUMENT, "t3_shmem_malloc", "address", "a place for it"},
    {[](Refusing& d) {
       return of_heap(d, [](Refusing& e) { return t3_shmem_malloc(&e.context, &e.heap, 4097, &e.address); });
     },
     T3_OUT_OF_MEMORY, "t3_shmem_malloc", "bytes", "as many as a gap of the heap has"},
    {[](Refusing& d) {
       return of_heap(d, [](Refusing& e) {
         e.mock.bring("t3_shmem_malloc", std::vector<unsigned char>(4 * 16));
         return t3_shmem_malloc(&e.context, &e.heap, 64, &e.address);
       });
     },
     T3_MISMATCH, "t3_shmem_malloc", "", "the GPUs do not agree, see the HAL's log"},
    {[](Refusing& d) { return t3_shmem_free(&d.context, nullptr, 0); }, T3_INVALID_ARGUMENT, "t3_shmem_free", "heap",
     "a heap of t3_shmem_init"},
    {[](Refusing& d) {
       return of_heap(d, [](Refusing& e) { return t3_shmem_free(&e.context, &e.heap, e.heap.heap); });
     },
     T3_INVALID_ARGUMENT, "t3_shmem_free", "address", "where a live piece of the heap begins"},
    {[](Refusing& d) { return t3_shmem_finalize(&d.context, &d.heap); }, T3_INVALID_ARGUMENT, "t3_shmem_finalize",
     "heap", "a heap of t3_shmem_init"},
};

const RefusedCall others[] = {
    {[](Refusing& d) { return t3_copy_async(&d.context, 0, d.a.address + 4, d.b.address, 64); }, T3_UNALIGNED,
     "t3_copy_async", "to", "a multiple of 32"},
    {[](Refusing& d) { return t3_copy_async(&d.context, 0, d.a.address, d.b.address + 4, 64); }, T3_UNALIGNED,
     "t3_copy_async", "from", "a multiple of 32"},
    {[](Refusing& d) { return t3_copy_async(&d.context, 0, d.a.address, d.b.address, 63); }, T3_UNALIGNED,
     "t3_copy_async", "bytes", "a multiple of 4"},
    {[](Refusing& d) { return t3_copy_async(&d.context, 0, t3_on_gpu(4, 0), d.b.address, 64); }, T3_NO_PEER,
     "t3_copy_async", "to", "an address of the node"},
    {[](Refusing& d) { return t3_copy_async(&d.context, 0, d.a.address, t3_on_gpu(2, (1u << 30) - 32), 64); },
     T3_BAD_ADDRESS, "t3_copy_async", "from", "bytes within the GPU's memory"},
    {[](Refusing& d) { return t3_copy_async(&d.context, 0, d.a.address, d.a.address + 32, 64); }, T3_OVERLAP,
     "t3_copy_async", "to", "bytes that are not copied from"},
    {[](Refusing& d) { return t3_fill_async(&d.context, 0, d.a.address, 7, 63); }, T3_UNALIGNED, "t3_fill_async",
     "bytes", "a multiple of 4"},
    {[](Refusing& d) {
       t3_matrix apart = d.a;
       apart.row_stride += 1;
       return t3_fill_zero(&d.context, &apart);
     },
     T3_UNALIGNED, "t3_fill_zero", "matrix->row_stride", "a multiple of 32"},
};

/// The output map refuses with this code.
t3_status refused_map(Refusing& d, t3_status code, std::uint64_t peer = t3_on_gpu(3, 4096)) {
  const t3_output output{d.a, {16, 16, 1}};
  d.mock.refuse_next(T3_BLOCK_OUTPUT_MAP, {code});
  return t3_remote_map(&d.context, &output, {0, 1}, peer, T3_STORE);
}

t3_status refused_fill(Refusing& d, t3_status code) {
  d.mock.refuse_next(T3_BLOCK_DMA, {code});
  return t3_fill_zero(&d.context, &d.a);
}

t3_status refused_arming(Refusing& d, t3_status code) {
  d.mock.refuse_next(T3_BLOCK_NEAR_MEMORY, {code});
  return t3_arm_zero(&d.context, &d.a);
}

/// What the hardware refuses, by the parameter that its code is about.
const RefusedCall by_hardware[] = {
    {[](Refusing& d) { return refused_map(d, T3_NO_PEER); }, T3_NO_PEER, "t3_remote_map", "peer_output",
     "one of a GPU that can be reached"},
    {[](Refusing& d) { return refused_map(d, T3_UNALIGNED, t3_on_gpu(3, 4100)); }, T3_UNALIGNED, "t3_remote_map",
     "peer_output", "a multiple of 32"},
    {[](Refusing& d) {
       d.a.address += 2;
       return refused_map(d, T3_UNALIGNED);
     },
     T3_UNALIGNED, "t3_remote_map", "output", "address and row stride in multiples of 32"},
    {[](Refusing& d) { return refused_map(d, T3_BAD_ADDRESS); }, T3_BAD_ADDRESS, "t3_remote_map", "peer_output",
     "bytes within the peer's memory"},
    {[](Refusing& d) {
       d.a.address = t3_on_gpu(3, 4096);
       return refused_map(d, T3_BAD_ADDRESS);
     },
     T3_BAD_ADDRESS, "t3_remote_map", "output", "bytes within this GPU's memory"},
    {[](Refusing& d) { return refused_map(d, T3_OVERLAP); }, T3_OVERLAP, "t3_remote_map", "chunk",
     "workgroups without such a map"},
    {[](Refusing& d) { return refused_map(d, T3_TABLE_FULL); }, T3_TABLE_FULL, "t3_remote_map", "",
     "all entries for maps are in use"},
    {[](Refusing& d) { return refused_fill(d, T3_BAD_ADDRESS); }, T3_BAD_ADDRESS, "t3_fill_zero", "matrix->address",
     "a matrix within this GPU's memory"},
    {[](Refusing& d) { return refused_arming(d, T3_UNALIGNED); }, T3_UNALIGNED, "t3_arm_zero", "matrix->address",
     "a multiple of 32"},
    {[](Refusing& d) { return refused_arming(d, T3_TABLE_FULL); }, T3_TABLE_FULL, "t3_arm_zero", "matrix",
     "at most the bytes that the valid bits cover"},
    {[](Refusing& d) { return t3_malloc(&d.context, std::uint64_t{1} << 40, &d.address); }, T3_OUT_OF_MEMORY,
     "t3_malloc", "bytes", "at most a free piece of the memory"},
};

/// Calls that other calls of the driver refuse.
const RefusedCall of_others[] = {
    {[](Refusing& d) { return t3_copy(&d.context, 0, d.a.address + 4, d.b.address, 64); }, T3_UNALIGNED, "t3_copy",
     "to", "a multiple of 32"},
    {[](Refusing& d) { return t3_fill(&d.context, 9, d.a.address, 7, 64); }, T3_INVALID_ARGUMENT, "t3_fill", "queue",
     "an open queue"},
    {[](Refusing& d) { return t3_wait_queue(&d.context, 9); }, T3_INVALID_ARGUMENT, "t3_wait_queue", "queue",
     "0 or a queue of t3_queue_create"},
    {[](Refusing& d) { return t3_wait_launch(&d.context, 0, 9); }, T3_INVALID_ARGUMENT, "t3_wait_launch", "number",
     "one of the queue's kernels since t3_init, of the latest 256"},
    {[](Refusing& d) { return t3_launch_ring_all_gather(&d.context, 9, nullptr); }, T3_INVALID_ARGUMENT,
     "t3_launch_ring_all_gather", "queue", "0 or a queue of t3_queue_create"},
    {[](Refusing& d) { return t3_launch_kernel(&d.context, 0, nullptr, nullptr, 0, {}); }, T3_INVALID_ARGUMENT,
     "t3_launch_kernel", "kernel", "a kernel's name"},
    {[](Refusing& d) {
       (void)t3_wait_queue(&d.context, 9); /* the next call has its own name again */
       return t3_use_queue(&d.context, 9);
     },
     T3_INVALID_ARGUMENT, "t3_use_queue", "queue", "0 or a queue of t3_queue_create"},
};

}  // namespace

TEST_CASE("regions that are refused name call and parameter") { require_all_named(regions); }

TEST_CASE("queue pairs that are refused name call and parameter") { require_all_named(queue_pairs); }

TEST_CASE("messages and polls that are refused name call and parameter") { require_all_named(messages); }

TEST_CASE("queue pairs that are not lent or taken back name call and parameter") { require_all_named(lent); }

TEST_CASE("symmetric heaps that are refused name call and parameter") { require_all_named(heaps); }

TEST_CASE("copies and fills that are refused name call and parameter") { require_all_named(others); }

TEST_CASE("what the hardware refuses names call and parameter") { require_all_named(by_hardware); }

TEST_CASE("a call that others refuse has its own name") { require_all_named(of_others); }

TEST_CASE("a call that may be repeated as it is opens no error") {
  Refusing d;
  d.open();
  CHECK(t3_nic_create_qp(&d.context, &d.queue) == T3_BUSY);
  CHECK(lend(d) == T3_OK);
  CHECK(lend(d) == T3_BUSY);
  CHECK(t3_nic_post_send(&d.context, &d.queue, &d.message) == T3_BUSY);
  CHECK(d.mock.take_reported().empty());
  CHECK(std::string(t3_last_error(&d.context).call) == "t3_nic_post_send");
}

TEST_CASE("nothing stays of a heap that could not be opened") {
  Refusing d;
  std::uint64_t before = 0, after = 0;
  REQUIRE((t3_malloc(&d.context, 256, &before) == T3_OK && t3_free(&d.context, before) == T3_OK));
  d.mock.reg(T3_BLOCK_NIC, T3_NIC_STATE_OFFSET + 2 * T3_NIC_STATE_STRIDE) = T3_NIC_STATE_NOW_INIT;
  CHECK(d.init([](t3_shmem_options&) {}) == T3_BUSY);
  CHECK(state_of(&d.context)->nic_queues == 0);
  REQUIRE(t3_malloc(&d.context, 256, &after) == T3_OK);
  CHECK(after == before);
}

}  // namespace t3vp::test::named_refusals_test
