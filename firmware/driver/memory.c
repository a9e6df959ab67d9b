#include "allocations.h"
#include "context_state.h"
#include "end_of_memory.h"
#include "handlers.h"
#include "matrices.h"
#include "registers.h"
#include "t3/registers/dma.h"
#include "t3/registers/near_memory.h"
#include "t3/traffic_class.h"
#include "wait.h"

#define HEAP_ALIGNMENT 256u /* an interleave unit of the memory channels */
#define ROW_ALIGNMENT 32u   /* a DRAM access */

static uint64_t round_up(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

static const char a_matrix[] = "rows and columns of 1 or more, a known element type and memory kind",
                  a_piece[] = "where a piece of t3_malloc begins";

static bool is_matrix(const struct t3_matrix* matrix) {
  return matrix != NULL && matrix->rows != 0 && matrix->columns != 0 && t3_has_known_kinds(matrix);
}

static enum t3_status take_memory(struct t3_context* context, enum t3_allocation_owner owner, uint64_t bytes,
                                  uint64_t* address) {
  struct t3_state* state = state_of(context);
  if (address == NULL) return t3_at_fault(context, "address", "a place for the address");
  if (bytes == 0) return t3_at_fault(context, "bytes", "1 or more");
  struct t3_allocation* all = state->allocations;
  uint64_t start = state->heap_begin;
  uint32_t place = 0;
  for (; place < state->allocation_count && bytes > all[place].address - start; ++place)
    start = round_up(all[place].address + all[place].bytes, HEAP_ALIGNMENT);
  if (start > state->heap_end || bytes > state->heap_end - start)
    return t3_at_fault_as(context, T3_OUT_OF_MEMORY, "bytes", "at most a free piece of the memory");
  if (state->allocation_count == T3_ALLOCATIONS_MAX)
    return t3_outcome(context, T3_TABLE_FULL, "all pieces of t3_malloc are in use");
  for (uint32_t i = state->allocation_count++; i > place; --i) all[i] = all[i - 1];
  all[place] = t3_allocation_of(start, bytes, owner);
  t3_declare_memory(state->hal, start, bytes, T3_MEMORY_ALLOCATED);
  *address = start;
  return T3_OK;
}

enum t3_status t3_malloc_for(struct t3_context* context, const char* call, enum t3_allocation_owner owner,
                             uint64_t bytes, uint64_t* address) {
  return T3_LOCKED_AS(call, context, take_memory(context, owner, bytes, address));
}

enum t3_status t3_malloc(struct t3_context* context, uint64_t bytes, uint64_t* address) {
  return T3_LOCKED(context, take_memory(context, T3_PROGRAMS_MEMORY, bytes, address));
}

enum t3_status t3_take_end_of_memory(struct t3_context* context, uint64_t bytes, uint64_t* address) {
  struct t3_state* state = state_of(context);
  const uint32_t count = state->allocation_count;
  const struct t3_allocation* last = &state->allocations[count == 0 ? 0 : count - 1];
  const uint64_t used_end = count == 0 ? state->heap_begin : last->address + last->bytes;
  if (bytes > state->memory_end - used_end) return T3_OUT_OF_MEMORY;
  const uint64_t start = (state->memory_end - bytes) / HEAP_ALIGNMENT * HEAP_ALIGNMENT;
  if (start < used_end) return T3_OUT_OF_MEMORY;
  if (state->heap_end != state->memory_end) /* what it has had there becomes part of it */
    t3_declare_memory(state->hal, state->heap_end, state->memory_end - state->heap_end, T3_MEMORY_FREE);
  if (start != state->memory_end) t3_declare_memory(state->hal, start, state->memory_end - start, T3_MEMORY_DRIVER);
  state->heap_end = *address = start;
  return T3_OK;
}

static bool has_rings(const struct t3_state* state, struct t3_allocation piece) {
  for (uint32_t i = 0; i < T3_NIC_PAIRS; ++i)
    if (state->nic_rings[i].bytes != 0 && t3_overlap(piece, state->nic_rings[i])) return true;
  return false;
}

/* An address within another owner's piece is refused as that piece is: a shmem heap's first piece may begin there. */
static enum t3_status give_back(struct t3_context* context, enum t3_allocation_owner owner, uint64_t address) {
  struct t3_state* state = state_of(context);
  struct t3_allocation* all = state->allocations;
  uint32_t place = 0;
  while (place < state->allocation_count && address - all[place].address >= all[place].bytes) ++place;
  if (place == state->allocation_count) return t3_at_fault(context, "address", a_piece);
  if (all[place].owner != owner) return T3_BUSY;
  if (all[place].address != address) return t3_at_fault(context, "address", a_piece);
  if (has_rings(state, all[place])) return T3_BUSY;
  t3_declare_memory(state->hal, address, all[place].bytes, T3_MEMORY_FREE);
  --state->allocation_count;
  for (; place < state->allocation_count; ++place) all[place] = all[place + 1];
  return T3_OK;
}

enum t3_status t3_free_of(struct t3_context* context, const char* call, enum t3_allocation_owner owner,
                          uint64_t address) {
  return T3_LOCKED_AS(call, context, give_back(context, owner, address));
}

enum t3_status t3_free(struct t3_context* context, uint64_t address) {
  return T3_LOCKED(context, give_back(context, T3_PROGRAMS_MEMORY, address));
}

enum t3_status t3_matrix_malloc(struct t3_context* context, struct t3_matrix* matrix) {
  if (!is_matrix(matrix)) return T3_REFUSE(context, "matrix", a_matrix);
  struct t3_matrix placed = *matrix;
  uint64_t bytes = 0;
  placed.row_stride = round_up(t3_row_bytes(matrix), ROW_ALIGNMENT);
  if (!t3_matrix_bytes(&placed, &bytes)) return T3_REFUSE_AS(context, T3_OUT_OF_MEMORY, "matrix", "a size of 64 bits");
  T3_TRY(T3_LOCKED(context, take_memory(context, T3_PROGRAMS_MEMORY, bytes, &placed.address)));
  *matrix = placed;
  return T3_OK;
}

void t3_clear_dma(struct t3_context* context, struct t3_registers* dma) {
  uint32_t bits = T3_DMA_INTERRUPT_COMPLETE_MASK | T3_DMA_INTERRUPT_FILLED_MASK | T3_DMA_INTERRUPT_COPIED_MASK;
  if (state_of(context)->filling) {
    bits &= t3_get32(dma, T3_DMA_INTERRUPT_OFFSET); /* leaves out an end that no call has read */
    if (bits & T3_DMA_INTERRUPT_FILLED_MASK) t3_note_fill(context, t3_get32(dma, T3_DMA_STATUS_OFFSET));
  }
  t3_clear(context, dma, T3_LINE_DMA, T3_DMA_INTERRUPT_OFFSET, bits);
}

static enum t3_status wait_filled(struct t3_context* context, struct t3_registers* dma, uint64_t deadline) {
  while (state_of(context)->filling) { /* a handler may have noticed its end */
    const uint32_t interrupt = t3_get32(dma, T3_DMA_INTERRUPT_OFFSET);
    T3_TRY(dma->status);
    if (interrupt & T3_DMA_INTERRUPT_FILLED_MASK) {
      t3_clear(context, dma, T3_LINE_DMA, T3_DMA_INTERRUPT_OFFSET, T3_DMA_INTERRUPT_FILLED_MASK);
      t3_note_fill(context, t3_get32(dma, T3_DMA_STATUS_OFFSET));
      break;
    }
    const uint32_t status = t3_get32(dma, T3_DMA_STATUS_OFFSET);
    T3_TRY(dma->status);
    if ((status & T3_DMA_STATUS_BUSY_MASK) == 0) { /* the program has cleared the bit itself */
      t3_note_fill(context, status);
      break;
    }
    T3_TRY(t3_sleep(context, T3_LINE_DMA, deadline, "the DMA engine's fill"));
    /* A completed command of the table or a copy raises the same line; their waits do not rely on these bits. */
    t3_clear(context, dma, T3_LINE_DMA, T3_DMA_INTERRUPT_OFFSET,
             T3_DMA_INTERRUPT_COMPLETE_MASK | T3_DMA_INTERRUPT_COPIED_MASK);
  }
  return dma->status;
}

/* The alignment of rows is checked already, and a matrix has a byte or more. */
static enum t3_status name_range(struct t3_context* context, enum t3_status status) {
  if (status == T3_UNALIGNED) return t3_at_fault_as(context, status, "matrix->address", "a multiple of 32");
  if (status == T3_BAD_ADDRESS)
    return t3_at_fault_as(context, status, "matrix->address", "a matrix within this GPU's memory");
  return status;
}

static enum t3_status start_fill(struct t3_registers* dma, uint64_t base, uint64_t bytes) {
  t3_put64(dma, T3_DMA_FILL_BASE_OFFSET, base);
  t3_put64(dma, T3_DMA_FILL_BYTES_OFFSET, bytes);
  t3_put32(dma, T3_DMA_INTERRUPT_OFFSET, T3_DMA_INTERRUPT_FILLED_MASK);
  const uint32_t command = T3_DMA_COMMAND_ACTION_FILL << T3_DMA_COMMAND_ACTION_SHIFT |
                           (uint32_t)T3_TRAFFIC_SETUP << T3_DMA_COMMAND_WRITES_SHIFT;
  return t3_command(dma, T3_DMA_COMMAND_OFFSET, command, T3_DMA_STATUS_OFFSET);
}

/* From the first row to the end of the last one's padding, when all of it is the matrix's. */
static enum t3_status whole_bytes(struct t3_context* context, const struct t3_matrix* matrix, uint64_t* bytes) {
  if (!is_matrix(matrix)) return t3_at_fault(context, "matrix", a_matrix);
  const uint64_t row = round_up(t3_row_bytes(matrix), ROW_ALIGNMENT);
  if (matrix->rows != 1 && matrix->row_stride % ROW_ALIGNMENT != 0)
    return t3_at_fault_as(context, T3_UNALIGNED, "matrix->row_stride", "a multiple of 32");
  if (matrix->rows != 1 && matrix->row_stride != row)
    return t3_at_fault(context, "matrix->row_stride", "the bytes of a row, rounded up to 32");
  if (row > UINT64_MAX / matrix->rows) return t3_at_fault(context, "matrix", "a size of 64 bits");
  *bytes = row * matrix->rows;
  return T3_OK;
}

static enum t3_status fill_zero(struct t3_context* context, const struct t3_matrix* matrix) {
  struct t3_state* state = state_of(context);
  uint64_t bytes = 0;
  T3_TRY(whole_bytes(context, matrix, &bytes));
  const uint64_t deadline = t3_deadline(context);
  struct t3_registers dma = t3_own_block(context, T3_BLOCK_DMA);
  T3_TRY(wait_filled(context, &dma, deadline)); /* its end is not to be taken for ours */
  T3_TRY(name_range(context, start_fill(&dma, matrix->address, bytes)));
  state->filling = true;
  T3_TRY(wait_filled(context, &dma, deadline));
  return t3_outcome(context, state->fill_code, "the fill has failed");
}

static enum t3_status fill_alone(struct t3_context* context, const struct t3_matrix* matrix) {
  struct t3_state* state = state_of(context);
  if (state->in_fill) return T3_BUSY;
  state->in_fill = true;
  const enum t3_status status = fill_zero(context, matrix);
  state->in_fill = false;
  return status;
}

enum t3_status t3_fill_zero(struct t3_context* context, const struct t3_matrix* matrix) {
  return T3_LOCKED(context, fill_alone(context, matrix));
}

static enum t3_status near_memory_command(struct t3_registers* near_memory, uint32_t action) {
  return t3_command(near_memory, T3_NEAR_MEMORY_COMMAND_OFFSET, action << T3_NEAR_MEMORY_COMMAND_ACTION_SHIFT,
                    T3_NEAR_MEMORY_STATUS_OFFSET);
}

static enum t3_status arm_zero(struct t3_context* context, const struct t3_matrix* matrix) {
  uint64_t bytes = 0;
  T3_TRY(whole_bytes(context, matrix, &bytes));
  struct t3_registers near_memory = t3_own_block(context, T3_BLOCK_NEAR_MEMORY);
  t3_put64(&near_memory, T3_NEAR_MEMORY_VALID_BASE_OFFSET, matrix->address);
  t3_put64(&near_memory, T3_NEAR_MEMORY_VALID_BYTES_OFFSET, bytes);
  const enum t3_status status = near_memory_command(&near_memory, T3_NEAR_MEMORY_COMMAND_ACTION_ARM);
  if (status == T3_TABLE_FULL)
    return t3_at_fault_as(context, status, "matrix", "at most the bytes that the valid bits cover");
  return name_range(context, status);
}

enum t3_status t3_arm_zero(struct t3_context* context, const struct t3_matrix* matrix) {
  return T3_LOCKED(context, arm_zero(context, matrix));
}

static enum t3_status disarm_zero(struct t3_context* context) {
  struct t3_registers near_memory = t3_own_block(context, T3_BLOCK_NEAR_MEMORY);
  return near_memory_command(&near_memory, T3_NEAR_MEMORY_COMMAND_ACTION_DISARM);
}

enum t3_status t3_disarm_zero(struct t3_context* context) { return T3_LOCKED(context, disarm_zero(context)); }
