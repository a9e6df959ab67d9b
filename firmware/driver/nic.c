/* The NIC's table of regions, and the states of queue pairs. */
#include "t3/nic.h"

#include "allocations.h"
#include "context_state.h"
#include "queue_pair_checks.h"
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

static const char no_queue[] = "a structure of the program's", a_number[] = "one below T3_NIC_PAIRS",
                  a_completion_queue[] = "one below T3_NIC_COMPLETION_BASE_COUNT",
                  some_entries[] = "a power of two up to T3_NIC_ENTRIES_MAX",
                  a_created_queue[] = "a queue pair of t3_nic_create_qp that has not been destroyed";

enum t3_status t3_nic_access(struct t3_context* context, enum t3_status status) {
  return status == T3_BAD_ADDRESS ? t3_outcome(context, status, "this GPU has no NIC") : status;
}

enum t3_status t3_check_queue(struct t3_context* context, const struct t3_nic_queue* queue) {
  if (queue == NULL) return t3_at_fault(context, "queue", no_queue);
  if (queue->number >= T3_NIC_STATE_COUNT) return t3_at_fault(context, "queue->number", a_number);
  if (queue->completion_queue >= T3_NIC_COMPLETION_BASE_COUNT)
    return t3_at_fault(context, "queue->completion_queue", a_completion_queue);
  if (queue->entries == 0 || queue->entries > T3_NIC_ENTRIES_MAX || (queue->entries & (queue->entries - 1)) != 0)
    return t3_at_fault(context, "queue->entries", some_entries);
  return T3_OK;
}

enum t3_status t3_check_created(struct t3_context* context, const struct t3_nic_queue* queue) {
  T3_TRY(t3_check_queue(context, queue));
  return queue->is_open ? T3_OK : t3_at_fault(context, "queue", a_created_queue);
}

enum t3_status t3_read_queue_state(struct t3_context* context, const struct t3_nic_queue* queue, uint32_t* state) {
  struct t3_registers nic = t3_own_block(context, T3_BLOCK_NIC);
  *state = (t3_get32(&nic, of_pair(T3_NIC_STATE_OFFSET, queue)) & T3_NIC_STATE_NOW_MASK) >> T3_NIC_STATE_NOW_SHIFT;
  return t3_nic_access(context, nic.status);
}

/* The NIC answers with a code of its own where its registers could be accessed. */
static enum t3_status name_region(struct t3_context* context, enum t3_status access, enum t3_status refused) {
  if (access != T3_OK) return t3_nic_access(context, access);
  if (refused == T3_INVALID_ARGUMENT) return t3_at_fault(context, "bytes", "1 or more");
  return refused != T3_BAD_ADDRESS ? refused
                                   : t3_at_fault_as(context, refused, "address", "bytes within this GPU's memory");
}

static enum t3_status region(struct t3_context* context, uint64_t address, uint64_t bytes, uint32_t access,
                             uint32_t* key) {
  if (key == NULL) return t3_at_fault(context, "key", "a place for it");
  if ((access & ~(uint32_t)T3_NIC_ALL_ACCESS) != 0)
    return t3_at_fault(context, "access", "rights of T3_NIC_ALL_ACCESS");
  struct t3_registers nic = t3_own_block(context, T3_BLOCK_NIC);
  t3_put64(&nic, T3_NIC_REGION_BASE_OFFSET, address);
  t3_put64(&nic, T3_NIC_REGION_BYTES_OFFSET, bytes);
  t3_put32(&nic, T3_NIC_REGION_ACCESS_OFFSET, access);
  const enum t3_status refused =
      t3_command(&nic, T3_NIC_COMMAND_OFFSET, T3_NIC_COMMAND_ACTION_REGISTER_REGION, T3_NIC_STATUS_OFFSET);
  T3_TRY(name_region(context, nic.status, refused));
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
  const enum t3_status refused =
      t3_command(&nic, T3_NIC_COMMAND_OFFSET, T3_NIC_COMMAND_ACTION_WITHDRAW, T3_NIC_STATUS_OFFSET);
  T3_TRY(t3_nic_access(context, nic.status));
  return refused != T3_INVALID_ARGUMENT ? refused
                                        : t3_at_fault(context, "key", "a key of t3_nic_reg_mr that is still valid");
}

enum t3_status t3_nic_dereg_mr(struct t3_context* context, uint32_t key) {
  return T3_LOCKED(context, withdraw(context, key));
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

static bool is_within(struct t3_allocation inner, struct t3_allocation outer) {
  return inner.address >= outer.address && inner.bytes <= outer.bytes &&
         inner.address - outer.address <= outer.bytes - inner.bytes;
}

/* All in one piece of memory that the program has, and not the rings of another queue pair. */
static enum t3_status check_memory(struct t3_context* context, struct t3_allocation rings) {
  const struct t3_state* state = const_state_of(context);
  uint32_t i = 0;
  while (i < state->allocation_count && !is_within(rings, state->allocations[i])) ++i;
  if (i == state->allocation_count)
    return t3_at_fault(context, "queue->memory", "t3_nic_queue_bytes(entries) within one piece of t3_malloc");
  for (i = 0; i < T3_NIC_PAIRS; ++i)
    if (state->nic_rings[i].bytes != 0 && t3_overlap(rings, state->nic_rings[i]))
      return t3_at_fault_as(context, T3_OVERLAP, "queue->memory", "memory without another queue pair's rings");
  return T3_OK;
}

static enum t3_status create(struct t3_context* context, struct t3_nic_queue* queue) {
  T3_TRY(t3_check_queue(context, queue));
  if (queue->memory % T3_NIC_RECORD_BYTES != 0)
    return t3_at_fault_as(context, T3_UNALIGNED, "queue->memory", "a multiple of 64");
  struct t3_registers nic = t3_own_block(context, T3_BLOCK_NIC);
  uint32_t state = 0;
  T3_TRY(t3_read_queue_state(context, queue, &state));
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

/* The NIC has refused what only a queue pair in the state `before` takes. */
static enum t3_status why_not(struct t3_context* context, const struct t3_nic_queue* queue, uint32_t before) {
  uint32_t state = 0;
  T3_TRY(t3_read_queue_state(context, queue, &state));
  return state == before ? T3_BAD_VALUE : T3_BUSY;
}

static enum t3_status stage_peer(struct t3_context* context, const struct t3_nic_queue* queue,
                                 const struct t3_nic_qp_attr* attr, struct t3_registers* nic) {
  if (attr->dest_qp_num >= T3_NIC_STATE_COUNT) return t3_at_fault(context, "attr->dest_qp_num", a_number);
  if (attr->dest_gpu >= state_of(context)->gpus)
    return t3_at_fault_as(context, T3_NO_PEER, "attr->dest_gpu", "a GPU of the node");
  t3_put32(nic, of_pair(T3_NIC_PEER_OFFSET, queue),
           attr->dest_gpu << T3_NIC_PEER_NIC_SHIFT | attr->dest_qp_num << T3_NIC_PEER_QUEUE_PAIR_SHIFT);
  return T3_OK;
}

static enum t3_status modify(struct t3_context* context, const struct t3_nic_queue* queue,
                             const struct t3_nic_qp_attr* attr) {
  struct t3_registers nic = t3_own_block(context, T3_BLOCK_NIC);
  T3_TRY(t3_check_created(context, queue));
  if (attr == NULL) return t3_at_fault(context, "attr", "a state");
  const bool receives = attr->qp_state == T3_NIC_QPS_RTR;
  if (!receives && attr->qp_state != T3_NIC_QPS_RTS && attr->qp_state != T3_NIC_QPS_ERR)
    return t3_at_fault(context, "attr->qp_state", "T3_NIC_QPS_RTR, T3_NIC_QPS_RTS or T3_NIC_QPS_ERR");
  if (receives) T3_TRY(stage_peer(context, queue, attr, &nic));
  t3_put32(&nic, of_pair(T3_NIC_STATE_OFFSET, queue), attr->qp_state);
  return nic.status == T3_BAD_VALUE ? why_not(context, queue, receives ? T3_NIC_QPS_INIT : T3_NIC_QPS_RTR) : nic.status;
}

enum t3_status t3_nic_modify_qp(struct t3_context* context, const struct t3_nic_queue* queue,
                                const struct t3_nic_qp_attr* attr) {
  return T3_LOCKED(context, modify(context, queue, attr));
}

static enum t3_status state(struct t3_context* context, const struct t3_nic_queue* queue, uint32_t* value) {
  T3_TRY(t3_check_queue(context, queue));
  return value == NULL ? t3_at_fault(context, "state", "a place for it") : t3_read_queue_state(context, queue, value);
}

enum t3_status t3_nic_query_qp(struct t3_context* context, const struct t3_nic_queue* queue, uint32_t* value) {
  return T3_LOCKED(context, state(context, queue, value));
}

static enum t3_status destroy(struct t3_context* context, struct t3_nic_queue* queue) {
  struct t3_state* state = state_of(context);
  T3_TRY(t3_check_created(context, queue));
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

enum t3_status t3_nic_destroy_qp(struct t3_context* context, struct t3_nic_queue* queue) {
  return T3_LOCKED(context, destroy(context, queue));
}
