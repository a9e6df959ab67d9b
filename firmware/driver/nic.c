/* The NIC's table of regions, and the states of queue pairs. */
#include "t3/nic.h"

#include "allocations.h"
#include "context_state.h"
#include "registers.h"
#include "t3/little_endian.h"
#include "wait.h"

_Static_assert(T3_NIC_PAIRS == T3_NIC_STATE_COUNT, "a place for the memory of each queue pair");

static uint32_t of_pair(uint32_t offset, const struct t3_nic_queue* queue) {
  return offset + queue->number * T3_NIC_STATE_STRIDE;
}

static uint32_t of_completions(uint32_t offset, const struct t3_nic_queue* queue) {
  return offset + queue->completion_queue * T3_NIC_COMPLETION_BASE_STRIDE;
}

static enum t3_status region(struct t3_context* context, uint64_t address, uint64_t bytes, uint32_t access,
                             uint32_t* key) {
  if (key == NULL || (access & ~(uint32_t)T3_NIC_ALL_ACCESS) != 0) return T3_INVALID_ARGUMENT;
  struct t3_registers nic = t3_own_block(context, T3_BLOCK_NIC);
  t3_put64(&nic, T3_NIC_REGION_BASE_OFFSET, address);
  t3_put64(&nic, T3_NIC_REGION_BYTES_OFFSET, bytes);
  t3_put32(&nic, T3_NIC_REGION_ACCESS_OFFSET, access);
  T3_TRY(t3_command(&nic, T3_NIC_COMMAND_OFFSET, T3_NIC_COMMAND_ACTION_REGISTER_REGION, T3_NIC_STATUS_OFFSET));
  *key = t3_get32(&nic, T3_NIC_KEY_OFFSET);
  return nic.status;
}

enum t3_status t3_nic_reg_mr(struct t3_context* context, uint64_t address, uint64_t bytes, uint32_t access,
                             uint32_t* key) {
  return T3_LOCKED(context, region(context, address, bytes, access, key));
}

static enum t3_status withdraw(struct t3_context* context, uint32_t key) {
  struct t3_registers nic = t3_own_block(context, T3_BLOCK_NIC);
  t3_put32(&nic, T3_NIC_KEY_OFFSET, key);
  return t3_command(&nic, T3_NIC_COMMAND_OFFSET, T3_NIC_COMMAND_ACTION_WITHDRAW, T3_NIC_STATUS_OFFSET);
}

enum t3_status t3_nic_dereg_mr(struct t3_context* context, uint32_t key) {
  return T3_LOCKED(context, withdraw(context, key));
}

static bool is_possible(const struct t3_nic_queue* queue) {
  return queue != NULL && queue->number < T3_NIC_STATE_COUNT &&
         queue->completion_queue < T3_NIC_COMPLETION_BASE_COUNT && queue->entries != 0 &&
         queue->entries <= T3_NIC_ENTRIES_MAX && (queue->entries & (queue->entries - 1)) == 0;
}

/* A completion that has not come has the index of the round before its own. */
static enum t3_status write_empty_rings(struct t3_context* context, const struct t3_nic_queue* queue) {
  static const unsigned char zeros[T3_NIC_RECORD_BYTES];
  const struct t3_hal* hal = state_of(context)->hal;
  T3_TRY(hal->write_memory(hal->platform, t3_nic_record_of(queue), zeros, sizeof zeros));
  for (uint32_t place = 0; place < queue->entries; ++place) {
    unsigned char bytes[T3_NIC_COMPLETION_BYTES];
    const struct t3_nic_completion none = {.index = (uint16_t)(place - queue->entries)};
    t3_nic_completion_to(&none, bytes);
    const uint64_t address = t3_nic_completions_of(queue) + (uint64_t)place * sizeof bytes;
    T3_TRY(hal->write_memory(hal->platform, address, bytes, sizeof bytes));
  }
  hal->order_writes(hal->platform);
  return T3_OK;
}

static enum t3_status read_state(struct t3_registers* nic, const struct t3_nic_queue* queue, uint32_t* state) {
  *state = (t3_get32(nic, of_pair(T3_NIC_STATE_OFFSET, queue)) & T3_NIC_STATE_NOW_MASK) >> T3_NIC_STATE_NOW_SHIFT;
  return nic->status;
}

static bool is_within(struct t3_allocation inner, struct t3_allocation outer) {
  return inner.address >= outer.address && inner.bytes <= outer.bytes &&
         inner.address - outer.address <= outer.bytes - inner.bytes;
}

/* All in one piece of memory that the program has, and not the rings of another queue pair. */
static enum t3_status check_memory(const struct t3_context* context, struct t3_allocation rings) {
  const struct t3_state* state = const_state_of(context);
  uint32_t i = 0;
  while (i < state->allocation_count && !is_within(rings, state->allocations[i])) ++i;
  if (i == state->allocation_count) return T3_INVALID_ARGUMENT;
  for (i = 0; i < T3_NIC_PAIRS; ++i)
    if (state->nic_rings[i].bytes != 0 && t3_overlap(rings, state->nic_rings[i])) return T3_OVERLAP;
  return T3_OK;
}

static enum t3_status create(struct t3_context* context, struct t3_nic_queue* queue) {
  if (!is_possible(queue)) return T3_INVALID_ARGUMENT;
  if (queue->memory % T3_NIC_RECORD_BYTES != 0) return T3_UNALIGNED;
  struct t3_registers nic = t3_own_block(context, T3_BLOCK_NIC);
  uint32_t state = 0;
  T3_TRY(read_state(&nic, queue, &state));
  if (state != T3_NIC_STATE_NOW_RESET) return T3_BUSY;
  if (t3_get32(&nic, of_completions(T3_NIC_COMPLETION_ENTRIES_OFFSET, queue)) != 0) return T3_BUSY;
  const struct t3_allocation rings =
      t3_allocation_of(queue->memory, t3_nic_queue_bytes(queue->entries), T3_PROGRAMS_MEMORY);
  T3_TRY(check_memory(context, rings));
  T3_TRY(write_empty_rings(context, queue));
  t3_put32(&nic, of_completions(T3_NIC_COMPLETION_ENTRIES_OFFSET, queue), queue->entries);
  t3_put64(&nic, of_completions(T3_NIC_COMPLETION_BASE_OFFSET, queue), t3_nic_completions_of(queue));
  t3_put64(&nic, of_pair(T3_NIC_SEND_BASE_OFFSET, queue), t3_nic_send_of(queue));
  t3_put64(&nic, of_pair(T3_NIC_DOORBELL_RECORD_OFFSET, queue), t3_nic_record_of(queue));
  t3_put32(&nic, of_pair(T3_NIC_SEND_ENTRIES_OFFSET, queue), queue->entries);
  t3_put32(&nic, of_pair(T3_NIC_COMPLETION_QUEUE_OFFSET, queue),
           queue->completion_queue << T3_NIC_COMPLETION_QUEUE_NUMBER_SHIFT);
  t3_put32(&nic, of_pair(T3_NIC_STATE_OFFSET, queue), T3_NIC_STATE_NOW_INIT);
  queue->posted = queue->ended = queue->taken = queue->receives = 0;
  queue->is_open = nic.status == T3_OK;
  queue->is_lent = queue->is_kernels = false;
  state_of(context)->nic_queues += queue->is_open;
  if (queue->is_open) state_of(context)->nic_rings[queue->number] = rings;
  return nic.status;
}

enum t3_status t3_nic_create_qp(struct t3_context* context, struct t3_nic_queue* queue) {
  return T3_LOCKED(context, create(context, queue));
}

/* The NIC has refused what only a queue pair in init takes. */
static enum t3_status why_not_joined(struct t3_context* context, const struct t3_nic_queue* queue) {
  struct t3_registers nic = t3_own_block(context, T3_BLOCK_NIC);
  uint32_t state = 0;
  T3_TRY(read_state(&nic, queue, &state));
  return state == T3_NIC_STATE_NOW_INIT ? T3_BAD_VALUE : T3_BUSY;
}

static enum t3_status join(struct t3_context* context, const struct t3_nic_queue* queue, uint32_t peer,
                           uint32_t peer_queue_pair) {
  if (!is_possible(queue) || !queue->is_open || peer_queue_pair >= T3_NIC_STATE_COUNT) return T3_INVALID_ARGUMENT;
  if (peer >= state_of(context)->gpus) return T3_NO_PEER;
  struct t3_registers nic = t3_own_block(context, T3_BLOCK_NIC);
  t3_put32(&nic, of_pair(T3_NIC_PEER_OFFSET, queue),
           peer << T3_NIC_PEER_NIC_SHIFT | peer_queue_pair << T3_NIC_PEER_QUEUE_PAIR_SHIFT);
  t3_put32(&nic, of_pair(T3_NIC_STATE_OFFSET, queue), T3_NIC_STATE_NOW_READY_TO_RECEIVE);
  t3_put32(&nic, of_pair(T3_NIC_STATE_OFFSET, queue), T3_NIC_STATE_NOW_READY_TO_SEND);
  return nic.status == T3_BAD_VALUE ? why_not_joined(context, queue) : nic.status;
}

enum t3_status t3_nic_connect(struct t3_context* context, const struct t3_nic_queue* queue, uint32_t peer,
                              uint32_t peer_queue_pair) {
  return T3_LOCKED(context, join(context, queue, peer, peer_queue_pair));
}

static enum t3_status state(struct t3_context* context, const struct t3_nic_queue* queue, uint32_t* value) {
  if (!is_possible(queue) || value == NULL) return T3_INVALID_ARGUMENT;
  struct t3_registers nic = t3_own_block(context, T3_BLOCK_NIC);
  return read_state(&nic, queue, value);
}

enum t3_status t3_nic_query_qp(struct t3_context* context, const struct t3_nic_queue* queue, uint32_t* value) {
  return T3_LOCKED(context, state(context, queue, value));
}

static enum t3_status reset(struct t3_context* context, struct t3_nic_queue* queue) {
  struct t3_state* state = state_of(context);
  if (!is_possible(queue) || !queue->is_open) return T3_INVALID_ARGUMENT;
  if (queue->is_lent) return T3_BUSY;
  struct t3_registers nic = t3_own_block(context, T3_BLOCK_NIC);
  t3_put32(&nic, of_pair(T3_NIC_STATE_OFFSET, queue), T3_NIC_STATE_NOW_RESET);
  t3_put32(&nic, of_completions(T3_NIC_COMPLETION_ENTRIES_OFFSET, queue), 0);
  T3_TRY(nic.status);
  queue->posted = queue->ended = queue->taken = queue->receives = 0;
  queue->is_open = false;
  --state->nic_queues;
  state->nic_rings[queue->number].bytes = 0;
  return T3_OK;
}

enum t3_status t3_nic_reset_qp(struct t3_context* context, struct t3_nic_queue* queue) {
  return T3_LOCKED(context, reset(context, queue));
}
