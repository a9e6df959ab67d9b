/* A GEMV and the all-reduce of the results in one persistent kernel (Punniyamurthy et al., Optimizing Distributed ML
 * Communication with Fused Computation-Collective Operations, SC 2024): two-phase direct.
 *
 * Workgroup w of each GPU has the same slices of each owner: those whose number among the owner's is w, w + W, ... It
 * computes those of other GPUs first and stores each result straight to its owner. When the last result for an owner
 * has left, the workgroup sets its flag there, which cannot overtake the results. It waits for the flags of the others'
 * workgroups w, adds their results to its own and stores the sums to all. It ends when all have signalled that their
 * sums are here. */
#include "t3/arguments/gemv_all_reduce.h"
#include "kernels/workgroup_flags.h"
#include "slices.h"
#include "t3/address.h"
#include "t3/grid.h"

enum { RESULTS_HERE, SUMS_HERE, KINDS = T3_GEMV_FLAG_KINDS };

static struct t3_product_by_slices product_of(const struct t3_gemv_all_reduce_arguments* p) {
  return (struct t3_product_by_slices){
      .gemv = {.rows = p->rows, .columns = p->columns, .slice = p->slice, .element = (enum t3_element)p->element},
      .matrix = p->matrix,
      .vector = p->vector};
}

/* The slices that a GPU owns. */
struct owned {
  uint64_t first, count;
};

static struct owned owned_by(const struct t3_gemv_all_reduce_arguments* p, const struct t3_gemv* g, uint32_t gpu) {
  const uint32_t slices = t3_gemv_slices(g);
  return (struct owned){t3_flat_chunk_begin(slices, gpu, p->gpus), t3_flat_chunk_size(slices, gpu, p->gpus)};
}

static uint64_t slice_bytes(const struct t3_gemv* g) { return (uint64_t)g->slice * t3_element_bytes(g->element); }

/* Returns the address of a GPU's results for slice `index` of an owner, as a local address of the owner. */
static uint64_t partial_of(const struct t3_gemv_all_reduce_arguments* p, const struct t3_gemv* g, uint32_t from,
                           uint64_t index) {
  return p->partial + from * t3_gemv_slot_bytes(g, p->gpus) + index * slice_bytes(g);
}

static struct t3_peer_flags flags_of(const struct t3_gemv_all_reduce_arguments* p) {
  return (struct t3_peer_flags){p->ready, p->gpu, p->gpus};
}

static void compute_for(struct t3_wave* wave, const struct t3_product_by_slices* product, uint32_t owner) {
  const struct t3_gemv_all_reduce_arguments* p = wave->arguments;
  const struct t3_gemv* g = &product->gemv;
  const struct t3_peer_flags flags = flags_of(p);
  const struct owned owned = owned_by(p, g, owner);
  t3_trace_span(wave, "slices of another GPU", owner);
  for (uint64_t i = wave->workgroup; i < owned.count; i += wave->workgroups) {
    t3_multiply_slice(wave, product, owned.first + i);
    t3_store(wave, t3_slice_tile(g, owned.first + i, T3_SLICE_SUMS),
             t3_slice_access(g, owned.first + i, t3_on_gpu(owner, partial_of(p, g, p->gpu, i))));
  }
  t3_tell_peer(wave, &flags, RESULTS_HERE, owner);
}

/* Slice i of those that this GPU owns. */
static void reduce(struct t3_wave* wave, const struct t3_gemv* g, uint64_t slice, uint64_t i) {
  const struct t3_gemv_all_reduce_arguments* p = wave->arguments;
  const struct t3_tile sums = t3_slice_tile(g, slice, T3_SLICE_SUMS);
  for (uint32_t first = 1; first < p->gpus; first += T3_SLICE_ADDENDS) {
    const uint32_t count = t3_smaller(T3_SLICE_ADDENDS, p->gpus - first);
    for (uint32_t j = 0; j < count; ++j)
      t3_load(wave, t3_slice_tile(g, slice, T3_SLICE_FIRST_ADDEND + j),
              t3_slice_access(g, slice, partial_of(p, g, (p->gpu + first + j) % p->gpus, i)));
    for (uint32_t j = 0; j < count; ++j) t3_add(wave, sums, t3_slice_tile(g, slice, T3_SLICE_FIRST_ADDEND + j));
  }
  for (uint32_t j = 1; j <= p->gpus; ++j)
    t3_store(wave, sums, t3_slice_access(g, slice, t3_on_gpu((p->gpu + j) % p->gpus, p->out) + slice * slice_bytes(g)));
}

/* Others wait for this workgroup's sums even if it has none. */
static bool compute_own(struct t3_wave* wave, const struct t3_product_by_slices* product) {
  const struct t3_gemv_all_reduce_arguments* p = wave->arguments;
  const struct t3_peer_flags flags = flags_of(p);
  const struct owned owned = owned_by(p, &product->gemv, p->gpu);
  t3_trace_span(wave, "own slices", p->gpu);
  for (uint64_t i = wave->workgroup; i < owned.count; i += wave->workgroups) {
    t3_multiply_slice(wave, product, owned.first + i);
    if (!t3_await_peers(wave, &flags, RESULTS_HERE)) return false;
    reduce(wave, &product->gemv, owned.first + i, i);
  }
  for (uint32_t j = 1; j < p->gpus; ++j) t3_tell_peer(wave, &flags, SUMS_HERE, (p->gpu + j) % p->gpus);
  return true;
}

static void run(struct t3_wave* wave) {
  const struct t3_gemv_all_reduce_arguments* p = wave->arguments;
  const struct t3_product_by_slices product = product_of(p);
  const struct t3_peer_flags flags = flags_of(p);
  for (uint32_t i = 1; i < p->gpus; ++i) compute_for(wave, &product, (p->gpu + i) % p->gpus);
  if (!compute_own(wave, &product)) return;
  t3_trace_span(wave, "awaits sums", p->gpu);
  t3_fence(wave);
  t3_await_peers(wave, &flags, SUMS_HERE);
}

enum { OUT, PARTIAL, READY, BUFFERS };

static void buffers_of(const struct t3_gemv_all_reduce_arguments* p, uint32_t workgroups, struct t3_matrices* all) {
  const struct t3_product_by_slices product = product_of(p);
  all[OUT] = t3_piece("out", p->out, t3_gemv_out_bytes(&product.gemv));
  all[PARTIAL] = t3_piece("partial", p->partial, t3_gemv_partial_bytes(&product.gemv, p->gpus));
  all[READY] = t3_piece("ready", p->ready, t3_all_peer_flag_bytes(p->gpus, workgroups, KINDS));
}

static bool check_buffers(struct t3_check* check, const struct t3_gemv_all_reduce_arguments* p, uint32_t workgroups) {
  const struct t3_product_by_slices product = product_of(p);
  struct t3_matrices all[BUFFERS];
  buffers_of(p, workgroups, all);
  for (const struct t3_matrices* m = all; m < all + BUFFERS; ++m) {
    if (!t3_check_piece(check, m) || !t3_check_slices_beside(check, &product, m)) return false;
    for (const struct t3_matrices* other = all; other < m; ++other)
      if (!t3_check_overlap(check, other, m)) return false;
  }
  return true;
}

static bool check_numbers(struct t3_check* check, const struct t3_gemv_all_reduce_arguments* p, uint32_t workgroups) {
  if (!t3_check_place(check, p->gpu, p->gpus)) return false;
  if (workgroups == 0)
    return t3_refuse(check, T3_BAD_PACKET, "0 workgroups: 1 or more, as many as on the other GPUs, expected");
  return true;
}

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_gemv_all_reduce_arguments* p = launch->arguments;
  const struct t3_product_by_slices product = product_of(p);
  return t3_check_slices(check, &product) && check_numbers(check, p, launch->workgroups) &&
         check_buffers(check, p, launch->workgroups) && t3_check_reach(check, p->gpu, p->gpus, "out", p->out);
}

static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_gemv_all_reduce_arguments* p = launch->arguments;
  const struct t3_product_by_slices product = product_of(p);
  struct t3_matrices all[BUFFERS];
  buffers_of(p, launch->workgroups, all);
  struct t3_plan plan = {.name = "gemv with all-reduce",
                         .workgroups = launch->workgroups,
                         .together = true,
                         .written = {t3_range_of(&all[OUT]), t3_range_of(&all[PARTIAL])},
                         .written_count = 2,
                         .sent = {t3_local_range(all[OUT]), t3_local_range(all[PARTIAL])},
                         .sent_count = 2,
                         .shared = {t3_local_range(all[READY])},
                         .shared_count = 1,
                         .awaits_arrivals = true,
                         .stores_here = true};
  t3_plan_slices(&plan, device, &product);
  return plan;
}

const struct t3_kernel t3_gemv_all_reduce_kernel = {.name = "gemv_all_reduce",
                                                    .arguments = T3_GEMV_ALL_REDUCE_ARGUMENTS,
                                                    .reads = "gemv_read",
                                                    .writes = "gemv_write",
                                                    .check = check,
                                                    .plan = plan,
                                                    .run = run};
