// The shipped memory files, for tests of the channel alone.
#pragma once

#include <nlohmann/json.hpp>

#include <fstream>
#include <stdexcept>
#include <string>

#include "dram/memory_spec.h"

namespace t3vp::dram {

inline MemorySpec shipped_memory(const std::string& name) {
  const std::string path = std::string(T3VP_SOURCE_DIR) + "/configs/memory/" + name + ".json";
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path);
  const nlohmann::json j = nlohmann::json::parse(file);
  const auto& g = j.at("geometry");
  const auto& t = j.at("timing");
  MemorySpec spec;
  spec.name = j.at("name");
  spec.geometry = {g.at("pseudo_channels"), g.at("bank_groups"), g.at("banks_per_group"), g.at("rows"),
                   g.at("row_bytes"),       g.at("access_bytes")};
  spec.timing = {t.at("RCDRD"), t.at("RCDWR"), t.at("RP"),  t.at("RAS"),  t.at("RC"),    t.at("RRDS"),
                 t.at("RRDL"),  t.at("FAW"),   t.at("CL"),  t.at("CWL"),  t.at("BURST"), t.at("CCDS"),
                 t.at("CCDL"),  t.at("CCDWL"), t.at("RTW"), t.at("WTRS"), t.at("WTRL"),  t.at("WR"),
                 t.at("RTP"),   t.at("RTPL"),  t.at("RFC"), t.at("REFI")};
  spec.clock_GHz = j.at("clock_GHz");
  spec.dual_command_bus = j.at("command_bus").at("dual");
  spec.activate_cycles = j.at("command_bus").at("activate_cycles");
  spec.refresh = j.at("refresh");
  spec.queue_depth = j.at("queue_depth");
  spec.address_map = j.at("address_map");
  spec.bank_hash = BankHash::none;  // the cycle-level simulators that tests compare with hash no banks
  return spec;
}

}  // namespace t3vp::dram
