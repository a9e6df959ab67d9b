/* One kernel for the in-network and the direct all-reduce, which other programs use too. Step 0 sends addends to the
 * owners of chunks. Step 1 stores the sum to all and signals them in the second counters. Step 2 waits for these
 * signals. */
#include "kernels/collective/steps.h"

static struct t3_step step_directly(const struct t3_steps* s, uint32_t step) {
  const uint32_t others = t3_gpus_of(s) - 1;
  if (step == 0) return (struct t3_step){.transfers = others, .tells = T3_TELLS_ALL};
  if (step == 1) return (struct t3_step){.awaited = others, .transfers = 1, .tells = T3_TELLS_ALL_AGAIN};
  return (struct t3_step){.awaited = others, .awaits_second = true};
}

static struct t3_transfer transfer_directly(const struct t3_steps* s, uint32_t step, uint32_t index) {
  if (step == 0) return t3_addend_for(s, index + 1);
  struct t3_transfer transfer = t3_sum_of_chunk(s);
  transfer.to_all = true;
  return transfer;
}

static struct t3_transfer transfer_in_network(const struct t3_steps* s, uint32_t step, uint32_t index) {
  struct t3_transfer transfer = t3_copy_of_chunk(s, t3_own_gpu(s));
  (void)step;
  (void)index;
  transfer.to = t3_own_gpu(s);
  transfer.sums = transfer.by_switch = true;
  return transfer;
}

const struct t3_operation t3_all_reduce_operation = {
    .schedules = {[T3_DIRECT] = {t3_three_steps, step_directly, transfer_directly},
                  [T3_IN_NETWORK] = {t3_two_steps, t3_step_in_network, transfer_in_network}}};
