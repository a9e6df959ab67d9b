// A table of one kernel for runs of a bench: its arguments are the bytes of a structure, of which nothing is checked.
#pragma once

#include <cstring>

#include "t3/check.h"
#include "t3/device.h"

namespace t3vp::test {

/// Valid until it is asked for again with the same structure.
template <typename Told>
const t3_kernel* const* kernel_table(const char* name, t3_plan (*plan)(const t3_device*, const t3_launch*),
                                     void (*run)(t3_wave*)) {
  static t3_kernel kernel{};
  static const t3_kernel* const kernels[] = {&kernel, nullptr};
  kernel.name = name;
  kernel.arguments = {sizeof(Told), sizeof(Told),
                      [](void* arguments, const unsigned char* bytes) { std::memcpy(arguments, bytes, sizeof(Told)); }};
  kernel.reads = "gemm_read";
  kernel.writes = "gemm_write";
  kernel.check = [](t3_check*, const t3_launch*) { return true; };
  kernel.plan = plan;
  kernel.run = run;
  return kernels;
}

}  // namespace t3vp::test
