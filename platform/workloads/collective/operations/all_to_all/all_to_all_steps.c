/* Ring: step s sends what of GPU (g+s) mod N's buffer is for those behind this one. A part that has come to its owner
 * is stored where it belongs, all others in the staging buffer, in the slot of the hops that they have behind them.
 *
 * Hierarchical: step 0 sends what is for another place, of any node, to that place of its node. Step 1 sends what the
 * node has for its own place elsewhere. */
#include "kernels/collective/hierarchical_steps.h"
#include "kernels/collective/ring_steps.h"
#include "t3/operations/all_to_all.h"

static uint32_t sends(const struct t3_steps* s) { return t3_gpus_of(s); }
static struct t3_transfer send(const struct t3_steps* s, uint32_t index) {
  return t3_part_of(s, t3_own_gpu(s), t3_other_gpu(s->arguments, (index + 1) % t3_gpus_of(s)));
}

/* So many GPUs further on, up to a round. */
static uint32_t behind(const struct t3_steps* s, uint32_t gpu, uint32_t distance) {
  return (uint32_t)(((uint64_t)gpu + distance) % t3_gpus_of(s));
}

/* First its own part as well. */
static struct t3_step step_of_ring(const struct t3_steps* s, uint32_t step) {
  struct t3_step result = t3_step_of_ring(s, step);
  result.transfers = t3_gpus_of(s) - 1 - step + (step == 0 ? 1 : 0);
  return result;
}

/* Returns the staging address of a part that has made this many hops. */
static uint64_t waiting_in_ring(const struct t3_steps* s, uint32_t hops, uint32_t to) {
  return s->arguments->staging + (hops - 1) * t3_all_to_all_ring_slot(&s->collective) + t3_chunk_offset(s, to);
}

/* Parts with the longest routes go first. */
static struct t3_transfer transfer_of_ring(const struct t3_steps* s, uint32_t step, uint32_t index) {
  const uint32_t from = behind(s, t3_own_gpu(s), step), previous = t3_previous_gpu(s);
  struct t3_transfer transfer = t3_part_of(s, from, behind(s, from, index + 1));
  if (step == 0 && index + 1 == t3_gpus_of(s)) return t3_part_of(s, from, from);
  if (step != 0) transfer.source = waiting_in_ring(s, step, transfer.to);
  if (transfer.to != previous) transfer.target = waiting_in_ring(s, step + 1, transfer.to);
  transfer.to = previous;
  return transfer;
}

static struct t3_step step_by_nodes(const struct t3_steps* s, uint32_t step) {
  const uint32_t inside = t3_nodes_of(s) * t3_others_of(s) + 1;
  const uint32_t transfers[] = {inside, (t3_nodes_of(s) - 1) * t3_per_node(s), 0};
  return t3_hierarchical_step(s, step, transfers, false);
}

static struct t3_transfer part_of(const struct t3_steps* s, struct t3_node_place from, struct t3_node_place to) {
  return t3_part_of(s, t3_gpu_at(s, from), t3_gpu_at(s, to));
}

/* Where a part waits that comes from so many places further on, for the node so many further on. */
static uint64_t waiting_in_node(const struct t3_steps* s, uint32_t places_on, uint32_t nodes_on,
                                struct t3_node_place to) {
  return t3_node_slot(s, (places_on - 1) * (t3_nodes_of(s) - 1) + nodes_on - 1, t3_gpu_at(s, to));
}

static struct t3_transfer send_inside(const struct t3_steps* s, uint32_t index) {
  const struct t3_node_place self = t3_own_place(s);
  if (index == t3_others_of(s) * t3_nodes_of(s)) return part_of(s, self, self);
  const uint32_t distance = index % t3_others_of(s) + 1, nodes_on = index / t3_others_of(s);
  const struct t3_node_place to = {t3_node_behind(s, self.node, nodes_on), t3_place_behind(s, self.place, distance)};
  struct t3_transfer transfer = part_of(s, self, to);
  if (nodes_on != 0) transfer.target = waiting_in_node(s, t3_per_node(s) - distance, nodes_on, to);
  transfer.to = t3_gpu_at(s, (struct t3_node_place){self.node, to.place});
  return transfer;
}

static struct t3_transfer transfer_by_nodes(const struct t3_steps* s, uint32_t step, uint32_t index) {
  const struct t3_node_place self = t3_own_place(s);
  if (step == 0) return send_inside(s, index);
  const uint32_t nodes_on = index / t3_per_node(s) + 1, places_on = index % t3_per_node(s);
  const struct t3_node_place to = {t3_node_behind(s, self.node, nodes_on), self.place};
  const struct t3_node_place from = {self.node, t3_place_behind(s, self.place, places_on)};
  struct t3_transfer transfer = part_of(s, from, to);
  if (places_on != 0) transfer.source = waiting_in_node(s, places_on, nodes_on, to);
  return transfer;
}

const struct t3_operation t3_all_to_all_operation = {
    .sends = sends,
    .send = send,
    .schedules = {[T3_RING] = {t3_ring_steps, step_of_ring, transfer_of_ring},
                  [T3_HIERARCHICAL] = {t3_three_steps, step_by_nodes, transfer_by_nodes}}};
