#include "system/system_reader.h"

#include "parameter_readers.h"
#include "system/links_reader.h"
#include "system/plugged_blocks.h"
#include "system/system_checks.h"

namespace t3vp {
namespace {

using nlohmann::json;

/// The file may leave the section out.
const json& section(const json& content, const char* name) {
  static const json nothing = json::object();
  return content.contains(name) ? content.at(name) : nothing;
}

/// All channels are of one size, in whole blocks of the interleaving.
void round_down(memory::MemoryParameters& memory) {
  memory.capacity_bytes -= memory.capacity_bytes % (std::uint64_t{memory.channels} * memory.interleave_bytes);
}

}  // namespace

TileShape read_tile(const json& text) {
  const std::string tile = text.get<std::string>();
  const auto number = [](const std::string& digits) { return static_cast<std::uint32_t>(std::stoul(digits)); };
  return {number(tile), number(tile.substr(tile.find('x') + 1))};
}

dram::MemorySpec read_memory(const Document& memory) {
  const json& content = memory.content;
  dram::MemorySpec spec;
  content.at("name").get_to(spec.name);
  read_dram(content, spec);
  read_geometry(content.at("geometry"), spec.geometry);
  read_timing(content.at("timing"), spec.timing);
  read_command_bus(content.at("command_bus"), spec);
  const json& map = content.at("address_map");
  if (map.is_array())
    map.get_to(spec.address_bits);
  else
    map.get_to(spec.address_map);
  check_memory(memory, spec);
  return spec;
}

SystemConfiguration read_system(const Document& system, const Document& memory) {
  const json& content = system.content;
  SystemConfiguration s;
  content.at("name").get_to(s.name);
  read_compute(content.at("compute"), s.compute);
  for (const json& tile : content.at("compute").value("tiles", json::array())) s.tiles.push_back(read_tile(tile));
  read_kernels(content.at("kernels"), s.kernels);
  read_output_map(content.at("output_map"), s.output_map);
  read_cache(content.at("cache"), s.cache);
  read_memory(content.at("memory"), s.memory);
  round_down(s.memory);
  s.memory.near_memory = s.cache.atomic_bytes_per_cycle == 0;
  s.memory.dram = read_memory(memory);
  if (s.memory.model == memory::Model::loosely_timed) s.memory.dram.model = dram::Model::loosely_timed;
  read_tracker(content.at("tracker"), s.tracker);
  read_dma(content.at("dma"), s.dma);
  LinkTier tier = read_tier(content.at("links"), {});
  s.links = tier.links;
  s.topology = std::move(tier.topology);
  s.overrides = read_overrides(content.at("links"));
  read_processor(content.at("processor"), s.processor);
  read_core(content.at("processor"), s.processor.core);
  if (content.contains("nic")) {
    read_nic(content.at("nic"), s.nic.emplace());
    read_wire(content.at("nic"), s.wire);
    read_cache_of_nic(content.at("nic"), s.cache);
  }
  if (content.contains("endpoint")) read_endpoint(content.at("endpoint"), s.endpoint.emplace());
  if (content.contains("power")) read_power(content.at("power"), s.power.emplace());
  read_processor_of_host(section(content, "host"), s.processor);
  read_host(section(content, "host"), s.host);
  s.plugged = read_blocks(system);
  check_system(system, s);
  return s;
}

}  // namespace t3vp
