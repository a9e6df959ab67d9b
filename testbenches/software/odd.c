/* Libraries with something odd about them: which, is said when they are compiled. */
#include "guests.h"
#include "nothing_kernel.h"
#include "t3/arguments/nothing.h"

#if defined(ODD_UNRESOLVED)
void nobody_has_this(void);
#endif

static enum t3_status idle(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
#if defined(ODD_UNRESOLVED)
  nobody_has_this();
#endif
  hal->wait_ns(hal->platform, 1000);
  return T3_OK;
}

static const struct t3_named_program programs[] = {
#if defined(ODD_NULL_MAIN)
    {"idle", NULL},
#elif !defined(ODD_NO_PROGRAM)
    {"idle", idle},
#endif
    {NULL, NULL}};

static struct t3_kernel kernel;
static const struct t3_kernel* const kernels[] = {
#if defined(ODD_KERNEL)
    &kernel,
#endif
    NULL};

static struct t3_kernel kernel = {
#if defined(ODD_KERNEL)
    .name = ODD_KERNEL,
#endif
#if !defined(ODD_NO_PLAN)
    .plan = plan,
#endif
    .arguments = T3_NOTHING_ARGUMENTS,
    .reads = "gemm_read",
    .writes = "gemm_write",
    .check = check,
    .run = run};

const struct t3_export_table t3_exports = {
#if defined(ODD_VERSION)
    .version = T3_EXPORTS_VERSION - 1,
#else
    .version = T3_EXPORTS_VERSION,
#endif
#if defined(ODD_LAYOUT)
    .layout = T3_EXPORTS_LAYOUT + 1,
#else
    .layout = T3_EXPORTS_LAYOUT,
#endif
#if defined(ODD_WILD_NAME)
    .name = (const char*)8,
#elif !defined(ODD_NAMELESS)
    .name = "odd",
#endif
#if defined(ODD_WILD_PROGRAMS)
    .programs = (const struct t3_named_program*)8,
#else
    .programs = programs,
#endif
#if defined(ODD_WILD_KERNELS)
    .kernels = (const struct t3_kernel* const*)8};
#else
    .kernels = kernels};
#endif
