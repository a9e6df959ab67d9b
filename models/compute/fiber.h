// Stacks of their own for programs that are stepped from one SystemC process: a switch costs some tens of nanoseconds
// and no memory, where a process each would cost both.
//
// What runs on a fiber calls nothing but yield(). It is C without destructors, so that a fiber that is not resumed any
// more can be forgotten.
#pragma once

#include <cstddef>
#include <vector>

namespace t3vp::compute {

/// A fiber's stack: `bytes` from `bottom` on, used from the end.
struct FiberStack {
  unsigned char* bottom = nullptr;
  std::size_t bytes = 0;
};

/// Stacks cut from a few large mappings. A guard page below each stack would need a mapping each, and a process has at
/// most 65530. Builds with the address sanitizer have guard pages all the same: they are for small runs.
class FiberStacks {
 public:
  explicit FiberStacks(std::size_t bytes);
  FiberStacks(const FiberStacks&) = delete;
  FiberStacks& operator=(const FiberStacks&) = delete;
  ~FiberStacks();

  FiberStack take();
  void give_back(const FiberStack& stack) { free_.push_back(stack); }
  /// Whether what runs at this address of a frame runs on one of them.
  bool have(const void* frame) const;

 private:
  void map();
  std::size_t mapped() const;

  std::size_t bytes_;
  std::vector<void*> mappings_;
  std::vector<FiberStack> free_;
};

class Fiber {
 public:
  using Program = void (*)(void* argument);

  /// The next resume() begins the program on this stack, whatever was there before.
  void start(const FiberStack& stack, Program program, void* argument);

  /// Runs the program until it yields or ends: what it has yielded, null at its end.
  const void* resume();

  /// From the program: goes back to resume(), which returns `what`. Returns in the next resume().
  void yield(const void* what);

  /// Whether the program has kept to its stack so far.
  bool intact() const;

  const FiberStack& stack() const { return stack_; }
  /// Whether this address of a frame is on its stack.
  bool has(const void* frame) const {
    return frame >= stack_.bottom && frame < static_cast<const void*>(stack_.bottom + stack_.bytes);
  }

 private:
  struct Entry;
  void switched_in(void* caller);

  FiberStack stack_;
  Program program_ = nullptr;
  void* argument_ = nullptr;
  void* context_ = nullptr;  ///< of the program, while it does not run
  void* caller_ = nullptr;   ///< of who has resumed it, while it runs
  // The bounds of the two stacks, for the address sanitizer.
  void* own_frames_ = nullptr;
  const void* caller_bottom_ = nullptr;
  std::size_t caller_bytes_ = 0;
};

}  // namespace t3vp::compute
