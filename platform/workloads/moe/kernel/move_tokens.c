/* Dispatch and combine: rows go straight to their place on another GPU. Lists are taken round-robin over the GPUs,
 * so that all links are busy; large ones are shared by several workgroups. The workgroup that has moved the last
 * part of a list tells its receiver. Public description of kernels that do this: DeepEP
 * (github.com/deepseek-ai/DeepEP). */
#include "t3/arguments/move_tokens.h"
#include "moe_kernels.h"
#include "t3/shmem_device.h"

enum { WAVES = 4 }; /* for each of a ring kernel's: rows are small, and each has its own address */

/* The list that this workgroup works at, its share of it, and what its waves have in common. */
struct share {
  uint32_t rows, begin, end; /* rows of the list; of those that travel, the first and the last of this part */
  bool failed;
  struct t3_shmem_ctx shmem; /* open where NICs carry rows */
};

/* A list: rows of local expert `expert`, here or there, for GPU `peer`. */
struct list {
  uint32_t peer, expert, number;
  uint64_t ids; /* address of its choices */
};

struct move {
  const struct t3_move_tokens_arguments* p;
  struct t3_moe e;
  struct t3_moe_control control;
  uint32_t local, parts;
};

static struct t3_moe shape_of(const struct t3_move_tokens_arguments* p) {
  return (struct t3_moe){.tokens = p->tokens,
                         .experts = p->experts,
                         .slots = p->slots,
                         .top_k = p->top_k,
                         .element = (enum t3_element)p->element,
                         .gpus_per_node = p->gpus_per_node};
}

static bool is_dispatch(const struct t3_move_tokens_arguments* p) {
  return p->direction == T3_MOVE_TOKENS_ARGUMENTS_DIRECTION_DISPATCH;
}
static bool notes(const struct t3_move_tokens_arguments* p, uint8_t notice) { return p->notice == notice; }

static uint64_t row_bytes_of(const struct t3_move_tokens_arguments* p) {
  return t3_padded(t3_row_bytes_of(p->columns, p->element));
}

static struct move move_of(const struct t3_wave* wave) {
  const struct t3_move_tokens_arguments* p = wave->arguments;
  struct move m = {.p = p, .e = shape_of(p), .local = p->experts / p->gpus};
  m.control = t3_moe_control_of(&m.e, p->gpus);
  m.parts = t3_moe_parts(&m.e, wave->workgroups);
  return m;
}

static struct t3_moe_arrivals arrivals_of(const struct move* m) {
  const struct t3_move_tokens_arguments* p = m->p;
  return (struct t3_moe_arrivals){.own = p->control + m->control.own + (uint64_t)p->direction * T3_MOE_WORD,
                                  .epoch = p->signal_epoch,
                                  .signal = p->signal,
                                  .gpu = p->gpu,
                                  .gpus = p->gpus,
                                  .experts = p->experts,
                                  .near = p->gpus};
}

/* The next GPU's first, its own last. */
static struct list list_of(const struct move* m, uint32_t turn) {
  const struct t3_move_tokens_arguments* p = m->p;
  struct list l = {.peer = (p->gpu + 1 + turn % p->gpus) % p->gpus, .expert = turn / p->gpus % m->local};
  l.number = is_dispatch(p) ? l.peer * m->local + l.expert : l.expert * p->gpus + l.peer;
  l.ids = p->control + (is_dispatch(p) ? m->control.sends : m->control.origins) + l.number * t3_moe_list_bytes(&m->e);
  return l;
}

/* Waits until the expert's product is stored. */
static bool await_product(struct t3_wave* wave, const struct move* m, uint32_t expert, const uint32_t* rows) {
  const struct t3_move_tokens_arguments* p = m->p;
  uint32_t all = 0;
  for (uint32_t gpu = 0; gpu < p->gpus; ++gpu) all += rows[gpu];
  const struct t3_condition condition = {.address = p->control + m->control.computed + (uint64_t)expert * T3_MOE_WORD,
                                         .bytes = T3_MOE_WORD,
                                         .comparison = T3_AT_LEAST,
                                         .mask = UINT32_MAX,
                                         .value = t3_divide_up(all, p->tile_rows) * p->tiles_across};
  t3_trace_span(wave, "awaits a product", T3_NO_TILE);
  return all == 0 || t3_wait_value(wave, condition);
}

static bool count_rows(struct t3_wave* wave, const struct move* m, const struct list* l, uint32_t* count) {
  const struct t3_move_tokens_arguments* p = m->p;
  uint32_t rows[T3_MOE_LINE_WORDS];
  const uint64_t counts = p->control + m->control.counts;
  const struct t3_moe_senders senders = {&m->e, p->control, p->gpu, p->gpus, m->parts, p->list_signal, p->list_epoch};
  if (is_dispatch(p))
    return t3_moe_read_word(wave, p->control + m->control.sent + (uint64_t)l->number * T3_MOE_WORD, count);
  if (p->tile_rows == 0) {
    if (!t3_moe_read_counts(wave, counts, l->expert, p->gpus, rows)) return false;
  } else if (!t3_moe_await_counts(wave, &senders, l->expert, rows) || !await_product(wave, m, l->expert, rows)) {
    return false;
  }
  *count = rows[l->peer];
  return true;
}

static void send_count(struct t3_wave* wave, const struct move* m, const struct list* l, uint32_t rows) {
  const struct t3_move_tokens_arguments* p = m->p;
  const uint32_t word = rows + 1;
  t3_write(wave,
           t3_on_gpu(l->peer, p->control) + m->control.counts + (uint64_t)l->expert * T3_MOE_LINE +
               (uint64_t)p->gpu * T3_MOE_WORD,
           &word, sizeof word);
}

static bool is_far(const struct move* m, const struct list* l) { return t3_moe_is_far(&m->e, m->p->gpu, l->peer); }

/* An address of the heap as calls that post have it: this GPU's. */
static uint64_t in_heap(const struct move* m, uint64_t address) {
  return t3_on_gpu(m->p->gpu, address & T3_LOCAL_MASK);
}

static bool put(struct t3_wave* wave, const struct move* m, uint64_t to, uint64_t from, uint64_t bytes, uint32_t gpu) {
  const struct share* share = wave->local;
  return t3_shmem_putmem_nbi(wave, &share->shmem, in_heap(m, to), from, bytes, gpu) == T3_OK;
}

/* Two of them lie in a message itself, and so are real in every run. */
static bool post_ids(struct t3_wave* wave, const struct move* m, const struct list* l, uint64_t to, uint32_t last) {
  const struct share* share = wave->local;
  struct t3_moe_list ids = {.address = l->ids};
  for (uint32_t row = share->begin; row < last; row += 2) {
    uint32_t two[2] = {0, 0};
    for (uint32_t i = 0; i < 2 && row + i < last; ++i)
      if (!t3_moe_list_at(wave, &ids, row + i, &two[i])) return false;
    if (t3_shmem_uint64_p(wave, &share->shmem, in_heap(m, to) + (uint64_t)row * T3_MOE_WORD,
                          two[0] | (uint64_t)two[1] << 32, l->peer) != T3_OK)
      return false;
  }
  return true;
}

/* The receiver gets the choices' numbers before their rows. */
static bool send_ids(struct t3_wave* wave, const struct move* m, const struct list* l, const struct share* share) {
  const struct t3_move_tokens_arguments* p = m->p;
  struct t3_moe_list ids = {.address = l->ids};
  const uint64_t to = t3_on_gpu(l->peer, p->control) + m->control.origins +
                      ((uint64_t)l->expert * p->gpus + p->gpu) * t3_moe_list_bytes(&m->e);
  const uint32_t last = t3_smaller(share->end, share->rows);
  if (is_far(m, l)) return post_ids(wave, m, l, to, last);
  for (uint32_t row = share->begin; row < last;) {
    const uint32_t end = t3_smaller((row / T3_MOE_LINE_WORDS + 1) * T3_MOE_LINE_WORDS, last);
    uint32_t id = 0;
    if (!t3_moe_list_at(wave, &ids, row, &id)) return false;
    t3_write(wave, to + (uint64_t)row * T3_MOE_WORD, ids.words + row % T3_MOE_LINE_WORDS, (end - row) * T3_MOE_WORD);
    row = end;
  }
  if (p->padded && share->begin == 0 && share->end != 0) send_count(wave, m, l, share->rows);
  t3_fence(wave);
  return true;
}

/* Where a part begins: at an even row, since a message has the numbers of two. */
static uint32_t boundary(uint64_t rows, uint32_t part, uint32_t parts) {
  return (uint32_t)(part == parts ? rows : rows * part / parts / 2 * 2);
}

/* One wave prepares for all. */
static bool begin_share(struct t3_wave* wave, const struct move* m, const struct list* l, uint32_t part) {
  struct share* share = wave->local;
  if (wave->wave == 0) {
    share->failed = !count_rows(wave, m, l, &share->rows);
    const uint64_t travel = m->p->padded ? m->p->slots : share->rows;
    share->begin = boundary(travel, part, m->parts);
    share->end = boundary(travel, part + 1, m->parts);
    if (!share->failed && is_dispatch(m->p)) share->failed = !send_ids(wave, m, l, share);
  }
  t3_workgroup_barrier(wave);
  return !share->failed;
}

struct place {
  uint64_t from, to;
  struct t3_wavefront_tile of;
};

/* Where row `row` of the list, which has the choice `id`, is and where it belongs. */
static struct place place_of(const struct move* m, const struct list* l, uint32_t row, uint32_t id) {
  const struct t3_move_tokens_arguments* p = m->p;
  const uint64_t bytes = row_bytes_of(p), to = t3_on_gpu(l->peer, p->to);
  if (!is_dispatch(p))
    return (struct place){.from = p->from + (t3_moe_slot(&m->e, l->expert, l->peer, p->gpus) + row) * bytes,
                          .to = to + id * bytes};
  const uint64_t slot = t3_moe_slot(&m->e, l->expert, p->gpu, p->gpus) + row;
  struct place place = {.from = p->from + id / p->top_k * bytes, .to = to + slot * bytes};
  if (notes(p, T3_MOVE_TOKENS_ARGUMENTS_NOTICE_NONE)) place.of = (struct t3_wavefront_tile){true, 0, (uint32_t)slot};
  return place;
}

static void move_row(struct t3_wave* wave, const struct move* m, const struct place* place) {
  const struct t3_move_tokens_arguments* p = m->p;
  const uint32_t each = wave->device->kernels.ring.block_bytes / t3_element_bytes(m->e.element);
  for (uint32_t column = 0; column < p->columns; column += each) {
    const uint32_t columns = t3_smaller(each, p->columns - column);
    const struct t3_tile tile = {0, 1, columns, m->e.element};
    const uint64_t before = t3_row_bytes_of(column, p->element);
    struct t3_access access = {
        .address = place->from + before, .rows = 1, .columns = columns, .element = m->e.element, .at_once = true};
    t3_load(wave, tile, access);
    access.address = place->to + before;
    access.of = place->of;
    access.uncached = place->of.named;
    t3_store(wave, tile, access);
    t3_fence(wave);
  }
}

/* Waves have successive rows each, so that one access reads several choices. */
static bool move_rows(struct t3_wave* wave, const struct move* m, const struct list* l) {
  const struct share* share = wave->local;
  const uint64_t count = share->end - share->begin;
  const uint32_t end = share->begin + (uint32_t)(count * (wave->wave + 1) / wave->waves);
  struct t3_moe_list ids = {.address = l->ids};
  for (uint32_t row = share->begin + (uint32_t)(count * wave->wave / wave->waves); row < end; ++row) {
    uint32_t id = 0;
    if (row < share->rows && !t3_moe_list_at(wave, &ids, row, &id)) return false;
    const struct place place = place_of(m, l, row, id); /* a slot without a token gets the first one */
    if (!is_far(m, l))
      move_row(wave, m, &place);
    else if (!put(wave, m, place.to, place.from, t3_row_bytes_of(m->p->columns, m->p->element), l->peer))
      return false;
  }
  return true;
}

/* Behind the part's rows, the receiver's cell counts it. */
static void tell_far(struct t3_wave* wave, const struct move* m, const struct list* l) {
  const struct t3_move_tokens_arguments* p = m->p;
  const struct share* share = wave->local;
  const uint64_t arrived = m->control.arrived + ((uint64_t)l->expert * p->gpus + p->gpu) * T3_MOE_CELL;
  const uint64_t rows = (UINT64_C(1) << 32) + share->end - share->begin;
  if (t3_shmem_pe_fence(wave, &share->shmem, l->peer) == T3_OK)
    t3_shmem_uint64_atomic_add(wave, &share->shmem,
                               in_heap(m, p->control) + (is_dispatch(p) ? arrived : m->control.returned),
                               is_dispatch(p) ? rows : 1, l->peer);
}

/* The last part's workgroup tells the receiver: all others have been counted when their rows had left. */
static void end_share(struct t3_wave* wave, const struct move* m, const struct list* l) {
  const struct t3_move_tokens_arguments* p = m->p;
  const struct share* share = wave->local;
  const uint64_t moved = p->control + m->control.moved + (is_dispatch(p) ? 0 : t3_moe_lines(p->experts));
  uint32_t before = 0;
  t3_workgroup_barrier(wave);
  if (wave->wave != 0 || notes(p, T3_MOVE_TOKENS_ARGUMENTS_NOTICE_NONE)) return;
  if (is_far(m, l)) {
    tell_far(wave, m, l);
    return;
  }
  if (!t3_fetch_add_32(wave, moved + (uint64_t)l->number * T3_MOE_WORD, 1, &before) || before + 1 != m->parts) return;
  if (notes(p, T3_MOVE_TOKENS_ARGUMENTS_NOTICE_SIGNAL)) {
    const struct t3_moe_arrivals arrivals = arrivals_of(m);
    t3_moe_tell(wave, &arrivals, l->peer);
    return;
  }
  send_count(wave, m, l, share->rows);
  if (l->peer != p->gpu)
    t3_signal(wave, (struct t3_counter){.address = t3_moe_add_register(l->peer, p->list_signal + l->expert)});
  t3_fence(wave);
}

/* A workgroup's waves share a context. False: the kernel has failed. */
static bool open_heap(struct t3_wave* wave) {
  const struct t3_move_tokens_arguments* p = wave->arguments;
  struct share* share = wave->local;
  if (p->heap_table == 0) return true;
  const bool opened =
      wave->wave != 0 || t3_shmem_ctx_open(wave, p->heap_table, wave->workgroup % p->contexts, &share->shmem) == T3_OK;
  t3_workgroup_barrier(wave);
  return opened;
}

/* What NICs have still to read must not change. */
static void close_heap(struct t3_wave* wave) {
  const struct t3_move_tokens_arguments* p = wave->arguments;
  const struct share* share = wave->local;
  if (p->heap_table == 0) return;
  t3_workgroup_barrier(wave);
  if (wave->wave == 0) t3_shmem_quiet(wave, &share->shmem);
}

static void run(struct t3_wave* wave) {
  const struct move m = move_of(wave);
  const struct t3_move_tokens_arguments* p = m.p;
  if (!open_heap(wave)) return;
  for (uint32_t turn = wave->workgroup; turn < p->experts * m.parts; turn += wave->workgroups) {
    const struct list l = list_of(&m, turn);
    if (!begin_share(wave, &m, &l, turn / p->experts)) return;
    t3_trace_span(wave, is_dispatch(p) ? "dispatch" : "combine", T3_NO_TILE);
    if (!move_rows(wave, &m, &l)) return;
    end_share(wave, &m, &l);
  }
  close_heap(wave);
  const struct t3_moe_arrivals arrivals = arrivals_of(&m);
  if (p->awaits && wave->wave == 0) t3_moe_await_lists(wave, &arrivals);
}

/* Rows that it reads, and those that all GPUs write here. */
static struct t3_matrices tokens_or_slots(const struct t3_move_tokens_arguments* p, bool read) {
  const struct t3_moe e = shape_of(p);
  const uint64_t by_choice = (uint64_t)p->tokens * p->top_k;
  const uint64_t rows = read == is_dispatch(p) ? (read ? p->tokens : by_choice) : t3_moe_slots(&e);
  return t3_piece(read ? "from" : "to", read ? p->from : p->to, rows * row_bytes_of(p));
}

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_move_tokens_arguments* p = launch->arguments;
  const struct t3_moe e = shape_of(p);
  const struct t3_named_value switches[] = {{"direction", p->direction}, {"awaits", p->awaits}, {"padded", p->padded}};
  const struct t3_matrices from = tokens_or_slots(p, true), to = tokens_or_slots(p, false);
  if (!t3_moe_check(check, &e, p->gpu, p->gpus, p->control) || !t3_check_switches(check, switches, 3)) return false;
  if (launch->workgroups == 0) return t3_refuse(check, T3_BAD_PACKET, "0 workgroups: 1 or more expected");
  if (p->columns - 1 >= UINT16_MAX || p->notice > T3_MOVE_TOKENS_ARGUMENTS_NOTICE_SIGNAL)
    return t3_refuse(check, T3_BAD_PACKET, "columns %u, notice %u: 1 to %u, at most %d expected", p->columns, p->notice,
                     UINT16_MAX, T3_MOVE_TOKENS_ARGUMENTS_NOTICE_SIGNAL);
  if (p->awaits && !notes(p, T3_MOVE_TOKENS_ARGUMENTS_NOTICE_SIGNAL))
    return t3_refuse(check, T3_BAD_PACKET, "awaits with notice %u: signals (%d) expected", p->notice,
                     T3_MOVE_TOKENS_ARGUMENTS_NOTICE_SIGNAL);
  if ((p->heap_table == 0) != (p->gpus_per_node == 0) || (p->heap_table != 0 && (p->contexts == 0 || p->awaits)))
    return t3_refuse(check, T3_BAD_PACKET,
                     "heap_table " T3_HEX
                     ", gpus_per_node %u, contexts %u, awaits %u: those of a symmetric heap and "
                     "no wait, or 0, expected",
                     p->heap_table, p->gpus_per_node, p->contexts, p->awaits);
  if (notes(p, T3_MOVE_TOKENS_ARGUMENTS_NOTICE_COUNT) &&
      !t3_check_counters(check, p->list_signal, p->experts / p->gpus))
    return false;
  if (p->padded && (!is_dispatch(p) || !notes(p, T3_MOVE_TOKENS_ARGUMENTS_NOTICE_NONE)))
    return t3_refuse(check, T3_BAD_PACKET,
                     "padded with direction %u, notice %u: a dispatch without "
                     "notice expected",
                     p->direction, p->notice);
  if (notes(p, T3_MOVE_TOKENS_ARGUMENTS_NOTICE_SIGNAL) && !t3_check_counters(check, p->signal, 1)) return false;
  return t3_check_piece(check, &from) && t3_check_piece(check, &to) && t3_check_overlap(check, &to, &from) &&
         t3_moe_check_reach(check, &e, p->gpus, "to", p->to);
}

/* Rows are read while the GEMM stores others, and come while it reads others. */
static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_move_tokens_arguments* p = launch->arguments;
  const struct t3_ring_parameters* ring = &device->kernels.ring;
  const struct t3_moe e = shape_of(p);
  const struct t3_matrices from = tokens_or_slots(p, true), to = tokens_or_slots(p, false);
  const bool named = is_dispatch(p) && notes(p, T3_MOVE_TOKENS_ARGUMENTS_NOTICE_NONE);
  const uint64_t table = p->heap_table & T3_LOCAL_MASK;
  return (struct t3_plan){.name = is_dispatch(p) ? "dispatch" : "combine",
                          .workgroups = launch->workgroups,
                          .workgroups_per_cu = ring->workgroups_per_cu,
                          .register_bytes = ring->block_bytes * ring->blocks_in_flight * WAVES,
                          .waves = ring->blocks_in_flight * WAVES,
                          .tiles = 1,
                          .local_bytes = sizeof(struct share),
                          .together = p->awaits,
                          .written = {t3_range_of(&to)},
                          .written_count = 1,
                          .read = {t3_range_of(&from)},
                          .read_count = 1,
                          .sent = {t3_local_range(to)},
                          .sent_count = 1,
                          .shared = {t3_moe_control_range(&e, p->gpus, p->control), {table, table + p->table_bytes}},
                          .shared_count = p->heap_table == 0 ? 1 : 2,
                          .doorbells = p->heap_table != 0,
                          .awaits_arrivals = true,
                          .awaits_chunks = true,
                          .stores_here = true,
                          .tiles_named = named ? T3_TILES_NAMED : T3_TILES_UNNAMED};
}

const struct t3_kernel t3_move_tokens_kernel = {.name = "move_tokens",
                                                .arguments = T3_MOVE_TOKENS_ARGUMENTS,
                                                .reads = "exchange_read",
                                                .writes = "exchange_write",
                                                .check = check,
                                                .plan = plan,
                                                .run = run};
