#include "context_state.h"

static uint64_t tiles(uint32_t elements, uint32_t tile) {
  return tile == 0 ? 0 : ((uint64_t)elements + tile - 1) / tile;
}

uint32_t t3_workgroups(const struct t3_output* output) {
  if (output == NULL) return 0;
  const uint64_t all =
      tiles(output->matrix.rows, output->tiling.rows) * tiles(output->matrix.columns, output->tiling.columns);
  return all <= UINT32_MAX ? (uint32_t)all : 0;
}

struct t3_chunk t3_chunk_of(const struct t3_output* output, uint32_t index, uint32_t chunks) {
  if (index >= chunks) return (struct t3_chunk){0};
  const uint64_t workgroups = t3_workgroups(output);
  const uint64_t begin = workgroups * index / chunks, end = workgroups * ((uint64_t)index + 1) / chunks;
  return (struct t3_chunk){.first_workgroup = (uint32_t)begin, .workgroups = (uint32_t)(end - begin)};
}

struct t3_chunk t3_ring_chunk(const struct t3_context* context, const struct t3_output* output, uint32_t step) {
  if (!t3_is_open(context)) return (struct t3_chunk){0};
  return t3_chunk_of(output, (uint32_t)(((uint64_t)context->gpu + 1 + step) % context->gpus), context->gpus);
}

uint64_t t3_peer_address(const struct t3_matrix* matrix, uint32_t gpu) {
  return matrix == NULL ? 0 : t3_on_gpu(gpu, matrix->address);
}
