/* A byte that was never set may hold neither false nor true. It must not be read as a bool. */
#ifndef T3_DRIVER_BOOLS_H
#define T3_DRIVER_BOOLS_H

#include <stdbool.h>
#include <string.h>

static inline bool t3_is_bool(const bool* value) {
  unsigned char byte = 0;
  memcpy(&byte, value, sizeof byte);
  return byte <= 1;
}

#endif
