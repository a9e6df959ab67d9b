/* Every firmware header, as strict C11. */
#include "registers/firmware_headers.h"

#include "t3/registers/cache.h"
#include "t3/registers/dma.h"
#include "t3/registers/error_log.h"
#include "t3/registers/interrupt_controller.h"
#include "t3/registers/kernel_queue.h"
#include "t3/registers/links.h"
#include "t3/registers/memory_controller.h"
#include "t3/registers/near_memory.h"
#include "t3/registers/output_map.h"
#include "t3/registers/signals.h"
#include "t3/registers/system.h"
#include "t3/registers/tracker.h"
#include "t3/status.h"

const char* text_of_code(uint32_t code) { return t3_status_text((t3_status)code); }

uint32_t staged_update(void) {
  return T3_DMA_COMMAND_ACTION_ADD << T3_DMA_COMMAND_ACTION_SHIFT | T3_DMA_COMMAND_OPERATION_UPDATE
                                                                        << T3_DMA_COMMAND_OPERATION_SHIFT;
}

uint32_t address_of_counter(uint32_t i) { return T3_SIGNALS_ADD_OFFSET + i * T3_SIGNALS_ADD_STRIDE; }
