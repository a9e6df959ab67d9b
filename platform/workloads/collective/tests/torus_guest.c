#include "torus_guest.h"

#include "t3/collective_staging.h"
#include "workloads/collective/collective_layout.h"
#include "workloads/collective/torus_rings.h"
#include "workloads/shared/program_steps.h"

enum { BUCKETS = 4, LARGEST = 4096 };

static uint64_t elements_of(uint32_t bucket, uint64_t all) {
  const uint64_t first[] = {16, LARGEST, 1000};
  return bucket < BUCKETS - 1 ? first[bucket] : all - 16 - LARGEST - 1000;
}

/* Nothing waits in between. */
static enum t3_status sum_all(struct t3_context* gpu, struct t3_torus_rings* rings, uint64_t out, uint64_t elements) {
  for (uint32_t i = 0; i < BUCKETS; ++i) {
    const struct t3_collective_buffer bucket = {
        .address = out, .elements = elements_of(i, elements), .element = T3_FP32};
    T3_TRY(t3_torus_all_reduce(gpu, rings, &bucket));
    out += bucket.elements * 4;
  }
  return t3_wait_kernels(gpu);
}

static enum t3_status check_counters(const struct t3_context* gpu, const struct t3_torus_rings* rings) {
  for (uint32_t d = 0; d < t3_torus_dimensions(rings->dimensions); ++d) {
    uint64_t counted = 0;
    T3_TRY(t3_read_epoch(gpu, rings->first_counter + d * t3_ring_workgroups(gpu), &counted));
    if (counted != rings->epochs[d] || counted != 2 * BUCKETS * (rings->dimensions[d] - 1)) return T3_MISMATCH;
  }
  return T3_OK;
}

enum t3_status guest_sums_in_buckets(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context gpu = {0};
  struct t3_torus_rings rings = {0};
  struct t3_collective_workload workload;
  T3_TRY(t3_collective_workload_of(run, &workload));
  struct t3_collective largest = t3_collective_of_workload(&workload);
  largest.elements = LARGEST;
  const uint64_t elements = workload.elements;
  uint64_t out = 0;
  T3_TRY(t3_set_up(&gpu, hal, run));
  for (uint32_t d = 0; d < T3_TORUS_DIMENSIONS_MAX; ++d) rings.dimensions[d] = largest.dimensions[d];
  rings.first_counter = t3_first_counter(&gpu, t3_torus_dimensions(rings.dimensions));
  T3_TRY(t3_malloc(&gpu, elements * 4, &out));
  T3_TRY(t3_malloc(&gpu, t3_staging_bytes(&largest, t3_gpus(&gpu)), &rings.staging));
  t3_publish_rows(&gpu, "out", out, 1, elements, T3_FP32);
  T3_TRY(t3_read_torus_epochs(&gpu, &rings));
  T3_TRY(t3_barrier(&gpu));
  t3_begin(&gpu, "total");
  t3_begin(&gpu, "collective");
  hal->wait_ns(hal->platform, 1700 * (t3_gpu(&gpu) % 3)); /* GPUs come at different times */
  T3_TRY(sum_all(&gpu, &rings, out, elements));
  t3_end(&gpu, "collective");
  t3_end(&gpu, "total");
  T3_TRY(check_counters(&gpu, &rings));
  T3_TRY(t3_hand_over(&gpu));
  return t3_close(&gpu);
}
