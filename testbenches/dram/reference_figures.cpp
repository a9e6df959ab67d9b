#include "dram/reference_figures.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "dram/memory_file.h"
#include "dram/traces.h"

namespace t3vp::dram {
namespace {

std::optional<double> number(const std::string& cell) {
  if (cell.empty() || cell == "0") return std::nullopt;
  return std::stod(cell);
}

ReferenceFigures parse(const std::string& line) {
  std::vector<std::string> cells(8);
  std::istringstream in(line);
  for (std::string& cell : cells) std::getline(in, cell, ',');
  return {cells[0],         cells[1],         cells[2],         std::stod(cells[3]),
          number(cells[4]), number(cells[6]), number(cells[7]), std::stod(cells[5])};
}

bool has(const std::string& config, const char* part) { return config.find(part) != std::string::npos; }

}  // namespace

std::vector<ReferenceFigures> reference_figures() {
  std::ifstream file(std::string(T3VP_SOURCE_DIR) + "/testbenches/dram/reference_figures.csv");
  if (!file) throw std::runtime_error("cannot open reference_figures.csv");
  std::vector<ReferenceFigures> figures;
  for (std::string line; std::getline(file, line);)
    if (line[0] != '#' && line.rfind("simulator,", 0) != 0) figures.push_back(parse(line));
  return figures;
}

MemorySpec memory_of_config(const std::string& config) {
  MemorySpec spec = shipped_memory(has(config, "common") ? "hbm2-pseudo-channel" : "hbm2-legacy");
  spec.address_map = has(config, "accel_") || config.substr(config.size() - 5) == "accel" ? "accel" : "bgint";
  if (has(config, "_ccdl4")) spec.timing.CCDL = 4;
  if (has(config, "_noref")) spec.refresh = false;
  if (has(config, "_q256")) spec.queue_depth = 256;
  if (has(config, "_q320")) spec.queue_depth = 320;
  return spec;
}

ReplayResult replay_reference(const std::string& config, const std::string& trace, bool writes_are_updates) {
  MemorySpec spec = memory_of_config(config);
  if (writes_are_updates) spec.timing.CCDL = shipped_memory("hbm2-legacy").timing.CCDL;
  ReplayOptions options;
  options.outstanding = trace.rfind("chase", 0) == 0 ? 1 : 0;
  options.writes_are_updates = writes_are_updates;
  return replay(spec, make_trace(trace), options);
}

}  // namespace t3vp::dram
