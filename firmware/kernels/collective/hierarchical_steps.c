/* N GPUs in M nodes of K: GPU m K + p has place p in node m. What goes to other nodes goes between GPUs of one place,
 * and each node sends another one every element once.
 *
 * Reduce-scatter: step 0 sends the chunks of the other places, of all nodes, to those places of its node; step 1 sends
 * what is added of its own place's chunks to the nodes that own them; step 2 adds what has come for its own.
 * All-gather: the other way round. All-to-all: step 0 sends what is for another place, of any node, to that place of
 * its node; step 1 sends what the node has for its own place elsewhere. Broadcast: to the first places, and from there
 * on. */
#include "steps.h"

struct place {
  uint32_t node, place;
};

static uint32_t per_node(const struct t3_steps* s) { return s->collective.gpus_per_node; }
static uint32_t nodes_of(const struct t3_steps* s) { return s->arguments->gpus / per_node(s); }
static uint32_t others_of(const struct t3_steps* s) { return per_node(s) - 1; }
static struct place own(const struct t3_steps* s) {
  return (struct place){s->arguments->gpu / per_node(s), s->arguments->gpu % per_node(s)};
}
static uint32_t number_of(const struct t3_steps* s, struct place at) { return at.node * per_node(s) + at.place; }

/* So many nodes or places further on, up to a round. */
static uint32_t node_behind(const struct t3_steps* s, uint32_t node, uint32_t distance) {
  return (node + distance) % nodes_of(s);
}
static uint32_t place_behind(const struct t3_steps* s, uint32_t place, uint32_t distance) {
  return (place + distance) % per_node(s);
}
static uint32_t nodes_between(const struct t3_steps* s, uint32_t from, uint32_t to) {
  return (to + nodes_of(s) - from) % nodes_of(s);
}
static uint32_t places_between(const struct t3_steps* s, uint32_t from, uint32_t to) {
  return (to + per_node(s) - from) % per_node(s);
}

static uint64_t bytes_of(const struct t3_steps* s, uint64_t elements) {
  return elements * t3_element_bytes(s->collective.element);
}
static uint64_t size_of(const struct t3_steps* s, uint32_t chunk) {
  return t3_flat_chunk_size(s->collective.elements, chunk, s->arguments->gpus);
}
static uint64_t offset_of(const struct t3_steps* s, uint32_t chunk) {
  return bytes_of(s, t3_flat_chunk_begin(s->collective.elements, chunk, s->arguments->gpus));
}

/* Of the receiver's staging buffer, for a part of this chunk. */
static uint64_t slot(const struct t3_steps* s, uint32_t number, uint32_t chunk) {
  return s->arguments->staging + number * t3_staging_slot(&s->collective, s->arguments->gpus) +
         offset_of(s, chunk) % 32;
}

/* A sum's slots: first for what comes from other nodes, then for what its node's GPUs add to this node's chunk, behind
 * it to the next node's. */
static uint32_t slot_of_sum(const struct t3_steps* s, uint32_t nodes_on, uint32_t places_on) {
  return nodes_of(s) - 1 + nodes_on * others_of(s) + places_on - 1;
}

static struct t3_transfer chunk_to(const struct t3_steps* s, uint32_t chunk, struct place to) {
  const uint64_t at = s->arguments->out + offset_of(s, chunk);
  return (struct t3_transfer){.elements = size_of(s, chunk), .source = at, .target = at, .to = number_of(s, to)};
}

static struct t3_transfer reduce(const struct t3_steps* s, uint32_t step, uint32_t index) {
  const struct place self = own(s);
  struct t3_transfer transfer;
  if (step == 0) {
    const uint32_t distance = index % others_of(s) + 1, nodes_on = index / others_of(s);
    const struct place to = {self.node, place_behind(s, self.place, distance)};
    const uint32_t chunk = number_of(s, (struct place){node_behind(s, self.node, nodes_on), to.place});
    transfer = chunk_to(s, chunk, to);
    transfer.target = slot(s, slot_of_sum(s, nodes_on, per_node(s) - distance), chunk);
    return transfer;
  }
  const uint32_t nodes_on = step == 1 ? index + 1 : 0;
  const struct place to = {node_behind(s, self.node, nodes_on), self.place};
  const uint32_t chunk = number_of(s, to);
  transfer = chunk_to(s, chunk, to);
  transfer.addends = others_of(s) + (step == 1 ? 0 : nodes_of(s) - 1);
  transfer.addend = slot(s, step == 1 ? slot_of_sum(s, nodes_on, 1) : 0, chunk);
  transfer.addend_stride = t3_staging_slot(&s->collective, s->arguments->gpus);
  if (step == 1) transfer.target = slot(s, nodes_of(s) - nodes_on - 1, chunk);
  return transfer;
}

static struct t3_transfer gather(const struct t3_steps* s, uint32_t step, uint32_t index) {
  const struct place self = own(s);
  if (step == 0)
    return chunk_to(s, s->arguments->gpu, (struct place){node_behind(s, self.node, index + 1), self.place});
  const struct place owner = {node_behind(s, self.node, index / others_of(s)), self.place};
  return chunk_to(s, number_of(s, owner),
                  (struct place){self.node, place_behind(s, self.place, index % others_of(s) + 1)});
}

/* What GPU `from` has for GPU `to`, from where it has been sent to where it is received. */
static struct t3_transfer part_of(const struct t3_steps* s, struct place from, struct place to) {
  const uint32_t owner = number_of(s, to);
  return (struct t3_transfer){.elements = size_of(s, owner),
                              .source = s->arguments->in + offset_of(s, owner),
                              .target = s->arguments->out + bytes_of(s, number_of(s, from) * size_of(s, owner)),
                              .to = owner};
}

/* Where a part waits that comes from so many places further on, for the node so many further on. */
static uint64_t waiting(const struct t3_steps* s, uint32_t places_on, uint32_t nodes_on, struct place to) {
  return slot(s, (places_on - 1) * (nodes_of(s) - 1) + nodes_on - 1, number_of(s, to));
}

static struct t3_transfer exchange(const struct t3_steps* s, uint32_t step, uint32_t index) {
  const struct place self = own(s);
  if (step == 0) {
    if (index == others_of(s) * nodes_of(s)) return part_of(s, self, self);
    const uint32_t distance = index % others_of(s) + 1, nodes_on = index / others_of(s);
    const struct place to = {node_behind(s, self.node, nodes_on), place_behind(s, self.place, distance)};
    struct t3_transfer transfer = part_of(s, self, to);
    if (nodes_on != 0) transfer.target = waiting(s, per_node(s) - distance, nodes_on, to);
    transfer.to = number_of(s, (struct place){self.node, to.place});
    return transfer;
  }
  const struct place to = {node_behind(s, self.node, index / per_node(s) + 1), self.place};
  const struct place from = {self.node, place_behind(s, self.place, index % per_node(s))};
  struct t3_transfer transfer = part_of(s, from, to);
  if (from.place != self.place)
    transfer.source = waiting(s, places_between(s, self.place, from.place), nodes_between(s, self.node, to.node), to);
  return transfer;
}

static struct t3_transfer broadcast(const struct t3_steps* s, uint32_t step, uint32_t index) {
  const struct place self = own(s);
  const uint64_t at = s->arguments->out;
  const struct place to = step == 0 ? (struct place){index + 1, 0} : (struct place){self.node, index + 1};
  return (struct t3_transfer){.elements = s->collective.elements, .source = at, .target = at, .to = number_of(s, to)};
}

struct t3_transfer t3_hierarchical_transfer(const struct t3_steps* s, uint32_t step, uint32_t index) {
  switch (s->collective.op) {
    case T3_REDUCE_SCATTER:
      return reduce(s, step, index);
    case T3_ALL_GATHER:
      return gather(s, step, index);
    case T3_ALL_TO_ALL:
      return exchange(s, step, index);
    default:
      return broadcast(s, step, index);
  }
}

static struct t3_step step_of_broadcast(const struct t3_steps* s, uint32_t step) {
  const bool is_first = own(s).place == 0, is_root = s->arguments->gpu == 0;
  if (step == 0)
    return is_root ? (struct t3_step){.transfers = nodes_of(s) - 1, .tells = T3_TELLS_OTHER_NODES}
                   : (struct t3_step){0};
  if (step == 2) return (struct t3_step){.awaited = is_first ? 0 : 1};
  if (!is_first) return (struct t3_step){0};
  return (struct t3_step){
      .awaited = is_root ? 0 : 1, .transfers = others_of(s), .tells = T3_TELLS_NODE, .awaits_second = true};
}

struct t3_step t3_hierarchical_step(const struct t3_steps* s, uint32_t step) {
  const enum t3_collective_op op = s->collective.op;
  const uint32_t others = others_of(s), other_nodes = nodes_of(s) - 1;
  if (op == T3_BROADCAST) return step_of_broadcast(s, step);
  const bool is_gather = op == T3_ALL_GATHER;
  const enum t3_told inside_or_between[] = {T3_TELLS_NODE, T3_TELLS_OTHER_NODES};
  struct t3_step result = {0};
  if (step < 2) result.tells = inside_or_between[(step == 1) != is_gather];
  if (step > 0) {
    result.awaits_second = (step == 2) != is_gather;
    result.awaited = result.awaits_second ? other_nodes : others;
  }
  if (is_gather)
    result.transfers = step == 0 ? other_nodes : step == 1 ? nodes_of(s) * others : 0;
  else if (op == T3_REDUCE_SCATTER)
    result.transfers = step == 0 ? nodes_of(s) * others : step == 1 ? other_nodes : 1;
  else
    result.transfers = step == 0 ? nodes_of(s) * others + 1 : step == 1 ? other_nodes * per_node(s) : 0;
  return result;
}
