#include "config/topology.h"

#include <fmt/format.h>

#include <algorithm>

namespace t3vp {
namespace {

using nlohmann::json;

constexpr const char* place_of_topology = "/links/topology";

std::string kind_of(const json& topology) { return topology.is_object() ? topology.at("kind") : topology; }

struct Key {
  const char* name;
  const char* kind;  ///< that alone has it
};
constexpr Key keys[] = {{"dimensions", "torus"}, {"latency_ns", "switch"}, {"queue_KiB", "switch"}};

void check_keys(const Document& system, const json& topology) {
  const std::string kind = kind_of(topology);
  for (const Key& key : keys)
    if (topology.contains(key.name) && kind != key.kind)
      system.reject(fmt::format("{}/{}", place_of_topology, key.name),
                    fmt::format("this key only with kind {}", key.kind));
}

void check_torus(const Document& system, const RunConfiguration& c) {
  const std::string place = fmt::format("{}/dimensions", place_of_topology);
  const std::vector<std::uint32_t>& dimensions = c.system.topology.dimensions;
  if (dimensions.empty()) system.reject(place, "nothing", "a list of two or three, the torus's");
  std::uint64_t product = 1;
  for (const std::uint32_t size : dimensions) product *= size;
  if (product != c.gpus) system.reject(place, fmt::format("dimensions whose product is {}, the GPUs", c.gpus));
}

interconnect::LinkEnd end_of(const json& value) {
  if (value.is_number()) return value.get<std::uint16_t>();
  return interconnect::LinkEnd::of_switch(value == "switch0" ? 0 : 65535);
}

void check_overrides(const Document& run, const Document& system, const RunConfiguration& c) {
  const Topology& topology = c.system.topology;
  const std::vector<LinkEnds> links = link_ends(place(topology, c.gpus), place_switches(topology, c.gpus));
  const std::vector<LinkOverride>& overrides = c.system.overrides;
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    const auto is_it = [&](const auto& link) { return link.from == overrides[i].from && link.to == overrides[i].to; };
    const std::string place = fmt::format("/links/overrides/{}", i);
    if (std::none_of(links.begin(), links.end(), is_it))
      system.reject(place, fmt::format("a link of the {} GPUs' topology", c.gpus));
    if (std::any_of(overrides.begin(), overrides.begin() + static_cast<std::ptrdiff_t>(i), is_it))
      system.reject(place, "each link once");
  }
  if (c.mirror && !overrides.empty())
    run.reject("/simulate", "all, since GPUs of a mirror are alike, and so are their links");
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

Topology read_topology(const json& value, const interconnect::LinkParameters& links) {
  Topology topology;
  topology.switch_queue_bytes = links.receive_buffer_bytes;
  const std::string kind = kind_of(value);
  if (kind == "fully-connected") topology.kind = Topology::Kind::fully_connected;
  if (kind == "switch") topology.kind = Topology::Kind::switched;
  if (!value.is_object()) return topology;
  if (value.contains("dimensions")) value.at("dimensions").get_to(topology.dimensions);
  if (value.contains("latency_ns")) topology.switch_latency = from_ns(value.at("latency_ns").get<double>());
  if (value.contains("queue_KiB")) topology.switch_queue_bytes = value.at("queue_KiB").get<std::uint32_t>() << 10;
  return topology;
}

void check_topology(const Document& run, const Document& system, const RunConfiguration& c) {
  const json& topology = system.content.at("links").at("topology");
  const std::string kind = kind_of(topology);
  if (topology.is_object())
    check_keys(system, topology);
  else if (kind != "ring" && kind != "fully-connected" && kind != "switch")
    system.reject(place_of_topology, R"("ring", "fully-connected", "switch" or an object with a kind)");
  if (kind == "torus") check_torus(system, c);
  if (kind == "fully-connected" && c.gpus > most_ports + 1)
    system.reject(place_of_topology, fmt::format("another one for {} GPUs: a GPU has {} ports", c.gpus, most_ports));
  check_overrides(run, system, c);
  if (c.mirror && kind != "ring") run.reject("/simulate", "all, since GPUs of a mirror are in a ring");
}

}  // namespace t3vp
