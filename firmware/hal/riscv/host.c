#include "host.h"

_Static_assert(sizeof(struct t3_host_call) == T3_HOST_CALL_BYTES, "a call is in memory as the platform reads it");

void t3_host_ring(struct t3_host_call* call, uint32_t kind) {
  call->call = kind;
  __asm__ volatile("" ::: "memory");
  *(volatile uint64_t*)T3_CORE_HOST = (uintptr_t)call;
  __asm__ volatile("" ::: "memory");
}

uint64_t t3_host_tell(uint32_t kind, const char* text, uint64_t value) {
  struct t3_host_call call = {.text = (uintptr_t)text, .value = value};
  t3_host_ring(&call, kind);
  return call.result;
}
