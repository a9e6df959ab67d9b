// How dotted keys of metrics begin and end.
#pragma once

#include <string>

namespace t3vp {

inline bool begins_with(const std::string& key, const std::string& start) {
  return key.compare(0, start.size(), start) == 0;
}

/// The end is not the whole key.
inline bool ends_with(const std::string& key, const std::string& end) {
  return key.size() > end.size() && key.compare(key.size() - end.size(), end.size(), end) == 0;
}

}  // namespace t3vp
