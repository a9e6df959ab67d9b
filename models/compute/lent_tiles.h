// Tiles while a function of a kernel's own computes with them: copies, since it may write beside them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "compute/fenced_memory.h"
#include "t3/device.h"

namespace t3vp::compute {

class LentTiles {
 public:
  /// The operand's elements, from now on. Throws std::bad_alloc.
  float* lend(std::uint32_t operand, const std::vector<unsigned char>& bytes);
  /// Returns the side on which the function has written beside the tile: "before" or "behind"; null when it has not.
  const char* written_beside(std::uint32_t operand) const { return memory_[operand]->written_beside(); }
  /// Copies the function's result back.
  void take_back(std::uint32_t operand, std::vector<unsigned char>& bytes) const;

 private:
  std::array<std::unique_ptr<FencedMemory>, T3_OPERANDS_MAX> memory_;  ///< of each operand, as large as it was needed
  std::array<const unsigned char*, T3_OPERANDS_MAX> lent_{};
};

}  // namespace t3vp::compute
