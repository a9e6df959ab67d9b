/* GPU g of N; a ring's GPU sends to g - 1, to the previous member where rings are of one dimension of a torus. There g
 * and N are a place and the ring's length, a chunk is a member's: those of as many GPUs as the stride is, and every
 * second workgroup goes the other way round, with places counted backwards, so that both links of the dimension carry
 * half of all.
 *
 * Direct: step 0 sends all that others want, to each the same way, and tells all of them; step 1 waits until N - 1 have
 * told this one, and of a reduce-scatter adds what has come. A broadcast has one that tells. An all-reduce has step 1
 * store the sum to all and tell them in the second counters, for which step 2 waits.
 *
 * Ring, step s waits for s signals. Reduce-scatter: steps 0 to N-2 send chunk (g+1+s) mod N with what has come added,
 * step N-1 adds chunk g. All-gather: steps 0 to N-2 send chunk (g+s) mod N. All-to-all: step s sends what of GPU
 * (g+s) mod N's buffer is for those behind this one: a part that has come to its owner is stored where it belongs, all
 * others in the staging buffer, in the slot of the hops that they have behind them. Broadcast: step s sends piece s,
 * and the last in the ring, GPU 1, nothing.
 *
 * In-switch: step 0 moves this GPU's chunk, of a broadcast the root's buffer: from all as a sum, or from here, and to
 * all or here; it tells all, itself too, and step 1 waits until all have told it. */
#include "steps.h"

#include "t3/address.h"
#include "t3/places.h"

static uint32_t gpus_of(const struct t3_steps* s) { return s->arguments->gpus; }
static uint32_t gpu_of(const struct t3_steps* s) { return s->arguments->gpu; }

/* So many GPUs further on, up to a round. */
static uint32_t behind(const struct t3_steps* s, uint32_t gpu, uint32_t distance) {
  return (uint32_t)(((uint64_t)gpu + distance) % gpus_of(s));
}
static struct t3_places places_of(const struct t3_collective_arguments* p) {
  return (struct t3_places){.gpu = p->gpu, .gpus = p->gpus, .gpus_per_row = p->gpus_per_row};
}
uint32_t t3_other_gpu(const struct t3_collective_arguments* p, uint32_t number) {
  const struct t3_places places = places_of(p);
  return t3_other_of(&places, number);
}

static struct t3_ring ring_of(const struct t3_collective_arguments* p) {
  return p->ring_length != 0 ? (struct t3_ring){p->ring_stride, p->ring_length} : (struct t3_ring){1, p->gpus};
}
static uint32_t place_in(struct t3_ring ring, uint32_t gpu) { return gpu / ring.stride % ring.length; }
/* The GPU so many places further on in this one's ring, up to a round. */
static uint32_t member(const struct t3_steps* s, uint32_t distance) {
  const uint32_t place = place_in(s->ring, gpu_of(s)), length = s->ring.length;
  const uint32_t there = s->other_way ? place + length - distance % length : place + distance;
  return gpu_of(s) - place * s->ring.stride + there % length * s->ring.stride;
}
uint32_t t3_previous_gpu(const struct t3_steps* s) { return member(s, s->ring.length - 1); }

static uint64_t bytes_of(const struct t3_steps* s, uint64_t elements) {
  return elements * t3_element_bytes(s->collective.element);
}
static uint64_t size_of(const struct t3_steps* s, uint32_t chunk) {
  return t3_flat_chunk_size(s->collective.elements, chunk, gpus_of(s));
}
/* Bytes from a buffer's start. */
static uint64_t offset_of(const struct t3_steps* s, uint32_t chunk) {
  return bytes_of(s, t3_flat_chunk_begin(s->collective.elements, chunk, gpus_of(s)));
}

struct t3_steps t3_steps_of(const struct t3_collective_arguments* p, uint32_t workgroup, uint64_t piece_bytes) {
  struct t3_steps s = {.arguments = p,
                       .collective = {.op = (enum t3_collective_op)p->op,
                                      .algorithm = (enum t3_collective_algorithm)p->algorithm,
                                      .element = (enum t3_element)p->element,
                                      .elements = p->elements,
                                      .gpus_per_node = p->gpus_per_node,
                                      .gpus_per_row = p->gpus_per_row,
                                      .ring = {p->ring_stride, p->ring_length}},
                       .ring = ring_of(p),
                       .other_way = p->ring_length != 0 && workgroup % 2 != 0,
                       .pieces = 1};
  s.count = s.ring.length;
  if (p->algorithm == T3_DIRECT || p->algorithm == T3_IN_SWITCH) {
    s.count = p->op == T3_ALL_REDUCE && p->algorithm == T3_DIRECT ? 3 : 2;
  } else if (p->algorithm == T3_HIERARCHICAL) {
    s.count = 3;
  } else if (p->op == T3_BROADCAST) {
    const uint64_t most = 4 * (uint64_t)p->gpus; /* the last GPU then waits for a quarter of the transfer more */
    const uint64_t worth = bytes_of(&s, p->elements) / piece_bytes;
    s.count = s.pieces = worth > most ? (uint32_t)most : worth == 0 ? 1 : (uint32_t)worth;
  }
  return s;
}

static struct t3_step step_of_direct(const struct t3_steps* s, uint32_t step) {
  const uint32_t others = gpus_of(s) - 1;
  const bool is_broadcast = s->collective.op == T3_BROADCAST, is_root = gpu_of(s) == 0;
  if (step == 2) return (struct t3_step){.awaited = others, .awaits_second = true};
  if (step == 1 && s->collective.op == T3_ALL_REDUCE)
    return (struct t3_step){.awaited = others, .transfers = 1, .tells = T3_TELLS_ALL_AGAIN};
  if (step == 1) {
    const uint64_t awaited = !is_broadcast ? others : is_root ? 0 : 1;
    return (struct t3_step){.awaited = awaited, .transfers = s->collective.op == T3_REDUCE_SCATTER ? 1 : 0};
  }
  if (is_broadcast && !is_root) return (struct t3_step){0};
  struct t3_step first = {.transfers = 1, .tells = T3_TELLS_ALL};
  if (t3_reduces(&s->collective)) first.transfers = others;
  if (s->collective.op == T3_ALL_TO_ALL) first.transfers = others + 1;
  return first;
}

static struct t3_step step_in_switch(const struct t3_steps* s, uint32_t step) {
  const bool is_broadcast = s->collective.op == T3_BROADCAST;
  if (step == 1) return (struct t3_step){.awaited = is_broadcast ? 1 : gpus_of(s)};
  if (is_broadcast && gpu_of(s) != 0) return (struct t3_step){0};
  return (struct t3_step){.transfers = 1, .tells = T3_TELLS_BY_SWITCH};
}

static struct t3_step step_of_ring(const struct t3_steps* s, uint32_t step) {
  const bool is_last = step + 1 == s->ring.length;
  if (s->collective.op == T3_BROADCAST) {
    const uint64_t awaited = gpu_of(s) == 0 ? 0 : (uint64_t)step + 1;
    if (gpu_of(s) == 1) return (struct t3_step){.awaited = awaited};
    return (struct t3_step){.awaited = awaited, .transfers = 1, .tells = T3_TELLS_PREVIOUS};
  }
  struct t3_step result = {
      .awaited = step, .transfers = is_last ? 0 : 1, .tells = is_last ? T3_TELLS_NOBODY : T3_TELLS_PREVIOUS};
  if (s->collective.op == T3_REDUCE_SCATTER) result.transfers = 1;
  if (s->collective.op == T3_ALL_TO_ALL) /* first its own part as well */
    result.transfers = gpus_of(s) - 1 - step + (step == 0 ? 1 : 0);
  return result;
}

struct t3_step t3_step_of(const struct t3_steps* s, uint32_t step) {
  switch (s->collective.algorithm) {
    case T3_DIRECT:
      return step_of_direct(s, step);
    case T3_HIERARCHICAL:
      return t3_hierarchical_step(s, step);
    case T3_IN_SWITCH:
      return step_in_switch(s, step);
    default:
      return step_of_ring(s, step);
  }
}

/* From the buffer to the same place of another GPU's, or of all. */
static struct t3_transfer copy_of(const struct t3_steps* s, uint64_t offset, uint64_t elements) {
  return (struct t3_transfer){
      .elements = elements, .source = s->arguments->out + offset, .target = s->arguments->out + offset};
}

static struct t3_transfer copy_of_chunk(const struct t3_steps* s, uint32_t chunk) {
  return copy_of(s, offset_of(s, chunk), size_of(s, chunk));
}

static struct t3_transfer copy_of_piece(const struct t3_steps* s, uint32_t piece) {
  return copy_of(s, bytes_of(s, t3_flat_chunk_begin(s->collective.elements, piece, s->pieces)),
                 t3_flat_chunk_size(s->collective.elements, piece, s->pieces));
}

/* What the member so many places further on owns. */
static struct t3_transfer copy_of_range(const struct t3_steps* s, uint32_t distance) {
  const uint64_t elements = s->collective.elements;
  const uint32_t first = member(s, distance) / s->ring.stride * s->ring.stride;
  const uint64_t begin = t3_flat_chunk_begin(elements, first, gpus_of(s));
  return copy_of(s, bytes_of(s, begin), t3_flat_chunk_begin(elements, first + s->ring.stride, gpus_of(s)) - begin);
}

/* Where the GPU so far behind the chunk's owner puts what it sends. */
static uint64_t slot_of(const struct t3_steps* s, uint32_t distance, uint32_t chunk) {
  return s->arguments->staging + (distance - 1) * t3_staging_slot(&s->collective, gpus_of(s)) +
         offset_of(s, chunk) % 32;
}

static struct t3_transfer reduce_directly(const struct t3_steps* s, uint32_t step, uint32_t index) {
  const uint32_t self = gpu_of(s), number = index + 1;
  struct t3_transfer transfer = copy_of_chunk(s, step == 0 ? t3_other_gpu(s->arguments, number) : self);
  transfer.to = self;
  if (step == 1) {
    transfer.addends = gpus_of(s) - 1;
    transfer.addend = slot_of(s, 1, self);
    transfer.addend_stride = t3_staging_slot(&s->collective, gpus_of(s));
    transfer.to_all = s->collective.op == T3_ALL_REDUCE;
    return transfer;
  }
  transfer.to = t3_other_gpu(s->arguments, number);
  const struct t3_places places = places_of(s->arguments);
  transfer.target = slot_of(s, t3_distance_back(&places, t3_distance_of(&places, number)), transfer.to);
  return transfer;
}

/* Where what a step has sent waits: of the ring of all at the place of its own chunk. Those of a dimension have a slot
 * for each step and way, so that it is at the same place on all GPUs. */
static uint64_t staged(const struct t3_steps* s, uint32_t step, uint64_t source) {
  const uint64_t staging = s->arguments->staging;
  if (s->collective.ring.length == 0) return staging + source - s->arguments->out;
  const uint64_t slot = 2 * (uint64_t)step + (s->other_way ? 1 : 0);
  return staging + slot * t3_ring_slot(&s->collective, s->ring, gpus_of(s)) + source % 32;
}

static struct t3_transfer reduce_in_ring(const struct t3_steps* s, uint32_t step) {
  const bool is_last = step + 1 == s->ring.length;
  struct t3_transfer transfer = copy_of_range(s, step + 1);
  transfer.addends = step == 0 ? 0 : 1;
  if (step != 0) transfer.addend = staged(s, step - 1, transfer.source);
  transfer.to = is_last ? gpu_of(s) : t3_previous_gpu(s);
  if (!is_last) transfer.target = staged(s, step, transfer.source);
  return transfer;
}

/* The part of GPU `from`'s buffer that is for GPU `to`, from where it has been sent to where it is received. */
static struct t3_transfer part_of(const struct t3_steps* s, uint32_t from, uint32_t to) {
  const uint64_t size = size_of(s, to);
  return (struct t3_transfer){.elements = size,
                              .source = s->arguments->in + offset_of(s, to),
                              .target = s->arguments->out + bytes_of(s, from * size),
                              .to = to};
}

/* What waits in a staging buffer, so many hops behind. */
static uint64_t waiting(const struct t3_steps* s, uint32_t hops, uint32_t to) {
  return s->arguments->staging + (hops - 1) * t3_staging_slot(&s->collective, gpus_of(s)) + offset_of(s, to);
}

/* Those that go farthest go first. */
static struct t3_transfer hand_on(const struct t3_steps* s, uint32_t step, uint32_t index) {
  const uint32_t from = behind(s, gpu_of(s), step);
  struct t3_transfer transfer = part_of(s, from, behind(s, from, index + 1));
  if (step == 0 && index + 1 == gpus_of(s)) return part_of(s, from, from);
  if (step != 0) transfer.source = waiting(s, step, transfer.to);
  if (transfer.to != t3_previous_gpu(s)) transfer.target = waiting(s, step + 1, transfer.to);
  transfer.to = t3_previous_gpu(s);
  return transfer;
}

static struct t3_transfer transfer_of_direct(const struct t3_steps* s, uint32_t step, uint32_t index) {
  struct t3_transfer transfer;
  switch (s->collective.op) {
    case T3_REDUCE_SCATTER:
    case T3_ALL_REDUCE:
      return reduce_directly(s, step, index);
    case T3_ALL_TO_ALL:
      return part_of(s, gpu_of(s), t3_other_gpu(s->arguments, (index + 1) % gpus_of(s)));
    case T3_BROADCAST:
      transfer = copy_of(s, 0, s->collective.elements);
      break;
    default:
      transfer = copy_of_chunk(s, gpu_of(s));
      break;
  }
  transfer.to_all = true;
  return transfer;
}

static struct t3_transfer transfer_in_switch(const struct t3_steps* s) {
  const enum t3_collective_op op = s->collective.op;
  struct t3_transfer transfer =
      op == T3_BROADCAST ? copy_of(s, 0, s->collective.elements) : copy_of_chunk(s, gpu_of(s));
  transfer.to = gpu_of(s);
  transfer.sums = t3_reduces(&s->collective);
  transfer.by_switch = op != T3_REDUCE_SCATTER;
  return transfer;
}

struct t3_transfer t3_transfer_of(const struct t3_steps* s, uint32_t step, uint32_t index) {
  if (s->collective.algorithm == T3_DIRECT) return transfer_of_direct(s, step, index);
  if (s->collective.algorithm == T3_HIERARCHICAL) return t3_hierarchical_transfer(s, step, index);
  if (s->collective.algorithm == T3_IN_SWITCH) return transfer_in_switch(s);
  struct t3_transfer transfer;
  switch (s->collective.op) {
    case T3_REDUCE_SCATTER:
      return reduce_in_ring(s, step);
    case T3_ALL_TO_ALL:
      return hand_on(s, step, index);
    case T3_BROADCAST:
      transfer = copy_of_piece(s, step);
      break;
    default:
      transfer = copy_of_range(s, step);
      break;
  }
  transfer.to = t3_previous_gpu(s);
  return transfer;
}
