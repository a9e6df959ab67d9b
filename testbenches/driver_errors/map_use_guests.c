/* Maps that kernels use in another way than they say, and maps that are removed while they are in use. */
#include <stddef.h>

#include "driver_errors/misuse.h"

static const struct t3_chunk all = {.first_workgroup = 0, .workgroups = 64},
                             half = {.first_workgroup = 32, .workgroups = 32};

/* out = a b into the stage's output, all of it zeroed before. */
static enum t3_status multiply(struct stage* s, const struct t3_output* out, bool update) {
  const struct t3_matrix* matrix = &out->matrix;
  static struct t3_matrix a, b;
  a = (struct t3_matrix){.rows = matrix->rows, .columns = 32, .element = matrix->element};
  b = (struct t3_matrix){.rows = 32, .columns = matrix->columns, .element = matrix->element};
  T3_TRY(t3_matrix_malloc(&s->gpu, &a));
  T3_TRY(t3_matrix_malloc(&s->gpu, &b));
  T3_TRY(t3_gemm(&s->gpu, out, &a, &b, (struct t3_gemm_options){.update = update}));
  T3_TRY(t3_free(&s->gpu, a.address));
  return t3_free(&s->gpu, b.address);
}

static enum t3_status map_notify(struct stage* s, const struct t3_output* out, struct t3_chunk chunk, uint32_t updates,
                                 enum t3_operation counted) {
  const struct t3_dma_options options = {.updates = updates, .block_tiles = 1, .counted = counted};
  return t3_dma_map(&s->gpu, out, chunk, 0, T3_NOTIFY, options);
}

/* Maps `mapped` and multiplies into `written`, the same memory. */
static void use_wrongly(struct stage* s, const char* what, const struct t3_output* mapped,
                        const struct t3_output* written, uint32_t updates, bool update) {
  tell(s, what, map_notify(s, mapped, all, updates, T3_UPDATE));
  tell(s, "gemm", multiply(s, written, update));
  tell(s, "wait_kernels", t3_wait_kernels(&s->gpu));
  tell(s, "wait_dma", t3_wait_dma(&s->gpu));
  tell(s, "force_unmap_all", t3_force_unmap_all(&s->gpu));
  tell_errors(s);
}

static void wrong_use(struct stage* s) {
  struct t3_output other = s->out;
  other.tiling.wavefronts = 8;
  use_wrongly(s, "8 wavefronts mapped", &other, &s->out, 1, true);
  other = s->out;
  other.matrix.element = s->out.matrix.element == T3_BF16 ? T3_FP16 : T3_BF16;
  use_wrongly(s, "another element type mapped", &other, &s->out, 1, true);
  use_wrongly(s, "updates mapped, stores come", &s->out, &s->out, 1, false);
  other = s->out;
  other.tiling.rows /= 2;
  use_wrongly(s, "other tiles mapped", &other, &s->out, 1, true);
}

/* What is stored in the cache has no tile's name: a peer's updates drop it, and a write-back undoes them. */
static void cached_on_maps(struct stage* s) {
  struct t3_output cached = s->out;
  cached.matrix.memory = T3_CACHED;
  tell(s, "dma_map", map_notify(s, &s->out, half, 1, T3_UPDATE));
  tell(s, "cached gemm", multiply(s, &cached, false));
  tell(s, "wait_kernels", t3_wait_kernels(&s->gpu));
  tell(s, "cached gemm that updates", multiply(s, &cached, true));
  tell(s, "wait_kernels", t3_wait_kernels(&s->gpu));
  tell(s, "wait_dma", t3_wait_dma(&s->gpu));
  tell(s, "cached gemm on the complete map", multiply(s, &cached, false));
  tell(s, "wait_kernels", t3_wait_kernels(&s->gpu));
  tell(s, "flush", t3_flush_cache(&s->gpu));
  tell(s, "unmap_all", t3_remote_unmap_all(&s->gpu));
  tell(s, "remote_map", t3_remote_map(&s->gpu, &s->out, half, s->peer_out, T3_STORE));
  tell(s, "cached gemm", multiply(s, &cached, false));
  tell(s, "wait_kernels", t3_wait_kernels(&s->gpu));
  tell(s, "unmap_all", t3_remote_unmap_all(&s->gpu));
  tell(s, "cached gemm before the map", multiply(s, &cached, false));
  tell(s, "wait_kernels", t3_wait_kernels(&s->gpu));
  tell(s, "dma_map", map_notify(s, &s->out, all, 1, T3_UPDATE));
  tell(s, "flush", t3_flush_cache(&s->gpu));
  tell(s, "wait_dma", t3_wait_dma(&s->gpu));
  tell(s, "force_unmap_all", t3_force_unmap_all(&s->gpu));
}

/* The first access that does not fit comes while the firmware sleeps. */
static void misfit_in_a_wait(struct stage* s) {
  struct t3_output other = s->out;
  other.tiling.wavefronts = 8;
  tell(s, "8 wavefronts mapped", map_notify(s, &other, all, 1, T3_UPDATE));
  tell(s, "gemm", multiply(s, &s->out, true));
  tell(s, "wait_dma", t3_wait_dma(&s->gpu));
  tell(s, "wait_kernels", t3_wait_kernels(&s->gpu));
  tell(s, "force_unmap_all", t3_force_unmap_all(&s->gpu));
}

static void too_many(struct stage* s) {
  tell(s, "1 update mapped", map_notify(s, &s->out, all, 1, T3_UPDATE));
  tell(s, "first gemm", multiply(s, &s->out, true));
  tell(s, "second gemm", multiply(s, &s->out, true));
  tell(s, "wait_kernels", t3_wait_kernels(&s->gpu));
  tell(s, "wait_dma", t3_wait_dma(&s->gpu));
  tell(s, "unmap_all", t3_remote_unmap_all(&s->gpu));
  tell(s, "unmap_all again", t3_remote_unmap_all(&s->gpu));
}

static void busy_maps(struct stage* s) {
  const struct t3_chunk rest = {.first_workgroup = 0, .workgroups = 32};
  tell(s, "dma_map of half", map_notify(s, &s->out, half, 1, T3_UPDATE));
  tell(s, "remote_map of the rest", t3_remote_map(&s->gpu, &s->out, rest, s->peer_out, T3_STORE));
  tell(s, "gemm", multiply(s, &s->out, true));
  s->hal->wait_ns(s->hal->platform, 3000); /* it has begun */
  tell(s, "unmap_all", t3_remote_unmap_all(&s->gpu));
  tell(s, "dma_unmap", t3_dma_unmap(&s->gpu, &s->out, half));
  tell(s, "remote_unmap", t3_remote_unmap(&s->gpu, &s->out, rest));
  tell(s, "wait_kernels", t3_wait_kernels(&s->gpu));
  tell(s, "wait_dma", t3_wait_dma(&s->gpu)); /* nothing that was refused has changed anything */
  tell(s, "remote_unmap of half", t3_remote_unmap(&s->gpu, &s->out, half));
  tell(s, "remote_unmap", t3_remote_unmap(&s->gpu, &s->out, rest));
  tell(s, "dma_unmap", t3_dma_unmap(&s->gpu, &s->out, half));
  tell(s, "dma_unmap again", t3_dma_unmap(&s->gpu, &s->out, half));
}

static enum t3_status tell_unmaps(struct stage* s, const char* what) {
  const struct t3_chunk rest = {.first_workgroup = 0, .workgroups = 32};
  tell(s, what, T3_OK);
  tell(s, "remote_unmap", t3_remote_unmap(&s->gpu, &s->out, rest));
  tell(s, "dma_unmap", t3_dma_unmap(&s->gpu, &s->out, half));
  return t3_wait_kernels(&s->gpu);
}

/* Behind a kernel that has nothing to do with the maps, in queue 0 or 1, and by itself. */
static void queued_on_maps(struct stage* s) {
  const struct t3_chunk rest = {.first_workgroup = 0, .workgroups = 32};
  struct t3_output beside = s->out;
  uint32_t queue = 0;
  tell(s, "memory beside", t3_matrix_malloc(&s->gpu, &beside.matrix));
  tell(s, "open_queue", t3_queue_create(&s->gpu, (struct t3_queue_options){0}, &queue));
  tell(s, "dma_map of half", map_notify(s, &s->out, half, 3, T3_UPDATE));
  tell(s, "remote_map of the rest", t3_remote_map(&s->gpu, &s->out, rest, s->peer_out, T3_STORE));
  for (uint32_t used = 0; used <= queue; ++used) {
    (void)t3_use_queue(&s->gpu, used);
    tell(s, "gemm beside", multiply(s, &beside, true));
    s->hal->wait_ns(s->hal->platform, 3000); /* it has begun */
    tell(s, "gemm", multiply(s, &s->out, true));
    (void)t3_use_queue(&s->gpu, 0);
    tell(s, "both", tell_unmaps(s, "queued behind another one"));
    (void)t3_use_queue(&s->gpu, used);
    tell(s, "both", t3_wait_kernels(&s->gpu));
  }
  tell(s, "gemm", multiply(s, &s->out, true));
  tell(s, "its end", tell_unmaps(s, "queued by itself"));
  tell(s, "wait_dma", t3_wait_dma(&s->gpu));
  tell(s, "gemm beside", multiply(s, &beside, true));
  s->hal->wait_ns(s->hal->platform, 3000);
  tell(s, "its end", tell_unmaps(s, "another one runs"));
}

/* Queues two kernels when the last tile has been sent, once. */
struct sender {
  struct stage* stage;
  const struct t3_output* beside;
  bool queues;
};

static void queue_two(struct t3_context* context, const struct t3_interrupt* interrupt, void* argument) {
  struct sender* sender = argument;
  (void)context, (void)interrupt;
  for (int i = 0; i < 2 && sender->queues; ++i)
    tell(sender->stage, "gemm", multiply(sender->stage, sender->beside, false));
  sender->queues = false;
}

/* Removals wait until the DMA engine has sent what it has, and meanwhile a handler queues kernels. */
static void queued_in_a_removal(struct stage* s) {
  const struct t3_dma_options options = {.updates = 1, .block_tiles = 1};
  struct t3_output beside = s->out;
  struct sender sender = {.stage = s, .beside = &beside};
  tell(s, "memory beside", t3_matrix_malloc(&s->gpu, &beside.matrix));
  tell(s, "handler", t3_set_handler(&s->gpu, T3_LINE_DMA, 1, queue_two, &sender));
  for (int all_maps = 0; all_maps < 2; ++all_maps) {
    tell(s, "dma_map of half", t3_dma_map(&s->gpu, &s->out, half, s->peer_out, T3_STORE, options));
    tell(s, "gemm", multiply(s, &s->out, false));
    tell(s, "its end", t3_wait_kernels(&s->gpu));
    sender.queues = true;
    for (int again = 0; again < 2; ++again) {
      tell(s, "removal", all_maps ? t3_remote_unmap_all(&s->gpu) : t3_dma_unmap(&s->gpu, &s->out, half));
      tell(s, "their end", t3_wait_kernels(&s->gpu));
    }
  }
}

static void given_up(struct stage* s) {
  tell(s, "2 updates mapped", map_notify(s, &s->out, all, 2, T3_UPDATE));
  tell(s, "gemm", multiply(s, &s->out, true));
  tell(s, "set_timeout", t3_set_timeout(&s->gpu, 200000));
  tell(s, "wait_dma", t3_wait_dma(&s->gpu));
  tell(s, "unmap_all", t3_remote_unmap_all(&s->gpu));
  tell(s, "abort_kernels", t3_abort_kernels(&s->gpu));
  tell(s, "force_unmap_all", t3_force_unmap_all(&s->gpu));
  tell(s, "late gemm", multiply(s, &s->out, true));
  tell(s, "wait_kernels", t3_wait_kernels(&s->gpu));
  tell(s, "1 update mapped", map_notify(s, &s->out, all, 1, T3_UPDATE));
  tell(s, "gemm", multiply(s, &s->out, true));
  tell(s, "wait_dma", t3_wait_dma(&s->gpu));
  tell(s, "wait_kernels", t3_wait_kernels(&s->gpu));
  tell(s, "unmap_all", t3_remote_unmap_all(&s->gpu));
}

static void counted_stores(struct stage* s) {
  tell(s, "stores mapped", map_notify(s, &s->out, all, 1, T3_STORE));
  tell(s, "gemm", multiply(s, &s->out, false));
  tell(s, "wait_dma", t3_wait_dma(&s->gpu));
  tell(s, "wait_kernels", t3_wait_kernels(&s->gpu));
  tell(s, "unmap_all", t3_remote_unmap_all(&s->gpu));
}

enum t3_status guest_maps_used_wrongly(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, wrong_use);
}

enum t3_status guest_cached_on_maps(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, cached_on_maps);
}

enum t3_status guest_misfit_in_a_wait(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, misfit_in_a_wait);
}

enum t3_status guest_too_many_updates(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, too_many);
}

enum t3_status guest_busy_maps(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, busy_maps);
}

enum t3_status guest_queued_on_maps(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, queued_on_maps);
}

enum t3_status guest_queued_in_a_removal(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, queued_in_a_removal);
}

enum t3_status guest_maps_given_up(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, given_up);
}

enum t3_status guest_counted_stores(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, counted_stores);
}
