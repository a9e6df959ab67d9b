#include "workloads/collective/flat_collective.h"

#include "workloads/collective/collective_layout.h"
#include "workloads/shared/program_steps.h"

_Static_assert(T3_COLLECTIVE_ARGUMENTS_BYTES <= T3_ARGUMENT_ROOM, "arguments go with the packet");

static struct t3_collective part_of(const struct t3_collective* c, enum t3_collective_op op) {
  struct t3_collective part = *c;
  part.op = op;
  return part;
}

/* Counters of a kernel's workgroup: as many as the part with the most. */
static uint32_t rounds_of(const struct t3_collective* c) {
  enum t3_collective_op parts[T3_FLAT_KERNELS];
  const uint32_t count = t3_collective_parts(c, parts);
  for (uint32_t i = 0; i < count; ++i) {
    const struct t3_collective part = part_of(c, parts[i]);
    if (t3_has_second_counters(&part)) return T3_FLAT_ROUNDS;
  }
  return 1;
}

static bool goes_by_rings(const struct t3_collective* c) { return c->algorithm == T3_TORUS_RINGS; }

/* Returns the counters that each workgroup uses. */
static uint32_t all_counters(const struct t3_collective* c) {
  return goes_by_rings(c) ? t3_torus_dimensions(c->dimensions) : T3_FLAT_KERNELS * rounds_of(c);
}

/* The counters of the first kernel are at the end. */
static uint32_t counters_of(const struct t3_context* gpu, const struct t3_collective* c, uint32_t kernel) {
  return t3_first_counter(gpu, (kernel + 1) * rounds_of(c));
}

enum t3_status t3_fit_flat_counters(struct t3_context* gpu, const struct t3_collective* c, uint32_t others) {
  return t3_set_ring_workgroups(
      gpu, (uint32_t)t3_at_most(t3_ring_workgroups(gpu), T3_RING_WORKGROUPS_MAX / (all_counters(c) + others)));
}

/* All of a kernel's counters of a round are the same. */
enum t3_status t3_read_flat_epochs(const struct t3_context* gpu, struct t3_flat_collective* flat) {
  const struct t3_collective* c = &flat->collective;
  for (uint32_t kernel = 0; kernel < T3_FLAT_KERNELS; ++kernel)
    for (uint32_t round = 0; round < rounds_of(c); ++round)
      T3_TRY(t3_read_epoch(gpu, counters_of(gpu, c, kernel) + round * t3_ring_workgroups(gpu),
                           &flat->epochs[kernel][round]));
  return T3_OK;
}

static enum t3_status prepare_rings(struct t3_context* gpu, struct t3_flat_collective* flat) {
  const struct t3_collective* c = &flat->collective;
  flat->rings =
      (struct t3_torus_rings){.first_counter = t3_first_counter(gpu, all_counters(c)), .staging = flat->staging};
  for (uint32_t d = 0; d < T3_TORUS_DIMENSIONS_MAX; ++d) flat->rings.dimensions[d] = c->dimensions[d];
  return t3_read_torus_epochs(gpu, &flat->rings);
}

enum t3_status t3_prepare_flat(struct t3_context* gpu, struct t3_flat_collective* flat) {
  const uint64_t staging = t3_staging_bytes(&flat->collective, t3_gpus(gpu));
  if (staging != 0) T3_TRY(t3_malloc(gpu, staging, &flat->staging));
  return goes_by_rings(&flat->collective) ? prepare_rings(gpu, flat) : t3_read_flat_epochs(gpu, flat);
}

static struct t3_collective_buffer buffer_of(const struct t3_flat_collective* flat) {
  const struct t3_collective* c = &flat->collective;
  return (struct t3_collective_buffer){
      .address = flat->out, .elements = c->elements, .element = c->element, .output = c->output};
}

/* The second kernel has counters of its own, since GPUs that have all they need begin it while others have not. */
static enum t3_status queue_kernel(struct t3_context* gpu, const struct t3_flat_collective* flat,
                                   enum t3_collective_op op, uint32_t kernel) {
  const struct t3_collective* c = &flat->collective;
  const struct t3_collective part = part_of(c, op);
  const struct t3_kernel_options options = {.workgroups = t3_ring_workgroups(gpu)};
  const struct t3_collective_buffer out = buffer_of(flat);
  struct t3_collective_arguments arguments = t3_arguments_for(&out);
  arguments.in = t3_receives_apart(&part) ? flat->in : 0;
  arguments.staging = t3_staging_bytes(&part, t3_gpus(gpu)) == 0 ? 0 : flat->staging;
  arguments.signal_epoch = flat->epochs[kernel][0];
  arguments.between_epoch = flat->epochs[kernel][1];
  arguments.signal_base = counters_of(gpu, c, kernel);
  arguments.gpu = t3_gpu(gpu);
  arguments.gpus = t3_gpus(gpu);
  arguments.gpus_per_node = c->gpus_per_node;
  arguments.gpus_per_row = (uint16_t)c->gpus_per_row;
  arguments.op = (uint8_t)op;
  arguments.algorithm = (uint8_t)c->algorithm;
  unsigned char bytes[T3_COLLECTIVE_ARGUMENTS_BYTES];
  t3_collective_arguments_to(&arguments, bytes);
  return t3_run_kernel(gpu, "collective", bytes, sizeof bytes, options);
}

enum t3_status t3_queue_flat(struct t3_context* gpu, struct t3_flat_collective* flat, enum t3_collective_op op,
                             uint32_t kernel) {
  const struct t3_collective* c = &flat->collective;
  if (kernel >= T3_FLAT_KERNELS) return T3_INVALID_ARGUMENT;
  if (!goes_by_rings(c)) return queue_kernel(gpu, flat, op, kernel);
  const struct t3_collective_buffer out = buffer_of(flat);
  return t3_traits_of(op)->adds ? t3_torus_reduce_scatter(gpu, &flat->rings, &out)
                                : t3_torus_all_gather(gpu, &flat->rings, &out);
}
