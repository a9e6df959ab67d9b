/* An all-gather into the GEMM that consumes it: whose rows are whose, and which workgroups read them. What program and
 * platform agree on.
 *
 * The rows of a are counted in groups, of a row for each wavefront. GPU g has an equal share of the groups, in the
 * order of GPUs. A share has parts, as equal as they can be. */
#ifndef T3_WORKLOADS_GATHER_GEMM_LAYOUT_H
#define T3_WORKLOADS_GATHER_GEMM_LAYOUT_H

#include "t3/grid.h"
#include "t3/workloads/gather_gemm.h"

enum { T3_GATHERED_COLUMNS = 1024 }; /* of a, that are counted and sent together */

struct t3_row_groups {
  uint32_t first, count;
};

static inline uint32_t t3_gathered_groups(const struct t3_gather_gemm* w) { return t3_divide_up(w->m, w->wavefronts); }

static inline uint32_t t3_gathered_tiles_across(const struct t3_gather_gemm* w) {
  return t3_divide_up(w->k, T3_GATHERED_COLUMNS);
}

/* Elements from one row of a to the next. Long rows are padded, so that pieces of at most T3_GATHERED_COLUMNS elements
 * divide them: in such pieces a ring kernel gathers them. */
static inline uint32_t t3_gathered_pitch(const struct t3_gather_gemm* w) {
  const uint32_t bytes = t3_element_bytes(w->element), least = 32 / bytes;
  const uint32_t multiple = w->k <= T3_GATHERED_COLUMNS ? least : w->k <= 16384 ? 128 : 512;
  return t3_divide_up(w->k, multiple) * multiple;
}

static inline uint32_t t3_gathered_piece(const struct t3_gather_gemm* w) {
  const uint32_t pitch = t3_gathered_pitch(w);
  uint32_t pieces = t3_divide_up(pitch, T3_GATHERED_COLUMNS);
  while (pitch % pieces != 0 || pitch / pieces * t3_element_bytes(w->element) % 32 != 0) ++pieces;
  return pitch / pieces;
}

/* Part `part` of `parts` of what the GPU has. */
static inline struct t3_row_groups t3_gathered_part(const struct t3_gather_gemm* w, uint32_t gpu, uint32_t gpus,
                                                    uint32_t part, uint32_t parts) {
  const uint64_t groups = t3_gathered_groups(w), begin = groups * gpu / gpus,
                 count = groups * (gpu + 1u) / gpus - begin;
  const uint64_t first = count * part / parts, end = count * (part + 1u) / parts;
  struct t3_row_groups found = {0, 0};
  found.first = (begin + first) & UINT32_MAX;
  found.count = (end - first) & UINT32_MAX;
  return found;
}

static inline struct t3_row_groups t3_gathered_share(const struct t3_gather_gemm* w, uint32_t gpu, uint32_t gpus) {
  return t3_gathered_part(w, gpu, gpus, 0, 1);
}

/* Rows of a, from groups.first * wavefronts on. */
static inline uint32_t t3_gathered_rows(const struct t3_gather_gemm* w, struct t3_row_groups groups) {
  const uint32_t begin = groups.first * w->wavefronts, end = (groups.first + groups.count) * w->wavefronts;
  return t3_smaller(end, w->m) - t3_smaller(begin, w->m);
}

#endif
