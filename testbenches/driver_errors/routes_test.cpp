// The way of a signal through a ring with links in both directions.
#include <catch2/catch.hpp>
#include <map>

#include "config/configuration.h"
#include "kernels/kernels.h"
#include "node/node.h"
#include "run/node_parameters.h"

namespace t3vp::test::routes_test {

TEST_CASE(
    "what goes to another GPU takes the shorter way around the ring, the previous neighbour's when both are equal") {
  const std::string configs = T3VP_SOURCE_DIR "/configs/";
  const RunConfiguration configuration =
      load_run(configs + "runs/gemm-rs-4gpu.json", {"system=" + configs + "systems/small-4.json", "gpus=6"});
  Node node("node", node_parameters(configuration), t3_kernels, nullptr);
  node.gpus()[0]->native().run([](processor::CommandProcessor& processor) {
    for (std::uint64_t gpu = 1; gpu < 6; ++gpu) {
      const std::uint64_t add = address_map::block_base(address_map::Block::signals) + 0x1000;
      if (const Status status = processor.write64(address_map::on_gpu(gpu, add), 1); status != Status::ok)
        return status;
    }
    return Status::ok;
  });
  sc_core::sc_start();
  REQUIRE(node.gpus()[0]->processor.status() == Status::ok);
  const double packet = 8 + configuration.system.links.header_bytes;
  std::map<std::pair<int, int>, double> packets;
  for (const auto& link : node.links())
    if (link->sent().wire_bytes != 0)
      packets[{link->from().number, link->to().number}] = static_cast<double>(link->sent().wire_bytes) / packet;
  // Back to 5, 4 and 3, forward to 1 and 2.
  REQUIRE(packets ==
          std::map<std::pair<int, int>, double>{{{0, 5}, 3}, {{5, 4}, 2}, {{4, 3}, 1}, {{0, 1}, 2}, {{1, 2}, 1}});
  for (std::size_t gpu = 1; gpu < 6; ++gpu) REQUIRE(node.gpus()[gpu]->signals.registers.value[0].value() == 1);
}

}  // namespace t3vp::test::routes_test
