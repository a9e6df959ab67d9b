/* A workgroup loads pieces of its rows, and of the vector, ahead of their use. Memory gives the pace: each element of
 * the matrix is used once. */
#include "slices.h"

#include "t3/grid.h"

enum { SLICE_MAX = 1024 };

/* Columns of the rows at a time. */
static uint32_t piece_columns(const struct t3_device* device, const struct t3_gemv* g) {
  const uint32_t columns = device->kernels.rows.block_bytes / (g->slice * t3_element_bytes(g->element));
  return t3_smaller(g->columns, columns == 0 ? 1 : columns);
}

uint32_t t3_slice_rows(const struct t3_gemv* g, uint64_t slice) {
  const uint64_t left = g->rows - slice * g->slice;
  return left < g->slice ? (uint32_t)left : g->slice;
}

struct t3_tile t3_slice_tile(const struct t3_gemv* g, uint64_t slice, uint32_t index) {
  return (struct t3_tile){.index = index, .rows = 1, .columns = t3_slice_rows(g, slice), .element = T3_FP32};
}

struct t3_access t3_slice_access(const struct t3_gemv* g, uint64_t slice, uint64_t address) {
  return (struct t3_access){.address = address, .rows = 1, .columns = t3_slice_rows(g, slice), .element = g->element};
}

struct piece {
  struct t3_tile matrix, vector;
  uint32_t column;
  bool is_first;
};

static struct piece piece_of(const struct t3_wave* wave, const struct t3_gemv* g, uint64_t slice, uint32_t number) {
  const uint32_t each = piece_columns(wave->device, g), column = number * each;
  const uint32_t columns = t3_smaller(each, g->columns - column);
  const uint32_t index = T3_SLICE_FIRST_PIECE + 2 * (number % wave->device->prefetch_slabs);
  return (struct piece){.matrix = {index, t3_slice_rows(g, slice), columns, T3_FP32},
                        .vector = {index + 1, 1, columns, T3_FP32},
                        .column = column,
                        .is_first = number == 0};
}

static void load(struct t3_wave* wave, const struct t3_product_by_slices* p, uint64_t slice, uint32_t number) {
  const struct t3_gemv* g = &p->gemv;
  const struct piece piece = piece_of(wave, g, slice, number);
  const uint64_t element = t3_element_bytes(g->element), row = g->columns * element;
  struct t3_access access = {.address = p->matrix + slice * g->slice * row + piece.column * element,
                             .stride = row,
                             .rows = piece.matrix.rows,
                             .columns = piece.matrix.columns,
                             .element = g->element};
  t3_load(wave, piece.matrix, access);
  access.address = p->vector + piece.column * element;
  access.rows = 1;
  t3_load(wave, piece.vector, access);
}

static void add_products(const void* argument, float* const* operands) {
  const struct piece* piece = argument;
  const float* row = operands[1];
  for (uint32_t i = 0; i < piece->matrix.rows; ++i, row += piece->matrix.columns) {
    float sum = piece->is_first ? 0 : operands[0][i];
    for (uint32_t j = 0; j < piece->matrix.columns; ++j) sum += row[j] * operands[2][j];
    operands[0][i] = sum;
  }
}

static void multiply(struct t3_wave* wave, const struct t3_gemv* g, uint64_t slice, uint32_t number) {
  const struct piece piece = piece_of(wave, g, slice, number);
  t3_work(wave, &(struct t3_vector_work){.operations = (double)piece.matrix.rows * piece.matrix.columns,
                                         .operands = 3,
                                         .tiles = {t3_slice_tile(g, slice, T3_SLICE_SUMS), piece.matrix, piece.vector},
                                         .compute = add_products,
                                         .argument = &piece});
}

void t3_multiply_slice(struct t3_wave* wave, const struct t3_product_by_slices* p, uint64_t slice) {
  const uint32_t pieces = t3_divide_up(p->gemv.columns, piece_columns(wave->device, &p->gemv));
  uint32_t loaded = 0;
  for (uint32_t number = 0; number < pieces; ++number) {
    for (; loaded < pieces && loaded < number + wave->device->prefetch_slabs; ++loaded) load(wave, p, slice, loaded);
    multiply(wave, &p->gemv, slice, number);
  }
}

bool t3_check_slices(struct t3_check* check, const struct t3_product_by_slices* p) {
  const struct t3_gemv* g = &p->gemv;
  if (g->element > T3_FP32)
    return t3_refuse(check, T3_BAD_PACKET, "element %u: 0 (fp16), 1 (bf16) or 2 (fp32) expected", g->element);
  if (g->rows - 1 >= T3_ROWS_MAX || g->columns - 1 >= T3_ROWS_MAX || g->slice - 1 >= SLICE_MAX)
    return t3_refuse(check, T3_BAD_PACKET, "rows %u, columns %u, slice %u: 1 to %d, 1 to %d, 1 to %d expected", g->rows,
                     g->columns, g->slice, T3_ROWS_MAX, T3_ROWS_MAX, SLICE_MAX);
  return true;
}

enum { MATRIX, VECTOR, BUFFERS };

static void buffers_of(const struct t3_product_by_slices* p, struct t3_matrices* all) {
  all[MATRIX] = t3_piece("matrix", p->matrix, t3_gemv_matrix_bytes(&p->gemv));
  all[VECTOR] = t3_piece("vector", p->vector, t3_gemv_vector_bytes(&p->gemv));
}

bool t3_check_slices_beside(struct t3_check* check, const struct t3_product_by_slices* p,
                            const struct t3_matrices* written) {
  struct t3_matrices all[BUFFERS];
  buffers_of(p, all);
  return t3_check_pieces_beside(check, all, BUFFERS, written);
}

void t3_plan_slices(struct t3_plan* plan, const struct t3_device* device, const struct t3_product_by_slices* p) {
  struct t3_matrices all[BUFFERS];
  buffers_of(p, all);
  for (uint32_t i = 0; i < BUFFERS; ++i) plan->read[plan->read_count++] = t3_range_of(&all[i]);
  plan->workgroups_per_cu = device->kernels.rows.workgroups_per_cu;
  plan->register_bytes = device->register_bytes / device->kernels.rows.workgroups_per_cu;
  plan->waves = 1;
  plan->tiles = t3_slice_tiles(device);
}
