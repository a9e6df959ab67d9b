#include "maps.h"
#include "completions.h"
#include "context_state.h"
#include "end_of_memory.h"
#include "matrices.h"
#include "packets.h"
#include "registers.h"
#include "t3/nic_maps.h"
#include "t3/registers/dma.h"
#include "t3/registers/output_map.h"
#include "t3/registers/tracker.h"
#include "t3/traffic_class.h"
#include "wait.h"

#define SPILL_ENTRY_BYTES 32u
#define PLACE_ALIGNMENT 32u
#define NO_SIGNAL UINT32_C(0xFFFFFFFF)

/* Updates are the reduce-scatter's in the report (T3 Figure 18). What the DMA engine stores is gathered, what the GEMM
 * itself stores is its output, wherever that is. */
static enum t3_traffic_class class_of_remote_map(enum t3_operation operation) {
  return operation == T3_UPDATE ? T3_TRAFFIC_RS_WRITE : T3_TRAFFIC_GEMM_WRITE;
}

static uint32_t classes_of_dma_map(enum t3_operation operation) {
  const bool gathers = operation == T3_STORE;
  return (uint32_t)(gathers ? T3_TRAFFIC_AG_READ : T3_TRAFFIC_RS_READ) << T3_DMA_COMMAND_READS_SHIFT |
         (uint32_t)(gathers ? T3_TRAFFIC_AG_WRITE : T3_TRAFFIC_RS_WRITE) << T3_DMA_COMMAND_WRITES_SHIFT;
}

void t3_stage_chunk(struct t3_registers* r, const struct t3_output* output, struct t3_chunk chunk) {
  const struct t3_matrix* matrix = &output->matrix;
  const struct t3_tiling* tiling = &output->tiling;
  t3_put64(r, T3_TRACKER_OUTPUT_BASE_OFFSET, matrix->address);
  t3_put64(r, T3_TRACKER_ROW_STRIDE_OFFSET, matrix->row_stride);
  t3_put32(r, T3_TRACKER_ROWS_OFFSET, matrix->rows);
  t3_put32(r, T3_TRACKER_COLUMNS_OFFSET, matrix->columns);
  t3_put32(r, T3_TRACKER_TILE_ROWS_OFFSET, tiling->rows);
  t3_put32(r, T3_TRACKER_TILE_COLUMNS_OFFSET, tiling->columns);
  t3_put32(r, T3_TRACKER_LAYOUT_OFFSET,
           tiling->wavefronts << T3_TRACKER_LAYOUT_WAVEFRONTS_SHIFT | (uint32_t)matrix->element
                                                                          << T3_TRACKER_LAYOUT_ELEMENT_SHIFT);
  t3_put32(r, T3_TRACKER_FIRST_WORKGROUP_OFFSET, chunk.first_workgroup);
  t3_put32(r, T3_TRACKER_WORKGROUPS_OFFSET, chunk.workgroups);
}

bool t3_can_be_staged(const struct t3_output* output) {
  return t3_has_known_kinds(&output->matrix) &&
         output->tiling.wavefronts <= T3_TRACKER_LAYOUT_WAVEFRONTS_MASK >> T3_TRACKER_LAYOUT_WAVEFRONTS_SHIFT;
}

static const char an_output[] = "a matrix of known kinds in tiles of 1 to 8 wavefronts",
                  a_mapped_chunk[] = "a chunk that is mapped",
                  accesses_did_not_fit[] = "accesses did not fit a map: the error log has the place";

/* Whether a workgroup of the chunk is none of the output's. */
static bool is_beyond(const struct t3_output* output, struct t3_chunk chunk) {
  return (uint64_t)chunk.first_workgroup + chunk.workgroups > t3_workgroups(output);
}

/* Names the parameter whose place in memory a table of the hardware has refused: the output's or its peer's. */
static enum t3_status name_place(struct t3_context* context, enum t3_status status, const struct t3_matrix* matrix) {
  if (status == T3_NO_PEER) return t3_at_fault_as(context, status, "peer_output", "one of a GPU that can be reached");
  if (status == T3_UNALIGNED) {
    if (matrix->address % PLACE_ALIGNMENT != 0 || matrix->row_stride % PLACE_ALIGNMENT != 0)
      return t3_at_fault_as(context, status, "output", "address and row stride in multiples of 32");
    return t3_at_fault_as(context, status, "peer_output", "a multiple of 32");
  }
  if (!t3_is_own_matrix(context, matrix))
    return t3_at_fault_as(context, status, "output", "bytes within this GPU's memory");
  return t3_at_fault_as(context, status, "peer_output", "bytes within the peer's memory");
}

/* Names the parameter that a table of the hardware has refused: they make the same checks of an output and a chunk. */
static enum t3_status name_refused(struct t3_context* context, enum t3_status status, const struct t3_output* output,
                                   struct t3_chunk chunk) {
  const struct t3_matrix* matrix = &output->matrix;
  const struct t3_tiling* tiling = &output->tiling;
  if (status == T3_NO_PEER || status == T3_UNALIGNED || status == T3_BAD_ADDRESS)
    return name_place(context, status, matrix);
  if (status == T3_OVERLAP) return t3_at_fault_as(context, status, "chunk", "workgroups without such a map");
  if (status == T3_TABLE_FULL) return t3_outcome(context, status, "all entries for maps are in use");
  if (status != T3_INVALID_ARGUMENT) return status;
  if (t3_workgroups(output) == 0) return t3_at_fault(context, "output", "1 to 2^32 - 1 tiles");
  if (tiling->wavefronts == 0 || tiling->wavefronts > 8 || tiling->rows % tiling->wavefronts != 0)
    return t3_at_fault(context, "output->tiling.wavefronts", "1 to 8 that divide the tile's rows");
  if (matrix->row_stride < t3_row_bytes(matrix))
    return t3_at_fault(context, "output->matrix.row_stride", "the bytes of a row or more");
  const bool is_right = chunk.workgroups != 0 && !is_beyond(output, chunk);
  return t3_at_fault(context, "chunk", is_right ? "fewer workgroups" : "1 or more workgroups of the output");
}

static enum t3_status remote_map(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk,
                                 uint64_t peer_output, enum t3_operation operation) {
  if (output == NULL || !t3_can_be_staged(output)) return t3_at_fault(context, "output", an_output);
  if (operation != T3_STORE && operation != T3_UPDATE)
    return t3_at_fault(context, "operation", "T3_STORE or T3_UPDATE");
  struct t3_registers r = t3_own_block(context, T3_BLOCK_OUTPUT_MAP);
  t3_stage_chunk(&r, output, chunk);
  t3_put32(&r, T3_OUTPUT_MAP_OPERATION_OFFSET,
           (uint32_t)operation << T3_OUTPUT_MAP_OPERATION_KIND_SHIFT | (uint32_t)class_of_remote_map(operation)
                                                                           << T3_OUTPUT_MAP_OPERATION_TRAFFIC_SHIFT);
  t3_put64(&r, T3_OUTPUT_MAP_PEER_BASE_OFFSET, peer_output);
  const enum t3_status status =
      t3_command(&r, T3_OUTPUT_MAP_COMMAND_OFFSET,
                 T3_OUTPUT_MAP_COMMAND_ACTION_ADD << T3_OUTPUT_MAP_COMMAND_ACTION_SHIFT, T3_OUTPUT_MAP_STATUS_OFFSET);
  return name_refused(context, status, output, chunk);
}

enum t3_status t3_remote_map(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk,
                             uint64_t peer_output, enum t3_operation operation) {
  return T3_LOCKED(context, remote_map(context, output, chunk, peer_output, operation));
}

/* A map that the Tracker refuses anyway needs no table, and the Tracker's reason is the better one. */
static bool may_be_tracked(const struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk) {
  const struct t3_state* state = const_state_of(context);
  const struct t3_matrix* matrix = &output->matrix;
  uint64_t bytes = 0;
  return t3_is_valid(output) && !is_beyond(output, chunk) && matrix->row_stride >= t3_row_bytes(matrix) &&
         t3_matrix_bytes(matrix, &bytes) && bytes <= state->memory_end - t3_on_gpu(state->gpu, 0);
}

/* A full set of the Tracker spills to memory. T3_BUSY when the table is to grow while something is mapped. */
static enum t3_status reserve_spill_table(struct t3_context* context, uint64_t needed) {
  struct t3_state* state = state_of(context);
  if (needed <= state->spill_entries) return T3_OK;
  if (needed > UINT32_MAX) return T3_OUT_OF_MEMORY;
  struct t3_registers r = t3_own_block(context, T3_BLOCK_TRACKER);
  const uint32_t mapped = t3_get32(&r, T3_TRACKER_CHUNKS_OFFSET);
  T3_TRY(r.status);
  if (mapped != 0) return T3_BUSY;
  uint64_t base = 0;
  T3_TRY(t3_take_end_of_memory(context, needed * SPILL_ENTRY_BYTES, &base));
  t3_put64(&r, T3_TRACKER_SPILL_BASE_OFFSET, base);
  t3_put32(&r, T3_TRACKER_SPILL_ENTRIES_OFFSET, (uint32_t)needed);
  if (r.status == T3_OK) state->spill_entries = (uint32_t)needed;
  return r.status;
}

static enum t3_status reserve_counts(struct t3_context* context, const struct t3_output* output, uint32_t workgroups) {
  if (output == NULL || !t3_is_valid(output)) return t3_at_fault(context, "output", T3_VALID_OUTPUT);
  return reserve_spill_table(context, (uint64_t)workgroups * output->tiling.wavefronts);
}

enum t3_status t3_reserve_counts(struct t3_context* context, const struct t3_output* output, uint32_t workgroups) {
  return T3_LOCKED(context, reserve_counts(context, output, workgroups));
}

/* Returns the operation by which accesses to a tile are counted: that of the forwarded tile, unless the options name
 * the other one, as for a complete sum. */
static enum t3_operation counted_operation(enum t3_operation operation, const struct t3_dma_options* options) {
  if (operation == T3_UPDATE) return T3_UPDATE;
  if (operation == T3_STORE) return options->counted == T3_UPDATE ? T3_UPDATE : T3_STORE;
  return options->counted == T3_STORE ? T3_STORE : T3_UPDATE;
}

static enum t3_status add_to_tracker(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk,
                                     enum t3_operation counted, uint32_t updates) {
  struct t3_registers r = t3_own_block(context, T3_BLOCK_TRACKER);
  t3_stage_chunk(&r, output, chunk);
  t3_put32(&r, T3_TRACKER_UPDATES_OFFSET, updates);
  const uint32_t command = T3_TRACKER_COMMAND_ACTION_ADD << T3_TRACKER_COMMAND_ACTION_SHIFT |
                           (uint32_t)counted << T3_TRACKER_COMMAND_OPERATION_SHIFT;
  const enum t3_status status = t3_command(&r, T3_TRACKER_COMMAND_OFFSET, command, T3_TRACKER_STATUS_OFFSET);
  if (status == T3_INVALID_ARGUMENT && (updates == 0 || updates > 255))
    return t3_at_fault(context, "options.updates", "1 to 255");
  return name_refused(context, status, output, chunk);
}

static void stage_route(struct t3_registers* r, const struct t3_nic_route* route) {
  t3_put32(r, T3_DMA_WAY_OFFSET,
           T3_DMA_WAY_KIND_QUEUE << T3_DMA_WAY_KIND_SHIFT | route->dma_queue << T3_DMA_WAY_QUEUE_SHIFT);
  t3_put32(r, T3_DMA_LOCAL_KEY_OFFSET, route->lkey);
  t3_put32(r, T3_DMA_REMOTE_KEY_OFFSET, route->rkey);
}

static void stage_signal(struct t3_registers* r, uint32_t signal, bool when_ready) {
  const uint32_t when = when_ready ? T3_DMA_SIGNAL_POINT_WHEN_READY : T3_DMA_SIGNAL_POINT_WHEN_DONE;
  t3_put32(r, T3_DMA_SIGNAL_OFFSET, signal);
  t3_put32(r, T3_DMA_SIGNAL_POINT_OFFSET, when << T3_DMA_SIGNAL_POINT_WHEN_SHIFT);
}

static enum t3_status add_to_dma(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk,
                                 struct t3_sending sending, uint32_t block_tiles) {
  const enum t3_operation operation = sending.operation;
  struct t3_registers r = t3_own_block(context, T3_BLOCK_DMA);
  t3_stage_chunk(&r, output, chunk);
  if (sending.route != NULL) stage_route(&r, sending.route);
  if (sending.signal != 0) stage_signal(&r, sending.signal, sending.signals_ready);
  t3_put32(&r, T3_DMA_BLOCK_TILES_OFFSET, block_tiles);
  t3_put64(&r, T3_DMA_DESTINATION_BASE_OFFSET, operation == T3_NOTIFY ? 0 : sending.peer_output);
  const uint32_t command = T3_DMA_COMMAND_ACTION_ADD << T3_DMA_COMMAND_ACTION_SHIFT |
                           (uint32_t)operation << T3_DMA_COMMAND_OPERATION_SHIFT | classes_of_dma_map(operation);
  const enum t3_status status = t3_command(&r, T3_DMA_COMMAND_OFFSET, command, T3_DMA_STATUS_OFFSET);
  /* The links are the way of every map that says nothing else. */
  if (sending.route != NULL) t3_put32(&r, T3_DMA_WAY_OFFSET, T3_DMA_WAY_KIND_LINKS << T3_DMA_WAY_KIND_SHIFT);
  if (sending.signal != 0) stage_signal(&r, NO_SIGNAL, false);
  if (status == T3_OK) return r.status;
  if (status != T3_INVALID_ARGUMENT) return name_refused(context, status, output, chunk);
  if (block_tiles == 0 || output->tiling.wavefronts % block_tiles != 0)
    return t3_at_fault(context, "options.block_tiles", "a divisor of the tile's wavefronts");
  return t3_at_fault(context, "route->dma_queue", "a queue that t3_dma_lend has lent");
}

static enum t3_status remove_staged(struct t3_registers* tracker) {
  return t3_command(tracker, T3_TRACKER_COMMAND_OFFSET,
                    T3_TRACKER_COMMAND_ACTION_REMOVE << T3_TRACKER_COMMAND_ACTION_SHIFT, T3_TRACKER_STATUS_OFFSET);
}

enum t3_status t3_add_dma_map(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk,
                              struct t3_sending sending, struct t3_dma_options options) {
  const enum t3_operation operation = sending.operation;
  if (output == NULL || !t3_can_be_staged(output)) return t3_at_fault(context, "output", an_output);
  if (operation < T3_STORE || operation > T3_NOTIFY)
    return t3_at_fault(context, "operation", "a member of enum t3_operation");
  if ((uint32_t)options.counted > T3_UPDATE) return t3_at_fault(context, "options.counted", "0, T3_STORE or T3_UPDATE");
  const enum t3_operation counted = counted_operation(operation, &options);
  /* Stores leave the cache in pieces that a map cannot distinguish. */
  if (counted == T3_STORE && output->matrix.memory != T3_UNCACHED)
    return t3_at_fault(context, "output->matrix.memory", "T3_UNCACHED where stores are counted");
  if (may_be_tracked(context, output, chunk)) {
    const uint64_t needed = (uint64_t)t3_workgroups(output) * output->tiling.wavefronts;
    const enum t3_status reserved = reserve_spill_table(context, needed);
    /* The table that there is may be enough for the chunk: the Tracker knows. */
    if (reserved != T3_BUSY) T3_TRY(reserved);
  }
  T3_TRY(add_to_tracker(context, output, chunk, counted, options.updates));
  const enum t3_status status = add_to_dma(context, output, chunk, sending, options.block_tiles);
  if (status == T3_OK) return T3_OK;
  /* Why it was refused is worth more to the caller than what becomes of the removal of what is still staged. */
  struct t3_registers tracker = t3_own_block(context, T3_BLOCK_TRACKER);
  (void)remove_staged(&tracker);
  return status;
}

enum t3_status t3_dma_map(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk,
                          uint64_t peer_output, enum t3_operation operation, struct t3_dma_options options) {
  const struct t3_sending sending = {.operation = operation, .peer_output = peer_output};
  return T3_LOCKED(context, t3_add_dma_map(context, output, chunk, sending, options));
}

enum t3_status t3_dma_map_nic(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk,
                              uint64_t peer_output, const struct t3_nic_route* route, struct t3_dma_options options) {
  if (route == NULL || route->dma_queue >= T3_DMA_QUEUES)
    return T3_REFUSE(context, "route->dma_queue", "a queue that t3_dma_lend has lent");
  const struct t3_sending sending = {.operation = T3_UPDATE, .peer_output = peer_output, .route = route};
  return T3_LOCKED(context, t3_add_dma_map(context, output, chunk, sending, options));
}

static enum t3_status dma_map_also(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk,
                                   uint64_t peer_output) {
  if (output == NULL || !t3_can_be_staged(output)) return t3_at_fault(context, "output", an_output);
  struct t3_registers r = t3_own_block(context, T3_BLOCK_DMA);
  t3_stage_chunk(&r, output, chunk);
  t3_put64(&r, T3_DMA_DESTINATION_BASE_OFFSET, peer_output);
  const enum t3_status status =
      t3_command(&r, T3_DMA_COMMAND_OFFSET, T3_DMA_COMMAND_ACTION_ADD_DESTINATION << T3_DMA_COMMAND_ACTION_SHIFT,
                 T3_DMA_STATUS_OFFSET);
  if (status == T3_INVALID_ARGUMENT)
    return t3_at_fault(context, "chunk", "a chunk that t3_dma_map sends over links, of an output of the same layout");
  if (status == T3_OVERLAP)
    return t3_at_fault_as(context, status, "peer_output", "bytes to which the chunk is not sent already");
  return name_refused(context, status, output, chunk);
}

enum t3_status t3_dma_map_also(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk,
                               uint64_t peer_output) {
  return T3_LOCKED(context, dma_map_also(context, output, chunk, peer_output));
}

enum t3_status t3_counting_status(struct t3_registers* tracker) {
  const uint32_t status = t3_get32(tracker, T3_TRACKER_STATUS_OFFSET);
  if (tracker->status != T3_OK) return tracker->status;
  return (enum t3_status)((status & T3_TRACKER_STATUS_COUNTING_MASK) >> T3_TRACKER_STATUS_COUNTING_SHIFT);
}

static enum t3_status name_unmapped(struct t3_context* context, enum t3_status status) {
  return status != T3_INVALID_ARGUMENT ? status : t3_at_fault(context, "chunk", a_mapped_chunk);
}

static enum t3_status remote_unmap(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk) {
  if (output == NULL || !t3_can_be_staged(output)) return t3_at_fault(context, "output", an_output);
  T3_TRY(t3_all_kernels_begun(context));
  struct t3_registers r = t3_own_block(context, T3_BLOCK_OUTPUT_MAP);
  t3_stage_chunk(&r, output, chunk);
  return name_unmapped(context, t3_command(&r, T3_OUTPUT_MAP_COMMAND_OFFSET,
                                           T3_OUTPUT_MAP_COMMAND_ACTION_REMOVE << T3_OUTPUT_MAP_COMMAND_ACTION_SHIFT,
                                           T3_OUTPUT_MAP_STATUS_OFFSET));
}

enum t3_status t3_remote_unmap(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk) {
  return T3_LOCKED(context, remote_unmap(context, output, chunk));
}

enum t3_status t3_wait_idle_dma(struct t3_context* context, struct t3_registers* dma, uint64_t deadline) {
  for (;;) {
    t3_clear_dma(context, dma);
    const uint32_t status = t3_get32(dma, T3_DMA_STATUS_OFFSET);
    if (dma->status != T3_OK || (status & T3_DMA_STATUS_BUSY_MASK) == 0) return dma->status;
    T3_TRY(t3_sleep(context, T3_LINE_DMA, deadline, "the DMA engine before maps are removed"));
  }
}

static enum t3_status dma_unmap(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk) {
  if (output == NULL || !t3_can_be_staged(output)) return t3_at_fault(context, "output", an_output);
  const uint64_t deadline = t3_deadline(context);
  struct t3_registers tracker = t3_own_block(context, T3_BLOCK_TRACKER), dma = t3_own_block(context, T3_BLOCK_DMA);
  T3_TRY(t3_wait_idle_dma(context, &dma, deadline));
  T3_TRY(t3_all_kernels_begun(context)); /* here and not before: a handler may have queued one meanwhile */
  const enum t3_status counting = t3_counting_status(&tracker);
  t3_stage_chunk(&tracker, output, chunk);
  const enum t3_status removed = remove_staged(&tracker);
  /* The Tracker may not have the chunk any more: a timeout may have ended a call for the same chunk here. */
  if (removed != T3_OK && removed != T3_INVALID_ARGUMENT) return removed;
  T3_TRY(t3_wait_idle_dma(context, &dma, deadline)); /* of the last tiles before the removal, if there were any */
  t3_stage_chunk(&dma, output, chunk);
  T3_TRY(name_unmapped(
      context, t3_command(&dma, T3_DMA_COMMAND_OFFSET, T3_DMA_COMMAND_ACTION_REMOVE << T3_DMA_COMMAND_ACTION_SHIFT,
                          T3_DMA_STATUS_OFFSET)));
  return t3_outcome(context, counting, accesses_did_not_fit);
}

enum t3_status t3_dma_unmap(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk) {
  return T3_LOCKED(context, dma_unmap(context, output, chunk));
}

/* After a timeout, another call continues. */
static enum t3_status empty_tables(struct t3_context* context, bool force, uint64_t deadline) {
  struct t3_registers tracker = t3_own_block(context, T3_BLOCK_TRACKER), dma = t3_own_block(context, T3_BLOCK_DMA),
                      map = t3_own_block(context, T3_BLOCK_OUTPUT_MAP);
  /* The Tracker first: it alone can become busy by what others send. */
  T3_TRY(t3_command(&tracker, T3_TRACKER_COMMAND_OFFSET,
                    T3_TRACKER_COMMAND_ACTION_REMOVE_ALL << T3_TRACKER_COMMAND_ACTION_SHIFT |
                        (uint32_t)force << T3_TRACKER_COMMAND_FORCE_SHIFT,
                    T3_TRACKER_STATUS_OFFSET));
  T3_TRY(t3_command(&map, T3_OUTPUT_MAP_COMMAND_OFFSET,
                    T3_OUTPUT_MAP_COMMAND_ACTION_REMOVE_ALL << T3_OUTPUT_MAP_COMMAND_ACTION_SHIFT |
                        (uint32_t)force << T3_OUTPUT_MAP_COMMAND_FORCE_SHIFT,
                    T3_OUTPUT_MAP_STATUS_OFFSET));
  if (!force) T3_TRY(t3_wait_idle_dma(context, &dma, deadline));
  return t3_command(
      &dma, T3_DMA_COMMAND_OFFSET,
      T3_DMA_COMMAND_ACTION_REMOVE_ALL << T3_DMA_COMMAND_ACTION_SHIFT | (uint32_t)force << T3_DMA_COMMAND_FORCE_SHIFT,
      T3_DMA_STATUS_OFFSET);
}

static enum t3_status remote_unmap_all(struct t3_context* context) {
  T3_TRY(t3_all_kernels_ended(context));
  const uint64_t deadline = t3_deadline(context);
  struct t3_registers tracker = t3_own_block(context, T3_BLOCK_TRACKER), dma = t3_own_block(context, T3_BLOCK_DMA),
                      map = t3_own_block(context, T3_BLOCK_OUTPUT_MAP);
  if (t3_get32(&map, T3_OUTPUT_MAP_STATUS_OFFSET) & T3_OUTPUT_MAP_STATUS_BUSY_MASK) return T3_BUSY;
  T3_TRY(map.status);
  T3_TRY(t3_wait_idle_dma(context, &dma, deadline));
  T3_TRY(t3_all_kernels_ended(context)); /* a handler may have queued one meanwhile */
  const enum t3_status counting = t3_counting_status(&tracker);
  T3_TRY(empty_tables(context, false, deadline));
  return t3_outcome(context, counting, accesses_did_not_fit);
}

enum t3_status t3_remote_unmap_all(struct t3_context* context) { return T3_LOCKED(context, remote_unmap_all(context)); }

enum t3_status t3_force_unmap_all(struct t3_context* context) {
  return T3_LOCKED(context, empty_tables(context, true, T3_FOREVER)); /* force does not wait */
}

enum t3_status t3_transfer_status(struct t3_registers* dma) {
  const uint32_t status = t3_get32(dma, T3_DMA_STATUS_OFFSET);
  if (dma->status != T3_OK) return dma->status;
  return (enum t3_status)((status & T3_DMA_STATUS_TRANSFER_MASK) >> T3_DMA_STATUS_TRANSFER_SHIFT);
}

/* Two lines share the register. */
static void clear_dma(struct t3_context* context, struct t3_registers* dma) {
  struct t3_state* state = state_of(context);
  const uint32_t all = T3_DMA_INTERRUPT_COMPLETE_MASK | T3_DMA_INTERRUPT_FILLED_MASK | T3_DMA_INTERRUPT_ERROR_MASK |
                       T3_DMA_INTERRUPT_COPIED_MASK;
  const bool handled = state->vectors[T3_LINE_DMA].handler != NULL || state->vectors[T3_LINE_DMA_ERROR].handler != NULL;
  if (!handled && !state->filling) {
    t3_put32(dma, T3_DMA_INTERRUPT_OFFSET, all);
  } else {
    t3_clear_dma(context, dma);
    t3_clear(context, dma, T3_LINE_DMA_ERROR, T3_DMA_INTERRUPT_OFFSET, T3_DMA_INTERRUPT_ERROR_MASK);
  }
}

enum t3_status t3_wait_chunks(struct t3_context* context, t3_chunks_look* look, const void* chunk,
                              uint64_t deadline_ns) {
  struct t3_registers dma = t3_own_block(context, T3_BLOCK_DMA), tracker = t3_own_block(context, T3_BLOCK_TRACKER);
  for (;;) {
    clear_dma(context, &dma);
    t3_clear(context, &tracker, T3_LINE_TRACKER, T3_TRACKER_INTERRUPT_OFFSET, T3_TRACKER_INTERRUPT_ERROR_MASK);
    /* What does not fit its map may never be complete. */
    T3_TRY(t3_outcome(context, t3_counting_status(&tracker), accesses_did_not_fit));
    const enum t3_status looked = look(&dma, chunk);
    if (looked == T3_INVALID_ARGUMENT) return t3_at_fault(context, "chunk", a_mapped_chunk);
    if (looked != T3_BUSY) return t3_outcome(context, looked, "a tile of a mapped chunk has failed");
    const uint32_t lines =
        UINT32_C(1) << T3_LINE_DMA | UINT32_C(1) << T3_LINE_DMA_ERROR | UINT32_C(1) << T3_LINE_TRACKER;
    T3_TRY(t3_sleep_any(context, lines, deadline_ns, "the chunks of dma_map"));
  }
}

static enum t3_status look_at_all(struct t3_registers* dma, const void* chunk) {
  (void)chunk;
  const uint32_t pending = t3_get32(dma, T3_DMA_PENDING_OFFSET);
  T3_TRY(dma->status);
  const enum t3_status transfer = t3_transfer_status(dma);
  return pending == 0 || transfer == T3_MISMATCH ? transfer : T3_BUSY; /* such a tile is never sent */
}

enum t3_status t3_wait_dma(struct t3_context* context) {
  return T3_LOCKED(context, t3_wait_chunks(context, look_at_all, NULL, t3_deadline(context)));
}
