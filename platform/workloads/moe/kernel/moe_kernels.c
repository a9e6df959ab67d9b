#include "moe_kernels.h"

#include "t3/registers/signals.h"

bool t3_moe_read_word(struct t3_wave* wave, uint64_t address, uint32_t* word) {
  return t3_read(wave, address, T3_MOE_WORD, word);
}

bool t3_moe_list_at(struct t3_wave* wave, struct t3_moe_list* list, uint32_t index, uint32_t* word) {
  const uint32_t line = index / T3_MOE_LINE_WORDS;
  if (list->line != line + 1) {
    if (!t3_moe_read_line(wave, list->address + (uint64_t)line * T3_MOE_LINE, list->words)) return false;
    list->line = line + 1;
  }
  *word = list->words[index % T3_MOE_LINE_WORDS];
  return true;
}

struct zeros {
  uint32_t elements;
};

static void fill(const void* argument, float* const* operands) {
  const struct zeros* zeros = argument;
  for (uint32_t i = 0; i < zeros->elements; ++i) operands[0][i] = 0;
}

void t3_moe_zero(struct t3_wave* wave, struct t3_tile tile) {
  const struct zeros zeros = {tile.rows * tile.columns};
  const struct t3_vector_work work = {
      .operations = zeros.elements, .operands = 1, .tiles = {tile}, .compute = fill, .argument = &zeros};
  t3_work(wave, &work);
}

uint64_t t3_moe_add_register(uint32_t gpu, uint32_t signal) {
  return t3_block_base(gpu, T3_BLOCK_SIGNALS) + T3_SIGNALS_ADD_OFFSET + (uint64_t)T3_SIGNALS_ADD_STRIDE * signal;
}

uint64_t t3_moe_value_register(uint32_t gpu, uint32_t signal) {
  return t3_block_base(gpu, T3_BLOCK_SIGNALS) + T3_SIGNALS_VALUE_OFFSET + (uint64_t)T3_SIGNALS_VALUE_STRIDE * signal;
}

/* The first GPU of the node whose number has not come, or `gpus`. */
static uint32_t first_missing(const struct t3_moe_senders* s, const uint32_t* words) {
  uint32_t gpu = 0;
  while (gpu < s->gpus && (words[gpu] != 0 || t3_moe_is_far(s->e, s->gpu, gpu))) ++gpu;
  return gpu;
}

/* Waits for all parts from another node's GPU. */
static bool await_far(struct t3_wave* wave, const struct t3_moe_senders* s, uint32_t expert, uint32_t gpu,
                      uint32_t* rows) {
  uint64_t cell = 0;
  const struct t3_condition condition = {.address = s->control + t3_moe_control_of(s->e, s->gpus).arrived +
                                                    ((uint64_t)expert * s->gpus + gpu) * T3_MOE_CELL,
                                         .bytes = T3_MOE_CELL,
                                         .comparison = T3_AT_LEAST,
                                         .mask = ~(uint64_t)UINT32_MAX,
                                         .value = (uint64_t)s->parts << 32};
  if (!t3_wait_value(wave, condition) || !t3_read(wave, condition.address, T3_MOE_CELL, &cell)) return false;
  *rows = (uint32_t)(cell & UINT32_MAX);
  return true;
}

static bool read_line(struct t3_wave* wave, uint64_t line, uint32_t gpus, uint32_t* words) {
  return t3_read(wave, line, gpus * T3_MOE_WORD, words);
}

bool t3_moe_read_counts(struct t3_wave* wave, uint64_t counts, uint32_t expert, uint32_t gpus, uint32_t* rows) {
  if (!read_line(wave, counts + (uint64_t)expert * T3_MOE_LINE, gpus, rows)) return false;
  for (uint32_t gpu = 0; gpu < gpus; ++gpu)
    if (rows[gpu]-- == 0) t3_fail(wave, "rows of an expert have no number yet");
  return true;
}

bool t3_moe_await_counts(struct t3_wave* wave, const struct t3_moe_senders* senders, uint32_t expert, uint32_t* rows) {
  const uint32_t gpus = senders->gpus;
  const uint64_t line = senders->control + t3_moe_control_of(senders->e, gpus).counts + (uint64_t)expert * T3_MOE_LINE;
  const uint32_t near = senders->e->gpus_per_node == 0 ? gpus : senders->e->gpus_per_node;
  /* Workgroups that all polled a line would take its channel's whole bandwidth. */
  t3_wait_counter(wave, (struct t3_counter){.address = t3_moe_value_register(senders->gpu, senders->signal + expert),
                                            .threshold = senders->epoch + near - 1});
  for (;;) {
    if (!read_line(wave, line, gpus, rows)) return false;
    const uint32_t missing = first_missing(senders, rows);
    if (missing == gpus) break;
    const struct t3_condition condition = {.address = line + (uint64_t)missing * T3_MOE_WORD,
                                           .bytes = T3_MOE_WORD,
                                           .comparison = T3_NOT_EQUAL,
                                           .mask = UINT32_MAX,
                                           .value = 0};
    if (!t3_wait_value(wave, condition)) return false;
  }
  for (uint32_t gpu = 0; gpu < gpus; ++gpu) {
    if (!t3_moe_is_far(senders->e, senders->gpu, gpu))
      --rows[gpu];
    else if (!await_far(wave, senders, expert, gpu, &rows[gpu]))
      return false;
  }
  return true;
}

void t3_moe_tell(struct t3_wave* wave, const struct t3_moe_arrivals* arrivals, uint32_t to) {
  uint32_t before = 0;
  if (to == arrivals->gpu)
    t3_fetch_add_32(wave, arrivals->own, 1, &before);
  else
    t3_signal(wave, (struct t3_counter){.address = t3_moe_add_register(to, arrivals->signal)});
}

void t3_moe_await_lists(struct t3_wave* wave, const struct t3_moe_arrivals* arrivals) {
  const uint32_t own = arrivals->experts / arrivals->gpus;
  struct t3_condition condition = {
      .address = arrivals->own, .bytes = T3_MOE_WORD, .comparison = T3_AT_LEAST, .mask = UINT32_MAX, .value = own};
  t3_wait_counter(wave, (struct t3_counter){.address = t3_moe_value_register(arrivals->gpu, arrivals->signal),
                                            .threshold = arrivals->epoch + (arrivals->near - 1) * own});
  if (!t3_wait_value(wave, condition) || arrivals->near == arrivals->gpus) return;
  condition.address = arrivals->returned;
  condition.bytes = T3_MOE_CELL;
  condition.mask = UINT64_MAX;
  condition.value = (uint64_t)(arrivals->gpus - arrivals->near) * own * arrivals->parts;
  t3_wait_value(wave, condition);
}

bool t3_moe_check(struct t3_check* check, const struct t3_moe* e, uint32_t gpu, uint32_t gpus, uint64_t control) {
  if (!t3_check_place(check, gpu, gpus)) return false;
  if (gpus > T3_MOE_GPUS_MAX || e->experts == 0 || e->experts > T3_MOE_EXPERTS_MAX || e->experts % gpus != 0)
    return t3_refuse(check, T3_BAD_PACKET,
                     "%u experts of %u GPUs: a multiple of at most %d GPUs up "
                     "to %d expected",
                     e->experts, gpus, T3_MOE_GPUS_MAX, T3_MOE_EXPERTS_MAX);
  if (e->element > T3_FP32)
    return t3_refuse(check, T3_BAD_PACKET, "element %u: 0 (fp16), 1 (bf16) or 2 (fp32) expected", (unsigned)e->element);
  if (e->tokens - 1 >= UINT16_MAX + 1u || e->slots == 0 || e->slots > e->tokens)
    return t3_refuse(check, T3_BAD_PACKET, "tokens %u, slots %u: 1 to %u, 1 to as many as tokens expected", e->tokens,
                     e->slots, UINT16_MAX + 1u);
  if (e->top_k == 0 || e->top_k > T3_MOE_CHOICES_MAX || e->top_k > e->experts)
    return t3_refuse(check, T3_BAD_PACKET, "top_k %u: 1 to %d of %u experts expected", e->top_k, T3_MOE_CHOICES_MAX,
                     e->experts);
  const struct t3_matrices data = t3_piece("control", control, t3_moe_control_of(e, gpus).bytes);
  if (e->gpus_per_node != 0 && gpus % e->gpus_per_node != 0)
    return t3_refuse(check, T3_BAD_PACKET, "gpus_per_node %u: a divisor of %u GPUs, or 0, expected", e->gpus_per_node,
                     gpus);
  return t3_check_piece(check, &data) && t3_moe_check_reach(check, e, gpus, "control", control);
}

bool t3_moe_check_reach(struct t3_check* check, const struct t3_moe* e, uint32_t gpus, const char* name,
                        uint64_t sent) {
  for (uint32_t gpu = 0; gpu < gpus; ++gpu)
    if (gpu != check->gpu && !t3_moe_is_far(e, check->gpu, gpu) &&
        !check->reaches(check->cluster, t3_on_gpu(gpu, sent)))
      return t3_refuse(check, T3_NO_PEER, "%s on GPU %u: a GPU that links lead to expected", name, gpu);
  return true;
}
