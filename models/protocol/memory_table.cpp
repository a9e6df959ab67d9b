#include "protocol/memory_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "protocol/units.h"

namespace t3vp {

std::string MemoryTable::tell(std::uint64_t address, std::uint64_t bytes, MemoryUse kind, Picoseconds time) {
  latest_ = {0, 0, MemoryUse::free};
  if (kind == MemoryUse::free && bytes == 0) {
    pieces_.clear();
    freed_.clear();
    return {};
  }
  if (kind == MemoryUse::free) {
    const auto found = pieces_.find(address);
    if (found == pieces_.end() || found->second.end != address + bytes)
      return fmt::format("frees {} bytes at {:#x}, which are no piece that it has", bytes, address);
    freed_.push_front({found->second, time});
    if (freed_.size() > freed_most) freed_.pop_back();
    pieces_.erase(found);
    return {};
  }
  const Piece* const before = piece_before(address);
  const auto after = pieces_.lower_bound(address);
  if (bytes == 0 || address + bytes < address)
    return fmt::format("has {} bytes of memory at {:#x}, which are no range", bytes, address);
  if ((before != nullptr && before->end > address) || (after != pieces_.end() && after->first < address + bytes))
    return fmt::format("has {} bytes of memory at {:#x}, some of which it has already", bytes, address);
  pieces_[address] = {address, address + bytes, kind};
  return {};
}

/// The last piece that begins at the address or before it.
const MemoryTable::Piece* MemoryTable::piece_before(std::uint64_t address) const {
  const auto after = pieces_.upper_bound(address);
  return after == pieces_.begin() ? nullptr : &std::prev(after)->second;
}

std::optional<MemoryTable::Fault> MemoryTable::fault_of(std::uint64_t begin, std::uint64_t end,
                                                        bool protects_driver) const {
  if (pieces_.empty() && freed_.empty()) return {};
  if (begin < latest_.begin || end > latest_.end) {
    const Piece* const piece = piece_before(begin);
    if (piece == nullptr || piece->end <= begin) return outside(begin, end);
    if (end > piece->end)
      return Fault{"access beyond the end of a piece",
                   fmt::format("the piece is {:#x} to {:#x}", piece->begin, piece->end - 1)};
    latest_ = *piece;
  }
  if (latest_.kind == MemoryUse::driver && protects_driver)
    return Fault{"access to memory that the driver keeps",
                 fmt::format("the driver keeps {:#x} to {:#x}", latest_.begin, latest_.end - 1)};
  return {};
}

MemoryTable::Fault MemoryTable::outside(std::uint64_t begin, std::uint64_t end) const {
  const auto freed = std::find_if(freed_.begin(), freed_.end(),
                                  [&](const Freed& one) { return one.piece.begin < end && begin < one.piece.end; });
  if (freed != freed_.end())
    return {"access to freed memory", fmt::format("{:#x} to {:#x} was freed at {:.3f} ns", freed->piece.begin,
                                                  freed->piece.end - 1, to_ns(freed->time))};
  const Piece* const before = piece_before(begin);
  return {"access to memory that is not allocated",
          before == nullptr ? "no piece lies before it"
                            : fmt::format("the piece before it ends at {:#x}", before->end - 1)};
}

}  // namespace t3vp
