#include "hardware/main_stack.h"

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

void return_to_main_stack() {
#ifdef T3VP_ADDRESS_SANITIZER
  pthread_attr_t attributes;
  void* bottom = nullptr;
  std::size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  pthread_attr_getstack(&attributes, &bottom, &bytes);
  pthread_attr_destroy(&attributes);
  __sanitizer_start_switch_fiber(nullptr, bottom, bytes);
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}

}  // namespace t3vp
