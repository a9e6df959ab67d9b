/* A transfer cut into the blocks that the waves of a collective's workgroups move one at a time. */
#ifndef T3_KERNELS_TRANSFER_BLOCKS_H
#define T3_KERNELS_TRANSFER_BLOCKS_H

#include "kernels/collective/steps.h"
#include "kernels/ring/blocks.h"
#include "t3/device.h"

#ifdef __cplusplus
extern "C" {
#endif

struct t3_transfer_blocks {
  enum t3_element element;
  uint64_t count;
  bool is_output;
  struct t3_chunk_blocks output;
  /* Of a flat buffer, whose transfers are cut where its blocks end, so that all but the first and the last block begin
   * on DRAM accesses. */
  uint64_t lead;  /* bytes from the DRAM access that the first block begins in */
  uint64_t bytes; /* of the transfer, with those */
  uint64_t each;
};

struct t3_transfer_blocks t3_transfer_blocks_of(const struct t3_steps* steps, const struct t3_transfer* transfer,
                                                uint32_t block_bytes);
/* Block `index` of `count`. Its address counts from each of the transfer's addresses. */
struct t3_access t3_transfer_block_of(const struct t3_transfer_blocks* blocks, uint64_t index);

#ifdef __cplusplus
}
#endif

#endif
