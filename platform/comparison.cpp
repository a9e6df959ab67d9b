#include "platform/comparison.h"

#include <fmt/format.h>

#include <map>

namespace t3vp {
namespace {

using nlohmann::json;
using Figures = std::map<std::string, json>;

constexpr std::size_t longest_text = 32;

/// The name that says more than an entry's place in its list.
std::string entry_name(const json& entry, std::size_t index) {
  if (entry.is_object() && entry.contains("name")) return entry.at("name").get<std::string>();
  if (entry.is_object() && entry.contains("from") && entry.contains("to"))
    return entry.at("from").dump() + " -> " + entry.at("to").dump();
  return std::to_string(index);
}

void flatten(const json& value, const std::string& name, Figures& figures) {
  if (!value.is_structured()) {
    figures[name] = value;
    return;
  }
  std::size_t index = 0;
  for (const auto& member : value.items()) {
    const std::string key = value.is_array() ? entry_name(member.value(), index++) : member.key();
    if (name.empty() && key == "host") continue;
    flatten(member.value(), name.empty() ? key : name + "/" + key, figures);
  }
}

Figures figures_of(const json& report) {
  Figures figures;
  flatten(report, "", figures);
  return figures;
}

std::string text_of(const Figures& figures, const std::string& name) {
  const auto found = figures.find(name);
  if (found == figures.end()) return "-";
  if (!found->second.is_string()) return found->second.dump();
  const std::string text = found->second.get<std::string>();
  return text.size() <= longest_text ? text : text.substr(0, longest_text - 3) + "...";
}

Difference difference(const std::string& name, const Figures& first, const Figures& second) {
  Difference d{name, text_of(first, name), text_of(second, name), {}};
  const auto a = first.find(name), b = second.find(name);
  if (a == first.end() || b == second.end() || !a->second.is_number() || !b->second.is_number()) return d;
  const double from = a->second.get<double>(), to = b->second.get<double>();
  if (from != 0) d.relative = (to - from) / from;
  return d;
}

}  // namespace

std::vector<Difference> differences(const json& first, const json& second) {
  const Figures a = figures_of(first), b = figures_of(second);
  Figures all = a;
  all.insert(b.begin(), b.end());
  std::vector<Difference> list;
  for (const auto& figure : all) {
    const auto in_a = a.find(figure.first), in_b = b.find(figure.first);
    if (in_a == a.end() || in_b == b.end() || in_a->second != in_b->second)
      list.push_back(difference(figure.first, a, b));
  }
  return list;
}

std::string difference_table(const std::vector<Difference>& differences) {
  std::string text = fmt::format("{:<44}{:>20}{:>20}{:>11}\n", "figure", "first", "second", "relative");
  for (const Difference& d : differences)
    text += fmt::format("{:<44} {:>19} {:>19}{}\n", d.figure, d.first, d.second,
                        d.relative ? fmt::format(" {:>+9.3f}%", 100 * *d.relative) : "");
  return text;
}

}  // namespace t3vp
