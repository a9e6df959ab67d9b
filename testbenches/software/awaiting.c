/* A kernel that waits for a signal which no GPU sends. */
#include "guests.h"
#include "t3/address.h"
#include "t3/arguments/doubling.h"
#include "t3/registers/signals.h"

enum { COUNTER = 300 };

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  (void)check, (void)launch;
  return true;
}

static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  (void)device;
  const struct t3_doubling_arguments* p = launch->arguments;
  return (struct t3_plan){.name = "awaiting",
                          .workgroups = p->rows,
                          .workgroups_per_cu = 1,
                          .waves = 1,
                          .written = {{p->out, p->out + 32}},
                          .written_count = 1};
}

static void await_signal(struct t3_wave* wave) {
  const struct t3_doubling_arguments* p = wave->arguments;
  const uint64_t signals = t3_block_base(t3_gpu_of(p->out), T3_BLOCK_SIGNALS);
  t3_wait_counter(wave,
                  (struct t3_counter){.address = signals + T3_SIGNALS_VALUE_OFFSET + 8ULL * COUNTER, .threshold = 1});
}

const struct t3_kernel awaiting_kernel = {.name = "awaiting",
                                          .arguments = T3_DOUBLING_ARGUMENTS,
                                          .reads = "doubling_read",
                                          .writes = "doubling_write",
                                          .check = check,
                                          .plan = plan,
                                          .run = await_signal};
