/* Memory that is zeroed while somebody writes it. */
#include "driver_errors/misuse.h"

static enum t3_status update(struct stage* s, const struct t3_output* out) {
  struct t3_matrix a = {.rows = out->matrix.rows, .columns = 32, .element = out->matrix.element};
  struct t3_matrix b = {.rows = 32, .columns = out->matrix.columns, .element = out->matrix.element};
  T3_TRY(t3_matrix_malloc(&s->gpu, &a));
  T3_TRY(t3_matrix_malloc(&s->gpu, &b));
  T3_TRY(t3_gemm(&s->gpu, out, &a, &b, (struct t3_gemm_options){.update = true}));
  T3_TRY(t3_free(&s->gpu, a.address));
  return t3_free(&s->gpu, b.address);
}

/* All of the output, and a row of tiles of it. */
static void zero(struct stage* s) {
  struct t3_matrix part = s->out.matrix;
  part.rows = s->out.tiling.rows;
  tell(s, "fill", t3_fill_zero(&s->gpu, &s->out.matrix));
  tell(s, "fill of the first tiles", t3_fill_zero(&s->gpu, &part));
  tell(s, "arm", t3_arm_zero(&s->gpu, &s->out.matrix));
  tell(s, "disarm", t3_disarm_zero(&s->gpu));
}

static void in_use(struct stage* s) {
  const struct t3_chunk half = {.first_workgroup = 32, .workgroups = 32};
  const struct t3_dma_options options = {.updates = 2, .block_tiles = 1, .counted = T3_UPDATE};
  tell(s, "dma_map of half", t3_dma_map(&s->gpu, &s->out, half, 0, T3_NOTIFY, options));
  zero(s);
  tell(s, "gemm", update(s, &s->out));
  s->hal->wait_ns(s->hal->platform, 3000); /* it has begun */
  zero(s);
  tell(s, "wait_kernels", t3_wait_kernels(&s->gpu));
  zero(s);
  tell(s, "second gemm", update(s, &s->out));
  tell(s, "wait_kernels", t3_wait_kernels(&s->gpu));
  tell(s, "wait_dma", t3_wait_dma(&s->gpu));
  zero(s);
  tell(s, "unmap_all", t3_remote_unmap_all(&s->gpu));

  struct t3_output large = s->out;
  large.matrix.rows *= 64;
  tell(s, "memory", t3_matrix_malloc(&s->gpu, &large.matrix));
  struct t3_output end = large;
  end.matrix.rows = s->out.matrix.rows;
  end.matrix.address += (large.matrix.rows - end.matrix.rows) * large.matrix.row_stride;
  tell(s, "timeout 100", t3_set_timeout(&s->gpu, 100));
  tell(s, "fill", t3_fill_zero(&s->gpu, &large.matrix));
  tell(s, "no timeout", t3_set_timeout(&s->gpu, T3_FOREVER));
  tell(s, "gemm on what is being zeroed", update(s, &end));
  tell(s, "gemm beside it", update(s, &s->out));
  tell(s, "the first", t3_wait_kernel(&s->gpu, t3_last_kernel(&s->gpu) - 1));
  tell(s, "the second", t3_wait_kernel(&s->gpu, t3_last_kernel(&s->gpu)));
  tell(s, "all", t3_wait_kernels(&s->gpu));
  tell(s, "fill", t3_fill_zero(&s->gpu, &large.matrix));
  tell(s, "gemm", update(s, &end));
  tell(s, "wait_kernels", t3_wait_kernels(&s->gpu));
}

enum t3_status guest_zeroed_in_use(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, in_use);
}
