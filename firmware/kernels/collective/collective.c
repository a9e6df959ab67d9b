/* A collective operation on flat buffers, or an all-gather on outputs of a GEMM, as a ring, directly, by nodes or by
 * the switch.
 *
 * Every workgroup owns the same share of each transfer on all GPUs and executes the steps (steps.h) on its own. In a
 * step it waits for the signals that it needs, moves its share and signals the workgroups that wait for it. Its waves
 * take the share's blocks one after the other, round-robin over the transfers, so that all links are busy. A wave loads
 * a block, adds the other operands and stores the result to each destination. A step's signals leave after its stores
 * and cannot overtake them. */
#include "kernels/operands.h"
#include "ring_steps.h"
#include "t3/address.h"
#include "t3/registers/signals.h"
#include "transfer_blocks.h"

/* A transfer's blocks, and the workgroups, the first ones, that share them. */
struct shared_blocks {
  struct t3_transfer_blocks cut;
  uint64_t workgroups;
};

/* The number of workgroups that share sums which the switch loads and stores to all. The loads of N GPUs take the links
 * in one direction, their stores in the other. The first of T turns has no stores and the last has no loads, which
 * costs 1/T of the time. With F blocks in flight about 1/F is lost, as a block is either loaded or stored. Both losses
 * are least where T and F are the square root of the number of blocks. The links must be in use, however. Four times
 * what idle links have in flight is an estimate, as blocks queue behind others. If that is all blocks, one turn takes
 * them. */
static uint64_t sharing_sums(const struct t3_wave* wave, const struct t3_transfer_blocks* cut) {
  const struct t3_collective_arguments* p = wave->arguments;
  const struct t3_device* device = wave->device;
  const double under_way = device->by_switch_ns * device->link_GBps / ((double)cut->each * p->gpus);
  const uint64_t root = t3_square_root(cut->count, UINT32_MAX >> 1), least = 1 + (uint64_t)(4 * under_way);
  const uint64_t wanted = ((root > least ? root : least) + wave->waves - 1) / wave->waves;
  return wanted < wave->workgroups && least < cut->count ? wanted : wave->workgroups;
}

static struct shared_blocks blocks_of(const struct t3_wave* wave, const struct t3_steps* steps,
                                      const struct t3_transfer* transfer) {
  struct shared_blocks blocks = {t3_transfer_blocks_of(steps, transfer, wave->device->kernels.ring.block_bytes),
                                 wave->workgroups};
  if (transfer->sums && transfer->by_switch) blocks.workgroups = sharing_sums(wave, &blocks.cut);
  return blocks;
}

static uint64_t share_begin(const struct shared_blocks* blocks, uint64_t workgroup) {
  return workgroup < blocks->workgroups ? blocks->cut.count * workgroup / blocks->workgroups : blocks->cut.count;
}

/* The work that the waves of a workgroup share: the remaining blocks of all transfers of this step, in round-robin
 * order. */
struct share {
  struct t3_step step;
  uint64_t next, end;
};

static void open_share(const struct t3_wave* wave, const struct t3_steps* steps, uint32_t step, struct share* share) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < share->step.transfers; ++i) {
    const struct t3_transfer transfer = steps->schedule->transfer(steps, step, i);
    const struct shared_blocks blocks = blocks_of(wave, steps, &transfer);
    const uint64_t count = share_begin(&blocks, (uint64_t)wave->workgroup + 1) - share_begin(&blocks, wave->workgroup);
    if (count > most) most = count;
  }
  share->next = 0;
  share->end = most * share->step.transfers;
}

/* A block, whose address counts from the transfer's addresses, and the tile of the wave that it is loaded into. */
struct piece {
  struct t3_access block;
  struct t3_tile tile;
};

static struct t3_access at(const struct piece* piece, uint64_t address) {
  struct t3_access access = piece->block;
  access.address += address;
  return access;
}

static void add(struct t3_wave* wave, const struct t3_transfer* transfer, const struct piece* piece) {
  struct t3_tile tile = piece->tile;
  for (uint32_t first = 0; first < transfer->addends; first += T3_COLLECTIVE_ADDENDS) {
    const uint32_t left = transfer->addends - first,
                   count = left < T3_COLLECTIVE_ADDENDS ? left : T3_COLLECTIVE_ADDENDS;
    for (uint32_t i = 0; i < count; ++i) {
      tile.index = 1 + i;
      t3_load(wave, tile, at(piece, transfer->addend + (first + i) * transfer->addend_stride));
    }
    for (uint32_t i = 0; i < count; ++i) {
      tile.index = 1 + i;
      t3_add(wave, piece->tile, tile);
    }
  }
}

static void move(struct t3_wave* wave, const struct t3_steps* steps, const struct t3_transfer* transfer,
                 const struct piece* piece) {
  const struct t3_collective_arguments* p = steps->arguments;
  t3_load(wave, piece->tile, at(piece, transfer->sums ? t3_on_gpu(T3_ALL_GPUS, transfer->source) : transfer->source));
  add(wave, transfer, piece);
  if (transfer->by_switch)
    t3_store(wave, piece->tile, at(piece, t3_on_gpu(T3_ALL_GPUS, transfer->target)));
  else if (!transfer->to_all || transfer->addends != 0)
    t3_store(wave, piece->tile, at(piece, t3_on_gpu(transfer->to, transfer->target)));
  for (uint32_t i = 1; transfer->to_all && i < p->gpus; ++i)
    t3_store(wave, piece->tile, at(piece, t3_on_gpu(t3_other_gpu(p, i), transfer->target)));
  t3_fence(wave);
}

/* Block `next` of the share, when its transfer has as many. */
static void move_next(struct t3_wave* wave, const struct t3_steps* steps, uint32_t step, uint64_t next,
                      uint32_t transfers) {
  const struct t3_transfer transfer = steps->schedule->transfer(steps, step, (uint32_t)(next % transfers));
  const struct shared_blocks blocks = blocks_of(wave, steps, &transfer);
  const uint64_t block = share_begin(&blocks, wave->workgroup) + next / transfers;
  if (block >= share_begin(&blocks, (uint64_t)wave->workgroup + 1)) return;
  const struct t3_access access = t3_transfer_block_of(&blocks.cut, block);
  const struct piece piece = {access, {.rows = access.rows, .columns = access.columns, .element = access.element}};
  move(wave, steps, &transfer, &piece);
}

/* The second ones are behind the workgroups' others: GPUs that are a step ahead are not taken for those that are not.
 */
static uint64_t counter(const struct t3_wave* wave, const struct t3_steps* steps, uint64_t gpu, uint64_t offset,
                        bool second) {
  const uint32_t number = wave->workgroup + (second ? wave->workgroups : 0);
  return t3_block_base(gpu, T3_BLOCK_SIGNALS) + offset +
         (uint64_t)T3_SIGNALS_VALUE_STRIDE * (steps->arguments->signal_base + number);
}

static bool is_told(const struct t3_steps* steps, enum t3_told whom, uint32_t gpu) {
  const struct t3_collective_arguments* p = steps->arguments;
  const uint32_t per_node = p->gpus_per_node;
  switch (whom) {
    case T3_TELLS_PREVIOUS:
      return gpu == t3_previous_gpu(steps);
    case T3_TELLS_NODE:
      return gpu / per_node == p->gpu / per_node;
    case T3_TELLS_OTHER_NODES:
      return gpu % per_node == p->gpu % per_node;
    default:
      return whom == T3_TELLS_ALL || whom == T3_TELLS_ALL_AGAIN;
  }
}

static void signal(struct t3_wave* wave, const struct t3_steps* steps, uint64_t gpu, enum t3_told whom) {
  const bool second = whom == T3_TELLS_OTHER_NODES || whom == T3_TELLS_ALL_AGAIN;
  t3_signal(wave, (struct t3_counter){.address = counter(wave, steps, gpu, T3_SIGNALS_ADD_OFFSET, second)});
}

static void tell(struct t3_wave* wave, const struct t3_steps* steps, enum t3_told whom) {
  const struct t3_collective_arguments* p = steps->arguments;
  if (whom == T3_TELLS_BY_SWITCH) signal(wave, steps, T3_ALL_GPUS, whom);
  for (uint32_t i = 1; i < p->gpus; ++i)
    if (is_told(steps, whom, t3_other_gpu(p, i))) signal(wave, steps, t3_other_gpu(p, i), whom);
}

/* In whole vector operations. */
static void take_time(struct t3_wave* wave, double ns) {
  const struct t3_device* device = wave->device;
  const struct t3_vector_work work = {.operations =
                                          (uint32_t)(ns * device->clock_GHz * device->vector_elements_per_cycle)};
  if (work.operations != 0) t3_work(wave, &work);
}

static void await(struct t3_wave* wave, const struct t3_steps* steps, const struct t3_step* step) {
  const struct t3_collective_arguments* p = steps->arguments;
  const bool between = step->awaits_second;
  if (step->awaited == 0) return;
  t3_wait_counter(wave,
                  (struct t3_counter){.address = counter(wave, steps, p->gpu, T3_SIGNALS_VALUE_OFFSET, between),
                                      .threshold = (between ? p->between_epoch : p->signal_epoch) + step->awaited});
  take_time(wave, wave->device->kernels.ring.step_ns);
}

static struct t3_handing_on handing_on(const struct t3_device* device) {
  return (struct t3_handing_on){.block_bytes = device->kernels.ring.block_bytes,
                                .bytes = (uint64_t)(device->hand_on_ns * device->link_GBps)};
}

static void run(struct t3_wave* wave) {
  const struct t3_collective_arguments* p = wave->arguments;
  const struct t3_steps steps = t3_steps_of(p, wave->workgroup, handing_on(wave->device));
  struct share* share = wave->local;
  const bool leads = wave->wave == 0;
  if (leads) take_time(wave, wave->device->kernels.ring.start_ns);
  for (uint32_t step = 0; step < steps.count; ++step) {
    if (leads) {
      share->step = steps.schedule->step(&steps, step);
      await(wave, &steps, &share->step);
      open_share(wave, &steps, step, share);
    }
    t3_workgroup_barrier(wave);
    while (share->next < share->end) move_next(wave, &steps, step, share->next++, share->step.transfers);
    t3_workgroup_barrier(wave);
    if (leads) tell(wave, &steps, share->step.tells);
  }
}

static bool has_second_counters(const struct t3_collective_arguments* p) {
  const struct t3_steps steps = t3_steps_of(p, 0, t3_any_pieces);
  return t3_has_second_counters(&steps.collective);
}

/* Operations that are one kernel by the rings of a torus's dimensions. */
static bool goes_along_dimensions(const struct t3_operation_traits* traits) {
  return (traits->algorithms >> T3_TORUS_RINGS & 1) != 0 && traits->part_count == 0;
}

/* Rings of GPUs of one dimension of a torus. */
static bool check_ring(struct t3_check* check, const struct t3_collective_arguments* p) {
  const uint64_t gpus = (uint64_t)p->ring_stride * p->ring_length;
  if (p->ring_stride == 0 && p->ring_length == 0) return true;
  if (p->algorithm != T3_RING || !goes_along_dimensions(t3_traits_of((enum t3_collective_op)p->op)))
    return t3_refuse(check, T3_BAD_PACKET,
                     "ring_stride %u, ring_length %u with op %u, algorithm %u: 0 of both expected in other than "
                     "reduce-scatters and all-gathers as rings",
                     p->ring_stride, p->ring_length, p->op, p->algorithm);
  if (p->ring_length >= 2 && gpus != 0 && p->gpus % gpus == 0) return true;
  return t3_refuse(check, T3_BAD_PACKET,
                   "ring_stride %u, ring_length %u: 2 or more GPUs whose number times the stride divides %u expected",
                   p->ring_stride, p->ring_length, p->gpus);
}

/* A flat buffer, or an output of a GEMM. */
static bool check_shape(struct t3_check* check, const struct t3_collective_arguments* p) {
  const struct t3_output_operand out = {p->out, p->rows, p->columns, p->stride, p->element};
  const struct t3_named_value of_output[] = {{"columns", p->columns},
                                             {"stride", p->stride},
                                             {"nodes", p->nodes},
                                             {"tile_rows", p->tile_rows},
                                             {"tile_columns", p->tile_columns}};
  const struct t3_named_value of_flat[] = {{"elements", p->elements}};
  if (p->rows == 0) {
    if (!t3_check_unused(check, of_output, 5)) return false;
    return p->elements - 1 < T3_ROWS_MAX ||
           t3_refuse(check, T3_BAD_PACKET, "%" PRIu64 " elements: 1 to %d expected", p->elements, T3_ROWS_MAX);
  }
  if (p->op != T3_ALL_GATHER)
    return t3_refuse(check, T3_BAD_PACKET, "rows %u with op %u: 0 expected in other than all-gathers", p->rows, p->op);
  if (p->nodes != 0 && (p->gpus % p->nodes != 0 || p->ring_length != 0))
    return t3_refuse(check, T3_BAD_PACKET,
                     "nodes %u, ring_length %u: a divisor of %u GPUs expected, and 0 in rings of a dimension", p->nodes,
                     p->ring_length, p->gpus);
  return t3_check_unused(check, of_flat, 1) && t3_check_tiles(check, &out, p->tile_rows, p->tile_columns) &&
         t3_check_output(check, &out);
}

static bool check_numbers(struct t3_check* check, const struct t3_collective_arguments* p) {
  if (!t3_check_place(check, p->gpu, p->gpus)) return false;
  if (p->op >= T3_COLLECTIVE_OPS || p->algorithm > T3_IN_NETWORK || p->element > T3_FP32)
    return t3_refuse(check, T3_BAD_PACKET, "op %u, algorithm %u, element %u: at most %u, %d, %d expected", p->op,
                     p->algorithm, p->element, T3_COLLECTIVE_OPS - 1, T3_IN_NETWORK, T3_FP32);
  if (t3_steps_of(p, 0, t3_any_pieces).schedule == NULL)
    return t3_refuse(check, T3_BAD_PACKET, "op %u with algorithm %u: another one, %s has no steps by it", p->op,
                     p->algorithm, t3_traits_of((enum t3_collective_op)p->op)->name);
  if (p->algorithm == T3_HIERARCHICAL ? p->gpus_per_node == 0 || p->gpus % p->gpus_per_node != 0
                                      : p->gpus_per_node != 0 || (p->between_epoch != 0 && !has_second_counters(p)))
    return t3_refuse(check, T3_BAD_PACKET,
                     "gpus_per_node %u, between_epoch %" PRIu64
                     " with algorithm %u: a divisor of %u GPUs expected, and 0 of both in other than hierarchical ones",
                     p->gpus_per_node, p->between_epoch, p->algorithm, p->gpus);
  if (p->gpus_per_row != 0 && (p->algorithm != T3_DIRECT || p->gpus % p->gpus_per_row != 0))
    return t3_refuse(
        check, T3_BAD_PACKET,
        "gpus_per_row %u with algorithm %u: a divisor of %u GPUs expected, and 0 in other than direct ones",
        p->gpus_per_row, p->algorithm, p->gpus);
  return check_ring(check, p) && check_shape(check, p);
}

/* Buffers of a GPU, of which some may not be there. */
struct buffers {
  struct t3_matrices out, in, staging;
};

static struct buffers buffers_of(const struct t3_collective_arguments* p) {
  const struct t3_steps steps = t3_steps_of(p, 0, t3_any_pieces);
  const struct t3_collective* c = &steps.collective;
  const uint64_t element = t3_element_bytes(c->element);
  const uint64_t in = t3_receives_apart(c) ? c->elements * element : 0;
  const struct t3_matrices output = {"out", p->out, p->rows, t3_row_bytes_of(p->columns, p->element), p->stride, 0, 1};
  return (struct buffers){
      t3_is_output(c) ? output : t3_piece("out", p->out, t3_received_elements(c, p->gpu, p->gpus) * element),
      t3_piece("in", p->in, in), t3_piece("staging", p->staging, t3_staging_bytes(c, p->gpus))};
}

/* An output has been checked with its shape. */
static bool check_buffer(struct t3_check* check, const struct t3_matrices* m) {
  if (m->stride != 0) return true;
  if (m->row_bytes == 0 && m->address != 0)
    return t3_refuse(check, T3_BAD_PACKET, "%s " T3_HEX ": 0 expected, it means nothing here", m->name, m->address);
  return m->row_bytes == 0 || t3_check_piece(check, m);
}

static bool check_buffers(struct t3_check* check, const struct buffers* b) {
  return check_buffer(check, &b->out) && check_buffer(check, &b->in) && check_buffer(check, &b->staging) &&
         (b->in.row_bytes == 0 || t3_check_overlap(check, &b->out, &b->in)) &&
         (b->staging.row_bytes == 0 || (t3_check_overlap(check, &b->out, &b->staging) &&
                                        (b->in.row_bytes == 0 || t3_check_overlap(check, &b->staging, &b->in))));
}

static bool check_counters(struct t3_check* check, const struct t3_collective_arguments* p, uint32_t workgroups) {
  if (workgroups == 0)
    return t3_refuse(check, T3_BAD_PACKET, "0 workgroups: 1 or more, as many as on the other GPUs, expected");
  const uint64_t counters = (uint64_t)workgroups * (has_second_counters(p) ? 2 : 1);
  const uint64_t most = T3_COLLECTIVE_PIECES_MAX;
  if (p->signal_epoch > UINT64_MAX - most || p->between_epoch > UINT64_MAX - most)
    return t3_refuse(check, T3_BAD_PACKET,
                     "signal_epoch %" PRIu64 ", between_epoch %" PRIu64 ": room for %" PRIu64 " signals expected",
                     p->signal_epoch, p->between_epoch, most);
  return t3_check_counters(check, p->signal_base, counters);
}

static bool check_reach(struct t3_check* check, const struct t3_collective_arguments* p, uint32_t workgroups) {
  if (p->algorithm == T3_IN_NETWORK && !check->reaches(check->cluster, t3_on_gpu(T3_ALL_GPUS, p->out)))
    return t3_refuse(check, T3_NO_PEER, "algorithm %u: a switch that reduces expected, no link leads to one",
                     p->algorithm);
  if (p->algorithm != T3_RING) return t3_check_reach(check, p->gpu, p->gpus, "out", p->out);
  for (uint32_t workgroup = 0; workgroup < 2 && workgroup < workgroups; ++workgroup) {
    const struct t3_steps steps = t3_steps_of(p, workgroup, t3_any_pieces);
    const uint64_t previous = t3_on_gpu(t3_previous_gpu(&steps), p->out);
    if (!check->reaches(check->cluster, previous))
      return t3_refuse(check, T3_NO_PEER, "GPU %" PRIu64 " of out " T3_HEX " cannot be reached", t3_gpu_of(previous),
                       previous);
  }
  return true;
}

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_collective_arguments* p = launch->arguments;
  if (!check_numbers(check, p)) return false;
  const struct buffers buffers = buffers_of(p);
  return check_buffers(check, &buffers) && check_counters(check, p, launch->workgroups) &&
         check_reach(check, p, launch->workgroups);
}

/* Returns the plan. Data go to the same offsets on all other GPUs; in an all-to-all the first GPU receives most. */
static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_collective_arguments* p = launch->arguments;
  struct t3_collective_arguments first = *p;
  first.gpu = 0;
  const struct buffers own = buffers_of(p), others = buffers_of(&first);
  struct t3_plan plan = {.name = t3_traits_of((enum t3_collective_op)p->op)->name,
                         .workgroups = launch->workgroups,
                         .workgroups_per_cu = device->kernels.ring.workgroups_per_cu,
                         .register_bytes = (uint32_t)t3_collective_registers(device->kernels.ring.block_bytes,
                                                                             device->kernels.ring.blocks_in_flight),
                         .waves = device->kernels.ring.blocks_in_flight,
                         .tiles = 1 + T3_COLLECTIVE_ADDENDS,
                         .local_bytes = sizeof(struct share),
                         .together = true,
                         .awaits_arrivals = true,
                         .stores_here = !t3_operations[p->op]->only_sends || p->algorithm == T3_IN_NETWORK};
  if (own.out.row_bytes != 0) plan.written[plan.written_count++] = t3_range_of(&own.out);
  if (own.staging.row_bytes != 0) plan.written[plan.written_count++] = t3_range_of(&own.staging);
  if (own.in.row_bytes != 0) plan.read[plan.read_count++] = t3_range_of(&own.in);
  const struct t3_matrices* const sent[] = {&others.out, &others.staging};
  for (uint32_t i = 0; i < 2; ++i) {
    struct t3_matrices buffer = *sent[i];
    buffer.address &= T3_LOCAL_MASK;
    if (buffer.row_bytes != 0) plan.sent[plan.sent_count++] = t3_range_of(&buffer);
  }
  if (p->algorithm == T3_IN_NETWORK) plan.fetched[plan.fetched_count++] = plan.sent[0];
  return plan;
}

const struct t3_kernel t3_collective_kernel = {.name = "collective",
                                               .arguments = T3_COLLECTIVE_ARGUMENTS,
                                               .reads = "collective_read",
                                               .writes = "collective_write",
                                               .check = check,
                                               .plan = plan,
                                               .run = run};
