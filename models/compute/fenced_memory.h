// Memory for code that is not the platform's and may write outside of what it was lent. Known bytes lie before and
// behind the lent bytes, and inaccessible guard pages beyond those. Small overruns therefore do not reach the
// platform's own memory.
#pragma once

#include <cstddef>

namespace t3vp::compute {

class FencedMemory {
 public:
  /// For up to `bytes`. Throws std::bad_alloc.
  explicit FencedMemory(std::size_t bytes);
  FencedMemory(const FencedMemory&) = delete;
  FencedMemory& operator=(const FencedMemory&) = delete;
  ~FencedMemory();

  std::size_t capacity() const { return capacity_; }

  /// So many bytes for any type of C, whatever they hold. What was lent before is taken back.
  void* lend(std::size_t bytes);

  /// Returns the side on which the borrower has written beside the bytes: "before" or "behind"; null when it has not.
  const char* written_beside() const;

 private:
  std::size_t capacity_;
  std::size_t room_;  ///< bytes between the guard pages
  void* mapping_ = nullptr;
  unsigned char *room_begin_ = nullptr, *begin_ = nullptr, *end_ = nullptr;  ///< of the room, and of what is lent
};

/// Fences of their own for those who lay out memory themselves.
void put_fence(unsigned char* begin, unsigned char* end);
bool is_fence(const unsigned char* begin, const unsigned char* end);

/// The fence in front of a structure that is lent.
class FrontFence {
 public:
  FrontFence();
  bool is_whole() const;

 private:
  alignas(16) unsigned char bytes_[16];
};

}  // namespace t3vp::compute
