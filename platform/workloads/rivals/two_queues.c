/* The usual way: a library's collective kernels in a second queue. A piece's collective begins when its GEMM has ended,
 * beside the GEMM of the next piece. Public descriptions: NCCL's documentation of streams and of channels;
 * Megatron-LM's pipelines of micro-batches. */
#include "workloads/rivals/rival_steps.h"

enum { PIECES_MAX = 64 };

struct two_queues {
  struct t3_rival_run r;
  struct t3_flat_collective collectives[PIECES_MAX];
  struct t3_event computed[PIECES_MAX];
};

static struct t3_row_run piece_of(const struct two_queues* t, uint32_t piece) {
  const struct t3_row_run all = {0, t->r.gemm.m};
  return t3_part_of_rows(all, piece, t->r.rival.pieces);
}

/* The rows of a piece with what lies between them are one flat buffer. */
static struct t3_collective collective_of(const struct two_queues* t, uint32_t piece) {
  const struct t3_gemm_workload* w = &t->r.gemm;
  const struct t3_matrix* m = &t->r.tensors.out.matrix;
  struct t3_collective c = {.op = T3_ALL_REDUCE,
                            .algorithm = (enum t3_collective_algorithm)w->algorithm,
                            .element = m->element,
                            .elements = piece_of(t, piece).count * (m->row_stride / t3_element_bytes(m->element)),
                            .gpus_per_node = w->algorithm == T3_HIERARCHICAL ? w->gpus_per_node : 0,
                            .gpus_per_row = w->gpus_per_row};
  for (uint32_t d = 0; d < T3_TORUS_DIMENSIONS_MAX; ++d) c.dimensions[d] = w->dimensions[d];
  return c;
}

static bool is_in_network(const struct two_queues* t) { return t->r.gemm.algorithm == T3_IN_NETWORK; }

/* A switch adds what memories hold, not caches. */
static enum t3_status set_up(struct t3_context* gpu, struct two_queues* t) {
  T3_TRY(t3_prepare_rival(gpu, &t->r, is_in_network(t) ? T3_UNCACHED : T3_CACHED));
  T3_TRY(t3_open_second_queue(gpu, &t->r));
  if (t3_sets_units_apart(&t->r))
    T3_TRY(t3_set_ring_workgroups(gpu,
                                  (uint32_t)t3_at_most(t3_ring_workgroups(gpu), t->r.rival.communication_workgroups)));
  for (uint32_t piece = 0; piece < t->r.rival.pieces; ++piece) {
    struct t3_flat_collective* flat = &t->collectives[piece];
    flat->collective = collective_of(t, piece);
    flat->out = t3_product_of_rows(&t->r, piece_of(t, piece)).out.matrix.address;
    T3_TRY(t3_fit_flat_counters(gpu, &flat->collective, 0));
    T3_TRY(t3_prepare_flat(gpu, flat));
  }
  return t3_barrier(gpu);
}

static enum t3_status queue_collective(struct t3_context* gpu, struct two_queues* t, uint32_t piece) {
  struct t3_flat_collective* flat = &t->collectives[piece];
  T3_TRY(t3_queue_wait_event(gpu, t->r.communication_queue, &t->computed[piece]));
  if (is_in_network(t)) {
    T3_TRY(t3_event_wait(gpu, &t->computed[piece], T3_FOREVER));
    T3_TRY(t3_barrier(gpu));
  }
  T3_TRY(t3_use_queue(gpu, t->r.communication_queue));
  T3_TRY(t3_queue_flat(gpu, flat, T3_REDUCE_SCATTER, 0));
  T3_TRY(t3_queue_flat(gpu, flat, T3_ALL_GATHER, 1));
  return t3_use_queue(gpu, 0);
}

/* Every piece adds as many signals to the counters as the first one. The GPUs meet before and after they are read, so
 * that none of the next piece is there yet. */
static enum t3_status advance_epochs(struct t3_context* gpu, struct two_queues* t) {
  struct t3_flat_collective *first = &t->collectives[0], now = *first;
  T3_TRY(t3_wait_queue(gpu, t->r.communication_queue));
  T3_TRY(t3_barrier(gpu));
  T3_TRY(t3_read_flat_epochs(gpu, &now));
  T3_TRY(t3_barrier(gpu));
  for (uint32_t piece = 1; piece < t->r.rival.pieces; ++piece)
    for (uint32_t kernel = 0; kernel < T3_FLAT_KERNELS; ++kernel)
      for (uint32_t round = 0; round < T3_FLAT_ROUNDS; ++round)
        t->collectives[piece].epochs[kernel][round] =
            first->epochs[kernel][round] + piece * (now.epochs[kernel][round] - first->epochs[kernel][round]);
  return T3_OK;
}

static enum t3_status run_pieces(struct t3_context* gpu, struct two_queues* t) {
  const uint32_t pieces = t->r.rival.pieces;
  t3_begin(gpu, "gemm");
  for (uint32_t piece = 0; piece < pieces; ++piece) {
    T3_TRY(t3_launch_rows_gemm(gpu, &t->r, piece_of(t, piece), t->r.tensors.out.matrix.address));
    T3_TRY(t3_event_record(gpu, t->r.compute_queue, &t->computed[piece]));
  }
  for (uint32_t piece = 0; piece < pieces; ++piece) {
    T3_TRY(queue_collective(gpu, t, piece));
    if (piece == 0 && pieces > 1) T3_TRY(advance_epochs(gpu, t));
  }
  T3_TRY(t3_wait_queue(gpu, t->r.compute_queue));
  t3_end(gpu, "gemm");
  return t3_wait_queue(gpu, t->r.communication_queue);
}

enum t3_status t3_run_two_queues(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context context = {0};
  struct two_queues t = {.collectives = {{.out = 0}}};
  T3_TRY(t3_rival_run_of(run, &t.r));
  T3_TRY(t3_set_up(&context, hal, run));
  t3_begin(&context, "setup");
  T3_TRY(set_up(&context, &t));
  t3_end(&context, "setup");

  t3_begin(&context, "total");
  T3_TRY(run_pieces(&context, &t));
  t3_end(&context, "total");
  T3_TRY(t3_hand_over(&context));
  return t3_close(&context);
}
