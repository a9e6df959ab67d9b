/* Functions of memory and of the DMA engine's fills for the other parts of the driver. */
#ifndef T3_DRIVER_END_OF_MEMORY_H
#define T3_DRIVER_END_OF_MEMORY_H

#include "registers.h"
#include "t3/t3.h"

/* The last bytes of memory for the driver itself, in place of what it had there. */
enum t3_status t3_take_end_of_memory(struct t3_context* context, uint64_t bytes, uint64_t* address);

/* Clears all that holds up the DMA engine's line for ended work. The end of a fill that a timeout has left is noted. */
void t3_clear_dma(struct t3_context* context, struct t3_registers* dma);

#endif
