/* The core's own registers, timer and instructions. */
#ifndef T3_HAL_RISCV_CORE_H
#define T3_HAL_RISCV_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "t3/gpu.h"

#define T3_MSTATUS_MIE 8
#define T3_MSIP (1 << 3)
#define T3_MTIP (1 << 7)
#define T3_MEIP (1 << 11)

#define T3_FIRST_PAGE_BYTES UINT64_C(4096)

/* An access that may be refused (start.S). */
struct t3_access {
  uint64_t value; /* of a load */
  uint64_t is_refused;
};
struct t3_access t3_load8(uint64_t address);
struct t3_access t3_load32(uint64_t address);
struct t3_access t3_load64(uint64_t address);
struct t3_access t3_store8(uint64_t address, uint64_t value);
struct t3_access t3_store32(uint64_t address, uint64_t value);
struct t3_access t3_store64(uint64_t address, uint64_t value);

static inline uint64_t t3_number_of_core(void) {
  uint64_t value;
  __asm__ volatile("csrr %0, mhartid" : "=r"(value));
  return value;
}

/* In nanoseconds. */
static inline uint64_t t3_clock(void) {
  uint64_t value;
  __asm__ volatile("csrr %0, time" : "=r"(value));
  return value;
}

static inline void t3_allow_interrupts(void) { __asm__ volatile("csrsi mstatus, %0" ::"i"(T3_MSTATUS_MIE) : "memory"); }

/* Whether they were allowed. */
static inline bool t3_hold_interrupts(void) {
  uint64_t before;
  __asm__ volatile("csrrci %0, mstatus, %1" : "=r"(before) : "i"(T3_MSTATUS_MIE) : "memory");
  return (before & T3_MSTATUS_MIE) != 0;
}

static inline uint64_t t3_pending_interrupts(void) {
  uint64_t value;
  __asm__ volatile("csrr %0, mip" : "=r"(value)::"memory");
  return value;
}

/* Interrupts that end a sleep, and are taken when they are allowed. */
static inline void t3_set_enabled_interrupts(uint64_t which) {
  __asm__ volatile("csrw mie, %0" ::"r"(which) : "memory");
}

static inline void t3_sleep_core(void) { __asm__ volatile("wfi" ::: "memory"); }

/* Sets the time of the timer's interrupt; UINT64_MAX: never. */
static inline void t3_set_timer(uint64_t ns) { *(volatile uint64_t*)(T3_CORE_TIMER + 0x4000) = ns; }

#endif
