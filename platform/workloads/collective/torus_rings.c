#include "workloads/collective/torus_rings.h"

#include "workloads/shared/program_steps.h"

uint32_t t3_torus_dimensions(const uint32_t* dimensions) {
  uint32_t count = 0;
  while (count < T3_TORUS_DIMENSIONS_MAX && dimensions[count] != 0) ++count;
  return count;
}

static uint32_t counter_of(const struct t3_context* gpu, const struct t3_torus_rings* rings, uint32_t dimension) {
  return rings->first_counter + dimension * t3_ring_workgroups(gpu);
}

enum t3_status t3_read_torus_epochs(const struct t3_context* gpu, struct t3_torus_rings* rings) {
  for (uint32_t d = 0; d < t3_torus_dimensions(rings->dimensions); ++d)
    T3_TRY(t3_read_epoch(gpu, counter_of(gpu, rings, d), &rings->epochs[d]));
  return T3_OK;
}

static struct t3_collective collective_of(const struct t3_torus_rings* rings,
                                          const struct t3_collective_buffer* buffer) {
  struct t3_collective c = {.op = T3_ALL_REDUCE,
                            .algorithm = T3_TORUS_RINGS,
                            .element = buffer->element,
                            .elements = buffer->elements,
                            .output = buffer->output};
  for (uint32_t d = 0; d < T3_TORUS_DIMENSIONS_MAX; ++d) c.dimensions[d] = rings->dimensions[d];
  return c;
}

static enum t3_status queue(struct t3_context* gpu, struct t3_torus_rings* rings,
                            const struct t3_collective_buffer* buffer, enum t3_collective_op op, uint32_t dimension) {
  const struct t3_collective c = collective_of(rings, buffer);
  const struct t3_ring ring = t3_ring_along(&c, dimension);
  const struct t3_kernel_options options = {.workgroups = t3_ring_workgroups(gpu)};
  struct t3_collective_arguments arguments = t3_arguments_for(buffer);
  arguments.signal_epoch = rings->epochs[dimension];
  arguments.signal_base = counter_of(gpu, rings, dimension);
  arguments.gpu = t3_gpu(gpu);
  arguments.gpus = t3_gpus(gpu);
  arguments.ring_stride = ring.stride;
  arguments.ring_length = ring.length;
  arguments.op = (uint8_t)op;
  arguments.algorithm = T3_RING;
  if (op == T3_REDUCE_SCATTER) arguments.staging = rings->staging + t3_torus_staging_bytes(&c, dimension, t3_gpus(gpu));
  unsigned char bytes[T3_COLLECTIVE_ARGUMENTS_BYTES];
  t3_collective_arguments_to(&arguments, bytes);
  rings->epochs[dimension] += ring.length - 1;
  return t3_run_kernel(gpu, "collective", bytes, sizeof bytes, options);
}

enum t3_status t3_torus_reduce_scatter(struct t3_context* gpu, struct t3_torus_rings* rings,
                                       const struct t3_collective_buffer* buffer) {
  for (uint32_t d = t3_torus_dimensions(rings->dimensions); d-- > 0;)
    T3_TRY(queue(gpu, rings, buffer, T3_REDUCE_SCATTER, d));
  return T3_OK;
}

enum t3_status t3_torus_all_gather(struct t3_context* gpu, struct t3_torus_rings* rings,
                                   const struct t3_collective_buffer* buffer) {
  for (uint32_t d = 0; d < t3_torus_dimensions(rings->dimensions); ++d)
    T3_TRY(queue(gpu, rings, buffer, T3_ALL_GATHER, d));
  return T3_OK;
}

enum t3_status t3_torus_all_reduce(struct t3_context* gpu, struct t3_torus_rings* rings,
                                   const struct t3_collective_buffer* buffer) {
  T3_TRY(t3_torus_reduce_scatter(gpu, rings, buffer));
  return t3_torus_all_gather(gpu, rings, buffer);
}
