#include "config/topology_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace t3vp {
namespace {

using nlohmann::json;

std::string kind_of(const json& topology) { return topology.is_object() ? topology.at("kind") : topology; }

struct Key {
  const char* name;
  const char* kind;  ///< that alone has it
};
constexpr Key keys[] = {{"dimensions", "torus"},
                        {"channels", "torus"},
                        {"latency_ns", "switch"},
                        {"queue_KiB", "switch"},
                        {"reduction", "switch"},
                        {"merging_KiB", "switch"},
                        {"merging_timeout_ns", "switch"},
                        {"merging_GBps", "switch"},
                        {"gpus_per_node", "nodes"},
                        {"inside", "nodes"},
                        {"between", "nodes"},
                        {"ports", "nodes"}};

/// Links and what they join, in the system file at `place`.
class TierCheck {
 public:
  TierCheck(const Document& system, std::string place, const json& topology, std::uint32_t gpus)
      : system_(system), place_(std::move(place)), topology_(topology), kind_(kind_of(topology)), gpus_(gpus) {}

  void check() const {
    if (topology_.is_object())
      check_keys();
    else if (kind_ != "ring" && kind_ != "fully-connected" && kind_ != "switch")
      system_.reject(place_, R"("ring", "fully-connected", "switch" or an object with a kind)");
    if (kind_ == "torus") check_torus();
    if (kind_ == "nodes") check_nodes();
    if (kind_ == "fully-connected" && gpus_ > most_ports + 1)
      system_.reject(place_, fmt::format("another one for {} GPUs: a GPU has {} ports", gpus_, most_ports));
  }

 private:
  void check_keys() const {
    for (const Key& key : keys)
      if (topology_.contains(key.name) && kind_ != key.kind)
        system_.reject(fmt::format("{}/{}", place_, key.name), fmt::format("this key only with kind {}", key.kind));
  }
  void require(const char* key, const char* expected) const {
    if (!topology_.contains(key)) system_.reject(fmt::format("{}/{}", place_, key), "nothing", expected);
  }
  void check_torus() const {
    require("dimensions", "a list of two or three, the torus's");
    std::uint64_t product = 1;
    for (const json& size : topology_.at("dimensions")) product *= size.get<std::uint64_t>();
    if (product != gpus_)
      system_.reject(place_ + "/dimensions", fmt::format("dimensions whose product is {}, the GPUs", gpus_));
  }
  void check_nodes() const {
    require("gpus_per_node", "the number of GPUs of a node");
    const auto size = topology_.at("gpus_per_node").get<std::uint32_t>();
    const bool is_joined = topology_.contains("between");
    if (size > 1 || is_joined) require("inside", "the links inside a node");
    if (is_inner_) require("between", "the links between nodes");
    if (!is_joined && topology_.contains("ports"))
      system_.reject(place_ + "/ports", "this key only with between, the links that it is about");
    if (gpus_ % size != 0)
      system_.reject(place_ + "/gpus_per_node", fmt::format("a divisor of {}, the number of GPUs", gpus_));
    if (topology_.contains("inside")) check_inner("inside", size);
    if (is_joined) check_inner("between", gpus_ / size);
  }
  void check_inner(const char* key, std::uint32_t gpus) const {
    TierCheck inner(system_, fmt::format("{}/{}/topology", place_, key), topology_.at(key).at("topology"), gpus);
    inner.is_inner_ = true;
    inner.check();
  }

  const Document& system_;
  std::string place_;
  const json& topology_;
  std::string kind_;
  std::uint32_t gpus_;
  bool is_inner_ = false;  ///< of nodes' links, which join everything that they are between
};

void check_overrides(const Document& run, const Document& system, const RunConfiguration& c, const Fabric& fabric) {
  const std::vector<LinkOverride>& overrides = c.system.overrides;
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    const std::string place = fmt::format("/links/overrides/{}", i);
    const auto is_the_same = [&](const LinkOverride& other) {
      return other.from == overrides[i].from && other.to == overrides[i].to;
    };
    if (std::none_of(fabric.links.begin(), fabric.links.end(),
                     [&](const LinkPlacement& link) { return is_of(overrides[i], link); }))
      system.reject(place, fmt::format("a link of the {} GPUs' topology", c.gpus));
    if (std::any_of(overrides.begin(), overrides.begin() + static_cast<std::ptrdiff_t>(i), is_the_same))
      system.reject(place, "each link once");
  }
  if (c.mirror && !overrides.empty())
    run.reject("/simulate", "all, or no overrides in system.links: the links of a mirror are alike");
}

/// Returns the key of the file that sets a link's receive buffer.
std::string place_of_buffer(const json& links, const RunConfiguration& c, const LinkPlacement& link) {
  const std::vector<LinkOverride>& overrides = c.system.overrides;
  for (std::size_t i = 0; i < overrides.size(); ++i)
    if (is_of(overrides[i], link) && overrides[i].receive_buffer_bytes)
      return fmt::format("/links/overrides/{}/receive_buffer_KiB", i);
  const json& topology = links.at("topology");
  if (link.to.is_switch && topology.is_object() && topology.contains("queue_KiB")) return "/links/topology/queue_KiB";
  return kind_of(topology) == "nodes" ? "/links/topology" : "/links/receive_buffer_KiB";
}

/// A store that a receive buffer does not hold would be in no place on its way.
void check_buffers(const Document& system, const RunConfiguration& c) {
  const auto [store, what] = c.workload->largest_store(c);
  for (const LinkPlacement& link : fabric_of(c).links) {
    const std::uint64_t least = (store + link.parameters.header_bytes + 1023) / 1024;
    const std::uint64_t has = link.parameters.receive_buffer_bytes / 1024;
    if (has < least)
      system.reject(place_of_buffer(system.content.at("links"), c, link),
                    fmt::format("{} KiB for what goes from {} to {}", has, link.from.text(), link.to.text()),
                    fmt::format("at least {}: {}, {} bytes, with its header", least, what, store));
  }
}

void check_size(const Document& system, const Fabric& fabric) {
  const char* const place = "/links/topology";
  for (const Placement& placement : fabric.gpus)
    if (placement.neighbours.size() > most_ports)
      system.reject(place, fmt::format("{} ports at GPU {}", placement.neighbours.size(), placement.gpu),
                    fmt::format("at most {} ports of a GPU", most_ports));
  if (channels_of(fabric) > interconnect::most_channels)
    system.reject(place, fmt::format("{} virtual channels", channels_of(fabric)),
                  fmt::format("one that needs at most {}", interconnect::most_channels));
}

}  // namespace

void check_topology(const Document& run, const Document& system, const RunConfiguration& c) {
  const json& topology = system.content.at("links").at("topology");
  TierCheck(system, "/links/topology", topology, c.gpus).check();
  const Fabric fabric = lay_out({c.system.links, c.system.topology}, c.gpus);
  check_size(system, fabric);
  c.workload->check_links(system, c, joins_all(fabric));
  check_overrides(run, system, c, fabric);
  check_buffers(system, c);
  if (!c.mirror) return;
  if (!c.system.other_gpus.empty())
    run.reject("/simulate", "all, or no entries in system.gpus: the GPUs of a mirror are alike");
  if (kind_of(topology) != "ring" && !c.system.topology.channels_by_distance)
    run.reject("/simulate",
               "all, or system.links.topology ring, or a torus with channels by-distance: a mirror stands for a ring "
               "or a torus");
}

}  // namespace t3vp
