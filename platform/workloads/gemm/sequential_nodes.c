#include "workloads/gemm/sequential_nodes.h"

#include "t3/address.h"
#include "t3/grid.h"
#include "workloads/gemm/gemm_tensors.h"
#include "workloads/gemm/nodes.h"
#include "workloads/shared/host_times.h"

enum { PIECE_BYTES = 1 << 30 }; /* of a rectangle that is longer than a message may be */

/* The messages that a queue's peer has sent so far. */
enum { SUMS_ARE_IN_MEMORY = 1, ALL_IS_SENT = 2 };

struct sums {
  struct t3_nodes nodes;
  const struct t3_output* out;
  struct t3_host_times times;
  struct t3_node_queues queues;
  uint32_t told[T3_NODES_MAX - 1];
};

static void spend(struct t3_context* gpu, uint64_t ns) {
  if (ns != 0) t3_hal_of(gpu)->wait_ns(t3_hal_of(gpu)->platform, ns);
}

static enum t3_status post(struct t3_context* gpu, struct sums* s, uint32_t i, const struct t3_nic_message* message) {
  spend(gpu, s->times.post_ns);
  return t3_nic_post_send(gpu, &s->queues.queues[i], message);
}

/* A message of nothing behind all that was posted before. */
static enum t3_status tell(struct t3_context* gpu, struct sums* s, uint32_t i) {
  const struct t3_nic_message message = {.opcode = T3_NIC_WRITE_IMMEDIATE, .immediate = t3_gpu(gpu)};
  return post(gpu, s, i, &message);
}

static enum t3_status take_completion(struct t3_context* gpu, struct sums* s, uint32_t i) {
  struct t3_nic_completion completion;
  T3_TRY(t3_nic_wait(gpu, &s->queues.queues[i], &completion));
  if (completion.syndrome != T3_NIC_OK) return t3_nic_status(&completion);
  if (completion.opcode == T3_NIC_RECEIVED) ++s->told[i];
  return T3_OK;
}

static enum t3_status await_told(struct t3_context* gpu, struct sums* s, uint32_t i, uint32_t what) {
  while (s->told[i] < what) T3_TRY(take_completion(gpu, s, i));
  return T3_OK;
}

/* Rows of elements to the same place in the owner's memory, which adds them. */
static enum t3_status post_rectangle(struct t3_context* gpu, struct sums* s, uint32_t owner, uint32_t i,
                                     struct t3_rectangle part) {
  const struct t3_matrix* out = &s->out->matrix;
  const uint64_t element = t3_element_bytes(out->element), row_bytes = part.columns * element;
  const uint32_t most = (uint32_t)(PIECE_BYTES / row_bytes);
  for (uint32_t row = 0; row < part.rows; row += most) {
    const uint32_t rows = part.rows - row < most ? part.rows - row : most;
    const uint64_t from = out->address + (uint64_t)(part.row + row) * out->row_stride + part.column * element;
    const struct t3_nic_message message = {.opcode = T3_NIC_ACCUMULATE,
                                           .remote_address = t3_on_gpu(owner, from),
                                           .rkey = s->queues.keys[owner],
                                           .local_address = from,
                                           .lkey = s->queues.keys[t3_gpu(gpu)],
                                           .bytes = (uint32_t)(rows * row_bytes),
                                           .tile = {.row_bytes = (uint32_t)row_bytes,
                                                    .row_stride = (uint32_t)out->row_stride,
                                                    .workgroup = UINT32_MAX,
                                                    .wavefront = UINT8_MAX,
                                                    .element = (uint8_t)out->element}};
    T3_TRY(post(gpu, s, i, &message));
  }
  return T3_OK;
}

/* Whole rows of tiles are one rectangle, otherwise what lies in a row of them. */
static enum t3_status post_chunk(struct t3_context* gpu, struct sums* s, uint32_t other) {
  const struct t3_output* out = s->out;
  const struct t3_chunk chunk = t3_owned_by(&s->nodes, out, other, s->nodes.local_rank);
  const struct t3_grid grid = {out->matrix.rows,       out->matrix.columns,    out->tiling.rows,   out->tiling.columns,
                               out->tiling.wavefronts, out->matrix.row_stride, out->matrix.element};
  const uint32_t across = t3_tiles_across(&grid), end = chunk.first_workgroup + chunk.workgroups;
  for (uint32_t first = chunk.first_workgroup, taken; first < end; first += taken) {
    const uint32_t column = first % across, left = end - first, to_row_end = across - column;
    taken = column == 0 && left >= across ? left / across * across : left < to_row_end ? left : to_row_end;
    const struct t3_rectangle begin = t3_tile_of(&grid, first), last = t3_tile_of(&grid, first + taken - 1);
    const struct t3_rectangle part = {begin.row, begin.column, last.row + last.rows - begin.row,
                                      last.column + last.columns - begin.column};
    T3_TRY(post_rectangle(gpu, s, t3_gpu_at(&s->nodes, other, s->nodes.local_rank), t3_index_of(other, s->nodes.node),
                          part));
  }
  return T3_OK;
}

/* A sum is added to when its owner has it in memory, and complete when all others have added theirs. */
static enum t3_status exchange_sums(struct t3_context* gpu, struct sums* s) {
  const uint32_t others = s->nodes.count - 1;
  spend(gpu, s->times.kernel_end_ns);
  T3_TRY(t3_flush_cache(gpu)); /* NICs read and add to memory */
  for (uint32_t i = 0; i < others; ++i) T3_TRY(tell(gpu, s, i));
  for (uint32_t step = 1; step <= others; ++step) {
    const uint32_t other = (s->nodes.node + step) % s->nodes.count, i = t3_index_of(other, s->nodes.node);
    T3_TRY(await_told(gpu, s, i, SUMS_ARE_IN_MEMORY));
    T3_TRY(post_chunk(gpu, s, other));
    T3_TRY(tell(gpu, s, i));
  }
  for (uint32_t i = 0; i < others; ++i) {
    T3_TRY(await_told(gpu, s, i, ALL_IS_SENT));
    while (s->queues.queues[i].ended != s->queues.queues[i].posted) T3_TRY(take_completion(gpu, s, i));
  }
  return T3_OK;
}

static enum t3_status run_phases(struct t3_context* gpu, const struct t3_gemm_workload* w, const struct t3_operands* t,
                                 const struct t3_matrix* staging, struct sums* s) {
  t3_begin(gpu, "gemm");
  T3_TRY(t3_gemm(gpu, &t->out, &t->a, &t->b, t3_gemm_options_of(w)));
  T3_TRY(t3_wait_kernels(gpu));
  t3_end(gpu, "gemm");
  t3_begin(gpu, "reduce_scatter");
  T3_TRY(t3_node_reduce_scatter(gpu, &t->out, staging, w->gpus_per_node));
  T3_TRY(t3_wait_kernels(gpu));
  T3_TRY(exchange_sums(gpu, s));
  t3_end(gpu, "reduce_scatter");
  return T3_OK;
}

static enum t3_status prepare(struct t3_context* gpu, const struct t3_gemm_workload* w, struct sums* s) {
  s->nodes = t3_nodes_of(gpu, w);
  s->times = (struct t3_host_times){w->host_kernel_end_ns, w->host_post_ns, w->host_launch_ns};
  T3_TRY(t3_open_node_queues(gpu, &s->nodes, s->out, &s->queues));
  for (uint32_t i = 0; i + 1 < s->nodes.count; ++i) T3_TRY(t3_nic_post_recv(gpu, &s->queues.queues[i], ALL_IS_SENT));
  return t3_host_barrier(gpu);
}

enum t3_status t3_sequential_of_nodes(const struct t3_hal* hal, const struct t3_run* run,
                                      const struct t3_gemm_workload* w) {
  struct t3_context context = {0};
  struct t3_operands t;
  struct sums sums = {.out = &t.out};
  T3_TRY(t3_set_up(&context, hal, run));
  t3_begin(&context, "setup");
  T3_TRY(t3_allocate(&context, w, T3_CACHED, &t));
  struct t3_matrix staging = t.out.matrix;
  T3_TRY(t3_matrix_malloc(&context, &staging));
  T3_TRY(prepare(&context, w, &sums));
  t3_end(&context, "setup");

  t3_begin(&context, "total");
  T3_TRY(run_phases(&context, w, &t, &staging, &sums));
  t3_end(&context, "total");
  T3_TRY(t3_hand_over(&context));
  T3_TRY(t3_close_node_queues(&context, &sums.nodes, &sums.queues));
  return t3_close(&context);
}
