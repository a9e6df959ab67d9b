#include "driver_errors/misuse.h"

static const struct t3_dma_options two_updates = {.updates = 2, .block_tiles = 1};

static struct t3_chunk chunk(uint32_t first, uint32_t workgroups) {
  return (struct t3_chunk){.first_workgroup = first, .workgroups = workgroups};
}

static enum t3_status remote(struct stage* s, const struct t3_output* out, struct t3_chunk range, uint64_t peer) {
  return t3_remote_map(&s->gpu, out, range, peer, T3_UPDATE);
}

static enum t3_status by_dma(struct stage* s, const struct t3_output* out, struct t3_chunk range, uint64_t peer) {
  return t3_dma_map(&s->gpu, out, range, peer, T3_UPDATE, two_updates);
}

static void overlapping(struct stage* s) {
  tell(s, "remote_map 0 to 7", remote(s, &s->out, chunk(0, 8), s->peer_out));
  tell(s, "remote_map 7 to 10", remote(s, &s->out, chunk(7, 4), s->peer_out));
  tell(s, "remote_map 8 to 10", remote(s, &s->out, chunk(8, 3), s->peer_out));
  tell(s, "dma_map 16 to 31", by_dma(s, &s->out, chunk(16, 16), s->peer_out));
  tell(s, "dma_map 31 to 32", by_dma(s, &s->out, chunk(31, 2), s->peer_out));
  tell(s, "dma_map 0 to 63", by_dma(s, &s->out, chunk(0, 64), s->peer_out));
  tell(s, "dma_map 32 to 40", by_dma(s, &s->out, chunk(32, 9), s->peer_out));
  tell(s, "unmap", t3_remote_unmap_all(&s->gpu));
  /* They share no byte, but the rows of each lie between the other's. */
  struct t3_output left = s->out;
  left.matrix.columns /= 2;
  struct t3_output right = left;
  right.matrix.address += right.matrix.row_stride / 2;
  tell(s, "dma_map of the left half", by_dma(s, &left, chunk(0, 8), s->peer_out));
  tell(s, "dma_map of the right half", by_dma(s, &right, chunk(0, 8), s->peer_out));
}

static enum t3_status also(struct stage* s, const struct t3_output* out, uint64_t peer) {
  return t3_dma_map_also(&s->gpu, out, chunk(0, 8), peer);
}

static void further_destinations(struct stage* s) {
  const uint64_t bytes = s->out.matrix.row_stride * s->out.matrix.rows;
  struct t3_output other = s->out;
  other.tiling.wavefronts = s->out.tiling.wavefronts == 1 ? 2 : 1;
  tell(s, "dma_map", by_dma(s, &s->out, chunk(0, 8), s->peer_out));
  tell(s, "also where it goes already", also(s, &s->out, s->peer_out));
  tell(s, "also 32 bytes further", also(s, &s->out, s->peer_out + 32));
  const struct t3_call_error error = t3_last_error(&s->gpu);
  t3_hal_of(&s->gpu)->log(t3_hal_of(&s->gpu)->platform, error.argument);
  tell(s, "also with other wavefronts", also(s, &other, s->peer_out + bytes));
  tell(s, "also behind it", also(s, &s->out, s->peer_out + bytes));
  tell(s, "unmap", t3_remote_unmap_all(&s->gpu));
}

static void unaligned(struct stage* s) {
  struct t3_output shifted = s->out;
  shifted.matrix.address += 8;
  tell(s, "remote_map of a shifted output", remote(s, &shifted, chunk(0, 8), s->peer_out));
  tell(s, "remote_map to a shifted peer", remote(s, &s->out, chunk(0, 8), s->peer_out + 16));
  tell(s, "dma_map of a shifted output", by_dma(s, &shifted, chunk(0, 8), s->peer_out));
  tell(s, "dma_map to a shifted peer", by_dma(s, &s->out, chunk(0, 8), s->peer_out + 16));
  struct t3_output crooked = s->out;
  crooked.matrix.row_stride += 16;
  tell(s, "dma_map of rows at any distance", by_dma(s, &crooked, chunk(0, 8), s->peer_out));
  struct t3_matrix odd = s->out.matrix;
  odd.address += 4;
  tell(s, "fill of a shifted matrix", t3_fill_zero(&s->gpu, &odd));
  tell(s, "dma_map after all", by_dma(s, &s->out, chunk(0, 8), s->peer_out));
}

static void peers(struct stage* s) {
  const uint64_t nobody = t3_peer_address(&s->out.matrix, 7), myself = s->out.matrix.address;
  tell(s, "remote_map to GPU 7 of 2", remote(s, &s->out, chunk(0, 8), nobody));
  tell(s, "remote_map to myself", remote(s, &s->out, chunk(0, 8), myself));
  tell(s, "dma_map to GPU 7 of 2", by_dma(s, &s->out, chunk(0, 8), nobody));
  /* No address has room for such a number: it is not to become the peer's. */
  const uint64_t beyond = t3_peer_address(&s->out.matrix, (UINT32_C(1) << 20) + t3_ring_previous(&s->gpu));
  tell(s, "remote_map to GPU 1048577", remote(s, &s->out, chunk(0, 8), beyond));
  tell(s, "dma_map to GPU 1048577", by_dma(s, &s->out, chunk(0, 8), beyond));
  tell(s, "dma_map to myself", by_dma(s, &s->out, chunk(0, 8), myself));
  tell(s, "dma_map after all", by_dma(s, &s->out, chunk(0, 8), s->peer_out));
}

static void senseless(struct stage* s) {
  tell(s, "remote_map of no workgroup", remote(s, &s->out, chunk(0, 0), s->peer_out));
  tell(s, "dma_map of no workgroup", by_dma(s, &s->out, chunk(0, 0), s->peer_out));
  tell(s, "dma_map beyond the last workgroup", by_dma(s, &s->out, chunk(60, 5), s->peer_out));
  tell(s, "dma_map of no updates",
       t3_dma_map(&s->gpu, &s->out, chunk(0, 8), s->peer_out, T3_UPDATE,
                  (struct t3_dma_options){.updates = 0, .block_tiles = 1}));
  tell(s, "dma_map of 256 updates",
       t3_dma_map(&s->gpu, &s->out, chunk(0, 8), s->peer_out, T3_UPDATE,
                  (struct t3_dma_options){.updates = 256, .block_tiles = 1}));
  tell(s, "dma_map in blocks of 3 of 4 tiles",
       t3_dma_map(&s->gpu, &s->out, chunk(0, 8), s->peer_out, T3_UPDATE,
                  (struct t3_dma_options){.updates = 2, .block_tiles = 3}));
  struct t3_output elsewhere = s->out;
  elsewhere.matrix.address = t3_peer_address(&s->out.matrix, 1);
  tell(s, "remote_map of the peer's output", remote(s, &elsewhere, chunk(0, 8), s->peer_out));
  tell(s, "dma_map of the peer's output", by_dma(s, &elsewhere, chunk(0, 8), s->peer_out));
  tell(s, "dma_map after all", by_dma(s, &s->out, chunk(0, 8), s->peer_out));
}

/* Reports the first refusal. */
static void fill_table(struct stage* s, const char* what,
                       enum t3_status (*map)(struct stage*, const struct t3_output*, struct t3_chunk, uint64_t)) {
  enum t3_status status = T3_OK;
  uint32_t mapped = 0;
  while (mapped < 64 && (status = map(s, &s->out, chunk(mapped, 1), s->peer_out)) == T3_OK) ++mapped;
  tell(s, mapped == 32 ? what : "another number of maps", status);
}

static void more_than_fit(struct stage* s) {
  fill_table(s, "remote_map after 32", remote);
  fill_table(s, "dma_map after 32", by_dma);
  tell(s, "unmap", t3_remote_unmap_all(&s->gpu));
  tell(s, "remote_map after unmap", remote(s, &s->out, chunk(0, 1), s->peer_out));
  tell(s, "dma_map after unmap", by_dma(s, &s->out, chunk(1, 1), s->peer_out));
}

/* The Tracker of the test has 16 sets of 4 ways, and the stage's workgroups 4 wavefronts. */
static void larger_than_the_tracker(struct stage* s) {
  tell(s, "dma_map of 17 workgroups", by_dma(s, &s->out, chunk(0, 17), s->peer_out));
  tell(s, "dma_map of 8 workgroups", by_dma(s, &s->out, chunk(0, 8), s->peer_out));
  tell(s, "dma_map of 8 in the same sets", by_dma(s, &s->out, chunk(16, 8), s->peer_out));
  tell(s, "dma_map of 8 in the others", by_dma(s, &s->out, chunk(24, 8), s->peer_out));
}

static void billions(struct stage* s) {
  const struct t3_chunk all = chunk(0, UINT32_MAX), many = chunk(0, (1u << 20) + 1);
  tell(s, "remote_map of 2^32 - 1 workgroups", remote(s, &s->out, all, s->peer_out));
  tell(s, "dma_map of 2^32 - 1 workgroups", by_dma(s, &s->out, all, s->peer_out));
  tell(s, "remote_map of 2^20 + 1 workgroups", remote(s, &s->out, many, s->peer_out));
  struct t3_output fine = s->out;
  fine.tiling = (struct t3_tiling){.rows = 1, .columns = 1, .wavefronts = 1};
  tell(s, "dma_map of 2^20 + 1 workgroups of one element", by_dma(s, &fine, many, s->peer_out));
  fine.matrix.rows = fine.matrix.columns = 0xFFFF;
  tell(s, "dma_map of an output of nearly 2^32", by_dma(s, &fine, all, s->peer_out));
  fine.matrix.rows = fine.matrix.columns = 0xFFFFFFFF;
  tell(s, "dma_map of an output of nearly 2^64", by_dma(s, &fine, all, s->peer_out));
  tell(s, "dma_map after all", by_dma(s, &s->out, chunk(0, 8), s->peer_out));
}

enum t3_status guest_of_billions(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, billions);
}

enum t3_status guest_further_destinations(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, further_destinations);
}

enum t3_status guest_overlapping_maps(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, overlapping);
}

enum t3_status guest_unaligned_maps(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, unaligned);
}

enum t3_status guest_missing_peers(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, peers);
}

enum t3_status guest_senseless_maps(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, senseless);
}

enum t3_status guest_full_tables(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, more_than_fit);
}

enum t3_status guest_chunk_too_large(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, larger_than_the_tracker);
}
