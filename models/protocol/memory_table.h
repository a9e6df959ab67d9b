// What software says of a GPU's memory: the pieces that it has allocated, and those that its driver keeps. Plain C++.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "protocol/picoseconds.h"
#include "registers/memory_use.h"

namespace t3vp {

class MemoryTable {
 public:
  struct Fault {
    const char* rule;    ///< what was done
    std::string detail;  ///< the piece that is meant, for people
  };

  /// Notes that the bytes are of this kind from now on. MemoryUse::free ends the piece that begins there; with bytes 0
  /// it ends all that was said before. Returns what is wrong with that, or nothing.
  std::string tell(std::uint64_t address, std::uint64_t bytes, MemoryUse kind, Picoseconds time);

  /// Why the bytes from `begin` to `end` must not be accessed; nothing where they may be, and where software has not
  /// said anything of any memory. `protects_driver`: nor may the driver's own.
  std::optional<Fault> fault_of(std::uint64_t begin, std::uint64_t end, bool protects_driver) const;

 private:
  struct Piece {
    std::uint64_t begin, end;
    MemoryUse kind;
  };
  struct Freed {
    Piece piece;
    Picoseconds time;
  };

  static constexpr std::size_t freed_most = 65'536;  ///< older ones are forgotten

  const Piece* piece_before(std::uint64_t address) const;
  Fault outside(std::uint64_t begin, std::uint64_t end) const;

  std::map<std::uint64_t, Piece> pieces_;  ///< by their begin
  std::deque<Freed> freed_;                ///< the latest first
  mutable Piece latest_{0, 0, MemoryUse::free};
};

}  // namespace t3vp
