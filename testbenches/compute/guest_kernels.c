#include "guest_kernels.h"

#include "t3/arguments/gemm.h"

struct t3_plan guest_plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_gemm_arguments* p = launch->arguments;
  return (struct t3_plan){.name = "guest",
                          .workgroups = 2,
                          .workgroups_per_cu = device->workgroups_per_cu,
                          .waves = 2,
                          .tiles = 3,
                          .local_bytes = sizeof(struct t3_wave*),
                          .written = {{p->out, p->out + 4 * 32}},
                          .written_count = 1};
}

static bool accepts(struct t3_check* check, const struct t3_launch* launch) {
  (void)check, (void)launch;
  return true;
}

struct t3_kernel guest_kernel(void (*run)(struct t3_wave*),
                              struct t3_plan (*plan)(const struct t3_device*, const struct t3_launch*)) {
  return (struct t3_kernel){.name = "guest",
                            .arguments = T3_GEMM_ARGUMENTS,
                            .reads = T3_TRAFFIC_GEMM_READ,
                            .writes = T3_TRAFFIC_GEMM_WRITE,
                            .check = accepts,
                            .plan = plan,
                            .run = run};
}

/* Eight numbers of a row of a or out. */
static struct t3_access row_of(uint64_t matrix, uint32_t row) {
  return (struct t3_access){
      .address = matrix + row * UINT64_C(32), .stride = 32, .rows = 1, .columns = 8, .element = T3_FP32};
}

static const struct t3_tile first = {0, 1, 8, T3_FP32}, second = {1, 1, 8, T3_FP32};

static void fill(const void* argument, float* const* operands) {
  for (int i = 0; i < 8; ++i) operands[0][i] = *(const float*)argument;
}

void guest_meets(struct t3_wave* wave) {
  const struct t3_gemm_arguments* p = wave->arguments;
  uint32_t* sum = wave->local;
  for (uint32_t round = 0; round < 3; ++round) {
    *sum += wave->wave + 1;
    t3_meet(wave);
    const float found = (float)*sum;
    t3_meet(wave);
    if (wave->wave == round % 2)
      t3_work(wave, &(struct t3_vector_work){
                        .operations = 0, .operands = 1, .tiles = {first}, .compute = fill, .argument = &found});
  }
  t3_store(wave, first, row_of(p->out, 2 * wave->workgroup + wave->wave));
  t3_drain(wave);
}

static void double_it(const void* argument, float* const* operands) {
  (void)argument;
  for (int i = 0; i < 8; ++i) operands[1][i] = 2 * operands[0][i];
}

void guest_doubles(struct t3_wave* wave) {
  const struct t3_gemm_arguments* p = wave->arguments;
  const uint32_t row = 2 * wave->workgroup + wave->wave;
  t3_load(wave, first, row_of(p->a, row));
  t3_work(wave,
          &(struct t3_vector_work){.operations = 1024, .operands = 2, .tiles = {first, second}, .compute = double_it});
  t3_store(wave, second, row_of(p->out, row));
  t3_drain(wave);
}

static int deeper(volatile const int* before) {
  volatile int here[64];
  for (int i = 0; i < 64; ++i) here[i] = before[0] + 1;
  return here[0] < 80 ? deeper(here) + here[0] : 0; /* 80 times 256 bytes and more */
}

void guest_recurses(struct t3_wave* wave) {
  const volatile int none = 0;
  if (wave->workgroup == 1 && wave->wave == 0 && deeper(&none) < 0) return;
  t3_meet(wave);
}

static void leaves_loads(struct t3_wave* wave) {
  const struct t3_gemm_arguments* p = wave->arguments;
  t3_load(wave, first, row_of(p->a, 0));
}

static void leaves_stores(struct t3_wave* wave) {
  const struct t3_gemm_arguments* p = wave->arguments;
  t3_store(wave, first, row_of(p->out, 0));
}

static void loads_no_tile(struct t3_wave* wave) {
  const struct t3_gemm_arguments* p = wave->arguments;
  t3_load(wave, (struct t3_tile){3, 1, 8, T3_FP32}, row_of(p->a, 0));
}

static void loads_empty_tile(struct t3_wave* wave) {
  const struct t3_gemm_arguments* p = wave->arguments;
  t3_load(wave, (struct t3_tile){0, 0, 8, T3_FP32}, row_of(p->a, 0));
}

static void loads_beside_tile(struct t3_wave* wave) {
  const struct t3_gemm_arguments* p = wave->arguments;
  struct t3_access access = row_of(p->a, 0);
  access.column = 1;
  t3_load(wave, first, access);
}

static void stores_other_elements(struct t3_wave* wave) {
  const struct t3_gemm_arguments* p = wave->arguments;
  t3_store(wave, (struct t3_tile){0, 1, 8, T3_FP16}, row_of(p->out, 0));
}

static void multiplies_what_does_not_fit(struct t3_wave* wave) {
  t3_multiply(wave, (struct t3_product){.sum = {2, 1, 8, T3_FP32}, .a = first, .b = second, .m = 1, .n = 8, .k = 8});
}

static void adds_what_does_not_fit(struct t3_wave* wave) { t3_add(wave, first, (struct t3_tile){1, 8, 1, T3_FP32}); }

static void works_on_five(struct t3_wave* wave) {
  t3_work(wave, &(struct t3_vector_work){.operations = 1, .operands = 5});
}

static void works_backwards(struct t3_wave* wave) { t3_work(wave, &(struct t3_vector_work){.operations = -1}); }

static void works_on_fp16(struct t3_wave* wave) {
  t3_work(wave, &(struct t3_vector_work){.operations = 1, .operands = 1, .tiles = {{0, 1, 8, T3_FP16}}});
}

static void multiplies_in_place(struct t3_wave* wave) {
  t3_multiply(wave, (struct t3_product){.sum = first, .a = first, .b = second, .m = 1, .n = 8, .k = 8});
}

static void works_twice(struct t3_wave* wave) {
  t3_work(wave, &(struct t3_vector_work){.operations = 1, .operands = 2, .tiles = {first, first}});
}

static void call_device(const void* argument, float* const* operands) {
  (void)operands;
  t3_drain(*(struct t3_wave* const*)argument);
}

static void calls_from_its_work(struct t3_wave* wave) {
  t3_work(wave, &(struct t3_vector_work){.operations = 1, .compute = call_device, .argument = &wave});
}

static void calls_at_once_from_its_work(struct t3_wave* wave) {
  t3_work(wave, &(struct t3_vector_work){.compute = call_device, .argument = &wave});
}

static void calls_for_another(struct t3_wave* wave) {
  struct t3_wave** leader = wave->local;
  if (wave->wave == 0) *leader = wave;
  t3_meet(wave);
  t3_drain(*leader);
  t3_meet(wave);
}

static void awaits_no_tile(struct t3_wave* wave) { t3_arrive(wave, (struct t3_tile){7, 1, 8, T3_FP32}); }

static void calls_what_there_is_not(struct t3_wave* wave) {
  struct t3_call call;
  call.kind = (enum t3_call_kind)99;
  wave->call(wave, &call);
}

const struct guest_mistake guest_mistakes[] = {
    {loads_no_tile, "tile 3 of 1 x 8 fp32: one of the wave's 3, with elements, expected"},
    {loads_empty_tile, "tile 0 of 0 x 8 fp32: one of the wave's 3, with elements, expected"},
    {loads_beside_tile, "an access of 1 x 8 elements from (0, 1) on: a part of tile 0 of 1 x 8 fp32 expected"},
    {stores_other_elements, "an access of fp32 elements: those of tile 0 of 1 x 8 fp16, or fp32 there, expected"},
    {multiplies_what_does_not_fit,
     "a product of tile 0 of 1 x 8 fp32 and tile 1 of 1 x 8 fp32 in tile 2 of 1 x 8 fp32: fp32 tiles that fit"},
    {adds_what_does_not_fit, "a sum of tile 0 of 1 x 8 fp32 and tile 1 of 8 x 1 fp32: tiles alike expected"},
    {works_on_five, "work of 1 operations on 5 tiles: 0 or more on at most 4 expected"},
    {works_backwards, "work of -1 operations on 0 tiles: 0 or more on at most 4 expected"},
    {works_on_fp16, "work on tile 0 of 1 x 8 fp16: fp32 expected"},
    {multiplies_in_place, "a product of tiles 0 and 1 in 0: different ones expected"},
    {works_twice, "work on tile 0 twice: different ones expected"},
    {calls_from_its_work, "it calls the device for another wave, or from its work"},
    {calls_at_once_from_its_work, "it calls the device for another wave, or from its work"},
    {calls_for_another, "it calls the device for another wave, or from its work"},
    {awaits_no_tile, "tile 7 of 1 x 8 fp32: one of the wave's 3, with elements, expected"},
    {calls_what_there_is_not, "call 99: there is no such call of a device"},
    {leaves_loads, "it ends with 1 loads and 0 stores under way"},
    {leaves_stores, "it ends with 0 loads and 1 stores under way"},
    {0}};
