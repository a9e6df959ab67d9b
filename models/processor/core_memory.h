// A RISC-V core's own memory: code, data and stack of firmware. It answers at once, and directly (DMI).
#pragma once

#include <cstdint>
#include <tlm>

namespace t3vp::processor {

/// Zeroes that take memory of the host only where they are touched.
class CoreMemory {
 public:
  /// Throws std::bad_alloc.
  CoreMemory(std::uint64_t base, std::uint64_t bytes);
  ~CoreMemory();
  CoreMemory(const CoreMemory&) = delete;
  CoreMemory& operator=(const CoreMemory&) = delete;

  std::uint64_t base() const { return base_; }
  std::uint64_t bytes() const { return bytes_; }
  /// Where these bytes are on the host; null when the memory does not have all of them.
  unsigned char* at(std::uint64_t address, std::uint64_t bytes) const;

  void transport(tlm::tlm_generic_payload& access) const;
  /// All of it.
  void give_directly(tlm::tlm_dmi& dmi) const;

 private:
  std::uint64_t base_, bytes_;
  unsigned char* data_;
};

}  // namespace t3vp::processor
