#include "transfer_blocks.h"

enum { SECTOR_BYTES = 32 };

struct t3_transfer_blocks t3_transfer_blocks_of(const struct t3_steps* s, const struct t3_transfer* transfer,
                                                uint32_t block_bytes) {
  struct t3_transfer_blocks blocks = {.element = s->collective.element, .is_output = t3_is_output(&s->collective)};
  if (transfer->elements == 0) return blocks;
  if (blocks.is_output) {
    blocks.output =
        t3_chunk_blocks_of(&s->collective.output.grid, transfer->first_tile, (uint32_t)transfer->elements, block_bytes);
    blocks.count = blocks.output.count;
    return blocks;
  }
  blocks.lead = transfer->source % SECTOR_BYTES;
  blocks.bytes = blocks.lead + t3_bytes_of_elements(s, transfer->elements);
  blocks.each = block_bytes / SECTOR_BYTES * SECTOR_BYTES;
  blocks.count = (blocks.bytes + blocks.each - 1) / blocks.each;
  return blocks;
}

static struct t3_access block_of_output(const struct t3_transfer_blocks* blocks, uint64_t index) {
  const struct t3_chunk_block block = t3_chunk_block_of(&blocks->output, index);
  return (struct t3_access){.address = block.offset,
                            .stride = block.stride,
                            .rows = block.rows,
                            .columns = block.columns,
                            .element = blocks->element,
                            .at_once = true};
}

struct t3_access t3_transfer_block_of(const struct t3_transfer_blocks* blocks, uint64_t index) {
  if (blocks->is_output) return block_of_output(blocks, index);
  const uint64_t begin = index == 0 ? blocks->lead : index * blocks->each, whole_end = (index + 1) * blocks->each;
  const uint64_t end = whole_end < blocks->bytes ? whole_end : blocks->bytes;
  return (struct t3_access){.address = begin - blocks->lead,
                            .rows = 1,
                            .columns = (uint32_t)((end - begin) / t3_element_bytes(blocks->element)),
                            .element = blocks->element,
                            .at_once = true};
}
