#include "races/history.h"

#include <iterator>

namespace t3vp::races {

History::Noted::Noted(History& history, const Access& access)
    : history_(history), access_(access), number_(static_cast<std::uint32_t>(history.accesses_.size())) {
  history.accesses_.push_back(access);
}

/// The piece that has the address, or else the first one behind it.
History::Pieces::const_iterator History::first_in(std::uint64_t begin) const {
  auto piece = pieces_.upper_bound(begin);
  if (piece != pieces_.begin() && std::prev(piece)->second.end > begin) --piece;
  return piece;
}

/// Makes a piece begin at the address if one has it. Returns the first one from there on.
History::Pieces::iterator History::split(std::uint64_t at) {
  auto piece = pieces_.lower_bound(at);
  if (piece == pieces_.begin()) return piece;
  const auto before = std::prev(piece);
  if (before->second.end <= at) return piece;
  Piece rest = before->second;
  before->second.end = at;
  return pieces_.emplace_hint(piece, at, rest);
}

void History::forget(std::uint64_t begin, std::uint64_t end) {
  const auto first = split(begin);
  pieces_.erase(first, split(end));
}

void History::Noted::bytes(std::uint64_t begin, std::uint64_t end, std::vector<Race>& races) {
  History::Pieces& pieces = history_.pieces_;
  history_.split(end);
  auto piece = history_.split(begin);
  auto before = piece == pieces.begin() ? pieces.end() : std::prev(piece);
  for (std::uint64_t at = begin; at < end;) {
    if (piece == pieces.end() || piece->first > at) {
      const std::uint64_t to = piece == pieces.end() ? end : std::min(end, piece->first);
      piece = pieces.emplace_hint(piece, at, History::Piece{to});
    }
    history_.take(*this, at, piece->second, races);
    at = piece->second.end;
    const bool joins =
        before != pieces.end() && before->second.end == piece->first && before->second.is_as(piece->second);
    if (joins) {
      before->second.end = piece->second.end;
      piece = pieces.erase(piece);
    } else {
      before = piece++;
    }
  }
}

/// Two updates of one element type do not race, nor do two accesses to a flag or counter.
bool History::races(const Access& access, const Access& earlier) const {
  const bool both_update = access.operation == Operation::update && earlier.operation == Operation::update;
  if (both_update && access.element == earlier.element) return false;
  return !(access.is_atomic && earlier.is_atomic) && !order_.is_before(earlier.by, access.by);
}

void History::take(Noted& noted, std::uint64_t begin, Piece& piece, std::vector<Race>& races) {
  const Access& access = noted.access_;
  const auto judge = [&](std::uint32_t number) {
    if (this->races(access, accesses_[number])) races.push_back({begin, accesses_[number]});
  };
  if (piece.write != 0 && piece.write != noted.judged_write_) judge(piece.write);
  noted.judged_write_ = piece.write;
  if (piece.updates != noted.judged_updates_)
    for (const std::uint32_t update : *sets_[piece.updates]) judge(update);
  noted.judged_updates_ = piece.updates;
  if (access.operation == Operation::load) {
    piece.loads = added(noted, piece.loads);
    return;
  }
  if (piece.loads != noted.judged_loads_)
    for (const std::uint32_t load : *sets_[piece.loads]) judge(load);
  noted.judged_loads_ = piece.loads;
  if (access.operation == Operation::update) {
    piece.updates = added(noted, piece.updates);
    return;
  }
  piece.write = noted.number_;
  piece.updates = piece.loads = 0;
}

/// What is before the new access needs not be remembered: whoever is behind this one is behind that as well.
std::uint32_t History::added(Noted& noted, std::uint32_t set) {
  if (noted.known_to_ != 0 && noted.known_from_ == set) return noted.known_to_;
  Set more;
  more.reserve(sets_[set]->size() + 1);
  for (const std::uint32_t number : *sets_[set])
    if (number != noted.number_ && !order_.is_before(accesses_[number].by, noted.access_.by)) more.push_back(number);
  more.push_back(noted.number_);
  const auto [found, is_new] = numbers_.emplace(std::move(more), static_cast<std::uint32_t>(sets_.size()));
  if (is_new) sets_.push_back(&found->first);
  noted.known_from_ = set;
  return noted.known_to_ = found->second;
}

}  // namespace t3vp::races
