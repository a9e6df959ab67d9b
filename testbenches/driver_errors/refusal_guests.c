#include "driver_errors/misuse.h"
#include "t3/registers/near_memory.h"

static const uint64_t memory_bytes = UINT64_C(1) << 30;

static struct t3_chunk chunk(uint32_t first, uint32_t count) { return (struct t3_chunk){first, count}; }

static enum t3_status remote(struct stage* s, const struct t3_output* out, uint64_t peer_out) {
  return t3_remote_map(&s->gpu, out, chunk(0, 8), peer_out, T3_UPDATE);
}

static enum t3_status by_dma(struct stage* s, const struct t3_output* out, uint64_t peer_out) {
  return t3_dma_map(&s->gpu, out, chunk(0, 8), peer_out, T3_UPDATE,
                    (struct t3_dma_options){.updates = 1, .block_tiles = 1});
}

static void beyond_memory(struct stage* s) {
  const uint64_t bytes = s->out.matrix.row_stride * s->out.matrix.rows;
  const uint32_t peer = t3_ring_previous(&s->gpu);
  struct t3_output out = s->out;
  const uint64_t too_far = t3_on_gpu(peer, memory_bytes - bytes + 32), just_fits = too_far - 32;
  tell(s, "remote_map 32 bytes beyond the peer's memory", remote(s, &out, too_far));
  tell(s, "dma_map 32 bytes beyond the peer's memory", by_dma(s, &out, too_far));
  out.matrix.address = t3_on_gpu(t3_gpu(&s->gpu), memory_bytes - bytes + 32);
  tell(s, "remote_map 32 bytes beyond my memory", remote(s, &out, s->peer_out));
  tell(s, "dma_map 32 bytes beyond my memory", by_dma(s, &out, s->peer_out));
  out.matrix.address = t3_on_gpu(t3_gpu(&s->gpu), 0) - 32;
  tell(s, "remote_map of an output that wraps around", remote(s, &out, s->peer_out));
  tell(s, "dma_map of an output that wraps around", by_dma(s, &out, s->peer_out));
  out = s->out;
  out.matrix.row_stride = UINT64_C(1) << 58;
  tell(s, "dma_map of rows 2^58 bytes apart", by_dma(s, &out, s->peer_out));
  tell(s, "fill 32 bytes beyond my memory",
       t3_fill_zero(&s->gpu, &(struct t3_matrix){.address = t3_on_gpu(t3_gpu(&s->gpu), memory_bytes - bytes + 32),
                                                 .rows = out.matrix.rows,
                                                 .columns = out.matrix.columns,
                                                 .row_stride = s->out.matrix.row_stride,
                                                 .element = out.matrix.element}));
  tell(s, "remote_map to the end of the peer's memory", remote(s, &s->out, just_fits));
}

static void refused(struct stage* s) {
  const struct t3_hal* hal = t3_hal_of(&s->gpu);
  const struct operands o = operands_of(s);
  hal->wait_ns(hal->platform, 10000); /* the peer has switched its updates off */
  tell(s, "remote_map", remote(s, &s->out, s->peer_out));
  tell(s, "gemm", t3_gemm(&s->gpu, &s->out, &o.a, &o.b, (struct t3_gemm_options){.update = false}));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
  tell_errors(s);
  tell(s, "unmap", t3_remote_unmap_all(&s->gpu));
  tell(s, "gemm to my own memory", t3_gemm(&s->gpu, &s->out, &o.a, &o.b, (struct t3_gemm_options){.update = false}));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
  tell(s, "dma_map", by_dma(s, &s->out, s->peer_out));
  tell(s, "gemm with updates", t3_gemm(&s->gpu, &s->out, &o.a, &o.b, (struct t3_gemm_options){.update = true}));
  tell(s, "its end", t3_wait_kernels(&s->gpu));
  tell(s, "the DMA's end", t3_wait_dma(&s->gpu));
}

static enum t3_status switch_updates(const struct t3_hal* hal, uint32_t gpu, uint32_t on) {
  return hal->write32(hal->platform, t3_block_base(gpu, T3_BLOCK_NEAR_MEMORY) + T3_NEAR_MEMORY_CONTROL_OFFSET, on);
}

enum t3_status guest_without_updates_at_first(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context context;
  T3_TRY(t3_init(&context, hal));
  T3_TRY(switch_updates(hal, t3_gpu(&context), 0));
  hal->wait_ns(hal->platform, 300000);
  T3_TRY(switch_updates(hal, t3_gpu(&context), 1));
  T3_TRY(t3_close(&context));
  return t3_run_fused(hal, run);
}

enum t3_status guest_beyond_memory(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, beyond_memory);
}

enum t3_status guest_refused_by_its_peer(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, refused);
}
