// Blocks record events for the timeline here. With a null pointer there is no recorder, and blocks do no work for it.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/picoseconds.h"

namespace t3vp {

class Trace {
 public:
  using Track = std::uint32_t;
  virtual ~Trace() = default;

  /// A new row of the timeline: `group` is the GPU ("GPU 0"), `name` the row ("CU 0-9", "DMA", "Tracker").
  virtual Track track(const std::string& group, const std::string& name) = 0;
  /// Something that took from `begin` to `end`.
  virtual void span(Track track, const char* name, Picoseconds begin, Picoseconds end) = 0;
  /// Does the same with the wavefront tile of the span. Spans of one `flow` are joined by arrows in the order of time:
  /// GEMM store, trigger, DMA, remote update. flow_of() gives the number.
  virtual void span(Track track, const char* name, Picoseconds begin, Picoseconds end, std::uint64_t flow) = 0;
  /// Something that took no time. A `flow` that is not 0 begins there, in the track's span at that time.
  virtual void instant(Track track, const char* name, Picoseconds at, std::uint64_t flow) = 0;
  /// A value that changes over time, such as the occupancy of a queue.
  virtual void counter(Track track, const char* name, Picoseconds at, double value) = 0;
};

/// The flow of a wavefront tile on its way from the GEMM that stored it to the neighbour's memory.
constexpr std::uint64_t flow_of(std::uint64_t gpu, std::uint64_t wg_id, std::uint64_t wf_id) {
  return gpu << 40 | wg_id << 8 | wf_id;
}

constexpr std::uint64_t message_flow = std::uint64_t{1} << 63;
/// The flow of a NIC's message to an address of another GPU's memory, from who posts it to the NIC that stores it.
constexpr std::uint64_t flow_to(std::uint64_t address) { return message_flow | address; }

}  // namespace t3vp
