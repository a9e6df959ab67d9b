#include "driver_errors/misuse.h"
#include "t3/kernel_packet.h"
#include "t3/registers/kernel_queue.h"
#include "t3/registers/near_memory.h"

struct operands {
  struct t3_matrix a, b;
};

static struct operands operands_of(struct stage* s) {
  const struct t3_matrix* out = &s->out.matrix;
  struct operands o = {.a = {.rows = out->rows, .columns = 32, .element = out->element},
                       .b = {.rows = 32, .columns = out->columns, .element = out->element}};
  tell(s, "memory of a", t3_matrix_malloc(&s->gpu, &o.a));
  tell(s, "memory of b", t3_matrix_malloc(&s->gpu, &o.b));
  return o;
}

static enum t3_status gemm(struct stage* s, const struct operands* o, struct t3_gemm_options options) {
  const enum t3_status queued = t3_gemm(&s->gpu, &s->out, &o->a, &o->b, options);
  return queued != T3_OK ? queued : t3_wait_kernels(&s->gpu);
}

/* What the driver would not write itself. */
static enum t3_status raw(struct stage* s, struct t3_kernel_packet packet) {
  struct t3_context* gpu = &s->gpu;
  const struct t3_hal* hal = gpu->hal;
  const uint64_t doorbell = t3_block_base(gpu->gpu, T3_BLOCK_KERNEL_QUEUE) + T3_KERNEL_QUEUE_DOORBELL_OFFSET;
  T3_TRY(
      hal->write_memory(hal->platform, gpu->queue_base + gpu->submitted % 16 * sizeof packet, &packet, sizeof packet));
  T3_TRY(hal->write64(hal->platform, doorbell, ++gpu->submitted));
  return t3_wait_kernels(gpu);
}

static void packets(struct stage* s) {
  struct operands o = operands_of(s);
  tell(s, "packet of zeros", raw(s, (struct t3_kernel_packet){0}));
  tell(s, "ring of one GPU",
       raw(s, (struct t3_kernel_packet){.kind = T3_KERNEL_RING_ALL_GATHER,
                                        .m = 64,
                                        .n = 64,
                                        .ldo = 128,
                                        .tile_rows = 64,
                                        .tile_columns = 64,
                                        .workgroups = 4,
                                        .gpus = 1}));
  o.a.address += 8;
  tell(s, "gemm of a shifted matrix", gemm(s, &o, (struct t3_gemm_options){0}));
  o.a.address -= 8;
  s->out.tiling.wavefronts = 3;
  tell(s, "gemm of 3 wavefronts in 64 rows", gemm(s, &o, (struct t3_gemm_options){0}));
  s->out.tiling.wavefronts = 4;
  o.b.columns -= 1;
  tell(s, "gemm of matrices that do not fit", gemm(s, &o, (struct t3_gemm_options){0}));
  o.b.columns += 1;
  tell(s, "gemm after all", gemm(s, &o, (struct t3_gemm_options){0}));
}

static void outside_memory(struct stage* s) {
  struct operands o = operands_of(s);
  o.b.address = t3_on_gpu(s->gpu.gpu, UINT64_C(1) << 30);
  tell(s, "gemm of a matrix that is nowhere", gemm(s, &o, (struct t3_gemm_options){0}));
}

static enum t3_status switch_updates(struct stage* s, uint32_t on) {
  const struct t3_hal* hal = s->gpu.hal;
  return hal->write32(hal->platform, t3_block_base(s->gpu.gpu, T3_BLOCK_NEAR_MEMORY) + T3_NEAR_MEMORY_CONTROL_OFFSET,
                      on);
}

static void switched_off(struct stage* s) {
  const struct operands o = operands_of(s);
  tell(s, "near-memory units off", switch_updates(s, 0));
  tell(s, "gemm with updates", gemm(s, &o, (struct t3_gemm_options){.update = true}));
  tell(s, "near-memory units on", switch_updates(s, 1));
  tell(s, "gemm with updates", gemm(s, &o, (struct t3_gemm_options){.update = true}));
}

enum t3_status guest_bad_packets(const struct t3_hal* hal, const struct t3_job* job) {
  return misuse_then_work(hal, job, packets);
}

enum t3_status guest_gemm_outside_memory(const struct t3_hal* hal, const struct t3_job* job) {
  return misuse_then_work(hal, job, outside_memory);
}

enum t3_status guest_updates_switched_off(const struct t3_hal* hal, const struct t3_job* job) {
  return misuse_then_work(hal, job, switched_off);
}
