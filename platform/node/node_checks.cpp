#include "node/node_checks.h"

#include <fmt/format.h>

namespace t3vp {
namespace {

/// The cache numbers the lines of the memory from 1 in 32 bits.
constexpr std::uint64_t most_lines = 0xFFFFFFFF;

class FabricCheck {
 public:
  FabricCheck(const ParameterCheck& check, const Fabric& fabric) : check_(check), fabric_(fabric) {}

  void run() const {
    for (std::size_t i = 0; i < fabric_.links.size(); ++i) {
      const LinkPlacement& link = fabric_.links[i];
      const std::string name = fmt::format("fabric.links[{}]", i);
      check_end(name + ".from", link.from);
      check_end(name + ".to", link.to);
      check_.require(link.receiver < receivers_of(link.to), name + ".receiver", link.receiver,
                     fmt::format("less than {}, the receivers of {}", receivers_of(link.to), link.to.text()));
    }
    for (std::size_t g = 0; g < fabric_.gpus.size(); ++g)
      check_links(fmt::format("fabric.gpus[{}]", g), interconnect::LinkEnd(static_cast<std::uint16_t>(g)));
    for (std::size_t s = 0; s < fabric_.switches.size(); ++s)
      check_links(fmt::format("fabric.switches[{}]", s),
                  interconnect::LinkEnd::of_switch(static_cast<std::uint16_t>(s)));
  }

 private:
  void check_end(const std::string& name, const interconnect::LinkEnd& end) const {
    const std::size_t count = end.is_switch ? fabric_.switches.size() : fabric_.gpus.size();
    check_.require(end.number < count, name, end.text(),
                   fmt::format("one of {} {}", count, end.is_switch ? "switches" : "GPUs"));
  }
  std::uint32_t receivers_of(const interconnect::LinkEnd& end) const {
    return end.is_switch ? fabric_.switches[end.number].receivers : fabric_.gpus[end.number].receivers;
  }
  /// Each outgoing port has a link, and each receiver.
  void check_links(const std::string& name, const interconnect::LinkEnd& end) const {
    std::size_t from = 0, to = 0;
    for (const LinkPlacement& link : fabric_.links) {
      if (link.from == end) ++from;
      if (link.to == end) ++to;
    }
    const std::size_t ports =
        end.is_switch ? fabric_.switches[end.number].neighbours.size() : fabric_.gpus[end.number].neighbours.size();
    check_.require(from == ports, name + ".neighbours", fmt::format("a list of {}", ports),
                   fmt::format("{}, the links from there", from));
    check_.require(to == receivers_of(end), name + ".receivers", receivers_of(end),
                   fmt::format("{}, the links that lead there", to));
  }

  const ParameterCheck& check_;
  const Fabric& fabric_;
};

}  // namespace

void check_gpu(const ParameterCheck& check, const GpuParameters& gpu) {
  check.require(gpu.cache.line_bytes == 0 || gpu.memory.capacity_bytes / gpu.cache.line_bytes <= most_lines,
                "memory.capacity_bytes", gpu.memory.capacity_bytes,
                fmt::format("at most {} lines of the cache, {} B each", most_lines, gpu.cache.line_bytes));
}

void check_node(const ParameterCheck& check, const NodeParameters& node, std::size_t kernel_lists) {
  const Fabric& fabric = node.fabric;
  check.require(!fabric.gpus.empty(), "fabric.gpus", "empty", "1 GPU or more");
  check.require(node.gpus.size() == fabric.gpus.size(), "gpus", fmt::format("a list of {}", node.gpus.size()),
                fmt::format("{}, the GPUs of the fabric", fabric.gpus.size()));
  check.require(kernel_lists == fabric.gpus.size(), "kernels", fmt::format("a list of {}", kernel_lists),
                fmt::format("{}, the GPUs of the fabric", fabric.gpus.size()));
  if (node.mirrored) return;  // one GPU stands for all: the ends of its links are not simulated
  for (std::size_t g = 0; g < fabric.gpus.size(); ++g)
    check.require(fabric.gpus[g].gpu == g, fmt::format("fabric.gpus[{}].gpu", g), fabric.gpus[g].gpu,
                  fmt::format("{}, its place in the list", g));
  FabricCheck(check, fabric).run();
}

}  // namespace t3vp
