#include "t3/t3.h"

static uint32_t tiles(uint32_t elements, uint32_t tile) {
  return tile == 0 ? 0 : (uint32_t)(((uint64_t)elements + tile - 1) / tile);
}

uint32_t t3_workgroups(const struct t3_output* output) {
  return tiles(output->matrix.rows, output->tiling.rows) * tiles(output->matrix.columns, output->tiling.columns);
}

static uint32_t chunk_begin(const struct t3_output* output, uint32_t index, uint32_t chunks) {
  return (uint32_t)((uint64_t)t3_workgroups(output) * index / chunks);
}

struct t3_chunk t3_chunk_of(const struct t3_output* output, uint32_t index, uint32_t chunks) {
  const uint32_t begin = chunk_begin(output, index, chunks);
  return (struct t3_chunk){.first_workgroup = begin, .workgroups = chunk_begin(output, index + 1, chunks) - begin};
}

struct t3_chunk t3_ring_chunk(const struct t3_context* context, const struct t3_output* output, uint32_t step) {
  return t3_chunk_of(output, (context->gpu + 1 + step) % context->gpus, context->gpus);
}

uint64_t t3_peer_address(const struct t3_matrix* matrix, uint32_t gpu) { return t3_on_gpu(gpu, matrix->address); }
