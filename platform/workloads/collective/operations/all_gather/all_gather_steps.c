/* Ring: steps 0 to N-2 send chunk (g+s) mod N. Hierarchical: step 0 sends this GPU's chunk to its place in other
 * nodes, step 1 sends what its place has of all nodes to the other places of its node. */
#include "kernels/collective/hierarchical_steps.h"
#include "kernels/collective/ring_steps.h"

static uint32_t sends(const struct t3_steps* s) {
  (void)s;
  return 1;
}

static struct t3_transfer send(const struct t3_steps* s, uint32_t index) {
  struct t3_transfer transfer = t3_copy_of_chunk(s, t3_own_gpu(s));
  (void)index;
  transfer.to_all = true;
  return transfer;
}

static struct t3_transfer transfer_of_ring(const struct t3_steps* s, uint32_t step, uint32_t index) {
  (void)index;
  return t3_copy_of_range(s, step);
}

static struct t3_step step_by_nodes(const struct t3_steps* s, uint32_t step) {
  const uint32_t transfers[] = {t3_nodes_of(s) - 1, t3_nodes_of(s) * t3_others_of(s), 0};
  return t3_hierarchical_step(s, step, transfers, true);
}

static struct t3_transfer transfer_by_nodes(const struct t3_steps* s, uint32_t step, uint32_t index) {
  const struct t3_node_place self = t3_own_place(s);
  struct t3_node_place owner = self, to = self;
  if (step == 0) {
    to.node = t3_node_behind(s, self.node, index + 1);
  } else {
    owner.node = t3_node_behind(s, self.node, index / t3_others_of(s));
    to.place = t3_place_behind(s, self.place, index % t3_others_of(s) + 1);
  }
  struct t3_transfer transfer = t3_copy_of_chunk(s, t3_gpu_at(s, owner));
  transfer.to = t3_gpu_at(s, to);
  return transfer;
}

static struct t3_transfer transfer_in_network(const struct t3_steps* s, uint32_t step, uint32_t index) {
  struct t3_transfer transfer = t3_copy_of_chunk(s, t3_own_gpu(s));
  (void)step;
  (void)index;
  transfer.to = t3_own_gpu(s);
  transfer.by_switch = true;
  return transfer;
}

const struct t3_operation t3_all_gather_operation = {
    .sends = sends,
    .send = send,
    .only_sends = true,
    .schedules = {[T3_RING] = {t3_ring_steps, t3_step_of_ring, transfer_of_ring},
                  [T3_HIERARCHICAL] = {t3_three_steps, step_by_nodes, transfer_by_nodes},
                  [T3_IN_NETWORK] = {t3_two_steps, t3_step_in_network, transfer_in_network}}};
