/* The HAL of a RISC-V core: accesses are the core's own loads and stores, waits its timer and WFI. What silicon does
 * not have is asked of the platform. */
#include <stddef.h>
#include <string.h>

#include "host.h"
#include "riscv_core.h"

/* Simulated time, in picoseconds of 64 bits, does not reach it. */
#define END_OF_TIME_NS ((UINT64_MAX - (UINT64_C(1) << 60)) / 1000)

static struct {
  void (*entry)(void* argument); /* takes interrupts; NULL: nothing does */
  void* argument;
  uint32_t locks;
} core;

uint32_t t3_riscv_locks(void) { return core.locks; }

static bool takes_interrupts(void) { return core.entry != NULL && core.locks == 0; }

static enum t3_status refusal(void) { return (enum t3_status)t3_host_tell(T3_HOST_CALL_CALL_REFUSAL, NULL, 0); }

static enum t3_status status_of(struct t3_access access) { return access.is_refused ? refusal() : T3_OK; }

/* Returns the address at which the core reaches an address of the node. The first page is refused at 0, where a null
 * pointer leads. */
static uint64_t place_of(uint64_t address) {
  return address < T3_FIRST_PAGE_BYTES ? T3_CORE_FIRST_PAGE + address : address;
}

static enum t3_status read32(void* platform, uint64_t address, uint32_t* value) {
  (void)platform;
  if (value == NULL) return T3_INVALID_ARGUMENT;
  const struct t3_access access = t3_load32(place_of(address));
  *value = (uint32_t)access.value;
  return status_of(access);
}

static enum t3_status read64(void* platform, uint64_t address, uint64_t* value) {
  (void)platform;
  if (value == NULL) return T3_INVALID_ARGUMENT;
  const struct t3_access access = t3_load64(place_of(address));
  *value = access.value;
  return status_of(access);
}

static enum t3_status write32(void* platform, uint64_t address, uint32_t value) {
  (void)platform;
  return status_of(t3_store32(place_of(address), value));
}

static enum t3_status write64(void* platform, uint64_t address, uint64_t value) {
  (void)platform;
  return status_of(t3_store64(place_of(address), value));
}

/* Returns the width of the next access of up to `bytes` bytes: 8, 4 or 1, aligned. */
static uint64_t width_at(uint64_t address, uint64_t bytes) {
  if (address % 8 == 0 && bytes >= 8) return 8;
  return address % 4 == 0 && bytes >= 4 ? 4 : 1;
}

static enum t3_status read_memory(void* platform, uint64_t address, void* data, uint64_t bytes) {
  (void)platform;
  if (bytes > UINT32_MAX) return T3_INVALID_ARGUMENT;
  if (bytes != 0 && data == NULL) return T3_BAD_ACCESS;
  for (uint64_t done = 0, width; done < bytes; done += width) {
    const uint64_t place = place_of(address + done);
    width = width_at(place, bytes - done);
    const struct t3_access access = width == 8 ? t3_load64(place) : width == 4 ? t3_load32(place) : t3_load8(place);
    if (access.is_refused) return refusal();
    memcpy((unsigned char*)data + done, &access.value, width);
  }
  return T3_OK;
}

static enum t3_status write_memory(void* platform, uint64_t address, const void* data, uint64_t bytes) {
  (void)platform;
  if (bytes > UINT32_MAX) return T3_INVALID_ARGUMENT;
  if (bytes != 0 && data == NULL) return T3_BAD_ACCESS;
  for (uint64_t done = 0, width; done < bytes; done += width) {
    const uint64_t place = place_of(address + done);
    width = width_at(place, bytes - done);
    uint64_t value = 0;
    memcpy(&value, (const unsigned char*)data + done, width);
    const struct t3_access access = width == 8   ? t3_store64(place, value)
                                    : width == 4 ? t3_store32(place, value)
                                                 : t3_store8(place, value);
    if (access.is_refused) return refusal();
  }
  return T3_OK;
}

static void order_writes(void* platform) {
  (void)platform;
  __asm__ volatile("fence" ::: "memory");
}

static void allow_again(bool allowed) {
  if (allowed) t3_allow_interrupts();
}

static void take_interrupts(void* platform, void (*entry)(void* argument), void* argument) {
  (void)platform;
  (void)t3_hold_interrupts();
  core.entry = entry;
  core.argument = argument;
  t3_set_enabled_interrupts(T3_MEIP);
  allow_again(takes_interrupts());
}

static void lock(void* platform) {
  (void)platform;
  (void)t3_hold_interrupts();
  ++core.locks;
}

static void unlock(void* platform) {
  (void)platform;
  if (core.locks == 0) {
    (void)t3_host_tell(T3_HOST_CALL_CALL_UNLOCKED, NULL, 0);
    return;
  }
  --core.locks;
  allow_again(takes_interrupts());
}

/* start.S calls it, with interrupts held off. The interrupt may be one that a write has just ended. */
void t3_interrupted(void);
void t3_interrupted(void) {
  if (t3_host_tell(T3_HOST_CALL_CALL_INTERRUPT, NULL, 0) == 0) return;
  core.locks = 1;
  core.entry(core.argument);
  (void)t3_hold_interrupts();
  (void)t3_host_tell(T3_HOST_CALL_CALL_INTERRUPT_END, NULL, core.locks);
  core.locks = 0;
}

static uint64_t time_ns(void* platform) {
  (void)platform;
  return t3_clock();
}

static enum t3_status wait_until(uint64_t deadline_ns) {
  for (;; t3_sleep_core()) {
    const uint64_t pending = t3_pending_interrupts();
    if (pending & T3_MEIP) return T3_OK;
    if (t3_clock() >= deadline_ns) return T3_TIMEOUT;
    if ((pending & T3_MSIP) && t3_host_tell(T3_HOST_CALL_CALL_GIVEN_UP, NULL, 0)) return T3_STUCK;
  }
}

static enum t3_status wait_for_interrupt(void* platform, uint64_t deadline_ns, const char* reason) {
  (void)platform;
  const bool allowed = t3_hold_interrupts();
  (void)t3_host_tell(T3_HOST_CALL_CALL_WAIT, reason, deadline_ns);
  if (deadline_ns != UINT64_MAX) t3_set_timer(deadline_ns);
  t3_set_enabled_interrupts(T3_MEIP | T3_MTIP | T3_MSIP);
  const enum t3_status status = wait_until(deadline_ns);
  t3_set_enabled_interrupts(T3_MEIP);
  if (deadline_ns != UINT64_MAX) t3_set_timer(UINT64_MAX);
  (void)t3_host_tell(T3_HOST_CALL_CALL_WAIT_END, NULL, 0);
  allow_again(allowed);
  return status;
}

/* Interrupts that are taken are, each in a moment in which they are allowed. */
static void wait_ns(void* platform, uint64_t ns) {
  (void)platform;
  const bool allowed = t3_hold_interrupts();
  const uint64_t begin = t3_clock(), end = ns < END_OF_TIME_NS - begin ? begin + ns : UINT64_MAX;
  if (end == UINT64_MAX) (void)t3_host_tell(T3_HOST_CALL_CALL_WAIT_FOR_EVER, NULL, ns);
  t3_set_timer(end);
  while (t3_clock() < end) {
    t3_set_enabled_interrupts(allowed ? T3_MEIP | T3_MTIP : T3_MTIP);
    t3_sleep_core();
    t3_set_enabled_interrupts(T3_MEIP);
    allow_again(allowed);
    (void)t3_hold_interrupts();
  }
  t3_set_timer(UINT64_MAX);
  allow_again(allowed);
}

static enum t3_status exchange(void* platform, const char* name, const void* mine, uint64_t bytes, void* all,
                               uint64_t deadline_ns) {
  (void)platform;
  const bool allowed = t3_hold_interrupts();
  struct t3_host_call call = {
      .text = (uintptr_t)name, .data = (uintptr_t)mine, .bytes = bytes, .value = deadline_ns, .result = (uintptr_t)all};
  t3_host_ring(&call, T3_HOST_CALL_CALL_EXCHANGE);
  allow_again(allowed);
  return (enum t3_status)call.status;
}

static void mark(void* platform, const char* phase, bool begin) {
  (void)platform;
  (void)t3_host_tell(begin ? T3_HOST_CALL_CALL_MARK_BEGIN : T3_HOST_CALL_CALL_MARK_END, phase, 0);
}

static bool has_argument(void* platform, const char* name) {
  (void)platform;
  return t3_host_tell(T3_HOST_CALL_CALL_HAS_ARGUMENT, name, 0) != 0;
}

/* The answer's bits. */
static enum t3_status argument(uint32_t kind, const char* name, const void* value, uint64_t* bits) {
  struct t3_host_call call = {.text = (uintptr_t)name};
  t3_host_ring(&call, kind);
  *bits = call.result;
  return value == NULL ? T3_INVALID_ARGUMENT : (enum t3_status)call.status;
}

static enum t3_status argument_u64(void* platform, const char* name, uint64_t* value) {
  (void)platform;
  uint64_t bits;
  const enum t3_status status = argument(T3_HOST_CALL_CALL_ARGUMENT_U64, name, value, &bits);
  if (status == T3_OK) *value = bits;
  return status;
}

static enum t3_status argument_double(void* platform, const char* name, double* value) {
  (void)platform;
  uint64_t bits;
  const enum t3_status status = argument(T3_HOST_CALL_CALL_ARGUMENT_DOUBLE, name, value, &bits);
  if (status == T3_OK) memcpy(value, &bits, sizeof *value);
  return status;
}

static enum t3_status argument_bool(void* platform, const char* name, bool* value) {
  (void)platform;
  uint64_t bits;
  const enum t3_status status = argument(T3_HOST_CALL_CALL_ARGUMENT_BOOL, name, value, &bits);
  if (status == T3_OK) *value = bits != 0;
  return status;
}

static enum t3_status argument_text(void* platform, const char* name, const char** value) {
  (void)platform;
  uint64_t bits;
  const enum t3_status status = argument(T3_HOST_CALL_CALL_ARGUMENT_TEXT, name, value, &bits);
  if (status == T3_OK) *value = (const char*)(uintptr_t)bits;
  return status;
}

static void log_line(void* platform, const char* text) {
  (void)platform;
  (void)t3_host_tell(T3_HOST_CALL_CALL_LOG, text, 0);
}

static void own_memory(void* platform, uint64_t address, uint64_t bytes, enum t3_memory_use use) {
  (void)platform;
  struct t3_host_call call = {.data = address, .bytes = bytes, .value = (uint64_t)use};
  t3_host_ring(&call, T3_HOST_CALL_CALL_OWN_MEMORY);
}

static void error(void* platform, enum t3_status code, const char* text) {
  (void)platform;
  (void)t3_host_tell(T3_HOST_CALL_CALL_ERROR, text, code);
}

void t3_riscv_publish(void* platform, const struct t3_buffer* buffer);

static struct t3_hal hal = {.read32 = read32,
                            .read64 = read64,
                            .write32 = write32,
                            .write64 = write64,
                            .read_memory = read_memory,
                            .write_memory = write_memory,
                            .order_writes = order_writes,
                            .take_interrupts = take_interrupts,
                            .lock = lock,
                            .unlock = unlock,
                            .time_ns = time_ns,
                            .wait_for_interrupt = wait_for_interrupt,
                            .wait_ns = wait_ns,
                            .exchange = exchange,
                            .mark = mark,
                            .publish = t3_riscv_publish,
                            .has_argument = has_argument,
                            .argument_u64 = argument_u64,
                            .argument_double = argument_double,
                            .argument_bool = argument_bool,
                            .argument_text = argument_text,
                            .log = log_line,
                            .own_memory = own_memory,
                            .error = error};

const struct t3_hal* t3_riscv_hal(void) {
  hal.gpu = (uint32_t)t3_number_of_core();
  return &hal;
}
