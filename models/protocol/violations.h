// The violations that the protocol checkers of a platform or a bench have found.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace t3vp {

/// A broken rule: where, which, by what access.
struct Violation {
  enum class By : std::uint8_t { initiator, target };
  By by;
  std::string place;   ///< the sockets between which it was seen
  const char* rule;    ///< what was done that the protocol forbids
  std::string access;  ///< operation, bytes and address, with the time

  /// One line for people.
  std::string text() const { return place + ": " + rule + ": " + access; }
};

class Violations {
 public:
  static constexpr std::size_t kept = 100;  ///< later ones are only counted: a fault may repeat for ever

  void add(Violation violation) {
    ++count_;
    if (list_.size() < kept) list_.push_back(std::move(violation));
  }
  std::uint64_t count() const { return count_; }
  /// The first ones.
  const std::vector<Violation>& list() const { return list_; }
  std::vector<Violation> take() {
    count_ = 0;
    return std::exchange(list_, {});
  }

 private:
  std::uint64_t count_ = 0;
  std::vector<Violation> list_;
};

}  // namespace t3vp
