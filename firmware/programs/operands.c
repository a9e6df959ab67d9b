#include "operands.h"

#include <string.h>

#include "t3/address.h"
#include "t3/registers/signals.h"

enum t3_status t3_set_up(struct t3_context* context, const struct t3_hal* hal, const struct t3_job* job) {
  T3_TRY(t3_init(context, hal));
  if (job->ring_workgroups != 0) T3_TRY(t3_set_ring_workgroups(context, job->ring_workgroups));
  return t3_set_arbitration(context, job->arbitration, job->arbitration_limit);
}

void t3_publish(const struct t3_context* context, const char* name, const struct t3_matrix* matrix) {
  const struct t3_buffer buffer = {.name = name,
                                   .address = matrix->address,
                                   .row_stride = matrix->row_stride,
                                   .rows = matrix->rows,
                                   .columns = matrix->columns,
                                   .element = (uint32_t)matrix->element};
  t3_hal_of(context)->publish(t3_hal_of(context)->platform, &buffer);
}

void t3_publish_rows(const struct t3_context* context, const char* name, uint64_t address, uint64_t rows,
                     uint64_t columns, enum t3_element element) {
  const struct t3_matrix matrix = {.address = address,
                                   .row_stride = columns * t3_element_bytes(element),
                                   .rows = (uint32_t)rows,
                                   .columns = (uint32_t)columns,
                                   .element = element};
  t3_publish(context, name, &matrix);
}

void t3_number_name(char* name, uint32_t number) {
  char* end = name + strlen(name);
  for (uint32_t digit = 1; digit <= 3; ++digit, number /= 10) end[-(int)digit] = (char)('0' + number % 10);
}

uint32_t t3_first_counter(const struct t3_context* context, uint32_t of_each_workgroup) {
  return T3_SIGNALS_VALUE_COUNT - of_each_workgroup * t3_ring_workgroups(context);
}

enum t3_status t3_read_epoch(const struct t3_context* context, uint32_t counter, uint64_t* epoch) {
  const uint64_t values = t3_block_base(t3_gpu(context), T3_BLOCK_SIGNALS) + T3_SIGNALS_VALUE_OFFSET;
  return t3_hal_of(context)->read64(t3_hal_of(context)->platform, values + (uint64_t)T3_SIGNALS_VALUE_STRIDE * counter,
                                    epoch);
}

enum t3_status t3_run_phase(struct t3_context* context, const char* phase, const char* kernel, const void* arguments,
                            uint32_t bytes, uint32_t workgroups) {
  t3_begin(context, phase);
  T3_TRY(t3_run_kernel(context, kernel, arguments, bytes, (struct t3_kernel_options){.workgroups = workgroups}));
  T3_TRY(t3_wait_kernels(context));
  t3_end(context, phase);
  return T3_OK;
}

enum t3_status t3_allocate(struct t3_context* context, const struct t3_job* job, enum t3_memory_kind out_memory,
                           struct t3_operands* operands) {
  const enum t3_element element = job->element;
  operands->a = (struct t3_matrix){.rows = job->m, .columns = job->k, .element = element};
  operands->b = (struct t3_matrix){
      .rows = job->transpose_b ? job->n : job->k, .columns = job->transpose_b ? job->k : job->n, .element = element};
  operands->out = (struct t3_output){
      .matrix = {.rows = job->m, .columns = job->n, .element = element, .memory = out_memory}, .tiling = job->tiling};
  T3_TRY(t3_matrix_malloc(context, &operands->a));
  T3_TRY(t3_matrix_malloc(context, &operands->b));
  struct t3_matrix* out = &operands->out.matrix;
  out->rows *= t3_fused_slabs(job->fused, t3_gpus(context));
  T3_TRY(t3_matrix_malloc(context, out));
  t3_publish(context, "a", &operands->a);
  t3_publish(context, "b", &operands->b);
  t3_publish(context, "out", out);
  if (out->rows != job->m) out->address += t3_gpu(context) * job->m * out->row_stride;
  out->rows = job->m;
  return T3_OK;
}

enum t3_status t3_write_zeros(struct t3_context* context, uint64_t address, uint64_t bytes) {
  static const unsigned char zeros[4096];
  for (uint64_t at = 0; at < bytes; at += sizeof zeros)
    T3_TRY(t3_hal_of(context)->write_memory(t3_hal_of(context)->platform, address + at, zeros,
                                            t3_at_most(bytes - at, sizeof zeros)));
  t3_hal_of(context)->order_writes(t3_hal_of(context)->platform);
  return T3_OK;
}

enum t3_status t3_hand_over(struct t3_context* context) {
  t3_begin(context, "hand_over");
  T3_TRY(t3_flush_cache(context));
  t3_end(context, "hand_over");
  return T3_OK;
}

enum t3_status t3_gather_all(struct t3_context* context, const struct t3_job* job, const struct t3_output* out) {
  if (job->arbitration_ends) T3_TRY(t3_set_arbitration(context, T3_ROUND_ROBIN, 0));
  t3_begin(context, "all_gather");
  T3_TRY(t3_ring_all_gather(context, out));
  T3_TRY(t3_wait_kernels(context));
  t3_end(context, "all_gather");
  return T3_OK;
}

struct t3_gemm_options t3_gemm_options_of(const struct t3_job* job) {
  return (struct t3_gemm_options){.transpose_b = job->transpose_b, .max_compute_units = job->max_compute_units};
}
