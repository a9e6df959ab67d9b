/* A gradient that all GPUs add up, and a GEMM that does not depend on it (T3 section 7.2). */
#include "t3/following.h"
#include "t3/launch.h"
#include "t3/streams.h"
#include "t3/workloads/data_parallel.h"
#include "workloads/data_parallel/optimizer.h"
#include "workloads/gemm/ring_maps.h"
#include "workloads/shared/program_steps.h"

struct product {
  struct t3_matrix a, b;
  struct t3_output out;
};

struct backward {
  struct t3_context* gpu;
  const struct t3_data_parallel* w;
  struct product gradient, beside;
  struct t3_matrix staging;
  struct t3_optimizer_state optimizer;
  uint32_t queue; /* of the ring kernel */
};

static enum t3_status allocate(struct backward* s, struct product* p, const char* const names[3], uint32_t k) {
  p->a = (struct t3_matrix){.rows = p->out.matrix.rows, .columns = k, .element = s->w->element};
  p->b = (struct t3_matrix){.rows = k, .columns = p->out.matrix.columns, .element = s->w->element};
  T3_TRY(t3_matrix_malloc(s->gpu, &p->a));
  T3_TRY(t3_matrix_malloc(s->gpu, &p->b));
  T3_TRY(t3_matrix_malloc(s->gpu, &p->out.matrix));
  t3_publish(s->gpu, names[0], &p->a);
  t3_publish(s->gpu, names[1], &p->b);
  t3_publish(s->gpu, names[2], &p->out.matrix);
  return T3_OK;
}

static enum t3_status allocate_all(struct backward* s) {
  const struct t3_data_parallel* w = s->w;
  const struct t3_tiling tiling = {w->tile_rows, w->tile_columns, w->wavefronts};
  const char* const of_gradient[] = {"a", "b", "out"};
  const char* const of_beside[] = {"beside_a", "beside_b", "beside_out"};
  s->gradient.out = (struct t3_output){{.rows = w->m, .columns = w->n, .element = w->element}, tiling};
  s->beside.out = (struct t3_output){{.rows = w->beside_m, .columns = w->beside_n, .element = w->element}, tiling};
  if (w->fused) s->gradient.out.matrix.memory = T3_UNCACHED;
  T3_TRY(allocate(s, &s->gradient, of_gradient, w->k));
  T3_TRY(allocate(s, &s->beside, of_beside, w->beside_k));
  s->staging = s->gradient.out.matrix;
  return w->fused ? T3_OK : t3_matrix_malloc(s->gpu, &s->staging);
}

static enum t3_status zero(struct backward* s) {
  struct t3_matrix* out = &s->gradient.out.matrix;
  t3_begin(s->gpu, "zeroing");
  T3_TRY(s->w->valid_bits ? t3_arm_zero(s->gpu, out) : t3_fill_zero(s->gpu, out));
  t3_end(s->gpu, "zeroing");
  return T3_OK;
}

static enum t3_status multiply(struct backward* s, const struct product* p, struct t3_gemm_options options) {
  return t3_launch_gemm(s->gpu, 0, &p->out, &p->a, &p->b, options);
}

/* The independent GEMM takes compute units as those of the gradient end, while the last gradients are on their way. */
static enum t3_status run_fused(struct backward* s) {
  const struct t3_output* out = &s->gradient.out;
  const struct t3_gemm_options updates = {.update = true,
                                          .first_workgroup = t3_ring_chunk(s->gpu, out, 0).first_workgroup};
  T3_TRY(multiply(s, &s->gradient, updates));
  T3_TRY(multiply(s, &s->beside, (struct t3_gemm_options){0}));
  T3_TRY(t3_wait_queue(s->gpu, 0));
  return t3_wait_dma(s->gpu);
}

static enum t3_status run_gradient(struct backward* s) {
  t3_begin(s->gpu, "gemm");
  T3_TRY(multiply(s, &s->gradient, (struct t3_gemm_options){0}));
  T3_TRY(t3_wait_queue(s->gpu, 0));
  t3_end(s->gpu, "gemm");
  return T3_OK;
}

static enum t3_status queue_optimizer(struct backward* s, uint32_t queue) {
  if (s->w->optimizer == T3_NO_OPTIMIZER) return T3_OK;
  T3_TRY(t3_use_queue(s->gpu, queue));
  T3_TRY(t3_queue_optimizer(s->gpu, &s->gradient.out, &s->optimizer));
  return t3_use_queue(s->gpu, 0);
}

static enum t3_status run_overlapped(struct backward* s) {
  T3_TRY(run_gradient(s));
  T3_TRY(t3_launch_ring_reduce_scatter(s->gpu, s->queue, &s->gradient.out, &s->staging));
  T3_TRY(queue_optimizer(s, s->queue));
  T3_TRY(multiply(s, &s->beside, (struct t3_gemm_options){0}));
  T3_TRY(t3_wait_queue(s->gpu, s->queue));
  return t3_wait_queue(s->gpu, 0);
}

static enum t3_status run_sequential(struct backward* s) {
  T3_TRY(run_gradient(s));
  t3_begin(s->gpu, "reduce_scatter");
  T3_TRY(t3_launch_ring_reduce_scatter(s->gpu, 0, &s->gradient.out, &s->staging));
  T3_TRY(t3_wait_queue(s->gpu, 0));
  t3_end(s->gpu, "reduce_scatter");
  if (s->w->optimizer == T3_ADAM) {
    t3_begin(s->gpu, "optimizer");
    T3_TRY(queue_optimizer(s, 0));
    T3_TRY(t3_wait_queue(s->gpu, 0));
    t3_end(s->gpu, "optimizer");
  }
  t3_begin(s->gpu, "beside");
  T3_TRY(multiply(s, &s->beside, (struct t3_gemm_options){0}));
  T3_TRY(t3_wait_queue(s->gpu, 0));
  t3_end(s->gpu, "beside");
  return T3_OK;
}

static enum t3_status prepare(struct backward* s) {
  const struct t3_dma_options two_updates = {.updates = 2, .block_tiles = 1};
  if (s->w->beside_kernel) T3_TRY(t3_queue_create(s->gpu, (struct t3_queue_options){.priority = 1}, &s->queue));
  T3_TRY(allocate_all(s));
  if (s->w->optimizer == T3_ADAM)
    T3_TRY(t3_allocate_optimizer(s->gpu, &s->gradient.out.matrix, s->gradient.out.matrix.memory, &s->optimizer));
  if (!s->w->fused) return T3_OK;
  T3_TRY(zero(s));
  if (s->w->optimizer == T3_ADAM) T3_TRY(t3_optimize_near_memory(s->gpu, &s->gradient.out, &s->optimizer));
  return t3_map_ring(s->gpu, &s->gradient.out, 1, two_updates);
}

enum t3_status t3_run_data_parallel(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context context = {0};
  struct t3_data_parallel w;
  T3_TRY(t3_data_parallel_of(run, &w));
  T3_TRY(t3_set_up(&context, hal, run));
  struct backward s = {.gpu = &context, .w = &w};
  t3_begin(&context, "setup");
  T3_TRY(prepare(&s));
  T3_TRY(t3_barrier(&context));
  t3_end(&context, "setup");

  t3_begin(&context, "total");
  T3_TRY(w.fused ? run_fused(&s) : w.beside_kernel ? run_overlapped(&s) : run_sequential(&s));
  t3_end(&context, "total");
  T3_TRY(t3_remote_unmap_all(&context));
  if (w.fused && w.optimizer == T3_ADAM) T3_TRY(t3_stop_following(&context));
  T3_TRY(t3_hand_over(&context));
  return t3_close(&context);
}
