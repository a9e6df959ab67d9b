#include "node/main_stack.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define T3VP_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define T3VP_ADDRESS_SANITIZER
#endif

#ifdef T3VP_ADDRESS_SANITIZER
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace t3vp {

#ifdef T3VP_ADDRESS_SANITIZER

namespace {

struct Stack {
  void* bottom = nullptr;
  std::size_t bytes = 0;
};

/// Returns the stack of the caller's thread; empty if it is not known. It reads all of the process' mappings, of which
/// the sanitizer makes many.
Stack this_stack() {
  Stack stack;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return stack;
  pthread_attr_getstack(&attributes, &stack.bottom, &stack.bytes);
  pthread_attr_destroy(&attributes);
  return stack;
}

}  // namespace

void return_to_main_stack() {
  static const Stack stack = this_stack();
  if (stack.bottom == nullptr) return;
  __sanitizer_start_switch_fiber(nullptr, stack.bottom, stack.bytes);
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
}

#else

void return_to_main_stack() {}

#endif

}  // namespace t3vp
