/* GPUs that are reset while the others go on, and what is left of their earlier lives. */
#include <stdio.h>
#include <string.h>

#include "driver_errors/misuse.h"

enum { TILES = 8, ROUND_NS = 4000000, GPUS_MAX = 8 };

enum kind { GATHER, STAGED, NEAR_MEMORY, KINDS };
static const char* const kinds[KINDS] = {"all-gather", "reduce-scatter", "near-memory reduce-scatter"};

/* One GPU's share in a round. */
struct place {
  const struct t3_hal* hal;
  const struct t3_run* run;
  struct t3_context gpu;
  struct t3_output out;
  struct t3_matrix staging;
};

/* GPU 0 is reset at this time after the round's barrier. Late: it has not started the ring kernel before, and writes
 * its operand again. Otherwise it repeats the operation that it was in. */
struct round {
  enum kind kind;
  uint32_t delay_ns;
  bool late;
};

static void tell_line(const struct place* p, const struct round* r, const char* what) {
  char line[300];
  (void)snprintf(line, sizeof line, "GPU %u, %s, %s after %u ns: %s", (unsigned)t3_gpu(&p->gpu), kinds[r->kind],
                 r->late ? "late" : "again", (unsigned)r->delay_ns, what);
  p->hal->log(p->hal->platform, line);
}

/* Small integers in fp16. */
static uint16_t half_of(uint32_t value) {
  static const uint16_t halves[] = {0, 0x3C00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700, 0x4800, 0x4880, 0x4900};
  return value < sizeof halves / sizeof halves[0] ? halves[value] : 0x7E00;
}

/* The state of each GPU: programs run between accesses of another one's. */
static uint16_t rows[GPUS_MAX][TILES * 64];

static enum t3_status fill(const struct place* p) {
  const struct t3_matrix* out = &p->out.matrix;
  uint16_t* row = rows[t3_gpu(&p->gpu)];
  for (uint32_t j = 0; j < out->columns; ++j) row[j] = half_of(t3_gpu(&p->gpu) + 1);
  for (uint32_t i = 0; i < out->rows; ++i)
    T3_TRY(p->hal->write_memory(p->hal->platform, out->address + i * out->row_stride, row, (uint64_t)2 * out->columns));
  p->hal->order_writes(p->hal->platform);
  return T3_OK;
}

/* Whether every element that the kernel leaves is what the GPUs' operands say. */
static bool is_right(const struct place* p, enum kind kind) {
  const struct t3_output* o = &p->out;
  const uint32_t gpus = t3_gpus(&p->gpu);
  uint16_t* row = rows[t3_gpu(&p->gpu)];
  const struct t3_chunk own = t3_ring_chunk(&p->gpu, o, gpus - 1);
  for (uint32_t i = 0; i < o->matrix.rows; ++i) {
    const uint64_t address = o->matrix.address + i * o->matrix.row_stride;
    if (p->hal->read_memory(p->hal->platform, address, row, (uint64_t)2 * o->matrix.columns) != T3_OK) return false;
    for (uint32_t j = 0; j < o->matrix.columns; ++j) {
      const uint32_t workgroup = i / o->tiling.rows * TILES + j / o->tiling.columns;
      const bool is_own = workgroup - own.first_workgroup < own.workgroups;
      if (kind != GATHER && is_own && row[j] != half_of(gpus * (gpus + 1) / 2)) return false;
      for (uint32_t g = 0; kind == GATHER && g < gpus; ++g) {
        const struct t3_chunk chunk = t3_chunk_of(o, g, gpus);
        if (workgroup - chunk.first_workgroup < chunk.workgroups && row[j] != half_of(g + 1)) return false;
      }
    }
  }
  return true;
}

static enum t3_status open_place(struct place* p) {
  T3_TRY(t3_init(&p->gpu, p->hal));
  p->out = (struct t3_output){.matrix = {.rows = TILES * tiling_of(p->run).rows,
                                         .columns = TILES * tiling_of(p->run).columns,
                                         .element = gemm_of(p->run).element,
                                         .memory = T3_UNCACHED},
                              .tiling = tiling_of(p->run)};
  T3_TRY(t3_matrix_malloc(&p->gpu, &p->out.matrix));
  p->staging = p->out.matrix;
  T3_TRY(t3_matrix_malloc(&p->gpu, &p->staging));
  return p->out.matrix.columns <= sizeof rows[0] / sizeof rows[0][0] ? T3_OK : T3_OUT_OF_MEMORY;
}

static enum t3_status start(struct place* p, enum kind kind) {
  if (kind == GATHER) return t3_ring_all_gather(&p->gpu, &p->out);
  return t3_ring_reduce_scatter(&p->gpu, &p->out, kind == STAGED ? &p->staging : NULL);
}

static void wait_until(const struct t3_hal* hal, uint64_t time_ns) {
  const uint64_t now = hal->time_ns(hal->platform);
  if (now < time_ns) hal->wait_ns(hal->platform, time_ns - now);
}

/* All GPUs together; none has a context when it returns. */
static enum t3_status reset_at(const struct t3_hal* hal, uint64_t time_ns) {
  wait_until(hal, time_ns);
  T3_TRY(t3_reset(hal));
  hal->wait_ns(hal->platform, 100000);
  return T3_OK;
}

static enum t3_status reset_in_it(struct place* p, const struct round* r) {
  p->hal->wait_ns(p->hal->platform, r->delay_ns);
  T3_TRY(t3_reset(p->hal));
  p->hal->wait_ns(p->hal->platform, 1000);
  T3_TRY(open_place(p));
  if (r->late) T3_TRY(fill(p));
  return start(p, r->kind);
}

static enum t3_status play(struct place* p, const struct round* r) {
  T3_TRY(open_place(p));
  T3_TRY(fill(p));
  T3_TRY(t3_barrier(&p->gpu));
  if (t3_gpu(&p->gpu) != 0 || !r->late) T3_TRY(start(p, r->kind));
  if (t3_gpu(&p->gpu) == 0) T3_TRY(reset_in_it(p, r));
  T3_TRY(t3_set_timeout(&p->gpu, ROUND_NS / 4));
  const enum t3_status status = t3_wait_kernels(&p->gpu);
  tell_line(p, r, t3_status_text(status));
  if (status == T3_OK && !is_right(p, r->kind)) tell_line(p, r, "wrong data");
  return T3_OK;
}

enum t3_status guest_with_earlier_lives(const struct t3_hal* hal, const struct t3_run* run) {
  struct place p = {.hal = hal, .run = run};
  uint64_t end = 0;
  struct round r = {GATHER, 0, false};
  for (uint32_t late = 0; late < 2; ++late)
    for (uint32_t kind = 0; kind < KINDS; ++kind)
      for (uint32_t delay = 1; delay <= 10; ++delay) {
        r = (struct round){(enum kind)kind, 4000 * delay, late != 0};
        T3_TRY(play(&p, &r));
        T3_TRY(reset_at(hal, end += ROUND_NS));
      }
  return t3_run_fused(hal, run);
}

/* How many barriers each GPU has called. */
static uint32_t called[GPUS_MAX];

static enum t3_status meet(struct t3_context* gpu, const struct t3_hal* hal) {
  const uint32_t number = ++called[t3_gpu(gpu)];
  char line[300];
  const enum t3_status status = t3_barrier(gpu);
  (void)snprintf(line, sizeof line, "GPU %u, barrier %u: %s", (unsigned)t3_gpu(gpu), (unsigned)number,
                 t3_status_text(status));
  hal->log(hal->platform, line);
  for (uint32_t g = 0; g < t3_gpus(gpu); ++g)
    if (status == T3_OK && called[g] < number) hal->log(hal->platform, "passed before all had called it");
  return status;
}

/* GPU 0 gives up a barrier, is reset, and starts again. It comes late to the second one. */
static enum t3_status barriers(const struct t3_hal* hal, struct t3_context* gpu) {
  if (hal->gpu == 0) {
    T3_TRY(t3_set_timeout(gpu, 1000));
    (void)t3_barrier(gpu);
    T3_TRY(t3_reset(hal));
    hal->wait_ns(hal->platform, 1000);
    T3_TRY(t3_init(gpu, hal));
  } else {
    hal->wait_ns(hal->platform, 100000);
  }
  T3_TRY(t3_set_timeout(gpu, 200000));
  T3_TRY(meet(gpu, hal));
  if (hal->gpu == 0) hal->wait_ns(hal->platform, 1000000);
  return meet(gpu, hal);
}

enum t3_status guest_with_an_earlier_barrier(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context gpu;
  T3_TRY(t3_init(&gpu, hal));
  if (t3_gpus(&gpu) > GPUS_MAX) return T3_INVALID_ARGUMENT;
  (void)barriers(hal, &gpu);
  T3_TRY(reset_at(hal, ROUND_NS));
  return t3_run_fused(hal, run);
}
