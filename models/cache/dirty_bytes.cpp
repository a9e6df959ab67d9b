#include "cache/dirty_bytes.h"

#include <algorithm>

namespace t3vp::cache {
namespace {

/// Calls visit(word, mask) for the words that hold bits [from, to).
template <typename Visit>
void for_each_word(std::uint32_t from, std::uint32_t to, Visit visit) {
  while (from < to) {
    const std::uint32_t word = from / 64, end = std::min(to, (word + 1) * 64), count = end - from;
    visit(word, (count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1) << from % 64);
    from = end;
  }
}

}  // namespace

DirtyBytes::DirtyBytes(const CacheParameters& parameters, CacheTags::Slot slots)
    : slots_(slots),
      per_line_((parameters.line_bytes + word_bits - 1) / word_bits),
      sector_bytes_(parameters.sector_bytes),
      sectors_(parameters.line_bytes / parameters.sector_bytes) {}

void DirtyBytes::begin(CacheTags::Slot slot, std::uint8_t sectors) {
  if (words_.empty()) words_.resize(std::size_t{slots_} * per_line_);
  std::fill_n(words_.begin() + static_cast<std::ptrdiff_t>(std::size_t{slot} * per_line_), per_line_, 0);
  for (std::uint32_t s = 0; s < sectors_; ++s)
    if ((sectors >> s & 1) != 0) add(slot, s * sector_bytes_, (s + 1) * sector_bytes_);
}

void DirtyBytes::add(CacheTags::Slot slot, std::uint32_t from, std::uint32_t to) {
  std::uint64_t* line = &words_[std::size_t{slot} * per_line_];
  for_each_word(from, to, [line](std::uint32_t word, std::uint64_t mask) { line[word] |= mask; });
}

void DirtyBytes::remove(CacheTags::Slot slot, std::uint32_t from, std::uint32_t to) {
  std::uint64_t* line = &words_[std::size_t{slot} * per_line_];
  for_each_word(from, to, [line](std::uint32_t word, std::uint64_t mask) { line[word] &= ~mask; });
}

bool DirtyBytes::contains(CacheTags::Slot slot, std::uint32_t from, std::uint32_t to) const {
  const std::uint64_t* line = &words_[std::size_t{slot} * per_line_];
  bool all = true;
  for_each_word(from, to,
                [line, &all](std::uint32_t word, std::uint64_t mask) { all = all && (line[word] & mask) == mask; });
  return all;
}

std::uint8_t DirtyBytes::full(CacheTags::Slot slot) const {
  std::uint8_t result = 0;
  for (std::uint32_t s = 0; s < sectors_; ++s)
    if (contains(slot, s * sector_bytes_, (s + 1) * sector_bytes_)) result |= static_cast<std::uint8_t>(1u << s);
  return result;
}

std::uint8_t DirtyBytes::some(CacheTags::Slot slot) const {
  const std::uint64_t* line = &words_[std::size_t{slot} * per_line_];
  std::uint8_t result = 0;
  for (std::uint32_t s = 0; s < sectors_; ++s)
    for_each_word(s * sector_bytes_, (s + 1) * sector_bytes_, [&](std::uint32_t word, std::uint64_t mask) {
      if ((line[word] & mask) != 0) result |= static_cast<std::uint8_t>(1u << s);
    });
  return result;
}

}  // namespace t3vp::cache
