/* A training pass of a deep learning recommendation model on several GPUs, which share embedding tables
 * (embedding_layout.h) and have the same two multi-layer perceptrons, each for its own samples: what programs and the
 * platform agree on.
 *
 * All layers have `width` inputs and outputs (GPU-initiated overlap, Table 2, says an average). Their gradients are
 * summed over all GPUs in buckets, of as many layers in the order in which they are computed as fit into bucket_bytes,
 * at least one. */
#ifndef T3_WORKLOADS_DLRM_LAYOUT_H
#define T3_WORKLOADS_DLRM_LAYOUT_H

#include "t3/t3.h"
#include "workloads/embedding/embedding_layout.h"

static inline struct t3_tiling t3_dlrm_tiling(const struct t3_dlrm* d) {
  const struct t3_tiling tiling = {d->tile_rows, d->tile_columns, d->wavefronts};
  return tiling;
}
static inline struct t3_tiling t3_dlrm_gradient_tiling(const struct t3_dlrm* d) {
  const struct t3_tiling tiling = {d->gradient_tile_rows, d->gradient_tile_columns, d->wavefronts};
  return tiling;
}

static inline uint32_t t3_dlrm_layers(const struct t3_dlrm* d) { return d->bottom_layers + d->top_layers; }

static inline uint64_t t3_dlrm_row_bytes(const struct t3_dlrm* d, enum t3_element element) {
  return t3_padded(UINT64_C(1) * d->width * t3_element_bytes(element));
}

/* About 4 KiB, as many DRAM accesses for each GPU. */
static inline uint64_t t3_dlrm_shared_row_bytes(uint32_t gpus) {
  const uint64_t least = t3_padded(1) * gpus, most = 4096;
  return least < most ? most / least * least : least;
}

/* A GPU's weights of a layer, or their gradients, in whole rows that GPUs share. */
static inline uint64_t t3_dlrm_layer_bytes(const struct t3_dlrm* d, enum t3_element element, uint32_t gpus) {
  const uint64_t each = t3_dlrm_shared_row_bytes(gpus);
  return (d->width * t3_dlrm_row_bytes(d, element) + each - 1) / each * each;
}

static inline uint32_t t3_dlrm_bucket_layers(const struct t3_dlrm* d, enum t3_element element, uint32_t gpus) {
  const uint64_t fit = d->bucket_bytes / t3_dlrm_layer_bytes(d, element, gpus);
  if (fit >= t3_dlrm_layers(d)) return t3_dlrm_layers(d);
  return fit == 0 ? 1 : 0xFFFFFFFF & fit;
}

#endif
