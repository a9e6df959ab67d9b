// Two GPUs of a system file and their links. Each runs a program that uses the driver on the native
// HAL.
#include <cstdio>
#include <type_traits>

#include "guests/native_hal.h"
#include "kernels/kernels.h"
#include "node/node.h"
#include "remember.h"
#include "riscv/core.h"
#include "system/node_of_system.h"
#include "system/system_loader.h"

static_assert(std::is_base_of_v<sc_core::sc_module, t3vp::riscv::Core>, "the core of RISC-V is installed, too");

int sc_main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: bench SYSTEM.json\n");
    return 2;
  }
  const t3vp::SystemConfiguration system = t3vp::load_system(argv[1]);
  t3vp::Node node("node", t3vp::node_of(system, 2), t3_kernels, nullptr);
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
