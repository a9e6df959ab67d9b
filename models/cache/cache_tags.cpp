#include "cache/cache_tags.h"

#include <algorithm>

namespace t3vp::cache {
namespace {

/// Returns the number of bits of the numbers below n, rounded up to a power of two.
unsigned bits_for(std::uint64_t n) {
  unsigned bits = 0;
  while ((std::uint64_t{1} << bits) < n) ++bits;
  return bits;
}

}  // namespace

CacheTags::CacheTags(const CacheParameters& parameters)
    : associativity_(parameters.ways),
      vectors_((associativity_ + lanes - 1) / lanes),
      sets_per_bank_(static_cast<std::uint32_t>(std::max<std::uint64_t>(
          1, parameters.capacity_bytes / parameters.line_bytes / associativity_ / parameters.banks))),
      bank_bits_(bits_for(parameters.banks)),
      set_bits_(bits_for(sets_per_bank_)),
      hashed_sets_((sets_per_bank_ & (sets_per_bank_ - 1)) == 0 && set_bits_ <= PolynomialHash::max_bits),
      bank_hash_(bank_bits_),
      set_hash_(hashed_sets_ ? set_bits_ : 0),
      ways_(std::size_t{sets_per_bank_} * parameters.banks * vectors_) {
  clear();
}

/// The ways of an empty set are taken in their order. Lanes past the last way are older than all and never age.
void CacheTags::clear() {
  for (std::size_t vector = 0; vector < ways_.size(); ++vector) {
    ways_[vector] = Ways{};
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      const auto way = static_cast<std::uint32_t>(vector % vectors_ * lanes + lane);
      ways_[vector].ages[lane] = static_cast<std::uint8_t>(way < associativity_ ? associativity_ - 1 - way : way);
    }
  }
}

CacheTags::Slot CacheTags::victim(const Place& place) const {
  const std::uint32_t first = place.set * vectors_;
  const auto aged = [this, first](std::uint32_t age) {
    std::uint32_t number = 0;
    for (std::uint32_t vector = 0; vector < vectors_; ++vector)
      for (std::uint32_t lane = 0; lane < lanes; ++lane)
        number |= ways_[first + vector].ages[lane] == age ? vector * lanes + lane : 0;
    return first * lanes + number;
  };
  const Slot oldest = aged(associativity_ - 1);
  Slot slot = oldest;
  for (std::uint32_t age = associativity_ - 1; ways_[slot / lanes].lines[slot % lanes].pending != 0; slot = aged(age))
    if (age-- == 0) return oldest;
  return slot;
}

void CacheTags::occupy(Slot slot, std::uint64_t line) {
  Ways& ways = ways_[slot / lanes];
  ways.tags[slot % lanes / 4][slot % 4] = tag_of(line);
  ways.lines[slot % lanes] = Line{};
  make_youngest(first_of(slot), slot);
}

void CacheTags::drop(Slot slot) {
  Ways& ways = ways_[slot / lanes];
  ways.tags[slot % lanes / 4][slot % 4] = 0;
  ways.lines[slot % lanes] = Line{};
  const std::uint8_t age = ways.ages[slot % lanes];
  const auto oldest = static_cast<std::uint8_t>(associativity_ - 1);
  for (std::uint32_t vector = first_of(slot); vector < first_of(slot) + vectors_; ++vector) {
    Bytes& ages = ways_[vector].ages;
    ages += reinterpret_cast<Bytes>((ages > age) & (ages <= oldest));
  }
  ways.ages[slot % lanes] = oldest;
}

}  // namespace t3vp::cache
