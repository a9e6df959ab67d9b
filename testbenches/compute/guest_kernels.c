#include "guest_kernels.h"

#include <math.h>
#include <setjmp.h>
#include <string.h>

#include "t3/address.h"
#include "t3/arguments/gemm.h"
#include "t3/registers/nic.h"
#include "t3/registers/signals.h"

enum { PEER_ROW = 0x4000, PEER_DATA = 0x5000, COUNTERS = 0x6000 };

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

void guest_loads_a_half(struct t3_wave* wave) {
  const struct t3_gemm_arguments* p = wave->arguments;
  const uint32_t row = 2 * wave->workgroup + wave->wave;
  const struct t3_tile folded = {0, 2, 4, T3_FP32};
  struct t3_access access = row_of(p->a, row);
  t3_load(wave, first, access);
  t3_arrive(wave, first);
  access.columns = 4;
  t3_load(wave, folded, access);
  access.address = row_of(p->out, row).address;
  access.rows = 2, access.stride = 16;
  t3_store(wave, folded, access);
  t3_drain(wave);
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
  t3_meet(wave);
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
  t3_work(wave, &(struct t3_vector_work){.operations = 1, .operands = 1, .tiles = {first}});
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

static void load_row(struct t3_wave* wave, uint64_t address) {
  t3_load(wave, first, row_of(address, 0));
  t3_arrive(wave, first);
}

static void compute_first(struct t3_wave* wave) {
  t3_work(wave, &(struct t3_vector_work){.operations = 1, .operands = 1, .tiles = {first}});
}

static void store_row(struct t3_wave* wave, uint64_t address) {
  compute_first(wave);
  t3_store(wave, first, row_of(address, 0));
}

static const struct t3_gemm_arguments* operands_of(const struct t3_wave* wave) { return wave->arguments; }

static void loads_what_it_does_not_read(struct t3_wave* wave) { load_row(wave, operands_of(wave)->a + 4 * 32 - 4); }

static void loads_from_all(struct t3_wave* wave) { load_row(wave, t3_on_gpu(T3_ALL_GPUS, operands_of(wave)->a)); }
static void loads_from_a_peer(struct t3_wave* wave) { load_row(wave, t3_on_gpu(1, operands_of(wave)->a)); }

static void counts_in_a_half(struct t3_wave* wave) {
  uint64_t old;
  (void)t3_fetch_add_64(wave, t3_on_gpu(1, COUNTERS + 4), 1, &old);
}

static void counts_in_three_bytes(struct t3_wave* wave) {
  uint64_t old;
  bool done;
  struct t3_call call;
  call.kind = T3_CALL_FETCH_ADD;
  call.integer = (struct t3_integer){.address = t3_on_gpu(1, COUNTERS), .bytes = 3, .old = &old, .done = &done};
  wave->call(wave, &call);
}

static void counts_for_nobody(struct t3_wave* wave) { (void)t3_fetch_add_32(wave, t3_on_gpu(1, COUNTERS), 1, NULL); }

static void counts_behind_its_counters(struct t3_wave* wave) {
  uint32_t old;
  (void)t3_fetch_add_32(wave, t3_on_gpu(1, COUNTERS + 64), 1, &old);
}

static void counts_in_signals(struct t3_wave* wave) {
  uint64_t old;
  (void)t3_fetch_add_64(wave, t3_block_base(1, T3_BLOCK_SIGNALS) + T3_SIGNALS_ADD_OFFSET, 1, &old);
}

static void reads_to_nowhere(struct t3_wave* wave) { (void)t3_read(wave, t3_on_gpu(1, COUNTERS), 8, NULL); }

static void reads_over_a_block(struct t3_wave* wave) {
  unsigned char bytes[16];
  (void)t3_read(wave, t3_on_gpu(1, COUNTERS + 56), 16, bytes);
}

static void reads_nothing(struct t3_wave* wave) {
  unsigned char byte;
  (void)t3_read(wave, t3_on_gpu(1, COUNTERS), 0, &byte);
}

static void reads_what_is_not_shared(struct t3_wave* wave) {
  unsigned char byte;
  (void)t3_read(wave, operands_of(wave)->a, 1, &byte);
}

static void reads_through_a_cache_of_any_byte(struct t3_wave* wave) {
  bool done;
  unsigned char byte;
  struct t3_call call;
  call.kind = T3_CALL_READ;
  call.bytes = (struct t3_bytes){.address = t3_on_gpu(1, COUNTERS), .bytes = 1, .read = &byte, .done = &done};
  memset(&call.bytes.cached, 0xA5, 1);
  wave->call(wave, &call);
}

static void writes_from_nowhere(struct t3_wave* wave) { t3_write(wave, t3_on_gpu(1, COUNTERS), NULL, 4); }

static void writes_65_bytes(struct t3_wave* wave) {
  const unsigned char bytes[65] = {0};
  t3_write(wave, t3_on_gpu(1, COUNTERS), bytes, 65);
}

static void writes_behind_what_is_shared(struct t3_wave* wave) {
  t3_write(wave, t3_on_gpu(1, COUNTERS + 64), &(uint32_t){1}, 4);
}

static void writes_to_all(struct t3_wave* wave) { t3_write(wave, t3_on_gpu(T3_ALL_GPUS, COUNTERS), &(uint32_t){1}, 4); }

static uint64_t doorbell_of(uint32_t gpu) { return t3_block_base(gpu, T3_BLOCK_NIC) + T3_NIC_DOORBELL_OFFSET; }

static void rings_a_doorbell(struct t3_wave* wave) { t3_write(wave, doorbell_of(0), &(uint32_t){1}, 4); }

static void rings_at_a_peer(struct t3_wave* wave) { t3_write(wave, doorbell_of(1), &(uint32_t){1}, 4); }

static void reads_a_doorbell(struct t3_wave* wave) {
  uint32_t posted;
  (void)t3_read(wave, doorbell_of(0), 4, &posted);
}

static void fails_without_a_word(struct t3_wave* wave) { t3_fail(wave, NULL); }

static void fails_with_a_word(struct t3_wave* wave) {
  t3_fail(wave, "no more");
  t3_meet(wave);
}

static void reads_what_it_writes(struct t3_wave* wave) {
  unsigned char bytes[8] = {0};
  t3_write(wave, t3_on_gpu(1, COUNTERS + 7), bytes, 1);
  (void)t3_read(wave, t3_on_gpu(1, COUNTERS), 8, bytes);
}

static void polls(struct t3_wave* wave, struct t3_condition condition) { (void)t3_await_value(wave, condition); }

static void polls_a_doorbell(struct t3_wave* wave) {
  polls(wave, (struct t3_condition){.address = doorbell_of(0), .bytes = 4, .mask = 1});
}

static void polls_three_bytes(struct t3_wave* wave) {
  polls(wave, (struct t3_condition){.address = t3_on_gpu(0, COUNTERS), .bytes = 3, .mask = 1});
}

static void polls_between_integers(struct t3_wave* wave) {
  polls(wave, (struct t3_condition){.address = t3_on_gpu(0, COUNTERS + 2), .bytes = 4, .mask = 1});
}

static void polls_without_a_mask(struct t3_wave* wave) {
  polls(wave, (struct t3_condition){.address = t3_on_gpu(0, COUNTERS), .bytes = 4});
}

static void polls_for_what_cannot_be(struct t3_wave* wave) {
  polls(wave, (struct t3_condition){.address = t3_on_gpu(0, COUNTERS), .bytes = 1, .mask = 0xF0, .value = 0x81});
}

static void polls_by_no_comparison(struct t3_wave* wave) {
  polls(wave, (struct t3_condition){
                  .address = t3_on_gpu(0, COUNTERS), .bytes = 4, .mask = 1, .comparison = (enum t3_comparison)3});
}

static void polls_what_is_not_shared(struct t3_wave* wave) {
  polls(wave, (struct t3_condition){.address = operands_of(wave)->out, .bytes = 4, .mask = 1});
}

static void polls_for_nobody(struct t3_wave* wave) {
  struct t3_call call;
  call.kind = T3_CALL_AWAIT_VALUE;
  call.poll.condition = (struct t3_condition){.address = t3_on_gpu(0, COUNTERS), .bytes = 4, .mask = 1};
  call.poll.done = NULL;
  wave->call(wave, &call);
}

static void loads_a_peers_registers(struct t3_wave* wave) {
  load_row(wave, t3_block_base(1, T3_BLOCK_SIGNALS) + T3_SIGNALS_VALUE_OFFSET);
}

static void loads_beyond_all_addresses(struct t3_wave* wave) {
  struct t3_access access = row_of(operands_of(wave)->a, 0);
  access.rows = 2, access.stride = UINT64_MAX - 64;
  t3_load(wave, (struct t3_tile){0, 2, 8, T3_FP32}, access);
}

static void loads_between_elements(struct t3_wave* wave) { load_row(wave, operands_of(wave)->a + 2); }

static void loads_rows_between_elements(struct t3_wave* wave) {
  struct t3_access access = row_of(operands_of(wave)->a, 0);
  access.rows = 2, access.stride = 34;
  t3_load(wave, (struct t3_tile){0, 2, 8, T3_FP32}, access);
}

static void stores_between_elements(struct t3_wave* wave) { store_row(wave, operands_of(wave)->out + 1); }

static struct t3_access overlapping(uint64_t matrix) {
  struct t3_access access = row_of(matrix, 0);
  access.rows = 2, access.stride = 28;
  return access;
}

static const struct t3_tile two_rows = {0, 2, 8, T3_FP32};

/* Which may be loaded from one place. */
static void stores_rows_over_each_other(struct t3_wave* wave) {
  t3_load(wave, two_rows, overlapping(operands_of(wave)->a));
  t3_store(wave, two_rows, overlapping(operands_of(wave)->out));
}

static void updates_rows_over_each_other(struct t3_wave* wave) {
  t3_load(wave, two_rows, overlapping(operands_of(wave)->a));
  t3_update(wave, two_rows, overlapping(operands_of(wave)->out));
}

/* What a structure holds that nobody has set. */
static void unset(bool* member) { memset(member, 0xA5, sizeof *member); }

static void loads_unset(struct t3_wave* wave) {
  struct t3_access access = row_of(operands_of(wave)->a, 0);
  unset(&access.uncached);
  t3_load(wave, first, access);
}

static void stores_unset_at_once(struct t3_wave* wave) {
  struct t3_access access = row_of(operands_of(wave)->out, 0);
  unset(&access.at_once);
  compute_first(wave);
  t3_store(wave, first, access);
}

static void updates_unset_named(struct t3_wave* wave) {
  struct t3_access access = row_of(operands_of(wave)->out, 0);
  unset(&access.of.named);
  compute_first(wave);
  t3_update(wave, first, access);
}

static void multiplies_unset(struct t3_wave* wave) {
  struct t3_product product = {.sum = {2, 1, 8, T3_FP32}, .a = first, .b = {1, 8, 8, T3_FP32}, .m = 1, .n = 8, .k = 8};
  unset(&product.adds);
  compute_first(wave);
  t3_work(wave, &(struct t3_vector_work){.operations = 1, .operands = 1, .tiles = {{1, 8, 8, T3_FP32}}});
  t3_multiply(wave, product);
}

static void stores_what_it_does_not_write(struct t3_wave* wave) { store_row(wave, operands_of(wave)->out - 32); }

static void updates_what_it_reads(struct t3_wave* wave) {
  compute_first(wave);
  t3_update(wave, first, row_of(operands_of(wave)->a, 0));
}

static void stores_where_it_does_not_send(struct t3_wave* wave) { store_row(wave, t3_on_gpu(1, PEER_ROW + 4)); }

static void signals_memory(struct t3_wave* wave) {
  t3_signal(wave, (struct t3_counter){.address = operands_of(wave)->out});
}

static void signals_what_is_waited_for(struct t3_wave* wave) {
  t3_signal(wave, (struct t3_counter){.address = t3_block_base(0, T3_BLOCK_SIGNALS) + T3_SIGNALS_VALUE_OFFSET});
}

static void signals_stores_backwards(struct t3_wave* wave) {
  t3_signal(wave, (struct t3_counter){.address = t3_block_base(0, T3_BLOCK_SIGNALS) + T3_SIGNALS_ADD_OFFSET,
                                      .stored = {64, 32}});
}

static void signals_stores_elsewhere(struct t3_wave* wave) {
  t3_signal(wave, (struct t3_counter){.address = t3_block_base(1, T3_BLOCK_SIGNALS) + T3_SIGNALS_ADD_OFFSET,
                                      .stored = {t3_on_gpu(1, PEER_ROW), t3_on_gpu(1, PEER_ROW + 33)}});
}

static void signals_stores_on_another_gpu(struct t3_wave* wave) {
  t3_signal(wave, (struct t3_counter){.address = t3_block_base(1, T3_BLOCK_SIGNALS) + T3_SIGNALS_ADD_OFFSET,
                                      .stored = {t3_on_gpu(2, PEER_ROW), t3_on_gpu(2, PEER_ROW + 32)}});
}

static void signals_stores_here(struct t3_wave* wave) {
  const uint64_t out = operands_of(wave)->out;
  const uint64_t counter = t3_block_base(0, T3_BLOCK_SIGNALS) + T3_SIGNALS_ADD_OFFSET;
  t3_signal(wave, (struct t3_counter){.address = counter, .stored = {out, out + 128}});
  t3_signal(wave, (struct t3_counter){.address = counter, .stored = {out, out + 129}});
}

static void awaits_a_peers_counter(struct t3_wave* wave) {
  t3_await(wave, (struct t3_counter){.address = t3_block_base(1, T3_BLOCK_SIGNALS) + T3_SIGNALS_VALUE_OFFSET});
}

static const struct t3_tile narrow = {0, 1, 4, T3_FP32};

static void stores_nothing(struct t3_wave* wave) { t3_store(wave, first, row_of(operands_of(wave)->out, 0)); }

static void stores_in_another_shape(struct t3_wave* wave) {
  struct t3_access access = row_of(operands_of(wave)->out, 0);
  access.columns = 4;
  load_row(wave, operands_of(wave)->a);
  t3_store(wave, narrow, access);
}

static void works_in_another_shape(struct t3_wave* wave) {
  load_row(wave, operands_of(wave)->a);
  t3_work(wave, &(struct t3_vector_work){.operations = 1, .operands = 1, .tiles = {narrow}});
}

static void loads_over_a_load(struct t3_wave* wave) {
  struct t3_access access = row_of(operands_of(wave)->a, 0);
  t3_load(wave, first, access);
  access.columns = 4;
  t3_load(wave, narrow, access);
}

static void adds_to_what_is_not_computed(struct t3_wave* wave) {
  compute_first(wave);
  t3_work(wave, &(struct t3_vector_work){.operations = 1, .operands = 1, .tiles = {{1, 8, 8, T3_FP32}}});
  t3_multiply(
      wave, (struct t3_product){
                .sum = {2, 1, 8, T3_FP32}, .a = first, .b = {1, 8, 8, T3_FP32}, .m = 1, .n = 8, .k = 8, .adds = true});
}

static void loads_too_large_a_tile(struct t3_wave* wave) {
  t3_load(wave, (struct t3_tile){0, 65536, 1025, T3_FP32}, row_of(operands_of(wave)->a, 0));
}

static void loads_twice(struct t3_wave* wave) {
  struct t3_access access = row_of(operands_of(wave)->a, 0);
  access.columns = 4;
  t3_load(wave, first, access);
  access.column = 4;
  t3_load(wave, first, access);
  access.column = 3;
  t3_load(wave, first, access);
}

static void loads_without_end(struct t3_wave* wave) {
  struct t3_access access = row_of(operands_of(wave)->a, 0);
  access.columns = 1;
  for (uint32_t i = 0;; ++i) {
    access.row = i;
    t3_load(wave, (struct t3_tile){0, 1 << 20, 8, T3_FP32}, access);
  }
}

static void multiplies_too_small(struct t3_wave* wave) {
  compute_first(wave);
  t3_work(wave, &(struct t3_vector_work){.operations = 1, .operands = 1, .tiles = {{1, 8, 8, T3_FP32}}});
  t3_multiply(wave, (struct t3_product){
                        .sum = {2, 1, 8, T3_FP32}, .a = first, .b = {1, 8, 8, T3_FP32}, .m = 1, .n = 8, .k = 7});
}

static void write_behind(const void* argument, float* const* operands) {
  (void)argument;
  operands[0][8] = 1;
}

static void write_far_behind(const void* argument, float* const* operands) {
  (void)argument;
  operands[1][8 + 200] = 1;
}

static void write_before(const void* argument, float* const* operands) {
  (void)argument;
  operands[1][-1] = 1;
}

static void work_by(struct t3_wave* wave, void (*compute)(const void*, float* const*), const void* argument) {
  t3_work(wave,
          &(struct t3_vector_work){
              .operations = 1, .operands = 2, .tiles = {second, first}, .compute = compute, .argument = argument});
}

static void works_far_behind_its_tile(struct t3_wave* wave) { work_by(wave, write_far_behind, NULL); }

static void works_before_its_tile(struct t3_wave* wave) { work_by(wave, write_before, NULL); }

static void write_to(const void* argument, float* const* operands) {
  (void)operands;
  *(unsigned char*)argument ^= 1;
}

static void changes_its_arguments(struct t3_wave* wave) {
  ((struct t3_gemm_arguments*)wave->arguments)->k ^= 1;
  t3_drain(wave);
}

static void changes_the_device(struct t3_wave* wave) {
  ((struct t3_device*)wave->device)->slab_depth ^= 1;
  t3_drain(wave);
}

static void changes_its_arguments_by_work(struct t3_wave* wave) { work_by(wave, write_to, wave->arguments); }

static void writes_before_its_local_memory(struct t3_wave* wave) {
  ((unsigned char*)wave->local)[-1] ^= 1;
  t3_drain(wave);
}

static void works_before_its_local_memory(struct t3_wave* wave) {
  work_by(wave, write_to, (const unsigned char*)wave->local - 1);
}

static void loads_what_it_has_updated(struct t3_wave* wave) {
  struct t3_access access = row_of(operands_of(wave)->out, 0);
  compute_first(wave);
  t3_update(wave, first, access);
  access.address += 32;
  t3_load(wave, second, access);
  access.address -= 4;
  access.columns = 1;
  t3_load(wave, (struct t3_tile){2, 1, 1, T3_FP32}, access);
}

/* Columns of a matrix that lie between each other may be on their way; what has been taken may be loaded. */
static void loads_what_it_has_stored(struct t3_wave* wave) {
  struct t3_access access = row_of(operands_of(wave)->out, 0);
  const struct t3_tile half = {0, 4, 4, T3_FP32}, part = {1, 4, 2, T3_FP32};
  t3_work(wave, &(struct t3_vector_work){.operations = 1, .operands = 1, .tiles = {half}});
  access.rows = 4, access.columns = 4;
  t3_store(wave, half, access);
  t3_drain(wave);
  t3_load(wave, half, access);
  t3_store(wave, half, access);
  access.columns = 2;
  access.address += 16;
  t3_load(wave, part, access);
  t3_arrive(wave, part);
  access.address -= 4;
  t3_load(wave, part, access);
}

static jmp_buf of_program;

static void jump(const void* argument, float* const* operands) {
  (void)argument, (void)operands;
  longjmp(of_program, 1);
}

static void jumps_out_of_its_work(struct t3_wave* wave) {
  if (setjmp(of_program) == 0) work_by(wave, jump, NULL);
  t3_drain(wave);
}

static void jumps_out_of_its_work_and_ends(struct t3_wave* wave) {
  if (setjmp(of_program) == 0) work_by(wave, jump, NULL);
}

static void jumps_to_another(struct t3_wave* wave) {
  if (wave->wave == 0) {
    if (setjmp(of_program) == 0) t3_meet(wave);
  } else {
    longjmp(of_program, 1);
  }
}

static void works_behind_its_tile(struct t3_wave* wave) {
  t3_work(wave, &(struct t3_vector_work){.operations = 1, .operands = 1, .tiles = {first}, .compute = write_behind});
}

static void ends_before_it_meets(struct t3_wave* wave) {
  if (wave->wave == 0) t3_meet(wave);
}

static void meets_nobody(struct t3_wave* wave) {
  if (wave->wave == 1) t3_meet(wave);
}

static void fills_the_host(struct t3_wave* wave) {
  for (uint32_t i = 0; i < 3; ++i)
    t3_work(wave, &(struct t3_vector_work){.operations = 0, .operands = 1, .tiles = {{i, 8192, 8192, T3_FP32}}});
  t3_meet(wave);
}

static void works_for_ever(struct t3_wave* wave) { t3_work(wave, &(struct t3_vector_work){.operations = INFINITY}); }

static void works_beyond_time(struct t3_wave* wave) { t3_work(wave, &(struct t3_vector_work){.operations = 1e300}); }

static void multiplies_beyond_time(struct t3_wave* wave) {
  compute_first(wave);
  t3_work(wave, &(struct t3_vector_work){.operations = 1, .operands = 1, .tiles = {{1, 8, 8, T3_FP32}}});
  t3_multiply(wave, (struct t3_product){.sum = {2, 1, 8, T3_FP32},
                                        .a = first,
                                        .b = {1, 8, 8, T3_FP32},
                                        .m = UINT32_MAX,
                                        .n = UINT32_MAX,
                                        .k = UINT32_MAX});
}

static void calls_for_nothing(struct t3_wave* wave) {
  wave->call(wave, NULL);
  t3_drain(wave);
}

static void says_it_is_another(struct t3_wave* wave) {
  wave->wave = 1 - wave->wave;
  t3_drain(wave);
}

static void shows_nothing(struct t3_wave* wave) { t3_show(wave, NULL, 0); }
static void notes_nothing(struct t3_wave* wave) { t3_note(wave, NULL, 0); }

static void awaits_no_tile(struct t3_wave* wave) { t3_arrive(wave, (struct t3_tile){7, 1, 8, T3_FP32}); }

static void loads_into_no_type(struct t3_wave* wave) {
  t3_load(wave, (struct t3_tile){0, 1, 8, (enum t3_element)7}, row_of(operands_of(wave)->a, 0));
}

static void loads_no_type(struct t3_wave* wave) {
  struct t3_access access = row_of(operands_of(wave)->a, 0);
  access.element = (enum t3_element)UINT32_MAX;
  t3_load(wave, first, access);
}

static void works_on_no_type(struct t3_wave* wave) {
  t3_work(wave, &(struct t3_vector_work){.operands = 1, .tiles = {{1, 8, 8, (enum t3_element)3}}});
}

static void calls_what_there_is_not(struct t3_wave* wave) {
  struct t3_call call;
  call.kind = (enum t3_call_kind)99;
  wave->call(wave, &call);
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
  t3_drain(wave);
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
    t3_signal(wave, (struct t3_counter){.address = t3_block_base(1, T3_BLOCK_SIGNALS) + T3_SIGNALS_ADD_OFFSET});
    t3_store(wave, second, row_of(p->out, 0));
    t3_drain(wave);
  }
}

const struct guest_mistake guest_mistakes[] = {
    {loads_no_tile, "tile 3 of 1 x 8 fp32: one of the wave's 3, with elements, up to 67108864, expected"},
    {loads_empty_tile, "tile 0 of 0 x 8 fp32: one of the wave's 3, with elements, up to 67108864, expected"},
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
    {calls_from_its_work, "it calls the device for another wave, from its work, or for nothing"},
    {calls_at_once_from_its_work, "it calls the device for another wave, from its work, or for nothing"},
    {calls_for_another, "it calls the device for another wave, from its work, or for nothing"},
    {awaits_no_tile, "tile 7 of 1 x 8 fp32: one of the wave's 3, with elements, up to 67108864, expected"},
    {loads_into_no_type, "tile 0 of 1 x 8 elements of type 7: fp16 (0), bf16 (1) or fp32 (2) expected"},
    {loads_no_type, "an access of elements of type 4294967295: fp16 (0), bf16 (1) or fp32 (2) expected"},
    {works_on_no_type, "tile 1 of 8 x 8 elements of type 3: fp16 (0), bf16 (1) or fp32 (2) expected"},
    {calls_what_there_is_not, "call 99: there is no such call of a device"},
    {loads_what_it_does_not_read,
     "a load from 0x1007c to 0x1009b: its plan reads 0x10000 to 0x1007f and writes 0x90000 to 0x9007f, memory of"},
    {loads_from_a_peer,
     "a load from 0x100000010000 to 0x10000001001f of GPU 1: its plan fetches from 0x5000 to 0x507f of other GPUs, "
     "memory of this expected"},
    {loads_from_all,
     "a load from 0xffffe00000010000 to 0xffffe0000001001f of all GPUs: its plan fetches from 0x5000 to 0x507f of"},
    {loads_a_peers_registers,
     "of GPU 1: its plan fetches from 0x5000 to 0x507f of other GPUs, memory of this expected"},
    {counts_in_a_half, "a fetch-and-add of 8 bytes at 0x100000006004: a multiple of 8 expected"},
    {counts_in_three_bytes, "a fetch-and-add of 3 bytes at 0x100000006000: an integer of 4 or 8 bytes expected"},
    {counts_for_nobody, "a fetch-and-add at 0x100000006000 without a place for the old value: one expected"},
    {counts_behind_its_counters,
     "a fetch-and-add of 4 bytes at 0x100000006040 of GPU 1: its plan shares 0x6000 to 0x603f of any GPU, memory of "
     "this expected"},
    {reads_to_nowhere, "a read of 8 bytes at 0x100000006000 without a place to put them: one expected"},
    {reads_over_a_block, "a read of 16 bytes at 0x100000006038: 1 to 64 within one block of 64 expected"},
    {reads_nothing, "a read of 0 bytes at 0x100000006000: 1 to 64 within one block of 64 expected"},
    {reads_what_is_not_shared, " of GPU 0: its plan shares 0x6000 to 0x603f of any GPU, memory of this expected"},
    {reads_through_a_cache_of_any_byte, "a read at 0x100000006000 whose cached is 165: false (0) or true (1)"},
    {writes_from_nowhere, "a write of 4 bytes at 0x100000006000 without a place to take them from: one expected"},
    {writes_65_bytes, "a write of 65 bytes at 0x100000006000: 1 to 64 within one block of 64 expected"},
    {writes_behind_what_is_shared,
     "a write of 4 bytes at 0x100000006040 of GPU 1: its plan shares 0x6000 to 0x603f of any GPU, memory of this"},
    {writes_to_all, "a write to 0xffffe00000006000 of all GPUs: an address of one expected"},
    {rings_a_doorbell, ", in the doorbell page of GPU 0's NIC: a plan whose doorbells is true expected"},
    {rings_at_a_peer, ", in the doorbell page of GPU 1's NIC: that of GPU 0, the kernel's own, expected"},
    {reads_a_doorbell, ", in the doorbell page of GPU 0's NIC: t3_write expected, nothing else of a kernel reaches it"},
    {polls_a_doorbell, ", in the doorbell page of GPU 0's NIC: t3_write expected, nothing else of a kernel reaches it"},
    {fails_without_a_word, "a failure that says nothing: a text expected"},
    {fails_with_a_word, "no more"},
    {reads_what_it_writes,
     "a read of 8 bytes at 0x100000006000: its own write of 1 bytes at 0x100000006007 is under way, t3_drain before"},
    {polls_three_bytes, "a poll of 3 bytes at 0x6000: an integer of 1, 2, 4 or 8 bytes expected"},
    {polls_between_integers, "a poll of 4 bytes at 0x6002: a multiple of 4 expected"},
    {polls_without_a_mask, "a poll of 4 bytes at 0x6000 for 0x0 under mask 0x0: a mask of some of 0xffffffff and a"},
    {polls_for_what_cannot_be, "a poll of 1 bytes at 0x6000 for 0x81 under mask 0xf0: a mask of some of 0xff and a"},
    {polls_by_no_comparison, "a poll of 0x6000 with comparison 3: T3_EQUAL (0), T3_NOT_EQUAL (1) or T3_AT_LEAST (2)"},
    {polls_what_is_not_shared, " of GPU 0: its plan shares 0x6000 to 0x603f of any GPU, memory of this expected"},
    {polls_for_nobody, "a poll of 0x6000 without a place to tell its end: one expected"},
    {counts_in_signals, " of GPU 1: its plan shares 0x6000 to 0x603f of any GPU, memory of this expected"},
    {loads_beyond_all_addresses, "an access of 2 rows 18446744073709551551 bytes apart"},
    {loads_between_elements, "an access of 1 rows 32 bytes apart at 0x10002 of fp32 elements: multiples of 4 expected"},
    {loads_rows_between_elements,
     "an access of 2 rows 34 bytes apart at 0x10000 of fp32 elements: multiples of 4 expected"},
    {stores_between_elements,
     "an access of 1 rows 32 bytes apart at 0x90001 of fp32 elements: multiples of 4 expected"},
    {stores_rows_over_each_other,
     "an access of 2 rows 28 bytes apart at 0x90000 that stores 32 bytes each: rows that do not overlap expected"},
    {updates_rows_over_each_other,
     "an access of 2 rows 28 bytes apart at 0x90000 that stores 32 bytes each: rows that do not overlap expected"},
    {loads_unset, "an access whose uncached is 165: false (0) or true (1) expected"},
    {stores_unset_at_once, "an access whose at_once is 165: false (0) or true (1) expected"},
    {updates_unset_named, "an access whose of.named is 165: false (0) or true (1) expected"},
    {multiplies_unset, "a product whose adds is 165: false (0) or true (1) expected"},
    {stores_what_it_does_not_write, ": its plan writes "},
    {updates_what_it_reads, ": its plan writes "},
    {stores_where_it_does_not_send, "of GPU 1: its plan sends to 0x4000 to 0x401f of other GPUs, memory of this"},
    {signals_memory, "a signal to 0x"},
    {signals_what_is_waited_for, "a signal to 0x"},
    {signals_stores_backwards, "a signal that says that stores went to 0x40 up to 0x20: a range expected"},
    {signals_stores_elsewhere,
     "a signal to GPU 1 that says that stores went to 0x100000004000 to 0x100000004020: its plan sends to 0x4000 to "
     "0x401f of other GPUs, memory of this expected there"},
    {signals_stores_on_another_gpu, "a signal to GPU 1 that says that stores went to 0x200000004000 to "},
    {signals_stores_here,
     "a signal to GPU 0 that says that stores went to 0x90000 to 0x90080: its plan writes 0x90000 to 0x9007f"},
    {awaits_a_peers_counter, "a wait for 0x"},
    {stores_nothing, "tile 0 of 1 x 8 fp32: nothing has been loaded or computed there"},
    {stores_in_another_shape, "tile 0 of 1 x 4 fp32: it holds tile 0 of 1 x 8 fp32, which is expected"},
    {works_in_another_shape, "tile 0 of 1 x 4 fp32: it holds tile 0 of 1 x 8 fp32, which is expected"},
    {loads_over_a_load, "tile 0 of 1 x 4 fp32: 1 loads of tile 0 of 1 x 8 fp32 are under way"},
    {adds_to_what_is_not_computed, "tile 2 of 1 x 8 fp32: nothing has been loaded or computed there"},
    {loads_too_large_a_tile, "tile 0 of 65536 x 1025 fp32: one of the wave's 3, with elements, up to 67108864,"},
    {fills_the_host, "tiles of 67108864 elements beside 268435456 of others: up to 268435456 at once expected"},
    {loads_twice, "a load of 1 x 4 elements into tile 0 of 1 x 8 fp32 from (0, 3) on: another load into some of them"},
    {loads_without_end, "4096 loads and stores are under way: less than 4096 expected"},
    {multiplies_too_small,
     "a product of 1 x 8 times 8 x 8 elements as one of 1 x 7 times 7 x 8: no smaller one expected"},
    {works_behind_its_tile, "its work has written behind tile 0 of 1 x 8 fp32"},
    {works_far_behind_its_tile, "its work has written behind tile 0 of 1 x 8 fp32"},
    {works_before_its_tile, "its work has written before tile 0 of 1 x 8 fp32"},
    {changes_its_arguments, "it has changed its arguments or the struct t3_device, which all of its workgroups read"},
    {changes_the_device, "it has changed its arguments or the struct t3_device, which all of its workgroups read"},
    {changes_its_arguments_by_work, "it has changed its arguments or the struct t3_device, which all of its"},
    {writes_before_its_local_memory, "it has written before the 8 bytes of its local memory"},
    {works_before_its_local_memory, "its work has written before the 8 bytes of its local memory"},
    {loads_what_it_has_updated,
     "a load of 1 rows 32 bytes apart at 0x9001c: its own update of 1 rows 32 bytes apart at 0x90000 is under way, "
     "t3_drain before it expected"},
    {loads_what_it_has_stored,
     "a load of 4 rows 32 bytes apart at 0x9000c: its own store of 4 rows 32 bytes apart at 0x90000 is under way, "
     "t3_drain before it expected"},
    {jumps_out_of_its_work, "its work has jumped to where a program has been called: its own return expected"},
    {jumps_out_of_its_work_and_ends, "its work has jumped to where a program has been called: its own return expected"},
    {jumps_to_another, "its program has jumped to where another one has been called: its own return expected"},
    {ends_before_it_meets, "it ends while 1 waves of its workgroup wait for it in t3_meet"},
    {meets_nobody, "it waits in t3_meet for 1 waves of its workgroup that have ended"},
    {works_for_ever, "work of inf operations on 0 tiles: 0 or more on at most 4 expected"},
    {works_beyond_time, "cycles: work that ends within 4000000 s of simulated time expected"},
    {multiplies_beyond_time, "cycles: work that ends within 4000000 s of simulated time expected"},
    {calls_for_nothing, "it calls the device for another wave, from its work, or for nothing"},
    {says_it_is_another, "it has changed its struct t3_wave"},
    {shows_nothing, "a name for the timeline that is none"},
    {notes_nothing, "an instant of the timeline without a name"},
    {leaves_loads, "it ends with 1 loads and 0 stores under way"},
    {leaves_stores, "it ends with 0 loads and 1 stores under way"},
    {0}};
