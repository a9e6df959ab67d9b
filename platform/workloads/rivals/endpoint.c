/* Collectives by the endpoint engine beside the GEMM: the rows are cut in pieces, and the engine reduces a piece when
 * its GEMM has ended, while compute units do the next one. Several rings share a piece: GPUs that lie `stride` apart
 * are neighbours, for strides that have no divisor in common with the number of GPUs. Public description: ACE (Rashidi
 * et al., ISCA 2021). */
#include "t3/endpoint.h"

#include "workloads/rivals/ring_strides.h"
#include "workloads/rivals/rival_steps.h"

enum { PIECES_MAX = 64 };

static struct t3_row_run piece_of(const struct t3_rival_run* r, uint32_t piece) {
  return t3_part_of_rows((struct t3_row_run){0, r->gemm.m}, piece, r->rival.pieces);
}

/* Every ring takes a part of the piece's bytes, of whole 32 bytes. */
static enum t3_status start_ring(struct t3_context* gpu, const struct t3_rival_run* r, struct t3_row_run rows,
                                 uint32_t ring) {
  const struct t3_matrix* out = &r->tensors.out.matrix;
  const uint32_t gpus = t3_gpus(gpu), stride = t3_ring_stride(gpus, ring), rings = r->rival.rings;
  const uint64_t bytes = rows.count * out->row_stride, begin = t3_endpoint_part_begin(bytes, ring, rings);
  const struct t3_endpoint_collective collective = {.operation = T3_ENDPOINT_ALL_REDUCE,
                                                    .element = out->element,
                                                    .address = out->address + rows.first * out->row_stride + begin,
                                                    .bytes = t3_endpoint_part_begin(bytes, ring + 1, rings) - begin,
                                                    .place = t3_place_in_ring(gpus, stride, t3_gpu(gpu)),
                                                    .gpus = gpus,
                                                    .next = (t3_gpu(gpu) + stride) % gpus,
                                                    .previous = (t3_gpu(gpu) + gpus - stride) % gpus,
                                                    .ring = ring};
  return collective.bytes == 0 ? T3_OK : t3_endpoint_start(gpu, &collective);
}

static enum t3_status run_pieces(struct t3_context* gpu, const struct t3_rival_run* r) {
  struct t3_event computed[PIECES_MAX];
  t3_begin(gpu, "gemm");
  for (uint32_t piece = 0; piece < r->rival.pieces; ++piece) {
    T3_TRY(t3_launch_rows_gemm(gpu, r, piece_of(r, piece), r->tensors.out.matrix.address));
    T3_TRY(t3_event_record(gpu, r->compute_queue, &computed[piece]));
  }
  for (uint32_t piece = 0; piece < r->rival.pieces; ++piece) {
    T3_TRY(t3_event_wait(gpu, &computed[piece], T3_FOREVER));
    if (piece + 1 == r->rival.pieces) t3_end(gpu, "gemm");
    for (uint32_t ring = 0; ring < r->rival.rings; ++ring) T3_TRY(start_ring(gpu, r, piece_of(r, piece), ring));
  }
  T3_TRY(t3_wait_queue(gpu, r->compute_queue));
  return t3_endpoint_wait(gpu);
}

/* The engine reads memory, not caches. */
enum t3_status t3_run_endpoint(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context context = {0};
  struct t3_rival_run r = {.grid = {0}};
  T3_TRY(t3_rival_run_of(run, &r));
  T3_TRY(t3_set_up(&context, hal, run));
  t3_begin(&context, "setup");
  T3_TRY(t3_prepare_rival(&context, &r, T3_UNCACHED));
  T3_TRY(t3_endpoint_use_rings(&context, r.rival.rings));
  T3_TRY(t3_barrier(&context));
  t3_end(&context, "setup");

  t3_begin(&context, "total");
  T3_TRY(run_pieces(&context, &r));
  t3_end(&context, "total");
  return t3_close(&context);
}
