#include "system/links_reader.h"

#include "parameter_readers.h"

namespace t3vp {
namespace {

using nlohmann::json;

std::string kind_of(const json& topology) { return topology.is_object() ? topology.at("kind") : topology; }

/// The number of a switch that is named with its number, such as "switch0".
interconnect::LinkEnd end_of(const json& value) {
  if (value.is_number()) return value.get<std::uint16_t>();
  const unsigned long number = std::stoul(value.get<std::string>().substr(std::string("switch").size()));
  return interconnect::LinkEnd::of_switch(static_cast<std::uint16_t>(number));
}

}  // namespace

std::vector<LinkOverride> read_overrides(const json& links) {
  std::vector<LinkOverride> overrides;
  for (const json& value : links.value("overrides", json::array())) {
    LinkOverride link{end_of(value.at("from")), end_of(value.at("to")), {}, {}, {}};
    if (value.contains("bandwidth_GBps")) link.bandwidth_GBps = value.at("bandwidth_GBps").get<double>();
    if (value.contains("link_latency_ns")) link.latency = from_ns(value.at("link_latency_ns").get<double>());
    if (value.contains("receive_buffer_KiB"))
      link.receive_buffer_bytes = value.at("receive_buffer_KiB").get<std::uint32_t>() << 10;
    overrides.push_back(link);
  }
  return overrides;
}

LinkTier read_tier(const json& links, const interconnect::LinkParameters& otherwise) {
  LinkTier tier{otherwise, {}};
  interconnect::LinkParameters& p = tier.links;
  read_links(links, p);

  const json& value = links.at("topology");
  Topology& topology = tier.topology;
  const std::string kind = kind_of(value);
  if (kind == "fully-connected") topology.kind = Topology::Kind::fully_connected;
  if (kind == "switch") topology.kind = Topology::Kind::switched;
  if (kind == "nodes") topology.kind = Topology::Kind::nodes;
  if (!value.is_object()) return tier;
  topology.dimensions = value.value("dimensions", topology.dimensions);
  topology.channels_by_distance = value.value("channels", "by-place") == "by-distance";
  if (value.contains("latency_ns")) topology.switch_latency = from_ns(value.at("latency_ns").get<double>());
  if (value.contains("queue_KiB")) topology.switch_queue_bytes = value.at("queue_KiB").get<std::uint32_t>() << 10;
  topology.reduces = value.value("reduction", topology.reduces);
  if (value.contains("merging_KiB")) topology.merging.bytes = value.at("merging_KiB").get<std::uint64_t>() << 10;
  if (value.contains("merging_timeout_ns"))
    topology.merging.timeout = from_ns(value.at("merging_timeout_ns").get<double>());
  topology.merging.GBps = value.value("merging_GBps", topology.merging.GBps);
  topology.gpus_per_node = value.value("gpus_per_node", topology.gpus_per_node);
  topology.one_port_per_node = value.value("ports", "gpu") == "node";
  if (kind != "nodes") return tier;
  topology.tiers.push_back(value.contains("inside") ? read_tier(value.at("inside"), p) : LinkTier{p, {}});
  if (value.contains("between")) topology.tiers.push_back(read_tier(value.at("between"), p));
  return tier;
}

}  // namespace t3vp
