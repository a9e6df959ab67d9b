#include "remember.h"

#include "t3/t3.h"

enum t3_status remember(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  struct t3_context gpu = {0};
  T3_TRY(t3_init(&gpu, hal));
  uint64_t address = 0;
  T3_TRY(t3_malloc(&gpu, 4096, &address));
  const uint32_t written = 42;
  uint32_t read = 0;
  T3_TRY(hal->write_memory(hal->platform, address, &written, sizeof written));
  T3_TRY(hal->read_memory(hal->platform, address, &read, sizeof read));
  if (read != written) return T3_MISMATCH;
  return t3_close(&gpu);
}
