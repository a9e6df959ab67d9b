#include "driver_errors/misuse.h"
#include "driver/context_state.h"

#include <stdio.h>

#include "t3/registers/kernel_queue.h"

void tell_to(const struct t3_hal* hal, const char* what, enum t3_status status) {
  char line[300];
  (void)snprintf(line, sizeof line, "%s: %s", what, t3_status_text(status));
  hal->log(hal->platform, line);
}

void tell(struct stage* stage, const char* what, enum t3_status status) { tell_to(stage->hal, what, status); }

struct operands operands_of(struct stage* stage) {
  const struct t3_matrix* out = &stage->out.matrix;
  struct operands o = {.a = {.rows = out->rows, .columns = 32, .element = out->element},
                       .b = {.rows = 32, .columns = out->columns, .element = out->element}};
  tell(stage, "memory of a", t3_matrix_malloc(&stage->gpu, &o.a));
  tell(stage, "memory of b", t3_matrix_malloc(&stage->gpu, &o.b));
  return o;
}

static const char* name_of(enum t3_block block) {
  static const char* const names[T3_BLOCK_COUNT] = {[T3_BLOCK_SYSTEM] = "system",
                                                    [T3_BLOCK_INTERRUPT_CONTROLLER] = "interrupt_controller",
                                                    [T3_BLOCK_ERROR_LOG] = "error_log",
                                                    [T3_BLOCK_SIGNALS] = "signals",
                                                    [T3_BLOCK_KERNEL_QUEUE] = "kernel_queue",
                                                    [T3_BLOCK_OUTPUT_MAP] = "output_map",
                                                    [T3_BLOCK_CACHE] = "cache",
                                                    [T3_BLOCK_MEMORY_CONTROLLER] = "memory_controller",
                                                    [T3_BLOCK_NEAR_MEMORY] = "near_memory",
                                                    [T3_BLOCK_TRACKER] = "tracker",
                                                    [T3_BLOCK_DMA] = "dma",
                                                    [T3_BLOCK_LINKS] = "links"};
  return (uint32_t)block < T3_BLOCK_COUNT ? names[block] : "no block";
}

void tell_errors(struct stage* stage) {
  struct t3_error error;
  while (t3_next_error(&stage->gpu, &error) == T3_OK && error.code != T3_OK) {
    char what[64];
    (void)snprintf(what, sizeof what, "logged by %s", name_of(error.block));
    tell(stage, what, error.code);
  }
}

static enum t3_status set_stage(struct stage* stage, const struct t3_hal* hal, const struct t3_run* run) {
  T3_TRY(t3_init(&stage->gpu, hal));
  stage->hal = hal;
  stage->out.tiling = tiling_of(run);
  stage->out.matrix.element = gemm_of(run).element;
  stage->out.matrix.memory = T3_UNCACHED;
  stage->out.matrix.rows = 8 * tiling_of(run).rows;
  stage->out.matrix.columns = 8 * tiling_of(run).columns;
  T3_TRY(t3_matrix_malloc(&stage->gpu, &stage->out.matrix));
  stage->peer_out = t3_peer_address(&stage->out.matrix, t3_ring_previous(&stage->gpu));
  return T3_OK;
}

enum t3_status submit_raw(struct stage* s, struct t3_kernel_packet packet, const unsigned char* arguments) {
  struct t3_context* gpu = &s->gpu;
  const struct t3_hal* hal = t3_hal_of(gpu);
  const uint64_t doorbell = t3_block_base(t3_gpu(gpu), T3_BLOCK_KERNEL_QUEUE) + T3_KERNEL_QUEUE_DOORBELL_OFFSET;
  const uint64_t entry =
      state_of(gpu)->queues[0].base + state_of(gpu)->queues[0].submitted % 16 * T3_KERNEL_PACKET_ENTRY_BYTES;
  unsigned char bytes[T3_KERNEL_PACKET_BYTES];
  packet.arguments = entry + sizeof bytes;
  t3_kernel_packet_to(&packet, bytes);
  T3_TRY(hal->write_memory(hal->platform, entry, bytes, sizeof bytes));
  T3_TRY(hal->write_memory(hal->platform, packet.arguments, arguments, packet.argument_bytes));
  hal->order_writes(hal->platform);
  T3_TRY(hal->write64(hal->platform, doorbell, ++state_of(gpu)->queues[0].submitted));
  return t3_wait_kernels(gpu);
}

enum t3_status misuse_then_work(const struct t3_hal* hal, const struct t3_run* run, void (*misuse)(struct stage*)) {
  struct stage stage = {0};
  T3_TRY(set_stage(&stage, hal, run));
  misuse(&stage);
  tell_errors(&stage);
  T3_TRY(t3_remote_unmap_all(&stage.gpu));
  T3_TRY(t3_flush_cache(&stage.gpu)); /* the job takes over the memory that is cached */
  T3_TRY(t3_close(&stage.gpu));
  return t3_run_fused(hal, run);
}

enum t3_status guest_late(const struct t3_hal* hal, const struct t3_run* run) {
  hal->wait_ns(hal->platform, 1000000);
  return t3_run_fused(hal, run);
}
