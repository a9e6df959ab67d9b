#include "workloads/shared/exact_operands.h"

#include <algorithm>

#include "workloads/shared/split_mix.h"

namespace t3vp {
namespace {

constexpr std::uint32_t most_magnitudes = 8;

std::uint32_t magnitudes_for(std::uint32_t gpus) {
  std::uint32_t r = 1;
  while (r < most_magnitudes && (r + 1) * (r + 1) * gpus <= ExactOperands::largest_sum) ++r;
  return r;
}

}  // namespace

ExactOperands::ExactOperands(std::uint32_t k, std::uint32_t slab_depth, std::uint32_t gpus, std::uint32_t gpu,
                             std::uint64_t seed)
    : key_(mixed(mixed(seed) + gpu)), magnitudes_(magnitudes_for(gpus)), terms_(k) {
  float heavy = 1;
  while (heavy <= static_cast<float>(2 * slab_depth + 3 * magnitudes_ * magnitudes_)) heavy *= 2;

  std::vector<std::uint32_t> carried, alone;
  std::uint32_t group = carrier;
  for (std::uint32_t place = 0; place < std::min(k, slab_depth); ++place) {
    std::vector<std::uint32_t> terms;
    for (std::uint32_t term = place; term < k; term += slab_depth) terms.push_back(term);
    if (place == 0)
      carried = terms;
    else if (terms.size() == 1)
      alone.push_back(place);
    else
      add_group(++group, terms, place == 1 ? heavy : 1);
  }
  if (alone.size() == 1) carried.push_back(alone.front());
  for (std::size_t i = 0; i + 1 < alone.size(); i += 2) {
    std::vector<std::uint32_t> terms{alone[i], alone[i + 1]};
    if (i + 3 == alone.size()) terms.push_back(alone[i + 2]);
    add_group(++group, terms, 1);
  }
  add_group(carrier, carried, 1);
}

void ExactOperands::add_group(std::uint32_t group, const std::vector<std::uint32_t>& terms, float scale) {
  for (std::size_t i = 0; i < terms.size(); ++i) terms_[terms[i]] = {group, i % 2 == 0 ? scale : -scale};
  const bool odd = terms.size() % 2 == 1;
  if (group == carrier && !odd) terms_[terms.front()].weight = 2;  // 2 - 1 + 1 - 1 ...
  if (group == carrier || !odd) return;
  terms_[terms[terms.size() - 2]].weight = scale;
  terms_[terms.back()].weight = -2 * scale;
}

float ExactOperands::factor(std::uint64_t operand, std::uint32_t line, std::uint32_t group) const {
  const std::uint64_t place = (operand << 63) ^ (std::uint64_t{line} << 32) ^ group;
  const std::uint64_t hash = mixed(key_ + place * 0x9E3779B97F4A7C15);
  const float magnitude = group == carrier ? static_cast<float>(1 + (hash >> 1) % magnitudes_) : 1;
  return (hash & 1) != 0 ? magnitude : -magnitude;
}

}  // namespace t3vp
