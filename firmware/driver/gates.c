#include "t3/gates.h"

#include "context_state.h"
#include "maps.h"
#include "queues.h"
#include "registers.h"
#include "t3/registers/kernel_queue.h"
#include "wait.h"

static const char an_open_queue[] = "an open queue";

static enum t3_status command(struct t3_registers* r, uint32_t action) {
  return t3_command(r, T3_KERNEL_QUEUE_GATE_COMMAND_OFFSET, action << T3_KERNEL_QUEUE_GATE_COMMAND_ACTION_SHIFT,
                    T3_KERNEL_QUEUE_GATE_STATUS_OFFSET);
}

static enum t3_status gate_workgroups(struct t3_context* context, uint32_t queue, const struct t3_gate* gate) {
  if (!t3_is_queue(context, queue)) return t3_at_fault(context, "queue", an_open_queue);
  if (gate->workgroups == 0) return t3_at_fault(context, "gate.workgroups", "1 or more");
  if (!t3_is_chunk_signal(gate->signal)) return t3_at_fault(context, "gate.signal", T3_CHUNK_SIGNAL);
  struct t3_registers r = t3_own_block(context, T3_BLOCK_KERNEL_QUEUE);
  t3_put64(&r, T3_KERNEL_QUEUE_GATE_PACKET_OFFSET, const_state_of(context)->queues[queue].submitted + 1);
  t3_put64(&r, T3_KERNEL_QUEUE_GATE_VALUE_OFFSET, gate->value);
  t3_put32(&r, T3_KERNEL_QUEUE_GATE_QUEUE_OFFSET, queue);
  t3_put32(&r, T3_KERNEL_QUEUE_GATE_COUNTER_OFFSET, gate->signal);
  t3_put32(&r, T3_KERNEL_QUEUE_GATE_FIRST_OFFSET, gate->first);
  t3_put32(&r, T3_KERNEL_QUEUE_GATE_WORKGROUPS_OFFSET, gate->workgroups);
  const enum t3_status status = command(&r, T3_KERNEL_QUEUE_GATE_COMMAND_ACTION_ADD);
  return status == T3_TABLE_FULL ? t3_outcome(context, status, "all gates are in use") : status;
}

enum t3_status t3_gate_workgroups(struct t3_context* context, uint32_t queue, struct t3_gate gate) {
  return T3_LOCKED(context, gate_workgroups(context, queue, &gate));
}

static enum t3_status remove_gates(struct t3_context* context, uint32_t queue) {
  if (!t3_is_queue(context, queue)) return t3_at_fault(context, "queue", an_open_queue);
  struct t3_registers r = t3_own_block(context, T3_BLOCK_KERNEL_QUEUE);
  t3_put32(&r, T3_KERNEL_QUEUE_GATE_QUEUE_OFFSET, queue);
  return command(&r, T3_KERNEL_QUEUE_GATE_COMMAND_ACTION_REMOVE);
}

enum t3_status t3_remove_gates(struct t3_context* context, uint32_t queue) {
  return T3_LOCKED(context, remove_gates(context, queue));
}
