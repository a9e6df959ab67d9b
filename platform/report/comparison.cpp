#include "report/comparison.h"

#include <fmt/format.h>

#include "report/report_figures.h"

namespace t3vp {
namespace {

using nlohmann::json;
constexpr std::size_t longest_text = 32;

std::string text_of(const Figures& figures, const std::string& name) {
  const auto found = figures.find(name);
  if (found == figures.end()) return "-";
  if (!found->second.is_string()) return found->second.dump();
  const std::string text = found->second.get<std::string>();
  return text.size() <= longest_text ? text : text.substr(0, longest_text - 3) + "...";
}

/// Replicates of the reports overlap in this time. A report without any has its only value.
bool is_inside_spread(const Figures& first, const Figures& second, const std::string& name) {
  const std::string replicates = "replicates." + name + ".";
  if (first.count(replicates + "least") + second.count(replicates + "least") == 0) return false;
  const auto of = [&](const Figures& figures, const char* end) {
    return figure(figures, figures.count(replicates + end) != 0 ? replicates + end : name);
  };
  return of(first, "least") <= of(second, "most") && of(second, "least") <= of(first, "most");
}

Difference difference(const std::string& name, const Figures& first, const Figures& second) {
  Difference d{name, text_of(first, name), text_of(second, name), {}, false};
  const auto a = first.find(name), b = second.find(name);
  if (a == first.end() || b == second.end() || !a->second.is_number() || !b->second.is_number()) return d;
  const double from = a->second.get<double>(), to = b->second.get<double>();
  if (from != 0) d.relative = (to - from) / from;
  d.inside_spread = is_inside_spread(first, second, name);
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
    if (figure.first.rfind("replicates.", 0) == 0) continue;
    if (in_a == a.end() || in_b == b.end() || in_a->second != in_b->second)
      list.push_back(difference(figure.first, a, b));
  }
  return list;
}

std::string difference_table(const std::vector<Difference>& differences) {
  std::string text = fmt::format("{:<44}{:>20}{:>20}{:>11}\n", "figure", "first", "second", "relative");
  for (const Difference& d : differences)
    text += fmt::format("{:<44} {:>19} {:>19}{}{}\n", d.figure, d.first, d.second,
                        d.relative ? fmt::format(" {:>+9.3f}%", 100 * *d.relative) : "",
                        d.inside_spread ? "  inside the spread" : "");
  return text;
}

}  // namespace t3vp
