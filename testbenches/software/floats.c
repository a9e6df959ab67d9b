/* A library that leaves the floating-point environment as it pleases: its constructor, its program and what writes the
 * contents of its buffers. */
#include <fenv.h>
#include <string.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "t3/exports.h"

enum { SIDE = 16 };

/* Denormal numbers are 0, as libraries have it that are built with -ffast-math, and sums are too large. */
static void change(void) {
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
  (void)fesetround(FE_UPWARD);
}

__attribute__((constructor)) static void construct(void) { change(); }
__attribute__((destructor)) static void destruct(void) { change(); }

/* Products of these are rounded, and of the latter half denormal. */
static float factor(uint32_t i) { return (i < SIDE / 2 ? 1.0F : 0x1p-70F) / (float)(2 * i + 3); }

static void factors(const void* nothing, uint32_t gpu, float* values) {
  (void)nothing, (void)gpu;
  for (uint32_t i = 0; i < SIDE; ++i) values[i] = factor(i);
  change();
}

static void products(const void* nothing, uint32_t gpu, float* values) {
  (void)nothing, (void)gpu;
  for (uint32_t i = 0; i < SIDE; ++i)
    for (uint32_t j = 0; j < SIDE; ++j) values[SIDE * i + j] = factor(i) * factor(j);
  change();
}

static void publish(const struct t3_hal* hal, const char* name, const struct t3_matrix* matrix,
                    struct t3_contents initial, struct t3_contents expected) {
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

static enum t3_status multiply(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  const struct t3_contents unsaid = {0}, given = {.kind = T3_CONTENTS_FUNCTION, .function = factors},
                           expected = {.kind = T3_CONTENTS_FUNCTION, .function = products};
  struct t3_context gpu = {0};
  struct t3_matrix a = {.rows = SIDE, .columns = 1, .element = T3_FP32};
  struct t3_matrix b = {.rows = 1, .columns = SIDE, .element = T3_FP32};
  struct t3_output out = {.matrix = {.rows = SIDE, .columns = SIDE, .element = T3_FP32}, .tiling = {SIDE, SIDE, 1}};
  if (fegetround() != FE_TONEAREST) return T3_BAD_VALUE; /* as the constructor has left it */
  T3_TRY(t3_init(&gpu, hal));
  T3_TRY(t3_matrix_malloc(&gpu, &a));
  T3_TRY(t3_matrix_malloc(&gpu, &b));
  T3_TRY(t3_matrix_malloc(&gpu, &out.matrix));
  change();
  publish(hal, "factors", &a, given, unsaid);
  publish(hal, "others", &b, given, unsaid);
  T3_TRY(t3_gemm(&gpu, &out, &a, &b, (struct t3_gemm_options){0}));
  T3_TRY(t3_wait_kernels(&gpu));
  T3_TRY(t3_flush_cache(&gpu));
  publish(hal, "products", &out.matrix, unsaid, expected);
  if (fegetround() != FE_UPWARD) return T3_BAD_VALUE;
  return t3_close(&gpu);
}

static const struct t3_named_program programs[] = {{"multiply", multiply}, {NULL, NULL}};

const struct t3_export_table t3_exports = {
    .version = T3_EXPORTS_VERSION, .layout = T3_EXPORTS_LAYOUT, .name = "floats", .programs = programs};
