/* The start and end of a program around main(), and the machine functions of the C library. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "host.h"
#include "t3/exports.h"

int main(void);
void __libc_init_array(void);
void t3_start_c(void);
_Noreturn void t3_fault(uint64_t cause, uint64_t pc, uint64_t address, uint64_t stack, uint64_t return_address);

struct t3_riscv_start t3_riscv_start;
extern char t3_heap_begin[];
static char* heap_end = t3_heap_begin;

/* The program has: its status is a t3_status. */
static bool has_returned;

/* start.S calls it, with a stack and zeroed variables. */
void t3_start_c(void) {
  struct t3_host_call call = {.data = T3_EXPORTS_VERSION, .value = T3_EXPORTS_LAYOUT};
  t3_host_ring(&call, T3_HOST_CALL_CALL_START);
  t3_riscv_start.program = (const char*)(uintptr_t)call.text;
  t3_riscv_start.run = (const struct t3_run*)(uintptr_t)call.data;
  t3_riscv_start.memory_end = call.result;
  __libc_init_array();
  const int status = main();
  has_returned = true;
  exit(status);
}

_Noreturn void _exit(int status) {
  if (!has_returned && status != 0) {
    char text[sizeof "has called exit(-2147483648)"];
    (void)snprintf(text, sizeof text, "has called exit(%d)", status);
    (void)t3_host_tell(T3_HOST_CALL_CALL_PANIC, text, 0);
  }
  struct t3_host_call call = {.bytes = t3_riscv_locks(), .value = (uint32_t)status};
  t3_host_ring(&call, T3_HOST_CALL_CALL_END);
  for (;;) {
  }
}

/* start.S calls it. */
_Noreturn void t3_fault(uint64_t cause, uint64_t pc, uint64_t address, uint64_t stack, uint64_t return_address) {
  struct t3_host_call call = {.text = return_address, .data = pc, .bytes = stack, .value = cause, .result = address};
  t3_host_ring(&call, T3_HOST_CALL_CALL_FAULT);
  for (;;) {
  }
}

_Noreturn void abort(void) {
  (void)t3_host_tell(T3_HOST_CALL_CALL_PANIC, "has called abort()", 0);
  for (;;) {
  }
}

void* sbrk(ptrdiff_t bytes) {
  char* const before = heap_end;
  const ptrdiff_t room = (char*)t3_riscv_start.memory_end - heap_end;
  if (bytes > room || bytes < t3_heap_begin - heap_end) {
    errno = ENOMEM;
    return (void*)-1;
  }
  heap_end += bytes;
  return before;
}

void* t3_riscv_scratch(uint64_t bytes) {
  const uint64_t begin = ((uintptr_t)heap_end + 15) & ~UINT64_C(15);
  return begin <= t3_riscv_start.memory_end && bytes <= t3_riscv_start.memory_end - begin ? (void*)begin : NULL;
}

/* printf() and the like write to the core's UART. */
static int send(char c, FILE* file) {
  (void)file;
  *(volatile unsigned char*)T3_CORE_UART = (unsigned char)c;
  return (unsigned char)c;
}

static FILE console = FDEV_SETUP_STREAM(send, NULL, NULL, _FDEV_SETUP_WRITE);
FILE* const stdin = &console;
FILE* const stdout = &console;
FILE* const stderr = &console;
