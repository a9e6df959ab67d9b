#include "guest_kernels.h"

#include <math.h>
#include <setjmp.h>
#include <string.h>

#include "guest_rows.h"
#include "t3/arguments/gemm.h"

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
  t3_fence(*(struct t3_wave* const*)argument);
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
  t3_workgroup_barrier(wave);
  t3_fence(*leader);
  t3_workgroup_barrier(wave);
}

static void fails_without_a_word(struct t3_wave* wave) { t3_fail(wave, NULL); }

static void fails_with_a_word(struct t3_wave* wave) {
  t3_fail(wave, "no more");
  t3_workgroup_barrier(wave);
}

static void multiplies_unset(struct t3_wave* wave) {
  struct t3_product product = {.sum = {2, 1, 8, T3_FP32}, .a = first, .b = {1, 8, 8, T3_FP32}, .m = 1, .n = 8, .k = 8};
  unset(&product.adds);
  compute_first(wave);
  t3_work(wave, &(struct t3_vector_work){.operations = 1, .operands = 1, .tiles = {{1, 8, 8, T3_FP32}}});
  t3_multiply(wave, product);
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
  t3_fence(wave);
}

static void changes_the_device(struct t3_wave* wave) {
  ((struct t3_device*)wave->device)->slab_depth ^= 1;
  t3_fence(wave);
}

static void changes_its_arguments_by_work(struct t3_wave* wave) { work_by(wave, write_to, wave->arguments); }

static void writes_before_its_local_memory(struct t3_wave* wave) {
  ((unsigned char*)wave->local)[-1] ^= 1;
  t3_fence(wave);
}

static void works_before_its_local_memory(struct t3_wave* wave) {
  work_by(wave, write_to, (const unsigned char*)wave->local - 1);
}

static jmp_buf of_program;

static void jump(const void* argument, float* const* operands) {
  (void)argument, (void)operands;
  longjmp(of_program, 1);
}

static void jumps_out_of_its_work(struct t3_wave* wave) {
  if (setjmp(of_program) == 0) work_by(wave, jump, NULL);
  t3_fence(wave);
}

static void jumps_out_of_its_work_and_ends(struct t3_wave* wave) {
  if (setjmp(of_program) == 0) work_by(wave, jump, NULL);
}

static void jumps_to_another(struct t3_wave* wave) {
  if (wave->wave == 0) {
    if (setjmp(of_program) == 0) t3_workgroup_barrier(wave);
  } else {
    longjmp(of_program, 1);
  }
}

static void works_behind_its_tile(struct t3_wave* wave) {
  t3_work(wave, &(struct t3_vector_work){.operations = 1, .operands = 1, .tiles = {first}, .compute = write_behind});
}

static void ends_before_it_meets(struct t3_wave* wave) {
  if (wave->wave == 0) t3_workgroup_barrier(wave);
}

static void meets_nobody(struct t3_wave* wave) {
  if (wave->wave == 1) t3_workgroup_barrier(wave);
}

static void fills_the_host(struct t3_wave* wave) {
  for (uint32_t i = 0; i < 3; ++i)
    t3_work(wave, &(struct t3_vector_work){.operations = 0, .operands = 1, .tiles = {{i, 8192, 8192, T3_FP32}}});
  t3_workgroup_barrier(wave);
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
  t3_fence(wave);
}

static void says_it_is_another(struct t3_wave* wave) {
  wave->wave = 1 - wave->wave;
  t3_fence(wave);
}

static void shows_nothing(struct t3_wave* wave) { t3_trace_span(wave, NULL, 0); }

static void notes_nothing(struct t3_wave* wave) { t3_trace_mark(wave, NULL, 0); }

static void awaits_no_tile(struct t3_wave* wave) { t3_wait_tile(wave, (struct t3_tile){7, 1, 8, T3_FP32}); }

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

const struct guest_mistake guest_work_mistakes[] = {
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
    {fails_without_a_word, "a failure that says nothing: a text expected"},
    {fails_with_a_word, "no more"},
    {multiplies_unset, "a product whose adds is 165: false (0) or true (1) expected"},
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
    {jumps_out_of_its_work, "its work has jumped to where a program has been called: its own return expected"},
    {jumps_out_of_its_work_and_ends, "its work has jumped to where a program has been called: its own return expected"},
    {jumps_to_another, "its program has jumped to where another one has been called: its own return expected"},
    {ends_before_it_meets, "it ends while 1 waves of its workgroup wait for it in t3_workgroup_barrier"},
    {meets_nobody, "it waits in t3_workgroup_barrier for 1 waves of its workgroup that have ended"},
    {works_for_ever, "work of inf operations on 0 tiles: 0 or more on at most 4 expected"},
    {works_beyond_time, "cycles: work that ends within 4000000 s of simulated time expected"},
    {multiplies_beyond_time, "cycles: work that ends within 4000000 s of simulated time expected"},
    {calls_for_nothing, "it calls the device for another wave, from its work, or for nothing"},
    {says_it_is_another, "it has changed its struct t3_wave"},
    {shows_nothing, "a name for the timeline that is none"},
    {notes_nothing, "an instant of the timeline without a name"},
    {0}};
