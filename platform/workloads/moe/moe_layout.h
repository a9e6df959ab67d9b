/* A layer of experts: who has what, and where it lies. What programs, kernels and the platform agree on.
 *
 * Expert e is local expert e % local of GPU e / local. A choice is one of a token's top_k experts; its number is token
 * * top_k + place. An expert has so many slots for the tokens of each GPU: slot i of a GPU has that GPU's i-th token
 * that chose the expert, in the order of tokens. So a sender knows where a row goes without asking.
 *
 * Integers of 32 bits lie in a block of control data, in lines of 64 bytes, which one access reads. They are real in
 * every run. */
#ifndef T3_WORKLOADS_MOE_LAYOUT_H
#define T3_WORKLOADS_MOE_LAYOUT_H

#include "t3/collective.h"
#include "t3/grid.h"
#include "t3/workloads/moe.h"

enum { T3_MOE_WORD = 4, T3_MOE_CELL = 8, T3_MOE_LINE = 64, T3_MOE_LINE_WORDS = 16 };
enum { T3_MOE_GPUS_MAX = T3_MOE_LINE_WORDS, T3_MOE_CHOICES_MAX = 16, T3_MOE_EXPERTS_MAX = 1024 };
enum { T3_MOE_TRACKED_ROWS = 32 }; /* of the sums that the Tracker counts together */

static inline uint64_t t3_moe_lines(uint64_t words) {
  return (words + T3_MOE_LINE_WORDS - 1) / T3_MOE_LINE_WORDS * T3_MOE_LINE;
}

/* Parts in which the kernels with so many workgroups move each list. */
static inline uint32_t t3_moe_parts(const struct t3_moe* e, uint32_t workgroups) {
  return t3_divide_up(workgroups, e->experts);
}

/* Whether no links lead from one GPU to the other: NICs carry the rows. */
static inline bool t3_moe_is_far(const struct t3_moe* e, uint32_t gpu, uint32_t other) {
  return e->gpus_per_node != 0 && gpu / e->gpus_per_node != other / e->gpus_per_node;
}

static inline uint32_t t3_moe_local(const struct t3_moe* e, uint32_t gpus) { return e->experts / gpus; }

/* A row that an expert takes, and one of results. */
static inline uint64_t t3_moe_token_bytes(const struct t3_moe* e) {
  return t3_padded(UINT64_C(1) * e->inner * t3_element_bytes(e->element));
}
static inline uint64_t t3_moe_result_bytes(const struct t3_moe* e) {
  return t3_padded(UINT64_C(1) * e->hidden * t3_element_bytes(e->element));
}

/* The first slot of a list: the rows that a GPU, the source, sends to a local expert. */
static inline uint64_t t3_moe_slot(const struct t3_moe* e, uint32_t expert, uint32_t source, uint32_t gpus) {
  return (UINT64_C(1) * expert * gpus + source) * e->slots;
}
static inline uint64_t t3_moe_slots(const struct t3_moe* e) { return UINT64_C(1) * e->experts * e->slots; }

/* Offsets in the block of control data. */
struct t3_moe_control {
  uint64_t sent;     /* rows that this GPU sends to each expert; behind them the choices that are dropped */
  uint64_t sends;    /* for each expert a list of this GPU's choices, by slot */
  uint64_t lost;     /* the choices that are dropped */
  uint64_t kept;     /* for each token a bit for each choice that is not dropped */
  uint64_t counts;   /* a line for each local expert: rows of each GPU, plus 1; 0: not known yet */
  uint64_t origins;  /* for each local expert and GPU a list of that GPU's choices, by slot */
  uint64_t moved;    /* parts that have left: of each list of the dispatch, then of the combine */
  uint64_t own;      /* lists of this GPU for itself that have come: of the dispatch, then of the combine */
  uint64_t computed; /* tiles of each local expert that are stored */
  uint64_t ends;     /* tiles up to the last one of each local expert, where the program has counted them */
  uint64_t arrived;  /* 8 bytes for each local expert and GPU of another node: rows, and parts in the upper half */
  uint64_t returned; /* 8 bytes: parts of results that other nodes' GPUs have sent back */
  uint64_t bytes;
};

static inline uint64_t t3_moe_list_bytes(const struct t3_moe* e) { return t3_moe_lines(e->slots); }

static inline struct t3_moe_control t3_moe_control_of(const struct t3_moe* e, uint32_t gpus) {
  struct t3_moe_control c;
  c.sent = 0;
  c.sends = c.sent + t3_moe_lines(UINT64_C(1) + e->experts);
  c.lost = c.sends + e->experts * t3_moe_list_bytes(e);
  c.kept = c.lost + t3_moe_lines(UINT64_C(1) * e->tokens * e->top_k);
  c.counts = c.kept + t3_moe_lines(e->tokens);
  c.origins = c.counts + UINT64_C(1) * t3_moe_local(e, gpus) * T3_MOE_LINE;
  c.moved = c.origins + e->experts * t3_moe_list_bytes(e);
  c.own = c.moved + 2 * t3_moe_lines(e->experts);
  c.computed = c.own + T3_MOE_LINE;
  c.ends = c.computed + t3_moe_lines(t3_moe_local(e, gpus));
  c.arrived = c.ends + t3_moe_lines(t3_moe_local(e, gpus));
  c.returned = c.arrived + UINT64_C(1) * e->experts * T3_MOE_CELL;
  c.bytes = c.returned + T3_MOE_LINE;
  return c;
}

/* A local expert's rows are numbered without gaps: those of GPU `gpu` itself come first, then those of the next one. */
static inline uint32_t t3_moe_source(uint32_t gpu, uint32_t place, uint32_t gpus) { return (gpu + place) % gpus; }

/* The product of a local expert that has so many rows. */
static inline struct t3_grid t3_moe_grid(const struct t3_moe* e, uint32_t rows) {
  const struct t3_grid grid = {
      rows, e->hidden, e->tile_rows, e->tile_columns, e->wavefronts, t3_moe_result_bytes(e), e->element};
  return grid;
}

#endif
