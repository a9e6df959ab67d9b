#include "scale.h"

static float input(uint32_t gpu, uint32_t i) { return (float)(i % 1000) + (float)gpu; }

struct problem {
  uint32_t elements;
  float factor;
};

static void fill(const void* argument, uint32_t gpu, float* values) {
  const struct problem* problem = argument;
  for (uint32_t i = 0; i < problem->elements; ++i) values[i] = input(gpu, i);
}

static void expect(const void* argument, uint32_t gpu, float* values) {
  const struct problem* problem = argument;
  for (uint32_t i = 0; i < problem->elements; ++i) values[i] = input(gpu, i) * problem->factor;
}

static void publish(const struct t3_hal* hal, const char* name, const struct t3_matrix* matrix, struct t3_contents initial,
                    struct t3_contents expected) {
  const struct t3_buffer buffer = {.name = name,
                                   .address = matrix->address,
                                   .row_stride = matrix->row_stride,
                                   .rows = matrix->rows,
                                   .columns = matrix->columns,
                                   .element = matrix->element,
                                   .initial = initial,
                                   .expected = expected};
  hal->publish(hal->platform, &buffer);
}

static enum t3_status scale(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run; /* the run file's workload, when it has one */
  uint64_t rows = 0, columns = 0;
  double factor = 0;
  T3_TRY(hal->argument_u64(hal->platform, "rows", &rows));
  T3_TRY(hal->argument_u64(hal->platform, "columns", &columns));
  T3_TRY(hal->argument_double(hal->platform, "factor", &factor));

  struct t3_context gpu = {0};
  T3_TRY(t3_init(&gpu, hal));
  struct t3_matrix in = {.rows = (uint32_t)rows, .columns = (uint32_t)columns, .element = T3_FP32};
  struct t3_matrix out = in;
  T3_TRY(t3_matrix_malloc(&gpu, &in));
  T3_TRY(t3_matrix_malloc(&gpu, &out));
  const struct problem problem = {(uint32_t)(rows * columns), (float)factor};
  const struct t3_contents unsaid = {.kind = T3_CONTENTS_UNSAID};
  publish(hal, "in", &in, (struct t3_contents){.kind = T3_CONTENTS_FUNCTION, .function = fill, .argument = &problem}, unsaid);
  publish(hal, "scaled", &out, unsaid, (struct t3_contents){.kind = T3_CONTENTS_FUNCTION, .function = expect, .argument = &problem});

  hal->mark(hal->platform, "total", true);
  hal->mark(hal->platform, "scaling", true);
  const struct t3_scale_arguments arguments = {.out = out.address,
                                               .in = in.address,
                                               .rows = in.rows,
                                               .columns = in.columns,
                                               .stride = (uint32_t)in.row_stride,
                                               .factor = (float)factor};
  unsigned char bytes[T3_SCALE_ARGUMENTS_BYTES];
  t3_scale_arguments_to(&arguments, bytes);
  T3_TRY(t3_run_kernel(&gpu, "scale", bytes, sizeof bytes, (struct t3_kernel_options){0}));
  T3_TRY(t3_wait_kernels(&gpu));
  hal->mark(hal->platform, "scaling", false);
  hal->mark(hal->platform, "total", false);
  T3_TRY(t3_flush_cache(&gpu)); /* the result is checked in memory */
  return t3_close(&gpu);
}

static const struct t3_named_program programs[] = {{"scale", scale}, {NULL, NULL}};
static const struct t3_kernel* const kernels[] = {&scale_kernel, NULL};

const struct t3_export_table t3_exports = {.version = T3_EXPORTS_VERSION,
                                      .layout = T3_EXPORTS_LAYOUT,
                                      .name = "scale",
                                      .programs = programs,
                                      .kernels = kernels};
