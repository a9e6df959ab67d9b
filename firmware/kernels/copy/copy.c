/* Copies bytes, or fills memory with a word. Each wave takes the workgroup's blocks one after the other. */
#include <string.h>

#include "kernels/operands.h"
#include "t3/arguments/copy.h"

enum { WORD_BYTES = 4 };

/* The next of its blocks, for the waves of a workgroup. */
struct share {
  uint64_t next;
};

struct filling {
  uint32_t pattern, words;
};

static uint64_t block_count(const struct t3_device* device, const struct t3_copy_arguments* p) {
  const uint64_t each = device->kernels.ring.block_bytes;
  return (p->bytes + each - 1) / each;
}

static bool is_fill(const struct t3_copy_arguments* p) { return p->operation == T3_COPY_ARGUMENTS_OPERATION_FILL; }

/* The bits of the word as an fp32: nothing is computed with it. */
static void put_words(const void* argument, float* const* operands) {
  const struct filling* filling = argument;
  for (uint32_t i = 0; i < filling->words; ++i) memcpy(&operands[0][i], &filling->pattern, WORD_BYTES);
}

static void fill_tile(struct t3_wave* wave, struct t3_tile tile) {
  const struct t3_copy_arguments* p = wave->arguments;
  const struct filling filling = {p->pattern, tile.columns};
  struct t3_vector_work work = {.operands = 1, .compute = put_words, .argument = &filling};
  work.tiles[0] = tile;
  t3_work(wave, &work);
}

static void move(struct t3_wave* wave, uint64_t block) {
  const struct t3_copy_arguments* p = wave->arguments;
  const uint64_t each = wave->device->kernels.ring.block_bytes, offset = block * each, left = p->bytes - offset;
  const uint32_t words = (uint32_t)((left < each ? left : each) / WORD_BYTES);
  const struct t3_tile tile = {.rows = 1, .columns = words, .element = T3_FP32};
  struct t3_access access = {.rows = 1, .columns = words, .element = T3_FP32, .at_once = !is_fill(p)};
  access.stride = (uint64_t)words * WORD_BYTES;
  access.address = p->from + offset;
  if (is_fill(p))
    fill_tile(wave, tile);
  else
    t3_load(wave, tile, access);
  access.address = p->to + offset;
  t3_store(wave, tile, access);
  t3_fence(wave);
}

static void run(struct t3_wave* wave) {
  struct share* share = wave->local;
  const uint64_t blocks = block_count(wave->device, wave->arguments);
  for (;;) {
    const uint64_t block = share->next++ * wave->workgroups + wave->workgroup;
    if (block >= blocks) return;
    move(wave, block);
  }
}

/* A piece here, or in a peer's memory that can be reached. */
static bool check_end(struct t3_check* check, const struct t3_matrices* piece) {
  if (t3_gpu_of(piece->address) == check->gpu) return t3_check_piece(check, piece);
  if (t3_unaligned(piece->address))
    return t3_refuse(check, T3_BAD_PACKET, "%s " T3_HEX ": a multiple of 32 expected", piece->name, piece->address);
  if (!check->reaches(check->cluster, piece->address))
    return t3_refuse(check, T3_NO_PEER, "GPU %" PRIu64 " of %s " T3_HEX " cannot be reached", t3_gpu_of(piece->address),
                     piece->name, piece->address);
  return t3_check_held(check, t3_gpu_of(piece->address), piece->name, piece->address, piece->row_bytes);
}

static struct t3_matrices written_of(const struct t3_copy_arguments* p) { return t3_piece("to", p->to, p->bytes); }
static struct t3_matrices read_of(const struct t3_copy_arguments* p) { return t3_piece("from", p->from, p->bytes); }

static bool check_fill(struct t3_check* check, const struct t3_copy_arguments* p) {
  const struct t3_matrices written = written_of(p);
  const struct t3_named_value unused[] = {{"from", p->from}};
  return t3_check_unused(check, unused, 1) && t3_check_piece(check, &written);
}

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_copy_arguments* p = launch->arguments;
  if (p->operation > T3_COPY_ARGUMENTS_OPERATION_FILL)
    return t3_refuse(check, T3_BAD_PACKET, "operation %u: 0 (copy) or 1 (fill) expected", p->operation);
  if (p->bytes == 0 || p->bytes % WORD_BYTES != 0)
    return t3_refuse(check, T3_BAD_PACKET, "bytes %" PRIu64 ": a multiple of %d above 0 expected", p->bytes,
                     WORD_BYTES);
  if (p->gpu != check->gpu)
    return t3_refuse(check, T3_BAD_PACKET, "gpu %u: %u, this one, expected", p->gpu, check->gpu);
  if (is_fill(p)) return check_fill(check, p);
  const struct t3_matrices written = written_of(p), read = read_of(p);
  const struct t3_named_value unused[] = {{"pattern", p->pattern}};
  if (!t3_check_unused(check, unused, 1) || !check_end(check, &written) || !check_end(check, &read)) return false;
  if (t3_gpu_of(p->to) != check->gpu && t3_gpu_of(p->from) != check->gpu)
    return t3_refuse(check, T3_BAD_PACKET, "to " T3_HEX " and from " T3_HEX ": one in the memory of GPU %u expected",
                     p->to, p->from, check->gpu);
  return t3_check_overlap(check, &written, &read);
}

/* As many workgroups as run at once. */
static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_copy_arguments* p = launch->arguments;
  const uint64_t blocks = block_count(device, p);
  const uint64_t most = (uint64_t)launch->compute_units * device->kernels.ring.workgroups_per_cu;
  const struct t3_matrices written = written_of(p), read = read_of(p);
  const bool sends = t3_gpu_of(p->to) != p->gpu, fetches = !is_fill(p) && t3_gpu_of(p->from) != p->gpu;
  return (struct t3_plan){.name = is_fill(p) ? "fill" : "copy",
                          .workgroups = (uint32_t)(blocks < most ? blocks : most),
                          .workgroups_per_cu = device->kernels.ring.workgroups_per_cu,
                          .register_bytes = device->kernels.ring.block_bytes * device->kernels.ring.blocks_in_flight,
                          .waves = device->kernels.ring.blocks_in_flight,
                          .tiles = 1,
                          .local_bytes = sizeof(struct share),
                          .written = {t3_range_of(&written)},
                          .written_count = sends ? 0 : 1,
                          .read = {t3_range_of(&read)},
                          .read_count = is_fill(p) || fetches ? 0 : 1,
                          .sent = {t3_local_range(written)},
                          .sent_count = sends ? 1 : 0,
                          .fetched = {t3_local_range(read)},
                          .fetched_count = fetches ? 1 : 0,
                          .stores_here = !sends};
}

const struct t3_kernel t3_copy_kernel = {.name = "copy",
                                         .arguments = T3_COPY_ARGUMENTS,
                                         .reads = "gemm_read",
                                         .writes = "gemm_write",
                                         .check = check,
                                         .plan = plan,
                                         .run = run};
