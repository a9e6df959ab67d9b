/* A program that sums up by the rings of a torus, one bucket of elements behind the other. */
#ifndef T3VP_TESTBENCHES_TORUS_GUEST_H
#define T3VP_TESTBENCHES_TORUS_GUEST_H

#include "t3/programs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sums fp32 elements, at least 5112. Returns T3_MISMATCH when counters differ from their epochs. */
t3_program guest_sums_in_buckets;

#ifdef __cplusplus
}
#endif

#endif
