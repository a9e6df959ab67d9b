/* The buffer of a collective operation lies at the same local address on all GPUs. */
#ifndef T3_PROGRAMS_COLLECTIVE_BUFFER_H
#define T3_PROGRAMS_COLLECTIVE_BUFFER_H

#include "t3/arguments/collective.h"
#include "t3/collective.h"

struct t3_collective_buffer {
  uint64_t address;
  uint64_t elements; /* of a flat buffer */
  enum t3_element element;
  struct t3_gathered_output output;
};

/* The kernel's arguments that say which buffer it is. The caller adds the others. */
static inline struct t3_collective_arguments t3_arguments_for(const struct t3_collective_buffer* buffer) {
  const struct t3_grid* output = &buffer->output.grid;
  const struct t3_collective_arguments arguments = {.out = buffer->address,
                                                    .elements = buffer->elements,
                                                    .rows = output->rows,
                                                    .columns = output->columns,
                                                    .stride = (uint32_t)output->stride,
                                                    .nodes = (uint16_t)buffer->output.nodes,
                                                    .tile_rows = (uint16_t)output->tile_rows,
                                                    .tile_columns = (uint16_t)output->tile_columns,
                                                    .element = (uint8_t)buffer->element};
  return arguments;
}

#endif
