/* Collectives by the DMA engine beside the GEMM: the rows are cut in pieces, and each piece's partial sums go to all
 * owners at once while the next piece is computed. With one piece nothing overlaps but the engine's queues. Public
 * descriptions: ConCCL (Agrawal et al., ISPASS 2025), FiCCO (arXiv:2512.10236). */
#include "workloads/rivals/dma_exchange.h"

enum { PIECES_MAX = 64 };

/* The peers' slots of a piece are free: each piece has its own. */
static enum t3_status exchange(struct t3_context* gpu, const struct t3_dma_exchange* x, uint32_t piece) {
  for (uint32_t i = 1; i < t3_gpus(gpu); ++i) {
    const uint32_t owner = (t3_gpu(gpu) + i) % t3_gpus(gpu);
    T3_TRY(t3_copy_to_owner(gpu, x, piece, owner, t3_owned_rows(gpu, x, piece, owner)));
  }
  return t3_launch_piece_sum(gpu, x, piece);
}

/* A piece's sums go to all when the next piece's partial sums are on their way. */
static enum t3_status gather(struct t3_context* gpu, const struct t3_dma_exchange* x, uint32_t piece,
                             const struct t3_event* summed) {
  T3_TRY(t3_event_wait(gpu, summed, T3_FOREVER));
  return t3_copy_to_all(gpu, x, piece);
}

static enum t3_status launch_gemms(struct t3_context* gpu, const struct t3_dma_exchange* x, struct t3_event* computed) {
  for (uint32_t piece = 0; piece < x->pieces; ++piece) {
    T3_TRY(t3_launch_rows_gemm(gpu, &x->r, t3_piece_of_exchange(x, piece), x->partials));
    T3_TRY(t3_event_record(gpu, x->r.compute_queue, &computed[piece]));
  }
  return T3_OK;
}

static enum t3_status run_pieces(struct t3_context* gpu, const struct t3_dma_exchange* x) {
  struct t3_event computed[PIECES_MAX], summed[PIECES_MAX];
  t3_begin(gpu, "gemm");
  T3_TRY(launch_gemms(gpu, x, computed));
  for (uint32_t piece = 0; piece < x->pieces; ++piece) {
    T3_TRY(t3_event_wait(gpu, &computed[piece], T3_FOREVER));
    if (piece + 1 == x->pieces) t3_end(gpu, "gemm");
    T3_TRY(exchange(gpu, x, piece));
    T3_TRY(t3_event_record(gpu, x->r.communication_queue, &summed[piece]));
    if (piece > 0) T3_TRY(gather(gpu, x, piece - 1, &summed[piece - 1]));
  }
  T3_TRY(gather(gpu, x, x->pieces - 1, &summed[x->pieces - 1]));
  T3_TRY(t3_wait_queue(gpu, x->r.compute_queue));
  T3_TRY(t3_wait_queue(gpu, x->r.communication_queue));
  return t3_end_exchange(gpu);
}

enum t3_status t3_run_dma_collective(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context context = {0};
  struct t3_dma_exchange x = {.pieces = 1};
  T3_TRY(t3_rival_run_of(run, &x.r));
  x.pieces = x.r.rival.pieces;
  T3_TRY(t3_set_up(&context, hal, run));
  t3_begin(&context, "setup");
  T3_TRY(t3_prepare_exchange(&context, &x));
  T3_TRY(t3_barrier(&context));
  t3_end(&context, "setup");

  t3_begin(&context, "total");
  T3_TRY(run_pieces(&context, &x));
  t3_end(&context, "total");
  return t3_close(&context);
}
