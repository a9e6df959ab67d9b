/* Figure 6 of the paper without an explicit division: a GEMM on some compute units, a ring all-reduce of another tensor
 * on others, from two queues concurrently. */
#include "guests.h"
#include "t3/t3.h"

enum { GEMM_QUEUE, RING_QUEUE };

struct shared {
  struct t3_context gpu;
  uint64_t m, n, k, tile;
  uint64_t gemm_units, ring_units;    /* of each kernel; 0: it does not run */
  uint64_t first_ring_unit, priority; /* of the ring's queue */
  struct t3_matrix a, b;
  struct t3_output out, sums;
  struct t3_matrix staging;
};

static float value_of(uint32_t gpu, uint64_t i) { return (float)((i * 7 + gpu * 3) % 5) - 2; }

static void numbers(const void* argument, uint32_t gpu, float* values) {
  const struct t3_matrix* matrix = argument;
  for (uint64_t i = 0; i < (uint64_t)matrix->rows * matrix->columns; ++i) values[i] = value_of(gpu, i);
}

static void product(const void* argument, uint32_t gpu, float* values) {
  const struct shared* s = argument;
  for (uint64_t row = 0; row < s->m; ++row)
    for (uint64_t column = 0; column < s->n; ++column) {
      float sum = 0;
      for (uint64_t i = 0; i < s->k && s->gemm_units != 0; ++i)
        sum += value_of(gpu, row * s->k + i) * value_of(gpu, i * s->n + column);
      *values++ = sum;
    }
}

static void sum(const void* argument, uint32_t gpu, float* values) {
  const struct shared* s = argument;
  for (uint64_t i = 0; i < s->m * s->n; ++i) {
    values[i] = 0;
    for (uint32_t g = 0; g < t3_gpus(&s->gpu); ++g)
      if (s->ring_units != 0 || g == gpu) values[i] += value_of(g, i);
  }
}

static void publish(struct shared* s, const char* name, const struct t3_matrix* matrix,
                    void (*initial)(const void* argument, uint32_t gpu, float* values),
                    void (*expected)(const void* argument, uint32_t gpu, float* values)) {
  const enum t3_contents_kind none = T3_CONTENTS_UNSAID, function = T3_CONTENTS_FUNCTION;
  const struct t3_buffer buffer = {
      .name = name,
      .address = matrix->address,
      .row_stride = matrix->row_stride,
      .rows = matrix->rows,
      .columns = matrix->columns,
      .element = (uint32_t)matrix->element,
      .initial = {.kind = initial == NULL ? none : function, .function = initial, .argument = matrix},
      .expected = {.kind = expected == NULL ? none : function, .function = expected, .argument = s}};
  t3_hal_of(&s->gpu)->publish(t3_hal_of(&s->gpu)->platform, &buffer);
}

static struct t3_matrix matrix_of(uint64_t rows, uint64_t columns) {
  return (struct t3_matrix){.rows = (uint32_t)rows, .columns = (uint32_t)columns, .element = T3_FP16};
}

static enum t3_status allocate(struct shared* s) {
  const struct t3_tiling tiling = {(uint32_t)s->tile, (uint32_t)s->tile, 4};
  s->a = matrix_of(s->m, s->k);
  s->b = matrix_of(s->k, s->n);
  s->out.matrix = s->sums.matrix = s->staging = matrix_of(s->m, s->n);
  s->out.tiling = s->sums.tiling = tiling;
  struct t3_matrix* const all[] = {&s->a, &s->b, &s->out.matrix, &s->sums.matrix, &s->staging};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) T3_TRY(t3_matrix_malloc(&s->gpu, all[i]));
  publish(s, "a", &s->a, numbers, NULL);
  publish(s, "b", &s->b, numbers, NULL);
  publish(s, "product", &s->out.matrix, NULL, s->gemm_units == 0 ? NULL : product);
  publish(s, "sums", &s->sums.matrix, numbers, sum);
  return T3_OK;
}

static enum t3_status ask(struct shared* s, const struct t3_hal* hal) {
  const struct {
    const char* name;
    uint64_t* value;
  } all[] = {{"m", &s->m},
             {"n", &s->n},
             {"k", &s->k},
             {"tile", &s->tile},
             {"gemm_units", &s->gemm_units},
             {"ring_units", &s->ring_units},
             {"first_ring_unit", &s->first_ring_unit},
             {"priority", &s->priority}};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
    T3_TRY(hal->argument_u64(hal->platform, all[i].name, all[i].value));
  return T3_OK;
}

static struct t3_queue_options on_units(uint64_t first, uint64_t count, uint64_t priority) {
  struct t3_queue_options options = {.priority = (uint32_t)priority};
  for (uint64_t unit = first; unit < first + count; ++unit) options.cu_mask[unit / 64] |= UINT64_C(1) << unit % 64;
  return options;
}

static void mark(const struct shared* s, const char* phase, bool begin) {
  t3_hal_of(&s->gpu)->mark(t3_hal_of(&s->gpu)->platform, phase, begin);
}

/* The GEMM has one kernel, the all-reduce two. */
static void has_ended(struct t3_context* gpu, const struct t3_interrupt* interrupt, void* argument) {
  (void)gpu;
  if (interrupt->queue == GEMM_QUEUE) mark(argument, "gemm", false);
  if (interrupt->queue == RING_QUEUE && interrupt->number == 2) mark(argument, "all_reduce", false);
}

static enum t3_status run_both(struct shared* s) {
  if (s->gemm_units != 0) {
    mark(s, "gemm", true);
    T3_TRY(t3_gemm(&s->gpu, &s->out, &s->a, &s->b, (struct t3_gemm_options){0}));
  }
  T3_TRY(t3_use_queue(&s->gpu, RING_QUEUE));
  if (s->ring_units != 0) {
    mark(s, "all_reduce", true);
    T3_TRY(t3_ring_reduce_scatter(&s->gpu, &s->sums, &s->staging));
    T3_TRY(t3_ring_all_gather(&s->gpu, &s->sums));
  }
  T3_TRY(t3_wait_kernels(&s->gpu));
  T3_TRY(t3_use_queue(&s->gpu, GEMM_QUEUE));
  return t3_wait_kernels(&s->gpu);
}

enum t3_status shared_units(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  struct shared s = {0};
  uint32_t queue = 0;
  T3_TRY(ask(&s, hal));
  T3_TRY(t3_init(&s.gpu, hal));
  T3_TRY(t3_queue_create(&s.gpu, on_units(s.first_ring_unit, s.ring_units, s.priority), &queue));
  T3_TRY(t3_set_queue(&s.gpu, GEMM_QUEUE, on_units(0, s.gemm_units, 0)));
  if (s.ring_units != 0) T3_TRY(t3_set_ring_workgroups(&s.gpu, (uint32_t)s.ring_units));
  T3_TRY(allocate(&s));
  T3_TRY(t3_set_handler(&s.gpu, T3_LINE_KERNEL_QUEUE, 1, has_ended, &s));
  T3_TRY(t3_barrier(&s.gpu));
  mark(&s, "total", true);
  T3_TRY(run_both(&s));
  mark(&s, "total", false);
  T3_TRY(t3_barrier(&s.gpu));
  T3_TRY(t3_flush_cache(&s.gpu));
  return t3_close(&s.gpu);
}
