/* The parts of a kernel that does nothing, for libraries that are about something else. */
#ifndef NOTHING_KERNEL_H
#define NOTHING_KERNEL_H

#include "t3/check.h"

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  (void)check, (void)launch;
  return true;
}

static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  (void)device, (void)launch;
  return (struct t3_plan){.workgroups = 1, .workgroups_per_cu = 1, .waves = 1};
}

static void run(struct t3_wave* wave) { (void)wave; }

#endif
