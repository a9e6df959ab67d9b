/* The size of tensor elements in memory. */
#ifndef T3_ELEMENT_BYTES_H
#define T3_ELEMENT_BYTES_H

#include <stdint.h>

#include "t3/element.h"

static inline uint32_t t3_element_bytes(enum t3_element element) { return element == T3_FP32 ? 4 : 2; }

#endif
