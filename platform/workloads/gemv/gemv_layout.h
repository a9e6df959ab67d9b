/* A matrix times a vector on each of several GPUs, whose results are added up, the sum on all of them: what kernels,
 * programs and the platform agree on.
 *
 * Every GPU has a matrix of {rows, columns}, row by row without gaps, and a vector of so many columns. Rows are taken
 * in slices, of which the last one may have fewer. GPU g owns a run of slices (t3_flat_chunk_begin, earlier GPUs have
 * one more where they do not divide), whose results it adds up. */
#ifndef T3_WORKLOADS_GEMV_LAYOUT_H
#define T3_WORKLOADS_GEMV_LAYOUT_H

#include "t3/collective.h"
#include "t3/peer_flags.h"
#include "t3/workloads/gemv.h"

enum { T3_GEMV_FLAG_KINDS = 2 /* results have come, sums have come */ };

static inline uint64_t t3_gemv_matrix_bytes(const struct t3_gemv* g) {
  return UINT64_C(1) * g->rows * g->columns * t3_element_bytes(g->element);
}
static inline uint64_t t3_gemv_vector_bytes(const struct t3_gemv* g) {
  return UINT64_C(1) * g->columns * t3_element_bytes(g->element);
}
static inline uint64_t t3_gemv_out_bytes(const struct t3_gemv* g) {
  return UINT64_C(1) * g->rows * t3_element_bytes(g->element);
}

static inline uint32_t t3_gemv_slices(const struct t3_gemv* g) { return (g->rows - 1) / g->slice + 1; }

/* Workgroups of a kernel that has so many slices to compute for each of its GPUs. */
static inline uint32_t t3_gemv_workgroups(const struct t3_gemv* g, uint64_t slices) {
  if (slices >= g->workgroups) return g->workgroups;
  return slices & UINT32_MAX;
}

/* Returns the slices of the GPU that owns most. */
static inline uint64_t t3_gemv_slices_owned(const struct t3_gemv* g, uint32_t gpus) {
  return t3_flat_chunk_size(t3_gemv_slices(g), 0, gpus);
}

/* Results that one GPU sends to an owner, and those of all, by GPU. */
static inline uint64_t t3_gemv_slot_bytes(const struct t3_gemv* g, uint32_t gpus) {
  return t3_padded(t3_gemv_slices_owned(g, gpus) * g->slice * t3_element_bytes(g->element));
}
static inline uint64_t t3_gemv_partial_bytes(const struct t3_gemv* g, uint32_t gpus) {
  return gpus * t3_gemv_slot_bytes(g, gpus);
}

#endif
