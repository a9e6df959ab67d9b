/* A kernel that polls a flag, so that the kernels behind it in its queue wait on the device. Public description:
 * NVSHMEM's documentation of waits on streams, which are such kernels. */
#include "t3/arguments/await_flag.h"
#include "kernels/operands.h"
#include "t3/peer_flags.h"

static void run(struct t3_wave* wave) {
  const struct t3_await_flag_arguments* p = wave->arguments;
  t3_trace_span(wave, "awaits a flag", T3_NO_TILE);
  (void)t3_wait_value(
      wave, (struct t3_condition){
                .address = p->flags + p->gpu, .bytes = 1, .comparison = T3_EQUAL, .mask = UINT8_MAX, .value = 1});
}

static struct t3_matrices flags_of(const struct t3_await_flag_arguments* p) {
  return t3_piece("flags", p->flags, t3_peer_flag_bytes(p->gpus));
}

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_await_flag_arguments* p = launch->arguments;
  const struct t3_matrices flags = flags_of(p);
  if (p->gpu >= p->gpus) return t3_refuse(check, T3_BAD_PACKET, "gpu %u of %u: one of them expected", p->gpu, p->gpus);
  return t3_check_piece(check, &flags);
}

/* It stores nothing. A plan that writes nothing here has to name a range that it sends, which is the flags'. */
static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_range flags = t3_local_range(flags_of(launch->arguments));
  (void)device;
  return (struct t3_plan){.name = "wait for a flag",
                          .workgroups = 1,
                          .workgroups_per_cu = 1,
                          .waves = 1,
                          .sent = {flags},
                          .sent_count = 1,
                          .shared = {flags},
                          .shared_count = 1,
                          .awaits_arrivals = true};
}

const struct t3_kernel t3_await_flag_kernel = {.name = "await_flag",
                                               .arguments = T3_AWAIT_FLAG_ARGUMENTS,
                                               .reads = "ag_read",
                                               .writes = "ag_write",
                                               .check = check,
                                               .plan = plan,
                                               .run = run};
