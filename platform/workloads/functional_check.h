// The comparison of the GPUs' final data with the reference.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace t3vp {

/// The first wrong element of a result.
struct Mismatch {
  std::string tensor;  ///< the buffer, or of a layer the operation and the matrix that it writes
  std::uint32_t gpu = 0;
  std::uint64_t row = 0, column = 0;
  double found = 0, expected = 0;
};

struct FunctionalCheck {
  bool checked = false;
  std::uint64_t elements = 0, mismatches = 0;
  double max_abs_error = 0;       ///< infinite or no number when one of them is
  std::optional<Mismatch> first;  ///< by GPU, row and column; of a layer, the first that was written

  /// An error that is no number is the largest.
  void note_error(double error);
  void note(const Mismatch& mismatch);
};

}  // namespace t3vp
