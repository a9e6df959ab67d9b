// The properties of a ring kernel that its signals and stores carry, and those that a wait for such a signal expects;
// for firmware's signals, their sender. They travel with the data, as a packet's header does; data_protocol.h knows
// them by name only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/output_range.h"
#include "protocol/units.h"

namespace t3vp {

struct RingSignal {
  /// One of the things that the kernels of neighbours must agree on. Which there are is the kernels' business.
  struct Property {
    std::string name;
    std::uint64_t value;
    std::string text = {};  ///< what the value means; empty: the number says it
    bool is_address = false;
  };

  std::uint32_t receiver = 0;    ///< position in the ring of the GPU that is signalled
  std::uint32_t gpus = 1;        ///< of the ring
  std::uint32_t workgroups = 1;  ///< of the kernel, each with a counter; 0: firmware's, of which the sender is all
  std::vector<Property> properties;
  std::uint16_t sender = 0;      ///< GPU
  std::uint64_t generation = 0;  ///< of the sender: how often it had been reset
  Picoseconds begun = 0;         ///< when the kernel began
  OutputRange stored;            ///< of a signal: where the data before it went
  std::uint32_t failure = 0;     ///< of a signal: code of what went wrong with the data before it
  std::string why;               ///< of the answer to a refused wait: in words
  bool is_out_of_step = false;   ///< of the same: the neighbour sends more or fewer signals than are awaited

  bool is_of_kernel() const { return workgroups != 0; }
};

/// Whether both are of kernels that mean the same.
bool agree(const RingSignal& one, const RingSignal& other);

/// The properties that differ, with both values.
std::string differences(const RingSignal& found, const RingSignal& expected);

}  // namespace t3vp
