/* GEMMs beside a kernel that keeps memory busy, each on compute units of its own. */
#include "t3/address.h"
#include "t3/arguments/stream.h"
#include "t3/launch.h"
#include "t3/streams.h"
#include "t3/workloads/contention.h"
#include "workloads/contention/stream_layout.h"
#include "workloads/gemm/gemm_tensors.h"
#include "workloads/shared/program_steps.h"

enum { MASK_WORD = 64 };

struct contention {
  struct t3_context* gpu;
  struct t3_stream stream;
  struct t3_gemm_workload gemm;
  struct t3_operands tensors;
  struct t3_stream_arguments kernel;
  uint32_t gemm_queue, stream_queue;
};

/* The gemm's bytes follow the stream's. */
static enum t3_status read_arguments(const struct t3_run* run, struct contention* c) {
  T3_TRY(t3_stream_of(run, &c->stream));
  if (run->argument_bytes != T3_CONTENTION_RUN_BYTES + T3_GEMM_WORKLOAD_BYTES) return T3_INVALID_ARGUMENT;
  c->gemm = t3_gemm_workload_from(run->arguments + T3_CONTENTION_RUN_BYTES);
  return T3_OK;
}

static bool streams(const struct contention* c) { return c->stream.compute_units != 0; }

/* Compute units `first` to `end` - 1. */
static struct t3_queue_options units(uint32_t first, uint32_t end) {
  struct t3_queue_options options = {0};
  for (uint32_t unit = first; unit < end; ++unit) options.cu_mask[unit / MASK_WORD] |= UINT64_C(1) << unit % MASK_WORD;
  return options;
}

static enum t3_status allocate_stream(struct contention* c) {
  const uint64_t footprint = c->stream.footprint / T3_STREAM_PIECE_BYTES * T3_STREAM_PIECE_BYTES;
  const uint32_t kind = c->stream.kind;
  c->kernel = (struct t3_stream_arguments){
      .footprint = footprint, .waves = c->stream.in_flight / T3_STREAM_BLOCK_BYTES, .kind = (uint8_t)kind};
  if (kind == T3_STREAM_READ || kind == T3_STREAM_COPY) T3_TRY(t3_malloc(c->gpu, footprint, &c->kernel.from));
  if (kind != T3_STREAM_READ) T3_TRY(t3_malloc(c->gpu, footprint, &c->kernel.to));
  T3_TRY(t3_malloc(c->gpu, T3_STREAM_FLAG_BYTES, &c->kernel.flag));
  return t3_write_zeros(c->gpu, c->kernel.flag, T3_STREAM_FLAG_BYTES);
}

static enum t3_status prepare(struct contention* c) {
  const uint32_t all = c->stream.all_units, apart = c->stream.compute_units;
  if (streams(c)) {
    T3_TRY(t3_queue_create(c->gpu, units(0, all - apart), &c->gemm_queue));
    T3_TRY(t3_queue_create(c->gpu, units(all - apart, all), &c->stream_queue));
  }
  T3_TRY(t3_allocate(c->gpu, &c->gemm, T3_CACHED, &c->tensors));
  return streams(c) ? allocate_stream(c) : T3_OK;
}

/* `bytes` of each workgroup, or 0: until the flag is set. */
static enum t3_status launch_stream(struct contention* c, uint64_t bytes) {
  unsigned char packed[T3_STREAM_ARGUMENTS_BYTES];
  c->kernel.bytes = bytes / T3_STREAM_BLOCK_BYTES * T3_STREAM_BLOCK_BYTES;
  t3_stream_arguments_to(&c->kernel, packed);
  return t3_launch_kernel(c->gpu, c->stream_queue, "stream", packed, sizeof packed, (struct t3_kernel_options){0});
}

static enum t3_status wait_for(struct contention* c, uint32_t queue, uint64_t number, const char* phase) {
  t3_begin(c->gpu, phase);
  T3_TRY(t3_wait_launch(c->gpu, queue, number));
  t3_end(c->gpu, phase);
  return T3_OK;
}

/* The kernel behind the timed ones runs until set_flag(). */
static enum t3_status start_stream(struct contention* c) {
  T3_TRY(launch_stream(c, c->stream.timed / T3_STREAM_START_SHARE));
  T3_TRY(launch_stream(c, c->stream.timed));
  return launch_stream(c, 0);
}

static enum t3_status time_stream(struct contention* c) {
  const uint64_t last = t3_last_launch(c->gpu, c->stream_queue);
  T3_TRY(wait_for(c, c->stream_queue, last - 2, "stream_start"));
  return wait_for(c, c->stream_queue, last - 1, "stream");
}

static enum t3_status set_flag(struct contention* c) {
  const unsigned char one = 1;
  T3_TRY(t3_hal_of(c->gpu)->write_memory(t3_hal_of(c->gpu)->platform, c->kernel.flag, &one, sizeof one));
  t3_hal_of(c->gpu)->order_writes(t3_hal_of(c->gpu)->platform);
  return T3_OK;
}

static enum t3_status launch_gemm(struct contention* c) {
  const struct t3_operands* t = &c->tensors;
  return t3_launch_gemm(c->gpu, c->gemm_queue, &t->out, &t->a, &t->b, t3_gemm_options_of(&c->gemm));
}

/* When the GEMMs before the last one have ended, one more comes before it: there is always one that ends as it begins.
 */
static enum t3_status keep_warm(struct contention* c, const struct t3_event* before) {
  const enum t3_status ended = t3_event_query(c->gpu, before);
  if (ended == T3_BUSY) return T3_OK;
  T3_TRY(ended);
  return launch_gemm(c);
}

static enum t3_status run_gemms(struct contention* c) {
  struct t3_event before;
  if (streams(c)) T3_TRY(start_stream(c));
  for (uint32_t i = 1; i < c->stream.repeats; ++i) T3_TRY(launch_gemm(c));
  T3_TRY(t3_event_record(c->gpu, c->gemm_queue, &before));
  if (streams(c)) {
    T3_TRY(time_stream(c));
    if (c->stream.repeats > 1) T3_TRY(keep_warm(c, &before));
  }
  T3_TRY(launch_gemm(c));
  const uint64_t last = t3_last_launch(c->gpu, c->gemm_queue);
  if (c->stream.repeats > 1) T3_TRY(t3_wait_launch(c->gpu, c->gemm_queue, last - 1));
  T3_TRY(wait_for(c, c->gemm_queue, last, "gemm"));
  if (!streams(c)) return T3_OK;
  T3_TRY(set_flag(c));
  return t3_wait_queue(c->gpu, c->stream_queue);
}

enum t3_status t3_run_contention(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context context = {0};
  struct contention c = {.gpu = &context};
  T3_TRY(read_arguments(run, &c));
  T3_TRY(t3_set_up(&context, hal, run));
  t3_begin(&context, "setup");
  T3_TRY(prepare(&c));
  T3_TRY(t3_barrier(&context));
  t3_end(&context, "setup");

  t3_begin(&context, "total");
  T3_TRY(run_gemms(&c));
  t3_end(&context, "total");
  T3_TRY(t3_hand_over(&context));
  return t3_close(&context);
}
