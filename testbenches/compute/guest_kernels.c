#include "guest_kernels.h"

#include <string.h>

#include "guest_rows.h"
#include "t3/address.h"
#include "t3/arguments/gemm.h"
#include "t3/registers/signals.h"

struct t3_plan guest_plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_gemm_arguments* p = launch->arguments;
  return (struct t3_plan){.name = "guest",
                          .workgroups = 2,
                          .workgroups_per_cu = device->workgroups_per_cu,
                          .waves = 2,
                          .tiles = 3,
                          .local_bytes = sizeof(struct t3_wave*),
                          .written = {{p->out, p->out + 4 * 32}},
                          .written_count = 1,
                          .read = {{p->a, p->a + 4 * 32}},
                          .read_count = 1,
                          .sent = {{PEER_ROW, PEER_ROW + 32}},
                          .sent_count = 1,
                          .fetched = {{PEER_DATA, PEER_DATA + 4 * 32}},
                          .fetched_count = 1,
                          .shared = {{COUNTERS, COUNTERS + 64}},
                          .shared_count = 1,
                          .stores_here = true};
}

static bool accepts(struct t3_check* check, const struct t3_launch* launch) {
  (void)check, (void)launch;
  return true;
}

struct t3_kernel guest_kernel(void (*run)(struct t3_wave*),
                              struct t3_plan (*plan)(const struct t3_device*, const struct t3_launch*)) {
  return (struct t3_kernel){.name = "guest",
                            .arguments = T3_GEMM_ARGUMENTS,
                            .reads = "gemm_read",
                            .writes = "gemm_write",
                            .check = accepts,
                            .plan = plan,
                            .run = run};
}

static void fill(const void* argument, float* const* operands) {
  for (int i = 0; i < 8; ++i) operands[0][i] = *(const float*)argument;
}

void guest_meets(struct t3_wave* wave) {
  const struct t3_gemm_arguments* p = wave->arguments;
  uint32_t* sum = wave->local;
  for (uint32_t round = 0; round < 3; ++round) {
    *sum += wave->wave + 1;
    t3_workgroup_barrier(wave);
    const float found = (float)*sum;
    t3_workgroup_barrier(wave);
    if (wave->wave == round % 2)
      t3_work(wave, &(struct t3_vector_work){
                        .operations = 0, .operands = 1, .tiles = {first}, .compute = fill, .argument = &found});
  }
  t3_store(wave, first, row_of(p->out, 2 * wave->workgroup + wave->wave));
  t3_fence(wave);
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
  t3_fence(wave);
}

void guest_loads_a_half(struct t3_wave* wave) {
  const struct t3_gemm_arguments* p = wave->arguments;
  const uint32_t row = 2 * wave->workgroup + wave->wave;
  const struct t3_tile folded = {0, 2, 4, T3_FP32};
  struct t3_access access = row_of(p->a, row);
  t3_load(wave, first, access);
  t3_wait_tile(wave, first);
  access.columns = 4;
  t3_load(wave, folded, access);
  access.address = row_of(p->out, row).address;
  access.rows = 2, access.stride = 16;
  t3_store(wave, folded, access);
  t3_fence(wave);
}

static int deeper(volatile const int* before) {
  volatile int here[64];
  for (int i = 0; i < 64; ++i) here[i] = before[0] + 1;
  return here[0] < 80 ? deeper(here) + here[0] : 0; /* 80 times 256 bytes and more */
}

void guest_overruns(struct t3_wave* wave) {
  unsigned char* bytes = wave->local;
  const int written = wave->workgroup == 1 && wave->wave == 1 ? 6 : 5;
  for (int i = 0; i < written; ++i) bytes[i] = 1;
  t3_workgroup_barrier(wave);
}

void guest_recurses(struct t3_wave* wave) {
  const volatile int none = 0;
  if (wave->workgroup == 1 && wave->wave == 0 && deeper(&none) < 0) return;
  t3_workgroup_barrier(wave);
}

void guest_counts(struct t3_wave* wave) {
  const struct t3_gemm_arguments* p = wave->arguments;
  for (uint32_t i = 0; i < 4; ++i) {
    uint64_t far = 0;
    uint32_t near = 0;
    const bool done = t3_fetch_add_64(wave, t3_on_gpu(1, COUNTERS), UINT64_C(1) << 40, &far) &&
                      t3_fetch_add_32(wave, t3_on_gpu(0, COUNTERS + 32), 3, &near);
    const float found = done ? (float)(far >> 40) * 1000 + (float)near : -1;
    t3_work(wave, &(struct t3_vector_work){
                      .operations = 0, .operands = 1, .tiles = {first}, .compute = fill, .argument = &found});
  }
  t3_store(wave, first, row_of(p->out, 2 * wave->workgroup + wave->wave));
  t3_fence(wave);
}

void guest_loads_what_it_stored(struct t3_wave* wave) {
  const struct t3_gemm_arguments* p = wave->arguments;
  const float found = 42;
  if (wave->wave == 0 && wave->workgroup == 0) {
    t3_work(wave, &(struct t3_vector_work){
                      .operations = 0, .operands = 1, .tiles = {first}, .compute = fill, .argument = &found});
    t3_store(wave, first, row_of(t3_on_gpu(1, PEER_ROW), 0));
    t3_load(wave, second, row_of(t3_on_gpu(1, PEER_DATA), 0));
    t3_store(wave, first, row_of(t3_on_gpu(1, PEER_ROW), 0));
    t3_signal(wave, (struct t3_counter){.address = t3_block_base(1, T3_BLOCK_SIGNALS) + T3_SIGNALS_ADD_OFFSET +
                                                   T3_SIGNALS_ADD_STRIDE});
    t3_store(wave, second, row_of(p->out, 0));
    t3_fence(wave);
  }
}
