/* The exchange of numbers before an all-to-all whose parts are of different sizes. Slots need none; what has to know
 * its size in advance does: the memory of a receiver, or the Tracker's thresholds. */
#include "t3/arguments/share_counts.h"
#include "moe_kernels.h"

static struct t3_moe shape_of(const struct t3_share_counts_arguments* p) {
  return (struct t3_moe){.tokens = p->tokens, .experts = p->experts, .slots = p->slots, .top_k = p->top_k};
}

static bool tell(struct t3_wave* wave, const struct t3_moe_control* control, uint32_t gpu, struct t3_moe_list* sent) {
  const struct t3_share_counts_arguments* p = wave->arguments;
  const uint32_t local = p->experts / p->gpus;
  for (uint32_t expert = 0; expert < local; ++expert) {
    uint32_t rows = 0;
    if (!t3_moe_list_at(wave, sent, gpu * local + expert, &rows)) return false;
    ++rows;
    t3_write(
        wave,
        t3_on_gpu(gpu, p->control) + control->counts + (uint64_t)expert * T3_MOE_LINE + (uint64_t)p->gpu * T3_MOE_WORD,
        &rows, sizeof rows);
  }
  if (gpu != p->gpu) t3_signal(wave, (struct t3_counter){.address = t3_moe_add_register(gpu, p->signal)});
  return true;
}

/* Its own comes last. */
static void run(struct t3_wave* wave) {
  const struct t3_share_counts_arguments* p = wave->arguments;
  const struct t3_moe e = shape_of(p);
  const struct t3_moe_control control = t3_moe_control_of(&e, p->gpus);
  struct t3_moe_list sent = {.address = p->control + control.sent};
  for (uint32_t i = 1; i <= p->gpus; ++i)
    if (!tell(wave, &control, (p->gpu + i) % p->gpus, &sent)) return;
  t3_fence(wave);
  t3_wait_counter(wave, (struct t3_counter){.address = t3_moe_value_register(p->gpu, p->signal),
                                            .threshold = p->signal_epoch + p->gpus - 1});
}

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_share_counts_arguments* p = launch->arguments;
  const struct t3_moe e = shape_of(p);
  return t3_moe_check(check, &e, p->gpu, p->gpus, p->control) && t3_check_counters(check, p->signal, 1);
}

static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_share_counts_arguments* p = launch->arguments;
  const struct t3_moe e = shape_of(p);
  return (struct t3_plan){.name = "share counts",
                          .workgroups = 1,
                          .workgroups_per_cu = device->kernels.ring.workgroups_per_cu,
                          .register_bytes = device->kernels.ring.block_bytes,
                          .waves = 1,
                          .tiles = 1,
                          .together = true,
                          .sent = {t3_moe_control_range(&e, p->gpus, p->control)},
                          .sent_count = 1,
                          .shared = {t3_moe_control_range(&e, p->gpus, p->control)},
                          .shared_count = 1,
                          .awaits_arrivals = true};
}

const struct t3_kernel t3_share_counts_kernel = {.name = "share_counts",
                                                 .arguments = T3_SHARE_COUNTS_ARGUMENTS,
                                                 .reads = "exchange_read",
                                                 .writes = "exchange_write",
                                                 .check = check,
                                                 .plan = plan,
                                                 .run = run};
