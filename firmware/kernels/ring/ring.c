/* Ring reduce-scatter and all-gather on the compute units (T3 2.3, Figures 3 and 10a).
 *
 * Every workgroup owns the same share of each chunk and goes through the steps on its own: wait for the sender's signal
 * of the step before, move the share, signal the receiver. Its waves take the share's blocks one after the other: load
 * one (for a staged reduction also what was received, and add), store it to the receiver. With near-memory reduction
 * (T3 4.3) the stores are updates of the receiver's output and nothing is added here.
 *
 * Neighbours must mean the same: a signal carries what the sender's kernel is and where it stores, a wait what this
 * kernel expects. Where they differ the wait is refused, and the kernel ends with mismatch. A kernel that has failed
 * keeps the ring going; its further signals say so, and the receiver's kernel fails and passes it on.
 *
 * Reduce-scatter of N GPUs: steps 0 to N-2 send chunk (g+1+s) mod N; step N-1 reduces chunk g in place (staged) or
 * waits for it (near memory). All-gather: steps 0 to N-2 send chunk (g+s) mod N, step N-1 waits for the last chunk. */
#include <string.h>

#include "blocks.h"
#include "kernels/operands.h"
#include "t3/address.h"
#include "t3/arguments/ring_all_gather.h"
#include "t3/arguments/ring_reduce_scatter.h"
#include "t3/registers/signals.h"

enum { GPUS_MAX = 1 << 16 }; /* their number travels in 16 bits */

enum collective { REDUCE_SCATTER, NEAR_MEMORY_REDUCE_SCATTER, ALL_GATHER };
static const char* const collective_names[] = {"reduce-scatter", "near-memory reduce-scatter", "all-gather"};

/* The work of a wave: the arguments of either kernel. */
struct ring {
  enum collective collective;
  struct t3_ring_reduce_scatter_arguments arguments;
};

static struct ring ring_of_reduce_scatter(const void* arguments) {
  const struct t3_ring_reduce_scatter_arguments* p = arguments;
  return (struct ring){p->near_memory ? NEAR_MEMORY_REDUCE_SCATTER : REDUCE_SCATTER, *p};
}

/* An all-gather has nothing to stage. */
static struct ring ring_of_all_gather(const void* arguments) {
  const struct t3_ring_all_gather_arguments* p = arguments;
  return (struct ring){ALL_GATHER,
                       {.out = p->out,
                        .peer_out = p->peer_out,
                        .signal_epoch = p->signal_epoch,
                        .m = p->m,
                        .n = p->n,
                        .ldo = p->ldo,
                        .signal_base = p->signal_base,
                        .gpu = p->gpu,
                        .gpus = p->gpus,
                        .tile_rows = p->tile_rows,
                        .tile_columns = p->tile_columns,
                        .element = p->element,
                        .uncached = p->uncached}};
}

static bool reduces(const struct ring* r) { return r->collective != ALL_GATHER; }
static bool is_staged(const struct ring* r) { return r->collective == REDUCE_SCATTER; }

static struct t3_grid grid_of(const struct ring* r) {
  const struct t3_ring_reduce_scatter_arguments* p = &r->arguments;
  return (struct t3_grid){p->m, p->n, p->tile_rows, p->tile_columns, 1, p->ldo, (enum t3_element)p->element};
}

/* The work that the waves of a workgroup share: the remaining blocks of this step. */
struct share {
  struct t3_chunk_blocks blocks;
  uint64_t next, end;
};

static bool is_last(const struct ring* r, uint32_t step) { return step + 1 == r->arguments.gpus; }

static uint32_t chunk_of(const struct ring* r, uint32_t step) {
  const struct t3_ring_reduce_scatter_arguments* p = &r->arguments;
  return (uint32_t)(((uint64_t)p->gpu + step + (reduces(r) ? 1 : 0)) % p->gpus);
}

/* Returns the address at which the receiver takes the data. */
static uint64_t sent_to(const struct ring* r) {
  return is_staged(r) ? r->arguments.peer_staging : r->arguments.peer_out;
}

static uint64_t counter(const struct t3_wave* wave, const struct ring* r, uint64_t address, uint64_t offset) {
  return t3_block_base(t3_gpu_of(address), T3_BLOCK_SIGNALS) + offset +
         (uint64_t)8 * (r->arguments.signal_base + wave->workgroup);
}

/* The signal takes the same way as the data before it and cannot overtake it. */
static void signal_receiver(struct t3_wave* wave, const struct ring* r, uint32_t step) {
  const struct t3_grid grid = grid_of(r);
  const uint32_t chunk = chunk_of(r, step), gpus = r->arguments.gpus;
  const uint32_t begin = t3_chunk_begin(&grid, chunk, gpus), end = t3_chunk_begin(&grid, chunk + 1, gpus);
  struct t3_counter signal = {.address = counter(wave, r, r->arguments.peer_out, T3_SIGNALS_ADD_OFFSET)};
  if (begin != end) {
    const struct t3_rectangle first = t3_tile_of(&grid, begin), last = t3_tile_of(&grid, end - 1);
    signal.stored =
        (struct t3_range){sent_to(r) + t3_offset_of(&grid, first.row, first.column),
                          sent_to(r) + t3_offset_of(&grid, last.row + last.rows - 1, last.column + last.columns)};
  }
  t3_signal(wave, signal);
}

static void await_sender(struct t3_wave* wave, const struct ring* r, uint32_t step) {
  t3_wait_counter(wave, (struct t3_counter){.address = counter(wave, r, r->arguments.out, T3_SIGNALS_VALUE_OFFSET),
                                            .threshold = r->arguments.signal_epoch + step});
}

static void open_share(const struct t3_wave* wave, const struct ring* r, uint32_t step, struct share* share) {
  const struct t3_grid grid = grid_of(r);
  const uint32_t chunk = chunk_of(r, step), gpus = r->arguments.gpus, workgroups = wave->workgroups;
  const uint32_t begin = t3_chunk_begin(&grid, chunk, gpus), end = t3_chunk_begin(&grid, chunk + 1, gpus);
  share->blocks = t3_chunk_blocks_of(&grid, begin, end - begin, wave->device->kernels.ring.block_bytes);
  share->next = share->blocks.count * wave->workgroup / workgroups;
  share->end = share->blocks.count * (wave->workgroup + 1) / workgroups;
}

static struct t3_access at(const struct ring* r, uint64_t matrix, const struct t3_chunk_block* block) {
  return (struct t3_access){.address = matrix + block->offset,
                            .stride = block->stride,
                            .rows = block->rows,
                            .columns = block->columns,
                            .element = (enum t3_element)r->arguments.element,
                            .uncached = r->arguments.uncached,
                            .at_once = true,
                            .of = {true, T3_WHOLE_WORKGROUP, block->workgroup}};
}

static void move_block(struct t3_wave* wave, const struct ring* r, uint32_t step, const struct t3_chunk_block* block) {
  const struct t3_ring_reduce_scatter_arguments* p = &r->arguments;
  const struct t3_tile local = {0, block->rows, block->columns, (enum t3_element)r->arguments.element};
  const struct t3_tile received = {1, block->rows, block->columns, (enum t3_element)r->arguments.element};
  const bool adds = is_staged(r) && step != 0;
  if (adds) t3_load(wave, received, at(r, p->staging, block));
  t3_load(wave, local, at(r, p->out, block));
  if (adds) t3_add(wave, local, received);
  if (reduces(r) && !is_staged(r))
    t3_update(wave, local, at(r, p->peer_out, block));
  else
    t3_store(wave, local, at(r, is_last(r, step) ? p->out : sent_to(r), block));
  t3_fence(wave);
}

static void run(struct t3_wave* wave, const struct ring* r) {
  struct share* share = wave->local;
  for (uint32_t step = 0; step < r->arguments.gpus; ++step) {
    const bool leads = wave->wave == 0, moves = !is_last(r, step) || is_staged(r);
    if (leads && step != 0) await_sender(wave, r, step);
    if (leads && moves) open_share(wave, r, step, share);
    t3_workgroup_barrier(wave);
    while (moves && share->next < share->end) {
      const struct t3_chunk_block block = t3_chunk_block_of(&share->blocks, share->next++);
      move_block(wave, r, step, &block);
    }
    t3_workgroup_barrier(wave);
    if (leads && !is_last(r, step)) signal_receiver(wave, r, step);
  }
}

static void run_reduce_scatter(struct t3_wave* wave) {
  const struct ring r = ring_of_reduce_scatter(wave->arguments);
  run(wave, &r);
}

static void run_all_gather(struct t3_wave* wave) {
  const struct ring r = ring_of_all_gather(wave->arguments);
  run(wave, &r);
}

static bool check_ring_position(struct t3_check* check, const struct t3_ring_reduce_scatter_arguments* p) {
  if (p->gpus < 2 || p->gpus > GPUS_MAX)
    return t3_refuse(check, T3_BAD_PACKET, "gpus %u: a ring of 2 to %d expected", p->gpus, GPUS_MAX);
  if (p->gpu >= p->gpus)
    return t3_refuse(check, T3_BAD_PACKET, "gpu %u: 0 to %u, a position in the ring of %u, expected", p->gpu,
                     p->gpus - 1, p->gpus);
  return true;
}

/* Checks the memory that this GPU and the other GPUs of the ring store to: as much as out takes. */
static bool check_receivers(struct t3_check* check, const struct t3_ring_reduce_scatter_arguments* p, bool staged) {
  const uint64_t bytes = t3_extent(p->m, p->ldo, t3_row_bytes_of(p->n, p->element));
  if (t3_unaligned(p->peer_out) || (staged && (t3_unaligned(p->staging) || t3_unaligned(p->peer_staging))))
    return t3_refuse(check, T3_BAD_PACKET,
                     "peer_out " T3_HEX ", staging " T3_HEX ", peer_staging " T3_HEX ": multiples of 32 expected",
                     p->peer_out, p->staging, p->peer_staging);
  if (!t3_check_held(check, t3_gpu_of(p->peer_out), "peer_out", p->peer_out, bytes)) return false;
  if (!staged) return true;
  if (!t3_check_held(check, check->gpu, "staging", p->staging, bytes) ||
      !t3_check_held(check, t3_gpu_of(p->peer_staging), "peer_staging", p->peer_staging, bytes))
    return false;
  const struct t3_matrices out = {"out", p->out, p->m, t3_row_bytes_of(p->n, p->element), p->ldo, 0, 1};
  struct t3_matrices staging = out, peer_out = out, peer_staging = out;
  staging.name = "staging", staging.address = p->staging;
  peer_out.name = "peer_out", peer_out.address = p->peer_out;
  peer_staging.name = "peer_staging", peer_staging.address = p->peer_staging;
  return t3_check_overlap(check, &staging, &out) && t3_check_overlap(check, &peer_staging, &peer_out);
}

/* Each has a counter of its own. */
static bool check_workgroups(struct t3_check* check, const struct t3_ring_reduce_scatter_arguments* p,
                             const struct t3_launch* launch) {
  if (p->signal_epoch > UINT64_MAX - p->gpus)
    return t3_refuse(check, T3_BAD_PACKET, "signal_epoch %" PRIu64 ": room for the steps of %u GPUs expected",
                     p->signal_epoch, p->gpus);
  if (launch->workgroups == 0)
    return t3_refuse(check, T3_BAD_PACKET, "0 workgroups: 1 or more, as many as on the other GPUs, expected");
  return t3_check_counters(check, p->signal_base, launch->workgroups);
}

static bool check_receiver(struct t3_check* check, uint64_t address, const char* name) {
  if (t3_gpu_of(address) == check->gpu)
    return t3_refuse(check, T3_NO_PEER, "%s " T3_HEX " is this GPU's own: one of another GPU expected", name, address);
  if (!check->reaches(check->cluster, address))
    return t3_refuse(check, T3_NO_PEER, "GPU %" PRIu64 " of %s " T3_HEX " cannot be reached", t3_gpu_of(address), name,
                     address);
  return true;
}

static bool check_for(struct t3_check* check, const struct ring* r, const struct t3_launch* launch) {
  const struct t3_ring_reduce_scatter_arguments* p = &r->arguments;
  const bool staged = is_staged(r);
  const struct t3_output_operand out = {p->out, p->m, p->n, p->ldo, p->element};
  const struct t3_named_value switches[] = {{"uncached", p->uncached}, {"near_memory", p->near_memory}};
  const struct t3_named_value unused[] = {{"staging", staged ? 0 : p->staging},
                                          {"peer_staging", staged ? 0 : p->peer_staging}};
  if (!t3_check_switches(check, switches, 2) || !t3_check_tiles(check, &out, p->tile_rows, p->tile_columns) ||
      !t3_check_output(check, &out) || !t3_check_unused(check, unused, 2) || !check_ring_position(check, p) ||
      !check_receivers(check, p, staged) || !check_workgroups(check, p, launch) ||
      !check_receiver(check, p->peer_out, "peer_out"))
    return false;
  if (!staged) return true;
  if (!check_receiver(check, p->peer_staging, "peer_staging")) return false;
  if (t3_gpu_of(p->peer_out) != t3_gpu_of(p->peer_staging))
    return t3_refuse(check, T3_BAD_PACKET, "peer_out " T3_HEX " and peer_staging " T3_HEX ": both of one GPU expected",
                     p->peer_out, p->peer_staging);
  return true;
}

static bool check_reduce_scatter(struct t3_check* check, const struct t3_launch* launch) {
  const struct ring r = ring_of_reduce_scatter(launch->arguments);
  return check_for(check, &r, launch);
}

static bool check_all_gather(struct t3_check* check, const struct t3_launch* launch) {
  const struct ring r = ring_of_all_gather(launch->arguments);
  return check_for(check, &r, launch);
}

/* A GPU's own part of a staged reduction is the only thing that a ring kernel stores here itself. Its neighbour stores
 * to the output, or to the staging. A ring kernel writes all that it reads. */
static struct t3_plan plan_for(const char* name, const struct t3_device* device, const struct ring* r,
                               uint32_t workgroups) {
  const struct t3_ring_reduce_scatter_arguments* p = &r->arguments;
  const struct t3_matrices out = {"out", p->out, p->m, t3_row_bytes_of(p->n, p->element), p->ldo, 0, 1};
  struct t3_matrices staging = out, sent = out;
  staging.address = p->staging;
  sent.address = sent_to(r) & T3_LOCAL_MASK;
  return (struct t3_plan){
      .name = name,
      .workgroups = workgroups,
      .workgroups_per_cu = device->kernels.ring.workgroups_per_cu,
      .register_bytes = 2 * device->kernels.ring.block_bytes * device->kernels.ring.blocks_in_flight,
      .waves = device->kernels.ring.blocks_in_flight,
      .tiles = 2,
      .local_bytes = sizeof(struct share),
      .together = true,
      .written = {t3_range_of(&out), t3_range_of(&staging)},
      .written_count = is_staged(r) ? 2 : 1,
      .sent = {t3_range_of(&sent)},
      .sent_count = 1,
      .awaits_arrivals = true,
      .stores_here = is_staged(r)};
}

static struct t3_plan plan_reduce_scatter(const struct t3_device* device, const struct t3_launch* launch) {
  const struct ring r = ring_of_reduce_scatter(launch->arguments);
  return plan_for("reduce-scatter", device, &r, launch->workgroups);
}

static struct t3_plan plan_all_gather(const struct t3_device* device, const struct t3_launch* launch) {
  const struct ring r = ring_of_all_gather(launch->arguments);
  return plan_for("all-gather", device, &r, launch->workgroups);
}

/* Returns the agreement between a chunk's sender and its receiver, at this position; `out` and `staging` are the
 * receiver's. */
static struct t3_agreement agreement_of(const struct ring* r, uint32_t receiver, uint64_t out, uint64_t staging) {
  static const char* const elements[] = {"fp16", "bf16", "fp32"};
  const struct t3_ring_reduce_scatter_arguments* p = &r->arguments;
  struct t3_agreement agreement = {.receiver = receiver, .gpus = p->gpus};
  const struct t3_property properties[] = {
      {"collective", r->collective, collective_names[r->collective], false},
      {"m", p->m, NULL, false},
      {"n", p->n, NULL, false},
      {"ldo", p->ldo, NULL, false},
      {"tile_rows", p->tile_rows, NULL, false},
      {"tile_columns", p->tile_columns, NULL, false},
      {"element", p->element, elements[p->element], false},
      {"out", out & T3_LOCAL_MASK, NULL, true},
      {"staging", is_staged(r) ? staging & T3_LOCAL_MASK : 0, NULL, true},
      {"signal_epoch", p->signal_epoch, NULL, false},
  };
  agreement.count = sizeof properties / sizeof *properties;
  memcpy(agreement.properties, properties, sizeof properties);
  return agreement;
}

/* A chunk goes to the GPU before this one in the ring. */
static void agree(const struct ring* r, struct t3_agreement* sent, struct t3_agreement* expected) {
  const struct t3_ring_reduce_scatter_arguments* p = &r->arguments;
  *sent = agreement_of(r, (p->gpu + p->gpus - 1) % p->gpus, p->peer_out, p->peer_staging);
  *expected = agreement_of(r, p->gpu, p->out, p->staging);
}

static void agree_on_reduce_scatter(const void* arguments, struct t3_agreement* sent, struct t3_agreement* expected) {
  const struct ring r = ring_of_reduce_scatter(arguments);
  agree(&r, sent, expected);
}

static void agree_on_all_gather(const void* arguments, struct t3_agreement* sent, struct t3_agreement* expected) {
  const struct ring r = ring_of_all_gather(arguments);
  agree(&r, sent, expected);
}

const struct t3_kernel t3_ring_reduce_scatter_kernel = {.name = "ring-reduce-scatter",
                                                        .arguments = T3_RING_REDUCE_SCATTER_ARGUMENTS,
                                                        .reads = "rs_read",
                                                        .writes = "rs_write",
                                                        .check = check_reduce_scatter,
                                                        .plan = plan_reduce_scatter,
                                                        .agree = agree_on_reduce_scatter,
                                                        .run = run_reduce_scatter};

const struct t3_kernel t3_ring_all_gather_kernel = {.name = "ring-all-gather",
                                                    .arguments = T3_RING_ALL_GATHER_ARGUMENTS,
                                                    .reads = "ag_read",
                                                    .writes = "ag_write",
                                                    .check = check_all_gather,
                                                    .plan = plan_all_gather,
                                                    .agree = agree_on_all_gather,
                                                    .run = run_all_gather};
