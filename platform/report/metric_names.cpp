#include "report/metric_names.h"

#include <algorithm>
#include <utility>

#include "protocol/access.h"
#include "report/metric_key.h"
#include "report/phases.h"

namespace t3vp {
namespace {

/// Endings of keys that are units.
constexpr std::pair<const char*, const char*> units[] = {
    {"_ns", "ns"},   {"_us", "us"},   {"_ms", "ms"},   {"_s", "s"},         {"_GBps", "GB/s"},   {"_MiB", "MiB"},
    {"_KiB", "KiB"}, {"_GHz", "GHz"}, {"_MHz", "MHz"}, {"_bytes", "bytes"}, {"_per_us", "1/us"}, {"_per_s", "1/s"}};

/// The longest unit that the key ends with; null: none.
const std::pair<const char*, const char*>* unit_in(const std::string& key) {
  const std::pair<const char*, const char*>* longest = nullptr;
  for (const auto& unit : units)
    if (ends_with(key, unit.first) &&
        (longest == nullptr || std::string(unit.first).size() > std::string(longest->first).size()))
      longest = &unit;
  return longest;
}

std::string name_of_phase(const std::string& time) {
  const std::string exposed = phases::exposed;
  if (begins_with(time, exposed)) return "exposed " + name_of_phase(time.substr(exposed.size()));
  const std::vector<Phase> known = phases::described(time);
  return known.empty() ? words_of_key(time) : known.front().name;
}

std::string name_of_class(const std::string& name) {
  for (const TrafficClass traffic : traffic_class_values)
    if (name == name_of(traffic)) return text_of(traffic);
  return words_of_key(name) + (ends_with(name, "_read") || ends_with(name, "_write") ? "s" : "");
}

}  // namespace

std::string words_of_key(const std::string& key) {
  const auto* const unit = unit_in(key);
  std::string words = unit == nullptr ? key : key.substr(0, key.size() - std::string(unit->first).size());
  std::replace_if(
      words.begin(), words.end(), [](char c) { return c == '_' || c == '.'; }, ' ');
  return words;
}

std::string unit_of_key(const std::string& key) {
  const auto* const unit = unit_in(key);
  return unit == nullptr ? "" : unit->second;
}

std::string name_of_metric(const std::string& key) {
  const std::string times = "time_ns.", bytes = "dram_bytes.", busiest = "links.busiest.", gpu = "gpu0.";
  if (begins_with(key, times)) return name_of_phase(key.substr(times.size()));
  if (begins_with(key, bytes)) return name_of_class(key.substr(bytes.size()));
  if (begins_with(key, "parts_ns.")) return words_of_key(key.substr(key.find('.') + 1));
  if (begins_with(key, busiest)) return words_of_key(key.substr(busiest.size())) + " of the busiest link";
  if (begins_with(key, gpu)) return words_of_key(key.substr(gpu.size())) + " of GPU 0";
  return words_of_key(key);
}

std::string title_of_metric(const std::string& key) {
  const std::string name = name_of_metric(key);
  if (begins_with(key, "time_ns.") || begins_with(key, "parts_ns.")) return name + " time (ns)";
  if (begins_with(key, "dram_bytes.")) return name + " (bytes)";
  const std::string unit = unit_of_key(key);
  return unit.empty() ? name : name + " (" + unit + ")";
}

}  // namespace t3vp
