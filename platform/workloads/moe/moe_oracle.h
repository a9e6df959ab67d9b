// Which experts tokens have, and what their owners receive, by formulas of their own.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/moe/moe_layout.h"
#include "workloads/shared/exact_operands.h"

namespace t3vp {

/// The drawn routing of a run. It shares no code with the program that writes the lists of choices.
class MoeRouting {
 public:
  MoeRouting(const t3_moe& moe, std::uint32_t gpus);

  /// Rows that a GPU sends to an expert of all GPUs' experts.
  std::uint32_t rows(std::uint32_t gpu, std::uint32_t expert) const {
    return rows_[std::size_t{gpu} * experts_ + expert];
  }
  /// Rows that a GPU sends to another one, or to itself.
  std::uint64_t rows_between(std::uint32_t from, std::uint32_t to) const;
  std::uint64_t rows_of_expert(std::uint32_t expert) const;
  std::uint64_t dropped() const { return dropped_; }
  std::uint64_t choices() const { return std::uint64_t{gpus_} * tokens_ * top_k_; }
  /// Experts of a GPU's token that do not drop it.
  std::vector<std::uint32_t> experts_of(std::uint32_t gpu, std::uint32_t token) const;

 private:
  static constexpr std::uint32_t nobody = 0xFFFFFFFF;

  std::uint32_t gpus_, experts_, tokens_, top_k_;
  std::vector<std::uint32_t> chosen_;  ///< by token and choice; nobody: dropped
  std::vector<std::uint32_t> rows_;    ///< by GPU and expert
  std::uint64_t dropped_ = 0;
};

/// Operands are exact: every partial sum of a token's results is an integer that all element types hold.
class MoeOracle {
 public:
  MoeOracle(const t3_moe& moe, std::uint32_t gpus, std::uint32_t slab_depth);

  std::vector<double> token(std::uint32_t gpu, std::uint32_t token) const;
  /// Row `row` of a GPU's weights, which are those of its experts one behind the other.
  std::vector<double> weights_row(std::uint32_t gpu, std::uint32_t row) const;
  std::vector<double> out(const MoeRouting& routing, std::uint32_t gpu, std::uint32_t token) const;

 private:
  t3_moe moe_;
  std::uint32_t gpus_;
  ExactOperands tokens_;
  std::vector<ExactOperands> experts_;
};

}  // namespace t3vp
