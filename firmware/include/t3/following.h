/* Operations near memory on the sums of a chunk, as soon as the Tracker has counted a tile complete and before it goes
 * on (T3, ASPLOS 2024, section 7.6). */
#ifndef T3_FOLLOWING_H
#define T3_FOLLOWING_H

#include "t3/t3.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Adam's step (t3/adam_step.h) with the sums as gradients, which stay. All are laid out as the output. */
struct t3_adam {
  const struct t3_matrix *means, *squares, *weights; /* read and written */
  float rate;
};

/* sum = dropout(sum + bias) + residual, rounded once to the element type. What is absent is left out. */
struct t3_following {
  const struct t3_matrix* bias;     /* a row of the output's columns, or NULL */
  const struct t3_matrix* residual; /* a matrix laid out as the output, or NULL */
  float keep;                       /* probability of dropout to keep an element, above 0; 0 or 1: no dropout */
  uint32_t seed;                    /* what dropout keeps is a function of seed and place (t3/dropout_mask.h) */
  const struct t3_adam* adam;       /* instead of all others, or NULL */
};

/* The unit does this with the tiles of the chunk that a dma_map will count, and with those of no other chunk. Its
 * operands are read from memory, past the cache. T3_INVALID_ARGUMENT when nothing is to be done, or an operand does not
 * fit the output; T3_UNALIGNED for addresses or rows off multiples of 32; T3_BAD_ADDRESS when one is in no memory of
 * this GPU. */
enum t3_status t3_follow(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk,
                         struct t3_following following);
/* Nothing follows any more. */
enum t3_status t3_stop_following(struct t3_context* context);

#ifdef __cplusplus
}
#endif

#endif
