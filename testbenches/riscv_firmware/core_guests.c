/* Programs that only a RISC-V core ends well: what on the host would be the platform's own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "t3/exports.h"
#include "t3/t3.h"

static enum t3_status spins(const struct t3_hal* hal, const struct t3_run* run) {
  (void)hal, (void)run;
  volatile bool for_ever = true;
  while (for_ever) {
  }
  return T3_OK;
}

/* The second one waits for the first for ever. */
static enum t3_status spins_in_an_exchange(const struct t3_hal* hal, const struct t3_run* run) {
  if (hal->gpu == 0) return spins(hal, run);
  unsigned char all[4];
  return hal->exchange(hal->platform, "nothing", "x", 1, all, UINT64_MAX);
}

static int deep(volatile int* from) {
  volatile int frame[64] = {*from + 1};
  if (frame[0] < 0) return 0;
  return deep(frame) + frame[1];
}

static enum t3_status overflows(const struct t3_hal* hal, const struct t3_run* run) {
  (void)hal, (void)run;
  volatile int begin = 0;
  return deep(&begin) == 0 ? T3_OK : T3_BUSY;
}

static volatile uint64_t* const nowhere = (volatile uint64_t*)0x0000080000000000;

static enum t3_status reads_nothing(const struct t3_hal* hal, const struct t3_run* run) {
  (void)hal, (void)run;
  return *nowhere == 0 ? T3_OK : T3_BUSY;
}

/* Where a null pointer leads, which the compiler does not see. */
static volatile uint64_t* pointer(uint64_t address) {
  __asm__ volatile("" : "+r"(address));
  return (volatile uint64_t*)(uintptr_t)address;
}

static enum t3_status reads_null(const struct t3_hal* hal, const struct t3_run* run) {
  (void)hal, (void)run;
  return pointer(0)[3] == 0 ? T3_OK : T3_BUSY;
}

static enum t3_status writes_null(const struct t3_hal* hal, const struct t3_run* run) {
  (void)hal, (void)run;
  *pointer(4088) = 1;
  return T3_OK;
}

static enum t3_status adds_null(const struct t3_hal* hal, const struct t3_run* run) {
  (void)hal, (void)run;
  __asm__ volatile("amoadd.d zero, %0, (%1)" ::"r"(1), "r"(pointer(8)) : "memory");
  return T3_OK;
}

static enum t3_status calls_null(const struct t3_hal* hal, const struct t3_run* run) {
  (void)hal, (void)run;
  ((void (*)(void))(uintptr_t)pointer(0))();
  return T3_OK;
}

/* By the HAL, and behind the page, where all that is there may be reached. */
static enum t3_status uses_first_page(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  unsigned char some[32], back[32];
  uint64_t value = 0;
  uint32_t half = 0;
  for (unsigned i = 0; i < sizeof some; ++i) some[i] = (unsigned char)(i + 1);
  T3_TRY(hal->write_memory(hal->platform, 4090, some, sizeof some));
  T3_TRY(hal->read_memory(hal->platform, 4090, back, sizeof back));
  T3_TRY(hal->write64(hal->platform, 0, 42));
  T3_TRY(hal->write32(hal->platform, 4, 43));
  T3_TRY(hal->read64(hal->platform, 0, &value));
  T3_TRY(hal->read32(hal->platform, 4, &half));
  *pointer(4096 + 64) = value;
  const bool are_same = memcmp(some, back, sizeof some) == 0 && *pointer(4096 + 64) == value;
  return are_same && value == (UINT64_C(43) << 32 | 42) && half == 43 ? T3_OK : T3_BAD_VALUE;
}

/* The first piece of the driver's heap is behind the page, too. */
static enum t3_status uses_heap(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  struct t3_context gpu;
  uint64_t address = 0, value = 0;
  T3_TRY(t3_init(&gpu, hal));
  T3_TRY(t3_malloc(&gpu, sizeof value, &address));
  *pointer(address) = 7;
  T3_TRY(hal->read_memory(hal->platform, address, &value, sizeof value));
  return value == 7 ? t3_close(&gpu) : T3_BAD_VALUE;
}

static const uint64_t fixed[4] = {1, 2, 3, 4};

static enum t3_status writes_constants(const struct t3_hal* hal, const struct t3_run* run) {
  (void)hal, (void)run;
  *pointer((uintptr_t)&fixed[2]) = 1;
  return T3_OK;
}

static enum t3_status writes_code(const struct t3_hal* hal, const struct t3_run* run) {
  (void)hal, (void)run;
  *pointer((uintptr_t)writes_constants & ~UINT64_C(7)) = 0;
  return T3_OK;
}

/* Overwrites the stack above a frame. */
static enum t3_status smashes(const struct t3_hal* hal, const struct t3_run* run) {
  (void)hal, (void)run;
  volatile uint64_t frame[4] = {0};
  volatile uint64_t* const place = pointer((uintptr_t)frame);
  for (uint32_t i = 0; i < 1 << 20; ++i) place[i] = 0;
  return T3_OK;
}

static enum t3_status traps(const struct t3_hal* hal, const struct t3_run* run) {
  (void)hal, (void)run;
  __builtin_trap();
}

static enum t3_status fails(const struct t3_hal* hal, const struct t3_run* run) {
  (void)hal, (void)run;
  return (enum t3_status) - 1;
}

static enum t3_status prints_control(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  printf("red \033[31m\r bell\a\n");
  hal->mark(hal->platform, "a\033[31mphase", true);
  return T3_OK;
}

static enum t3_status jumps(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  if (hal->gpu == 0) ((void (*)(void))(uintptr_t)nowhere)();
  return T3_OK;
}

static enum t3_status illegal(const struct t3_hal* hal, const struct t3_run* run) {
  (void)hal, (void)run;
  __asm__ volatile(".4byte 0xffffffff");
  return T3_OK;
}

/* At a mark in code that is no function. */
static enum t3_status marked(const struct t3_hal* hal, const struct t3_run* run) {
  (void)hal, (void)run;
  __asm__ volatile(".globl guest_mark\nguest_mark: .4byte 0xffffffff");
  return T3_OK;
}

static enum t3_status sleeps(const struct t3_hal* hal, const struct t3_run* run) {
  (void)hal, (void)run;
  __asm__ volatile("wfi");
  return T3_OK;
}

static enum t3_status prints(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  char* const text = malloc(100);
  (void)snprintf(text, 100, "from the heap of GPU %u", (unsigned)hal->gpu);
  printf("%s, %.3f\n", text, 1.5);
  free(text);
  printf("unended");
  return T3_OK;
}

static enum t3_status exits(const struct t3_hal* hal, const struct t3_run* run) {
  (void)hal, (void)run;
  exit(T3_OVERLAP);
}

static enum t3_status aborts(const struct t3_hal* hal, const struct t3_run* run) {
  (void)hal, (void)run;
  abort();
}

/* A checksum of 64 KiB, again and again: how fast a core computes. */
static enum t3_status computes(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  uint64_t rounds = 1;
  if (hal->has_argument(hal->platform, "rounds")) T3_TRY(hal->argument_u64(hal->platform, "rounds", &rounds));
  static unsigned char bytes[1 << 16];
  for (uint32_t i = 0; i < sizeof bytes; ++i) bytes[i] = (unsigned char)(i * 7 + hal->gpu);
  uint32_t first = 1, second = 0; /* as of Adler-32 */
  for (uint64_t round = 0; round < rounds; ++round)
    for (uint32_t i = 0; i < sizeof bytes; ++i) {
      first = (first + bytes[i]) % 65521;
      second = (second + first) % 65521;
    }
  return (second << 16 | first) != 0 ? T3_OK : T3_BAD_VALUE;
}

/* More than there is. */
static enum t3_status allocates(const struct t3_hal* hal, const struct t3_run* run) {
  (void)hal, (void)run;
  void* volatile most = malloc((size_t)1 << 31);
  void* volatile some = malloc((size_t)1 << 20);
  memset(some, 1, (size_t)1 << 20);
  return most == NULL && some != NULL ? T3_OK : T3_OUT_OF_MEMORY;
}

/* Sleeps of the clock alone, with nothing that could end them but time; one that time does not reach. */
static enum t3_status waits(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  const uint64_t begin = hal->time_ns(hal->platform);
  hal->wait_ns(hal->platform, 12345);
  const uint64_t passed = hal->time_ns(hal->platform) - begin;
  if (passed < 12345 || passed > 12345 + 200) return T3_BAD_VALUE;
  if (hal->wait_for_interrupt(hal->platform, begin + 50000, "an interrupt") != T3_TIMEOUT) return T3_BUSY;
  const uint64_t late = hal->time_ns(hal->platform) - begin - 50000;
  if (late > 200) return T3_BAD_VALUE;
  if (hal->gpu == 1) hal->wait_ns(hal->platform, UINT64_MAX);
  const enum t3_status status = hal->wait_for_interrupt(hal->platform, UINT64_MAX, "what nobody does");
  if (status == T3_STUCK) hal->log(hal->platform, "is told that it is stuck");
  return status;
}

static enum t3_status disagrees(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  unsigned char all[16] = {0}, mine[2] = {(unsigned char)(1 + hal->gpu), 2};
  const enum t3_status first = hal->exchange(hal->platform, "same", mine, 1, all, UINT64_MAX);
  if (first != T3_OK || all[0] != 1 || all[1] != 2) return T3_BAD_VALUE;
  return hal->exchange(hal->platform, hal->gpu == 0 ? "one" : "other", mine, 1, all, UINT64_MAX);
}

/* Each character long behind the last one, for those who look at what it does. */
static enum t3_status prints_slowly(const struct t3_hal* hal, const struct t3_run* run) {
  (void)hal, (void)run;
  for (unsigned i = 0; i < 20; ++i) {
    for (volatile unsigned spin = 0; spin < 4000000; ++spin) {
    }
    putchar('.');
  }
  return T3_OK;
}

/* By the core's own timer: 0x4000 is mtimecmp, 0 is msip. */
static enum t3_status interrupts_itself(uint64_t line, uint64_t timer_at, uint64_t software) {
  *pointer(UINT64_C(0xfffffe0002004000)) = timer_at;
  *(volatile uint32_t*)pointer(UINT64_C(0xfffffe0002000000)) = (uint32_t)software;
  __asm__ volatile("csrw mie, %0\n csrsi mstatus, 8\n nop\n nop" ::"r"(line) : "memory");
  return T3_OK;
}

static enum t3_status timer_interrupts(const struct t3_hal* hal, const struct t3_run* run) {
  (void)hal, (void)run;
  return interrupts_itself(1 << 7, 0, 0);
}

static enum t3_status software_interrupts(const struct t3_hal* hal, const struct t3_run* run) {
  (void)hal, (void)run;
  return interrupts_itself(1 << 3, UINT64_MAX, 1);
}

static enum t3_status calls_nobody(const struct t3_hal* hal, const struct t3_run* run) {
  (void)hal, (void)run;
  __asm__ volatile("ecall");
  return T3_OK;
}

static enum t3_status loses_its_stack(const struct t3_hal* hal, const struct t3_run* run) {
  (void)hal, (void)run;
  __asm__ volatile("li sp, 16\n lw a0, 4(%0)" ::"r"(pointer(0)) : "a0", "memory");
  return T3_OK;
}

static enum t3_status reads_behind_memory(const struct t3_hal* hal, const struct t3_run* run) {
  (void)hal, (void)run;
  return *pointer(UINT64_C(0xfffffe00c0000010)) == 0 ? T3_OK : T3_BUSY;
}

/* A call of the driver fails. The program does not look at it, reads it or returns it. */
static enum t3_status errs(const struct t3_hal* hal, bool reads, bool returns) {
  struct t3_context gpu = {0};
  T3_TRY(t3_init(&gpu, hal));
  const enum t3_status refused = hal->gpu == 0 ? t3_free(&gpu, 12) : T3_OK;
  if (reads && hal->gpu == 0) {
    const struct t3_call_error error = t3_last_error(&gpu);
    printf("%s of %s\n", error.argument, error.call);
  }
  T3_TRY(t3_close(&gpu));
  return returns ? refused : T3_OK;
}

static enum t3_status overlooks_an_error(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  return errs(hal, false, false);
}

static enum t3_status reads_an_error(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  return errs(hal, true, false);
}

static enum t3_status returns_an_error(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  return errs(hal, false, true);
}

static const struct t3_named_program programs[] = {{"spins", spins},
                                                   {"prints_slowly", prints_slowly},
                                                   {"timer_interrupts", timer_interrupts},
                                                   {"software_interrupts", software_interrupts},
                                                   {"calls_nobody", calls_nobody},
                                                   {"loses_its_stack", loses_its_stack},
                                                   {"reads_behind_memory", reads_behind_memory},
                                                   {"spins_in_an_exchange", spins_in_an_exchange},
                                                   {"overflows", overflows},
                                                   {"reads_nothing", reads_nothing},
                                                   {"reads_null", reads_null},
                                                   {"writes_null", writes_null},
                                                   {"adds_null", adds_null},
                                                   {"calls_null", calls_null},
                                                   {"uses_first_page", uses_first_page},
                                                   {"uses_heap", uses_heap},
                                                   {"writes_constants", writes_constants},
                                                   {"writes_code", writes_code},
                                                   {"smashes", smashes},
                                                   {"traps", traps},
                                                   {"fails", fails},
                                                   {"prints_control", prints_control},
                                                   {"jumps", jumps},
                                                   {"illegal", illegal},
                                                   {"sleeps", sleeps},
                                                   {"prints", prints},
                                                   {"exits", exits},
                                                   {"aborts", aborts},
                                                   {"computes", computes},
                                                   {"marked", marked},
                                                   {"allocates", allocates},
                                                   {"waits", waits},
                                                   {"disagrees", disagrees},
                                                   {"overlooks_an_error", overlooks_an_error},
                                                   {"reads_an_error", reads_an_error},
                                                   {"returns_an_error", returns_an_error},
                                                   {NULL, NULL}};

const struct t3_export_table t3_exports = {
    .version = T3_EXPORTS_VERSION, .layout = T3_EXPORTS_LAYOUT, .name = "core_guests", .programs = programs};
