/* Embedding tables on several GPUs, whose rows are pooled and exchanged: what kernels, programs and the platform
 * agree on beside its arguments.
 *
 * A sample of the global batch has a bag of rows of each table. Every GPU has tables_per_gpu tables and pools their
 * bags of the whole batch; GPU g wants the results of its share of the samples (t3_flat_chunk_begin, earlier GPUs have
 * one more where they are not equal), in a buffer `out` of {its samples, gpus x tables_per_gpu x dimension}. A table is
 * known by the number gpu x tables_per_gpu + table, which is also its place in a row of `out`. */
#ifndef T3_WORKLOADS_EMBEDDING_LAYOUT_H
#define T3_WORKLOADS_EMBEDDING_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "t3/collective.h"
#include "t3/element_bytes.h"
#include "t3/workloads/embedding.h"

enum {
  T3_POOLING_MAX = 256,       /* rows of a bag */
  T3_POOLING_GRID = 1024,     /* workgroups of a pooling kernel, whatever it pools, as PyTorch has them */
  T3_POOLING_WAVEFRONT = 64,  /* elements of a row that a wavefront takes */
  T3_POOLING_WAVEFRONTS = 4,  /* of a workgroup */
  T3_POOLING_INDEX_BYTES = 8, /* of a row's number, and of where a bag's begin: int64 */
  T3_FLAG_BYTES = 8           /* of a slice's flag or counter */
};

/* Rows of a table that are pooled. */
struct t3_bag {
  uint32_t count;
  uint32_t rows[T3_POOLING_MAX];
};

/* The finalizer of SplitMix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, 2014). */
static inline uint64_t t3_embedding_mixed(uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

/* A number from 0 to `most`: round(r most) of an r in [0, 1), so that both ends are half as likely, as in DLRM. */
static inline uint32_t t3_embedding_draw(uint64_t bag, uint64_t position, uint32_t most) {
  const uint64_t r = t3_embedding_mixed(bag + position) >> 32, rounded = (r * most + (UINT64_C(1) << 31)) >> 32;
  return 0xFFFFFFFF & rounded;
}

/* Into its place among the others, if it is not there. */
static inline void t3_embedding_insert(struct t3_bag* bag, uint32_t row) {
  uint32_t place = bag->count;
  while (place > 0 && bag->rows[place - 1] > row) --place;
  if (place > 0 && bag->rows[place - 1] == row) return;
  for (uint32_t i = bag->count; i > place; --i) bag->rows[i] = bag->rows[i - 1];
  bag->rows[place] = row;
  ++bag->count;
}

/* A bag of a sample. Drawn, it is one of DLRM's generator (dlrm_data_pytorch.py, generate_uniform_input_batch): so many
 * draws as a further draw says, at least one, of which each row counts once, in the order of the rows. */
static inline void t3_embedding_bag(const struct t3_embedding* e, uint64_t table, uint64_t sample, struct t3_bag* bag) {
  const uint64_t own = t3_embedding_mixed(t3_embedding_mixed(e->seed + 0x9E3779B97F4A7C15u) + table);
  const uint64_t key = t3_embedding_mixed(own + sample);
  bag->count = 0;
  if (!e->drawn) {
    for (; bag->count < e->pooling; ++bag->count)
      bag->rows[bag->count] = t3_embedding_draw(key, bag->count, e->rows - 1);
    return;
  }
  const uint32_t most = e->rows < e->pooling ? e->rows : e->pooling;
  uint32_t draws = t3_embedding_draw(key, T3_POOLING_MAX, most);
  if (draws == 0) draws = 1;
  for (uint32_t i = 0; i < draws; ++i) t3_embedding_insert(bag, t3_embedding_draw(key, i, e->rows - 1));
}

static inline uint64_t t3_embedding_row_bytes(const struct t3_embedding* e) {
  return UINT64_C(1) * e->dimension * t3_element_bytes(e->element);
}

/* Returns the bytes that a GPU pools of a sample. */
static inline uint64_t t3_embedding_sample_bytes(const struct t3_embedding* e) {
  return e->tables_per_gpu * t3_embedding_row_bytes(e);
}

/* A GPU's tables, one behind the other. */
static inline uint64_t t3_embedding_table_bytes(const struct t3_embedding* e) {
  return UINT64_C(1) * e->tables_per_gpu * e->rows * t3_embedding_row_bytes(e);
}

/* Numbers of a GPU's rows to be pooled, by table and sample: each bag's place has room for as many as any has. */
static inline uint64_t t3_embedding_index_bytes(const struct t3_embedding* e) {
  return UINT64_C(1) * e->tables_per_gpu * e->global_batch * e->pooling * T3_POOLING_INDEX_BYTES;
}

/* Returns the bytes of the bag offsets: the start of each bag in the index list, by table and sample. */
static inline uint64_t t3_embedding_offset_bytes(const struct t3_embedding* e) {
  return UINT64_C(1) * e->tables_per_gpu * e->global_batch * T3_POOLING_INDEX_BYTES;
}

/* A GPU's results of the whole batch, by sample and table. */
static inline uint64_t t3_embedding_pooled_bytes(const struct t3_embedding* e) {
  return e->global_batch * t3_embedding_sample_bytes(e);
}

static inline uint32_t t3_embedding_samples(const struct t3_embedding* e, uint32_t gpu, uint32_t gpus) {
  return e->global_batch / gpus + (gpu < e->global_batch % gpus ? 1 : 0);
}

static inline uint64_t t3_embedding_out_bytes(const struct t3_embedding* e, uint32_t gpu, uint32_t gpus) {
  return t3_embedding_sample_bytes(e) * gpus * t3_embedding_samples(e, gpu, gpus);
}

/* Returns the number of slices of a sample on a GPU; the last one may have fewer tables. */
static inline uint32_t t3_embedding_slices(const struct t3_embedding* e) {
  return (e->tables_per_gpu + e->slice - 1) / e->slice;
}

/* Counters of a GPU's slices, by sample, and flags of what it receives, by sample and GPU: of the first GPU, which has
 * most samples. */
static inline uint64_t t3_embedding_done_bytes(const struct t3_embedding* e) {
  return UINT64_C(1) * e->global_batch * t3_embedding_slices(e) * T3_FLAG_BYTES;
}
static inline uint64_t t3_embedding_ready_bytes(const struct t3_embedding* e, uint32_t gpu, uint32_t gpus) {
  return UINT64_C(1) * t3_embedding_samples(e, gpu, gpus) * gpus * t3_embedding_slices(e) * T3_FLAG_BYTES;
}

/* Registers of a pooling workgroup: of 64 in each lane where eight share a compute unit. Networking from a kernel takes
 * an eighth more, so that seven fit (GPU-initiated overlap, section 3.4: 12.5% less occupancy). */
static inline uint32_t t3_pooling_registers(uint32_t register_bytes, uint32_t workgroups_per_cu) {
  return register_bytes / workgroups_per_cu;
}
static inline uint32_t t3_fused_pooling_registers(uint32_t register_bytes, uint32_t workgroups_per_cu) {
  return t3_pooling_registers(register_bytes, workgroups_per_cu) / 8 * 9;
}

/* Programs of a workgroup: as many bags as its wavefronts pool at a time, each of them 64 elements of a row. */
static inline uint32_t t3_pooling_waves(uint32_t dimension) {
  const uint32_t of_bag = (dimension + T3_POOLING_WAVEFRONT - 1) / T3_POOLING_WAVEFRONT;
  return of_bag >= T3_POOLING_WAVEFRONTS ? 1 : T3_POOLING_WAVEFRONTS / of_bag;
}

/* Workgroups that have a bag to pool, where each wave takes one. More would only poll. */
static inline uint64_t t3_pooling_busy_workgroups(const struct t3_embedding* e) {
  const uint32_t waves = t3_pooling_waves(e->dimension);
  return (UINT64_C(1) * e->global_batch * e->tables_per_gpu + waves - 1) / waves;
}

/* A sample's owner. */
static inline uint32_t t3_embedding_owner(const struct t3_embedding* e, uint32_t sample, uint32_t gpus) {
  const uint32_t size = e->global_batch / gpus, rest = e->global_batch % gpus, of_larger = rest * (size + 1);
  return sample < of_larger ? sample / (size + 1) : rest + (sample - of_larger) / size;
}

/* Returns the offset of a table's result in the owner's `out`, in bytes; `gpu` has the table. */
static inline uint64_t t3_embedding_out_offset(const struct t3_embedding* e, uint32_t sample, uint32_t gpu,
                                               uint32_t table, uint32_t gpus) {
  const uint32_t owner = t3_embedding_owner(e, sample, gpus);
  const uint64_t row = sample - t3_flat_chunk_begin(e->global_batch, owner, gpus);
  return (row * gpus + gpu) * t3_embedding_sample_bytes(e) + table * t3_embedding_row_bytes(e);
}

#endif
