#include "steps.h"

#include "t3/places.h"

static struct t3_places places_of(const struct t3_collective_arguments* p) {
  return (struct t3_places){.gpu = p->gpu, .gpus = p->gpus, .gpus_per_row = p->gpus_per_row};
}

uint32_t t3_other_gpu(const struct t3_collective_arguments* p, uint32_t number) {
  const struct t3_places places = places_of(p);
  return t3_other_of(&places, number);
}

uint32_t t3_square_root(uint64_t square, uint32_t most) {
  uint32_t low = 0, high = most;
  while (low < high) {
    const uint32_t middle = high - (high - low) / 2;
    if ((uint64_t)middle * middle <= square)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

uint32_t t3_two_steps(const struct t3_steps* s) {
  (void)s;
  return 2;
}

uint32_t t3_three_steps(const struct t3_steps* s) {
  (void)s;
  return 3;
}

/* Returns a step of an operation that is defined by what it sends. Step 0 sends and signals all others; step 1 waits
 * for all and adds. */
static struct t3_step step_of_sends(const struct t3_steps* s, uint32_t step) {
  if (step == 0) return (struct t3_step){.transfers = s->operation->sends(s), .tells = T3_TELLS_ALL};
  return (struct t3_step){.awaited = t3_gpus_of(s) - 1, .transfers = s->operation->sum != NULL ? 1 : 0};
}

static struct t3_transfer transfer_of_sends(const struct t3_steps* s, uint32_t step, uint32_t index) {
  return step == 0 ? s->operation->send(s, index) : s->operation->sum(s);
}

static const struct t3_schedule sends = {t3_two_steps, step_of_sends, transfer_of_sends};

static const struct t3_schedule* schedule_of(const struct t3_operation* operation, uint32_t algorithm) {
  const struct t3_schedule* own = &operation->schedules[algorithm];
  if (own->step != NULL) return own;
  return algorithm == T3_DIRECT && operation->send != NULL ? &sends : NULL;
}

static struct t3_ring ring_of(const struct t3_collective_arguments* p) {
  return p->ring_length != 0 ? (struct t3_ring){p->ring_stride, p->ring_length} : (struct t3_ring){1, p->gpus};
}

static struct t3_gathered_output output_of(const struct t3_collective_arguments* p) {
  const struct t3_grid grid = {
      p->rows, p->columns, p->tile_rows, p->tile_columns, 1, p->stride, (enum t3_element)p->element};
  return (struct t3_gathered_output){grid, p->nodes};
}

struct t3_steps t3_steps_of(const struct t3_collective_arguments* p, uint32_t workgroup,
                            struct t3_handing_on handing_on) {
  const struct t3_operation* operation = t3_operations[p->op];
  struct t3_steps s = {.arguments = p,
                       .operation = operation,
                       .schedule = schedule_of(operation, p->algorithm),
                       .collective = {.op = (enum t3_collective_op)p->op,
                                      .algorithm = (enum t3_collective_algorithm)p->algorithm,
                                      .element = (enum t3_element)p->element,
                                      .elements = p->elements,
                                      .gpus_per_node = p->gpus_per_node,
                                      .gpus_per_row = p->gpus_per_row,
                                      .ring = {p->ring_stride, p->ring_length},
                                      .output = output_of(p)},
                       .ring = ring_of(p),
                       .other_way = p->ring_length != 0 && workgroup % 2 != 0,
                       .handing_on = handing_on};
  if (s.schedule != NULL) s.count = s.schedule->count(&s);
  return s;
}

struct t3_transfer t3_copy_of(const struct t3_steps* s, uint64_t offset, uint64_t elements) {
  return (struct t3_transfer){
      .elements = elements, .source = s->arguments->out + offset, .target = s->arguments->out + offset};
}

struct t3_transfer t3_copy_of_buffer(const struct t3_steps* s) {
  return t3_copy_of(s, 0, s->collective.elements);
}

struct t3_transfer t3_copy_of_chunk(const struct t3_steps* s, uint32_t gpu) {
  return t3_copy_of_chunks(s, gpu, 1);
}

struct t3_transfer t3_copy_of_chunks(const struct t3_steps* s, uint32_t first, uint32_t count) {
  const struct t3_collective* c = &s->collective;
  const uint32_t gpus = t3_gpus_of(s), chunk = t3_owned_chunk(c, first, gpus);
  const uint64_t begin = t3_first_of_chunk(c, chunk, gpus),
                 elements = t3_first_of_chunk(c, chunk + count, gpus) - begin;
  if (!t3_is_output(c)) return t3_copy_of(s, t3_bytes_of_elements(s, begin), elements);
  struct t3_transfer transfer = t3_copy_of(s, 0, elements);
  transfer.first_tile = (uint32_t)begin;
  return transfer;
}

struct t3_transfer t3_part_of(const struct t3_steps* s, uint32_t from, uint32_t to) {
  const uint64_t size = t3_chunk_size(s, to);
  return (struct t3_transfer){.elements = size,
                              .source = s->arguments->in + t3_chunk_offset(s, to),
                              .target = s->arguments->out + t3_bytes_of_elements(s, from * size),
                              .to = to};
}

/* Returns the slot for what the GPU at this distance from the chunk's owner sends. */
static uint64_t slot_of(const struct t3_steps* s, uint32_t distance, uint32_t chunk) {
  return s->arguments->staging + (distance - 1) * t3_staging_slot(&s->collective, t3_gpus_of(s)) +
         t3_chunk_offset(s, chunk) % 32;
}

struct t3_transfer t3_addend_for(const struct t3_steps* s, uint32_t number) {
  const struct t3_places places = places_of(s->arguments);
  const uint32_t to = t3_other_gpu(s->arguments, number);
  struct t3_transfer transfer = t3_copy_of_chunk(s, to);
  transfer.to = to;
  transfer.target = slot_of(s, t3_distance_back(&places, t3_distance_of(&places, number)), to);
  return transfer;
}

struct t3_transfer t3_sum_of_chunk(const struct t3_steps* s) {
  const uint32_t self = t3_own_gpu(s);
  struct t3_transfer transfer = t3_copy_of_chunk(s, self);
  transfer.to = self;
  transfer.addends = t3_gpus_of(s) - 1;
  transfer.addend = slot_of(s, 1, self);
  transfer.addend_stride = t3_staging_slot(&s->collective, t3_gpus_of(s));
  return transfer;
}

struct t3_step t3_step_in_network(const struct t3_steps* s, uint32_t step) {
  if (step == 1) return (struct t3_step){.awaited = t3_gpus_of(s)};
  return (struct t3_step){.transfers = 1, .tells = T3_TELLS_BY_SWITCH};
}
