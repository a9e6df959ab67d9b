// An axis of cross that is one key with several values, or with a range of them.
#pragma once

#include <string>
#include <vector>

#include "io/json_document.h"

namespace t3vp {

struct AxisValues {
  std::string key;                  ///< as --set takes it
  std::vector<std::string> values;  ///< as text
  std::vector<std::string> names;   ///< of the values, for people
  std::vector<double> numbers;      ///< as many; empty when not all values are numbers
};

/// Of the object at this pointer. Throws InputError, also about a key that no run has.
AxisValues axis_values(const Document& document, const std::string& pointer);

}  // namespace t3vp
