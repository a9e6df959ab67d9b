/* The kernels of a layer of experts, with their arguments. */
#include "t3/arguments/gemm_experts.h"
#include "t3/arguments/move_tokens.h"
#include "t3/arguments/share_counts.h"
#include "t3/arguments/sum_choices.h"
#include "workloads/moe/moe_steps.h"

_Static_assert(T3_GEMM_EXPERTS_ARGUMENTS_BYTES <= T3_ARGUMENT_ROOM, "arguments go with the packet");
_Static_assert(T3_MOVE_TOKENS_ARGUMENTS_BYTES <= T3_ARGUMENT_ROOM, "arguments go with the packet");

enum t3_status t3_moe_share_counts(struct t3_context* gpu, const struct t3_moe_run* r) {
  const struct t3_moe* e = &r->moe;
  const struct t3_share_counts_arguments arguments = {.control = r->data,
                                                      .signal_epoch = r->epoch[T3_MOE_RESULTS],
                                                      .signal = t3_moe_counter_of(gpu, e, T3_MOE_RESULTS),
                                                      .tokens = e->tokens,
                                                      .experts = e->experts,
                                                      .slots = e->slots,
                                                      .top_k = e->top_k,
                                                      .gpu = t3_gpu(gpu),
                                                      .gpus = t3_gpus(gpu)};
  unsigned char bytes[T3_SHARE_COUNTS_ARGUMENTS_BYTES];
  t3_share_counts_arguments_to(&arguments, bytes);
  return t3_run_phase(gpu, "counts", "share_counts", bytes, sizeof bytes, 1);
}

/* Kernels beside the GEMM have as many workgroups as their compute units hold. */
static uint32_t movers(const struct t3_context* gpu, const struct t3_moe* e) {
  if (e->mechanism != T3_MOE_DEEPEP) return t3_ring_workgroups(gpu);
  const uint32_t some = t3_ring_workgroups(gpu) * e->communication_units / e->compute_units;
  return some == 0 ? 1 : some;
}

static enum t3_status launch_move(struct t3_context* gpu, const struct t3_moe_run* r,
                                  struct t3_move_tokens_arguments* arguments) {
  const struct t3_moe* e = &r->moe;
  arguments->control = r->data;
  arguments->tokens = e->tokens;
  arguments->experts = e->experts;
  arguments->slots = e->slots;
  arguments->gpu = (uint16_t)t3_gpu(gpu);
  arguments->gpus = (uint16_t)t3_gpus(gpu);
  arguments->top_k = (uint8_t)e->top_k;
  arguments->element = (uint8_t)e->element;
  arguments->awaits = e->mechanism == T3_MOE_BULK;
  arguments->padded = e->padded;
  arguments->list_signal = t3_moe_counter_of(gpu, e, T3_MOE_LISTS);
  arguments->list_epoch = r->epoch[T3_MOE_LISTS];
  arguments->gpus_per_node = (uint16_t)e->gpus_per_node;
  arguments->heap_table = r->heap.table;
  arguments->table_bytes = (uint32_t)r->heap.table_bytes;
  arguments->contexts = (uint16_t)(e->gpus_per_node == 0 ? 0 : e->contexts);
  unsigned char bytes[T3_MOVE_TOKENS_ARGUMENTS_BYTES];
  t3_move_tokens_arguments_to(arguments, bytes);
  return t3_launch_kernel(gpu, r->communication_queue, "move_tokens", bytes, sizeof bytes,
                          (struct t3_kernel_options){.workgroups = movers(gpu, e)});
}

enum t3_status t3_moe_launch_dispatch(struct t3_context* gpu, const struct t3_moe_run* r) {
  static const uint8_t notices[] = {[T3_MOE_BULK] = T3_MOVE_TOKENS_ARGUMENTS_NOTICE_SIGNAL,
                                    [T3_MOE_DEEPEP] = T3_MOVE_TOKENS_ARGUMENTS_NOTICE_COUNT,
                                    [T3_MOE_TRACKED] = T3_MOVE_TOKENS_ARGUMENTS_NOTICE_NONE,
                                    [T3_MOE_TRACKED_MCA] = T3_MOVE_TOKENS_ARGUMENTS_NOTICE_NONE};
  const struct t3_moe* e = &r->moe;
  struct t3_move_tokens_arguments arguments = {.from = r->tokens.address,
                                               .to = r->slots.address,
                                               .columns = r->moe.inner,
                                               .signal_epoch = r->epoch[T3_MOE_TOKENS],
                                               .signal = t3_moe_counter_of(gpu, e, T3_MOE_TOKENS),
                                               .direction = T3_MOVE_TOKENS_ARGUMENTS_DIRECTION_DISPATCH,
                                               .notice = notices[r->moe.mechanism]};
  return launch_move(gpu, r, &arguments);
}

/* In bulk, the numbers' exchange has counted its GPUs before. */
static uint64_t epoch_of_results(const struct t3_context* gpu, const struct t3_moe_run* r) {
  return r->epoch[T3_MOE_RESULTS] + (r->moe.mechanism == T3_MOE_BULK ? t3_gpus(gpu) - 1 : 0);
}

enum t3_status t3_moe_launch_combine(struct t3_context* gpu, const struct t3_moe_run* r) {
  const struct t3_moe* e = &r->moe;
  struct t3_move_tokens_arguments arguments = {
      .from = r->products,
      .to = r->results,
      .columns = e->hidden,
      .signal_epoch = epoch_of_results(gpu, r),
      .signal = t3_moe_counter_of(gpu, e, T3_MOE_RESULTS),
      .tiles_across = t3_divide_up(e->hidden, e->tile_columns),
      .tile_rows = (uint16_t)(e->mechanism == T3_MOE_DEEPEP ? e->tile_rows : 0),
      .direction = T3_MOVE_TOKENS_ARGUMENTS_DIRECTION_COMBINE,
      .notice = T3_MOVE_TOKENS_ARGUMENTS_NOTICE_SIGNAL};
  return launch_move(gpu, r, &arguments);
}

static uint8_t plan_of(const struct t3_moe* e) {
  if (!t3_moe_is_tracked(e)) return T3_GEMM_EXPERTS_ARGUMENTS_PLAN_NONE;
  return e->padded ? T3_GEMM_EXPERTS_ARGUMENTS_PLAN_SLOTS : T3_GEMM_EXPERTS_ARGUMENTS_PLAN_TILES;
}

enum t3_status t3_moe_launch_gemm(struct t3_context* gpu, const struct t3_moe_run* r, uint32_t workgroups) {
  const struct t3_moe* e = &r->moe;
  const bool tracked = t3_moe_is_tracked(e);
  const struct t3_gemm_experts_arguments arguments = {.control = r->data,
                                                      .rows = r->slots.address,
                                                      .weights = r->weights.address,
                                                      .out = tracked ? r->out.address : r->products,
                                                      .tokens = e->tokens,
                                                      .hidden = e->hidden,
                                                      .inner = e->inner,
                                                      .experts = e->experts,
                                                      .slots = e->slots,
                                                      .tile_rows = (uint16_t)e->tile_rows,
                                                      .tile_columns = (uint16_t)e->tile_columns,
                                                      .gpu = (uint16_t)t3_gpu(gpu),
                                                      .gpus = (uint16_t)t3_gpus(gpu),
                                                      .top_k = (uint8_t)e->top_k,
                                                      .wavefronts = (uint8_t)e->wavefronts,
                                                      .element = (uint8_t)e->element,
                                                      .target = tracked,
                                                      .flagged = e->mechanism == T3_MOE_DEEPEP,
                                                      .plan = plan_of(e),
                                                      .list_signal = t3_moe_counter_of(gpu, e, T3_MOE_LISTS),
                                                      .list_epoch = r->epoch[T3_MOE_LISTS],
                                                      .gpus_per_node = (uint16_t)e->gpus_per_node,
                                                      .parts = (uint16_t)t3_moe_parts(e, movers(gpu, e))};
  unsigned char bytes[T3_GEMM_EXPERTS_ARGUMENTS_BYTES];
  t3_gemm_experts_arguments_to(&arguments, bytes);
  return t3_launch_kernel(gpu, r->compute_queue, "gemm_experts", bytes, sizeof bytes,
                          (struct t3_kernel_options){.workgroups = workgroups == 0 ? e->workgroups : workgroups});
}

enum t3_status t3_moe_launch_sum(struct t3_context* gpu, const struct t3_moe_run* r) {
  const struct t3_moe* e = &r->moe;
  const struct t3_sum_choices_arguments arguments = {
      .control = r->data,
      .results = r->results,
      .out = r->out.address,
      .signal_epoch = r->epoch[T3_MOE_RESULTS],
      .signal = e->mechanism == T3_MOE_DEEPEP ? t3_moe_counter_of(gpu, e, T3_MOE_RESULTS) : 0,
      .tokens = e->tokens,
      .hidden = e->hidden,
      .experts = e->experts,
      .slots = e->slots,
      .gpus = (uint16_t)t3_gpus(gpu),
      .gpus_per_node = (uint16_t)e->gpus_per_node,
      .parts = (uint16_t)t3_moe_parts(e, movers(gpu, e)),
      .top_k = (uint8_t)e->top_k,
      .element = (uint8_t)e->element};
  unsigned char bytes[T3_SUM_CHOICES_ARGUMENTS_BYTES];
  t3_sum_choices_arguments_to(&arguments, bytes);
  return t3_launch_kernel(gpu, r->compute_queue, "sum_choices", bytes, sizeof bytes, (struct t3_kernel_options){0});
}
