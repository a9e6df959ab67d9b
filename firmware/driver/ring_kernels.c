#include "context_state.h"
#include "packets.h"
#include "t3/arguments/ring_all_gather.h"
#include "t3/arguments/ring_reduce_scatter.h"
#include "wait.h"

static enum t3_status set_ring_workgroups(struct t3_context* context, uint32_t workgroups) {
  struct t3_state* state = state_of(context);
  if (workgroups == 0 || workgroups > T3_RING_WORKGROUPS_MAX) return t3_at_fault(context, "workgroups", "1 to 496");
  if (workgroups == state->ring_workgroups) return T3_OK;
  /* The counters of all workgroups have one epoch, so none may have started before the others. */
  if (state->ring_epoch != 0) return T3_BUSY;
  state->ring_workgroups = workgroups;
  return T3_OK;
}

enum t3_status t3_set_ring_workgroups(struct t3_context* context, uint32_t workgroups) {
  return T3_LOCKED(context, set_ring_workgroups(context, workgroups));
}

/* Waits until the previous ring kernel has ended and there is room. Its end gives the value that its successor counts
 * from. A handler may queue a ring kernel while this waits. */
static enum t3_status wait_for_ring(struct t3_context* context) {
  struct t3_state* state = state_of(context);
  do {
    while (state->last_ring != 0) T3_TRY(t3_wait_completed(context, state->ring_queue, state->last_ring));
    T3_TRY(t3_wait_for_room(context));
  } while (state->last_ring != 0);
  return state->ring_broken ? T3_ABORTED : T3_OK;
}

/* Waits until the ring has room and its counters start at *epoch. */
static enum t3_status enter_ring(struct t3_context* context, uint64_t* epoch) {
  struct t3_state* state = state_of(context);
  if (state->ring_broken) return T3_ABORTED;
  T3_TRY(wait_for_ring(context));
  *epoch = state->ring_epoch;
  return T3_OK;
}

/* Consecutive GPUs that send to each other, and this one among them. */
struct ring {
  uint32_t gpu, gpus, receiver; /* its position, their number, whom it sends to */
};

static struct ring whole_ring(const struct t3_context* context) {
  const struct t3_state* state = const_state_of(context);
  return (struct ring){state->gpu, state->gpus, t3_ring_previous(context)};
}

/* Every GPU receives gpus - 1 chunks in a ring kernel, one per step. */
static enum t3_status announce_ring(struct t3_context* context, struct t3_submission* submission, struct ring ring) {
  struct t3_state* state = state_of(context);
  submission->packet.workgroups = state->ring_workgroups;
  T3_TRY(t3_announce(context, submission));
  state->ring_epoch += ring.gpus - 1;
  state->ring_refused = false;
  state->last_ring = state->queues[state->queue].submitted;
  state->ring_queue = state->queue;
  return T3_OK;
}

static enum t3_status reduce_scatter(struct t3_context* context, const struct t3_output* output,
                                     const struct t3_matrix* staging, struct ring ring) {
  const struct t3_matrix* out = &output->matrix;
  struct t3_submission submission = t3_submission_of("ring-reduce-scatter", T3_RING_REDUCE_SCATTER_ARGUMENTS_BYTES);
  struct t3_ring_reduce_scatter_arguments arguments = {
      .out = out->address,
      .peer_out = t3_peer_address(out, ring.receiver),
      .staging = staging == NULL ? 0 : staging->address,
      .peer_staging = staging == NULL ? 0 : t3_peer_address(staging, ring.receiver),
      .m = out->rows,
      .n = out->columns,
      .ldo = (uint32_t)out->row_stride,
      .signal_base = T3_SIGNAL_RING,
      .gpu = ring.gpu,
      .gpus = ring.gpus,
      .tile_rows = (uint16_t)output->tiling.rows,
      .tile_columns = (uint16_t)output->tiling.columns,
      .element = (uint8_t)out->element,
      .uncached = out->memory == T3_UNCACHED,
      .near_memory = staging == NULL};
  T3_TRY(enter_ring(context, &arguments.signal_epoch));
  t3_ring_reduce_scatter_arguments_to(&arguments, submission.arguments);
  return announce_ring(context, &submission, ring);
}

static struct t3_fault fault_of_matrices(const struct t3_output* output, const struct t3_matrix* staging,
                                         uint32_t gpus) {
  if (output == NULL || !t3_is_valid(output)) return (struct t3_fault){T3_INVALID_ARGUMENT, "output", T3_VALID_OUTPUT};
  if (gpus == 1) return (struct t3_fault){0}; /* nothing is done */
  const struct t3_matrix* out = &output->matrix;
  /* The cache's data of the output are not those that neighbours update in memory. */
  if (staging == NULL && out->memory != T3_UNCACHED)
    return (struct t3_fault){T3_INVALID_ARGUMENT, "staging", "a matrix, or a T3_UNCACHED output"};
  if (staging != NULL &&
      (!t3_fits(staging, out->rows, out->columns, out->element) || staging->row_stride != out->row_stride))
    return (struct t3_fault){T3_INVALID_ARGUMENT, "staging", "the shape, row stride and element type of the output"};
  return (struct t3_fault){0};
}

enum t3_status t3_ring_reduce_scatter(struct t3_context* context, const struct t3_output* output,
                                      const struct t3_matrix* staging) {
  if (!t3_is_open(context)) return T3_INVALID_ARGUMENT;
  const struct t3_fault fault = fault_of_matrices(output, staging, t3_gpus(context));
  if (fault.status != T3_OK) return t3_refuse(context, __func__, fault);
  if (t3_gpus(context) == 1) return T3_OK;
  return T3_LOCKED(context, reduce_scatter(context, output, staging, whole_ring(context)));
}

enum t3_status t3_node_reduce_scatter(struct t3_context* context, const struct t3_output* output,
                                      const struct t3_matrix* staging, uint32_t gpus_per_node) {
  struct t3_state* state = state_of(context);
  if (!t3_is_open(context)) return T3_INVALID_ARGUMENT;
  if (gpus_per_node == 0 || state->gpus % gpus_per_node != 0)
    return T3_REFUSE(context, "gpus_per_node", "a divisor of the number of GPUs");
  const struct t3_fault fault = fault_of_matrices(output, staging, gpus_per_node);
  if (fault.status != T3_OK) return t3_refuse(context, __func__, fault);
  if (gpus_per_node == 1) return T3_OK;
  const uint32_t place = state->gpu % gpus_per_node, first = state->gpu - place;
  const struct ring node = {place, gpus_per_node, first + (place + gpus_per_node - 1) % gpus_per_node};
  return T3_LOCKED(context, reduce_scatter(context, output, staging, node));
}

static enum t3_status all_gather(struct t3_context* context, const struct t3_output* output) {
  struct t3_state* state = state_of(context);
  const struct t3_matrix* out = &output->matrix;
  struct t3_submission submission = t3_submission_of("ring-all-gather", T3_RING_ALL_GATHER_ARGUMENTS_BYTES);
  struct t3_ring_all_gather_arguments arguments = {.out = out->address,
                                                   .peer_out = t3_peer_address(out, t3_ring_previous(context)),
                                                   .m = out->rows,
                                                   .n = out->columns,
                                                   .ldo = (uint32_t)out->row_stride,
                                                   .signal_base = T3_SIGNAL_RING,
                                                   .gpu = state->gpu,
                                                   .gpus = state->gpus,
                                                   .tile_rows = (uint16_t)output->tiling.rows,
                                                   .tile_columns = (uint16_t)output->tiling.columns,
                                                   .element = (uint8_t)out->element,
                                                   .uncached = out->memory == T3_UNCACHED};
  T3_TRY(enter_ring(context, &arguments.signal_epoch));
  t3_ring_all_gather_arguments_to(&arguments, submission.arguments);
  return announce_ring(context, &submission, whole_ring(context));
}

enum t3_status t3_ring_all_gather(struct t3_context* context, const struct t3_output* output) {
  if (!t3_is_open(context)) return T3_INVALID_ARGUMENT;
  if (output == NULL || !t3_is_valid(output)) return T3_REFUSE(context, "output", T3_VALID_OUTPUT);
  if (state_of(context)->gpus == 1) return T3_OK;
  return T3_LOCKED(context, all_gather(context, output));
}
