#include "debugger/stop_points.h"

#include <algorithm>

namespace t3vp::debug {
namespace {

/// Ranges may pass the end of the address space.
bool overlap(std::uint64_t a, std::uint64_t a_bytes, std::uint64_t b, std::uint64_t b_bytes) {
  return b - a < a_bytes || a - b < b_bytes;
}

bool is_of(StopPointKind kind, const MemoryAccess& access) {
  return (access.writes && kind != StopPointKind::read_watch) || (access.reads && kind != StopPointKind::write_watch);
}

}  // namespace

bool StopPoints::add(const StopPoint& point) {
  std::vector<StopPoint>& list = list_of(point.kind);
  if (std::find(list.begin(), list.end(), point) != list.end()) return true;
  if (breakpoints_.size() + watches_.size() >= most) return false;
  list.push_back(point);
  return true;
}

void StopPoints::remove(const StopPoint& point) {
  std::vector<StopPoint>& list = list_of(point.kind);
  list.erase(std::remove(list.begin(), list.end(), point), list.end());
}

const StopPoint* StopPoints::watch(const MemoryAccess& access) const {
  for (const StopPoint& point : watches_)
    if (is_of(point.kind, access) && overlap(point.address, point.bytes, access.address, access.bytes)) return &point;
  return nullptr;
}

std::vector<StopPoint>& StopPoints::list_of(StopPointKind kind) {
  const bool is_breakpoint = kind == StopPointKind::software_breakpoint || kind == StopPointKind::hardware_breakpoint;
  return is_breakpoint ? breakpoints_ : watches_;
}

}  // namespace t3vp::debug
