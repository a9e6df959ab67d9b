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

CacheTags::CacheTags(const CacheParameters& parameters, Stamp stamp)
    : associativity_(parameters.ways),
      vectors_((associativity_ + lanes - 1) / lanes),
      sets_per_bank_(static_cast<std::uint32_t>(std::max<std::uint64_t>(
          1, parameters.capacity_bytes / parameters.line_bytes / associativity_ / parameters.banks))),
      bank_bits_(bits_for(parameters.banks)),
      set_bits_(bits_for(sets_per_bank_)),
      hashed_sets_((sets_per_bank_ & (sets_per_bank_ - 1)) == 0 && set_bits_ <= PolynomialHash::max_bits),
      bank_hash_(bank_bits_),
      // The same polynomial would give all lines of a bank a few sets where rows lie a power of two apart.
      set_hash_(hashed_sets_ ? set_bits_ : 0,
                set_bits_ == bank_bits_ ? PolynomialHash::Of::reciprocal : PolynomialHash::Of::polynomial),
      ways_(std::size_t{sets_per_bank_} * parameters.banks * vectors_) {
  clear();
  stamp_ = stamp;
}

/// The ways of an empty set are taken in their order. Lanes past the last way are never the oldest.
void CacheTags::clear() {
  for (GroupAge& place : groups_) place.bits = 0;
  for (Members& members : members_) members.group = no_group;
  stamp_ = 0;
  drop_stamp_ = first_stamp;
  for (std::size_t vector = 0; vector < ways_.size(); ++vector) {
    ways_[vector] = Ways{};
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      const auto way = static_cast<std::uint32_t>(vector % vectors_ * lanes + lane);
      ways_[vector].stamps[lane / 4][lane % 4] =
          way < associativity_ ? first_stamp + static_cast<Stamp>(way) : last_stamp + 1;
    }
  }
}

/// Gives the line the stamp of its latest group. Returns whether that is later than its own.
bool CacheTags::note_age(Slot slot) {
  const Stamp before = stamp(slot);
  Stamp age = before;
  for (const GroupBits bits : groups_of(slot))
    if (const GroupAge* place = find_group(bits)) age = std::max(age, place->stamp);
  if (age == before) return false;
  set_stamp(slot, age);
  return true;
}

/// Equal stamps are of one use of a group, in the order of its lines.
bool CacheTags::is_older(Slot slot, Slot than) const {
  return stamp(slot) < stamp(than) || (stamp(slot) == stamp(than) && tag(slot) < tag(than));
}

/// The line of the lowest stamp in a set.
CacheTags::Slot CacheTags::oldest(const Place& place) const {
  const std::uint32_t first = place.set * vectors_;
  Slot oldest = none;
  for (std::uint32_t vector = first; vector < first + vectors_; ++vector) {
    const std::array<Stamps, 4>& stamps = ways_[vector].stamps;
    const auto lower = [](const Stamps& a, const Stamps& b) { return a < b ? a : b; };
    const Stamps four = lower(lower(stamps[0], stamps[1]), lower(stamps[2], stamps[3]));
    const Stamp lowest = std::min(std::min(four[0], four[1]), std::min(four[2], four[3]));
    Stamps found{}, bits = {1, 2, 4, 8};
    for (const Stamps& some : stamps) {
      found |= (some == lowest) & bits;
      bits <<= 4;
    }
    for (auto mask = static_cast<std::uint32_t>(found[0] | found[1] | found[2] | found[3]); mask != 0;
         mask &= mask - 1) {
      const Slot slot = vector * lanes + static_cast<Slot>(__builtin_ctz(mask));
      if (oldest == none || is_older(slot, oldest)) oldest = slot;
    }
  }
  return oldest;
}

/// The oldest line without pending data; none when all have some.
CacheTags::Slot CacheTags::oldest_settled(const Place& place) {
  const Slot first = place.set * vectors_ * lanes;
  Slot oldest = none;
  for (Slot slot = first; slot < first + associativity_; ++slot) {
    note_age(slot);
    if (line(slot).pending == 0 && (oldest == none || is_older(slot, oldest))) oldest = slot;
  }
  return oldest;
}

/// A line's own stamp is at most its age. So the line of the lowest stamp is the oldest once its age is noted.
CacheTags::Slot CacheTags::victim(const Place& place) {
  Slot slot = oldest(place);
  while (note_age(slot)) slot = oldest(place);
  if (line(slot).pending == 0) return slot;
  const Slot settled = oldest_settled(place);
  return settled == none ? slot : settled;
}

void CacheTags::occupy(Slot slot, std::uint64_t line) {
  break_groups(slot);
  Ways& ways = ways_[slot / lanes];
  ways.tags[slot % lanes / 4][slot % 4] = tag_of(line);
  ways.entries[slot % lanes] = Entry{};
  use(slot);
}

void CacheTags::drop(Slot slot) {
  break_groups(slot);
  Ways& ways = ways_[slot / lanes];
  ways.tags[slot % lanes / 4][slot % 4] = 0;
  ways.entries[slot % lanes] = Entry{};
  if (drop_stamp_ == std::numeric_limits<Stamp>::min()) renumber();
  set_stamp(slot, --drop_stamp_);
}

void CacheTags::break_groups(Slot slot) {
  for (const GroupBits bits : groups_of(slot))
    if (GroupAge* place = find_group(bits)) place->whole = false;
}

CacheTags::Group CacheTags::group(const std::vector<Slot>& slots) {
  if (static_cast<GroupBits>(++last_group_) == 0) {
    end_groups();  // lines may have old ones of the numbers to come
    ++last_group_;
  }
  const std::size_t place = last_group_ % groups_kept;
  end_group(place);
  groups_[place] = {static_cast<GroupBits>(last_group_), true, first_stamp};
  members_[place] = {last_group_, slots};
  for (const Slot slot : slots) join(slot, static_cast<GroupBits>(last_group_));
  return last_group_;
}

/// A line that has no room for another group leaves one that is then not whole. It has been used after that one.
void CacheTags::join(Slot slot, GroupBits bits) {
  auto& groups = groups_of(slot);
  std::size_t at = 0;
  while (at < groups_of_line && groups[at] != bits && find_group(groups[at]) != nullptr) ++at;
  if (at == groups_of_line) {
    at = static_cast<std::size_t>(std::min_element(groups.begin(), groups.end()) - groups.begin());
    find_group(groups[at])->whole = false;
  }
  groups[at] = bits;
}

/// Its lines keep their ages.
void CacheTags::end_group(std::size_t place) {
  if (groups_[place].bits != 0 && groups_[place].stamp != first_stamp)
    for (const Slot slot : members_[place].slots) note_age(slot);
  groups_[place].bits = 0;
  members_[place].group = no_group;
}

void CacheTags::end_groups() {
  for (std::size_t place = 0; place < groups_kept; ++place) end_group(place);
  for (Ways& ways : ways_)
    for (Entry& entry : ways.entries) entry.groups = {};
}

/// Stamps begin again, in the same order. Free slots come first.
void CacheTags::renumber() {
  end_groups();
  std::vector<Slot> slots(associativity_);
  for (Slot first = 0; first < this->slots(); first += vectors_ * lanes) {
    for (std::uint32_t way = 0; way < associativity_; ++way) slots[way] = first + way;
    std::sort(slots.begin(), slots.end(), [this](Slot slot, Slot than) { return is_older(slot, than); });
    for (std::uint32_t way = 0; way < associativity_; ++way)
      set_stamp(slots[way], static_cast<Stamp>(way) + (occupied(slots[way]) ? 1 : first_stamp));
  }
  stamp_ = static_cast<Stamp>(associativity_);
  drop_stamp_ = first_stamp;
}

}  // namespace t3vp::cache
