/* Memory that a kernel, the kernel queue or a map is at while somebody else wants it. */
#include <stddef.h>

#include "driver_errors/misuse.h"
#include "t3/registers/tracker.h"

static void fill(struct stage* s, const char* what, const struct t3_matrix* matrix) {
  tell(s, what, t3_fill_zero(&s->gpu, matrix));
}

static void operands_in_use(struct stage* s) {
  const struct operands o = operands_of(s);
  tell(s, "gemm", t3_gemm(&s->gpu, &s->out, &o.a, &o.b, (struct t3_gemm_options){0}));
  s->hal->wait_ns(s->hal->platform, 3000); /* it has begun */
  fill(s, "fill of a", &o.a);
  fill(s, "fill of b", &o.b);
  tell(s, "arm of b", t3_arm_zero(&s->gpu, &o.b));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
  fill(s, "fill of a", &o.a);
  fill(s, "fill of b", &o.b);
}

/* On all GPUs. */
static void staging_in_use(struct stage* s) {
  struct t3_matrix staging = s->out.matrix, beside = s->out.matrix;
  tell(s, "memory of the staging", t3_matrix_malloc(&s->gpu, &staging));
  tell(s, "memory beside it", t3_matrix_malloc(&s->gpu, &beside));
  (void)t3_barrier(&s->gpu);
  tell(s, "reduce-scatter", t3_ring_reduce_scatter(&s->gpu, &s->out, &staging));
  s->hal->wait_ns(s->hal->platform, 3000);
  fill(s, "fill of the staging", &staging);
  fill(s, "fill beside it", &beside);
  tell(s, "its end", t3_wait_kernels(&s->gpu));
  (void)t3_barrier(&s->gpu);
  fill(s, "fill of the staging", &staging);
}

/* Adam writes all operands but the gradient in place. */
static void written_in_place(struct stage* s) {
  struct t3_matrix m[4];
  for (uint32_t i = 0; i < 4; ++i) {
    m[i] = (struct t3_matrix){.rows = 512, .columns = 512, .element = T3_FP32};
    tell(s, "memory", t3_matrix_malloc(&s->gpu, &m[i]));
  }
  tell(s, "adam", t3_rows(&s->gpu, T3_ROWS_ADAM, &m[0], &m[1], &m[2], &m[3], (struct t3_row_options){.factor = 1}));
  s->hal->wait_ns(s->hal->platform, 3000);
  for (uint32_t i = 0; i < 4; ++i) fill(s, "fill", &m[i]);
  tell(s, "its end", t3_wait_kernels(&s->gpu));
}

static void mapped_and_read(struct stage* s) {
  const struct t3_chunk half = {.first_workgroup = 32, .workgroups = 32};
  const struct t3_dma_options options = {.updates = 1, .block_tiles = 1};
  const struct operands o = operands_of(s);
  struct t3_matrix sum = s->out.matrix, read = s->out.matrix;
  sum.memory = read.memory = T3_CACHED;
  tell(s, "memory of the sum", t3_matrix_malloc(&s->gpu, &sum));
  const struct t3_row_options factor = {.factor = 1};
  tell(s, "dma_map of half", t3_dma_map(&s->gpu, &s->out, half, 0, T3_NOTIFY, options));
  tell(s, "rows that read it", t3_rows(&s->gpu, T3_ROWS_SCALE, &sum, &read, NULL, NULL, factor));
  tell(s, "their end", t3_wait_kernels(&s->gpu));
  struct t3_matrix other_half = read;
  other_half.rows = sum.rows /= 2;
  tell(s, "rows that read the other half", t3_rows(&s->gpu, T3_ROWS_SCALE, &sum, &other_half, NULL, NULL, factor));
  tell(s, "their end", t3_wait_kernels(&s->gpu));
  tell(s, "gemm", t3_gemm(&s->gpu, &s->out, &o.a, &o.b, (struct t3_gemm_options){.update = true}));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
  sum.rows = read.rows;
  tell(s, "rows that read it", t3_rows(&s->gpu, T3_ROWS_SCALE, &sum, &read, NULL, NULL, factor));
  tell(s, "their end", t3_wait_kernels(&s->gpu));
}

/* On GPU 0 the ring starts at address 0, where a matrix is that was never allocated. */
static void packets_in_use(struct stage* s) {
  const struct operands o = operands_of(s);
  struct operands wrong = o;
  struct t3_output out = s->out, nowhere = s->out;
  tell(s, "memory of the output", t3_matrix_malloc(&s->gpu, &out.matrix));
  wrong.a.address = wrong.b.address = nowhere.matrix.address = 0;
  const struct t3_gemm_options none = {0};
  tell(s, "gemm", t3_gemm(&s->gpu, &out, &o.a, &o.b, none));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
  tell(s, "gemm of a at 0", t3_gemm(&s->gpu, &out, &wrong.a, &o.b, none));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
  tell(s, "gemm of b at 0", t3_gemm(&s->gpu, &out, &o.a, &wrong.b, none));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
  tell(s, "gemm into 0", t3_gemm(&s->gpu, &nowhere, &o.a, &o.b, none));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
  fill(s, "fill at 0", &wrong.a);
  tell(s, "arm at 0", t3_arm_zero(&s->gpu, &wrong.a));
}

static enum t3_status multiply(struct stage* s, const struct t3_matrix* into, const struct operands* o, bool update) {
  const struct t3_output out = {.matrix = *into, .tiling = s->out.tiling};
  return t3_gemm(&s->gpu, &out, &o->a, &o->b, (struct t3_gemm_options){.update = update});
}

/* On all GPUs; the first comes late, when its neighbour has stored to its output. */
static void arrived(struct stage* s) {
  const struct operands o = operands_of(s);
  (void)t3_barrier(&s->gpu);
  if (t3_gpu(&s->gpu) == 0) {
    s->hal->wait_ns(s->hal->platform, 100000);
    tell(s, "gemm", multiply(s, &s->out.matrix, &o, false));
    tell(s, "its end", t3_wait_kernels(&s->gpu));
    tell(s, "gemm of updates", multiply(s, &s->out.matrix, &o, true));
    tell(s, "its end", t3_wait_kernels(&s->gpu));
    fill(s, "fill", &s->out.matrix);
    fill(s, "fill beside it", &o.a);
  }
  tell(s, "all-gather", t3_ring_all_gather(&s->gpu, &s->out));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
  tell(s, "gemm", multiply(s, &s->out.matrix, &o, false));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
  (void)t3_barrier(&s->gpu);
}

/* The same with a staging buffer. */
static void staged(struct stage* s) {
  const struct operands o = operands_of(s);
  struct t3_matrix staging = s->out.matrix;
  tell(s, "memory of the staging", t3_matrix_malloc(&s->gpu, &staging));
  (void)t3_barrier(&s->gpu);
  if (t3_gpu(&s->gpu) == 0) {
    s->hal->wait_ns(s->hal->platform, 100000);
    tell(s, "gemm into the staging", multiply(s, &staging, &o, false));
    tell(s, "its end", t3_wait_kernels(&s->gpu));
    fill(s, "fill of the staging", &staging);
    tell(s, "gemm", multiply(s, &s->out.matrix, &o, false));
    tell(s, "its end", t3_wait_kernels(&s->gpu));
  }
  tell(s, "reduce-scatter", t3_ring_reduce_scatter(&s->gpu, &s->out, &staging));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
  (void)t3_barrier(&s->gpu);
}

enum t3_status guest_where_it_has_arrived(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, arrived);
}

enum t3_status guest_where_it_is_staged(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, staged);
}

/* The output is the upper half of what is armed; the lower half is never written. */
static void disarmed_in_use(struct stage* s) {
  const struct t3_chunk half = {.first_workgroup = 32, .workgroups = 32};
  const struct t3_dma_options options = {.updates = 2, .block_tiles = 1};
  const struct t3_gemm_options update = {.update = true};
  const struct operands o = operands_of(s);
  struct t3_output out = s->out;
  struct t3_matrix armed = s->out.matrix;
  armed.rows *= 2;
  tell(s, "memory", t3_matrix_malloc(&s->gpu, &armed));
  out.matrix.address = armed.address;
  tell(s, "dma_map of half", t3_dma_map(&s->gpu, &out, half, 0, T3_NOTIFY, options));
  tell(s, "arm", t3_arm_zero(&s->gpu, &armed));
  tell(s, "gemm", t3_gemm(&s->gpu, &out, &o.a, &o.b, update));
  s->hal->wait_ns(s->hal->platform, 3000); /* it has begun */
  tell(s, "disarm", t3_disarm_zero(&s->gpu));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
  tell(s, "disarm", t3_disarm_zero(&s->gpu));
  tell(s, "gemm", t3_gemm(&s->gpu, &out, &o.a, &o.b, update));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
  tell(s, "wait_dma", t3_wait_dma(&s->gpu));
  tell(s, "disarm", t3_disarm_zero(&s->gpu));
}

/* A map expects two updates and has one at first. */
static void written_while_counted(struct stage* s) {
  const struct t3_chunk half = {.first_workgroup = 32, .workgroups = 32};
  const struct t3_dma_options options = {.updates = 2, .block_tiles = 1};
  const struct t3_gemm_options update = {.update = true};
  const struct operands o = operands_of(s);
  const struct t3_matrix* out = &s->out.matrix;
  const uint64_t last = out->address + (out->rows - 1) * out->row_stride;
  const uint64_t nothing = 0;
  const struct t3_hal* hal = s->hal;
  tell(s, "dma_map of half", t3_dma_map(&s->gpu, &s->out, half, 0, T3_NOTIFY, options));
  tell(s, "last row", hal->write_memory(hal->platform, last, &nothing, sizeof nothing));
  for (int i = 0; i < 2; ++i) {
    tell(s, "gemm", t3_gemm(&s->gpu, &s->out, &o.a, &o.b, update));
    tell(s, "its end", t3_wait_kernels(&s->gpu));
    if (i == 1) tell(s, "wait_dma", t3_wait_dma(&s->gpu));
    tell(s, "first row", hal->write_memory(hal->platform, out->address, &nothing, sizeof nothing));
    tell(s, "last row", hal->write_memory(hal->platform, last, &nothing, sizeof nothing));
  }
}

static void spilled_over_operands(struct stage* s) {
  const struct t3_chunk half = {.first_workgroup = 32, .workgroups = 32};
  const struct t3_dma_options options = {.updates = 1, .block_tiles = 1};
  const struct operands o = operands_of(s);
  const struct t3_hal* hal = s->hal;
  const uint64_t place = t3_block_base(t3_gpu(&s->gpu), T3_BLOCK_TRACKER) + T3_TRACKER_SPILL_BASE_OFFSET;
  uint64_t right = 0;
  tell(s, "dma_map of half", t3_dma_map(&s->gpu, &s->out, half, 0, T3_NOTIFY, options));
  tell(s, "unmap_all", t3_remote_unmap_all(&s->gpu));
  tell(s, "place of the spill table", hal->read64(hal->platform, place, &right));
  tell(s, "spill table on b", hal->write64(hal->platform, place, o.b.address));
  for (int i = 0; i < 2; ++i) {
    if (i == 0) tell(s, "dma_map of half", t3_dma_map(&s->gpu, &s->out, half, 0, T3_NOTIFY, options));
    if (i == 1) tell(s, "unmap_all", t3_remote_unmap_all(&s->gpu));
    tell(s, "gemm of b", t3_gemm(&s->gpu, &s->out, &o.a, &o.b, (struct t3_gemm_options){.update = true}));
    tell(s, "its end", t3_wait_kernels(&s->gpu));
    tell(s, "rows on b", t3_rows(&s->gpu, T3_ROWS_SCALE, &o.b, &o.b, NULL, NULL, (struct t3_row_options){.factor = 1}));
    tell(s, "its end", t3_wait_kernels(&s->gpu));
    fill(s, "fill of b", &o.b);
    tell(s, "arm of b", t3_arm_zero(&s->gpu, &o.b));
    tell(s, "write to b", hal->write_memory(hal->platform, o.b.address, &right, sizeof right));
  }
  tell(s, "spill table in its place", hal->write64(hal->platform, place, right));
}

enum t3_status guest_with_operands_in_use(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, operands_in_use);
}

enum t3_status guest_with_staging_in_use(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, staging_in_use);
}

enum t3_status guest_written_in_place(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, written_in_place);
}

enum t3_status guest_that_reads_what_is_mapped(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, mapped_and_read);
}

enum t3_status guest_on_its_packets(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, packets_in_use);
}

enum t3_status guest_that_disarms_in_use(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, disarmed_in_use);
}

enum t3_status guest_that_writes_what_is_counted(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, written_while_counted);
}

enum t3_status guest_that_spills_over_operands(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, spilled_over_operands);
}
