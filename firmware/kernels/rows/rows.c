/* Streaming kernels: softmax, layer norm, element-wise. A workgroup takes a block of whole rows, loads its operands
 * piece by piece, computes, and stores; several workgroups on a compute unit keep memory busy. */
#include <string.h>

#include "arithmetic.h"
#include "kernels/operands.h"
#include "t3/arguments/rows.h"
#include "t3/grid.h"

struct operand {
  uint64_t address, stride; /* 0: a vector */
  struct t3_tile tile;
};

/* The operands and results of a workgroup. */
struct rows {
  const struct t3_rows_arguments* arguments;
  const struct t3_row_traits* traits;
  uint32_t row, rows;             /* its block */
  uint32_t piece_columns, pieces; /* of the rows */
  struct operand operands[T3_ROWS_OPERANDS];
};

static uint32_t rows_of_block(const struct t3_device* device, const struct t3_rows_arguments* p) {
  const uint64_t row_bytes = t3_row_bytes_of(p->n, p->element);
  return row_bytes > device->kernels.rows.block_bytes ? 1 : (uint32_t)(device->kernels.rows.block_bytes / row_bytes);
}

static struct rows rows_of(const struct t3_wave* wave) {
  const struct t3_rows_arguments* p = wave->arguments;
  const uint32_t height = rows_of_block(wave->device, p);
  struct rows r = {.arguments = p, .traits = t3_row_traits_of(p->operation), .row = wave->workgroup * height};
  r.rows = t3_smaller(height, p->m - r.row);
  r.piece_columns =
      t3_smaller(p->n, wave->device->kernels.rows.block_bytes / t3_element_bytes((enum t3_element)p->element));
  r.pieces = t3_divide_up(p->n, r.piece_columns);
  const uint64_t addresses[] = {p->a, p->b, p->c, p->out};
  const uint32_t strides[] = {p->lda, p->ldb, p->ldc, p->ldo};
  for (uint32_t o = 0; o < T3_ROWS_OPERANDS; ++o)
    r.operands[o] = (struct operand){addresses[o], strides[o], {o, strides[o] == 0 ? 1 : r.rows, p->n, T3_FP32}};
  return r;
}

static bool has(uint32_t operands, uint32_t operand) { return operands >> operand & 1; }

/* A piece of the rows of an operand. */
static struct t3_access piece_of(const struct rows* r, uint32_t operand, uint32_t piece) {
  const struct operand* o = &r->operands[operand];
  const enum t3_element element = (enum t3_element)r->arguments->element;
  const uint32_t column = piece * r->piece_columns;
  return (struct t3_access){.address = o->address + r->row * o->stride + (uint64_t)column * t3_element_bytes(element),
                            .stride = o->stride,
                            .rows = o->tile.rows,
                            .columns = t3_smaller(r->piece_columns, r->arguments->n - column),
                            .element = element,
                            .column = column};
}

/* At most one piece of each operand is in flight. */
static void load_piece(struct t3_wave* wave, const struct rows* r, uint32_t piece) {
  for (uint32_t o = 0; o < T3_ROWS_OPERANDS; ++o)
    if (has(r->traits->reads, o)) t3_load(wave, r->operands[o].tile, piece_of(r, o, piece));
  for (uint32_t o = 0; o < T3_ROWS_OPERANDS; ++o)
    if (has(r->traits->reads, o)) t3_wait_tile(wave, r->operands[o].tile);
}

static void compute(struct t3_wave* wave, const struct rows* r) {
  const struct t3_rows_arguments* p = r->arguments;
  struct t3_row_work arithmetic = {.operation = p->operation,
                                   .factor = p->factor,
                                   .seed = p->seed,
                                   .first_row = r->row,
                                   .rows = r->rows,
                                   .columns = p->n};
  struct t3_vector_work work = {.operations = (double)r->rows * p->n * r->traits->operations,
                                .operands = T3_ROWS_OPERANDS,
                                .compute = t3_compute_rows,
                                .argument = &arithmetic};
  for (uint32_t o = 0; o < T3_ROWS_OPERANDS; ++o) {
    work.tiles[o] = r->operands[o].tile;
    if (r->operands[o].stride == 0) arithmetic.vectors |= (uint8_t)(1u << o);
  }
  t3_work(wave, &work);
}

static void run(struct t3_wave* wave) {
  const struct rows r = rows_of(wave);
  for (uint32_t piece = 0; piece < r.pieces; ++piece) load_piece(wave, &r, piece);
  compute(wave, &r);
  for (uint32_t piece = 0; piece < r.pieces; ++piece)
    for (uint32_t o = 0; o < T3_ROWS_OPERANDS; ++o)
      if (has(r.traits->writes, o)) t3_store(wave, r.operands[o].tile, piece_of(&r, o, piece));
  t3_fence(wave);
}

/* A workgroup reads all of its rows before it writes them: a matrix may be written in the place where it is read. A
 * vector is read by all workgroups. */
static bool check_overlaps(struct t3_check* check, const struct t3_row_traits* traits,
                           const struct t3_matrices* operands) {
  for (uint32_t written = 0; written < T3_ROWS_OPERANDS; ++written)
    for (uint32_t other = 0; other < T3_ROWS_OPERANDS; ++other) {
      if (written == other || !has(traits->writes, written) || !has(traits->reads | traits->writes, other)) continue;
      const struct t3_matrices *w = &operands[written], *o = &operands[other];
      const bool in_place =
          !has(traits->writes, other) && w->address == o->address && w->rows == o->rows && w->stride == o->stride;
      if (!in_place && !t3_check_overlap(check, w, o)) return false;
    }
  return true;
}

static bool check_operand(struct t3_check* check, const struct t3_row_traits* traits, const struct t3_matrices* operand,
                          bool may_be_vector) {
  const bool is_vector = operand->stride == 0 && may_be_vector;
  if (operand->stride == 0 && !is_vector)
    return t3_refuse(check, T3_BAD_PACKET, "%s " T3_HEX " of %s with row stride 0, a vector: a matrix expected",
                     operand->name, operand->address, traits->name);
  if (t3_unaligned(operand->address) || t3_unaligned(operand->stride) ||
      (!is_vector && operand->stride < operand->row_bytes))
    return t3_refuse(check, T3_BAD_PACKET,
                     "%s " T3_HEX " of %s with row stride %" PRIu64 ": multiples of 32, at least a row of %" PRIu64
                     " bytes, expected",
                     operand->name, operand->address, traits->name, operand->stride, operand->row_bytes);
  return t3_check_held(check, check->gpu, operand->name, operand->address, t3_bytes_of(operand));
}

static void list_operands(const struct t3_rows_arguments* p, struct t3_matrices operands[T3_ROWS_OPERANDS]) {
  const uint64_t row = t3_row_bytes_of(p->n, p->element);
  const struct t3_matrices all[T3_ROWS_OPERANDS] = {{"a", p->a, p->lda == 0 ? 1 : p->m, row, p->lda, 0, 1},
                                                    {"b", p->b, p->ldb == 0 ? 1 : p->m, row, p->ldb, 0, 1},
                                                    {"c", p->c, p->ldc == 0 ? 1 : p->m, row, p->ldc, 0, 1},
                                                    {"out", p->out, p->m, row, p->ldo, 0, 1}};
  memcpy(operands, all, sizeof all);
}

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_rows_arguments* p = launch->arguments;
  const struct t3_output_operand out = {p->out, p->m, p->n, p->ldo, p->element};
  if (!t3_check_output(check, &out)) return false;
  const struct t3_row_traits* traits = t3_row_traits_of(p->operation);
  if (traits == NULL)
    return t3_refuse(check, T3_BAD_PACKET, "rows operation %u: %d to %d expected", p->operation, T3_ROWS_SCALE,
                     T3_ROWS_ADAM);
  struct t3_matrices operands[T3_ROWS_OPERANDS];
  list_operands(p, operands);
  for (uint32_t o = T3_ROWS_A; o < T3_ROWS_OUT; ++o)
    if (has(traits->reads | traits->writes, o) && !check_operand(check, traits, &operands[o], has(traits->vectors, o)))
      return false;
  if (!check_overlaps(check, traits, operands)) return false;
  const bool drops = p->operation == T3_ROWS_DROPOUT || p->operation == T3_ROWS_BIAS_DROPOUT_ADD;
  if (drops && !(p->factor > 0 && p->factor <= 1))
    return t3_refuse(check, T3_BAD_PACKET, "factor %g: the probability to keep, above 0 and at most 1, expected",
                     (double)p->factor);
  return true;
}

static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_rows_arguments* p = launch->arguments;
  const struct t3_row_traits* traits = t3_row_traits_of(p->operation);
  struct t3_plan plan = {.name = traits->name,
                         .workgroups = t3_divide_up(p->m, rows_of_block(device, p)),
                         .workgroups_per_cu = device->kernels.rows.workgroups_per_cu,
                         .register_bytes = T3_ROWS_OPERANDS * device->kernels.rows.block_bytes,
                         .waves = 1,
                         .tiles = T3_ROWS_OPERANDS,
                         .written_count = 1,
                         .stores_here = true};
  struct t3_matrices operands[T3_ROWS_OPERANDS];
  list_operands(p, operands);
  plan.written[0] = t3_range_of(&operands[T3_ROWS_OUT]);
  for (uint32_t o = T3_ROWS_A; o < T3_ROWS_OUT; ++o) {
    const struct t3_range range = t3_range_of(&operands[o]);
    if (has(traits->writes, o))
      plan.written[plan.written_count++] = range; /* in place, beside the output */
    else if (has(traits->reads, o))
      plan.read[plan.read_count++] = range;
  }
  return plan;
}

const struct t3_kernel t3_rows_kernel = {.name = "rows",
                                         .arguments = T3_ROWS_ARGUMENTS,
                                         .reads = "gemm_read",
                                         .writes = "gemm_write",
                                         .check = check,
                                         .plan = plan,
                                         .run = run};
