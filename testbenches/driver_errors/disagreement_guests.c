/* Maps, kernels and neighbours that do not mean the same. */
#include <stddef.h>

#include "driver/context_state.h"
#include "driver_errors/misuse.h"
#include "t3/arguments/ring_all_gather.h"
#include "t3/kernel_handle.h"
#include "t3/registers/dma.h"
#include "t3/registers/near_memory.h"
#include "t3/registers/signals.h"

enum { ring_signals = 16 }; /* the driver's counters for ring kernels */

static const struct t3_chunk first = {.first_workgroup = 0, .workgroups = 8};

static enum t3_status multiply(struct stage* s, const struct t3_output* out) {
  struct t3_matrix a = {.rows = out->matrix.rows, .columns = 32, .element = out->matrix.element},
                   b = {.rows = 32, .columns = out->matrix.columns, .element = out->matrix.element};
  T3_TRY(t3_matrix_malloc(&s->gpu, &a));
  T3_TRY(t3_matrix_malloc(&s->gpu, &b));
  T3_TRY(t3_gemm(&s->gpu, out, &a, &b, (struct t3_gemm_options){.update = true}));
  const enum t3_status status = t3_wait_kernels(&s->gpu);
  T3_TRY(t3_free(&s->gpu, a.address));
  T3_TRY(t3_free(&s->gpu, b.address));
  return status;
}

/* Maps `mapped` to the peer and multiplies into the stage's output, the same memory. */
static void send(struct stage* s, const char* what, const struct t3_output* mapped) {
  tell(s, what, t3_remote_map(&s->gpu, mapped, first, s->peer_out, T3_STORE));
  tell(s, "gemm", multiply(s, &s->out));
  tell(s, "unmap_all", t3_remote_unmap_all(&s->gpu));
  tell_errors(s);
}

static void other_outputs_sent(struct stage* s) {
  send(s, "remote_map", &s->out);
  struct t3_output other = s->out;
  other.tiling.rows /= 2;
  send(s, "remote_map of smaller tiles", &other);
  other = s->out;
  other.tiling.wavefronts = 2;
  send(s, "remote_map of 2 wavefronts", &other);
  other = s->out;
  other.matrix.element = T3_BF16;
  send(s, "remote_map of another element type", &other);
  other = s->out;
  other.matrix.columns /= 2;
  send(s, "remote_map of half the columns", &other);
  const struct t3_chunk beyond = {.first_workgroup = 60, .workgroups = 8};
  tell(s, "remote_map beyond the output", t3_remote_map(&s->gpu, &s->out, beyond, s->peer_out, T3_STORE));
}

static enum t3_status scale(struct stage* s) {
  struct t3_matrix out = s->out.matrix;
  out.memory = T3_CACHED;
  T3_TRY(t3_rows(&s->gpu, T3_ROWS_SCALE, &out, &out, NULL, NULL, (struct t3_row_options){.factor = 1}));
  return t3_wait_kernels(&s->gpu);
}

static void nameless_on_maps(struct stage* s) {
  const struct t3_dma_options options = {.updates = 1, .block_tiles = 1};
  tell(s, "remote_map", t3_remote_map(&s->gpu, &s->out, first, s->peer_out, T3_STORE));
  tell(s, "rows", scale(s));
  tell(s, "unmap_all", t3_remote_unmap_all(&s->gpu));
  tell(s, "dma_map", t3_dma_map(&s->gpu, &s->out, first, 0, T3_NOTIFY, options));
  tell(s, "rows", scale(s));
  tell(s, "gemm", multiply(s, &s->out));
  tell(s, "wait_dma", t3_wait_dma(&s->gpu));
  tell(s, "rows when the map is complete", scale(s));
  tell(s, "unmap_all", t3_remote_unmap_all(&s->gpu));
  tell(s, "rows without maps", scale(s));
}

/* The Tracker has a map, the DMA engine has none or another one. */
static void disagreeing_engines(struct stage* s) {
  const struct t3_dma_options options = {.updates = 1, .block_tiles = 1};
  const uint64_t dma = t3_block_base(t3_gpu(&s->gpu), T3_BLOCK_DMA);
  const struct t3_hal* hal = s->hal;
  const uint32_t remove = T3_DMA_COMMAND_ACTION_REMOVE_ALL << T3_DMA_COMMAND_ACTION_SHIFT,
                 add = T3_DMA_COMMAND_ACTION_ADD << T3_DMA_COMMAND_ACTION_SHIFT | T3_DMA_COMMAND_OPERATION_NOTIFY
                                                                                      << T3_DMA_COMMAND_OPERATION_SHIFT;
  for (int with_other_tiles = 0; with_other_tiles < 2; ++with_other_tiles) {
    tell(s, "dma_map", t3_dma_map(&s->gpu, &s->out, first, 0, T3_NOTIFY, options));
    tell(s, "command removed", hal->write32(hal->platform, dma + T3_DMA_COMMAND_OFFSET, remove));
    if (with_other_tiles) {
      hal->write32(hal->platform, dma + T3_DMA_TILE_ROWS_OFFSET, s->out.tiling.rows / 2);
      tell(s, "command of smaller tiles", hal->write32(hal->platform, dma + T3_DMA_COMMAND_OFFSET, add));
    }
    tell(s, "gemm", multiply(s, &s->out));
    tell(s, "wait_dma", t3_wait_dma(&s->gpu));
    tell(s, "unmap_all", t3_remote_unmap_all(&s->gpu));
    tell(s, "wait_dma without maps", t3_wait_dma(&s->gpu));
    tell_errors(s);
  }
}

/* Runs on all GPUs; GPU 0's kernels are others than its neighbours'. */
static void gather(struct stage* s, const char* what, const struct t3_output* odd) {
  (void)t3_barrier(&s->gpu);
  (void)t3_ring_all_gather(&s->gpu, t3_gpu(&s->gpu) == 0 ? odd : &s->out);
  tell(s, what, t3_wait_kernels(&s->gpu));
}

/* The arguments of an all-gather like the driver's. */
static struct t3_ring_all_gather_arguments gather_arguments(const struct stage* s) {
  const struct t3_context* gpu = &s->gpu;
  return (struct t3_ring_all_gather_arguments){.out = s->out.matrix.address,
                                               .peer_out = s->peer_out,
                                               .signal_epoch = const_state_of(gpu)->ring_epoch,
                                               .m = s->out.matrix.rows,
                                               .n = s->out.matrix.columns,
                                               .ldo = (uint32_t)s->out.matrix.row_stride,
                                               .signal_base = ring_signals,
                                               .gpu = t3_gpu(gpu),
                                               .gpus = t3_gpus(gpu),
                                               .tile_rows = (uint16_t)s->out.tiling.rows,
                                               .tile_columns = (uint16_t)s->out.tiling.columns,
                                               .element = (uint8_t)s->out.matrix.element,
                                               .uncached = 1};
}

static enum t3_status submit_gather(struct stage* s, const struct t3_ring_all_gather_arguments* arguments) {
  unsigned char bytes[T3_RING_ALL_GATHER_ARGUMENTS_BYTES];
  t3_ring_all_gather_arguments_to(arguments, bytes);
  return submit_raw(s,
                    (struct t3_kernel_packet){.kernel = t3_kernel_handle("ring-all-gather"),
                                              .argument_bytes = sizeof bytes,
                                              .completion_signal = T3_KERNEL_PACKET_COMPLETION_SIGNAL_NONE,
                                              .workgroups = t3_ring_workgroups(&s->gpu)},
                    bytes);
}

/* With a packet of its own, which the driver would not write. */
static void gather_as(struct stage* s, const char* what, uint32_t position, uint64_t epochs_ahead) {
  struct t3_ring_all_gather_arguments packet = gather_arguments(s);
  packet.gpu = position;
  packet.signal_epoch += epochs_ahead;
  (void)t3_barrier(&s->gpu);
  state_of(&s->gpu)->ring_epoch += t3_gpus(&s->gpu) - 1;
  tell(s, what, submit_gather(s, &packet));
}

static void disagreeing_rings(struct stage* s) {
  gather(s, "the same", &s->out);
  struct t3_output odd = s->out;
  odd.tiling.rows /= 2;
  gather(s, "other tiles", &odd);
  odd = s->out;
  odd.matrix.element = T3_BF16;
  gather(s, "another element type", &odd);
  odd = s->out;
  odd.matrix.rows /= 2;
  gather(s, "fewer rows", &odd);
  odd.matrix.address += odd.matrix.rows * odd.matrix.row_stride;
  gather(s, "fewer rows, elsewhere", &odd);
  (void)t3_barrier(&s->gpu);
  (void)(t3_gpu(&s->gpu) == 0 ? t3_ring_reduce_scatter(&s->gpu, &s->out, NULL) : t3_ring_all_gather(&s->gpu, &s->out));
  tell(s, "another collective", t3_wait_kernels(&s->gpu));
  gather_as(s, "another position", t3_gpu(&s->gpu) == 0 ? 1 : t3_gpu(&s->gpu), 0);
  gather_as(s, "another epoch", t3_gpu(&s->gpu), t3_gpu(&s->gpu) == 0 ? 1 : 0);
  struct t3_matrix staging = s->out.matrix;
  odd = s->out;
  tell(s, "memory of another output", t3_matrix_malloc(&s->gpu, &odd.matrix));
  tell(s, "memory of the staging", t3_matrix_malloc(&s->gpu, &staging));
  (void)t3_barrier(&s->gpu);
  (void)t3_ring_reduce_scatter(&s->gpu, t3_gpu(&s->gpu) == 0 ? &odd : &s->out, &staging);
  tell(s, "another output", t3_wait_kernels(&s->gpu));
  gather(s, "the same again", &s->out);
}

/* Something else than its neighbour adds to a ring counter of the GPU, and takes it back afterwards. */
static void add_to_ring(struct stage* s, uint32_t gpu, uint64_t value) {
  const uint64_t address = t3_block_base(gpu, T3_BLOCK_SIGNALS) + T3_SIGNALS_ADD_OFFSET +
                           (uint64_t)T3_SIGNALS_ADD_STRIDE * (ring_signals + 1);
  (void)t3_barrier(&s->gpu);
  if (t3_gpu(&s->gpu) == 0) tell(s, "add", s->hal->write64(s->hal->platform, address, value));
}

static void change_counters_of(struct stage* s, uint32_t gpu) {
  gather(s, "before", &s->out);
  add_to_ring(s, gpu, 1);
  gather(s, "changed counters", &s->out);
  add_to_ring(s, gpu, UINT64_MAX);
  gather(s, "as before", &s->out);
}

static void changed_counters(struct stage* s) { change_counters_of(s, 0); }

static void changed_counters_of_its_neighbour(struct stage* s) { change_counters_of(s, t3_gpus(&s->gpu) - 1); }

/* Nothing is in step afterwards; all start again. */
static void start_anew(struct stage* s) {
  tell_errors(s);
  s->hal->wait_ns(s->hal->platform, 100000);
  tell(s, "reset", t3_reset(s->hal));
  tell(s, "init", t3_init(&s->gpu, s->hal));
  s->hal->wait_ns(s->hal->platform, 100000);
}

static void fewer_ring_workgroups(struct stage* s) {
  if (t3_gpu(&s->gpu) == 1) (void)t3_set_ring_workgroups(&s->gpu, 3);
  gather(s, "all-gather", &s->out);
  start_anew(s);
}

static void smaller_ring(struct stage* s) {
  struct t3_ring_all_gather_arguments packet = gather_arguments(s);
  if (t3_gpu(&s->gpu) == 1) --packet.gpus;
  (void)t3_barrier(&s->gpu);
  tell(s, "all-gather", submit_gather(s, &packet));
  start_anew(s);
}

static void other_ring_counters(struct stage* s) {
  struct t3_ring_all_gather_arguments packet = gather_arguments(s);
  if (t3_gpu(&s->gpu) == 0) packet.signal_base += t3_ring_workgroups(&s->gpu);
  (void)t3_barrier(&s->gpu);
  tell(s, "all-gather", submit_gather(s, &packet));
}

/* GPU 1 takes no updates while GPU 2, or 0 of two, sends it some. */
static void refused_ring_stores(struct stage* s) {
  const uint64_t control = t3_block_base(t3_gpu(&s->gpu), T3_BLOCK_NEAR_MEMORY) + T3_NEAR_MEMORY_CONTROL_OFFSET;
  for (uint32_t on = 0; on < 2; ++on) {
    if (t3_gpu(&s->gpu) == 1) (void)s->hal->write32(s->hal->platform, control, on);
    (void)t3_barrier(&s->gpu);
    (void)t3_ring_reduce_scatter(&s->gpu, &s->out, NULL);
    tell(s, on ? "taken" : "refused", t3_wait_kernels(&s->gpu));
    (void)t3_barrier(&s->gpu);
  }
}

enum t3_status guest_other_outputs_sent(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, other_outputs_sent);
}

enum t3_status guest_nameless_on_maps(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, nameless_on_maps);
}

enum t3_status guest_disagreeing_engines(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, disagreeing_engines);
}

enum t3_status guest_disagreeing_rings(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, disagreeing_rings);
}

enum t3_status guest_changed_counters(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, changed_counters);
}

enum t3_status guest_changed_counters_of_its_neighbour(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, changed_counters_of_its_neighbour);
}

enum t3_status guest_with_fewer_ring_workgroups(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, fewer_ring_workgroups);
}

enum t3_status guest_in_a_smaller_ring(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, smaller_ring);
}

enum t3_status guest_with_other_ring_counters(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, other_ring_counters);
}

enum t3_status guest_refused_ring_stores(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, refused_ring_stores);
}
