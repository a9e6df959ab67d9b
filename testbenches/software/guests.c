/* Programs and a kernel of a library outside the platform. */
#include "guests.h"

#include <math.h>
#include <string.h>

#include "t3/arguments/doubling.h"
#include "t3/programs.h"

static void begin(const struct t3_hal* hal, const char* phase) { hal->mark(hal->platform, phase, true); }
static void end(const struct t3_hal* hal, const char* phase) { hal->mark(hal->platform, phase, false); }

/* Phases of any names, one of them three times, within the total; the first begins behind one that
 * the driver's programs have. */
static enum t3_status phases(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  begin(hal, "total");
  begin(hal, "gemm");
  hal->wait_ns(hal->platform, 100);
  end(hal, "gemm");
  begin(hal, "zebra.walk");
  for (int step = 0; step < 3; ++step) {
    begin(hal, "a_step");
    hal->wait_ns(hal->platform, 1000);
    end(hal, "a_step");
    hal->wait_ns(hal->platform, 500);
  }
  end(hal, "zebra.walk");
  end(hal, "total");
  return T3_OK;
}

static enum t3_status mislabelled(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  begin(hal, "not/plain");
  end(hal, "never_begun");
  return T3_OK;
}

/* Texts that no line and no JSON may hold as they are; a phase is left open, another one begins in itself. */
static enum t3_status badly_worded(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  begin(hal, "bad\xFF\nGPU 1 firmware passed");
  hal->log(hal->platform, "\xC3(\033[2Jred\ngreen \xC3\xA9 \xC2\x9B");
  return T3_OK;
}

static enum t3_status unended(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  hal->wait_ns(hal->platform, 100);
  begin(hal, "walk");
  begin(hal, "run");
  begin(hal, "run");
  end(hal, "run");
  return T3_OK;
}

/* GPU 0 allows interrupts that are not held off, GPU 1 holds them off and never allows one of the two. */
static enum t3_status unbalanced(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  if (hal->gpu == 0) {
    hal->unlock(hal->platform);
  } else {
    hal->lock(hal->platform);
    hal->lock(hal->platform);
    hal->unlock(hal->platform);
  }
  return T3_OK;
}

/* Whoever shares its variables with another GPU's program finds them changed. */
static uint32_t runs;
static enum t3_status alone(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  if (runs++ != 0) return T3_BAD_VALUE;
  hal->wait_ns(hal->platform, 1000);
  return runs == 1 ? T3_OK : T3_BAD_VALUE;
}

static enum t3_status failing(const struct t3_hal* hal, const struct t3_run* run) {
  (void)hal, (void)run;
  return T3_OVERLAP;
}

static enum t3_status asking(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  uint64_t count = 0;
  double share = 0;
  bool on = false;
  const char* text = NULL;
  T3_TRY(hal->argument_u64(hal->platform, "count", &count));
  T3_TRY(hal->argument_double(hal->platform, "share", &share));
  T3_TRY(hal->argument_bool(hal->platform, "on", &on));
  T3_TRY(hal->argument_text(hal->platform, "text", &text));
  double extra = 7;
  if (hal->has_argument(hal->platform, "extra")) T3_TRY(hal->argument_double(hal->platform, "extra", &extra));
  const bool right = count == UINT64_MAX && share == 0.25 && on && strcmp(text, "a b") == 0 && extra == 7;
  return right ? T3_OK : T3_BAD_VALUE;
}

enum { ROWS = 4, COLUMNS = 40 };

static void counted(const void* argument, uint32_t gpu, float* values) {
  for (int i = 0; i < ROWS * COLUMNS; ++i) values[i] = *(const float*)argument + (float)gpu + (float)i;
}

static void publish(const struct t3_hal* hal, const char* name, const struct t3_matrix* matrix,
                    struct t3_contents initial, struct t3_contents expected, double tolerance) {
  const struct t3_buffer buffer = {.name = name,
                                   .address = matrix->address,
                                   .row_stride = matrix->row_stride,
                                   .rows = matrix->rows,
                                   .columns = matrix->columns,
                                   .element = (uint32_t)matrix->element,
                                   .initial = initial,
                                   .expected = expected,
                                   .tolerance = tolerance};
  hal->publish(hal->platform, &buffer);
}

static struct t3_contents constant(float value) {
  return (struct t3_contents){.kind = T3_CONTENTS_CONSTANT, .constant = value};
}

/* What is expected is what the program says that the platform writes, but for what the arguments change. */
static enum t3_status published(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  struct t3_context gpu;
  double off = 0, tolerance = 0;
  T3_TRY(hal->argument_double(hal->platform, "off", &off));
  T3_TRY(hal->argument_double(hal->platform, "tolerance", &tolerance));
  T3_TRY(t3_init(&gpu, hal));
  struct t3_matrix matrices[3];
  for (int i = 0; i < 3; ++i) {
    matrices[i] = (struct t3_matrix){.rows = ROWS, .columns = COLUMNS, .element = i == 0 ? T3_BF16 : T3_FP32};
    T3_TRY(t3_matrix_malloc(&gpu, &matrices[i]));
  }
  const float first = 3, shifted = 3 + (float)off;
  float values[ROWS * COLUMNS];
  counted(&first, t3_gpu(&gpu), values);
  const struct t3_contents function = {.kind = T3_CONTENTS_FUNCTION, .function = counted, .argument = &first};
  const struct t3_contents other = {.kind = T3_CONTENTS_FUNCTION, .function = counted, .argument = &shifted};
  const struct t3_contents array = {.kind = T3_CONTENTS_VALUES, .values = values};
  publish(hal, "rounded", &matrices[0], constant(0.1F), constant(0.1F), 0); /* no bf16 number is 0.1 */
  publish(hal, "counted", &matrices[1], function, other, tolerance);
  publish(hal, "array", &matrices[2], array, function, 0);
  return t3_close(&gpu);
}

static enum t3_status twice(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  struct t3_context gpu;
  T3_TRY(t3_init(&gpu, hal));
  struct t3_matrix in = {.rows = ROWS, .columns = COLUMNS, .element = T3_FP32}, out = in;
  T3_TRY(t3_matrix_malloc(&gpu, &in));
  T3_TRY(t3_matrix_malloc(&gpu, &out));
  publish(hal, "in", &in, constant(21), (struct t3_contents){0}, 0);
  publish(hal, "doubled", &out, constant(-1), constant(42), 0);
  hal->mark(hal->platform, "total", true);
  hal->mark(hal->platform, "doubling", true);
  const struct t3_doubling_arguments arguments = {
      .out = out.address, .a = in.address, .rows = ROWS, .columns = COLUMNS, .stride = (uint32_t)in.row_stride};
  unsigned char bytes[T3_DOUBLING_ARGUMENTS_BYTES];
  t3_doubling_arguments_to(&arguments, bytes);
  T3_TRY(t3_run_kernel(&gpu, "doubling", bytes, sizeof bytes, (struct t3_kernel_options){0}));
  T3_TRY(t3_wait_kernels(&gpu));
  hal->mark(hal->platform, "doubling", false);
  hal->mark(hal->platform, "total", false);
  T3_TRY(t3_flush_cache(&gpu));
  return t3_close(&gpu);
}

/* Memory that the kernel uses that has just been launched. */
static enum t3_status rewritten(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  struct t3_context gpu;
  T3_TRY(t3_init(&gpu, hal));
  struct t3_matrix in = {.rows = ROWS, .columns = COLUMNS, .element = T3_FP32}, out = in, gap = in;
  T3_TRY(t3_matrix_malloc(&gpu, &in));
  T3_TRY(t3_matrix_malloc(&gpu, &out));
  T3_TRY(t3_matrix_malloc(&gpu, &gap));
  const struct t3_doubling_arguments arguments = {
      .out = out.address, .a = in.address, .rows = ROWS, .columns = COLUMNS, .stride = (uint32_t)in.row_stride};
  unsigned char bytes[T3_DOUBLING_ARGUMENTS_BYTES];
  t3_doubling_arguments_to(&arguments, bytes);
  T3_TRY(t3_run_kernel(&gpu, "doubling", bytes, sizeof bytes, (struct t3_kernel_options){0}));
  hal->wait_ns(hal->platform, 1000); /* the kernel has begun */
  publish(hal, "gap", &gap, constant(1), (struct t3_contents){0}, 0);
  publish(hal, "seen", &in, (struct t3_contents){0}, (struct t3_contents){0}, 0);
  publish(hal, "late", &out, constant(1), (struct t3_contents){0}, 0);
  T3_TRY(t3_wait_kernels(&gpu));
  return t3_close(&gpu);
}

static const struct t3_hal* hal_of_contents;
static void sleeping(const void* argument, uint32_t gpu, float* values) {
  (void)argument, (void)gpu;
  hal_of_contents->wait_ns(hal_of_contents->platform, 1000);
  values[0] = 1;
}

/* What is no number is expected, as it is there or in another form. */
static enum t3_status no_numbers(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  double expected = 0;
  T3_TRY(hal->argument_double(hal->platform, "expected", &expected));
  const struct t3_matrix matrix = {
      .address = t3_on_gpu(hal->gpu, 8192), .row_stride = 64, .rows = 2, .columns = 16, .element = T3_BF16};
  const struct t3_contents nan = constant(-(float)(INFINITY - INFINITY));
  publish(hal, "x", &matrix, nan, expected == 0 ? constant(NAN) : constant((float)expected), 0);
  return T3_OK;
}

/* A kernel that waits for what is never signalled, left behind. */
static enum t3_status careless(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  struct t3_context gpu;
  T3_TRY(t3_init(&gpu, hal));
  const struct t3_doubling_arguments arguments = {.out = t3_on_gpu(hal->gpu, 1 << 20), .rows = 1};
  unsigned char bytes[T3_DOUBLING_ARGUMENTS_BYTES];
  t3_doubling_arguments_to(&arguments, bytes);
  return t3_run_kernel(&gpu, "awaiting", bytes, sizeof bytes, (struct t3_kernel_options){0});
}

/* The same with a program that waits for the kernel's end for 20 us. */
static enum t3_status impatient(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  struct t3_context gpu;
  T3_TRY(t3_init(&gpu, hal));
  T3_TRY(t3_set_timeout(&gpu, 20000));
  const struct t3_doubling_arguments arguments = {.out = t3_on_gpu(hal->gpu, 1 << 20), .rows = 1};
  unsigned char bytes[T3_DOUBLING_ARGUMENTS_BYTES];
  t3_doubling_arguments_to(&arguments, bytes);
  T3_TRY(t3_run_kernel(&gpu, "awaiting", bytes, sizeof bytes, (struct t3_kernel_options){0}));
  return t3_wait_kernels(&gpu);
}

/* Computes a matrix of 2 x 16 elements. */
static void writing_more(const void* argument, uint32_t gpu, float* values) {
  (void)argument, (void)gpu;
  for (int i = 0; i < 2 * 16 + 1; ++i) values[i] = 1;
}

static void writing_before(const void* argument, uint32_t gpu, float* values) {
  (void)argument, (void)gpu;
  values[-2] = 1;
}

static void writing_far_behind(const void* argument, uint32_t gpu, float* values) {
  (void)argument, (void)gpu;
  values[1 << 20] = 1;
}

/* A published buffer that cannot be. */
static enum t3_status misfit(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  const char* what = NULL;
  T3_TRY(hal->argument_text(hal->platform, "what", &what));
  const struct t3_matrix matrix = {
      .address = t3_on_gpu(hal->gpu, 8192), .row_stride = 64, .rows = 2, .columns = 16, .element = T3_FP32};
  const struct t3_contents unsaid = {0}, nowhere = {.kind = T3_CONTENTS_VALUES};
  if (strcmp(what, "name") == 0) publish(hal, "a/b", &matrix, unsaid, unsaid, 0);
  if (strcmp(what, "contents") == 0) publish(hal, "x", &matrix, nowhere, unsaid, 0);
  if (strcmp(what, "tolerance") == 0) publish(hal, "x", &matrix, unsaid, unsaid, -1);
  if (strcmp(what, "twice") == 0) publish(hal, "x", &matrix, unsaid, unsaid, 0);
  if (strcmp(what, "twice") == 0) publish(hal, "x", &matrix, unsaid, unsaid, 0);
  if (strncmp(what, "over ", 5) == 0) {
    struct t3_matrix other = matrix;
    publish(hal, "x", &matrix, constant(1), unsaid, 0);
    other.address += strcmp(what, "over beside") == 0 ? 128 : 0;
    other.address += strcmp(what, "over a row") == 0 ? 64 : 0;
    publish(hal, "y", &other, strcmp(what, "over seen") == 0 ? unsaid : constant(1), constant(1), 0);
  }
  struct t3_matrix empty = matrix;
  empty.rows = strcmp(what, "rows") == 0 ? 0 : 2;
  empty.columns = strcmp(what, "columns") == 0 ? 0 : 16;
  if (empty.rows == 0 || empty.columns == 0) publish(hal, "x", &empty, constant(0), unsaid, 0);
  struct t3_matrix odd = matrix;
  odd.address += strcmp(what, "address") == 0 ? 2 : 0;
  odd.row_stride += strcmp(what, "stride") == 0 ? 2 : 0;
  if (odd.address != matrix.address || odd.row_stride != matrix.row_stride) publish(hal, "x", &odd, unsaid, unsaid, 0);
  const struct t3_contents more = {.kind = T3_CONTENTS_FUNCTION, .function = writing_more};
  const struct t3_contents before = {.kind = T3_CONTENTS_FUNCTION, .function = writing_before};
  const struct t3_contents wild = {.kind = T3_CONTENTS_FUNCTION, .function = writing_far_behind};
  if (strcmp(what, "initial") == 0) publish(hal, "x", &matrix, more, unsaid, 0);
  if (strcmp(what, "expected") == 0) publish(hal, "x", &matrix, unsaid, more, 0);
  if (strcmp(what, "before") == 0) publish(hal, "x", &matrix, unsaid, before, 0);
  if (strcmp(what, "wild") == 0) publish(hal, "x", &matrix, unsaid, wild, 0);
  hal_of_contents = hal;
  const struct t3_contents slow = {.kind = T3_CONTENTS_FUNCTION, .function = sleeping};
  if (strcmp(what, "call") == 0) publish(hal, "x", &matrix, slow, unsaid, 0);
  if (strcmp(what, "nothing") == 0) hal->publish(hal->platform, NULL);
  return T3_OK;
}

/* Says of a buffer as large as half of its memory what is in it, for which the platform needs as much. */
static enum t3_status large(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  uint64_t rows = 0;
  T3_TRY(hal->argument_u64(hal->platform, "rows", &rows));
  const struct t3_matrix matrix = {.address = t3_on_gpu(hal->gpu, 0),
                                   .row_stride = 4096,
                                   .rows = t3_at_most(rows, UINT32_MAX) & UINT32_MAX,
                                   .columns = 1024,
                                   .element = T3_FP32};
  const struct t3_contents unsaid = {0};
  publish(hal, "large", &matrix, unsaid, constant(0), 0);
  return T3_OK;
}

/* The platform's own program, called by another one. */
static enum t3_status wrapped(const struct t3_hal* hal, const struct t3_run* run) { return t3_run_fused(hal, run); }

static const struct t3_named_program programs[] = {{"phases", phases},
                                                   {"mislabelled", mislabelled},
                                                   {"alone", alone},
                                                   {"failing", failing},
                                                   {"asking", asking},
                                                   {"published", published},
                                                   {"twice", twice},
                                                   {"misfit", misfit},
                                                   {"large", large},
                                                   {"wrapped", wrapped},
                                                   {"shared", shared_units},
                                                   {"badly_worded", badly_worded},
                                                   {"naming", naming},
                                                   {"posting", posting},
                                                   {"unended", unended},
                                                   {"rewritten", rewritten},
                                                   {"no_numbers", no_numbers},
                                                   {"careless", careless},
                                                   {"impatient", impatient},
                                                   {"unbalanced", unbalanced},
                                                   {"overlapping", overlapping},
                                                   {"consuming", consuming},
                                                   {"streams_misused", streams_misused},
                                                   {"handing", handing},
                                                   {"counting", counting},
                                                   {"copying", copying},
                                                   {NULL, NULL}};

static const struct t3_kernel* const kernels[] = {
    &doubling_kernel, &awaiting_kernel, &naming_kernel, &posting_kernel, &consuming_kernel, &handing_kernel, NULL};

const struct t3_export_table t3_exports = {.version = T3_EXPORTS_VERSION,
                                           .layout = T3_EXPORTS_LAYOUT,
                                           .name = "guests",
                                           .programs = programs,
                                           .kernels = kernels};
