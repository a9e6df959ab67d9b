/* Fused attention (Dao et al., FlashAttention, 2022): a workgroup keeps a tile of rows and walks over blocks of the
 * other operands' rows, so that scores never reach memory. The forward pass keeps q and walks over k and v. The
 * backward pass recomputes the scores twice: one kernel keeps q and gives its gradient, one keeps k and v and gives
 * theirs, so that no gradient is added up across workgroups. The backward pass has time alone. */

#include <float.h>
#include <math.h>

#include "kernels/operands.h"
#include "t3/arguments/attention.h"
#include "t3/grid.h"
#include "t3/row_operations.h"
#include "t3/t3.h"

enum { ROW_ALIGNMENT = 32, KEPT_MAX = 3, WALKED = 2, WRITTEN_MAX = 2 };
enum { SCORES, SLOPES, SUM, SECOND_SUM, STATISTICS, FIRST_KEPT, FIRST_WALKED = FIRST_KEPT + KEPT_MAX };

struct operand {
  uint64_t address, stride;
};

/* The operands and results of a workgroup. */
struct attention {
  const struct t3_attention_arguments* arguments;
  enum t3_attention_pass pass;
  uint32_t row, rows;     /* its tile */
  uint32_t blocks, ahead; /* of the walked operands */
  uint32_t kept_count, written_count;
  struct operand kept[KEPT_MAX], walked[WALKED], written[WRITTEN_MAX];
};

static uint64_t padded(uint64_t row) { return (row + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT; }

/* Each matrix of qkv, and of out in the backward passes, holds q, k and v side by side. */
static struct operand part_of(const struct t3_attention_arguments* p, uint64_t address, uint32_t stride,
                              uint32_t part) {
  return (struct operand){address + part * padded(t3_row_bytes_of(p->n, p->element)), stride};
}

static struct attention attention_of(const struct t3_wave* wave) {
  const struct t3_attention_arguments* p = wave->arguments;
  const uint32_t tiles = t3_divide_up(p->m, p->tile_rows), batch = wave->workgroup / tiles;
  struct attention t = {.arguments = p,
                        .pass = (enum t3_attention_pass)p->pass,
                        .row = wave->workgroup % tiles * p->tile_rows,
                        .blocks = t3_divide_up(p->m, p->tile_columns)};
  t.rows = t3_smaller(p->tile_rows, p->m - t.row);
  t.ahead = t3_smaller(t.blocks, wave->device->prefetch_slabs);
  const uint64_t qkv = p->qkv + (uint64_t)batch * p->qkv_batch, out = p->out + (uint64_t)batch * p->out_batch;
  const struct operand q = part_of(p, qkv, p->ld_qkv, 0), k = part_of(p, qkv, p->ld_qkv, 1);
  const struct operand v = part_of(p, qkv, p->ld_qkv, 2);
  const struct operand gradient = {p->gradient + (uint64_t)batch * p->gradient_batch, p->ld_gradient};
  const struct operand result = {p->result + (uint64_t)batch * p->gradient_batch, p->ld_gradient};
  if (t.pass == T3_ATTENTION_BACKWARD_KV) {
    t.kept[0] = k, t.kept[1] = v, t.kept_count = 2;
    t.walked[0] = q, t.walked[1] = gradient;
    t.written[0] = part_of(p, out, p->ldo, 1), t.written[1] = part_of(p, out, p->ldo, 2), t.written_count = 2;
    return t;
  }
  t.kept[0] = q, t.kept_count = 1;
  if (t.pass == T3_ATTENTION_BACKWARD_Q) t.kept[1] = gradient, t.kept[2] = result, t.kept_count = 3;
  t.walked[0] = k, t.walked[1] = v;
  t.written[0] = (struct operand){out, p->ldo}, t.written_count = 1;
  return t;
}

static uint32_t block_rows(const struct attention* t, uint32_t block) {
  return t3_smaller(t->arguments->tile_columns, t->arguments->m - block * t->arguments->tile_columns);
}

static struct t3_tile kept(const struct attention* t, uint32_t operand) {
  return (struct t3_tile){FIRST_KEPT + operand, t->rows, t->arguments->n, T3_FP32};
}

static struct t3_tile walked(const struct attention* t, uint32_t operand, uint32_t block) {
  const uint32_t index = FIRST_WALKED + WALKED * (block % t->ahead) + operand;
  return (struct t3_tile){index, block_rows(t, block), t->arguments->n, T3_FP32};
}

static struct t3_tile sum_of(const struct attention* t, uint32_t index) {
  return (struct t3_tile){index, t->rows, t->arguments->n, T3_FP32};
}

static struct t3_tile scores_of(const struct attention* t, uint32_t index, uint32_t block) {
  return (struct t3_tile){index, t->rows, block_rows(t, block), T3_FP32};
}

static struct t3_tile statistics_of(const struct attention* t) {
  return (struct t3_tile){STATISTICS, t->rows, 2, T3_FP32};
}

/* Whole rows of an operand. */
static struct t3_access rows_of(const struct attention* t, struct operand operand, uint32_t row, uint32_t rows) {
  return (struct t3_access){.address = operand.address + row * operand.stride,
                            .stride = operand.stride,
                            .rows = rows,
                            .columns = t->arguments->n,
                            .element = (enum t3_element)t->arguments->element};
}

static void load_block(struct t3_wave* wave, const struct attention* t, uint32_t block) {
  const uint32_t row = block * t->arguments->tile_columns;
  for (uint32_t i = 0; i < WALKED; ++i)
    t3_load(wave, walked(t, i, block), rows_of(t, t->walked[i], row, block_rows(t, block)));
}

/* Multiplies the tile's rows by a block's: rows x n times n x block. */
static void multiply_rows(struct t3_wave* wave, const struct attention* t, struct t3_tile sum, struct t3_tile a,
                          struct t3_tile b) {
  const struct t3_attention_arguments* p = t->arguments;
  t3_multiply(wave,
              (struct t3_product){
                  .sum = sum, .a = a, .b = b, .m = p->tile_rows, .n = p->tile_columns, .k = p->n, .transpose_b = true});
}

/* A block's rows weighted by scores and added up: rows x block times block x n. */
static void add_rows(struct t3_wave* wave, const struct attention* t, struct t3_tile sum, struct t3_tile scores,
                     struct t3_tile b, bool adds) {
  const struct t3_attention_arguments* p = t->arguments;
  t3_multiply(wave,
              (struct t3_product){
                  .sum = sum, .a = scores, .b = b, .m = p->tile_rows, .n = p->n, .k = p->tile_columns, .adds = adds});
}

/* The scores of a block become weights beside those of all blocks so far: earlier sums shrink when a larger score turns
 * up. A row's statistics are its largest score and the sum of its weights. */
struct fold {
  float factor;
  uint32_t rows, keys, columns;
  bool is_first;
};

static void fold_scores(const void* argument, float* const* operands) {
  const struct fold* f = argument;
  for (uint32_t row = 0; row < f->rows; ++row) {
    float *scores = operands[0] + (size_t)row * f->keys, *statistics = operands[1] + (size_t)row * 2;
    float *sum = operands[2] + (size_t)row * f->columns, largest = f->is_first ? -FLT_MAX : statistics[0];
    const float before = largest;
    float weights = 0;
    for (uint32_t i = 0; i < f->keys; ++i) {
      scores[i] *= f->factor;
      largest = fmaxf(largest, scores[i]);
    }
    for (uint32_t i = 0; i < f->keys; ++i) weights += scores[i] = expf(scores[i] - largest);
    const float shrink = expf(before - largest);
    statistics[0] = largest;
    statistics[1] = f->is_first ? weights : statistics[1] * shrink + weights;
    for (uint32_t i = 0; !f->is_first && i < f->columns; ++i) sum[i] *= shrink;
  }
}

static void divide_by_weights(const void* argument, float* const* operands) {
  const struct fold* f = argument;
  for (uint32_t row = 0; row < f->rows; ++row)
    for (uint32_t i = 0; i < f->columns; ++i)
      operands[2][(size_t)row * f->columns + i] /= operands[1][(size_t)row * 2 + 1];
}

static void work_on_scores(struct t3_wave* wave, const struct attention* t, uint32_t block, double operations,
                           void (*compute)(const void*, float* const*)) {
  const struct t3_attention_arguments* p = t->arguments;
  const struct fold fold = {p->factor, t->rows, block_rows(t, block), p->n, block == 0};
  t3_work(wave, &(struct t3_vector_work){.operations = operations,
                                         .operands = 3,
                                         .tiles = {scores_of(t, SCORES, block), statistics_of(t), sum_of(t, SUM)},
                                         .compute = compute,
                                         .argument = &fold});
}

/* The matrix and vector units of a compute unit work alternately, never at the same time. */
static void walk_block(struct t3_wave* wave, const struct attention* t, uint32_t block) {
  const struct t3_attention_arguments* p = t->arguments;
  const struct t3_tile scores = scores_of(t, SCORES, block), slopes = scores_of(t, SLOPES, block);
  const struct t3_tile first = walked(t, 0, block), second = walked(t, 1, block);
  const double operations = (double)p->tile_rows * p->tile_columns * t3_row_traits_of(T3_ROWS_SOFTMAX)->operations;
  const bool forward = t->pass == T3_ATTENTION_FORWARD, adds = block != 0;
  multiply_rows(wave, t, scores, kept(t, 0), first);
  if (!forward) multiply_rows(wave, t, slopes, kept(t, 1), second);
  work_on_scores(wave, t, block, operations, forward ? fold_scores : NULL);
  if (forward) {
    add_rows(wave, t, sum_of(t, SUM), scores, second, adds);
    return;
  }
  add_rows(wave, t, sum_of(t, SUM), slopes, first, adds);
  if (t->pass == T3_ATTENTION_BACKWARD_KV) add_rows(wave, t, sum_of(t, SECOND_SUM), scores, second, adds);
}

static void run(struct t3_wave* wave) {
  const struct attention t = attention_of(wave);
  for (uint32_t i = 0; i < t.kept_count; ++i) t3_load(wave, kept(&t, i), rows_of(&t, t.kept[i], t.row, t.rows));
  for (uint32_t block = 0; block < t.ahead; ++block) load_block(wave, &t, block);
  for (uint32_t i = 0; i < t.kept_count; ++i) t3_wait_tile(wave, kept(&t, i));
  for (uint32_t block = 0; block < t.blocks; ++block) {
    walk_block(wave, &t, block);
    if (block + t.ahead < t.blocks) load_block(wave, &t, block + t.ahead);
  }
  if (t.pass == T3_ATTENTION_FORWARD) work_on_scores(wave, &t, t.blocks - 1, 0, divide_by_weights);
  for (uint32_t i = 0; i < t.written_count; ++i)
    t3_store(wave, sum_of(&t, SUM + i), rows_of(&t, t.written[i], t.row, t.rows));
  t3_fence(wave);
}

struct operands {
  struct t3_matrices out, qkv, gradient, result;
};

static struct operands operands_of(const struct t3_attention_arguments* p) {
  const uint64_t row = t3_row_bytes_of(p->n, p->element), packed = 3 * padded(row), count = t3_batches_of(p->batches);
  const uint64_t out_row = p->pass == T3_ATTENTION_FORWARD ? row : packed;
  return (struct operands){{"out", p->out, p->m, out_row, p->ldo, p->out_batch, count},
                           {"qkv", p->qkv, p->m, packed, p->ld_qkv, p->qkv_batch, count},
                           {"gradient", p->gradient, p->m, row, p->ld_gradient, p->gradient_batch, count},
                           {"result", p->result, p->m, row, p->ld_gradient, p->gradient_batch, count}};
}

static bool check_held(struct t3_check* check, const struct t3_matrices* operand) {
  return t3_check_held(check, check->gpu, operand->name, operand->address, t3_bytes_of(operand));
}

static bool check_places(struct t3_check* check, const struct t3_attention_arguments* p, const struct operands* o,
                         bool backward) {
  if (p->ld_qkv < o->qkv.row_bytes ||
      (backward && (p->ld_gradient < o->gradient.row_bytes || p->ldo < o->out.row_bytes)))
    return t3_refuse(check, T3_BAD_PACKET,
                     "row strides of qkv %u, gradient %u and out %u: room for q, k and v, %" PRIu64
                     " bytes, and for rows of %" PRIu64 " expected",
                     p->ld_qkv, p->ld_gradient, p->ldo, o->qkv.row_bytes, o->gradient.row_bytes);
  if (t3_unaligned(p->qkv) || t3_unaligned(p->ld_qkv) ||
      (backward && (t3_unaligned(p->gradient) || t3_unaligned(p->ld_gradient) || t3_unaligned(p->result))))
    return t3_refuse(check, T3_BAD_PACKET,
                     "qkv " T3_HEX ", gradient " T3_HEX ", result " T3_HEX
                     ", row strides %u and %u: multiples of 32 expected",
                     p->qkv, p->gradient, p->result, p->ld_qkv, p->ld_gradient);
  return check_held(check, &o->qkv) && check_held(check, &o->out) &&
         (!backward || (check_held(check, &o->gradient) && check_held(check, &o->result)));
}

static uint64_t workgroups_of(const struct t3_attention_arguments* p) {
  return t3_divide_up(p->m, p->tile_rows) * t3_batches_of(p->batches);
}

static bool check_out(struct t3_check* check, const struct t3_attention_arguments* p) {
  const struct t3_output_operand out = {p->out, p->m, p->n, p->ldo, p->element};
  const struct t3_batch_operand batch = {p->batches, p->out_batch, p->qkv_batch, p->gradient_batch};
  return t3_check_tiles(check, &out, p->tile_rows, p->tile_columns) && t3_check_output(check, &out) &&
         t3_check_batch(check, &out, &batch) && t3_check_workgroups(check, workgroups_of(p));
}

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_attention_arguments* p = launch->arguments;
  const bool forward = p->pass == T3_ATTENTION_FORWARD, backward = !forward;
  const struct t3_named_value unused[] = {{"gradient", forward ? p->gradient : 0},
                                          {"result", forward ? p->result : 0},
                                          {"ld_gradient", forward ? p->ld_gradient : 0}};
  if (!check_out(check, p) || !t3_check_unused(check, unused, sizeof unused / sizeof *unused)) return false;
  if (p->pass < T3_ATTENTION_FORWARD || p->pass > T3_ATTENTION_BACKWARD_KV)
    return t3_refuse(check, T3_BAD_PACKET,
                     "attention pass %u: 1 (forward), 2 (backward of q) or 3 (of k and v) expected", p->pass);
  if (backward && check->functional)
    return t3_refuse(check, T3_BAD_PACKET, "attention pass %u: it computes no data, timing-only", p->pass);
  const struct operands o = operands_of(p);
  if (!check_places(check, p, &o, backward)) return false;
  if (!t3_check_overlap(check, &o.out, &o.qkv)) return false;
  if (backward && (!t3_check_overlap(check, &o.out, &o.gradient) || !t3_check_overlap(check, &o.out, &o.result)))
    return false;
  return t3_check_batch_overlap(check, &o.out);
}

static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_attention_arguments* p = launch->arguments;
  const struct operands o = operands_of(p);
  return (struct t3_plan){.name = "attention",
                          .workgroups = (uint32_t)workgroups_of(p),
                          .workgroups_per_cu = device->workgroups_per_cu,
                          .register_bytes = device->register_bytes / device->workgroups_per_cu, /* compiled for it */
                          .waves = 1,
                          .tiles = FIRST_WALKED + WALKED * device->prefetch_slabs,
                          .written = {t3_range_of(&o.out)},
                          .written_count = 1,
                          .read = {t3_range_of(&o.qkv), t3_range_of(&o.gradient), t3_range_of(&o.result)},
                          .read_count = p->pass == T3_ATTENTION_FORWARD ? 1 : 3,
                          .stores_here = true};
}

const struct t3_kernel t3_attention_kernel = {.name = "attention",
                                              .arguments = T3_ATTENTION_ARGUMENTS,
                                              .reads = "gemm_read",
                                              .writes = "gemm_write",
                                              .check = check,
                                              .plan = plan,
                                              .run = run};
