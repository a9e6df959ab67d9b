#include "scale.h"

enum { COLUMNS_AT_A_TIME = 256 };

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_scale_arguments* p = launch->arguments;
  if (p->rows == 0 || p->columns == 0)
    return t3_refuse(check, T3_BAD_PACKET, "%u x %u elements, at least 1 x 1 expected", p->rows, p->columns);
  if (p->stride % 32 != 0) return t3_refuse(check, T3_UNALIGNED, "a stride of %u bytes, a multiple of 32 expected", p->stride);
  return true;
}

/* A workgroup for each row. */
static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_scale_arguments* p = launch->arguments;
  const uint64_t bytes = (uint64_t)p->rows * p->stride;
  return (struct t3_plan){.name = "scale",
                          .workgroups = p->rows,
                          .workgroups_per_cu = device->kernels.rows.workgroups_per_cu,
                          .register_bytes = COLUMNS_AT_A_TIME * sizeof(float),
                          .waves = 1,
                          .tiles = 1,
                          .written = {{p->out, p->out + bytes}},
                          .written_count = 1,
                          .read = {{p->in, p->in + bytes}},
                          .read_count = 1,
                          .stores_here = true};
}

struct part {
  float factor;
  uint32_t columns;
};

static void multiply(const void* argument, float* const* operands) {
  const struct part* part = argument;
  for (uint32_t i = 0; i < part->columns; ++i) operands[0][i] *= part->factor;
}

static void run(struct t3_wave* wave) {
  const struct t3_scale_arguments* p = wave->arguments;
  for (uint32_t column = 0; column < p->columns; column += COLUMNS_AT_A_TIME) {
    const uint32_t left = p->columns - column;
    const struct part part = {p->factor, left < COLUMNS_AT_A_TIME ? left : COLUMNS_AT_A_TIME};
    const struct t3_tile tile = {.index = 0, .rows = 1, .columns = part.columns, .element = T3_FP32};
    const uint64_t offset = (uint64_t)wave->workgroup * p->stride + column * sizeof(float);
    struct t3_access access = {.address = p->in + offset,
                               .stride = p->stride,
                               .rows = 1,
                               .columns = part.columns,
                               .element = T3_FP32};
    t3_load(wave, tile, access);
    t3_work(wave, &(struct t3_vector_work){
                      .operations = part.columns, .operands = 1, .tiles = {tile}, .compute = multiply, .argument = &part});
    access.address = p->out + offset;
    t3_store(wave, tile, access);
    t3_fence(wave);
  }
}

const struct t3_kernel scale_kernel = {.name = "scale",
                                       .arguments = T3_SCALE_ARGUMENTS,
                                       .reads = "gemm_read",
                                       .writes = "gemm_write",
                                       .check = check,
                                       .plan = plan,
                                       .run = run};
