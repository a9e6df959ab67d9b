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

  /// Checkers pass everything on unchecked from now on, until wake().
  void sleep() { is_asleep_ = was_asleep_ = true; }
  /// Checkers check every request that is sent from now on. What is in flight stays unchecked.
  void wake() { is_asleep_ = false; }
  bool is_asleep() const { return is_asleep_; }
  /// A response may be one to a request that was sent unchecked.
  bool was_asleep() const { return was_asleep_; }

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
  bool is_asleep_ = false, was_asleep_ = false;
  std::uint64_t count_ = 0;
  std::vector<Violation> list_;
};

}  // namespace t3vp
