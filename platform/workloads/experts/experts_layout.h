/* Experts on several GPUs: what each has computed of all GPUs' tokens is multiplied, and the results go to the tokens'
 * owners. What kernels, programs and the platform agree on.
 *
 * Every GPU has so many tokens of all GPUs, GPU g's share of them one behind the other (t3_flat_chunk_begin, earlier
 * GPUs have one more where they do not divide). GPU g receives, for each of its tokens, a row from each GPU: its `out`
 * is {its tokens, gpus, hidden}, rows padded to 32 bytes. */
#ifndef T3_WORKLOADS_EXPERTS_LAYOUT_H
#define T3_WORKLOADS_EXPERTS_LAYOUT_H

#include "t3/collective.h"
#include "t3/workloads/experts.h"

static inline uint64_t t3_experts_row_bytes(const struct t3_experts* e) {
  return t3_padded(UINT64_C(1) * e->hidden * t3_element_bytes(e->element));
}

static inline uint32_t t3_experts_tokens(const struct t3_experts* e, uint32_t gpu, uint32_t gpus) {
  return e->tokens / gpus + (gpu < e->tokens % gpus ? 1 : 0);
}

static inline uint64_t t3_experts_out_bytes(const struct t3_experts* e, uint32_t gpu, uint32_t gpus) {
  return t3_experts_row_bytes(e) * gpus * t3_experts_tokens(e, gpu, gpus);
}

/* A token's owner. */
static inline uint32_t t3_experts_owner(const struct t3_experts* e, uint32_t token, uint32_t gpus) {
  const uint32_t size = e->tokens / gpus, rest = e->tokens % gpus, of_larger = rest * (size + 1);
  return token < of_larger ? token / (size + 1) : rest + (token - of_larger) / size;
}

#endif
