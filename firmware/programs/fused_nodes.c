#include "fused_nodes.h"

#include "t3/address.h"

enum { RING_ENTRIES = 256 };

/* Where this GPU is, and how many there are. */
struct nodes {
  uint32_t count, size, node, place;
};

static struct nodes nodes_of(const struct t3_context* gpu, const struct t3_job* job) {
  return (struct nodes){.count = gpu->gpus / job->gpus_per_node,
                        .size = job->gpus_per_node,
                        .node = gpu->gpu / job->gpus_per_node,
                        .place = gpu->gpu % job->gpus_per_node};
}

static uint32_t gpu_of(const struct nodes* n, uint32_t node, uint32_t place) { return node * n->size + place; }

/* The number of another node without this one. */
static uint32_t index_of(uint32_t other, uint32_t node) { return other < node ? other : other - 1; }

/* All chunks of a place, one run. */
static struct t3_chunk run_of(const struct nodes* n, const struct t3_output* out, uint32_t place) {
  return t3_chunk_of(out, place, n->size);
}

static struct t3_chunk owned_by(const struct nodes* n, const struct t3_output* out, uint32_t node, uint32_t place) {
  return t3_chunk_of(out, place * n->count + node, n->size * n->count);
}

struct t3_chunk t3_summed_here(const struct t3_context* gpu, const struct t3_job* job, const struct t3_output* out) {
  const struct nodes n = nodes_of(gpu, job);
  return run_of(&n, out, n.place);
}

uint32_t t3_first_of_turns(const struct t3_context* gpu, const struct t3_job* job, const struct t3_output* out) {
  const struct nodes n = nodes_of(gpu, job);
  return owned_by(&n, out, (n.node + 1) % n.count, (n.place + 1) % n.size).first_workgroup;
}

static enum t3_status open_queue(struct t3_context* gpu, const struct nodes* n, struct t3_node_ways* ways,
                                 uint32_t other) {
  const uint32_t number = index_of(other, n->node);
  struct t3_nic_queue* queue = &ways->queues[number];
  *queue = (struct t3_nic_queue){.number = number, .completion_queue = number, .entries = RING_ENTRIES};
  T3_TRY(t3_malloc(gpu, t3_nic_queue_bytes(RING_ENTRIES), &queue->memory));
  T3_TRY(t3_nic_create(gpu, queue));
  T3_TRY(t3_nic_connect(gpu, queue, gpu_of(n, other, n->place), index_of(n->node, other)));
  return t3_dma_lend(gpu, number, queue);
}

static enum t3_status open_ways(struct t3_context* gpu, const struct nodes* n, const struct t3_output* out,
                                struct t3_node_ways* ways) {
  uint32_t key = 0;
  if (gpu->gpus > T3_NODES_GPUS_MAX || n->count > T3_DMA_QUEUES + 1) return T3_CAPACITY;
  T3_TRY(t3_nic_region(gpu, out->matrix.address, out->matrix.rows * out->matrix.row_stride, T3_NIC_REMOTE_ACCUMULATE,
                       &key));
  T3_TRY(t3_exchange(gpu, "keys", &key, sizeof key, ways->keys));
  for (uint32_t other = 0; other < n->count; ++other)
    if (other != n->node) T3_TRY(open_queue(gpu, n, ways, other));
  return T3_OK;
}

/* What the other GPUs of the node sum goes there as it is stored. */
static enum t3_status map_inside(struct t3_context* gpu, const struct nodes* n, const struct t3_output* out) {
  for (uint32_t i = 1; i < n->size; ++i) {
    const uint32_t place = (n->place + i) % n->size;
    const struct t3_chunk run = run_of(n, out, place);
    const uint64_t sum = t3_peer_address(&out->matrix, gpu_of(n, n->node, place));
    if (run.workgroups != 0) T3_TRY(t3_remote_map(gpu, out, run, sum, T3_UPDATE));
  }
  return T3_OK;
}

static enum t3_status map_to(struct t3_context* gpu, const struct t3_job* job, const struct nodes* n,
                             const struct t3_output* out, const struct t3_node_ways* ways, uint32_t other) {
  const uint32_t owner = gpu_of(n, other, n->place);
  const struct t3_chunk chunk = owned_by(n, out, other, n->place);
  const struct t3_dma_options of_node = {.updates = n->size, .block_tiles = job->dma.block_tiles};
  const struct t3_nic_way way = {index_of(other, n->node), ways->keys[gpu->gpu], ways->keys[owner]};
  const uint64_t sum = t3_peer_address(&out->matrix, owner);
  if (chunk.workgroups == 0) return T3_OK;
  return job->by_nic ? t3_dma_map_nic(gpu, out, chunk, sum, &way, of_node)
                     : t3_dma_map(gpu, out, chunk, sum, T3_UPDATE, of_node);
}

enum t3_status t3_map_nodes(struct t3_context* gpu, const struct t3_job* job, const struct t3_output* out,
                            struct t3_node_ways* ways) {
  const struct nodes n = nodes_of(gpu, job);
  const struct t3_chunk own = owned_by(&n, out, n.node, n.place);
  if (job->by_nic) T3_TRY(open_ways(gpu, &n, out, ways));
  T3_TRY(map_inside(gpu, &n, out));
  for (uint32_t i = 1; i < n.count; ++i) T3_TRY(map_to(gpu, job, &n, out, ways, (n.node + i) % n.count));
  return own.workgroups == 0 ? T3_OK : t3_dma_map(gpu, out, own, 0, T3_NOTIFY, job->dma);
}

/* When all are here, nothing that was sent is sent again. */
enum t3_status t3_close_node_ways(struct t3_context* gpu, const struct t3_job* job, struct t3_node_ways* ways) {
  const struct nodes n = nodes_of(gpu, job);
  T3_TRY(t3_meet_hosts(gpu));
  for (uint32_t i = 0; i + 1 < n.count; ++i) {
    T3_TRY(t3_dma_take_back(gpu, i, &ways->queues[i]));
    T3_TRY(t3_nic_reset(gpu, &ways->queues[i]));
  }
  return t3_nic_withdraw(gpu, ways->keys[gpu->gpu]);
}
