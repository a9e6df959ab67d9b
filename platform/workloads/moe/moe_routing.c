#include "workloads/moe/moe_routing.h"

/* SplitMix64's finalizer (Steele, Lea and Flood, 2014). */
static uint64_t mixed(uint64_t x) {
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
  return x ^ x >> 31;
}

static const uint64_t LARGEST_WEIGHT = UINT64_C(1) << 40;

static uint64_t weight_of(const struct t3_moe* e, uint32_t expert) {
  uint64_t weight = LARGEST_WEIGHT;
  for (uint32_t power = 0; power < e->skew; ++power) weight /= UINT64_C(1) + expert;
  return weight == 0 ? 1 : weight;
}

static bool is_chosen(const uint32_t* experts, uint32_t count, uint32_t expert) {
  for (uint32_t i = 0; i < count; ++i)
    if (experts[i] == expert) return true;
  return false;
}

void t3_moe_choices(const struct t3_moe* e, uint64_t token, uint32_t* experts) {
  uint64_t left = 0;
  for (uint32_t expert = 0; expert < e->experts; ++expert) left += weight_of(e, expert);
  for (uint32_t choice = 0; choice < e->top_k; ++choice) {
    uint64_t drawn = mixed(mixed(e->seed + UINT64_C(0x9E3779B97F4A7C15)) + token * T3_MOE_CHOICES_MAX + choice) % left;
    uint32_t expert = 0;
    for (;; ++expert) {
      if (is_chosen(experts, choice, expert)) continue;
      const uint64_t weight = weight_of(e, expert);
      if (drawn < weight) break;
      drawn -= weight;
    }
    experts[choice] = expert;
    left -= weight_of(e, expert);
  }
}
