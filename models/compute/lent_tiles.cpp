#include "compute/lent_tiles.h"

#include <algorithm>
#include <cstring>

namespace t3vp::compute {
namespace {

constexpr std::size_t least = 4096;
constexpr std::size_t most_times_too_large = 16;  // what lies beside a tile is looked at each time

}  // namespace

float* LentTiles::lend(std::uint32_t operand, const std::vector<unsigned char>& bytes) {
  std::unique_ptr<FencedMemory>& memory = memory_[operand];
  const std::size_t needed = std::max(bytes.size(), least);
  if (!memory || memory->capacity() < needed || memory->capacity() > most_times_too_large * needed) {
    memory.reset();
    memory = std::make_unique<FencedMemory>(needed);
  }
  void* const lent = memory->lend(bytes.size());
  std::memcpy(lent, bytes.data(), bytes.size());
  lent_[operand] = static_cast<const unsigned char*>(lent);
  return static_cast<float*>(lent);
}

void LentTiles::take_back(std::uint32_t operand, std::vector<unsigned char>& bytes) const {
  std::memcpy(bytes.data(), lent_[operand], bytes.size());
}

}  // namespace t3vp::compute
