#include "protocol/traffic_classes.h"

#include <deque>

namespace t3vp {
namespace {

/// Names of the classes behind the enumeration. They are the same on all GPUs, and stay as long as the process lives.
std::deque<std::string>& others() {
  static std::deque<std::string> names;
  return names;
}

}  // namespace

bool is_traffic_class(TrafficClass traffic) {
  constexpr std::size_t known = std::size(traffic_class_values);
  return index_of(traffic) < known || index_of(traffic) < known + others().size();
}

std::optional<TrafficClass> traffic_class_of(const std::string& name) {
  for (const TrafficClass known : traffic_classes())
    if (name == name_of_traffic(known)) return known;
  const std::size_t next = std::size(traffic_class_values) + others().size();
  if (next == traffic_classes_most) return {};
  others().push_back(name);
  return static_cast<TrafficClass>(next);
}

std::vector<TrafficClass> traffic_classes() {
  std::vector<TrafficClass> all(std::begin(traffic_class_values), std::end(traffic_class_values));
  for (std::size_t i = 0; i < others().size(); ++i)
    all.push_back(static_cast<TrafficClass>(std::size(traffic_class_values) + i));
  return all;
}

const char* name_of_traffic(TrafficClass traffic) {
  const std::size_t known = std::size(traffic_class_values);
  return index_of(traffic) < known ? name_of(traffic) : others().at(index_of(traffic) - known).c_str();
}

}  // namespace t3vp
