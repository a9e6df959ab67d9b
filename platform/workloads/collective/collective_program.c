/* One collective operation by itself. An operation of two parts is two kernels, one behind the other, by a torus's
 * rings two for each dimension. */
#include "workloads/collective/collective_layout.h"
#include "workloads/collective/flat_collective.h"
#include "workloads/shared/program_steps.h"

static enum t3_status allocate(struct t3_context* gpu, uint64_t bytes, uint64_t* address) {
  return bytes == 0 ? T3_OK : t3_malloc(gpu, bytes, address);
}

/* Allocates the same on all GPUs, since they send to each other's buffers: GPU 0 receives most in an all-to-all. */
static enum t3_status set_up(struct t3_context* gpu, struct t3_flat_collective* flat) {
  const struct t3_collective* c = &flat->collective;
  const uint32_t element = t3_element_bytes(c->element);
  T3_TRY(allocate(gpu, t3_received_elements(c, 0, t3_gpus(gpu)) * element, &flat->out));
  if (t3_receives_apart(c)) T3_TRY(allocate(gpu, c->elements * element, &flat->in));
  T3_TRY(t3_prepare_flat(gpu, flat));
  t3_publish_rows(gpu, "out", flat->out, 1, t3_received_elements(c, t3_gpu(gpu), t3_gpus(gpu)), c->element);
  if (t3_receives_apart(c)) t3_publish_rows(gpu, "in", flat->in, 1, c->elements, c->element);
  return T3_OK;
}

static enum t3_status run_parts(struct t3_context* gpu, struct t3_flat_collective* flat) {
  enum t3_collective_op parts[T3_FLAT_KERNELS];
  const uint32_t count = t3_collective_parts(&flat->collective, parts);
  for (uint32_t i = 0; i < count; ++i) T3_TRY(t3_queue_flat(gpu, flat, parts[i], i));
  return t3_wait_kernels(gpu);
}

enum t3_status t3_run_collective(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context context = {0};
  struct t3_collective_workload workload;
  T3_TRY(t3_collective_workload_of(run, &workload));
  struct t3_flat_collective flat = {.collective = t3_collective_of_workload(&workload)};
  T3_TRY(t3_set_up(&context, hal, run));
  T3_TRY(t3_fit_flat_counters(&context, &flat.collective, 0));
  t3_begin(&context, "setup");
  T3_TRY(set_up(&context, &flat));
  T3_TRY(t3_barrier(&context));
  t3_end(&context, "setup");

  t3_begin(&context, "total");
  t3_begin(&context, "collective");
  T3_TRY(run_parts(&context, &flat));
  t3_end(&context, "collective");
  t3_end(&context, "total");
  T3_TRY(t3_hand_over(&context));
  return t3_close(&context);
}
