#include "ring_steps.h"

static uint32_t place_in(struct t3_ring ring, uint32_t gpu) { return gpu / ring.stride % ring.length; }

/* The GPU so many places further on in this one's ring, up to a round. */
static uint32_t member(const struct t3_steps* s, uint32_t distance) {
  const uint32_t gpu = t3_own_gpu(s), place = place_in(s->ring, gpu), length = s->ring.length;
  const uint32_t there = s->other_way ? place + length - distance % length : place + distance;
  return gpu - place * s->ring.stride + there % length * s->ring.stride;
}

uint32_t t3_ring_steps(const struct t3_steps* s) { return s->ring.length; }

uint32_t t3_previous_gpu(const struct t3_steps* s) { return member(s, s->ring.length - 1); }

struct t3_step t3_step_of_ring(const struct t3_steps* s, uint32_t step) {
  const bool is_last = step + 1 == s->ring.length;
  return (struct t3_step){
      .awaited = step, .transfers = is_last ? 0 : 1, .tells = is_last ? T3_TELLS_NOBODY : T3_TELLS_PREVIOUS};
}

struct t3_transfer t3_copy_of_range(const struct t3_steps* s, uint32_t distance) {
  const uint32_t first = member(s, distance) / s->ring.stride * s->ring.stride;
  struct t3_transfer transfer = t3_copy_of_chunks(s, first, s->ring.stride);
  transfer.to = t3_previous_gpu(s);
  return transfer;
}
