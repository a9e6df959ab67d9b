/* The backward pass of a table and the step of its optimizer in one kernel, as GPU-initiated overlap, section 5, says
 * of Neo: no gradient of a row is ever stored. There is a kernel for each table, whose workgroups take samples
 * round-robin. */
#include "t3/arguments/embedding_update.h"

#include "pooling.h"

static void run(struct t3_wave* wave) {
  const struct t3_embedding_update_arguments* p = wave->arguments;
  const struct t3_pooling pooling = T3_POOLING_OF(p);
  const struct t3_embedding* e = &pooling.embedding;
  const uint64_t step = (uint64_t)wave->workgroups * wave->waves, column = p->table * t3_embedding_row_bytes(e);
  for (uint64_t sample = (uint64_t)wave->workgroup * wave->waves + wave->wave; sample < e->global_batch; sample += step)
    t3_update_bag(wave, &pooling, p->table, (uint32_t)sample,
                  p->gradients + sample * t3_embedding_sample_bytes(e) + column, p->rate);
}

static struct t3_matrices gradients_of(const struct t3_embedding_update_arguments* p) {
  const struct t3_pooling pooling = T3_POOLING_OF(p);
  return t3_piece("gradients", p->gradients, t3_embedding_pooled_bytes(&pooling.embedding));
}

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_embedding_update_arguments* p = launch->arguments;
  const struct t3_pooling pooling = T3_POOLING_OF(p);
  const struct t3_matrices gradients = gradients_of(p);
  const struct t3_named_value switches[] = {{"drawn", p->drawn}, {"mean", p->mean}};
  if (!t3_check_switches(check, switches, 2) || !t3_check_table(check, &pooling, p->gpus, p->table, launch->workgroups))
    return false;
  return t3_check_update(check, &pooling, &gradients);
}

static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_embedding_update_arguments* p = launch->arguments;
  const struct t3_pooling pooling = T3_POOLING_OF(p);
  const struct t3_matrices gradients = gradients_of(p);
  struct t3_plan plan = {
      .name = "embedding update",
      .workgroups = launch->workgroups,
      .workgroups_per_cu = device->kernels.embedding.workgroups_per_cu,
      .register_bytes = t3_pooling_registers(device->register_bytes, device->kernels.embedding.workgroups_per_cu),
      .waves = t3_pooling_waves(p->dimension),
      .tiles = T3_POOLING_UPDATE_TILES,
      .read = {t3_range_of(&gradients)},
      .read_count = 1,
      .stores_here = true};
  t3_plan_update(&plan, &pooling);
  return plan;
}

const struct t3_kernel t3_embedding_update_kernel = {.name = "embedding_update",
                                                     .arguments = T3_EMBEDDING_UPDATE_ARGUMENTS,
                                                     .reads = "update_read",
                                                     .writes = "update_write",
                                                     .check = check,
                                                     .plan = plan,
                                                     .run = run};
