#include "config/system_reader.h"

#include <cmath>

#include "config/system_checks.h"
#include "config/topology.h"

namespace t3vp {
namespace {

using nlohmann::json;

/// Reads the members of one object by name.
class Section {
 public:
  Section(const json& root, const char* name) : section_(root.at(name)) {}

  template <typename T>
  void read(const char* key, T& value) const {
    section_.at(key).get_to(value);
  }
  template <typename T>
  void read_given(const char* key, T& value) const {
    if (has(key)) read(key, value);
  }
  bool has(const char* key) const { return section_.contains(key); }
  Picoseconds time(const char* key_ns) const { return from_ns(section_.at(key_ns).get<double>()); }
  std::uint64_t bytes(const char* key, double unit) const {
    return static_cast<std::uint64_t>(std::llround(section_.at(key).get<double>() * unit));
  }

 private:
  const json& section_;
};

constexpr double KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;

compute::ComputeParameters read_compute(const Section& s) {
  compute::ComputeParameters p;
  s.read("compute_units", p.compute_units);
  s.read("clock_GHz", p.clock_GHz);
  s.read("workgroups_per_cu", p.workgroups_per_cu);
  s.read("matrix_flops_per_cycle", p.matrix_flops_per_cycle);
  s.read("matrix_efficiency", p.matrix_efficiency);
  s.read("vector_elements_per_cycle", p.vector_elements_per_cycle);
  s.read("port_bytes_per_cycle", p.port_bytes_per_cycle);
  p.launch_latency = s.time("launch_latency_ns");
  s.read("tile_rows", p.tile_rows);
  s.read("tile_columns", p.tile_columns);
  s.read("wavefronts", p.wavefronts);
  s.read("slab_depth", p.slab_depth);
  s.read("prefetch_slabs", p.prefetch_slabs);
  s.read("ring_workgroups_per_cu", p.ring_workgroups_per_cu);
  s.read("ring_block_bytes", p.ring_block_bytes);
  s.read("ring_blocks_in_flight", p.ring_blocks_in_flight);
  s.read_given("ring_workgroups", p.ring_workgroups);
  if (s.has("ring_start_ns")) p.ring_start = s.time("ring_start_ns");
  if (s.has("ring_step_ns")) p.ring_step = s.time("ring_step_ns");
  s.read("row_workgroups_per_cu", p.row_workgroups_per_cu);
  s.read("row_block_bytes", p.row_block_bytes);
  if (s.has("poll_ns")) p.poll = s.time("poll_ns");
  s.read_given("gather_workgroups_per_cu", p.gather_workgroups_per_cu);
  s.read_given("gather_rows_in_flight", p.gather_rows_in_flight);
  p.register_bytes = static_cast<std::uint32_t>(s.bytes("register_KiB", KiB));
  p.local_bytes = static_cast<std::uint32_t>(s.bytes("local_memory_KiB", KiB));
  return p;
}

cache::CacheParameters read_cache(const Section& s) {
  cache::CacheParameters p;
  p.capacity_bytes = s.bytes("capacity_MiB", MiB);
  s.read("banks", p.banks);
  s.read("ways", p.ways);
  s.read("line_bytes", p.line_bytes);
  s.read("sector_bytes", p.sector_bytes);
  s.read("clock_GHz", p.clock_GHz);
  s.read("bank_bytes_per_cycle", p.bank_bytes_per_cycle);
  p.latency = s.time("latency_ns");
  return p;
}

memory::MemoryParameters read_controller(const Section& s) {
  memory::MemoryParameters p;
  s.read("channels", p.channels);
  p.capacity_bytes = s.bytes("capacity_GiB", GiB);
  s.read("interleave_bytes", p.interleave_bytes);
  s.read("channel_hash", p.channel_hash);
  p.path_latency = s.time("path_latency_ns");
  s.read("mca_bands", p.mca_bands);
  s.read("mca_default_limit", p.mca_default_limit);
  s.read("aging_ns", p.aging_ns);
  if (s.has("valid_bits_KiB")) p.valid_bits_bytes = s.bytes("valid_bits_KiB", KiB);
  return p;
}

memory::TrackerParameters read_tracker(const Section& s) {
  memory::TrackerParameters p;
  s.read("sets", p.sets);
  s.read("ways", p.ways);
  s.read("chunks", p.chunks);
  s.read("strict", p.strict);
  return p;
}

dma::DmaParameters read_dma(const Section& s) {
  dma::DmaParameters p;
  s.read("commands", p.commands);
  p.latency = s.time("latency_ns");
  s.read("bytes_in_flight", p.bytes_in_flight);
  return p;
}

nic::NicParameters read_nic(const Section& s) {
  nic::NicParameters p;
  s.read("messages_per_us", p.messages_per_us);
  p.io_latency = s.time("io_latency_ns");
  s.read("io_GBps", p.io_GBps);
  s.read("entry_fetches", p.entry_fetches);
  p.payload_in_flight = static_cast<std::uint32_t>(s.bytes("payload_in_flight_KiB", KiB));
  s.read("mtu_bytes", p.mtu);
  return p;
}

nic::WireParameters read_wire(const Section& s) {
  nic::WireParameters p;
  s.read("wire_GBps", p.GBps);
  p.latency = s.time("wire_latency_ns");
  return p;
}

dram::Geometry read_geometry(const Section& s) {
  dram::Geometry g;
  s.read("pseudo_channels", g.pseudo_channels);
  s.read("bank_groups", g.bank_groups);
  s.read("banks_per_group", g.banks_per_group);
  s.read("rows", g.rows);
  s.read("row_bytes", g.row_bytes);
  s.read("access_bytes", g.access_bytes);
  return g;
}

dram::Timing read_timing(const Section& s) {
  dram::Timing t;
  const std::pair<const char*, std::uint32_t*> cycles[] = {
      {"RCDRD", &t.RCDRD}, {"RCDWR", &t.RCDWR}, {"RP", &t.RP},     {"RAS", &t.RAS},     {"RC", &t.RC},
      {"RRDS", &t.RRDS},   {"RRDL", &t.RRDL},   {"FAW", &t.FAW},   {"CL", &t.CL},       {"CWL", &t.CWL},
      {"BURST", &t.BURST}, {"CCDS", &t.CCDS},   {"CCDL", &t.CCDL}, {"CCDWL", &t.CCDWL}, {"RTW", &t.RTW},
      {"WTRS", &t.WTRS},   {"WTRL", &t.WTRL},   {"WR", &t.WR},     {"RTP", &t.RTP},     {"RTPL", &t.RTPL},
      {"RFC", &t.RFC},     {"REFI", &t.REFI}};
  for (const auto& [name, value] : cycles) s.read(name, *value);
  return t;
}

dram::Queueing queueing_named(const std::string& name) {
  if (name == "shared-round-robin") return dram::Queueing::shared_round_robin;
  return name == "split-oldest-first" ? dram::Queueing::split_oldest_first : dram::Queueing::by_geometry;
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
  spec.geometry = read_geometry({content, "geometry"});
  spec.timing = read_timing({content, "timing"});
  content.at("clock_GHz").get_to(spec.clock_GHz);
  const Section bus(content, "command_bus");
  bus.read("dual", spec.dual_command_bus);
  bus.read("activate_cycles", spec.activate_cycles);
  content.at("refresh").get_to(spec.refresh);
  content.at("queue_depth").get_to(spec.queue_depth);
  spec.queueing = queueing_named(content.value("queueing", "by-geometry"));
  spec.write_drain_from = content.value("write_drain_from", spec.write_drain_from);
  spec.write_drain_to = content.value("write_drain_to", spec.write_drain_to);
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
  s.compute = read_compute({content, "compute"});
  for (const json& tile : content.at("compute").value("tiles", json::array())) s.tiles.push_back(read_tile(tile));
  const Section map(content, "output_map");
  map.read("entries", s.output_map.entries);
  s.output_map.posted_bytes = static_cast<std::uint32_t>(map.bytes("posted_KiB", KiB));
  s.cache = read_cache({content, "cache"});
  s.memory = read_controller({content, "memory"});
  s.memory.dram = read_memory(memory);
  s.tracker = read_tracker({content, "tracker"});
  s.dma = read_dma({content, "dma"});
  LinkTier tier = read_tier(content.at("links"), {});
  s.links = tier.links;
  s.topology = std::move(tier.topology);
  s.overrides = read_overrides(content.at("links"));
  const Section processor(content, "processor");
  s.processor.register_access = processor.time("register_access_ns");
  processor.read("error_log_entries", s.processor.error_log_entries);
  double core_clock_GHz = 1;
  processor.read_given("core_clock_GHz", core_clock_GHz);
  s.processor.core.clock_period = from_ns(1 / core_clock_GHz);
  if (content.contains("nic")) {
    const Section nic(content, "nic");
    s.nic = read_nic(nic);
    s.wire = read_wire(nic);
    nic.read("writes_invalidate", s.cache.nic_writes_invalidate);
  }
  if (content.contains("host")) {
    const Section host(content, "host");
    if (host.has("exchange_ns")) s.processor.exchange = host.time("exchange_ns");
    host.read_given("kernel_end_ns", s.host.kernel_end_ns);
    host.read_given("post_ns", s.host.post_ns);
    host.read_given("launch_ns", s.host.launch_ns);
  }
  check_system(system, s);
  return s;
}

}  // namespace t3vp
