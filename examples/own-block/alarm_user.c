/* Sets the alarm of the block in the window plugin_0, and waits for its interrupt. */
#include "t3/address.h"
#include "t3/exports.h"
#include "t3/registers/alarm.h"
#include "t3/registers/interrupt_controller.h"

static enum t3_status wait_for_alarm(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run; /* the run file's workload, when it has one */
  void* const p = hal->platform;
  const uint64_t alarm = t3_block_base(hal->gpu, T3_BLOCK_PLUGIN_0);
  const uint64_t controller = t3_block_base(hal->gpu, T3_BLOCK_INTERRUPT_CONTROLLER);
  const uint64_t wait_ns = 5000;

  uint64_t begin = 0, end = 0;
  T3_TRY(hal->write32(p, controller + T3_INTERRUPT_CONTROLLER_ENABLE_OFFSET, UINT32_C(1) << T3_LINE_PLUGIN_0));
  T3_TRY(hal->read64(p, alarm + T3_ALARM_TIME_NS_OFFSET, &begin));
  T3_TRY(hal->write64(p, alarm + T3_ALARM_DUE_NS_OFFSET, begin + wait_ns));
  T3_TRY(hal->wait_for_interrupt(p, UINT64_MAX, "the alarm"));
  T3_TRY(hal->read64(p, alarm + T3_ALARM_TIME_NS_OFFSET, &end));
  T3_TRY(hal->write32(p, alarm + T3_ALARM_INTERRUPT_OFFSET, T3_ALARM_INTERRUPT_EXPIRED_MASK));

  uint32_t pending = 0; /* the line is low again */
  T3_TRY(hal->read32(p, controller + T3_INTERRUPT_CONTROLLER_PENDING_OFFSET, &pending));
  const bool is_right = pending == 0 && end >= begin + wait_ns && end < begin + 2 * wait_ns;
  return is_right ? T3_OK : T3_BAD_VALUE;
}

static const struct t3_named_program programs[] = {{"wait", wait_for_alarm}, {NULL, NULL}};

const struct t3_export_table t3_exports = {
    .version = T3_EXPORTS_VERSION, .layout = T3_EXPORTS_LAYOUT, .name = "alarm_user", .programs = programs};
