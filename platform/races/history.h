// Who has last written, updated and read each byte of memory. Plain C++.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "protocol/access.h"
#include "protocol/picoseconds.h"
#include "races/order.h"

namespace t3vp::races {

/// An access as it is remembered.
struct Access {
  OrderPoint by = 0;
  Operation operation = Operation::load;  ///< load, store or update
  ElementType element = ElementType::fp16;
  bool is_atomic = false;  ///< of flags and counters: it races with no other such access
  Picoseconds time = 0;
};

/// An access that nothing orders with an earlier one, and the first byte that both have.
struct Race {
  std::uint64_t address;
  Access earlier;
};

/// An address is that of the whole node.
class History {
 public:
  explicit History(const Order& order) : order_(order) {}

  /// Notes an access to these bytes, once for each of its rows. Appends the races that it has been found in.
  class Noted {
   public:
    Noted(History& history, const Access& access);
    void bytes(std::uint64_t begin, std::uint64_t end, std::vector<Race>& races);

   private:
    friend class History;
    History& history_;
    Access access_;
    std::uint32_t number_;
    std::uint32_t known_from_ = 0, known_to_ = 0;  ///< the latest set that it was added to, and the result
    std::uint32_t judged_write_ = 0, judged_updates_ = 0, judged_loads_ = 0;  ///< what it was held against last
  };

  /// Calls `take` with each write or update that these bytes still show.
  template <typename Take>
  void for_each_write(std::uint64_t begin, std::uint64_t end, Take take) const {
    for (auto piece = first_in(begin); piece != pieces_.end() && piece->first < end; ++piece) {
      if (piece->second.write != 0) take(accesses_[piece->second.write]);
      for (const std::uint32_t update : *sets_[piece->second.updates]) take(accesses_[update]);
    }
  }

  /// Forgets all about these bytes.
  void forget(std::uint64_t begin, std::uint64_t end);

  std::size_t pieces() const { return pieces_.size(); }

 private:
  using Set = std::vector<std::uint32_t>;  ///< numbers of accesses, in their order
  /// Bytes that have had the same accesses.
  struct Piece {
    std::uint64_t end;
    std::uint32_t write = 0;               ///< the last store; 0: none
    std::uint32_t updates = 0, loads = 0;  ///< sets: since that store, none before another one of them
    bool is_as(const Piece& other) const {
      return write == other.write && updates == other.updates && loads == other.loads;
    }
  };
  using Pieces = std::map<std::uint64_t, Piece>;

  Pieces::const_iterator first_in(std::uint64_t begin) const;
  Pieces::iterator split(std::uint64_t at);
  void take(Noted& noted, std::uint64_t begin, Piece& piece, std::vector<Race>& races);
  bool races(const Access& access, const Access& earlier) const;
  std::uint32_t added(Noted& noted, std::uint32_t set);

  const Order& order_;
  std::vector<Access> accesses_{Access{}};
  std::map<Set, std::uint32_t> numbers_{{{}, 0}};  ///< of sets
  std::vector<const Set*> sets_{&numbers_.begin()->first};
  Pieces pieces_;
};

}  // namespace t3vp::races
