/* Access to one block's registers. The first failure stays in `status` and turns later accesses into nothing, so that a
 * sequence needs one check at its end. */
#ifndef T3_DRIVER_REGISTERS_H
#define T3_DRIVER_REGISTERS_H

#include "context_state.h"
#include "t3/t3.h"
#include "t3_hal.h"

struct t3_registers {
  const struct t3_hal* hal;
  uint64_t base;
  enum t3_status status;
};

static inline struct t3_registers t3_block_on(const struct t3_hal* hal, uint32_t gpu, enum t3_block block) {
  struct t3_registers registers = {hal, t3_block_base(gpu, block), T3_OK};
  return registers;
}

static inline struct t3_registers t3_own_block(const struct t3_context* context, enum t3_block block) {
  return t3_block_on(const_state_of(context)->hal, const_state_of(context)->gpu, block);
}

static inline void t3_put32(struct t3_registers* r, uint32_t offset, uint32_t value) {
  if (r->status == T3_OK) r->status = r->hal->write32(r->hal->platform, r->base + offset, value);
}

static inline void t3_put64(struct t3_registers* r, uint32_t offset, uint64_t value) {
  if (r->status == T3_OK) r->status = r->hal->write64(r->hal->platform, r->base + offset, value);
}

static inline uint32_t t3_get32(struct t3_registers* r, uint32_t offset) {
  uint32_t value = 0;
  if (r->status == T3_OK) r->status = r->hal->read32(r->hal->platform, r->base + offset, &value);
  return value;
}

static inline uint64_t t3_get64(struct t3_registers* r, uint32_t offset) {
  uint64_t value = 0;
  if (r->status == T3_OK) r->status = r->hal->read64(r->hal->platform, r->base + offset, &value);
  return value;
}

/* Writes a command and reads what became of it: every block that takes commands has the code in bits 7..0 of a status
 * register. */
static inline enum t3_status t3_command(struct t3_registers* r, uint32_t offset, uint32_t command, uint32_t status) {
  t3_put32(r, offset, command);
  const uint32_t result = t3_get32(r, status);
  return r->status != T3_OK ? r->status : (enum t3_status)(result & 0xFF);
}

#endif
