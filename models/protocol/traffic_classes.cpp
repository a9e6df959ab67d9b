#include "protocol/traffic_classes.h"

#include <deque>

namespace t3vp {
namespace {

struct Other {
  std::string name;
  TrafficDirection direction;
};

/// The classes behind the enumeration. They are the same on all GPUs, and stay as long as the process lives.
std::deque<Other>& others() {
  static std::deque<Other> classes;
  return classes;
}

}  // namespace

bool is_traffic_class(TrafficClass traffic) {
  constexpr std::size_t known = std::size(traffic_class_values);
  return index_of(traffic) < known || index_of(traffic) < known + others().size();
}

std::optional<TrafficClass> traffic_class_of(const std::string& name, TrafficDirection direction) {
  for (const TrafficClass known : traffic_classes())
    if (name == name_of_traffic(known)) return known;
  const std::size_t next = std::size(traffic_class_values) + others().size();
  if (next == traffic_classes_most) return {};
  others().push_back({name, direction});
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
  return index_of(traffic) < known ? name_of(traffic) : others().at(index_of(traffic) - known).name.c_str();
}

TrafficDirection direction_of(TrafficClass traffic) {
  switch (traffic) {
    case TrafficClass::gemm_read:
    case TrafficClass::rs_read:
    case TrafficClass::ag_read:
      return TrafficDirection::reads;
    case TrafficClass::gemm_write:
    case TrafficClass::rs_write:
    case TrafficClass::ag_write:
      return TrafficDirection::writes;
    case TrafficClass::setup:
    case TrafficClass::control:
      return TrafficDirection::neither;
  }
  return others().at(index_of(traffic) - std::size(traffic_class_values)).direction;
}

}  // namespace t3vp
