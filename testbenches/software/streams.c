/* Queues as streams: two queues that overlap and an event between them, copies and fills, and a consumer for each chunk
 * of a GEMM. */
#include "t3/streams.h"

#include "guests.h"
#include "t3/arguments/consuming.h"
#include "t3/chunk_progress.h"
#include "t3/launch.h"

enum { SIDE = 64, CHUNKS = 8, ROWS = SIDE * CHUNKS, DEPTH = 512, FILLED = 256 };
enum { CHUNK_BYTES = SIDE * SIDE * 4 };

struct streams {
  struct t3_context gpu;
  struct t3_matrix a, b, copied, received;
  struct t3_output out, second;
};

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  (void)check, (void)launch;
  return true;
}

static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  (void)device;
  const struct t3_consuming_arguments* p = launch->arguments;
  return (struct t3_plan){.name = "consuming",
                          .workgroups = 1,
                          .workgroups_per_cu = 1,
                          .waves = 1,
                          .tiles = 1,
                          .written = {{p->to, p->to + p->bytes}},
                          .written_count = 1,
                          .read = {{p->from, p->from + p->bytes}},
                          .read_count = 1,
                          .awaits_chunks = p->waits != 0,
                          .stores_here = true};
}

static void consume(struct t3_wave* wave) {
  const struct t3_consuming_arguments* p = wave->arguments;
  const struct t3_tile tile = {.rows = 1, .columns = p->bytes / 4, .element = T3_FP32};
  struct t3_access access = {.rows = 1, .columns = p->bytes / 4, .element = T3_FP32, .stride = p->bytes};
  access.uncached = true;
  if (p->counter != 0) t3_wait_counter(wave, (struct t3_counter){.address = p->counter, .threshold = p->value});
  access.address = p->from;
  t3_load(wave, tile, access);
  access.address = p->to;
  t3_store(wave, tile, access);
  t3_fence(wave);
}

const struct t3_kernel consuming_kernel = {.name = "consuming",
                                           .arguments = T3_CONSUMING_ARGUMENTS,
                                           .reads = "consuming_read",
                                           .writes = "consuming_write",
                                           .check = check,
                                           .plan = plan,
                                           .run = consume};

static float value_of(uint32_t gpu, uint64_t i) { return (float)((i * 7 + gpu * 3) % 5) - 2; }

static void numbers(const void* argument, uint32_t gpu, float* values) {
  const struct t3_matrix* matrix = argument;
  for (uint64_t i = 0; i < (uint64_t)matrix->rows * matrix->columns; ++i) values[i] = value_of(gpu, i);
}

/* The first columns of a: b has ones in its diagonal and zeros elsewhere, so that a core computes little. */
static void product_of(uint32_t gpu, float* values) {
  for (uint64_t row = 0; row < ROWS; ++row)
    for (uint64_t column = 0; column < SIDE; ++column) *values++ = value_of(gpu, row * DEPTH + column);
}

static void diagonal(const void* argument, uint32_t gpu, float* values) {
  (void)argument, (void)gpu;
  for (uint64_t i = 0; i < (uint64_t)DEPTH * SIDE; ++i) values[i] = i / SIDE == i % SIDE ? 1 : 0;
}

static void product(const void* argument, uint32_t gpu, float* values) {
  (void)argument;
  product_of(gpu, values);
}

static void product_of_next(const void* argument, uint32_t gpu, float* values) {
  product_of((gpu + 1) % t3_gpus(argument), values);
}

static void publish(struct streams* s, const char* name, const struct t3_matrix* matrix,
                    void (*initial)(const void*, uint32_t, float*), void (*expected)(const void*, uint32_t, float*)) {
  struct t3_buffer buffer = {.name = name,
                             .address = matrix->address,
                             .row_stride = matrix->row_stride,
                             .rows = matrix->rows,
                             .columns = matrix->columns,
                             .element = (uint32_t)matrix->element};
  if (initial != NULL)
    buffer.initial = (struct t3_contents){.kind = T3_CONTENTS_FUNCTION, .function = initial, .argument = matrix};
  if (expected != NULL)
    buffer.expected = (struct t3_contents){.kind = T3_CONTENTS_FUNCTION, .function = expected, .argument = &s->gpu};
  t3_hal_of(&s->gpu)->publish(t3_hal_of(&s->gpu)->platform, &buffer);
}

static enum t3_status begin(struct streams* s, const struct t3_hal* hal) {
  const struct t3_matrix of_output = {.rows = ROWS, .columns = SIDE, .element = T3_FP32};
  *s = (struct streams){0};
  T3_TRY(t3_init(&s->gpu, hal));
  s->a = (struct t3_matrix){.rows = ROWS, .columns = DEPTH, .element = T3_FP32};
  s->b = (struct t3_matrix){.rows = DEPTH, .columns = SIDE, .element = T3_FP32};
  s->out.matrix = s->second.matrix = s->copied = s->received = of_output;
  s->out.tiling = s->second.tiling = (struct t3_tiling){SIDE, SIDE, 4};
  return T3_OK;
}

static enum t3_status allocate(struct streams* s) {
  struct t3_matrix* const all[] = {&s->a, &s->b, &s->out.matrix, &s->second.matrix, &s->copied, &s->received};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) T3_TRY(t3_matrix_malloc(&s->gpu, all[i]));
  publish(s, "a", &s->a, numbers, NULL);
  publish(s, "b", &s->b, diagonal, NULL);
  return T3_OK;
}

static enum t3_status expect(enum t3_status found, enum t3_status expected) {
  return found == expected ? T3_OK : T3_MISMATCH;
}

static enum t3_status fill(struct streams* s, uint32_t queue) {
  const struct t3_hal* hal = t3_hal_of(&s->gpu);
  const uint32_t word = UINT32_C(0x7FC01234); /* a NaN whose bits stay */
  uint32_t found[FILLED / 4] = {0};
  uint64_t address = 0;
  T3_TRY(t3_malloc(&s->gpu, FILLED, &address));
  T3_TRY(t3_fill(&s->gpu, queue, address, word, FILLED));
  T3_TRY(hal->read_memory(hal->platform, address, found, sizeof found));
  for (size_t i = 0; i < FILLED / 4; ++i)
    if (found[i] != word) return T3_MISMATCH;
  return T3_OK;
}

/* Queue 0 computes; the other one copies the result when the event has happened, and to the GPU before this one, while
 * queue 0 computes something else. No flush comes in between. */
enum t3_status overlapping(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  struct streams s;
  struct t3_event computed, copied;
  const uint64_t bytes = (uint64_t)ROWS * SIDE * 4;
  const struct t3_gemm_options narrow = {.max_compute_units = 1};
  uint32_t queue = 0;
  T3_TRY(begin(&s, hal));
  T3_TRY(t3_queue_create(&s.gpu, (struct t3_queue_options){.priority = 1}, &queue));
  T3_TRY(allocate(&s));
  publish(&s, "copied", &s.copied, NULL, product);
  publish(&s, "received", &s.received, NULL, product_of_next);
  const uint64_t peer = t3_peer_address(&s.received, t3_ring_previous(&s.gpu));
  T3_TRY(t3_barrier(&s.gpu));
  T3_TRY(t3_launch_gemm(&s.gpu, 0, &s.out, &s.a, &s.b, narrow));
  T3_TRY(t3_event_record(&s.gpu, 0, &computed));
  T3_TRY(t3_queue_wait_event(&s.gpu, queue, &computed));
  T3_TRY(t3_copy_async(&s.gpu, queue, s.copied.address, s.out.matrix.address, bytes));
  T3_TRY(t3_copy_async(&s.gpu, queue, peer, s.copied.address, bytes));
  T3_TRY(t3_event_record(&s.gpu, queue, &copied));
  T3_TRY(t3_launch_gemm(&s.gpu, 0, &s.second, &s.a, &s.b, narrow));
  T3_TRY(expect(t3_event_query(&s.gpu, &copied), T3_BUSY));
  T3_TRY(t3_event_wait(&s.gpu, &copied, T3_FOREVER));
  T3_TRY(expect(t3_event_query(&s.gpu, &computed), T3_OK));
  T3_TRY(t3_event_record(&s.gpu, 0, &computed));
  T3_TRY(expect(t3_event_query(&s.gpu, &computed), T3_BUSY)); /* the second GEMM has run beside the copies */
  T3_TRY(t3_synchronize(&s.gpu, T3_FOREVER));
  T3_TRY(expect(t3_event_query(&s.gpu, &computed), T3_OK));
  T3_TRY(fill(&s, queue));
  T3_TRY(t3_queue_destroy(&s.gpu, queue));
  T3_TRY(t3_barrier(&s.gpu));
  return t3_close(&s.gpu);
}

static enum t3_status launch_consumer(struct streams* s, uint32_t queue, uint32_t chunk, bool waits) {
  const struct t3_consuming_arguments arguments = {
      .from = s->out.matrix.address + (uint64_t)chunk * CHUNK_BYTES,
      .to = s->copied.address + (uint64_t)chunk * CHUNK_BYTES,
      .counter = waits ? t3_chunk_signal_address(&s->gpu, T3_CHUNK_SIGNAL_FIRST + chunk) : 0,
      .value = 1,
      .bytes = CHUNK_BYTES,
      .waits = waits};
  unsigned char bytes[T3_CONSUMING_ARGUMENTS_BYTES];
  t3_consuming_arguments_to(&arguments, bytes);
  return t3_launch_kernel(&s->gpu, queue, "consuming", bytes, sizeof bytes, (struct t3_kernel_options){0});
}

static enum t3_status map_chunks(struct streams* s) {
  const struct t3_dma_options options = {.updates = 1, .block_tiles = 1};
  for (uint32_t chunk = 0; chunk < CHUNKS; ++chunk)
    T3_TRY(t3_dma_map_signal(&s->gpu, &s->out, (struct t3_chunk){chunk, 1}, 0, T3_NOTIFY, options,
                             T3_CHUNK_SIGNAL_FIRST + chunk));
  return T3_OK;
}

/* A consumer of each chunk runs as soon as the chunk is complete, beside the GEMM that produces the others. */
enum t3_status consuming(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  struct streams s;
  struct t3_event produced, first;
  struct t3_chunk_progress progress = {0};
  const struct t3_chunk last = {CHUNKS - 1, 1};
  uint64_t value = 0;
  uint32_t queue = 0;
  T3_TRY(begin(&s, hal));
  s.out.matrix.memory = T3_UNCACHED;
  T3_TRY(t3_queue_create(&s.gpu, (struct t3_queue_options){0}, &queue));
  T3_TRY(allocate(&s));
  publish(&s, "copied", &s.copied, NULL, product);
  T3_TRY(t3_fill_zero(&s.gpu, &s.out.matrix));
  T3_TRY(map_chunks(&s));
  T3_TRY(expect(t3_chunk_status(&s.gpu, &s.out, last, &progress), T3_BUSY));
  T3_TRY(expect(progress.done == 0 && progress.tiles == 4 ? T3_OK : T3_BUSY, T3_OK));
  T3_TRY(expect(t3_wait_chunk(&s.gpu, &s.out, last, 1), T3_TIMEOUT));
  T3_TRY(
      t3_launch_gemm(&s.gpu, 0, &s.out, &s.a, &s.b, (struct t3_gemm_options){.update = true, .max_compute_units = 1}));
  T3_TRY(t3_event_record(&s.gpu, 0, &produced));
  for (uint32_t chunk = 0; chunk < CHUNKS; ++chunk) {
    T3_TRY(launch_consumer(&s, queue, chunk, true));
    if (chunk == 0) T3_TRY(t3_event_record(&s.gpu, queue, &first));
  }
  T3_TRY(t3_event_wait(&s.gpu, &first, T3_FOREVER));
  T3_TRY(expect(t3_chunk_status(&s.gpu, &s.out, (struct t3_chunk){0, 1}, NULL), T3_OK));
  T3_TRY(expect(t3_chunk_status(&s.gpu, &s.out, last, NULL), T3_BUSY));
  T3_TRY(expect(t3_event_query(&s.gpu, &produced), T3_BUSY)); /* the first chunk is consumed before the last is there */
  T3_TRY(t3_wait_chunk(&s.gpu, &s.out, last, T3_FOREVER));
  T3_TRY(t3_chunk_status(&s.gpu, &s.out, last, &progress));
  T3_TRY(t3_chunk_signal_value(&s.gpu, T3_CHUNK_SIGNAL_FIRST + CHUNKS - 1, &value));
  T3_TRY(expect(value == 1 && progress.done == 4 ? T3_OK : T3_BUSY, T3_OK));
  T3_TRY(t3_synchronize(&s.gpu, T3_FOREVER));
  T3_TRY(t3_remote_unmap_all(&s.gpu));
  return t3_close(&s.gpu);
}

/* Each call has one code. */
enum t3_status streams_misused(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  struct streams s;
  struct t3_event event = {0}, copy;
  uint32_t queue = 0;
  T3_TRY(begin(&s, hal));
  T3_TRY(t3_queue_create(&s.gpu, (struct t3_queue_options){0}, &queue));
  T3_TRY(allocate(&s));
  T3_TRY(expect(t3_event_query(&s.gpu, &event), T3_INVALID_ARGUMENT));
  T3_TRY(t3_event_record(&s.gpu, queue, &event));
  copy = event;
  copy.context = NULL; /* nobody's */
  T3_TRY(expect(t3_event_wait(&s.gpu, &copy, T3_FOREVER), T3_INVALID_ARGUMENT));
  T3_TRY(expect(t3_queue_wait_event(&s.gpu, 0, &copy), T3_INVALID_ARGUMENT));
  T3_TRY(t3_event_wait(&s.gpu, &event, T3_FOREVER)); /* behind nothing */
  T3_TRY(t3_queue_destroy(&s.gpu, queue));
  T3_TRY(expect(t3_queue_destroy(&s.gpu, queue), T3_INVALID_ARGUMENT));
  T3_TRY(expect(t3_queue_destroy(&s.gpu, 0), T3_INVALID_ARGUMENT));
  T3_TRY(expect(t3_event_record(&s.gpu, queue, &copy), T3_INVALID_ARGUMENT));
  T3_TRY(expect(t3_queue_wait_event(&s.gpu, queue, &event), T3_INVALID_ARGUMENT));
  T3_TRY(expect(t3_fill(&s.gpu, queue, s.copied.address, 0, 32), T3_INVALID_ARGUMENT));
  T3_TRY(expect(t3_queue_set_release(&s.gpu, queue, true), T3_INVALID_ARGUMENT));
  const uint64_t to = s.copied.address, from = s.received.address, far = t3_on_gpu(t3_gpu(&s.gpu), UINT64_C(1) << 43);
  T3_TRY(expect(t3_copy(&s.gpu, 0, to, from, 0), T3_INVALID_ARGUMENT));
  T3_TRY(expect(t3_copy(&s.gpu, 0, to + 4, from, 32), T3_UNALIGNED));
  T3_TRY(expect(t3_copy(&s.gpu, 0, to, from, 33), T3_UNALIGNED));
  T3_TRY(expect(t3_copy(&s.gpu, 0, to, to + 32, 64), T3_OVERLAP));
  T3_TRY(expect(t3_copy(&s.gpu, 0, to, far, 32), T3_BAD_ADDRESS));
  T3_TRY(expect(t3_fill(&s.gpu, 0, far, 1, 32), T3_BAD_ADDRESS));
  T3_TRY(expect(t3_copy(&s.gpu, 0, t3_on_gpu(99, 4096), from, 32), T3_NO_PEER));
  T3_TRY(
      expect(t3_copy(&s.gpu, 0, t3_on_gpu(1 - t3_gpu(&s.gpu) % 2, 4096), t3_on_gpu(1 - t3_gpu(&s.gpu) % 2, 8192), 32),
             T3_INVALID_ARGUMENT));
  T3_TRY(expect(t3_chunk_status(&s.gpu, &s.out, (struct t3_chunk){0, 1}, NULL), T3_INVALID_ARGUMENT));
  T3_TRY(expect(t3_wait_chunk(&s.gpu, &s.out, (struct t3_chunk){0, 1}, T3_FOREVER), T3_INVALID_ARGUMENT));
  for (int looks = 0; looks < 2; ++looks) { /* the log has the chunk */
    struct t3_error error;
    T3_TRY(t3_next_error(&s.gpu, &error));
    T3_TRY(expect(error.code, T3_INVALID_ARGUMENT));
    T3_TRY(expect(error.address == s.out.matrix.address ? T3_OK : T3_BAD_VALUE, T3_OK));
  }
  T3_TRY(expect(t3_dma_map_signal(&s.gpu, &s.out, (struct t3_chunk){0, 1}, 0, T3_NOTIFY,
                                  (struct t3_dma_options){1, 1, T3_UPDATE}, 16),
                T3_INVALID_ARGUMENT));
  hal->log(hal->platform, "every misuse had its code");
  return t3_close(&s.gpu);
}
