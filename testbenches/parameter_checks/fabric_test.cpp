#include <catch2/catch.hpp>

#include "kernels/kernels.h"
#include "node/node.h"
#include "parameter_checks/child.h"
#include "system/topology.h"

namespace t3vp {
namespace {

NodeParameters three_gpus() {
  GpuParameters gpu;
  gpu.memory.channels = 4;
  gpu.memory.capacity_bytes = std::uint64_t{64} << 20;
  NodeParameters node;
  node.fabric = lay_out({}, 3);
  node.gpus = {gpu, gpu, gpu};
  return node;
}

/// How the construction of a node with this change ends.
ChildEnd end_of(const std::function<void(NodeParameters&)>& change) {
  return run_in_child([&] {
    NodeParameters node = three_gpus();
    change(node);
    Node built("node", node, t3_kernels, nullptr);
  });
}

std::string text_of(const std::function<void(NodeParameters&)>& change) {
  const ChildEnd end = end_of(change);
  CHECK_FALSE(end.crashed);
  return end.text;
}

}  // namespace

TEST_CASE("a node takes the fabric that a topology lays out") {
  CHECK(end_of([](NodeParameters&) {}).right());
  CHECK(end_of([](NodeParameters& node) {
          Topology topology;
          topology.kind = Topology::Kind::switched;
          node.fabric = lay_out({{}, topology}, 3);
        }).right());
}

TEST_CASE("a fabric and lists of GPUs that contradict each other are refused in one line") {
  CHECK(text_of([](NodeParameters& node) { node.fabric.gpus.clear(), node.gpus.clear(); }) ==
        "node: fabric.gpus is empty, expected 1 GPU or more");
  CHECK(text_of([](NodeParameters& node) { node.gpus.pop_back(); }) ==
        "node: gpus is a list of 2, expected 3, the GPUs of the fabric");
  CHECK(text_of([](NodeParameters& node) { node.fabric.gpus[1].gpu = 7; }) ==
        "node: fabric.gpus[1].gpu is 7, expected 1, its place in the list");
  CHECK(text_of([](NodeParameters& node) { node.fabric.links[0].to = interconnect::LinkEnd(9); }) ==
        "node: fabric.links[0].to is GPU 9, expected one of 3 GPUs");
  CHECK(text_of([](NodeParameters& node) { node.fabric.links[0].to = interconnect::LinkEnd::of_switch(0); }) ==
        "node: fabric.links[0].to is switch 0, expected one of 0 switches");
  CHECK(text_of([](NodeParameters& node) { node.fabric.links[0].receiver = 5; }) ==
        "node: fabric.links[0].receiver is 5, expected less than 2, the receivers of GPU 2");
  CHECK(text_of([](NodeParameters& node) { node.fabric.gpus[0].neighbours.push_back(1); }) ==
        "node: fabric.gpus[0].neighbours is a list of 3, expected 2, the links from there");
  CHECK(text_of([](NodeParameters& node) { node.fabric.gpus[0].receivers = 3; }) ==
        "node: fabric.gpus[0].receivers is 3, expected 2, the links that lead there");
  CHECK(text_of([](NodeParameters& node) { node.fabric.gpus[2].route[0].port = 2; }) ==
        "node.gpu2.fabric: route[0].port is 2, expected no_port or less than 2, the number of neighbours");
  CHECK(text_of([](NodeParameters& node) { node.fabric.gpus[2].route[1].channel = 64; }) ==
        "node.gpu2.fabric: route[1].channel is 64, expected less than 64");
}

TEST_CASE("a list of kernels is missing") {
  const ChildEnd end = run_in_child([] {
    const std::vector<const t3_kernel* const*> kernels(2, t3_kernels);
    Node built("node", three_gpus(), kernels, nullptr);
  });
  CHECK(end.text == "node: kernels is a list of 2, expected 3, the GPUs of the fabric");
}

}  // namespace t3vp
