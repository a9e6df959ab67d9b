/* Programs and kernels that never end, each in its own way, and one that ends late. */
#include "t3/address.h"
#include "t3/arguments/doubling.h"
#include "t3/exports.h"
#include "t3/registers/kernel_queue.h"
#include "t3/registers/signals.h"
#include "t3/shmem.h"

enum { FLAG = 1 << 20, BYTES = 64, COUNTER = 300 };

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  (void)check, (void)launch;
  return true;
}

static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  (void)device;
  const struct t3_doubling_arguments* p = launch->arguments;
  return (struct t3_plan){.name = "stalling",
                          .workgroups = p->rows,
                          .workgroups_per_cu = 1,
                          .waves = 1,
                          .shared = {{p->a & T3_LOCAL_MASK, (p->a & T3_LOCAL_MASK) + 32}},
                          .shared_count = 1,
                          .written = {{p->out, p->out + 32}},
                          .written_count = 1,
                          .awaits_arrivals = true};
}

/* The device polls for the wave. */
static void await_flag(struct t3_wave* wave) {
  const struct t3_doubling_arguments* p = wave->arguments;
  (void)t3_wait_value(
      wave, (struct t3_condition){.address = p->a, .bytes = 8, .mask = UINT64_MAX, .value = wave->workgroup + 1});
}

static void read_flag(struct t3_wave* wave) {
  const struct t3_doubling_arguments* p = wave->arguments;
  uint64_t flag = 0;
  while (t3_read(wave, p->a, sizeof flag, &flag) && flag == 0) continue;
}

static const struct t3_kernel awaiting = {.name = "awaiting_flag",
                                          .arguments = T3_DOUBLING_ARGUMENTS,
                                          .reads = "doubling_read",
                                          .writes = "doubling_write",
                                          .check = check,
                                          .plan = plan,
                                          .run = await_flag};
static const struct t3_kernel reading = {.name = "reading_flag",
                                         .arguments = T3_DOUBLING_ARGUMENTS,
                                         .reads = "doubling_read",
                                         .writes = "doubling_write",
                                         .check = check,
                                         .plan = plan,
                                         .run = read_flag};

static enum t3_status run_kernel(const struct t3_hal* hal, const char* kernel) {
  struct t3_context gpu;
  T3_TRY(t3_init(&gpu, hal));
  const unsigned char zeros[BYTES] = {0};
  uint64_t flag = 0;
  T3_TRY(t3_malloc(&gpu, BYTES, &flag));
  T3_TRY(hal->write_memory(hal->platform, flag, zeros, sizeof zeros));
  hal->order_writes(hal->platform);
  const struct t3_doubling_arguments arguments = {.out = flag + 32, .a = flag, .rows = 2};
  unsigned char bytes[T3_DOUBLING_ARGUMENTS_BYTES];
  t3_doubling_arguments_to(&arguments, bytes);
  T3_TRY(t3_run_kernel(&gpu, kernel, bytes, sizeof bytes, (struct t3_kernel_options){0}));
  return t3_wait_kernels(&gpu);
}

/* The kernels of all GPUs but 0 poll; the program of GPU 0 waits for theirs. */
static enum t3_status kernels_poll(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  struct t3_context gpu;
  if (hal->gpu != 0) return run_kernel(hal, "awaiting_flag");
  T3_TRY(t3_init(&gpu, hal));
  return t3_barrier(&gpu);
}

static enum t3_status kernels_read(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  return hal->gpu % 2 == 1 ? run_kernel(hal, "reading_flag") : T3_OK;
}

/* GPU 1 reads a register that never changes; the others wait for it. */
static enum t3_status one_polls(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  struct t3_context gpu;
  T3_TRY(t3_init(&gpu, hal));
  const uint64_t completed = t3_block_base(hal->gpu, T3_BLOCK_KERNEL_QUEUE) + T3_KERNEL_QUEUE_COMPLETED_OFFSET;
  for (uint64_t value = 0; hal->gpu == 1 && value == 0;) {
    T3_TRY(hal->read64(hal->platform, completed, &value));
    hal->wait_ns(hal->platform, 20);
  }
  return t3_barrier(&gpu);
}

/* Each reads memory of its own, at a pace of its own. */
static enum t3_status all_poll(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  for (uint64_t flag = 0; flag == 0; hal->wait_ns(hal->platform, 30 * hal->gpu))
    T3_TRY(hal->read_memory(hal->platform, t3_on_gpu(hal->gpu, FLAG), &flag, sizeof flag));
  return T3_OK;
}

/* GPU 0 polls what the last GPU changes after 3 ms. */
static enum t3_status one_sleeps(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  struct t3_context gpu;
  T3_TRY(t3_init(&gpu, hal));
  const uint64_t signals = t3_block_base(0, T3_BLOCK_SIGNALS);
  if (hal->gpu == t3_gpus(&gpu) - 1) {
    hal->wait_ns(hal->platform, 3000000);
    return hal->write64(hal->platform, signals + T3_SIGNALS_ADD_OFFSET + 8ULL * COUNTER, 1);
  }
  for (uint64_t value = 0; hal->gpu == 0 && value == 0;)
    T3_TRY(hal->read64(hal->platform, signals + T3_SIGNALS_VALUE_OFFSET + 8ULL * COUNTER, &value));
  return T3_OK;
}

/* Some wait for GPU 2, whose program has ended, while GPU 0 lets time pass. */
static enum t3_status one_ends(const struct t3_hal* hal, enum t3_status (*meet)(struct t3_context*)) {
  struct t3_context gpu;
  T3_TRY(t3_init(&gpu, hal));
  if (hal->gpu == 2) return T3_OK;
  if (hal->gpu == 0) hal->wait_ns(hal->platform, 5000000);
  return meet(&gpu);
}

static enum t3_status barrier_fails(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  return one_ends(hal, t3_barrier);
}

static enum t3_status exchange_fails(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  return one_ends(hal, t3_host_barrier);
}

/* Two programs write where nothing is, again and again, and two leave an error unread, the last GPU first. */
static enum t3_status all_err(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  struct t3_context gpu;
  T3_TRY(t3_init(&gpu, hal));
  hal->wait_ns(hal->platform, 1000 * (4 - hal->gpu));
  if (hal->gpu % 2 == 1) return (void)t3_set_timeout(&gpu, 1), (void)t3_wait_kernel(&gpu, 99), T3_OK;
  for (;;) (void)hal->write32(hal->platform, t3_block_base(hal->gpu, T3_BLOCK_KERNEL_QUEUE) + 0xFFC, hal->gpu);
}

/* Each asks for another argument. */
static enum t3_status all_ask(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  static const char* const names[] = {"a", "b", "c", "d"};
  uint64_t value = 0;
  return hal->argument_u64(hal->platform, names[hal->gpu % 4], &value);
}

static const struct t3_named_program programs[] = {{"kernels_poll", kernels_poll}, {"kernels_read", kernels_read},
                                                   {"one_polls", one_polls},       {"all_poll", all_poll},
                                                   {"one_sleeps", one_sleeps},     {"barrier_fails", barrier_fails},
                                                   {"all_err", all_err},           {"exchange_fails", exchange_fails},
                                                   {"all_ask", all_ask},           {NULL, NULL}};
static const struct t3_kernel* const kernels[] = {&awaiting, &reading, NULL};

const struct t3_export_table t3_exports = {.version = T3_EXPORTS_VERSION,
                                           .layout = T3_EXPORTS_LAYOUT,
                                           .name = "stalling",
                                           .programs = programs,
                                           .kernels = kernels};
