// A RISC-V core's own memory: code, data and stack of firmware. It answers at once, and directly (DMI).
#pragma once

#include <cstdint>
#include <map>
#include <tlm>

namespace t3vp::processor {

/// Zeroes that take memory of the host only where they are touched. All of it may be written to at first.
class CoreMemory {
 public:
  /// Throws std::bad_alloc.
  CoreMemory(std::uint64_t base, std::uint64_t bytes);
  ~CoreMemory();
  CoreMemory(const CoreMemory&) = delete;
  CoreMemory& operator=(const CoreMemory&) = delete;

  std::uint64_t base() const { return base_; }
  std::uint64_t bytes() const { return bytes_; }
  /// Returns a pointer to these bytes; null when the memory does not have all of them.
  unsigned char* at(std::uint64_t address, std::uint64_t bytes) const;

  /// Whether accesses of the core may write `first` to `last`, which are in the memory. To be said before the core
  /// runs.
  void let_write(std::uint64_t first, std::uint64_t last, bool allowed);
  /// Whether they may write these bytes, which are in the memory.
  bool may_write(std::uint64_t address, std::uint64_t bytes) const;

  void transport(tlm::tlm_generic_payload& access) const;
  /// All around the address that may be written to, or may not.
  void give_directly(std::uint64_t address, tlm::tlm_dmi& dmi) const;

 private:
  void split(std::uint64_t address);

  std::uint64_t base_, bytes_;
  std::map<std::uint64_t, bool> may_write_from_;  ///< up to the next address
  unsigned char* data_;
};

}  // namespace t3vp::processor
