/* One collective operation by itself. An operation of two parts is two kernels, one behind the other, by a torus's
 * rings two for each dimension. */
#include "t3/arguments/collective.h"

#include "t3/collective_staging.h"
#include "workloads/collective/collective_layout.h"
#include "workloads/collective/torus_rings.h"
#include "workloads/shared/program_steps.h"

enum { KERNELS = 2, ROUNDS = 2 };

struct buffers {
  uint64_t out, in, staging;        /* 0: there is none */
  uint64_t epochs[KERNELS][ROUNDS]; /* of each kernel's counters, for signals of its own node and of others */
};

static enum t3_status allocate(struct t3_context* gpu, uint64_t bytes, uint64_t* address) {
  return bytes == 0 ? T3_OK : t3_malloc(gpu, bytes, address);
}

/* The same on all GPUs, since they send to each other's: what an all-to-all's GPU 0 receives is the most. */
static enum t3_status set_up(struct t3_context* gpu, const struct t3_collective* c, struct buffers* buffers) {
  const uint32_t element = t3_element_bytes(c->element);
  *buffers = (struct buffers){0};
  T3_TRY(allocate(gpu, t3_received_elements(c, 0, t3_gpus(gpu)) * element, &buffers->out));
  if (t3_receives_apart(c)) T3_TRY(allocate(gpu, c->elements * element, &buffers->in));
  T3_TRY(allocate(gpu, t3_staging_bytes(c, t3_gpus(gpu)), &buffers->staging));
  t3_publish_rows(gpu, "out", buffers->out, 1, t3_received_elements(c, t3_gpu(gpu), t3_gpus(gpu)), c->element);
  if (t3_receives_apart(c)) t3_publish_rows(gpu, "in", buffers->in, 1, c->elements, c->element);
  return T3_OK;
}

static struct t3_collective part_of(const struct t3_collective* c, enum t3_collective_op op) {
  struct t3_collective part = *c;
  part.op = op;
  return part;
}

/* Counters of a kernel's workgroup: as many as the part with the most. */
static uint32_t rounds_of(const struct t3_collective* c) {
  enum t3_collective_op parts[KERNELS];
  const uint32_t count = t3_collective_parts(c, parts);
  for (uint32_t i = 0; i < count; ++i) {
    const struct t3_collective part = part_of(c, parts[i]);
    if (t3_has_second_counters(&part)) return ROUNDS;
  }
  return 1;
}

/* Those of the first kernel at the end. */
static uint32_t counters_of(const struct t3_context* gpu, const struct t3_collective* c, uint32_t kernel) {
  return t3_first_counter(gpu, (kernel + 1) * rounds_of(c));
}

/* All of a kernel's counters of a round are the same. */
static enum t3_status read_epochs(const struct t3_context* gpu, const struct t3_collective* c,
                                  struct buffers* buffers) {
  for (uint32_t kernel = 0; kernel < KERNELS; ++kernel)
    for (uint32_t round = 0; round < rounds_of(c); ++round)
      T3_TRY(t3_read_epoch(gpu, counters_of(gpu, c, kernel) + round * t3_ring_workgroups(gpu),
                           &buffers->epochs[kernel][round]));
  return T3_OK;
}

static enum t3_status run_kernel(struct t3_context* gpu, const struct t3_collective* c, const struct buffers* buffers,
                                 enum t3_collective_op op, uint32_t kernel) {
  const struct t3_collective part = part_of(c, op);
  const struct t3_kernel_options options = {.workgroups = t3_ring_workgroups(gpu)};
  const struct t3_collective_arguments arguments = {
      .out = buffers->out,
      .in = t3_receives_apart(&part) ? buffers->in : 0,
      .staging = t3_staging_bytes(&part, t3_gpus(gpu)) == 0 ? 0 : buffers->staging,
      .elements = c->elements,
      .signal_epoch = buffers->epochs[kernel][0],
      .between_epoch = buffers->epochs[kernel][1],
      .signal_base = counters_of(gpu, c, kernel),
      .gpu = t3_gpu(gpu),
      .gpus = t3_gpus(gpu),
      .gpus_per_node = c->gpus_per_node,
      .gpus_per_row = c->gpus_per_row,
      .op = (uint8_t)op,
      .algorithm = (uint8_t)c->algorithm,
      .element = (uint8_t)c->element};
  unsigned char bytes[T3_COLLECTIVE_ARGUMENTS_BYTES];
  t3_collective_arguments_to(&arguments, bytes);
  return t3_run_kernel(gpu, "collective", bytes, sizeof bytes, options);
}

/* The second kernel has counters of its own, since GPUs that have all they need begin it while others have not. */
static enum t3_status run_kernels(struct t3_context* gpu, const struct t3_collective* c,
                                  const struct buffers* buffers) {
  enum t3_collective_op parts[KERNELS];
  const uint32_t count = t3_collective_parts(c, parts);
  for (uint32_t i = 0; i < count; ++i) T3_TRY(run_kernel(gpu, c, buffers, parts[i], i));
  return t3_wait_kernels(gpu);
}

static enum t3_status run_by_rings(struct t3_context* gpu, const struct t3_collective* c, struct t3_torus_rings* rings,
                                   const struct buffers* buffers) {
  const struct t3_flat_buffer out = {.address = buffers->out, .elements = c->elements, .element = c->element};
  enum t3_collective_op parts[KERNELS];
  const uint32_t count = t3_collective_parts(c, parts);
  for (uint32_t i = 0; i < count; ++i)
    T3_TRY(t3_traits_of(parts[i])->adds ? t3_torus_reduce_scatter(gpu, rings, &out)
                                        : t3_torus_all_gather(gpu, rings, &out));
  return t3_wait_kernels(gpu);
}

/* Of each workgroup. */
static uint32_t all_counters(const struct t3_collective* c) {
  return c->algorithm == T3_TORUS_RINGS ? t3_torus_dimensions(c->dimensions) : KERNELS * rounds_of(c);
}

static struct t3_torus_rings rings_of(const struct t3_context* gpu, const struct t3_collective* c,
                                      const struct buffers* buffers) {
  struct t3_torus_rings rings = {.first_counter = t3_first_counter(gpu, all_counters(c)), .staging = buffers->staging};
  for (uint32_t d = 0; d < T3_TORUS_DIMENSIONS_MAX; ++d) rings.dimensions[d] = c->dimensions[d];
  return rings;
}

enum t3_status t3_run_collective(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context context = {0};
  struct t3_collective_workload workload;
  T3_TRY(t3_collective_workload_of(run, &workload));
  const struct t3_collective collective = t3_collective_of_workload(&workload), *c = &collective;
  const bool by_rings = c->algorithm == T3_TORUS_RINGS;
  struct buffers buffers;
  struct t3_torus_rings rings;
  T3_TRY(t3_set_up(&context, hal, run));
  T3_TRY(t3_set_ring_workgroups(
      &context, (uint32_t)t3_at_most(t3_ring_workgroups(&context), T3_RING_WORKGROUPS_MAX / all_counters(c))));
  t3_begin(&context, "setup");
  T3_TRY(set_up(&context, c, &buffers));
  rings = rings_of(&context, c, &buffers);
  T3_TRY(by_rings ? t3_read_torus_epochs(&context, &rings) : read_epochs(&context, c, &buffers));
  T3_TRY(t3_barrier(&context));
  t3_end(&context, "setup");

  t3_begin(&context, "total");
  t3_begin(&context, "collective");
  T3_TRY(by_rings ? run_by_rings(&context, c, &rings, &buffers) : run_kernels(&context, c, &buffers));
  t3_end(&context, "collective");
  t3_end(&context, "total");
  T3_TRY(t3_hand_over(&context));
  return t3_close(&context);
}
