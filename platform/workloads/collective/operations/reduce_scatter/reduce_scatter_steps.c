/* Ring: steps 0 to N-2 send chunk (g+1+s) mod N with what has come added, step N-1 adds chunk g.
 *
 * Hierarchical: step 0 sends the chunks of the other places, of all nodes, to those places of its node. Step 1 sends
 * what is added of its own place's chunks to the nodes that own them. Step 2 adds what has come for its own. */
#include "kernels/collective/hierarchical_steps.h"
#include "kernels/collective/ring_steps.h"

static uint32_t sends(const struct t3_steps* s) { return t3_gpus_of(s) - 1; }
static struct t3_transfer send(const struct t3_steps* s, uint32_t index) { return t3_addend_for(s, index + 1); }

static struct t3_step step_of_ring(const struct t3_steps* s, uint32_t step) {
  struct t3_step result = t3_step_of_ring(s, step);
  result.transfers = 1;
  return result;
}

/* Where what a step has sent waits: of the ring of all at the place of its own chunk. Those of a dimension have a slot
 * for each step and way, so that it is at the same place on all GPUs. */
static uint64_t staged(const struct t3_steps* s, uint32_t step, uint64_t source) {
  const uint64_t staging = s->arguments->staging;
  if (s->collective.ring.length == 0) return staging + source - s->arguments->out;
  const uint64_t slot = 2 * (uint64_t)step + (s->other_way ? 1 : 0);
  return staging + slot * t3_ring_slot(&s->collective, s->ring, t3_gpus_of(s)) + source % 32;
}

static struct t3_transfer transfer_of_ring(const struct t3_steps* s, uint32_t step, uint32_t index) {
  const bool is_last = step + 1 == s->ring.length;
  struct t3_transfer transfer = t3_copy_of_range(s, step + 1);
  (void)index;
  transfer.addends = step == 0 ? 0 : 1;
  if (step != 0) transfer.addend = staged(s, step - 1, transfer.source);
  if (is_last)
    transfer.to = t3_own_gpu(s);
  else
    transfer.target = staged(s, step, transfer.source);
  return transfer;
}

static struct t3_step step_by_nodes(const struct t3_steps* s, uint32_t step) {
  const uint32_t transfers[] = {t3_nodes_of(s) * t3_others_of(s), t3_nodes_of(s) - 1, 1};
  return t3_hierarchical_step(s, step, transfers, false);
}

/* Slots: first for what comes from other nodes, then for what its node's GPUs add to this node's chunk, behind it to
 * the next node's. */
static uint32_t slot_of_sum(const struct t3_steps* s, uint32_t nodes_on, uint32_t places_on) {
  return t3_nodes_of(s) - 1 + nodes_on * t3_others_of(s) + places_on - 1;
}

static struct t3_transfer chunk_to(const struct t3_steps* s, uint32_t chunk, struct t3_node_place to) {
  struct t3_transfer transfer = t3_copy_of_chunk(s, chunk);
  transfer.to = t3_gpu_at(s, to);
  return transfer;
}

static struct t3_transfer send_inside(const struct t3_steps* s, uint32_t index) {
  const struct t3_node_place self = t3_own_place(s);
  const uint32_t distance = index % t3_others_of(s) + 1, nodes_on = index / t3_others_of(s);
  const struct t3_node_place to = {self.node, t3_place_behind(s, self.place, distance)};
  const struct t3_node_place owner = {t3_node_behind(s, self.node, nodes_on), to.place};
  struct t3_transfer transfer = chunk_to(s, t3_gpu_at(s, owner), to);
  transfer.target = t3_node_slot(s, slot_of_sum(s, nodes_on, t3_per_node(s) - distance), t3_gpu_at(s, owner));
  return transfer;
}

static struct t3_transfer transfer_by_nodes(const struct t3_steps* s, uint32_t step, uint32_t index) {
  const struct t3_node_place self = t3_own_place(s);
  if (step == 0) return send_inside(s, index);
  const uint32_t nodes_on = step == 1 ? index + 1 : 0;
  const struct t3_node_place to = {t3_node_behind(s, self.node, nodes_on), self.place};
  const uint32_t chunk = t3_gpu_at(s, to);
  struct t3_transfer transfer = chunk_to(s, chunk, to);
  transfer.addends = t3_others_of(s) + (step == 1 ? 0 : t3_nodes_of(s) - 1);
  transfer.addend = t3_node_slot(s, step == 1 ? slot_of_sum(s, nodes_on, 1) : 0, chunk);
  transfer.addend_stride = t3_staging_slot(&s->collective, t3_gpus_of(s));
  if (step == 1) transfer.target = t3_node_slot(s, t3_nodes_of(s) - nodes_on - 1, chunk);
  return transfer;
}

static struct t3_transfer transfer_in_network(const struct t3_steps* s, uint32_t step, uint32_t index) {
  struct t3_transfer transfer = t3_copy_of_chunk(s, t3_own_gpu(s));
  (void)step;
  (void)index;
  transfer.to = t3_own_gpu(s);
  transfer.sums = true;
  return transfer;
}

const struct t3_operation t3_reduce_scatter_operation = {
    .sends = sends,
    .send = send,
    .sum = t3_sum_of_chunk,
    .schedules = {[T3_RING] = {t3_ring_steps, step_of_ring, transfer_of_ring},
                  [T3_HIERARCHICAL] = {t3_three_steps, step_by_nodes, transfer_by_nodes},
                  [T3_IN_NETWORK] = {t3_two_steps, t3_step_in_network, transfer_in_network}}};
