#include "workloads/shared/program_steps.h"

#include <string.h>

#include "t3/address.h"
#include "t3/element_bytes.h"
#include "t3/registers/signals.h"

enum t3_status t3_set_up(struct t3_context* context, const struct t3_hal* hal, const struct t3_run* run) {
  T3_TRY(t3_init(context, hal));
  if (run->ring_workgroups != 0) T3_TRY(t3_set_ring_workgroups(context, run->ring_workgroups));
  return t3_set_arbitration(context, (enum t3_arbitration)run->arbitration, run->arbitration_limit);
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
