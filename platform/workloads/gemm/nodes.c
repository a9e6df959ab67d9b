#include "workloads/gemm/nodes.h"

enum { RING_ENTRIES = 256 };

struct t3_nodes t3_nodes_of(const struct t3_context* gpu, const struct t3_gemm_workload* w) {
  return (struct t3_nodes){.count = t3_gpus(gpu) / w->gpus_per_node,
                           .size = w->gpus_per_node,
                           .node = t3_gpu(gpu) / w->gpus_per_node,
                           .local_rank = t3_gpu(gpu) % w->gpus_per_node};
}

struct t3_chunk t3_run_of(const struct t3_nodes* n, const struct t3_output* out, uint32_t place) {
  return t3_chunk_of(out, place, n->size);
}

struct t3_chunk t3_owned_by(const struct t3_nodes* n, const struct t3_output* out, uint32_t node, uint32_t place) {
  return t3_chunk_of(out, place * n->count + node, n->size * n->count);
}

static enum t3_status open_queue(struct t3_context* gpu, const struct t3_nodes* n, struct t3_node_queues* queues,
                                 uint32_t other) {
  const uint32_t number = t3_index_of(other, n->node);
  struct t3_nic_queue* queue = &queues->queues[number];
  *queue = (struct t3_nic_queue){.number = number, .completion_queue = number, .entries = RING_ENTRIES};
  T3_TRY(t3_malloc(gpu, t3_nic_queue_bytes(RING_ENTRIES), &queue->memory));
  T3_TRY(t3_nic_create_qp(gpu, queue));
  const struct t3_nic_qp_attr receive = {.qp_state = T3_NIC_QPS_RTR,
                                         .dest_gpu = t3_gpu_at(n, other, n->local_rank),
                                         .dest_qp_num = t3_index_of(n->node, other)};
  const struct t3_nic_qp_attr send = {.qp_state = T3_NIC_QPS_RTS};
  T3_TRY(t3_nic_modify_qp(gpu, queue, &receive));
  return t3_nic_modify_qp(gpu, queue, &send);
}

enum t3_status t3_open_node_queues(struct t3_context* gpu, const struct t3_nodes* n, const struct t3_output* out,
                                   struct t3_node_queues* queues) {
  uint32_t key = 0;
  if (t3_gpus(gpu) > T3_NODES_GPUS_MAX || n->count > T3_NODES_MAX) return T3_CAPACITY;
  T3_TRY(t3_nic_reg_mr(gpu, out->matrix.address, out->matrix.rows * out->matrix.row_stride, T3_NIC_REMOTE_ACCUMULATE,
                       &key));
  T3_TRY(t3_host_all_gather(gpu, "keys", &key, sizeof key, queues->keys));
  for (uint32_t other = 0; other < n->count; ++other)
    if (other != n->node) T3_TRY(open_queue(gpu, n, queues, other));
  return T3_OK;
}

/* When all GPUs have arrived here, no message is sent again. */
enum t3_status t3_close_node_queues(struct t3_context* gpu, const struct t3_nodes* n, struct t3_node_queues* queues) {
  T3_TRY(t3_host_barrier(gpu));
  for (uint32_t i = 0; i + 1 < n->count; ++i) T3_TRY(t3_nic_destroy_qp(gpu, &queues->queues[i]));
  return t3_nic_dereg_mr(gpu, queues->keys[t3_gpu(gpu)]);
}
