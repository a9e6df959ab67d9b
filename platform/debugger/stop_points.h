// The points at which a debugger stops a program: addresses of code, and accesses to ranges of memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace t3vp::debug {

/// In the order of the protocol's packets Z0 to Z4. Memory is not changed by any: both breakpoints do the same.
enum class StopPointKind { software_breakpoint, hardware_breakpoint, write_watch, read_watch, access_watch };

struct StopPoint {
  StopPointKind kind;
  std::uint64_t address;
  std::uint64_t bytes;  ///< of a breakpoint what it would replace; of a watch at least 1
  bool operator==(const StopPoint& o) const { return kind == o.kind && address == o.address && bytes == o.bytes; }
};

/// A memory access of an instruction.
struct MemoryAccess {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  bool reads = false, writes = false;
};

class StopPoints {
 public:
  static constexpr std::size_t most = 1024;

  /// One that is there already is there once. False: there are too many.
  bool add(const StopPoint& point);
  void remove(const StopPoint& point);
  void clear() { breakpoints_ = watches_ = {}; }

  /// The breakpoint of this address; null if there is none.
  const StopPoint* breakpoint(std::uint64_t address) const {
    for (const StopPoint& point : breakpoints_)
      if (point.address == address) return &point;
    return nullptr;
  }
  bool watches() const { return !watches_.empty(); }
  /// The first that such an access meets; null if there is none.
  const StopPoint* watch(const MemoryAccess& access) const;

 private:
  std::vector<StopPoint>& list_of(StopPointKind kind);

  std::vector<StopPoint> breakpoints_, watches_;
};

}  // namespace t3vp::debug
