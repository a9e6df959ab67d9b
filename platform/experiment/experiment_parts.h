// Both loaders of an experiment file refer to its parts by these functions.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "experiment/experiment.h"
#include "io/json_document.h"

namespace t3vp {

/// The JSON pointer of an element of a list of the file, or of a key of that element.
inline std::string pointer_to(const std::string& list, std::size_t index, const std::string& key = "") {
  return "/" + list + "/" + std::to_string(index) + (key.empty() ? "" : "/" + key);
}

template <typename T>
std::vector<std::string> names_in(const std::vector<T>& list) {
  std::vector<std::string> names;
  for (const T& item : list) names.push_back(item.name);
  return names;
}

/// The place of the item with this name in the list. The document is rejected at the pointer if there is none.
template <typename T>
std::size_t index_of(const Document& document, const std::string& pointer, const std::vector<T>& list,
                     const std::string& name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const T& item) { return item.name == name; });
  if (found == list.end())
    document.reject(pointer, in_short(name), fmt::format("one of {}", fmt::join(names_in(list), ", ")));
  return static_cast<std::size_t>(found - list.begin());
}

/// Rejects the document at a list of it in which a name is twice.
template <typename T>
void require_distinct(const Document& document, const std::vector<T>& list, const std::string& key) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (!names.insert(list[i].name).second)
      document.reject("/" + key, fmt::format("{} twice", in_short(list[i].name)), "different names");
}

/// Whether a report of the experiment's runs may have a number of this name.
bool is_report_figure(const Experiment& experiment, const std::string& key);

/// Rejects the document at the pointer when no report has a number of this name.
void require_key(const Document& document, const Experiment& experiment, const std::string& pointer,
                 const std::string& key);

}  // namespace t3vp
