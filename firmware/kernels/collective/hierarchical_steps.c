#include "hierarchical_steps.h"

uint64_t t3_node_slot(const struct t3_steps* s, uint32_t number, uint32_t chunk) {
  return s->arguments->staging + number * t3_staging_slot(&s->collective, t3_gpus_of(s)) +
         t3_chunk_offset(s, chunk) % 32;
}

struct t3_step t3_hierarchical_step(const struct t3_steps* s, uint32_t step, const uint32_t* transfers,
                                    bool other_nodes_first) {
  struct t3_step result = {.transfers = transfers[step]};
  if (step < 2) result.tells = (step == 1) != other_nodes_first ? T3_TELLS_OTHER_NODES : T3_TELLS_NODE;
  if (step > 0) {
    result.awaits_second = (step == 2) != other_nodes_first;
    result.awaited = result.awaits_second ? t3_nodes_of(s) - 1 : t3_others_of(s);
  }
  return result;
}
