#include "workloads/collective/all_reduce.h"

#include "t3/arguments/collective.h"
#include "t3/collective_staging.h"
#include "workloads/shared/program_steps.h"

static bool is_direct(const struct t3_all_reduce* r) { return r->rings.dimensions[0] == 0; }

uint32_t t3_all_reduce_counters(const uint32_t* dimensions) {
  return dimensions[0] == 0 ? T3_DIRECT_COUNTERS : t3_torus_dimensions(dimensions);
}

static struct t3_collective collective_of(const struct t3_all_reduce* r, uint64_t elements) {
  struct t3_collective c = {.op = T3_ALL_REDUCE,
                            .algorithm = is_direct(r) ? T3_DIRECT : T3_TORUS_RINGS,
                            .element = r->element,
                            .elements = elements};
  for (uint32_t d = 0; d < T3_TORUS_DIMENSIONS_MAX; ++d) c.dimensions[d] = r->rings.dimensions[d];
  return c;
}

enum t3_status t3_prepare_all_reduce(struct t3_context* gpu, uint64_t elements, struct t3_all_reduce* r) {
  const struct t3_collective most = collective_of(r, elements);
  T3_TRY(t3_malloc(gpu, t3_staging_bytes(&most, t3_gpus(gpu)), &r->rings.staging));
  if (!is_direct(r)) return t3_read_torus_epochs(gpu, &r->rings);
  for (uint32_t i = 0; i < T3_DIRECT_COUNTERS; ++i)
    T3_TRY(t3_read_epoch(gpu, r->rings.first_counter + i * t3_ring_workgroups(gpu), &r->epochs[i]));
  return T3_OK;
}

static enum t3_status queue_direct(struct t3_context* gpu, struct t3_all_reduce* r, uint64_t address,
                                   uint64_t elements) {
  const struct t3_collective_arguments arguments = {.out = address,
                                                    .staging = r->rings.staging,
                                                    .elements = elements,
                                                    .signal_epoch = r->epochs[0],
                                                    .between_epoch = r->epochs[1],
                                                    .signal_base = r->rings.first_counter,
                                                    .gpu = t3_gpu(gpu),
                                                    .gpus = t3_gpus(gpu),
                                                    .op = T3_ALL_REDUCE,
                                                    .algorithm = T3_DIRECT,
                                                    .element = (uint8_t)r->element};
  const struct t3_kernel_options options = {.workgroups = t3_ring_workgroups(gpu)};
  unsigned char bytes[T3_COLLECTIVE_ARGUMENTS_BYTES];
  t3_collective_arguments_to(&arguments, bytes);
  for (uint32_t i = 0; i < T3_DIRECT_COUNTERS; ++i) r->epochs[i] += t3_gpus(gpu) - 1;
  return t3_run_kernel(gpu, "collective", bytes, sizeof bytes, options);
}

enum t3_status t3_queue_all_reduce(struct t3_context* gpu, struct t3_all_reduce* r, uint64_t address,
                                   uint64_t elements) {
  const struct t3_collective_buffer buffer = {.address = address, .elements = elements, .element = r->element};
  return is_direct(r) ? queue_direct(gpu, r, address, elements) : t3_torus_all_reduce(gpu, &r->rings, &buffer);
}
