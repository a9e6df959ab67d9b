/* What the kernels of a layer of experts share: lists in control data, signals, and checks. */
#ifndef T3_KERNELS_MOE_H
#define T3_KERNELS_MOE_H

#include "kernels/operands.h"
#include "workloads/moe/moe_layout.h"

/* Reads the line of control data that has the word, up to its end. False: memory has refused it. */
static inline bool t3_moe_read_line(struct t3_wave* wave, uint64_t line, uint32_t* words) {
  return t3_read(wave, line, T3_MOE_LINE, words);
}

/* One word. */
bool t3_moe_read_word(struct t3_wave* wave, uint64_t address, uint32_t* word);

/* A list that is read line by line. */
struct t3_moe_list {
  uint64_t address;
  uint32_t line, words[T3_MOE_LINE_WORDS]; /* of the line that has been read, counted from 1; 0: none */
};
bool t3_moe_list_at(struct t3_wave* wave, struct t3_moe_list* list, uint32_t index, uint32_t* word);

/* Makes an fp32 tile zero. */
void t3_moe_zero(struct t3_wave* wave, struct t3_tile tile);

/* The address of a counter's register of this kind on a GPU. */
uint64_t t3_moe_add_register(uint32_t gpu, uint32_t signal);
uint64_t t3_moe_value_register(uint32_t gpu, uint32_t signal);

/* Reads the rows of each GPU for a local expert, by GPU; they must have come. False: memory has refused it. */
bool t3_moe_read_counts(struct t3_wave* wave, uint64_t counts, uint32_t expert, uint32_t gpus, uint32_t* rows);
/* Who sends rows to this GPU, in how many parts by NIC. */
struct t3_moe_senders {
  const struct t3_moe* e;
  uint64_t control;
  uint32_t gpu, gpus, parts;
  uint32_t signal; /* counter of local expert 0 */
  uint64_t epoch;  /* of these counters */
};
/* Does the same when all of them have come. */
bool t3_moe_await_counts(struct t3_wave* wave, const struct t3_moe_senders* senders, uint32_t expert, uint32_t* rows);

/* The lists of a direction that have come to a GPU. Other GPUs' lists are signalled, and its own are counted in
 * memory. */
struct t3_moe_arrivals {
  uint64_t own;    /* address of the word for its own */
  uint64_t epoch;  /* value of the counter before */
  uint32_t signal; /* the counter */
  uint32_t gpu, gpus, experts;
  uint32_t near;     /* GPUs that links join with this one, and itself */
  uint32_t parts;    /* in which other nodes' GPUs send each list */
  uint64_t returned; /* address of the cell of their parts */
};
/* A list has come to the GPU `to`; behind all that went the same way. */
void t3_moe_tell(struct t3_wave* wave, const struct t3_moe_arrivals* arrivals, uint32_t to);
/* Waits until all lists have come. */
void t3_moe_await_lists(struct t3_wave* wave, const struct t3_moe_arrivals* arrivals);

/* The numbers that all of these kernels have. */
bool t3_moe_check(struct t3_check* check, const struct t3_moe* e, uint32_t gpu, uint32_t gpus, uint64_t control);
/* Stores reach the place on all GPUs of the node. */
bool t3_moe_check_reach(struct t3_check* check, const struct t3_moe* e, uint32_t gpus, const char* name, uint64_t sent);

static inline struct t3_range t3_moe_control_range(const struct t3_moe* e, uint32_t gpus, uint64_t control) {
  return t3_local_range(t3_piece("control", control, t3_moe_control_of(e, gpus).bytes));
}

#endif
