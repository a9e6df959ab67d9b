// Two GPUs and their links as another project's bench has them. Each runs a program that uses the driver on the native
// HAL.
#include <cstdio>
#include <type_traits>

#include "guests/native_hal.h"
#include "kernels/kernels.h"
#include "node/node.h"
#include "remember.h"
#include "riscv/core.h"
#include "system/topology.h"

namespace {

t3vp::NodeParameters two_small_gpus() {
  t3vp::GpuParameters gpu;
  gpu.memory.channels = 4;
  gpu.memory.capacity_bytes = std::uint64_t{64} << 20;
  t3vp::NodeParameters node;
  node.fabric = t3vp::lay_out({}, 2);
  node.gpus = {gpu, gpu};
  return node;
}

}  // namespace

static_assert(std::is_base_of_v<sc_core::sc_module, t3vp::riscv::Core>, "the core of RISC-V is installed, too");

int sc_main(int, char**) {
  t3vp::Node node("node", two_small_gpus(), t3_kernels, nullptr);
  unsigned right = 0;
  for (const auto& gpu : node.gpus())
    gpu->native().run([&right](t3vp::processor::CommandProcessor& processor) {
      const t3vp::Status status = t3vp::native_program(remember, t3vp::ProgramRun{})(processor);
      if (status == t3vp::Status::ok) ++right;
      std::printf("GPU %u: %s\n", unsigned{processor.gpu()}, t3vp::name_of(status));
      return status;
    });
  sc_core::sc_start();
  std::printf("%s\n", right == 2 ? "right" : "wrong");
  return right == 2 ? 0 : 1;
}
