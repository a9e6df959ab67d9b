// What the signals and stores of a ring kernel say of it, and what a wait for such a signal expects. It travels beside
// the data, as a packet's header does; data_protocol.h knows it by name only.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace t3vp {

struct RingSignal {
  /// What the kernels of neighbours must agree on.
  enum Property : std::uint8_t {
    collective,
    rows,
    columns,
    row_stride,
    tile_rows,
    tile_columns,
    element,
    gpus,
    workgroups,
    receiver,  ///< position in the ring of the GPU that is signalled
    out,       ///< local address, the receiver's
    staging,   ///< the same; 0 where nothing is staged
    epoch,     ///< of the kernel: its counters' value before it
    property_count
  };
  enum Collective : std::uint64_t { reduce_scatter, near_memory_reduce_scatter, all_gather };

  std::array<std::uint64_t, property_count> properties{};
  std::uint16_t sender = 0;     ///< GPU
  std::uint32_t failure = 0;    ///< of a signal: code of what went wrong with the data before it
  std::string why;              ///< of the answer to a refused wait: in words
  bool is_out_of_step = false;  ///< of the same: the neighbour sends more or fewer signals than are awaited
};

/// The properties that differ, with both values.
std::string differences(const RingSignal& found, const RingSignal& expected);

}  // namespace t3vp
