/* The expert GEMM (MoE) on each GPU and the all-to-all of its rows to the tokens' owners: one kernel after the other,
 * or in one. */
#include "workloads/experts/experts_layout.h"

#include "t3/arguments/exchange.h"
#include "t3/arguments/gemm_all_to_all.h"
#include "t3/peer_flags.h"
#include "workloads/shared/program_steps.h"

struct buffers {
  struct t3_matrix a, b;
  struct t3_output product; /* in bulk */
  uint64_t out, ready;      /* fused: flags */
  uint64_t epoch;           /* of the exchange's counters, which are all the same */
};

static enum t3_status allocate_flags(struct t3_context* gpu, const struct t3_experts* e, struct buffers* b) {
  const uint64_t bytes = t3_all_peer_flag_bytes(t3_gpus(gpu), e->workgroups, 1);
  T3_TRY(t3_malloc(gpu, bytes, &b->ready));
  return t3_write_zeros(gpu, b->ready, bytes);
}

/* Allocates the same on all GPUs, since they store to each other's `out`: the first one's is the largest. */
static enum t3_status allocate(struct t3_context* gpu, const struct t3_experts* e, struct buffers* b) {
  const struct t3_matrix product = {.rows = e->tokens, .columns = e->hidden, .element = e->element};
  *b = (struct buffers){.a = {.rows = e->tokens, .columns = e->inner, .element = e->element},
                        .b = {.rows = e->inner, .columns = e->hidden, .element = e->element},
                        .product = {.matrix = product, .tiling = {e->tile_rows, e->tile_columns, e->wavefronts}}};
  T3_TRY(t3_matrix_malloc(gpu, &b->a));
  T3_TRY(t3_matrix_malloc(gpu, &b->b));
  T3_TRY(t3_malloc(gpu, t3_experts_out_bytes(e, 0, t3_gpus(gpu)), &b->out));
  T3_TRY(e->fused ? allocate_flags(gpu, e, b) : t3_matrix_malloc(gpu, &b->product.matrix));
  struct t3_matrix out = product;
  out.address = b->out;
  out.row_stride = t3_experts_row_bytes(e);
  out.rows = t3_experts_tokens(e, t3_gpu(gpu), t3_gpus(gpu)) * t3_gpus(gpu);
  t3_publish(gpu, "a", &b->a);
  t3_publish(gpu, "b", &b->b);
  t3_publish(gpu, "out", &out);
  return T3_OK;
}

static enum t3_status multiply(struct t3_context* gpu, const struct buffers* b) {
  t3_begin(gpu, "gemm");
  T3_TRY(t3_gemm(gpu, &b->product, &b->a, &b->b, (struct t3_gemm_options){0}));
  T3_TRY(t3_wait_kernels(gpu));
  t3_end(gpu, "gemm");
  return T3_OK;
}

/* Rows travel with what pads them. */
static enum t3_status exchange(struct t3_context* gpu, const struct t3_experts* e, const struct buffers* b) {
  const struct t3_exchange_arguments arguments = {
      .pooled = b->product.matrix.address,
      .out = b->out,
      .signal_epoch = b->epoch,
      .signal_base = t3_first_counter(gpu, 1),
      .global_batch = e->tokens,
      .columns = (uint32_t)(t3_experts_row_bytes(e) / t3_element_bytes(e->element)),
      .gpu = t3_gpu(gpu),
      .gpus = t3_gpus(gpu),
      .element = (uint8_t)e->element};
  unsigned char bytes[T3_EXCHANGE_ARGUMENTS_BYTES];
  t3_exchange_arguments_to(&arguments, bytes);
  return t3_run_phase(gpu, "all_to_all", "exchange", bytes, sizeof bytes, t3_ring_workgroups(gpu));
}

static enum t3_status run_fused(struct t3_context* gpu, const struct t3_experts* e, const struct buffers* b) {
  const struct t3_gemm_all_to_all_arguments arguments = {.out = b->out,
                                                         .a = b->a.address,
                                                         .b = b->b.address,
                                                         .ready = b->ready,
                                                         .tokens = e->tokens,
                                                         .hidden = e->hidden,
                                                         .inner = e->inner,
                                                         .lda = (uint32_t)b->a.row_stride,
                                                         .ldb = (uint32_t)b->b.row_stride,
                                                         .gpu = t3_gpu(gpu),
                                                         .gpus = t3_gpus(gpu),
                                                         .tile_rows = (uint16_t)e->tile_rows,
                                                         .tile_columns = (uint16_t)e->tile_columns,
                                                         .wavefronts = (uint8_t)e->wavefronts,
                                                         .element = (uint8_t)e->element};
  unsigned char bytes[T3_GEMM_ALL_TO_ALL_ARGUMENTS_BYTES];
  t3_gemm_all_to_all_arguments_to(&arguments, bytes);
  return t3_run_phase(gpu, "gemm", "gemm_all_to_all", bytes, sizeof bytes, e->workgroups);
}

static enum t3_status run_phases(struct t3_context* gpu, const struct t3_experts* e, const struct buffers* b) {
  if (e->fused) return run_fused(gpu, e, b);
  T3_TRY(multiply(gpu, b));
  return exchange(gpu, e, b);
}

enum t3_status t3_run_experts(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context context = {0};
  struct t3_experts e;
  struct buffers buffers;
  T3_TRY(t3_experts_of(run, &e));
  T3_TRY(t3_set_up(&context, hal, run));
  t3_begin(&context, "setup");
  T3_TRY(allocate(&context, &e, &buffers));
  T3_TRY(t3_read_epoch(&context, t3_first_counter(&context, 1), &buffers.epoch));
  T3_TRY(t3_barrier(&context));
  t3_end(&context, "setup");

  t3_begin(&context, "total");
  T3_TRY(run_phases(&context, &e, &buffers));
  t3_end(&context, "total");
  T3_TRY(t3_hand_over(&context));
  return t3_close(&context);
}
