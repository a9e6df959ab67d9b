/* Numbers that no enumeration has, in every call of the driver that takes one. */
#include <stddef.h>

#include "driver_errors/misuse.h"

enum { BEYOND = 0x10000 }; /* the fields of registers and packets */

static const struct t3_chunk half = {.first_workgroup = 32, .workgroups = 32};

static void tell_all(struct stage* s, const char* what, const enum t3_status* answers, uint32_t count) {
  enum t3_status worst = T3_INVALID_ARGUMENT;
  for (uint32_t i = 0; i < count; ++i)
    if (answers[i] != T3_INVALID_ARGUMENT) worst = answers[i];
  tell(s, what, worst);
}

static void no_kinds(struct stage* s, const struct operands* o, const char* what, struct t3_output out) {
  struct t3_context* gpu = &s->gpu;
  const struct t3_dma_options options = {.updates = 1, .block_tiles = 1};
  const struct t3_attention_operands attention = {.qkv = &o->a, .factor = 1};
  const struct t3_row_options factor = {.factor = 1};
  struct t3_matrix made = out.matrix;
  const enum t3_status answers[] = {t3_matrix_malloc(gpu, &made),
                                    t3_fill_zero(gpu, &out.matrix),
                                    t3_arm_zero(gpu, &out.matrix),
                                    t3_remote_map(gpu, &out, half, s->peer_out, T3_UPDATE),
                                    t3_dma_map(gpu, &out, half, 0, T3_NOTIFY, options),
                                    t3_remote_unmap(gpu, &out, half),
                                    t3_dma_unmap(gpu, &out, half),
                                    t3_gemm(gpu, &out, &o->a, &o->b, (struct t3_gemm_options){0}),
                                    t3_gemm(gpu, &s->out, &out.matrix, &o->b, (struct t3_gemm_options){0}),
                                    t3_rows(gpu, T3_ROWS_SCALE, &out.matrix, &out.matrix, NULL, NULL, factor),
                                    t3_attention(gpu, T3_ATTENTION_FORWARD, &out, &attention),
                                    t3_ring_reduce_scatter(gpu, &out, &out.matrix),
                                    t3_ring_all_gather(gpu, &out)};
  tell_all(s, what, answers, sizeof answers / sizeof answers[0]);
}

static void no_operations(struct stage* s) {
  static const uint32_t numbers[] = {0, 4, 7, 256 + T3_UPDATE, BEYOND + T3_STORE, UINT32_MAX};
  enum t3_status answers[18];
  uint32_t count = 0;
  for (uint32_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
    const enum t3_operation none = (enum t3_operation)numbers[i];
    struct t3_dma_options options = {.updates = 1, .block_tiles = 1};
    answers[count++] = t3_remote_map(&s->gpu, &s->out, half, s->peer_out, none);
    answers[count++] = t3_dma_map(&s->gpu, &s->out, half, s->peer_out, none, options);
    if (none == 0) continue; /* counts updates */
    options.counted = none;
    answers[count++] = t3_dma_map(&s->gpu, &s->out, half, 0, T3_NOTIFY, options);
  }
  tell_all(s, "operations", answers, count);
}

static void unknown_numbers(struct stage* s) {
  struct t3_context* gpu = &s->gpu;
  const struct operands o = operands_of(s);
  struct t3_output wrong = s->out;
  wrong.matrix.element = (enum t3_element)3;
  no_kinds(s, &o, "element type 3", wrong);
  wrong.matrix.element = (enum t3_element)BEYOND;
  no_kinds(s, &o, "element type 65536", wrong);
  wrong = s->out;
  wrong.matrix.memory = (enum t3_memory_kind)2;
  no_kinds(s, &o, "memory kind 2", wrong);
  no_operations(s);
  const struct t3_matrix* out = &s->out.matrix;
  const struct t3_attention_operands none = {.qkv = out, .factor = 1};
  const struct t3_row_options factor = {.factor = 1};
  const enum t3_status kernels[] = {
      t3_rows(gpu, (enum t3_row_operation)0, out, out, NULL, NULL, factor),
      t3_rows(gpu, (enum t3_row_operation)(T3_ROWS_ADAM + 1), out, out, NULL, NULL, factor),
      t3_rows(gpu, (enum t3_row_operation)(256 + T3_ROWS_SCALE), out, out, NULL, NULL, factor),
      t3_attention(gpu, (enum t3_attention_pass)0, &s->out, &none),
      t3_attention(gpu, (enum t3_attention_pass)4, &s->out, &none),
      t3_attention(gpu, (enum t3_attention_pass)(256 + T3_ATTENTION_FORWARD), &s->out, &none)};
  tell_all(s, "operations on rows, passes", kernels, sizeof kernels / sizeof kernels[0]);
  const enum t3_line lines[] = {T3_LINE_COUNT, (enum t3_line)31, (enum t3_line)UINT32_MAX};
  for (uint32_t i = 0; i < sizeof lines / sizeof lines[0]; ++i) {
    const enum t3_status answers[] = {t3_set_handler(gpu, lines[i], 0, NULL, NULL), t3_mask(gpu, lines[i]),
                                      t3_unmask(gpu, lines[i])};
    tell_all(s, "line", answers, sizeof answers / sizeof answers[0]);
  }
  tell(s, "policy 256", t3_set_arbitration(gpu, (enum t3_arbitration)256, 0));
  tell(s, "policy 4", t3_set_arbitration(gpu, (enum t3_arbitration)(T3_SELECT + 1), 0));
}

enum t3_status guest_of_unknown_numbers(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, unknown_numbers);
}
