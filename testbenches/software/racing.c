/* Programs whose data are right by luck: what one writes and another one reads is not ordered, or is by chance. Without
 * a mistake they are ordered. */
#include <string.h>

#include "guests.h"
#include "t3/address.h"
#include "t3/arguments/handing.h"
#include "t3/launch.h"
#include "t3/registers/signals.h"
#include "t3/streams.h"
#include "t3/t3.h"

enum { COLUMNS = 64, BYTES = COLUMNS * 4, ROUNDS = 3, ARRIVED = 200, CREDIT = 201 };

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  (void)check, (void)launch;
  return true;
}

/* A sender loads rows of its own GPU and stores them to another one's. */
static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  (void)device;
  const struct t3_handing_arguments* p = launch->arguments;
  const bool sends = t3_gpu_of(p->to) != t3_gpu_of(p->from);
  const uint64_t to = sends ? p->to & T3_LOCAL_MASK : p->to;
  const struct t3_range written = {to, to + BYTES};
  struct t3_plan plan = {.name = "handing",
                         .workgroups = 1,
                         .workgroups_per_cu = 1,
                         .waves = 1,
                         .tiles = 1,
                         .read = {{p->from, p->from + BYTES}},
                         .read_count = 1,
                         .stores_here = !sends};
  *(sends ? plan.sent : plan.written) = written;
  *(sends ? &plan.sent_count : &plan.written_count) = 1;
  return plan;
}

static void hand_on(struct t3_wave* wave) {
  const struct t3_handing_arguments* p = wave->arguments;
  const struct t3_tile tile = {.rows = 1, .columns = COLUMNS, .element = T3_FP32};
  struct t3_access access = {.rows = 1, .columns = COLUMNS, .element = T3_FP32, .stride = BYTES, .uncached = true};
  for (uint32_t round = 0; round < p->rounds; ++round) {
    if (p->wait != 0 && p->first + round != 0)
      t3_wait_counter(wave, (struct t3_counter){.address = p->wait, .threshold = p->first + round});
    access.address = p->from;
    t3_load(wave, tile, access);
    access.address = p->to;
    t3_store(wave, tile, access);
    t3_fence(wave);
    if (p->signal != 0) t3_signal(wave, (struct t3_counter){.address = p->signal});
  }
}

const struct t3_kernel handing_kernel = {.name = "handing",
                                         .arguments = T3_HANDING_ARGUMENTS,
                                         .reads = "handing_read",
                                         .writes = "handing_write",
                                         .check = check,
                                         .plan = plan,
                                         .run = hand_on};

struct racing {
  struct t3_context gpu;
  const char* mistake; /* "none", or what is missing */
};

static bool has(const struct racing* r, const char* mistake) { return strcmp(r->mistake, mistake) == 0; }

static uint64_t value(const struct t3_context* gpu, uint32_t counter) {
  return t3_block_base(t3_gpu(gpu), T3_BLOCK_SIGNALS) + T3_SIGNALS_VALUE_OFFSET + 8ULL * counter;
}

static uint64_t add(uint32_t gpu, uint32_t counter) {
  return t3_block_base(gpu, T3_BLOCK_SIGNALS) + T3_SIGNALS_ADD_OFFSET + 8ULL * counter;
}

static enum t3_status begin(struct racing* r, const struct t3_hal* hal) {
  T3_TRY(hal->argument_text(hal->platform, "mistake", &r->mistake));
  return t3_init(&r->gpu, hal);
}

static enum t3_status launch(struct t3_context* gpu, uint32_t queue, const struct t3_handing_arguments* arguments) {
  unsigned char bytes[T3_HANDING_ARGUMENTS_BYTES];
  t3_handing_arguments_to(arguments, bytes);
  return t3_launch_kernel(gpu, queue, "handing", bytes, sizeof bytes, (struct t3_kernel_options){0});
}

/* Each GPU hands rows to the next one, several times into the same buffer: a signal says that they are there, a credit
 * that they have been read. */
enum t3_status handing(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  struct racing r = {0};
  uint64_t source = 0, buffer = 0, output = 0;
  uint32_t queue = 0;
  T3_TRY(begin(&r, hal));
  T3_TRY(t3_queue_create(&r.gpu, (struct t3_queue_options){0}, &queue));
  T3_TRY(t3_malloc(&r.gpu, BYTES, &source));
  T3_TRY(t3_malloc(&r.gpu, BYTES, &buffer));
  T3_TRY(t3_malloc(&r.gpu, BYTES, &output));
  const uint32_t gpus = t3_gpus(&r.gpu), next = (t3_gpu(&r.gpu) + 1) % gpus,
                 previous = (t3_gpu(&r.gpu) + gpus - 1) % gpus;
  const struct t3_handing_arguments sends = {.to = t3_on_gpu(next, buffer),
                                             .from = source,
                                             .wait = has(&r, "credit") ? 0 : value(&r.gpu, CREDIT),
                                             .signal = add(has(&r, "receiver") ? previous : next, ARRIVED),
                                             .rounds = ROUNDS};
  const struct t3_handing_arguments receives = {.to = output,
                                                .from = buffer,
                                                .wait = has(&r, "signal") ? 0 : value(&r.gpu, ARRIVED),
                                                .signal = add(previous, CREDIT),
                                                .first = 1,
                                                .rounds = ROUNDS};
  T3_TRY(t3_barrier(&r.gpu));
  T3_TRY(launch(&r.gpu, queue, &receives));
  T3_TRY(launch(&r.gpu, 0, &sends));
  T3_TRY(t3_synchronize(&r.gpu, T3_FOREVER));
  T3_TRY(t3_barrier(&r.gpu));
  return t3_close(&r.gpu);
}

/* Two GPUs sum their products near memory, and the Tracker counts what arrives: who reads a sum waits for both. */
enum t3_status counting(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  enum { SIDE = 128 };
  struct racing r = {0};
  const struct t3_matrix square = {.rows = SIDE, .columns = SIDE, .element = T3_FP16};
  struct t3_matrix a = square, b = square;
  struct t3_output out = {square, {64, 64, 4}};
  T3_TRY(begin(&r, hal));
  out.matrix.memory = T3_UNCACHED;
  T3_TRY(t3_matrix_malloc(&r.gpu, &a));
  T3_TRY(t3_matrix_malloc(&r.gpu, &b));
  T3_TRY(t3_matrix_malloc(&r.gpu, &out.matrix));
  T3_TRY(t3_fill_zero(&r.gpu, &out.matrix));
  const uint32_t me = t3_gpu(&r.gpu), other = 1 - me;
  const struct t3_chunk mine = {2 * me, 2}, sent = {2 * other, 2};
  const struct t3_dma_options options = {.updates = has(&r, "threshold") ? 1 : 2, .block_tiles = 1};
  T3_TRY(t3_remote_map(&r.gpu, &out, sent, t3_peer_address(&out.matrix, other), T3_UPDATE));
  T3_TRY(t3_dma_map(&r.gpu, &out, mine, 0, T3_NOTIFY, options));
  T3_TRY(t3_barrier(&r.gpu));
  T3_TRY(t3_launch_gemm(&r.gpu, 0, &out, &a, &b, (struct t3_gemm_options){.update = true}));
  (void)t3_wait_dma(&r.gpu);
  unsigned char sums[SIDE * 2];
  T3_TRY(hal->read_memory(hal->platform, out.matrix.address + 64 * me * out.matrix.row_stride, sums, sizeof sums));
  T3_TRY(t3_wait_kernels(&r.gpu));
  T3_TRY(t3_barrier(&r.gpu));
  return t3_force_unmap_all(&r.gpu);
}

/* One queue computes, another one copies the result, and the program reads it. */
enum t3_status copying(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  enum { SIDE = 64 };
  struct racing r = {0};
  const struct t3_matrix square = {.rows = SIDE, .columns = SIDE, .element = T3_FP32};
  struct t3_matrix a = square, copied = square;
  struct t3_output out = {square, {SIDE, SIDE, 4}};
  struct t3_event computed;
  uint32_t queue = 0;
  unsigned char bytes[SIDE * 4] = {0};
  T3_TRY(begin(&r, hal));
  T3_TRY(t3_queue_create(&r.gpu, (struct t3_queue_options){0}, &queue));
  T3_TRY(t3_matrix_malloc(&r.gpu, &a));
  T3_TRY(t3_matrix_malloc(&r.gpu, &copied));
  T3_TRY(t3_matrix_malloc(&r.gpu, &out.matrix));
  T3_TRY(hal->write_memory(hal->platform, a.address, bytes, sizeof bytes));
  T3_TRY(t3_launch_gemm(&r.gpu, 0, &out, &a, &a, (struct t3_gemm_options){0}));
  if (has(&r, "operand")) T3_TRY(hal->write_memory(hal->platform, a.address, bytes, sizeof bytes));
  T3_TRY(t3_event_record(&r.gpu, 0, &computed));
  if (has(&r, "event")) hal->wait_ns(hal->platform, 100000); /* the GEMM has long ended */
  if (!has(&r, "event")) T3_TRY(t3_queue_wait_event(&r.gpu, queue, &computed));
  T3_TRY(t3_copy_async(&r.gpu, queue, copied.address, out.matrix.address, SIDE * SIDE * 4));
  if (has(&r, "synchronization")) hal->wait_ns(hal->platform, 100000);
  if (!has(&r, "synchronization")) T3_TRY(t3_synchronize(&r.gpu, T3_FOREVER));
  T3_TRY(hal->read_memory(hal->platform, copied.address, bytes, sizeof bytes));
  T3_TRY(t3_synchronize(&r.gpu, T3_FOREVER));
  return t3_close(&r.gpu);
}
