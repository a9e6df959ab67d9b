#include "workloads/data_parallel/optimizer.h"

#include "t3/element_bytes.h"
#include "t3/following.h"
#include "workloads/shared/program_steps.h"

enum t3_status t3_allocate_optimizer(struct t3_context* context, const struct t3_matrix* gradient,
                                     enum t3_memory_kind memory, struct t3_optimizer_state* optimizer) {
  const struct t3_matrix state = {
      .rows = gradient->rows, .columns = gradient->columns, .element = gradient->element, .memory = memory};
  *optimizer = (struct t3_optimizer_state){state, state, state};
  T3_TRY(t3_matrix_malloc(context, &optimizer->means));
  T3_TRY(t3_matrix_malloc(context, &optimizer->squares));
  T3_TRY(t3_matrix_malloc(context, &optimizer->weights));
  t3_publish(context, "means", &optimizer->means);
  t3_publish(context, "squares", &optimizer->squares);
  t3_publish(context, "weights", &optimizer->weights);
  return T3_OK;
}

static struct t3_chunk own_chunk(const struct t3_context* context, const struct t3_output* gradient) {
  return t3_chunk_of(gradient, t3_gpu(context), t3_gpus(context));
}

enum t3_status t3_optimize_near_memory(struct t3_context* context, const struct t3_output* gradient,
                                       const struct t3_optimizer_state* optimizer) {
  const struct t3_adam adam = {&optimizer->means, &optimizer->squares, &optimizer->weights, t3_learning_rate()};
  return t3_follow(context, gradient, own_chunk(context, gradient), (struct t3_following){.adam = &adam});
}

/* Rows and columns of tiles, [first, end). */
struct rectangle {
  uint32_t first_row, end_row, first_column, end_column;
};

static uint32_t least(uint32_t one, uint32_t other) { return one < other ? one : other; }

static struct t3_matrix part_of(const struct t3_output* gradient, const struct t3_matrix* whole,
                                struct rectangle tiles) {
  const struct t3_tiling* tiling = &gradient->tiling;
  const uint32_t row = tiles.first_row * tiling->rows, column = tiles.first_column * tiling->columns;
  struct t3_matrix part = *whole;
  part.address += row * whole->row_stride + (uint64_t)column * t3_element_bytes(whole->element);
  part.rows = least(whole->rows, tiles.end_row * tiling->rows) - row;
  part.columns = least(whole->columns, tiles.end_column * tiling->columns) - column;
  return part;
}

static enum t3_status queue(struct t3_context* context, const struct t3_output* gradient,
                            const struct t3_optimizer_state* optimizer, struct rectangle tiles) {
  if (tiles.first_row >= tiles.end_row || tiles.first_column >= tiles.end_column) return T3_OK;
  const struct t3_matrix gradients = part_of(gradient, &gradient->matrix, tiles),
                         means = part_of(gradient, &optimizer->means, tiles),
                         squares = part_of(gradient, &optimizer->squares, tiles),
                         weights = part_of(gradient, &optimizer->weights, tiles);
  const struct t3_row_options options = {.factor = t3_learning_rate()};
  return t3_rows(context, T3_ROWS_ADAM, &weights, &gradients, &means, &squares, options);
}

/* The end of a row of tiles, whole rows, and the beginning of a row. */
enum t3_status t3_queue_optimizer(struct t3_context* context, const struct t3_output* gradient,
                                  const struct t3_optimizer_state* optimizer) {
  const struct t3_chunk own = own_chunk(context, gradient);
  const uint32_t across = (gradient->matrix.columns - 1) / gradient->tiling.columns + 1;
  const uint32_t end = own.first_workgroup + own.workgroups;
  uint32_t row = own.first_workgroup / across;
  const uint32_t begins = own.first_workgroup % across, last = end / across;
  if (begins != 0) {
    const uint32_t ends = row == last ? end % across : across;
    T3_TRY(queue(context, gradient, optimizer, (struct rectangle){row, row + 1, begins, ends}));
    ++row;
  }
  T3_TRY(queue(context, gradient, optimizer, (struct rectangle){row, last, 0, across}));
  return row > last ? T3_OK : queue(context, gradient, optimizer, (struct rectangle){last, last + 1, 0, end % across});
}
