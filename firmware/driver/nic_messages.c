/* Messages of the NIC: posting, and how they have ended. */
#include <string.h>

#include "bools.h"
#include "context_state.h"
#include "queue_pair_checks.h"
#include "registers.h"
#include "t3/little_endian.h"
#include "t3/nic.h"
#include "t3/nic_segment.h"
#include "t3/nic_work_entry.h"
#include "wait.h"

static bool is_known(enum t3_nic_opcode opcode) {
  return opcode == T3_NIC_WRITE || opcode == T3_NIC_WRITE_IMMEDIATE || opcode == T3_NIC_READ ||
         opcode == T3_NIC_FETCH_ADD || opcode == T3_NIC_ACCUMULATE;
}

static void encode(const struct t3_nic_message* message, const struct t3_nic_queue* queue, unsigned char* entry) {
  const bool adds = message->opcode == T3_NIC_FETCH_ADD;
  const struct t3_nic_segment segment = {
      .address = message->local_address, .key = message->lkey, .bytes = message->bytes};
  struct t3_nic_work_entry head = {.opcode = (uint8_t)message->opcode,
                                   .flags = T3_NIC_WORK_ENTRY_FLAGS_SIGNALED,
                                   .index = (uint16_t)queue->posted,
                                   .queue_pair = queue->number,
                                   .immediate = message->immediate,
                                   .remote_address = message->remote_address,
                                   .remote_key = message->rkey};
  if (message->fence) head.flags |= T3_NIC_WORK_ENTRY_FLAGS_FENCE;
  unsigned char* const tail = entry + T3_NIC_WORK_ENTRY_BYTES;
  if (message->inline_data != NULL) {
    head.flags |= T3_NIC_WORK_ENTRY_FLAGS_INLINE;
    head.inline_bytes = (uint8_t)message->bytes;
    memcpy(tail, message->inline_data, message->bytes);
  } else if (message->bytes != 0) {
    head.segments = 1;
    t3_nic_segment_to(&segment, tail + (adds ? T3_NIC_SEGMENT_ENTRY_BYTES : 0));
  }
  if (adds) t3_put_number(tail, 8, message->addend);
  if (message->opcode == T3_NIC_ACCUMULATE) t3_nic_tile_to(&message->tile, tail + T3_NIC_SEGMENT_ENTRY_BYTES);
  t3_nic_work_entry_to(&head, entry);
}

static enum t3_status may_use(struct t3_context* context, const struct t3_nic_queue* queue) {
  T3_TRY(t3_check_created(context, queue));
  return queue->is_kernels ? t3_at_fault_as(context, T3_ACCESS_DENIED, "queue", "a queue pair of the host") : T3_OK;
}

static enum t3_status check_message(struct t3_context* context, const struct t3_nic_message* message) {
  if (message == NULL) return t3_at_fault(context, "message", "a message");
  if (!is_known(message->opcode)) return t3_at_fault(context, "message->opcode", "one of enum t3_nic_opcode");
  if (!t3_is_bool(&message->fence)) return t3_at_fault(context, "message->fence", "true or false");
  return message->inline_data == NULL || message->bytes <= T3_NIC_INLINE_BYTES
             ? T3_OK
             : t3_at_fault_as(context, T3_CAPACITY, "message->bytes", "at most T3_NIC_INLINE_BYTES of inline data");
}

/* The NIC refuses doorbells of a queue pair that is not connected, and those that announce nothing new. */
static enum t3_status ring(struct t3_context* context, const struct t3_nic_queue* queue) {
  struct t3_registers nic = t3_own_block(context, T3_BLOCK_NIC);
  t3_put32(&nic, T3_NIC_DOORBELL_OFFSET + queue->number * T3_NIC_DOORBELL_STRIDE, queue->posted + 1);
  if (nic.status != T3_BAD_VALUE) return nic.status;
  uint32_t state = 0;
  T3_TRY(t3_read_queue_state(context, queue, &state));
  return state == T3_NIC_STATE_NOW_READY_TO_SEND || state == T3_NIC_STATE_NOW_ERROR
             ? t3_at_fault_as(context, T3_BAD_VALUE, "queue", "the only structure by which its queue pair is posted to")
             : t3_at_fault_as(context, T3_ACCESS_DENIED, "queue", "a queue pair that is connected");
}

static enum t3_status post(struct t3_context* context, struct t3_nic_queue* queue,
                           const struct t3_nic_message* message) {
  T3_TRY(may_use(context, queue));
  T3_TRY(check_message(context, message));
  const struct t3_hal* hal = state_of(context)->hal;
  if (queue->is_lent || queue->posted - queue->ended >= queue->entries) return T3_BUSY;
  unsigned char entry[T3_NIC_WORK_ENTRY_ENTRY_BYTES] = {0}, count[4];
  encode(message, queue, entry);
  const uint64_t place = queue->posted & (queue->entries - 1);
  T3_TRY(hal->write_memory(hal->platform, t3_nic_send_of(queue) + place * sizeof entry, entry, sizeof entry));
  hal->order_writes(hal->platform);
  t3_put_number(count, sizeof count, queue->posted + 1);
  T3_TRY(hal->write_memory(hal->platform, t3_nic_record_of(queue), count, sizeof count));
  hal->order_writes(hal->platform);
  T3_TRY(ring(context, queue));
  ++queue->posted;
  return T3_OK;
}

enum t3_status t3_nic_post_send(struct t3_context* context, struct t3_nic_queue* queue,
                                const struct t3_nic_message* message) {
  return T3_LOCKED(context, post(context, queue, message));
}

static enum t3_status post_recv(struct t3_context* context, struct t3_nic_queue* queue, uint32_t count) {
  T3_TRY(may_use(context, queue));
  if (count == 0) return t3_at_fault(context, "count", "1 or more");
  struct t3_registers nic = t3_own_block(context, T3_BLOCK_NIC);
  t3_put32(&nic, T3_NIC_RECEIVE_DOORBELL_OFFSET + queue->number * T3_NIC_RECEIVE_DOORBELL_STRIDE,
           queue->receives + count);
  if (nic.status == T3_OK) queue->receives += count;
  return nic.status;
}

enum t3_status t3_nic_post_recv(struct t3_context* context, struct t3_nic_queue* queue, uint32_t count) {
  return T3_LOCKED(context, post_recv(context, queue, count));
}

/* Reads the next completion without taking it. */
static enum t3_status look(const struct t3_context* context, const struct t3_nic_queue* queue, bool* is_there,
                           struct t3_nic_completion* completion) {
  unsigned char bytes[T3_NIC_COMPLETION_BYTES];
  const uint64_t place = queue->taken & (queue->entries - 1);
  const uint8_t phase = (queue->taken / queue->entries & 1) == 0 ? 1 : 0;
  const struct t3_hal* hal = const_state_of(context)->hal;
  T3_TRY(hal->read_memory(hal->platform, t3_nic_completions_of(queue) + place * sizeof bytes, bytes, sizeof bytes));
  const struct t3_nic_completion found = t3_nic_completion_from(bytes);
  *is_there = found.phase == phase;
  if (*is_there) *completion = found;
  return T3_OK;
}

static enum t3_status poll_cq(struct t3_context* context, struct t3_nic_queue* queue, uint32_t most,
                              struct t3_nic_completion* completions, uint32_t* count) {
  T3_TRY(may_use(context, queue));
  if (count == NULL) return t3_at_fault(context, "count", "a place for it");
  if (completions == NULL) return t3_at_fault(context, "completions", "a place for them");
  if (most == 0) return t3_at_fault(context, "most", "1 or more");
  for (*count = 0; *count < most; ++*count) {
    bool is_there = false;
    T3_TRY(look(context, queue, &is_there, &completions[*count]));
    if (!is_there) break;
    ++queue->taken;
    if (completions[*count].opcode != T3_NIC_RECEIVED) ++queue->ended;
  }
  if (*count == 0) return T3_OK;
  struct t3_registers nic = t3_own_block(context, T3_BLOCK_NIC);
  t3_put32(&nic, T3_NIC_CONSUMED_OFFSET + queue->completion_queue * T3_NIC_CONSUMED_STRIDE, queue->taken);
  return nic.status;
}

enum t3_status t3_nic_poll_cq(struct t3_context* context, struct t3_nic_queue* queue, uint32_t most,
                              struct t3_nic_completion* completions, uint32_t* count) {
  return T3_LOCKED(context, poll_cq(context, queue, most, completions, count));
}

/* Armed before it looks, so that nothing is missed in between. */
static enum t3_status wait_completion(struct t3_context* context, struct t3_nic_queue* queue,
                                      struct t3_nic_completion* completion) {
  const uint64_t deadline = t3_deadline(context);
  struct t3_registers nic = t3_own_block(context, T3_BLOCK_NIC);
  if (completion == NULL) return t3_at_fault(context, "completion", "a place for it");
  for (;;) {
    uint32_t count = 0;
    T3_TRY(may_use(context, queue));
    t3_clear(context, &nic, T3_LINE_NIC, T3_NIC_INTERRUPT_OFFSET,
             T3_NIC_INTERRUPT_COMPLETION_MASK | T3_NIC_INTERRUPT_ERROR_MASK);
    t3_put32(&nic, T3_NIC_ARM_OFFSET, UINT32_C(1) << queue->completion_queue);
    T3_TRY(nic.status);
    T3_TRY(poll_cq(context, queue, 1, completion, &count));
    if (count != 0) return T3_OK;
    T3_TRY(t3_sleep(context, T3_LINE_NIC, deadline, "a completion of the NIC"));
  }
}

enum t3_status t3_nic_wait(struct t3_context* context, struct t3_nic_queue* queue,
                           struct t3_nic_completion* completion) {
  return T3_LOCKED(context, wait_completion(context, queue, completion));
}

enum t3_status t3_nic_status(const struct t3_nic_completion* completion) {
  if (completion == NULL) return T3_INVALID_ARGUMENT;
  if (completion->reason != T3_OK) return (enum t3_status)completion->reason;
  switch (completion->syndrome) {
    case T3_NIC_OK:
      return T3_OK;
    case T3_NIC_LOCAL_LENGTH:
    case T3_NIC_LOCAL_OPERATION:
    case T3_NIC_REMOTE_INVALID_REQUEST:
      return T3_INVALID_ARGUMENT;
    case T3_NIC_LOCAL_PROTECTION:
    case T3_NIC_REMOTE_ACCESS:
      return T3_ACCESS_DENIED;
    case T3_NIC_FLUSHED:
      return T3_ABORTED;
    case T3_NIC_RETRY_EXCEEDED:
      return T3_NO_PEER;
    default:
      return T3_PEER_FAILED;
  }
}
