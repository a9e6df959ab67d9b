#include "workloads/moe/moe_oracle.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "workloads/shared/split_mix.h"

namespace t3vp {
namespace {

/// An integer for the Zipf weight of an expert.
std::uint64_t weight(std::uint64_t expert, std::uint32_t skew) {
  std::uint64_t value = std::uint64_t{1} << 40;
  for (std::uint32_t i = 0; i < skew; ++i) value /= expert + 1;
  return std::max<std::uint64_t>(value, 1);
}

/// Experts whose weights are 0 once they are drawn.
class Urn {
 public:
  Urn(std::uint32_t experts, std::uint32_t skew) : weights_(experts) {
    for (std::uint32_t expert = 0; expert < experts; ++expert) total_ += weights_[expert] = weight(expert, skew);
  }

  std::uint32_t draw(std::uint64_t hash) {
    std::uint64_t left = hash % total_;
    const auto drawn = std::find_if(weights_.begin(), weights_.end(), [&left](std::uint64_t each) {
      if (left < each) return true;
      left -= each;
      return false;
    });
    total_ -= std::exchange(*drawn, 0);
    return static_cast<std::uint32_t>(drawn - weights_.begin());
  }

 private:
  std::vector<std::uint64_t> weights_;
  std::uint64_t total_ = 0;
};

}  // namespace

MoeRouting::MoeRouting(const t3_moe& moe, std::uint32_t gpus)
    : gpus_(gpus),
      experts_(moe.experts),
      tokens_(moe.tokens),
      top_k_(moe.top_k),
      rows_(std::size_t{gpus} * moe.experts) {
  constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;
  const Urn full(experts_, moe.skew);
  chosen_.reserve(choices());
  for (std::uint64_t token = 0; token < std::uint64_t{gpus} * tokens_; ++token) {
    Urn urn = full;
    for (std::uint32_t choice = 0; choice < top_k_; ++choice) {
      const std::uint32_t expert = urn.draw(mixed(mixed(moe.seed + golden) + token * 16 + choice));
      std::uint32_t& taken = rows_[token / tokens_ * experts_ + expert];
      const bool fits = taken < moe.slots;
      if (fits)
        ++taken;
      else
        ++dropped_;
      chosen_.push_back(fits ? expert : nobody);
    }
  }
}

std::uint64_t MoeRouting::rows_between(std::uint32_t from, std::uint32_t to) const {
  const std::uint32_t local = experts_ / gpus_;
  std::uint64_t sum = 0;
  for (std::uint32_t expert = to * local; expert < (to + 1) * local; ++expert) sum += rows(from, expert);
  return sum;
}

std::uint64_t MoeRouting::rows_of_expert(std::uint32_t expert) const {
  std::uint64_t sum = 0;
  for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu) sum += rows(gpu, expert);
  return sum;
}

std::vector<std::uint32_t> MoeRouting::experts_of(std::uint32_t gpu, std::uint32_t token) const {
  const auto first = chosen_.begin() + static_cast<std::ptrdiff_t>((std::size_t{gpu} * tokens_ + token) * top_k_);
  std::vector<std::uint32_t> kept;
  std::copy_if(first, first + top_k_, std::back_inserter(kept), [](std::uint32_t expert) { return expert != nobody; });
  return kept;
}

MoeOracle::MoeOracle(const t3_moe& moe, std::uint32_t gpus, std::uint32_t slab_depth)
    : moe_(moe), gpus_(gpus), tokens_(moe.inner, slab_depth, moe.top_k, 0, moe.seed) {
  for (std::uint32_t expert = 0; expert < moe.experts; ++expert)
    experts_.emplace_back(moe.inner, slab_depth, moe.top_k, 1 + expert, moe.seed);
}

std::vector<double> MoeOracle::token(std::uint32_t gpu, std::uint32_t token) const {
  std::vector<double> values(moe_.inner);
  for (std::uint32_t k = 0; k < moe_.inner; ++k) values[k] = tokens_.a(gpu * moe_.tokens + token, k);
  return values;
}

std::vector<double> MoeOracle::weights_row(std::uint32_t gpu, std::uint32_t row) const {
  const ExactOperands& expert = experts_[gpu * (moe_.experts / gpus_) + row / moe_.inner];
  std::vector<double> values(moe_.hidden);
  for (std::uint32_t column = 0; column < moe_.hidden; ++column) values[column] = expert.b(row % moe_.inner, column);
  return values;
}

std::vector<double> MoeOracle::out(const MoeRouting& routing, std::uint32_t gpu, std::uint32_t token) const {
  std::vector<double> values(moe_.hidden);
  for (const std::uint32_t expert : routing.experts_of(gpu, token))
    for (std::uint32_t column = 0; column < moe_.hidden; ++column)
      values[column] +=
          double{tokens_.product_row(gpu * moe_.tokens + token)} * double{experts_[expert].product_column(column)};
  return values;
}

}  // namespace t3vp
