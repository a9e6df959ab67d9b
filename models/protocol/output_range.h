// What the compute cluster tells the blocks that hold maps: where the running kernel writes.
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
  bool operator==(const OutputRange& other) const { return begin == other.begin && end == other.end; }
};

inline std::ostream& operator<<(std::ostream& stream, const OutputRange& range) {
  return stream << range.begin << ".." << range.end;
}

inline void sc_trace(sc_core::sc_trace_file* file, const OutputRange& range, const std::string& name) {
  sc_core::sc_trace(file, range.begin, name + ".begin");
  sc_core::sc_trace(file, range.end, name + ".end");
}

}  // namespace t3vp
