// The local memory of a kernel's workgroups that run, which their programs access as memory of the host: what one
// writes beside its own must reach no other's, and nothing of the simulator's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace t3vp::compute {

class LocalMemory {
 public:
  /// `bytes` for each of `slots` workgroups; nothing when that is 0. Throws std::bad_alloc.
  LocalMemory(std::size_t slots, std::uint32_t bytes);
  LocalMemory(const LocalMemory&) = delete;
  LocalMemory& operator=(const LocalMemory&) = delete;
  ~LocalMemory();

  /// A workgroup's, for any type of C, zeroed; null when there is none.
  void* clear(std::size_t slot);

  /// Returns the side on which the workgroup has written beside its own bytes: "before" or "behind"; null when it has
  /// not so far.
  const char* written_beside(std::size_t slot) const;

 private:
  std::size_t mapped() const;
  unsigned char* at(std::size_t slot) const { return begin_ + slot * each_; }

  std::uint32_t bytes_;
  std::size_t each_;  ///< with the fences on both sides
  std::size_t slots_;
  void* mapping_ = nullptr;
  unsigned char* begin_ = nullptr;
};

}  // namespace t3vp::compute
