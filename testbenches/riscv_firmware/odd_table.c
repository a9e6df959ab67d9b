/* An executable with something odd about its table: which, is said when it is compiled. */
#include "t3/exports.h"

#if !defined(ODD_MAIN)
#define ODD_MAIN idle
#endif
#if !defined(ODD_FIRST)
#define ODD_FIRST "a"
#endif
#if !defined(ODD_VERSION)
#define ODD_VERSION T3_EXPORTS_VERSION
#endif
#if !defined(ODD_LAYOUT)
#define ODD_LAYOUT T3_EXPORTS_LAYOUT
#endif

__attribute__((unused)) static enum t3_status idle(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  hal->wait_ns(hal->platform, 1000);
  return T3_OK;
}

#if !defined(ODD_PROGRAMS)
#define ODD_PROGRAMS programs
static const struct t3_named_program programs[] = {{ODD_FIRST, ODD_MAIN}, {"b", idle}, {NULL, NULL}};
#endif

const struct t3_export_table t3_exports = {.version = ODD_VERSION,
                                           .layout = ODD_LAYOUT,
                                           .name = "odd",
                                           .programs = (const struct t3_named_program*)ODD_PROGRAMS};
