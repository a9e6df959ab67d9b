// Operands whose sums are exact: every order of additions, every method and every element type gives the same result,
// so that it can be compared without a tolerance.
//
// Column k of A and row k of B form a term A(i,k) B(k,j) of the product. The terms of a GPU are divided into groups:
// within a group A(i,k) = w(k) x(i) and B(k,j) = y(j), with x, y not zero and integer weights w that are not zero.
//
// - In the carrier group, x and y are integers of magnitude up to r, and the weights sum to 1.
// - In all others, x and y are +1 or -1, and the weights sum to 0: alternately +1 and -1, the last three of an odd
//   number 1, 1, -2. In one of them, the heavy group, weights are multiplied by a power of two H > 2 D + 3 r^2, for K
//   tiles of D terms.
//
// Groups take the terms at one place in each K tile (k, k + D, k + 2 D, ...), so that partners are in neighbouring K
// tiles: the carrier the first, the heavy group the second. Terms at places that only one K tile has pair up within it;
// a single one of them joins the carrier.
//
// What follows, for N GPUs with N r^2 <= 256:
//
// 1. A GPU's partial result is x(i) y(j) of its carrier: never 0. So each lost, doubled or misplaced partial result
//    changes the sum.
// 2. Over all GPUs the positive partial results sum to at most N r^2 <= 256, the negative to at least -256. So the sum
//    of any of them is an integer of magnitude up to 256, which bf16 (8 digits), fp16 and fp32 hold exactly, and
//    additions in any order round nothing.
// 3. A K tile's own product is nowhere 0: its one heavy term outweighs the rest, at most 2 (D - 2) + 3 r^2; a K tile
// without
//    a heavy term has the carrier's and otherwise whole groups.
// 4. Sums of products of a GPU are integers of magnitude below 2^24 for any choice of K tiles as long as there are
// fewer
//    than 2^24 / (2 H + 2 D + 3 r^2) of them, so that fp32 accumulates them exactly. In the order of k, neighbours
//    cancel, and there is no such limit.
// 5. Elements of A and B are 0 nowhere and have few digits: w x is w times +1 or -1, or at most 2 r.
//
// Signs and magnitudes are a hash of seed, GPU, row or column, and group, so that rows, columns and GPUs differ.
#pragma once

#include <cstdint>
#include <vector>

namespace t3vp {

class ExactOperands {
 public:
  static constexpr std::uint32_t largest_sum = 256;

  ExactOperands(std::uint32_t k, std::uint32_t slab_depth, std::uint32_t gpus, std::uint32_t gpu, std::uint64_t seed);

  float a(std::uint32_t row, std::uint32_t k) const { return terms_[k].weight * factor(0, row, terms_[k].group); }
  float b(std::uint32_t k, std::uint32_t column) const { return factor(1, column, terms_[k].group); }
  /// Element (row, column) of A B is product_row(row) * product_column(column).
  float product_row(std::uint32_t row) const { return factor(0, row, carrier); }
  float product_column(std::uint32_t column) const { return factor(1, column, carrier); }

 private:
  static constexpr std::uint32_t carrier = 0;
  struct Term {
    std::uint32_t group;
    float weight;
  };

  /// Gives the terms weights that sum to 0, or to 1 in the carrier.
  void add_group(std::uint32_t group, const std::vector<std::uint32_t>& terms, float scale);
  float factor(std::uint64_t operand, std::uint32_t line, std::uint32_t group) const;

  std::uint64_t key_;
  std::uint32_t magnitudes_;  ///< r
  std::vector<Term> terms_;   ///< by k
};

}  // namespace t3vp
