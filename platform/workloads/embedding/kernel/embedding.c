/* Embedding pooling as PyTorch launches it: a kernel for each table, whose workgroups take samples round-robin. Results
 * go to this GPU's buffer, or, zero-copy, to their owners' (GPU-initiated overlap, section 3.3). */
#include "t3/arguments/embedding.h"
#include "pooling.h"
#include "t3/address.h"

/* Returns the address for the result of a sample. */
static uint64_t result_address(const struct t3_embedding_arguments* p, const struct t3_embedding* e, uint32_t sample) {
  if (p->pooled != 0) return p->pooled + sample * t3_embedding_sample_bytes(e) + p->table * t3_embedding_row_bytes(e);
  return t3_on_gpu(t3_embedding_owner(e, sample, p->gpus), p->out) +
         t3_embedding_out_offset(e, sample, p->gpu, p->table, p->gpus);
}

static void run(struct t3_wave* wave) {
  const struct t3_embedding_arguments* p = wave->arguments;
  const struct t3_pooling pooling = T3_POOLING_OF(p);
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
  t3_fence(wave);
}

/* Returns the buffer that results are written to. */
static struct t3_matrices written_of(const struct t3_embedding_arguments* p) {
  const struct t3_pooling pooling = T3_POOLING_OF(p);
  const struct t3_embedding* e = &pooling.embedding;
  if (p->pooled != 0) return t3_piece("pooled", p->pooled, t3_embedding_pooled_bytes(e));
  return t3_piece("out", p->out, t3_embedding_out_bytes(e, p->gpu, p->gpus));
}

static bool check_written(struct t3_check* check, const struct t3_embedding_arguments* p) {
  const struct t3_matrices written = written_of(p);
  const struct t3_pooling pooling = T3_POOLING_OF(p);
  if (p->pooled != 0 && p->out != 0)
    return t3_refuse(check, T3_BAD_PACKET, "out " T3_HEX ": 0 expected, results go to pooled", p->out);
  if (t3_unaligned(written.address))
    return t3_refuse(check, T3_BAD_PACKET, "%s " T3_HEX ": a multiple of 32 expected", written.name, written.address);
  return t3_check_held(check, check->gpu, written.name, written.address, written.row_bytes) &&
         t3_check_pooling_beside(check, &pooling, &written);
}

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_embedding_arguments* p = launch->arguments;
  const struct t3_pooling pooling = T3_POOLING_OF(p);
  const struct t3_named_value switches[] = {{"drawn", p->drawn}, {"mean", p->mean}};
  if (!t3_check_switches(check, switches, 2) || !t3_check_table(check, &pooling, p->gpus, p->table, launch->workgroups))
    return false;
  return check_written(check, p) && (p->pooled != 0 || t3_check_reach(check, p->gpu, p->gpus, "out", p->out));
}

/* The first GPU has most of the samples. */
static struct t3_range sent_to(const struct t3_embedding_arguments* p) {
  const struct t3_pooling pooling = T3_POOLING_OF(p);
  const uint64_t begin = p->out & T3_LOCAL_MASK;
  return (struct t3_range){begin, begin + t3_embedding_out_bytes(&pooling.embedding, 0, p->gpus)};
}

static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_embedding_arguments* p = launch->arguments;
  const struct t3_pooling pooling = T3_POOLING_OF(p);
  const struct t3_matrices written = written_of(p);
  const bool zero_copy = p->pooled == 0;
  struct t3_plan plan = {
      .name = zero_copy ? "zero-copy pooling" : "pooling",
      .workgroups = launch->workgroups,
      .workgroups_per_cu = device->kernels.embedding.workgroups_per_cu,
      .register_bytes = t3_pooling_registers(device->register_bytes, device->kernels.embedding.workgroups_per_cu),
      .waves = t3_pooling_waves(p->dimension),
      .tiles = t3_pooling_tiles(device),
      .written = {t3_range_of(&written)},
      .written_count = 1,
      .awaits_arrivals = zero_copy,
      .stores_here = true};
  t3_plan_pooling(&plan, &pooling);
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
