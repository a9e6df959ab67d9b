/* GPUs that are reset while stores, updates, fills and write-backs are in flight: none of them arrives in the next
 * generation.
 * */
#include <stdio.h>
#include <string.h>

#include "driver_errors/misuse.h"

enum { GPUS_MAX = 4, ELEMENTS_MAX = 512 * 512, ROUND_NS = 600000, PROBE_NS = 200000, DELAYS = 5 };

enum kind { STORED, UPDATED, BY_DMA, OWN, FILLED, FLUSHED, KINDS };
static const char* const kinds[KINDS] = {"stores", "updates", "DMA", "own stores", "a fill", "a flush"};

/* One GPU's share in a round. */
struct place {
  const struct t3_hal* hal;
  struct t3_context gpu;
  struct t3_output out;
  struct t3_matrix a, b;
  struct t3_matrix sink; /* where the DMA engine sends */
};

static uint16_t ones[ELEMENTS_MAX], fours[ELEMENTS_MAX];
static uint16_t found[GPUS_MAX][ELEMENTS_MAX], later[GPUS_MAX][ELEMENTS_MAX];

static void tell_line(const struct place* p, enum kind kind, uint32_t delay_ns, const char* what) {
  char line[300];
  (void)snprintf(line, sizeof line, "GPU %u, %s, reset after %u ns: %s", (unsigned)p->hal->gpu, kinds[kind],
                 (unsigned)delay_ns, what);
  p->hal->log(p->hal->platform, line);
}

static enum t3_status place_matrix(struct place* p, struct t3_matrix* matrix, const uint16_t* content) {
  T3_TRY(t3_matrix_malloc(&p->gpu, matrix));
  return p->hal->write_memory(p->hal->platform, matrix->address, content, matrix->row_stride * matrix->rows);
}

static enum t3_status open_place(struct place* p, const struct t3_run* run, enum kind kind) {
  for (uint32_t i = 0; i < ELEMENTS_MAX; ++i) ones[i] = 0x3C00, fours[i] = 0x4400;
  T3_TRY(t3_init(&p->gpu, p->hal));
  p->out = (struct t3_output){.matrix = {.rows = 8 * tiling_of(run).rows,
                                         .columns = 8 * tiling_of(run).columns,
                                         .element = T3_FP16,
                                         .memory = kind == FLUSHED ? T3_CACHED : T3_UNCACHED},
                              .tiling = tiling_of(run)};
  p->a = (struct t3_matrix){.rows = p->out.matrix.rows, .columns = 32, .element = T3_FP16};
  p->b = (struct t3_matrix){.rows = 32, .columns = p->out.matrix.columns, .element = T3_FP16};
  if (p->out.matrix.rows * p->out.matrix.columns > ELEMENTS_MAX || t3_gpus(&p->gpu) > GPUS_MAX) return T3_OUT_OF_MEMORY;
  p->sink = p->out.matrix;
  T3_TRY(place_matrix(p, &p->out.matrix, fours));
  T3_TRY(place_matrix(p, &p->sink, fours));
  T3_TRY(place_matrix(p, &p->a, ones));
  return place_matrix(p, &p->b, ones);
}

static enum t3_status multiply(struct place* p, bool update) {
  return t3_gemm(&p->gpu, &p->out, &p->a, &p->b, (struct t3_gemm_options){.update = update});
}

/* What neighbours or the GPU itself write in the kernel. */
static const struct t3_matrix* written(const struct place* p, enum kind kind) {
  return kind == BY_DMA ? &p->sink : &p->out.matrix;
}

/* Starts the operation that is in flight when the GPU is reset. */
static enum t3_status start(struct place* p, enum kind kind) {
  const struct t3_chunk all = {0, 64};
  const uint64_t peer = t3_peer_address(written(p, kind), t3_ring_previous(&p->gpu));
  if (kind == STORED) T3_TRY(t3_remote_map(&p->gpu, &p->out, all, peer, T3_STORE));
  if (kind == UPDATED) T3_TRY(t3_remote_map(&p->gpu, &p->out, all, peer, T3_UPDATE));
  if (kind == BY_DMA)
    T3_TRY(t3_dma_map(&p->gpu, &p->out, all, peer, T3_STORE, (struct t3_dma_options){1, 1, T3_STORE}));
  T3_TRY(t3_barrier(&p->gpu));
  if (kind != FILLED) T3_TRY(multiply(p, kind == UPDATED));
  if (kind == FLUSHED) T3_TRY(t3_wait_kernels(&p->gpu));
  if (kind != FILLED && kind != FLUSHED) return T3_OK;
  T3_TRY(t3_set_timeout(&p->gpu, 0));
  return kind == FILLED ? t3_fill_zero(&p->gpu, &p->out.matrix) : t3_flush_cache(&p->gpu);
}

static void wait_until(const struct t3_hal* hal, uint64_t time_ns) {
  const uint64_t now = hal->time_ns(hal->platform);
  if (now < time_ns) hal->wait_ns(hal->platform, time_ns - now);
}

/* A fill or flush is over soon, links are slow. */
static uint32_t delay_of(enum kind kind, uint32_t step) {
  return kind == FILLED || kind == FLUSHED ? 100 * step : 6000 + 4000 * step;
}

static bool holds(const struct place* p, enum kind kind, uint16_t* read, const uint16_t* expected) {
  const struct t3_matrix* out = written(p, kind);
  const uint64_t bytes = out->row_stride * out->rows;
  if (p->hal->read_memory(p->hal->platform, out->address, read, bytes) != T3_OK) return false;
  return memcmp(read, expected, bytes) == 0;
}

/* All GPUs are reset at once; what each writes to its memory then stays there. */
static enum t3_status play(struct place* p, enum kind kind, uint64_t reset_ns, uint32_t delay_ns) {
  const struct t3_matrix* out = written(p, kind);
  const enum t3_status started = start(p, kind);
  const enum t3_status expected = kind == FILLED || kind == FLUSHED ? T3_TIMEOUT : T3_OK;
  if (started != expected) tell_line(p, kind, delay_ns, t3_status_text(started));
  wait_until(p->hal, kind == FILLED || kind == FLUSHED ? p->hal->time_ns(p->hal->platform) + delay_ns : reset_ns);
  T3_TRY(t3_reset(p->hal));
  T3_TRY(p->hal->write_memory(p->hal->platform, out->address, fours, out->row_stride * out->rows));
  p->hal->order_writes(p->hal->platform);
  p->hal->wait_ns(p->hal->platform, PROBE_NS);
  tell_line(p, kind, delay_ns, holds(p, kind, found[p->hal->gpu], fours) ? "nothing" : "something arrives");
  return T3_OK;
}

/* A GPU is reset alone: nothing of it arrives any more, and what was sent to it before has failed. */
static enum t3_status play_alone(struct place* p, enum kind kind, uint64_t reset_ns, uint32_t delay_ns, uint32_t who) {
  T3_TRY(start(p, kind));
  wait_until(p->hal, reset_ns);
  if (p->hal->gpu == who) return t3_reset(p->hal);
  T3_TRY(t3_set_timeout(&p->gpu, PROBE_NS));
  if (who == 1 && p->hal->gpu == 0) {
    p->hal->wait_ns(p->hal->platform, 1000);
    (void)holds(p, kind, found[0], fours);
    p->hal->wait_ns(p->hal->platform, PROBE_NS);
    tell_line(p, kind, delay_ns, holds(p, kind, later[0], found[0]) ? "nothing" : "something arrives");
  }
  if (who == 0 && p->hal->gpu == 1) {
    const enum t3_status kernels = t3_wait_kernels(&p->gpu);
    tell_line(p, kind, delay_ns, t3_status_text(kind == BY_DMA ? t3_wait_dma(&p->gpu) : kernels));
  }
  return T3_OK;
}

enum t3_status guest_with_stores_under_way(const struct t3_hal* hal, const struct t3_run* run) {
  struct place p = {.hal = hal};
  uint64_t end = 0;
  for (uint32_t kind = 0; kind < KINDS; ++kind)
    for (uint32_t step = 1; step <= DELAYS; ++step, end += ROUND_NS) {
      const uint32_t delay = delay_of((enum kind)kind, step);
      wait_until(hal, end);
      T3_TRY(open_place(&p, run, (enum kind)kind));
      T3_TRY(play(&p, (enum kind)kind, end + 50000 + delay, delay));
    }
  wait_until(hal, end);
  return t3_run_fused(hal, run);
}

enum t3_status guest_with_a_reset_neighbour(const struct t3_hal* hal, const struct t3_run* run) {
  struct place p = {.hal = hal};
  uint64_t end = 0;
  for (uint32_t who = 0; who < 2; ++who)
    for (uint32_t kind = STORED; kind <= BY_DMA; ++kind)
      for (uint32_t step = 1; step <= DELAYS; ++step) {
        const uint32_t delay = delay_of((enum kind)kind, step);
        T3_TRY(open_place(&p, run, (enum kind)kind));
        T3_TRY(play_alone(&p, (enum kind)kind, end + 50000 + delay, delay, who));
        wait_until(hal, end += ROUND_NS);
        T3_TRY(t3_reset(hal));
        wait_until(hal, end += ROUND_NS / 4);
      }
  return t3_run_fused(hal, run);
}
