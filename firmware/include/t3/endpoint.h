/* Collectives by the endpoint engine, without compute units (system file: endpoint): each GPU of a ring has a buffer,
 * and starts the same collectives in the same order. The engine reads what this GPU adds from memory once, adds in a
 * memory of its own what the previous GPU sends, and sends it on to the next one.
 *
 * The engine reads and writes memory, not the last-level cache: release or flush first what kernels have stored
 * (t3/streams.h), or let them store past the cache (T3_UNCACHED).
 *
 * Errors. All calls: T3_INVALID_ARGUMENT for a context that is not open; T3_STALE after a reset; T3_NO_PEER where the
 * GPU has no endpoint engine. */
#ifndef T3_ENDPOINT_H
#define T3_ENDPOINT_H

#include "t3/t3.h"

#ifdef __cplusplus
extern "C" {
#endif

enum t3_endpoint_operation T3_OF_32_BITS { T3_ENDPOINT_REDUCE_SCATTER, T3_ENDPOINT_ALL_GATHER, T3_ENDPOINT_ALL_REDUCE };

/* The buffer is cut into a part for each place of the ring, of whole 32 bytes. The part of place p is
 * t3_endpoint_part_begin(bytes, p, gpus) to that of p + 1. Sums begin at the place behind the owner's, and each place
 * adds its own in the element type. */
struct t3_endpoint_collective {
  enum t3_endpoint_operation operation;
  enum t3_element element;
  uint64_t address, bytes; /* multiples of 32 */
  uint32_t place, gpus;    /* of this GPU; 2 or more */
  uint32_t next, previous; /* numbers of the GPUs at the places beside it */
  uint32_t ring;           /* of the engine's: they work at once, and each does one collective after the other */
};

static inline uint64_t t3_endpoint_part_begin(uint64_t bytes, uint32_t place, uint32_t gpus) {
  return bytes / 32 * place / gpus * 32;
}

/* Rings of the engine. */
enum t3_status t3_endpoint_rings(struct t3_context* context, uint32_t* rings);
/* From now on so many rings share the engine's memory, 1 to t3_endpoint_rings: those below this number. All GPUs use
 * the same number, and T3_BUSY while a collective runs. After t3_init it is t3_endpoint_rings. */
enum t3_status t3_endpoint_use_rings(struct t3_context* context, uint32_t rings);
/* Starts a collective and returns. T3_INVALID_ARGUMENT for no bytes, a ring that is not used, or a place that is none
 * of the ring's; T3_UNALIGNED; T3_BAD_ADDRESS when the buffer is not in this GPU's memory; T3_NO_PEER for a neighbour
 * that is not there; T3_OVERLAP when another collective has not ended that uses some of the bytes; T3_BUSY when the
 * ring holds no more (endpoint.collectives); T3_ABORTED when one of the ring has failed since the reset. */
enum t3_status t3_endpoint_start(struct t3_context* context, const struct t3_endpoint_collective* collective);
/* Waits until all collectives have ended: their results are in this GPU's memory, and what it sends has left. Returns
 * the first failure: T3_MISMATCH when the ring's GPUs have not started the same ones, T3_PEER_FAILED when another GPU
 * has met one, or what memory has answered; T3_TIMEOUT or T3_STUCK. */
enum t3_status t3_endpoint_wait(struct t3_context* context);

#ifdef __cplusplus
}
#endif

#endif
