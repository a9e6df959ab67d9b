/* Programs that drive the NIC by its registers: each GPU writes to the next one's memory. */
#include <stddef.h>

#include "t3/address.h"
#include "t3/exports.h"
#include "t3/nic_opcode.h"
#include "t3/nic_segment.h"
#include "t3/nic_work_entry.h"
#include "t3/registers/interrupt_controller.h"
#include "t3/registers/nic.h"
#include "t3/registers/system.h"

enum { ROWS = 64, COLUMNS = 256, BYTES = ROWS * COLUMNS * 4, ENTRIES = 16, FIRST_KEY = 1 };
/* In this GPU's memory. */
static const uint64_t queue = 0x100000, record = 0x110000, completions = 0x120000, sent = 0x200000, received = 0x300000,
                      read_back = 0x340000, counter = 0x380000, counted = 0x381000;

static enum t3_status write_nic(const struct t3_hal* hal, uint32_t offset, uint32_t value) {
  return hal->write32(hal->platform, t3_block_base(hal->gpu, T3_BLOCK_NIC) + offset, value);
}

static enum t3_status write_address(const struct t3_hal* hal, uint32_t offset, uint64_t local) {
  return hal->write64(hal->platform, t3_block_base(hal->gpu, T3_BLOCK_NIC) + offset, t3_on_gpu(hal->gpu, local));
}

/* All buffers are one region, whose key is the first that there is. */
static enum t3_status register_memory(const struct t3_hal* hal) {
  uint32_t key = 0;
  T3_TRY(write_address(hal, T3_NIC_REGION_BASE_OFFSET, sent));
  T3_TRY(hal->write64(hal->platform, t3_block_base(hal->gpu, T3_BLOCK_NIC) + T3_NIC_REGION_BYTES_OFFSET, 0x200000));
  T3_TRY(write_nic(hal, T3_NIC_REGION_ACCESS_OFFSET,
                   T3_NIC_REGION_ACCESS_LOCAL_WRITE_MASK | T3_NIC_REGION_ACCESS_REMOTE_READ_MASK |
                       T3_NIC_REGION_ACCESS_REMOTE_WRITE_MASK | T3_NIC_REGION_ACCESS_REMOTE_ATOMIC_MASK));
  T3_TRY(write_nic(hal, T3_NIC_COMMAND_OFFSET, T3_NIC_COMMAND_ACTION_REGISTER_REGION));
  T3_TRY(hal->read32(hal->platform, t3_block_base(hal->gpu, T3_BLOCK_NIC) + T3_NIC_KEY_OFFSET, &key));
  return key == FIRST_KEY ? T3_OK : T3_BAD_VALUE;
}

/* Queue pair 0 sends to queue pair 1 of the next GPU; queue pair 1 takes what the one before sends. */
static enum t3_status connect(const struct t3_hal* hal, uint32_t pair, uint32_t gpu, uint32_t timeout) {
  const uint32_t at = pair * T3_NIC_STATE_STRIDE;
  T3_TRY(write_address(hal, T3_NIC_SEND_BASE_OFFSET + at, queue + pair * 64ULL * ENTRIES));
  T3_TRY(write_address(hal, T3_NIC_DOORBELL_RECORD_OFFSET + at, record + pair * 4ULL));
  T3_TRY(write_nic(hal, T3_NIC_SEND_ENTRIES_OFFSET + at, ENTRIES));
  T3_TRY(write_nic(hal, T3_NIC_PEER_OFFSET + at, (1 - pair) | gpu << T3_NIC_PEER_NIC_SHIFT));
  T3_TRY(write_nic(hal, T3_NIC_RETRY_OFFSET + at, 7 | timeout << T3_NIC_RETRY_TIMEOUT_SHIFT));
  for (uint32_t state = T3_NIC_STATE_NOW_INIT; state <= T3_NIC_STATE_NOW_READY_TO_SEND; ++state)
    T3_TRY(write_nic(hal, T3_NIC_STATE_OFFSET + at, state));
  return T3_OK;
}

/* An entry of queue pair 0. Its completion is stored when it is the last one. An addend is 1. */
static enum t3_status put_entry(const struct t3_hal* hal, uint32_t index, uint8_t opcode, uint64_t remote,
                                uint64_t local, uint32_t bytes, bool is_last) {
  unsigned char entry[64] = {0};
  const struct t3_nic_work_entry head = {.opcode = opcode,
                                         .flags = is_last ? T3_NIC_WORK_ENTRY_FLAGS_SIGNALED : 0,
                                         .index = (uint16_t)index,
                                         .segments = 1,
                                         .remote_address = remote,
                                         .remote_key = FIRST_KEY};
  const struct t3_nic_segment data = {.address = t3_on_gpu(hal->gpu, local), .key = FIRST_KEY, .bytes = bytes};
  unsigned char* tail = entry + T3_NIC_WORK_ENTRY_BYTES;
  t3_nic_work_entry_to(&head, entry);
  if (opcode == T3_NIC_FETCH_ADD) {
    *tail = 1;
    tail += T3_NIC_SEGMENT_BYTES;
  }
  t3_nic_segment_to(&data, tail);
  return hal->write_memory(hal->platform, t3_on_gpu(hal->gpu, queue) + index * sizeof entry, entry, sizeof entry);
}

static enum t3_status ring_doorbell(const struct t3_hal* hal, uint32_t entries) {
  const unsigned char count[4] = {(unsigned char)entries};
  T3_TRY(hal->write_memory(hal->platform, t3_on_gpu(hal->gpu, record), count, sizeof count));
  hal->order_writes(hal->platform);
  return write_nic(hal, T3_NIC_DOORBELL_OFFSET, entries);
}

static enum t3_status post(const struct t3_hal* hal, uint32_t to) {
  T3_TRY(put_entry(hal, 0, T3_NIC_WRITE, t3_on_gpu(to, received), sent, BYTES, true));
  return ring_doorbell(hal, 1);
}

static enum t3_status await_completion(const struct t3_hal* hal) {
  const uint64_t controller = t3_block_base(hal->gpu, T3_BLOCK_INTERRUPT_CONTROLLER);
  uint32_t cause = 0;
  T3_TRY(hal->write32(hal->platform, controller + T3_INTERRUPT_CONTROLLER_ENABLE_OFFSET, UINT32_C(1) << T3_LINE_NIC));
  T3_TRY(hal->wait_for_interrupt(hal->platform, UINT64_MAX, "the NIC's completion"));
  T3_TRY(hal->read32(hal->platform, t3_block_base(hal->gpu, T3_BLOCK_NIC) + T3_NIC_INTERRUPT_OFFSET, &cause));
  return cause == T3_NIC_INTERRUPT_COMPLETION_MASK ? T3_OK : T3_BAD_VALUE;
}

/* What a GPU sends. */
static void pattern(const void* argument, uint32_t gpu, float* values) {
  (void)argument;
  for (uint32_t i = 0; i < ROWS * COLUMNS; ++i) values[i] = (float)(gpu * 1000 + i);
}

/* What the GPU before this one sends; the argument is how many there are. */
static void pattern_before(const void* argument, uint32_t gpu, float* values) {
  const uint32_t gpus = *(const uint32_t*)argument;
  pattern(NULL, (gpu + gpus - 1) % gpus, values);
}

static void publish(const struct t3_hal* hal, const char* name, uint64_t local, struct t3_contents initial,
                    struct t3_contents expected) {
  const struct t3_buffer buffer = {.name = name,
                                   .address = t3_on_gpu(hal->gpu, local),
                                   .row_stride = COLUMNS * 4,
                                   .rows = ROWS,
                                   .columns = COLUMNS,
                                   .element = T3_FP32,
                                   .initial = initial,
                                   .expected = expected};
  hal->publish(hal->platform, &buffer);
}

static enum t3_status prepare(const struct t3_hal* hal, uint32_t gpus, uint32_t timeout) {
  T3_TRY(register_memory(hal));
  T3_TRY(write_nic(hal, T3_NIC_COMPLETION_ENTRIES_OFFSET, ENTRIES));
  T3_TRY(write_address(hal, T3_NIC_COMPLETION_BASE_OFFSET, completions));
  T3_TRY(connect(hal, 0, (hal->gpu + 1) % gpus, timeout));
  return write_nic(hal, T3_NIC_ARM_OFFSET, 1);
}

static enum t3_status gpus_of(const struct t3_hal* hal, uint32_t* gpus) {
  return hal->read32(hal->platform, t3_block_base(hal->gpu, T3_BLOCK_SYSTEM) + T3_SYSTEM_GPUS_OFFSET, gpus);
}

/* Everybody is ready when the first begins to send. */
static enum t3_status ring(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  static uint32_t gpus; /* is looked at when the run is over */
  T3_TRY(gpus_of(hal, &gpus));
  publish(hal, "sent", sent, (struct t3_contents){.kind = T3_CONTENTS_FUNCTION, .function = pattern},
          (struct t3_contents){0});
  publish(hal, "received", received, (struct t3_contents){.kind = T3_CONTENTS_CONSTANT, .constant = -1},
          (struct t3_contents){.kind = T3_CONTENTS_FUNCTION, .function = pattern_before, .argument = &gpus});
  T3_TRY(prepare(hal, gpus, 3));
  T3_TRY(connect(hal, 1, (hal->gpu + gpus - 1) % gpus, 3));
  hal->wait_ns(hal->platform, 20000);
  hal->mark(hal->platform, "total", true);
  T3_TRY(post(hal, (hal->gpu + 1) % gpus));
  T3_TRY(await_completion(hal));
  hal->wait_ns(hal->platform, 10000); /* for what the one before sends */
  hal->mark(hal->platform, "total", false);
  return T3_OK;
}

/* Each GPU writes to the next one, reads that from there, and adds to a number there twice. */
static enum t3_status operations(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  uint32_t gpus = 0;
  T3_TRY(gpus_of(hal, &gpus));
  const uint32_t next = (hal->gpu + 1) % gpus;
  const struct t3_contents mine = {.kind = T3_CONTENTS_FUNCTION, .function = pattern};
  publish(hal, "sent", sent, mine, (struct t3_contents){0});
  publish(hal, "read_back", read_back, (struct t3_contents){.kind = T3_CONTENTS_CONSTANT, .constant = -1}, mine);
  T3_TRY(prepare(hal, gpus, 3));
  T3_TRY(connect(hal, 1, (hal->gpu + gpus - 1) % gpus, 3));
  hal->wait_ns(hal->platform, 20000);
  hal->mark(hal->platform, "total", true);
  T3_TRY(put_entry(hal, 0, T3_NIC_WRITE, t3_on_gpu(next, received), sent, BYTES, false));
  T3_TRY(put_entry(hal, 1, T3_NIC_READ, t3_on_gpu(next, received), read_back, BYTES, false));
  T3_TRY(put_entry(hal, 2, T3_NIC_FETCH_ADD, t3_on_gpu(next, counter), counted, 8, false));
  T3_TRY(put_entry(hal, 3, T3_NIC_FETCH_ADD, t3_on_gpu(next, counter), counted + 8, 8, true));
  T3_TRY(ring_doorbell(hal, 4));
  T3_TRY(await_completion(hal));
  hal->mark(hal->platform, "total", false);
  unsigned char numbers[16];
  T3_TRY(hal->read_memory(hal->platform, t3_on_gpu(hal->gpu, counted), numbers, sizeof numbers));
  return numbers[8] == numbers[0] + 1 ? T3_OK : T3_BAD_VALUE;
}

/* Waits for ever for a GPU that has no queue pair. */
static enum t3_status alone(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  if (hal->gpu != 0) return T3_OK;
  T3_TRY(prepare(hal, 2, 0));
  T3_TRY(post(hal, 1));
  return await_completion(hal);
}

/* Signals a GPU of another node. */
static enum t3_status signal(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  const uint64_t signals = t3_block_base(1 - hal->gpu, T3_BLOCK_SIGNALS);
  return hal->write64(hal->platform, signals + 0x1000, 1);
}

static const struct t3_named_program programs[] = {
    {"ring", ring}, {"operations", operations}, {"alone", alone}, {"signal", signal}, {NULL, NULL}};
static const struct t3_kernel* const kernels[] = {NULL};

const struct t3_export_table t3_exports = {.version = T3_EXPORTS_VERSION,
                                           .layout = T3_EXPORTS_LAYOUT,
                                           .name = "rdma",
                                           .programs = programs,
                                           .kernels = kernels};
