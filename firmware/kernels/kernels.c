#include "kernels.h"

#include "attention/attention.h"
#include "gemm/gemm.h"
#include "ring/ring.h"
#include "rows/rows.h"

const struct t3_kernel* const t3_kernels[] = {
    &t3_gemm_kernel, &t3_ring_reduce_scatter_kernel, &t3_ring_all_gather_kernel,
    &t3_rows_kernel, &t3_attention_kernel,           NULL};
