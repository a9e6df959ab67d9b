/* A token's results of its experts are added up, in fp32. Waves take runs of tokens. Choices that were dropped have
 * no results. */
#include "t3/arguments/sum_choices.h"
#include "moe_kernels.h"

static struct t3_moe shape_of(const struct t3_sum_choices_arguments* p) {
  return (struct t3_moe){.tokens = p->tokens,
                         .experts = p->experts,
                         .hidden = p->hidden,
                         .slots = p->slots,
                         .top_k = p->top_k,
                         .element = (enum t3_element)p->element,
                         .gpus_per_node = p->gpus_per_node};
}

/* Columns of a token's results, and its choices that are not dropped. */
struct piece {
  uint32_t token, kept, column, columns;
};

static struct t3_access access_of(const struct t3_sum_choices_arguments* p, const struct piece* piece, uint64_t row) {
  return (struct t3_access){.address = row + t3_row_bytes_of(piece->column, p->element),
                            .rows = 1,
                            .columns = piece->columns,
                            .element = (enum t3_element)p->element,
                            .at_once = true};
}

/* The last tile is that of a token without results. */
static void sum(struct t3_wave* wave, const struct t3_moe* e, const struct piece* piece) {
  const struct t3_sum_choices_arguments* p = wave->arguments;
  const uint64_t bytes = t3_moe_result_bytes(e);
  struct t3_tile tile = {0, 1, piece->columns, T3_FP32}, total = {p->top_k, 1, piece->columns, T3_FP32};
  for (uint32_t choice = 0; choice < p->top_k; ++choice) {
    if ((piece->kept >> choice & 1) == 0) continue;
    tile.index = choice;
    t3_load(wave, tile, access_of(p, piece, p->results + ((uint64_t)piece->token * p->top_k + choice) * bytes));
    if (total.index == p->top_k) total.index = choice;
  }
  if (piece->kept == 0) t3_moe_zero(wave, total);
  for (uint32_t choice = total.index + 1; choice < p->top_k; ++choice) {
    tile.index = choice;
    if ((piece->kept >> choice & 1) != 0) t3_add(wave, total, tile);
  }
  t3_store(wave, total, access_of(p, piece, p->out + piece->token * bytes));
  t3_fence(wave);
}

static uint32_t piece_columns(const struct t3_device* device) {
  return device->kernels.ring.block_bytes / (uint32_t)sizeof(float);
}

static void run(struct t3_wave* wave) {
  const struct t3_sum_choices_arguments* p = wave->arguments;
  const struct t3_moe e = shape_of(p);
  const uint64_t waves = (uint64_t)wave->workgroups * wave->waves,
                 number = (uint64_t)wave->workgroup * wave->waves + wave->wave;
  struct t3_moe_list kept = {.address = p->control + t3_moe_control_of(&e, p->gpus).kept};
  const struct t3_moe_arrivals arrivals = {.own = p->control + t3_moe_control_of(&e, p->gpus).own + T3_MOE_WORD,
                                           .epoch = p->signal_epoch,
                                           .signal = p->signal,
                                           .gpu = t3_gpu_of(p->control) & UINT32_MAX,
                                           .gpus = p->gpus,
                                           .experts = p->experts,
                                           .near = p->gpus_per_node == 0 ? p->gpus : p->gpus_per_node,
                                           .parts = p->parts,
                                           .returned = p->control + t3_moe_control_of(&e, p->gpus).returned};
  if (p->signal != 0) t3_moe_await_lists(wave, &arrivals);
  for (uint32_t token = (uint32_t)(p->tokens * number / waves); token < p->tokens * (number + 1) / waves; ++token) {
    struct piece piece = {.token = token};
    if (!t3_moe_list_at(wave, &kept, token, &piece.kept)) return;
    for (; piece.column < p->hidden; piece.column += piece.columns) {
      piece.columns = t3_smaller(piece_columns(wave->device), p->hidden - piece.column);
      sum(wave, &e, &piece);
    }
  }
}

static struct t3_matrices results_of(const struct t3_sum_choices_arguments* p) {
  const struct t3_moe e = shape_of(p);
  return t3_piece("results", p->results, (uint64_t)p->tokens * p->top_k * t3_moe_result_bytes(&e));
}
static struct t3_matrices out_of(const struct t3_sum_choices_arguments* p) {
  const struct t3_moe e = shape_of(p);
  return t3_piece("out", p->out, p->tokens * t3_moe_result_bytes(&e));
}

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_sum_choices_arguments* p = launch->arguments;
  const struct t3_moe e = shape_of(p);
  const struct t3_matrices results = results_of(p), out = out_of(p);
  if (!t3_moe_check(check, &e, check->gpu, p->gpus, p->control)) return false;
  if (p->hidden - 1 >= UINT16_MAX)
    return t3_refuse(check, T3_BAD_PACKET, "hidden %u: 1 to %u expected", p->hidden, UINT16_MAX);
  if (p->signal != 0 && !t3_check_counters(check, p->signal, 1)) return false;
  return t3_check_piece(check, &results) && t3_check_piece(check, &out) && t3_check_overlap(check, &out, &results);
}

static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_sum_choices_arguments* p = launch->arguments;
  const struct t3_ring_parameters* ring = &device->kernels.ring;
  const struct t3_moe e = shape_of(p);
  const struct t3_matrices results = results_of(p), out = out_of(p);
  return (struct t3_plan){.name = "sum of choices",
                          .workgroups = launch->compute_units * device->kernels.rows.workgroups_per_cu,
                          .workgroups_per_cu = device->kernels.rows.workgroups_per_cu,
                          .register_bytes = ring->block_bytes * ring->blocks_in_flight * p->top_k,
                          .waves = ring->blocks_in_flight,
                          .tiles = p->top_k + 1u,
                          .written = {t3_range_of(&out)},
                          .written_count = 1,
                          .read = {t3_range_of(&results)},
                          .read_count = 1,
                          .shared = {t3_moe_control_range(&e, p->gpus, p->control)},
                          .shared_count = 1,
                          .awaits_arrivals = true,
                          .awaits_chunks = p->signal != 0,
                          .stores_here = true};
}

const struct t3_kernel t3_sum_choices_kernel = {.name = "sum_choices",
                                                .arguments = T3_SUM_CHOICES_ARGUMENTS,
                                                .reads = "sum_read",
                                                .writes = "sum_write",
                                                .check = check,
                                                .plan = plan,
                                                .run = run};
