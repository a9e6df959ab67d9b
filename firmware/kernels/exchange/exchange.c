/* The all-to-all after pooling, with the shuffle. A sample's columns from all GPUs are placed side by side on its
 * owner. The shuffle takes no pass of its own, since the columns are stored in 2-D blocks. The kernel also does the
 * reverse for their gradients.
 *
 * Data that NICs have brought are shuffled on the GPU that has received them.
 *
 * Every workgroup has the same share of what goes to each GPU. Its waves take the share's blocks one after the other,
 * round-robin over the GPUs, so that all links are busy. When all blocks have left, the workgroup signals the same
 * workgroup of every other GPU and waits for the signals of all of them. A signal cannot overtake the blocks. */
#include "t3/arguments/exchange.h"
#include "kernels/operands.h"
#include "t3/address.h"
#include "t3/collective.h"
#include "t3/places.h"
#include "t3/registers/signals.h"

/* Rows of samples in blocks: several rows each, or a piece of one. */
struct blocks {
  uint64_t row_bytes;
  uint64_t piece_bytes, pieces; /* of a row */
  uint64_t rows;                /* of a block */
};

static uint64_t divided_up(uint64_t length, uint64_t part) { return (length + part - 1) / part; }

static struct blocks blocks_of(const struct t3_device* device, const struct t3_exchange_arguments* p) {
  const uint64_t each = device->kernels.ring.block_bytes, row = t3_row_bytes_of(p->columns, p->element);
  if (row <= each) return (struct blocks){row, row, 1, each / row};
  return (struct blocks){row, each, divided_up(row, each), 1};
}

static uint64_t samples_of(const struct t3_exchange_arguments* p, uint32_t gpu) {
  return t3_flat_chunk_size(p->global_batch, gpu, p->gpus);
}

static uint64_t block_count(const struct blocks* blocks, uint64_t samples) {
  return divided_up(samples, blocks->rows) * blocks->pieces;
}

/* The progress that the waves of a workgroup share: the next of its blocks. */
struct share {
  uint64_t next;
};

/* Rows of a sample each, from where they are to where they belong, and how far apart they are. */
struct rows {
  uint64_t from, from_stride, to, to_stride, samples;
};

static bool is_back(const struct t3_exchange_arguments* p) {
  return p->direction == T3_EXCHANGE_ARGUMENTS_DIRECTION_TO_TABLES;
}

/* Returns the rows that this GPU has pooled for another one, or that one for this GPU. Back: the gradients of the rows
 * that the other one has pooled. */
static struct rows rows_for(const struct t3_exchange_arguments* p, uint32_t gpu) {
  const uint64_t row = t3_row_bytes_of(p->columns, p->element), all = p->gpus * row;
  const uint64_t first = t3_flat_chunk_begin(p->global_batch, gpu, p->gpus), here = samples_of(p, p->gpu);
  if (is_back(p)) {
    const uint64_t own = t3_flat_chunk_begin(p->global_batch, p->gpu, p->gpus);
    return (struct rows){p->out + gpu * row, all, t3_on_gpu(gpu, p->pooled) + own * row, row, here};
  }
  if (p->received == 0)
    return (struct rows){p->pooled + first * row, row, t3_on_gpu(gpu, p->out) + p->gpu * row, all, samples_of(p, gpu)};
  const uint64_t from = gpu == p->gpu ? p->pooled + first * row : p->received + gpu * here * row;
  return (struct rows){from, row, p->out + gpu * row, all, here};
}

static void move(struct t3_wave* wave, const struct blocks* blocks, const struct rows* rows, uint64_t block) {
  const struct t3_exchange_arguments* p = wave->arguments;
  const uint32_t element = t3_element_bytes((enum t3_element)p->element);
  const uint64_t row = block / blocks->pieces * blocks->rows, offset = block % blocks->pieces * blocks->piece_bytes,
                 bytes = blocks->row_bytes - offset, left = rows->samples - row;
  const struct t3_tile tile = {
      .rows = (uint32_t)(left < blocks->rows ? left : blocks->rows),
      .columns = (uint32_t)((bytes < blocks->piece_bytes ? bytes : blocks->piece_bytes) / element),
      .element = (enum t3_element)p->element};
  struct t3_access access = {.rows = tile.rows, .columns = tile.columns, .element = tile.element, .at_once = true};
  access.address = rows->from + row * rows->from_stride + offset;
  access.stride = rows->from_stride;
  t3_load(wave, tile, access);
  access.address = rows->to + row * rows->to_stride + offset;
  access.stride = rows->to_stride;
  t3_store(wave, tile, access);
  t3_fence(wave);
}

static uint64_t counter(const struct t3_wave* wave, uint32_t gpu, uint64_t offset) {
  const struct t3_exchange_arguments* p = wave->arguments;
  return t3_block_base(gpu, T3_BLOCK_SIGNALS) + offset +
         (uint64_t)T3_SIGNALS_VALUE_STRIDE * (p->signal_base + wave->workgroup);
}

static struct t3_places places_of(const struct t3_exchange_arguments* p) {
  return (struct t3_places){.gpu = p->gpu, .gpus = p->gpus, .gpus_per_row = p->gpus_per_row};
}

static void meet_the_others(struct t3_wave* wave) {
  const struct t3_exchange_arguments* p = wave->arguments;
  const struct t3_places places = places_of(p);
  for (uint32_t i = 1; i < p->gpus; ++i)
    t3_signal(wave, (struct t3_counter){.address = counter(wave, t3_other_of(&places, i), T3_SIGNALS_ADD_OFFSET)});
  t3_wait_counter(wave, (struct t3_counter){.address = counter(wave, p->gpu, T3_SIGNALS_VALUE_OFFSET),
                                            .threshold = p->signal_epoch + p->gpus - 1});
}

static void run(struct t3_wave* wave) {
  const struct t3_exchange_arguments* p = wave->arguments;
  const struct blocks blocks = blocks_of(wave->device, p);
  struct share* share = wave->local;
  const uint64_t most = block_count(&blocks, samples_of(p, 0));
  const struct t3_places places = places_of(p);
  for (;;) {
    const uint64_t number = share->next++, block = number / p->gpus * wave->workgroups + wave->workgroup;
    if (block >= most) break;
    const uint32_t turn = (uint32_t)(number % p->gpus) + 1; /* its own comes last */
    const struct rows rows = rows_for(p, turn == p->gpus ? p->gpu : t3_other_of(&places, turn));
    if (block < block_count(&blocks, rows.samples)) move(wave, &blocks, &rows, block);
  }
  t3_workgroup_barrier(wave);
  if (wave->wave == 0 && p->received == 0) meet_the_others(wave);
}

static bool check_numbers(struct t3_check* check, const struct t3_exchange_arguments* p) {
  if (!t3_check_place(check, p->gpu, p->gpus)) return false;
  if (p->element > T3_FP32)
    return t3_refuse(check, T3_BAD_PACKET, "element %u: 0 (fp16), 1 (bf16) or 2 (fp32) expected", p->element);
  if (p->gpus_per_row != 0 && p->gpus % p->gpus_per_row != 0)
    return t3_refuse(check, T3_BAD_PACKET, "gpus_per_row %u: a divisor of %u GPUs, or 0, expected", p->gpus_per_row,
                     p->gpus);
  if (p->direction > T3_EXCHANGE_ARGUMENTS_DIRECTION_TO_TABLES || (is_back(p) && p->received != 0))
    return t3_refuse(check, T3_BAD_PACKET, "direction %u, received " T3_HEX ": 0, or 1 with nothing received, expected",
                     p->direction, p->received);
  if (p->columns - 1 >= T3_ROWS_MAX || p->global_batch < p->gpus || p->global_batch > T3_ROWS_MAX)
    return t3_refuse(check, T3_BAD_PACKET, "columns %u, global_batch %u: 1 to %d, %u to %d expected", p->columns,
                     p->global_batch, T3_ROWS_MAX, p->gpus, T3_ROWS_MAX);
  return true;
}

static struct t3_matrices pooled_of(const struct t3_exchange_arguments* p) {
  return t3_piece("pooled", p->pooled, p->global_batch * t3_row_bytes_of(p->columns, p->element));
}

static struct t3_matrices received_of(const struct t3_exchange_arguments* p) {
  const uint64_t bytes = p->gpus * samples_of(p, p->gpu) * t3_row_bytes_of(p->columns, p->element);
  return t3_piece("received", p->received, p->received == 0 ? 0 : bytes);
}

static struct t3_matrices out_of(const struct t3_exchange_arguments* p, uint32_t gpu) {
  return t3_piece("out", p->out, samples_of(p, gpu) * p->gpus * t3_row_bytes_of(p->columns, p->element));
}

/* Returns the matrices that all GPUs together write on this GPU. */
static struct t3_matrices written_of(const struct t3_exchange_arguments* p, uint32_t gpu) {
  return is_back(p) ? pooled_of(p) : out_of(p, gpu);
}
static struct t3_matrices read_of(const struct t3_exchange_arguments* p) {
  return is_back(p) ? out_of(p, p->gpu) : pooled_of(p);
}

static bool check_buffers(struct t3_check* check, const struct t3_exchange_arguments* p) {
  const struct t3_matrices buffers[] = {written_of(p, p->gpu), read_of(p), received_of(p)};
  const struct t3_matrices* end = buffers + (p->received == 0 ? 2 : 3);
  for (const struct t3_matrices* m = buffers; m < end; ++m) {
    if (!t3_check_piece(check, m)) return false;
    if (m != buffers && !t3_check_overlap(check, &buffers[0], m)) return false;
  }
  return true;
}

static bool check_peers(struct t3_check* check, const struct t3_exchange_arguments* p, uint32_t workgroups) {
  if (workgroups == 0)
    return t3_refuse(check, T3_BAD_PACKET, "0 workgroups: 1 or more, as many as on the other GPUs, expected");
  if (p->received != 0) return true;
  const uint64_t end = (uint64_t)p->signal_base + workgroups;
  if (end > check->counters)
    return t3_refuse(check, T3_BAD_PACKET, "signals %u to %" PRIu64 ": there are %u", p->signal_base, end - 1,
                     check->counters);
  if (p->signal_epoch > UINT64_MAX - T3_PEERS_MAX)
    return t3_refuse(check, T3_BAD_PACKET, "signal_epoch %" PRIu64 ": room for %d signals expected", p->signal_epoch,
                     T3_PEERS_MAX);
  const struct t3_matrices written = written_of(p, p->gpu);
  return t3_check_reach(check, p->gpu, p->gpus, written.name, written.address);
}

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_exchange_arguments* p = launch->arguments;
  return check_numbers(check, p) && check_buffers(check, p) && check_peers(check, p, launch->workgroups);
}

/* The first GPU has most of the samples. */
static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_exchange_arguments* p = launch->arguments;
  const struct t3_matrices read = read_of(p), received = received_of(p), written = written_of(p, p->gpu);
  const bool is_here = p->received != 0;
  return (struct t3_plan){.name = is_here ? "shuffle" : "all-to-all",
                          .workgroups = launch->workgroups,
                          .workgroups_per_cu = device->kernels.ring.workgroups_per_cu,
                          .register_bytes = device->kernels.ring.block_bytes * device->kernels.ring.blocks_in_flight,
                          .waves = device->kernels.ring.blocks_in_flight,
                          .tiles = 1,
                          .local_bytes = sizeof(struct share),
                          .together = !is_here,
                          .written = {t3_range_of(&written)},
                          .written_count = 1,
                          .read = {t3_range_of(&read), t3_range_of(&received)},
                          .read_count = is_here ? 2 : 1,
                          .sent = {t3_local_range(written_of(p, 0))},
                          .sent_count = is_here ? 0 : 1,
                          .awaits_arrivals = !is_here,
                          .stores_here = true};
}

const struct t3_kernel t3_exchange_kernel = {.name = "exchange",
                                             .arguments = T3_EXCHANGE_ARGUMENTS,
                                             .reads = "exchange_read",
                                             .writes = "exchange_write",
                                             .check = check,
                                             .plan = plan,
                                             .run = run};
