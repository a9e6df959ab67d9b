#include "experiments/small_experiment.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace t3vp::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<std::string> values_of(const std::string& line) {
  std::vector<std::string> values(1);
  for (const char c : line)
    if (c == ',')
      values.emplace_back();
    else
      values.back() += c;
  return values;
}

}  // namespace

SmallExperiment::SmallExperiment() {
  change("run.json", "/collectives", {{"algorithm", "ring"}});
  write("reference.csv", std::string("id,name,value,note\nspeedup,T3 speedup,1.5,\nreads,,2,\"a, b\"\n"));
  write("experiment.json",
        json{{"name", "small"},
             {"base", "run.json"},
             {"cases",
              {{{"name", "square"}, {"set", json::object()}}, {{"name", "tall"}, {"set", {{"workload.gemm.m", 512}}}}}},
             {"methods", {"sequential", "t3", "t3-mca"}},
             {"quantities",
              {{{"name", "T3"}, {"value", "time_ns.total[sequential] / time_ns.total[t3]"}},
               {{"name", "RS reads"}, {"value", "dram_bytes.rs_read[sequential] / dram_bytes.rs_read[t3]"}}}},
             {"reference", "reference.csv"},
             {"targets",
              {{{"id", "speedup"}, {"quantity", "T3"}, {"aggregate", "geomean"}, {"within", 0.0001}},
               {{"id", "reads"}, {"quantity", "RS reads"}, {"aggregate", "max"}}}},
             {"plot", {{{"file", "speedup"}, {"kind", "bars"}}}}});
}

Outcome SmallExperiment::run(const std::string& out_name, const std::vector<std::string>& more) const {
  std::vector<std::string> arguments{"experiment", file().string(), "--out", out(out_name).string()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments);
}

std::vector<fs::path> SmallExperiment::runs(const std::string& out_name) const {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(out(out_name) / "runs")) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::vector<std::map<std::string, std::string>> rows_of(const fs::path& csv) {
  std::istringstream in(text_of(csv));
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> columns = values_of(line);
  std::vector<std::map<std::string, std::string>> rows;
  while (std::getline(in, line)) {
    const std::vector<std::string> values = values_of(line);
    if (values.size() != columns.size()) throw std::runtime_error("a ragged row: " + line);
    rows.emplace_back();
    for (std::size_t i = 0; i < columns.size(); ++i) rows.back()[columns[i]] = values[i];
  }
  return rows;
}

double value(const fs::path& csv, const std::string& one, const std::string& method, const std::string& key) {
  for (const auto& row : rows_of(csv))
    if (row.at("case") == one && row.at("method") == method) return std::stod(row.at(key));
  throw std::runtime_error("no row " + one + ", " + method);
}

}  // namespace t3vp::test
