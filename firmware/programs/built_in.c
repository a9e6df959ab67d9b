#include "built_in.h"

#include <stddef.h>

#include "kernels/kernels.h"

static const struct t3_named_program programs[] = {{"collective", t3_run_collective},
                                                   {"dlrm", t3_run_dlrm},
                                                   {"embedding", t3_run_embedding},
                                                   {"experts", t3_run_experts},
                                                   {"fused", t3_fused},
                                                   {"gemv", t3_run_gemv},
                                                   {"isolated", t3_isolated},
                                                   {"layer", t3_run_layer},
                                                   {"sequential", t3_sequential},
                                                   {NULL, NULL}};

const struct t3_export_table t3_built_in = {.version = T3_EXPORTS_VERSION,
                                            .layout = T3_EXPORTS_LAYOUT,
                                            .name = "t3vp",
                                            .programs = programs,
                                            .kernels = t3_kernels};
