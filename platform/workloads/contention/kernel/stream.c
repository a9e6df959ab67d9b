/* A kernel that keeps memory busy: each workgroup takes pieces of 64 KiB, and its waves their blocks, one after the
 * other. Until the flag is set, a wave of its own polls for all. */
#include "t3/arguments/stream.h"
#include "kernels/operands.h"
#include "workloads/contention/stream_layout.h"

enum { WORD_BYTES = 4, WORDS = T3_STREAM_BLOCK_BYTES / WORD_BYTES };

/* The waves of a workgroup share it. */
struct share {
  uint64_t next; /* block */
  uint32_t stop;
};

static bool is_kind(const struct t3_stream_arguments* p, uint8_t kind) { return p->kind == kind; }
static bool reads(const struct t3_stream_arguments* p) {
  return is_kind(p, T3_STREAM_ARGUMENTS_KIND_READ) || is_kind(p, T3_STREAM_ARGUMENTS_KIND_COPY);
}
static bool writes(const struct t3_stream_arguments* p) { return !is_kind(p, T3_STREAM_ARGUMENTS_KIND_READ); }
static bool polls(const struct t3_stream_arguments* p) { return p->bytes == 0; }

static void poll(struct t3_wave* wave) {
  const struct t3_stream_arguments* p = wave->arguments;
  struct share* share = wave->local;
  (void)t3_wait_value(wave, (struct t3_condition){
                                .address = p->flag, .bytes = 1, .comparison = T3_EQUAL, .mask = UINT8_MAX, .value = 1});
  share->stop = 1;
}

static void put_zeros(const void* argument, float* const* operands) {
  (void)argument;
  for (uint32_t i = 0; i < WORDS; ++i) operands[0][i] = 0;
}

static struct t3_tile block_tile(void) { return (struct t3_tile){.rows = 1, .columns = WORDS, .element = T3_FP32}; }

static void move(struct t3_wave* wave, uint64_t offset) {
  const struct t3_stream_arguments* p = wave->arguments;
  const struct t3_tile tile = block_tile();
  struct t3_access access = {
      .stride = T3_STREAM_BLOCK_BYTES, .rows = 1, .columns = WORDS, .element = T3_FP32, .at_once = reads(p)};
  if (reads(p)) {
    access.address = p->from + offset;
    t3_load(wave, tile, access);
  }
  access.address = p->to + offset;
  if (is_kind(p, T3_STREAM_ARGUMENTS_KIND_UPDATE))
    t3_update(wave, tile, access);
  else if (writes(p))
    t3_store(wave, tile, access);
  else
    t3_wait_tile(wave, tile);
  if (writes(p)) t3_fence(wave);
}

/* Pieces go round-robin over the workgroups, and begin again at the end of the memory. */
static uint64_t offset_of(const struct t3_wave* wave, uint64_t block) {
  const struct t3_stream_arguments* p = wave->arguments;
  const uint64_t in_piece = T3_STREAM_PIECE_BYTES / T3_STREAM_BLOCK_BYTES,
                 pieces = p->footprint / T3_STREAM_PIECE_BYTES;
  const uint64_t piece = (block / in_piece * wave->workgroups + wave->workgroup) % pieces;
  return piece * T3_STREAM_PIECE_BYTES + block % in_piece * T3_STREAM_BLOCK_BYTES;
}

static void run(struct t3_wave* wave) {
  const struct t3_stream_arguments* p = wave->arguments;
  struct share* share = wave->local;
  if (wave->wave == p->waves) {
    poll(wave);
    return;
  }
  t3_trace_span(wave, "stream", T3_NO_TILE);
  if (!reads(p)) {
    struct t3_vector_work work = {.operands = 1, .compute = put_zeros};
    work.tiles[0] = block_tile();
    t3_work(wave, &work);
  }
  while (polls(p) ? share->stop == 0 : share->next < p->bytes / T3_STREAM_BLOCK_BYTES)
    move(wave, offset_of(wave, share->next++));
}

enum { FROM, TO, FLAG, OPERANDS };

static void operands_of(const struct t3_stream_arguments* p, struct t3_matrices* all) {
  all[FROM] = t3_piece("from", p->from, p->footprint);
  all[TO] = t3_piece("to", p->to, p->footprint);
  all[FLAG] = t3_piece("flag", p->flag, T3_STREAM_FLAG_BYTES);
}

static bool check_sizes(struct t3_check* check, const struct t3_stream_arguments* p) {
  enum { WAVES_MAX = 1024 };
  if (p->kind > T3_STREAM_ARGUMENTS_KIND_UPDATE || p->waves - 1 >= WAVES_MAX)
    return t3_refuse(check, T3_BAD_PACKET, "kind %u, waves %u: at most %u, 1 to %d expected", p->kind, p->waves,
                     T3_STREAM_ARGUMENTS_KIND_UPDATE, WAVES_MAX);
  if (p->footprint == 0 || p->footprint % T3_STREAM_PIECE_BYTES != 0 || p->bytes % T3_STREAM_BLOCK_BYTES != 0)
    return t3_refuse(check, T3_BAD_PACKET, "footprint %" PRIu64 ", bytes %" PRIu64 ": multiples of %d and %d expected",
                     p->footprint, p->bytes, T3_STREAM_PIECE_BYTES, T3_STREAM_BLOCK_BYTES);
  return true;
}

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_stream_arguments* p = launch->arguments;
  struct t3_matrices all[OPERANDS];
  const struct t3_named_value from[] = {{"from", p->from}}, to[] = {{"to", p->to}};
  operands_of(p, all);
  if (!check_sizes(check, p) || !t3_check_piece(check, &all[FLAG])) return false;
  if (!(reads(p) ? t3_check_piece(check, &all[FROM]) : t3_check_unused(check, from, 1))) return false;
  if (!(writes(p) ? t3_check_piece(check, &all[TO]) : t3_check_unused(check, to, 1))) return false;
  return !reads(p) || !writes(p) || t3_check_overlap(check, &all[TO], &all[FROM]);
}

/* A workgroup on each compute unit. A plan that writes nothing here has to name a range that it sends: the flag's. */
static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_stream_arguments* p = launch->arguments;
  struct t3_matrices all[OPERANDS];
  operands_of(p, all);
  (void)device;
  return (struct t3_plan){.name = "stream",
                          .workgroups = launch->compute_units,
                          .workgroups_per_cu = 1,
                          .register_bytes = p->waves * T3_STREAM_BLOCK_BYTES,
                          .waves = p->waves + (polls(p) ? 1 : 0),
                          .tiles = 1,
                          .local_bytes = sizeof(struct share),
                          .written = {t3_range_of(&all[TO])},
                          .written_count = writes(p),
                          .read = {t3_range_of(&all[FROM])},
                          .read_count = reads(p),
                          .sent = {t3_local_range(all[FLAG])},
                          .sent_count = writes(p) ? 0 : 1,
                          .shared = {t3_local_range(all[FLAG])},
                          .shared_count = 1,
                          .stores_here = writes(p)};
}

const struct t3_kernel t3_stream_kernel = {.name = "stream",
                                           .arguments = T3_STREAM_ARGUMENTS,
                                           .reads = "stream_read",
                                           .writes = "stream_write",
                                           .check = check,
                                           .plan = plan,
                                           .run = run};
