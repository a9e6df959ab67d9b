#include "context_state.h"
#include "registers.h"
#include "t3/registers/error_log.h"
#include "wait.h"

static enum t3_status next_error(struct t3_context* context, struct t3_error* error) {
  if (error == NULL) return t3_at_fault(context, "error", "a place for the entry");
  *error = (struct t3_error){.code = T3_OK};
  struct t3_registers log = t3_own_block(context, T3_BLOCK_ERROR_LOG);
  if (t3_get32(&log, T3_ERROR_LOG_COUNT_OFFSET) == 0) return log.status;
  const uint32_t code = t3_get32(&log, T3_ERROR_LOG_CODE_OFFSET);
  error->code = (enum t3_status)((code & T3_ERROR_LOG_CODE_STATUS_MASK) >> T3_ERROR_LOG_CODE_STATUS_SHIFT);
  error->block = (enum t3_block)t3_get32(&log, T3_ERROR_LOG_BLOCK_OFFSET);
  error->address = t3_get64(&log, T3_ERROR_LOG_ADDRESS_OFFSET);
  error->time_ns = t3_get64(&log, T3_ERROR_LOG_TIME_NS_OFFSET);
  t3_put32(&log, T3_ERROR_LOG_POP_OFFSET, 1);
  return log.status;
}

enum t3_status t3_next_error(struct t3_context* context, struct t3_error* error) {
  return T3_LOCKED(context, next_error(context, error));
}
