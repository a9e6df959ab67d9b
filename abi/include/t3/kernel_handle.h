/* A packet identifies a kernel by its handle: a hash of the kernel's name. No central list of kernels is needed. */
#ifndef T3_KERNEL_HANDLE_H
#define T3_KERNEL_HANDLE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define T3_CONSTANT constexpr
#define T3_BYTE(character) static_cast<uint8_t>(character)
#else
#define T3_CONSTANT static inline
#define T3_BYTE(character) ((uint8_t)(character))
#endif

/* FNV-1a of the name's bytes; never 0, which is what an empty packet says. */
T3_CONSTANT uint32_t t3_kernel_handle(const char* name) {
  uint32_t hash = UINT32_C(0x811C9DC5);
  for (; *name != '\0'; ++name) hash = (hash ^ T3_BYTE(*name)) * UINT32_C(0x01000193);
  return hash == 0 ? 1 : hash;
}

#undef T3_CONSTANT
#undef T3_BYTE
#ifdef __cplusplus
}
#endif

#endif
