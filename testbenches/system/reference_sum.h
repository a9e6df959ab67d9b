// The sub-layer's result by Eigen in double precision, from the arrays that a run has dumped. Nothing of it is shared
// with the platform's own check.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "system/platform_run.h"

namespace t3vp::test {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

enum class Element { fp16, bf16, fp32 };

const char* name_of(Element element);
/// Reads an .npy file; bf16 comes as its bits.
Matrix load(const std::filesystem::path& file, Element element);

struct Comparison {
  std::size_t elements = 0, wrong = 0;
  double largest_error = 0;
};

/// Every GPU's `out` against the sum over GPUs of a b: the same to the bit with exact operands; with random ones within
/// (gpus + 1) roundings of the element type of sum |a| |b|. fp32 has k more, of the accumulation.
enum class Sums { exact, rounded };
Comparison compare(const Run& run, std::uint32_t gpus, Element element, Sums sums = Sums::exact);

/// Every GPU's `out` against the slabs of an all-to-all of tiles of `tile` x `tile`, exact operands: the GPU's chunk of
/// each GPU's a b, one slab behind the other, and no number elsewhere.
Comparison compare_slabs(const Run& run, std::uint32_t gpus, Element element, std::uint32_t tile);

/// The bytes of every GPU's `out` one after the other.
std::string outputs(const Run& run, std::uint32_t gpus);

}  // namespace t3vp::test
