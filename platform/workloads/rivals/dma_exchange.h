/* Partial sums that the DMA engine takes to their owners, sums that the owners add in fp32 and sums that the engine
 * takes to all: the common part of decomposed and dma-collective. A GPU owns a part of each piece of the rows. */
#ifndef T3_WORKLOADS_DMA_EXCHANGE_H
#define T3_WORKLOADS_DMA_EXCHANGE_H

#include "workloads/rivals/rival_steps.h"

struct t3_dma_exchange {
  struct t3_rival_run r;
  uint32_t pieces, queues;    /* of the rows; of the DMA engine */
  uint64_t partials;          /* of the output, by this GPU */
  uint64_t slots, slot_bytes; /* by piece and sender */
  uint64_t flags;             /* by piece and sender, a byte each */
};

/* Allocates the buffers beside a, b and out. The caller has set `pieces`, and meets the other GPUs afterwards. */
enum t3_status t3_prepare_exchange(struct t3_context* gpu, struct t3_dma_exchange* x);
struct t3_row_run t3_piece_of_exchange(const struct t3_dma_exchange* x, uint32_t piece);
/* The rows of a piece that a GPU owns. */
struct t3_row_run t3_owned_rows(const struct t3_context* gpu, const struct t3_dma_exchange* x, uint32_t piece,
                                uint32_t owner);
/* Copies these rows of a piece, which the owner owns and this GPU has computed, into its slot. The flag follows the
 * last rows. */
enum t3_status t3_copy_to_owner(struct t3_context* gpu, const struct t3_dma_exchange* x, uint32_t piece, uint32_t owner,
                                struct t3_row_run rows);
/* Queues the kernel that adds the own rows of a piece when all others' flags are set. */
enum t3_status t3_launch_piece_sum(struct t3_context* gpu, const struct t3_dma_exchange* x, uint32_t piece);
/* Copies the sums of a piece to all other GPUs. */
enum t3_status t3_copy_to_all(struct t3_context* gpu, const struct t3_dma_exchange* x, uint32_t piece);
/* All copies have ended, on all GPUs. */
enum t3_status t3_end_exchange(struct t3_context* gpu);

#endif
