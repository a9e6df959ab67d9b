// An observer of register accesses, such as a trace. There is none unless it has been requested; blocks then do no work
// for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "protocol/picoseconds.h"

namespace t3vp {

/// An access that has ended, in the order in which they end. Initiators may be ahead of simulated time, by `time`, so
/// that times are not in order.
struct RegisterAccess {
  Picoseconds time = 0;
  std::string_view who;                ///< "processor", "compute units"
  std::optional<std::uint64_t> whose;  ///< GPU of who it is; nothing: the one whose register it is
  std::uint64_t address = 0;           ///< in the node's address space
  std::uint32_t bytes = 0;
  bool writes = false;
  bool is_refused = false;
  bool is_sent = false;                 ///< a write that has left for another GPU, where it is reported again
  std::uint64_t value = 0;              ///< written, or read
  std::uint64_t before = 0, after = 0;  ///< what the register has stored, whatever its access rules
  std::string_view reason;              ///< of a refusal that no error log has; else empty
};

class RegisterObserver {
 public:
  virtual ~RegisterObserver() = default;
  virtual void accessed(const RegisterAccess& access) = 0;
};

}  // namespace t3vp
