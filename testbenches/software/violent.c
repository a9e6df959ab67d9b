/* A library that does what ends, doubles or stops its process, or shows a table that points nowhere: what the
 * environment variable T3VP_TEST_ACT says. */
#define _GNU_SOURCE /* feenableexcept() */
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "guests.h"
#include "nothing_kernel.h"
#include "t3/address.h"
#include "t3/arguments/nothing.h"
#include "t3/registers/system.h"

enum { MANY = 1100 };

static bool is(const char* act) {
  const char* const asked = getenv("T3VP_TEST_ACT");
  return asked != NULL && strcmp(asked, act) == 0;
}

static volatile int* volatile nowhere = (volatile int*)16;
static volatile int zero = 0;
static volatile float one = 1;

/* NOLINTNEXTLINE(misc-no-recursion): a stack overflow is what it is for. */
static int recurse(volatile const char* outer) {
  volatile char frame[1024];
  frame[0] = outer == NULL ? 1 : outer[0];
  return recurse(frame) + frame[0];
}

/* "in a constructor exit" and so on: the place is the constructor, the destructor, or the program. */
static void act(const char* place) {
  char what[64];
  (void)snprintf(what, sizeof what, "%s: exit", place);
  if (is(what)) exit(0);
  (void)snprintf(what, sizeof what, "%s: _exit", place);
  if (is(what)) _exit(0);
  (void)snprintf(what, sizeof what, "%s: abort", place);
  if (is(what)) abort();
  (void)snprintf(what, sizeof what, "%s: crash", place);
  if (is(what)) *nowhere = 1;
  (void)snprintf(what, sizeof what, "%s: ignore and crash", place);
  if (is(what)) {
    (void)signal(SIGSEGV, SIG_IGN);
    *nowhere = 1;
  }
  (void)snprintf(what, sizeof what, "%s: take and crash", place);
  if (is(what)) {
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGSEGV, &ignore, NULL);
    *nowhere = 1;
  }
  (void)snprintf(what, sizeof what, "%s: block and crash", place);
  if (is(what)) {
    sigset_t all;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, NULL);
    (void)pthread_sigmask(SIG_SETMASK, &all, NULL);
    *nowhere = 1;
  }
  (void)snprintf(what, sizeof what, "%s: raise", place);
  if (is(what)) (void)raise(SIGTERM);
  (void)snprintf(what, sizeof what, "%s: timer", place);
  if (is(what)) {
    const struct itimerval soon = {.it_value = {.tv_usec = 1000}};
    (void)setitimer(ITIMER_REAL, &soon, NULL);
    while (is(what)) zero = 0;
  }
  (void)snprintf(what, sizeof what, "%s: trap", place);
  if (is(what)) {
    (void)feenableexcept(FE_INEXACT);
    one /= 3;
  }
  (void)snprintf(what, sizeof what, "%s: divide", place);
  if (is(what)) zero = 7 / zero;
  (void)snprintf(what, sizeof what, "%s: loop", place);
  while (is(what)) zero = 0;
  (void)snprintf(what, sizeof what, "%s: fork", place);
  if (is(what)) (void)fork();
  (void)snprintf(what, sizeof what, "%s: vfork", place);
  if (is(what)) (void)!vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork): what it is for */
  (void)snprintf(what, sizeof what, "%s: short exec", place);
  if (is(what)) (void)execl("/bin/true", "true", (char*)NULL);
  (void)snprintf(what, sizeof what, "%s: long exec", place);
  if (is(what)) (void)execvp("sleep", (char*[]){"sleep", "20", NULL});
  (void)snprintf(what, sizeof what, "%s: overflow", place);
  if (is(what)) zero = recurse(NULL);
  (void)snprintf(what, sizeof what, "%s: end thread", place);
  if (is(what)) pthread_exit(NULL);
}

/* Writes over all memory that this process shares with others. */
static void overwrite_page(void) {
  FILE* const maps = fopen("/proc/self/maps", "r");
  char line[512], rights[8] = "";
  unsigned long begin = 0, end = 0;
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
    if (sscanf(line, "%lx-%lx %7s", &begin, &end, rights) == 3 && strcmp(rights, "rw-s") == 0)
      memset((void*)begin, 0xFF, end - begin);
  if (maps != NULL) (void)fclose(maps);
}

static void hide(void) {
  if (is("program: close the pipe"))
    for (int file = 3; file < 64; ++file) (void)close(file);
  if (is("program: overwrite the page")) overwrite_page();
  if (is("program: loop behind handlers")) {
    for (int number = 1; number < NSIG; ++number) (void)signal(number, SIG_IGN);
    for (;;) zero = 0;
  }
  if (is("program: damage the heap")) {
    enum { BYTES = 3000, SIZE_BYTES = 8 }; /* the C library keeps a piece's size before it, flags in the low bits */
    void* const piece = malloc(BYTES);
    volatile unsigned char* const begin = piece;
    for (int i = 1; i < SIZE_BYTES; ++i) begin[-i] = 0xFF;
    begin[-SIZE_BYTES] = 0xF1;
    free(piece);
  }
}

static void* exit_by_thread(void* nothing) {
  exit(0);
  return nothing;
}

static void* sleep_in_thread(void* nothing) {
  (void)pause();
  return nothing;
}

/* Reads a register every us for 50 us, which snapshots have to be taken in. */
static void go_on(const struct t3_hal* hal) {
  uint32_t gpus = 0;
  for (int us = 0; us < 50; ++us) {
    (void)hal->read32(hal->platform, t3_block_base(hal->gpu, T3_BLOCK_SYSTEM) + T3_SYSTEM_GPUS_OFFSET, &gpus);
    hal->wait_ns(hal->platform, 1000);
  }
}

static enum t3_status idle(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  act("program");
  hide();
  if (is("program: use up the processor's time")) {
    const struct rlimit second = {1, 100};
    (void)setrlimit(RLIMIT_CPU, &second);
    for (;;) zero = 0;
  }
  if (is("program: go elsewhere") && chdir("/") != 0) return T3_BUSY;
  if (is("program: exit by a thread")) {
    pthread_t thread;
    (void)pthread_create(&thread, NULL, exit_by_thread, NULL);
    for (;;) hal->wait_ns(hal->platform, 1000);
  }
  if (is("program: crash late")) {
    go_on(hal);
    *nowhere = 1;
  }
  if (is("program: begin a thread")) {
    pthread_t thread;
    (void)pthread_create(&thread, NULL, sleep_in_thread, NULL);
    go_on(hal);
  }
  hal->wait_ns(hal->platform, 1000);
  return T3_OK;
}

static struct t3_kernel kernel = {.name = "nothing",
                                  .arguments = T3_NOTHING_ARGUMENTS,
                                  .reads = "gemm_read",
                                  .writes = "gemm_write",
                                  .check = check,
                                  .plan = plan,
                                  .run = run};
static const struct t3_kernel* kernels[3] = {&kernel};
static struct t3_named_program programs[MANY + 1] = {{"idle", idle}};
static char names[MANY][8];
static char long_name[100];

static void change_table(void) {
  if (is("table: program's name nowhere")) programs[1] = (struct t3_named_program){(const char*)8, idle};
  if (is("table: program's name without end")) {
    memset(long_name, 'a', sizeof long_name);
    programs[1] = (struct t3_named_program){long_name, idle};
  }
  if (is("table: program's name not plain")) programs[1] = (struct t3_named_program){"a\nb", idle};
  if (is("table: program nowhere")) programs[1] = (struct t3_named_program){"wild", (t3_program*)8};
  if (is("table: program in data")) programs[1] = (struct t3_named_program){"data", (t3_program*)(uintptr_t)names};
  if (is("table: two programs")) programs[1] = programs[0];
  for (uint32_t i = 0; i < MANY && is("table: many programs"); ++i) {
    (void)snprintf(names[i], sizeof names[i], "p%u", (unsigned)i % 10000);
    programs[i] = (struct t3_named_program){names[i], idle};
  }
  if (is("table: kernel nowhere")) kernels[1] = (const struct t3_kernel*)8;
  if (is("table: kernel twice")) kernels[1] = kernels[0];
  if (is("table: kernel's name nowhere")) kernel.name = (const char*)8;
  if (is("table: kernel's class nowhere")) kernel.writes = (const char*)8;
  if (is("table: kernel's plan in data"))
    kernel.plan = (struct t3_plan(*)(const struct t3_device*, const struct t3_launch*))(uintptr_t)names;
  if (is("table: kernel's reader nowhere")) kernel.arguments.read = (void (*)(void*, const unsigned char*))8;
}

__attribute__((constructor)) static void construct(void) {
  act("constructor");
  change_table();
}

__attribute__((destructor)) static void destruct(void) { act("destructor"); }

const struct t3_export_table t3_exports = {.version = T3_EXPORTS_VERSION,
                                           .layout = T3_EXPORTS_LAYOUT,
                                           .name = "violent",
                                           .programs = programs,
                                           .kernels = kernels};
