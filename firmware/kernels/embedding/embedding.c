/* Embedding pooling as PyTorch launches it: a kernel for each table, whose workgroups take samples in turn. Results go
 * to this GPU's buffer, or, zero-copy, to their owners' (GPU-initiated overlap, section 3.3). */
#include "t3/arguments/embedding.h"
#include "kernels/operands.h"
#include "pooling.h"
#include "t3/address.h"

enum { GPUS_MAX = 256, DIMENSION_MAX = 4096 };

static struct t3_pooling pooling_of(const struct t3_embedding_arguments* p) {
  return (struct t3_pooling){.embedding = {.global_batch = p->global_batch,
                                           .tables_per_gpu = p->tables_per_gpu,
                                           .dimension = p->dimension,
                                           .rows = p->rows,
                                           .pooling = p->pooling,
                                           .drawn = p->drawn != 0,
                                           .mean = p->mean != 0,
                                           .element = (enum t3_element)p->element,
                                           .seed = p->seed},
                             .tables = p->tables,
                             .indices = p->indices,
                             .offsets = p->offsets,
                             .gpu = p->gpu};
}

/* Where the result of a sample goes. */
static uint64_t result_address(const struct t3_embedding_arguments* p, const struct t3_embedding* e, uint32_t sample) {
  if (p->pooled != 0) return p->pooled + sample * t3_embedding_sample_bytes(e) + p->table * t3_embedding_row_bytes(e);
  return t3_on_gpu(t3_embedding_owner(e, sample, p->gpus), p->out) +
         t3_embedding_out_offset(e, sample, p->gpu, p->table, p->gpus);
}

static void run(struct t3_wave* wave) {
  const struct t3_embedding_arguments* p = wave->arguments;
  const struct t3_pooling pooling = pooling_of(p);
  const struct t3_embedding* e = &pooling.embedding;
  const uint32_t step = wave->workgroups * wave->waves;
  for (uint64_t sample = (uint64_t)wave->workgroup * wave->waves + wave->wave; sample < e->global_batch;
       sample += step) {
    t3_pool(wave, &pooling, p->table, (uint32_t)sample);
    t3_store(wave, t3_pooling_sum(e),
             (struct t3_access){.address = result_address(p, e, (uint32_t)sample),
                                .rows = 1,
                                .columns = e->dimension,
                                .element = e->element});
  }
  t3_drain(wave);
}

static bool check_numbers(struct t3_check* check, const struct t3_embedding_arguments* p) {
  if (p->gpus < 2 || p->gpus > GPUS_MAX)
    return t3_refuse(check, T3_BAD_PACKET, "gpus %u: 2 to %d expected", p->gpus, GPUS_MAX);
  if (p->gpu != check->gpu || p->gpu >= p->gpus)
    return t3_refuse(check, T3_BAD_PACKET, "gpu %u of %u: %u, this one, expected", p->gpu, p->gpus, check->gpu);
  if (p->element > T3_FP32)
    return t3_refuse(check, T3_BAD_PACKET, "element %u: 0 (fp16), 1 (bf16) or 2 (fp32) expected", p->element);
  if (p->dimension - 1 >= DIMENSION_MAX || p->pooling == 0 || p->pooling > T3_POOLING_MAX)
    return t3_refuse(check, T3_BAD_PACKET, "dimension %u, pooling %u: 1 to %d, 1 to %d expected", p->dimension,
                     p->pooling, DIMENSION_MAX, T3_POOLING_MAX);
  if (p->rows - 1 >= T3_ROWS_MAX || p->global_batch < p->gpus || p->global_batch > T3_ROWS_MAX)
    return t3_refuse(check, T3_BAD_PACKET, "rows %u, global_batch %u: 1 to %d, %u to %d expected", p->rows,
                     p->global_batch, T3_ROWS_MAX, p->gpus, T3_ROWS_MAX);
  if (p->table >= p->tables_per_gpu || p->tables_per_gpu > T3_ROWS_MAX)
    return t3_refuse(check, T3_BAD_PACKET, "table %u of tables_per_gpu %u: one of them, at most %d, expected", p->table,
                     p->tables_per_gpu, T3_ROWS_MAX);
  const struct t3_named_value switches[] = {{"drawn", p->drawn}, {"mean", p->mean}};
  return t3_check_switches(check, switches, 2);
}

/* Buffers of this GPU; of the last two one is not there. */
enum { TABLES, INDICES, OFFSETS, POOLED, OUT, BUFFERS };

static struct t3_matrices buffer(const char* name, uint64_t address, uint64_t bytes) {
  return (struct t3_matrices){name, address, 1, bytes, 0, 0, 1};
}

static void buffers_of(const struct t3_embedding_arguments* p, struct t3_matrices* all) {
  const struct t3_pooling pooling = pooling_of(p);
  const struct t3_embedding* e = &pooling.embedding;
  all[TABLES] = buffer("tables", p->tables, t3_embedding_table_bytes(e));
  all[INDICES] = buffer("indices", p->indices, t3_embedding_index_bytes(e));
  all[OFFSETS] = buffer("offsets", p->offsets, t3_embedding_offset_bytes(e));
  all[POOLED] = buffer("pooled", p->pooled, p->pooled == 0 ? 0 : t3_embedding_pooled_bytes(e));
  all[OUT] = buffer("out", p->out, p->pooled != 0 ? 0 : t3_embedding_out_bytes(e, p->gpu, p->gpus));
}

static bool check_buffers(struct t3_check* check, const struct t3_matrices* all) {
  const struct t3_matrices* written = &all[all[POOLED].row_bytes != 0 ? POOLED : OUT];
  for (const struct t3_matrices* m = all; m < all + BUFFERS; ++m) {
    if (m->row_bytes == 0 && m->address != 0)
      return t3_refuse(check, T3_BAD_PACKET, "%s " T3_HEX ": 0 expected, results go to pooled", m->name, m->address);
    if (t3_unaligned(m->address))
      return t3_refuse(check, T3_BAD_PACKET, "%s " T3_HEX ": a multiple of 32 expected", m->name, m->address);
    if (m->row_bytes != 0 && !t3_check_held(check, check->gpu, m->name, m->address, m->row_bytes)) return false;
    if (m < all + POOLED && !t3_check_overlap(check, written, m)) return false;
  }
  return true;
}

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_embedding_arguments* p = launch->arguments;
  if (!check_numbers(check, p)) return false;
  if (launch->workgroups == 0)
    return t3_refuse(check, T3_BAD_PACKET, "0 workgroups: 1 or more expected, whatever the batch");
  struct t3_matrices buffers[BUFFERS];
  buffers_of(p, buffers);
  if (!check_buffers(check, buffers)) return false;
  for (uint32_t i = 1; p->pooled == 0 && i < p->gpus; ++i) {
    const uint64_t peer = t3_on_gpu((p->gpu + i) % p->gpus, p->out);
    if (!check->reaches(check->cluster, peer))
      return t3_refuse(check, T3_NO_PEER, "GPU %" PRIu64 " of out " T3_HEX " cannot be reached", t3_gpu_of(peer), peer);
  }
  return true;
}

/* The first GPU has most of the samples. */
static struct t3_range sent_to(const struct t3_embedding_arguments* p) {
  const struct t3_pooling pooling = pooling_of(p);
  const uint64_t begin = p->out & T3_LOCAL_MASK;
  return (struct t3_range){begin, begin + t3_embedding_out_bytes(&pooling.embedding, 0, p->gpus)};
}

static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_embedding_arguments* p = launch->arguments;
  struct t3_matrices buffers[BUFFERS];
  buffers_of(p, buffers);
  const bool zero_copy = p->pooled == 0;
  struct t3_plan plan = {.name = zero_copy ? "zero-copy pooling" : "pooling",
                         .workgroups = launch->workgroups,
                         .workgroups_per_cu = device->gather_workgroups_per_cu,
                         .register_bytes = device->register_bytes / device->gather_workgroups_per_cu,
                         .waves = t3_pooling_waves(p->dimension),
                         .tiles = t3_pooling_tiles(device),
                         .written = {t3_range_of(&buffers[zero_copy ? OUT : POOLED])},
                         .written_count = 1,
                         .awaits_arrivals = zero_copy,
                         .stores_here = true};
  for (uint32_t i = TABLES; i <= OFFSETS; ++i) plan.read[plan.read_count++] = t3_range_of(&buffers[i]);
  if (zero_copy) plan.sent[plan.sent_count++] = sent_to(p);
  return plan;
}

const struct t3_kernel t3_embedding_kernel = {.name = "embedding",
                                              .arguments = T3_EMBEDDING_ARGUMENTS,
                                              .reads = "pooling_read",
                                              .writes = "pooling_write",
                                              .check = check,
                                              .plan = plan,
                                              .run = run};
