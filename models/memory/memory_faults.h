// Faults of a memory controller, injected to prove that checks see them. They go with the data only: whatever is
// counted, timed and answered stays as it is.
#pragma once

#include <string>

#include "memory/backing_store.h"
#include "memory/controller_parameters.h"
#include "protocol/units.h"

namespace t3vp::memory {

/// Takes the place of the controller's own access to its data when there are faults.
class FaultyAccess {
 public:
  explicit FaultyAccess(const MemoryFaults& faults) : faults_(faults) {}

  void take_effect(BackingStore& store, tlm::tlm_generic_payload& transaction, bool local, Picoseconds time);

  // Returns the flipped access in words; empty while the fault has not struck.
  const std::string& flipped() const { return flipped_; }
  const std::string& lost() const { return lost_; }
  const std::string& rounded() const { return rounded_; }
  std::uint64_t accesses() const { return accesses_; }            ///< to tensor data
  std::uint64_t lost_elements() const { return lost_elements_; }  ///< of updates

 private:
  void update(BackingStore& store, const tlm::tlm_generic_payload& transaction, std::uint64_t address,
              const unsigned char* data, std::uint64_t bytes, bool local, Picoseconds time);

  MemoryFaults faults_;
  std::uint64_t accesses_ = 0, lost_elements_ = 0;
  std::string flipped_, lost_, rounded_;
};

}  // namespace t3vp::memory
