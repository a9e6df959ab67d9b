// Functions for generated readers of parameters. Each sets a value that a section of a file has, and leaves it
// unchanged otherwise.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "protocol/picoseconds.h"

namespace t3vp {

template <typename T>
void read_value(const nlohmann::json& section, const char* key, T& value) {
  if (const auto found = section.find(key); found != section.end()) found->get_to(value);
}

/// Reads the key as a time, in units of `nanoseconds`.
inline void read_time(const nlohmann::json& section, const char* key, double nanoseconds, Picoseconds& value) {
  if (section.contains(key)) value = from_ns(section.at(key).get<double>() * nanoseconds);
}

/// Reads the key as a clock in GHz; the value is its period.
inline void read_period(const nlohmann::json& section, const char* key, Picoseconds& value) {
  if (section.contains(key)) value = from_ns(1 / section.at(key).get<double>());
}

/// Reads the key as a size, in units of `unit` bytes.
template <typename Integer>
void read_bytes(const nlohmann::json& section, const char* key, double unit, Integer& value) {
  if (section.contains(key)) value = static_cast<Integer>(std::llround(section.at(key).get<double>() * unit));
}

/// `names` are those of the enumerators, in their order; the schema has checked that there is one.
template <typename Enum>
void read_enumerator(const nlohmann::json& section, const char* key, std::initializer_list<const char*> names,
                     Enum& value) {
  if (!section.contains(key)) return;
  const auto found = std::find(names.begin(), names.end(), section.at(key).get<std::string>());
  value = static_cast<Enum>(found - names.begin());
}

}  // namespace t3vp
