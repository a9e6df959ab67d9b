#include "t3/endpoint.h"
#include "registers.h"
#include "t3/registers/endpoint.h"
#include "wait.h"

/* The registers of a GPU without the engine answer nothing. */
static enum t3_status name_absence(struct t3_context* context, const struct t3_registers* endpoint) {
  if (endpoint->status != T3_BAD_ADDRESS) return endpoint->status;
  return t3_outcome(context, T3_NO_PEER, "this GPU has no endpoint engine (system file: endpoint)");
}

static enum t3_status count_rings(struct t3_context* context, uint32_t* rings) {
  struct t3_registers endpoint = t3_own_block(context, T3_BLOCK_ENDPOINT);
  *rings = t3_get32(&endpoint, T3_ENDPOINT_RINGS_OFFSET);
  return name_absence(context, &endpoint);
}

enum t3_status t3_endpoint_rings(struct t3_context* context, uint32_t* rings) {
  if (rings == NULL) return T3_REFUSE(context, "rings", "a place for their number");
  return T3_LOCKED(context, count_rings(context, rings));
}

static enum t3_status use_rings(struct t3_context* context, uint32_t rings) {
  struct t3_registers endpoint = t3_own_block(context, T3_BLOCK_ENDPOINT);
  uint32_t most = 0;
  T3_TRY(count_rings(context, &most));
  if (rings == 0 || rings > most) return t3_at_fault(context, "rings", "1 to t3_endpoint_rings");
  if ((t3_get32(&endpoint, T3_ENDPOINT_STATUS_OFFSET) & T3_ENDPOINT_STATUS_BUSY_MASK) != 0) return T3_BUSY;
  t3_put32(&endpoint, T3_ENDPOINT_RINGS_USED_OFFSET, rings);
  return endpoint.status;
}

enum t3_status t3_endpoint_use_rings(struct t3_context* context, uint32_t rings) {
  return T3_LOCKED(context, use_rings(context, rings));
}

/* Names the parameter that the engine has refused. */
static enum t3_status name_collective(struct t3_context* context, enum t3_status status,
                                      const struct t3_endpoint_collective* c) {
  static const char multiple[] = "a multiple of 32";
  switch (status) {
    case T3_INVALID_ARGUMENT:
      if (c->bytes == 0) return t3_at_fault(context, "collective->bytes", "32 or more");
      if (c->gpus < 2) return t3_at_fault(context, "collective->gpus", "2 or more");
      return c->place >= c->gpus ? t3_at_fault(context, "collective->place", "below collective->gpus")
                                 : t3_at_fault(context, "collective->ring", "below t3_endpoint_use_rings");
    case T3_UNALIGNED:
      return t3_at_fault_as(context, status, c->address % 32 != 0 ? "collective->address" : "collective->bytes",
                            multiple);
    case T3_BAD_ADDRESS:
      return t3_at_fault_as(context, status, "collective->address", "bytes within this GPU's memory");
    case T3_NO_PEER:
      return t3_at_fault_as(context, status, "collective->next, collective->previous",
                            "other GPUs that can be reached");
    case T3_OVERLAP:
      return t3_at_fault_as(context, status, "collective->address", "bytes that no other collective uses");
    default:
      return status;
  }
}

static enum t3_status check_fields(struct t3_context* context, const struct t3_endpoint_collective* c) {
  const uint32_t most = T3_ENDPOINT_PLACE_OWN_MASK >> T3_ENDPOINT_PLACE_OWN_SHIFT;
  if ((uint32_t)c->operation > T3_ENDPOINT_ALL_REDUCE)
    return t3_at_fault(context, "collective->operation", "a member of enum t3_endpoint_operation");
  if ((uint32_t)c->element > T3_FP32) return t3_at_fault(context, "collective->element", "a member of enum t3_element");
  if (c->gpus > most || c->place > most) return t3_at_fault(context, "collective->place", "below collective->gpus");
  if (c->next > most || c->previous > most)
    return t3_at_fault_as(context, T3_NO_PEER, "collective->next, collective->previous",
                          "other GPUs that can be reached");
  if (c->ring > T3_ENDPOINT_OPTIONS_RING_MASK >> T3_ENDPOINT_OPTIONS_RING_SHIFT)
    return t3_at_fault(context, "collective->ring", "below t3_endpoint_use_rings");
  return T3_OK;
}

static enum t3_status start(struct t3_context* context, const struct t3_endpoint_collective* c) {
  struct t3_registers endpoint = t3_own_block(context, T3_BLOCK_ENDPOINT);
  T3_TRY(check_fields(context, c));
  t3_put64(&endpoint, T3_ENDPOINT_BUFFER_OFFSET, c->address);
  T3_TRY(name_absence(context, &endpoint));
  t3_put64(&endpoint, T3_ENDPOINT_BYTES_OFFSET, c->bytes);
  t3_put32(&endpoint, T3_ENDPOINT_PLACE_OFFSET,
           c->place << T3_ENDPOINT_PLACE_OWN_SHIFT | c->gpus << T3_ENDPOINT_PLACE_GPUS_SHIFT);
  t3_put32(&endpoint, T3_ENDPOINT_NEIGHBOURS_OFFSET,
           c->next << T3_ENDPOINT_NEIGHBOURS_NEXT_SHIFT | c->previous << T3_ENDPOINT_NEIGHBOURS_PREVIOUS_SHIFT);
  t3_put32(&endpoint, T3_ENDPOINT_OPTIONS_OFFSET,
           (uint32_t)c->operation << T3_ENDPOINT_OPTIONS_OPERATION_SHIFT |
               (uint32_t)c->element << T3_ENDPOINT_OPTIONS_ELEMENT_SHIFT | c->ring << T3_ENDPOINT_OPTIONS_RING_SHIFT);
  const uint32_t command = T3_ENDPOINT_COMMAND_ACTION_START << T3_ENDPOINT_COMMAND_ACTION_SHIFT;
  return name_collective(context, t3_command(&endpoint, T3_ENDPOINT_COMMAND_OFFSET, command, T3_ENDPOINT_STATUS_OFFSET),
                         c);
}

enum t3_status t3_endpoint_start(struct t3_context* context, const struct t3_endpoint_collective* collective) {
  if (collective == NULL) return T3_REFUSE(context, "collective", "a collective");
  return T3_LOCKED(context, start(context, collective));
}

/* The causes are cleared before the counts are read, so that no end is missed. */
static enum t3_status wait_ended(struct t3_context* context) {
  struct t3_registers endpoint = t3_own_block(context, T3_BLOCK_ENDPOINT);
  const uint64_t deadline = t3_deadline(context);
  for (;;) {
    t3_clear(context, &endpoint, T3_LINE_ENDPOINT, T3_ENDPOINT_INTERRUPT_OFFSET,
             T3_ENDPOINT_INTERRUPT_ENDED_MASK | T3_ENDPOINT_INTERRUPT_ERROR_MASK);
    const uint64_t started = t3_get64(&endpoint, T3_ENDPOINT_STARTED_OFFSET);
    const uint64_t ended = t3_get64(&endpoint, T3_ENDPOINT_ENDED_OFFSET);
    T3_TRY(name_absence(context, &endpoint));
    if (started == ended) {
      const uint32_t status = t3_get32(&endpoint, T3_ENDPOINT_STATUS_OFFSET);
      return endpoint.status != T3_OK
                 ? endpoint.status
                 : (enum t3_status)((status & T3_ENDPOINT_STATUS_TRANSFER_MASK) >> T3_ENDPOINT_STATUS_TRANSFER_SHIFT);
    }
    T3_TRY(t3_sleep(context, T3_LINE_ENDPOINT, deadline, "the endpoint engine's collectives"));
  }
}

enum t3_status t3_endpoint_wait(struct t3_context* context) { return T3_LOCKED(context, wait_ended(context)); }
