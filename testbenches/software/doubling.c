/* out = 2 a on fp32 elements, a workgroup for each row. */
#include "t3/arguments/doubling.h"
#include "guests.h"

enum { MOST_COLUMNS = 1024 };

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_doubling_arguments* p = launch->arguments;
  if (p->rows == 0 || p->columns == 0 || p->columns > MOST_COLUMNS)
    return t3_refuse(check, T3_BAD_PACKET, "%u x %u elements, 1 to %d columns expected", p->rows, p->columns,
                     MOST_COLUMNS);
  return true;
}

static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_doubling_arguments* p = launch->arguments;
  const uint64_t bytes = (uint64_t)p->rows * p->stride;
  return (struct t3_plan){.name = "doubling",
                          .workgroups = p->rows,
                          .workgroups_per_cu = device->kernels.rows.workgroups_per_cu,
                          .register_bytes = p->columns * (uint32_t)sizeof(float),
                          .waves = 1,
                          .tiles = 1,
                          .written = {{p->out, p->out + bytes}},
                          .written_count = 1,
                          .read = {{p->a, p->a + bytes}},
                          .read_count = 1,
                          .stores_here = true};
}

static void twice(const void* argument, float* const* operands) {
  const struct t3_doubling_arguments* p = argument;
  for (uint32_t i = 0; i < p->columns; ++i) operands[0][i] *= 2;
}

static void run(struct t3_wave* wave) {
  const struct t3_doubling_arguments* p = wave->arguments;
  const struct t3_tile row = {0, 1, p->columns, T3_FP32};
  const uint64_t offset = (uint64_t)wave->workgroup * p->stride;
  struct t3_access access = {
      .address = p->a + offset, .stride = p->stride, .rows = 1, .columns = p->columns, .element = T3_FP32};
  t3_load(wave, row, access);
  t3_work(wave, &(struct t3_vector_work){
                    .operations = p->columns, .operands = 1, .tiles = {row}, .compute = twice, .argument = p});
  access.address = p->out + offset;
  t3_store(wave, row, access);
  t3_fence(wave);
}

const struct t3_kernel doubling_kernel = {.name = "doubling",
                                          .arguments = T3_DOUBLING_ARGUMENTS,
                                          .reads = "doubling_read",
                                          .writes = "doubling_write",
                                          .check = check,
                                          .plan = plan,
                                          .run = run};
