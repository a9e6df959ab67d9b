// Two GPUs and their links as another project's bench has them: each runs a program that writes to its memory and
// reads it back.
#include <cstdio>
#include <type_traits>

#include "kernels/kernels.h"
#include "node/node.h"
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
  std::uint32_t read[2] = {};
  for (const auto& gpu : node.gpus())
    gpu->native().run([&read](t3vp::processor::CommandProcessor& processor) {
      const std::uint64_t address = t3vp::address_map::on_gpu(processor.gpu(), 4096);
      const std::uint32_t word = 42u + processor.gpu();
      const t3vp::Status status = processor.write_memory(address, &word, sizeof word);
      return status == t3vp::Status::ok ? processor.read_memory(address, &read[processor.gpu()], sizeof word) : status;
    });
  sc_core::sc_start();
  const bool right = read[0] == 42 && read[1] == 43;
  std::printf("%s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
