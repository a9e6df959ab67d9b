// The classes of traffic: those of traffic_class.enumeration.json, and behind them those that kernels bring with them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "protocol/access.h"

namespace t3vp {

enum class TrafficDirection { neither, reads, writes };

/// Returns the class with this name. A new name gets the next number and this direction. Returns nothing when there are
/// traffic_classes_most of them.
std::optional<TrafficClass> traffic_class_of(const std::string& name,
                                             TrafficDirection direction = TrafficDirection::neither);

/// Whether the accesses of a class that there is read or write; neither: both may be in it.
TrafficDirection direction_of(TrafficClass traffic);

/// All of them up to now: those of the enumeration in its order, then the others as they have come.
std::vector<TrafficClass> traffic_classes();

/// Returns the name of an existing class in reports. The text stays valid.
const char* name_of_traffic(TrafficClass traffic);

}  // namespace t3vp
