// The compute cluster's interface to the blocks that hold maps: the running kernel's output range, the checks before a
// kernel is launched, and the check before memory is zeroed.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <systemc>

namespace t3vp {

/// Addresses begin to end - 1 of the node; none when they are equal.
struct OutputRange {
  std::uint64_t begin = 0, end = 0;

  bool overlaps(std::uint64_t address, std::uint64_t bytes) const { return address < end && begin < address + bytes; }
  bool overlaps(const OutputRange& other) const { return begin < other.end && other.begin < end; }
  bool operator==(const OutputRange& other) const { return begin == other.begin && end == other.end; }
};

inline std::ostream& operator<<(std::ostream& stream, const OutputRange& range) {
  return stream << range.begin << ".." << range.end;
}

/// Offered by the blocks that hold maps.
class MapHolder : public virtual sc_core::sc_interface {
 public:
  /// Why a kernel whose stores a map cannot take must not run on this output now, in words; empty when it may.
  /// `stores`: it stores there itself, and not only its neighbours do.
  virtual std::string in_the_way(const OutputRange& output, bool stores) const = 0;
  /// Returns a text about the maps' own data in some of this memory; empty when there are none.
  virtual std::string kept_in(const OutputRange&) const { return {}; }
};

/// Offered by the blocks that use memory for longer than an access.
class MemoryUser : public virtual sc_core::sc_interface {
 public:
  /// Returns a text that names the current user of some of these bytes and the place. It is empty when there is none.
  virtual std::string use_of(const OutputRange& range) const = 0;
};

inline void sc_trace(sc_core::sc_trace_file* file, const OutputRange& range, const std::string& name) {
  sc_core::sc_trace(file, range.begin, name + ".begin");
  sc_core::sc_trace(file, range.end, name + ".end");
}

}  // namespace t3vp
