/* The kernels of embedding tables, as programs queue them. */
#ifndef T3_PROGRAMS_EMBEDDING_KERNELS_H
#define T3_PROGRAMS_EMBEDDING_KERNELS_H

#include "t3/t3.h"
#include "workloads/embedding/embedding_layout.h"

/* The addresses of the kernels' operands and results on a GPU; 0: there is none. */
struct t3_embedding_buffers {
  uint64_t tables, indices, offsets;
  uint64_t pooled;      /* of its tables, all samples */
  uint64_t out;         /* of its samples, all tables */
  uint64_t received;    /* what NICs have brought */
  uint64_t done, ready; /* of a persistent kernel's slices */
  uint64_t arguments;   /* of a persistent kernel */
  uint64_t staging;     /* for slices that a NIC sends */
  uint64_t heap_table, heap_table_bytes;
  uint32_t contexts; /* of that heap */
};

/* Tables and what says which of their rows are pooled. */
enum t3_status t3_allocate_tables(struct t3_context* gpu, const struct t3_embedding* e, struct t3_embedding_buffers* b);
/* Counters, flags and room for the arguments of a persistent kernel; `done` and `ready` may be there already. */
enum t3_status t3_prepare_slices(struct t3_context* gpu, const struct t3_embedding* e, struct t3_embedding_buffers* b);

/* One table, into `pooled` or, where there is none, to the samples' owners. */
enum t3_status t3_queue_pooling(struct t3_context* gpu, const struct t3_embedding* e,
                                const struct t3_embedding_buffers* b, uint32_t table);
/* All tables, in one persistent kernel that sends each slice to its owner. */
enum t3_status t3_queue_fused_pooling(struct t3_context* gpu, const struct t3_embedding* e,
                                      const struct t3_embedding_buffers* b);

struct t3_exchange_route {
  uint64_t pooled, received, out; /* as t3_embedding_buffers has them */
  bool to_tables;                 /* else to the samples' owners */
  uint32_t counter;               /* the first of the kernel's, one for each workgroup */
  uint64_t epoch;                 /* which they all have counted so far; afterwards gpus - 1 more */
};
enum t3_status t3_queue_exchange(struct t3_context* gpu, const struct t3_embedding* e,
                                 const struct t3_exchange_route* route);

/* The buffers of the backward pass. */
struct t3_update_buffers {
  uint64_t gradients;        /* of all that this GPU has pooled */
  uint64_t ready, arguments; /* of a persistent kernel: a flag for each sample */
};
enum t3_status t3_prepare_update(struct t3_context* gpu, const struct t3_embedding* e, bool fused,
                                 struct t3_update_buffers* u);
/* One table, by the gradients that have come. */
enum t3_status t3_queue_update(struct t3_context* gpu, const struct t3_embedding* e,
                               const struct t3_embedding_buffers* b, const struct t3_update_buffers* u, uint32_t table);
/* All tables, in one persistent kernel that sends the gradients of this GPU's samples, `out`, to those that have the
 * tables. */
enum t3_status t3_queue_fused_update(struct t3_context* gpu, const struct t3_embedding* e,
                                     const struct t3_embedding_buffers* b, const struct t3_update_buffers* u,
                                     uint64_t out);

#endif
