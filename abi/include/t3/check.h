/* Checks of a kernel's arguments before it runs, and the record of the first error. */
#ifndef T3_CHECK_H
#define T3_CHECK_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "t3/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { T3_CHECK_TEXT = 400 };

struct t3_device;

struct t3_check {
  const struct t3_device* device;
  uint32_t gpu;                                     /* on which the kernel would run */
  bool functional;                                  /* operands have data */
  uint64_t memory_bytes;                            /* of every GPU */
  uint32_t counters;                                /* of a GPU's signals block */
  void* cluster;                                    /* for reaches() */
  bool (*reaches)(void* cluster, uint64_t address); /* whether stores get there */
  uint32_t code;                                    /* enum t3_status */
  char text[T3_CHECK_TEXT];                         /* what was found and what was expected */
};

/* The kernel does not run and ends with this code: any but T3_OK and those that say how a wait has ended or what became
 * of a context or of a kernel that has run (T3_STUCK, T3_TIMEOUT, T3_STALE, T3_ABORTED). Returns false, for the check's
 * own return. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static inline bool
t3_refuse(struct t3_check* check, enum t3_status code, const char* format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(check->text, sizeof check->text, format, values);
  va_end(values);
  check->code = code;
  return false;
}

#ifdef __cplusplus
}
#endif

#endif
