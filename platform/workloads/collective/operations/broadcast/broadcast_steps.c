/* Ring: step s sends piece s; the last in the ring, GPU 1, sends nothing. Hierarchical: the root sends to the first GPU
 * of each node, which sends to the others of its node. Direct and in-network: the root alone sends and signals. */
#include "kernels/collective/hierarchical_steps.h"
#include "kernels/collective/ring_steps.h"

static bool is_root(const struct t3_steps* s) { return t3_own_gpu(s) == 0; }

/* The last of N GPUs has piece P - 1 after P + N - 2 steps. Each takes the link the time of B / P + h bytes: a piece of
 * the buffer B, and what handing it on costs. (P + N - 2) (B / P + h) is least where P^2 = (N - 2) B / h. The number of
 * workgroups plays no part, as they share each piece. */
static uint32_t pieces_of_ring(const struct t3_steps* s) {
  const uint64_t bytes = t3_bytes_of_elements(s, s->collective.elements), blocks = bytes / s->handing_on.block_bytes;
  const uint32_t most = blocks < T3_COLLECTIVE_PIECES_MAX ? (uint32_t)blocks : T3_COLLECTIVE_PIECES_MAX;
  if (s->handing_on.bytes == 0) return most == 0 ? 1 : most;
  const uint32_t pieces = t3_square_root((t3_gpus_of(s) - 2) * bytes / s->handing_on.bytes, most);
  return pieces == 0 ? 1 : pieces;
}

static struct t3_step step_of_ring(const struct t3_steps* s, uint32_t step) {
  const uint64_t awaited = is_root(s) ? 0 : (uint64_t)step + 1;
  if (t3_own_gpu(s) == 1) return (struct t3_step){.awaited = awaited};
  return (struct t3_step){.awaited = awaited, .transfers = 1, .tells = T3_TELLS_PREVIOUS};
}

/* No piece begins within a DRAM access or a link's packet. */
enum { ALIGNMENT_BYTES = 256 };

static uint64_t begin_of_piece(const struct t3_steps* s, uint32_t piece) {
  const uint64_t elements = s->collective.elements, unit = ALIGNMENT_BYTES / t3_bytes_of_elements(s, 1);
  const uint64_t begin = unit * t3_flat_chunk_begin((elements + unit - 1) / unit, piece, s->count);
  return begin < elements ? begin : elements;
}

static struct t3_transfer transfer_of_ring(const struct t3_steps* s, uint32_t step, uint32_t index) {
  const uint64_t begin = begin_of_piece(s, step);
  struct t3_transfer transfer = t3_copy_of(s, t3_bytes_of_elements(s, begin), begin_of_piece(s, step + 1) - begin);
  (void)index;
  transfer.to = t3_previous_gpu(s);
  return transfer;
}

static struct t3_step step_of_root(const struct t3_steps* s, uint32_t step, enum t3_told tells, uint64_t awaited) {
  if (step == 1) return (struct t3_step){.awaited = awaited};
  return is_root(s) ? (struct t3_step){.transfers = 1, .tells = tells} : (struct t3_step){0};
}

static struct t3_step step_directly(const struct t3_steps* s, uint32_t step) {
  return step_of_root(s, step, T3_TELLS_ALL, is_root(s) ? 0 : 1);
}

static struct t3_transfer transfer_directly(const struct t3_steps* s, uint32_t step, uint32_t index) {
  struct t3_transfer transfer = t3_copy_of_buffer(s);
  (void)step;
  (void)index;
  transfer.to_all = true;
  return transfer;
}

static struct t3_step step_in_network(const struct t3_steps* s, uint32_t step) {
  return step_of_root(s, step, T3_TELLS_BY_SWITCH, 1);
}

static struct t3_transfer transfer_in_network(const struct t3_steps* s, uint32_t step, uint32_t index) {
  struct t3_transfer transfer = t3_copy_of_buffer(s);
  (void)step;
  (void)index;
  transfer.to = t3_own_gpu(s);
  transfer.by_switch = true;
  return transfer;
}

static struct t3_step step_by_nodes(const struct t3_steps* s, uint32_t step) {
  const bool is_first = t3_own_place(s).place == 0;
  if (step == 0)
    return is_root(s) ? (struct t3_step){.transfers = t3_nodes_of(s) - 1, .tells = T3_TELLS_OTHER_NODES}
                      : (struct t3_step){0};
  if (step == 2) return (struct t3_step){.awaited = is_first ? 0 : 1};
  if (!is_first) return (struct t3_step){0};
  return (struct t3_step){
      .awaited = is_root(s) ? 0 : 1, .transfers = t3_others_of(s), .tells = T3_TELLS_NODE, .awaits_second = true};
}

static struct t3_transfer transfer_by_nodes(const struct t3_steps* s, uint32_t step, uint32_t index) {
  const struct t3_node_place first = {index + 1, 0}, inside = {t3_own_place(s).node, index + 1};
  struct t3_transfer transfer = t3_copy_of_buffer(s);
  transfer.to = t3_gpu_at(s, step == 0 ? first : inside);
  return transfer;
}

const struct t3_operation t3_broadcast_operation = {
    .only_sends = true,
    .schedules = {[T3_RING] = {pieces_of_ring, step_of_ring, transfer_of_ring},
                  [T3_DIRECT] = {t3_two_steps, step_directly, transfer_directly},
                  [T3_HIERARCHICAL] = {t3_three_steps, step_by_nodes, transfer_by_nodes},
                  [T3_IN_NETWORK] = {t3_two_steps, step_in_network, transfer_in_network}}};
