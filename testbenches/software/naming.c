/* A kernel that says that it names the tiles of its output, and a program that has them counted. */
#include <string.h>

#include "guests.h"
#include "t3/arguments/naming.h"
#include "t3/t3.h"

enum { SIDE = 32, WAVES = 4, ROWS = SIDE / WAVES, STRIDE = SIDE * 4 };

/* What each wave does with its rows, beside an update that is right or instead of it. */
enum naming {
  RIGHT,
  NAMELESS,
  ANOTHER,       /* names a workgroup that there is not */
  ANOTHER_AGAIN, /* a second update does, behind a right one */
  CACHED,        /* it stores through the cache */
  NOTHING
};
static const char* const words[] = {"right", "nameless", "another", "another_again", "cached", "nothing"};

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  (void)check, (void)launch;
  return true;
}

static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  (void)device;
  const struct t3_naming_arguments* p = launch->arguments;
  return (struct t3_plan){.name = "naming",
                          .workgroups = 1,
                          .workgroups_per_cu = 1,
                          .waves = WAVES,
                          .tiles = 1,
                          .written = {{p->out, p->out + SIDE * STRIDE}},
                          .written_count = 1,
                          .stores_here = true,
                          .tiles_named = T3_TILES_NAMED};
}

static void run(struct t3_wave* wave) {
  const struct t3_naming_arguments* p = wave->arguments;
  const struct t3_tile tile = {0, ROWS, SIDE, T3_FP32};
  struct t3_access access = {.address = p->out + (uint64_t)wave->wave * ROWS * STRIDE,
                             .stride = STRIDE,
                             .rows = ROWS,
                             .columns = SIDE,
                             .element = T3_FP32,
                             .uncached = p->how != CACHED,
                             .of = {.named = p->how != NAMELESS, .wavefront = (uint8_t)wave->wave}};
  if (p->how == NOTHING) return;
  t3_work(wave, &(struct t3_vector_work){.operations = 1, .operands = 1, .tiles = {tile}});
  if (p->how == ANOTHER_AGAIN) t3_update(wave, tile, access);
  if (p->how == ANOTHER || p->how == ANOTHER_AGAIN) access.of.workgroup = 100;
  if (p->how == CACHED)
    t3_store(wave, tile, access);
  else
    t3_update(wave, tile, access);
  t3_fence(wave);
}

const struct t3_kernel naming_kernel = {.name = "naming",
                                        .arguments = T3_NAMING_ARGUMENTS,
                                        .reads = "naming_read",
                                        .writes = "naming_write",
                                        .check = check,
                                        .plan = plan,
                                        .run = run};

static enum t3_status count(struct t3_context* gpu, struct t3_naming_arguments arguments) {
  struct t3_output out = {{.rows = SIDE, .columns = SIDE, .element = T3_FP32, .memory = T3_UNCACHED},
                          {SIDE, SIDE, WAVES}};
  T3_TRY(t3_matrix_malloc(gpu, &out.matrix));
  T3_TRY(t3_fill_zero(gpu, &out.matrix));
  const struct t3_dma_options options = {.updates = 1, .block_tiles = 1};
  T3_TRY(t3_dma_map(gpu, &out, (struct t3_chunk){0, 1}, 0, T3_NOTIFY, options));
  arguments.out = out.matrix.address;
  unsigned char bytes[T3_NAMING_ARGUMENTS_BYTES];
  t3_naming_arguments_to(&arguments, bytes);
  T3_TRY(t3_run_kernel(gpu, "naming", bytes, sizeof bytes, (struct t3_kernel_options){0}));
  T3_TRY(t3_wait_kernels(gpu));
  T3_TRY(t3_wait_dma(gpu));
  return t3_remote_unmap_all(gpu);
}

enum t3_status naming(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  struct t3_context gpu;
  const char* how = NULL;
  T3_TRY(hal->argument_text(hal->platform, "how", &how));
  T3_TRY(t3_init(&gpu, hal));
  struct t3_naming_arguments arguments = {0};
  while (strcmp(words[arguments.how], how) != 0) ++arguments.how;
  return count(&gpu, arguments);
}
