#include "driver/context_state.h"
#include "driver_errors/misuse.h"
#include "t3/registers/kernel_queue.h"
#include "t3/registers/memory_controller.h"
#include "t3/registers/near_memory.h"
#include "t3/registers/output_map.h"
#include "t3/registers/signals.h"
#include "t3/registers/system.h"

static uint64_t at(const struct stage* s, enum t3_block block, uint64_t offset) {
  return t3_block_base(t3_gpu(&s->gpu), block) + offset;
}

static enum t3_status read32(struct stage* s, uint64_t address) {
  uint32_t value = 0;
  return t3_hal_of(&s->gpu)->read32(t3_hal_of(&s->gpu)->platform, address, &value);
}

static enum t3_status read64(struct stage* s, uint64_t address) {
  uint64_t value = 0;
  return t3_hal_of(&s->gpu)->read64(t3_hal_of(&s->gpu)->platform, address, &value);
}

static enum t3_status write32(struct stage* s, uint64_t address, uint32_t value) {
  return t3_hal_of(&s->gpu)->write32(t3_hal_of(&s->gpu)->platform, address, value);
}

static enum t3_status write64(struct stage* s, uint64_t address, uint64_t value) {
  return t3_hal_of(&s->gpu)->write64(t3_hal_of(&s->gpu)->platform, address, value);
}

static void misused(struct stage* s) {
  tell(s, "64-bit read of 32 bits", read64(s, at(s, T3_BLOCK_KERNEL_QUEUE, T3_KERNEL_QUEUE_ENTRIES_OFFSET)));
  tell(s, "high half of 64 bits alone", write32(s, at(s, T3_BLOCK_OUTPUT_MAP, T3_OUTPUT_MAP_PEER_BASE_OFFSET + 4), 1));
  tell(s, "read between two registers", read32(s, at(s, T3_BLOCK_SYSTEM, T3_SYSTEM_GPU_OFFSET + 2)));
  tell(s, "write of a read-only register", write32(s, at(s, T3_BLOCK_SYSTEM, T3_SYSTEM_GPU_OFFSET), 1));
  tell(s, "read of a write-only register", read32(s, at(s, T3_BLOCK_SYSTEM, T3_SYSTEM_RESET_OFFSET)));
  tell(s, "value that is no policy",
       write32(s, at(s, T3_BLOCK_MEMORY_CONTROLLER, T3_MEMORY_CONTROLLER_ARBITRATION_OFFSET), 200));
  tell(s, "reserved bits", write32(s, at(s, T3_BLOCK_NEAR_MEMORY, T3_NEAR_MEMORY_CONTROL_OFFSET), 0x11));
  tell(s, "reset with another key", write32(s, at(s, T3_BLOCK_SYSTEM, T3_SYSTEM_RESET_OFFSET), 1));
  tell(s, "offset without a register", read32(s, at(s, T3_BLOCK_TRACKER, 0x8000)));
  tell(s, "block that is not there", read32(s, at(s, T3_BLOCK_COUNT, 0)));
  tell(s, "memory that is not there", read64(s, t3_on_gpu(t3_gpu(&s->gpu), UINT64_C(1) << 30)));
  tell(s, "neither memory nor register", write64(s, t3_on_gpu(t3_gpu(&s->gpu), UINT64_C(0xE) << 40), 1));
  tell(s, "read of the GPU's number", read32(s, at(s, T3_BLOCK_SYSTEM, T3_SYSTEM_GPU_OFFSET)));
}

static void misused_peers(struct stage* s) {
  const uint32_t peer = t3_ring_previous(&s->gpu);
  tell(s, "read of a peer's register", read32(s, t3_block_base(peer, T3_BLOCK_SYSTEM)));
  tell(s, "write to GPU 9", write32(s, t3_block_base(9, T3_BLOCK_SYSTEM), 1));
  tell(s, "write of a peer's kernel queue", write32(s, t3_block_base(peer, T3_BLOCK_KERNEL_QUEUE), 1));
  tell(s, "half of a signal", write32(s, t3_block_base(peer, T3_BLOCK_SIGNALS) + T3_SIGNALS_ADD_OFFSET + 8, 1));
  tell(s, "a signal", write64(s, t3_block_base(peer, T3_BLOCK_SIGNALS) + T3_SIGNALS_ADD_OFFSET + 8, 1));
}

static void locked(struct stage* s) {
  const struct operands o = operands_of(s);
  tell(s, "gemm", t3_gemm(&s->gpu, &s->out, &o.a, &o.b, (struct t3_gemm_options){.update = false}));
  tell(s, "another ring", write64(s, at(s, T3_BLOCK_KERNEL_QUEUE, T3_KERNEL_QUEUE_BASE_OFFSET), 0x10000));
  struct t3_context second;
  tell(s, "a second driver", t3_init(&second, t3_hal_of(&s->gpu)));
  tell(s, "the gemm's end", t3_wait_kernels(&s->gpu));
  tell(s, "the ring again",
       write64(s, at(s, T3_BLOCK_KERNEL_QUEUE, T3_KERNEL_QUEUE_BASE_OFFSET), state_of(&s->gpu)->queues[0].base));
}

enum t3_status guest_register_misuse(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, misused);
}

enum t3_status guest_misuse_of_peers(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, misused_peers);
}

enum t3_status guest_locked_registers(const struct t3_hal* hal, const struct t3_run* run) {
  return misuse_then_work(hal, run, locked);
}
