#include "report/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>

#include "report/phases.h"
#include "report/report_figures.h"

namespace t3vp {
namespace {

using nlohmann::json;
constexpr std::size_t longest_text = 32;
constexpr double most_difference = 0.01;  // of link bytes

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

bool has_phase(const json& report, const char* phase) {
  const json& times = report.at("time_ns");
  return times.contains(phase) && times.at(phase).is_number();
}

bool reduces(const json& report) {
  return has_phase(report, phases::reduce_scatter) || has_phase(report, phases::fused);
}

/// A fused all-reduce contains it.
bool gathers(const json& report) {
  return has_phase(report, phases::all_gather) || report.at("workload").value("fused", "") == "all-reduce";
}

/// Returns the workload without its name and the settings of its method. The reductions that are fused with a GEMM are
/// left out too, since their phases distinguish them; an all-to-all is kept.
json work_of(const json& report) {
  json work = report.at("workload");
  work.erase("label");
  if (work.value("fused", "") != "all-to-all") work.erase("fused");
  for (json& part : work)
    for (const char* how : {"tile", "slice", "occupancy", "contexts", "order", "algorithm"})
      if (part.is_object()) part.erase(how);
  return work;
}

void add_workload(const json& first, const json& second, std::vector<std::string>& reasons) {
  if (const std::string place = different_workload(first, second); !place.empty())
    reasons.push_back(place + " differs");
}

/// "gpu.dram.reads" of "gpu3.dram.reads", "links.wire_bytes" of "links.0_to_3.wire_bytes".
std::string common_name(const std::string& figure) {
  static const std::regex gpu("^gpu[0-9]+"), link("^links\\.[^.]*");
  return std::regex_replace(std::regex_replace(figure, gpu, "gpu"), link, "links");
}

double link_bytes(const json& report) {
  double sum = 0;
  for (const json& link : report.at("links")) sum += link.at("payload_bytes").get<double>();
  return sum;
}

bool have_equal_networks(const json& first, const json& second) {
  for (const char* key : {"gpus", "simulate"})
    if (first.value(key, json()) != second.value(key, json())) return false;
  return first.at("links").size() == second.at("links").size();
}

void add_link_bytes(const json& first, const json& second, std::vector<std::string>& reasons) {
  const double a = link_bytes(first), b = link_bytes(second);
  if (have_equal_networks(first, second) && std::abs(a - b) > most_difference * std::max(a, b))
    reasons.push_back(fmt::format("links carried {:.2f} and {:.2f} MiB of data", a / (1 << 20), b / (1 << 20)));
}

void add_one_sided(bool first, bool second, const char* what, std::vector<std::string>& reasons) {
  if (first != second) reasons.push_back(fmt::format("only the {} {}", first ? "first" : "second", what));
}

}  // namespace

std::string different_workload(const json& first, const json& second) {
  const json patch = json::diff(work_of(first), work_of(second));
  return patch.empty() ? "" : "workload" + patch[0].at("path").get<std::string>();
}

std::vector<Difference> largest(const std::vector<Difference>& differences, std::size_t count) {
  std::vector<Difference> list = differences;
  const auto size = [](const Difference& d) { return d.relative ? std::abs(*d.relative) : -1; };
  std::stable_sort(list.begin(), list.end(),
                   [&](const Difference& a, const Difference& b) { return size(a) > size(b); });
  std::set<std::string> seen;
  const auto is_known = [&](const Difference& d) {
    return d.figure.rfind("bounded_by.", 0) == 0 || !seen.insert(common_name(d.figure)).second;
  };
  list.erase(std::remove_if(list.begin(), list.end(), is_known), list.end());
  if (list.size() > count) list.resize(count);
  return list;
}

std::string warning_of_totals(const json& first, const json& second) {
  std::vector<std::string> reasons;
  add_workload(first, second, reasons);
  if (first.value("gpus", json()) != second.value("gpus", json()))
    reasons.push_back(fmt::format("{} and {} GPUs", first.value("gpus", 0), second.value("gpus", 0)));
  add_one_sided(reduces(first), reduces(second), "has a reduce-scatter", reasons);
  add_one_sided(gathers(first), gathers(second), "has an all-gather", reasons);
  const auto isolated = [](const json& report) { return report.value("isolated_phases", false); };
  add_one_sided(isolated(first), isolated(second), "is made of isolated phases", reasons);
  add_one_sided(first.contains("approximate"), second.contains("approximate"), "has loosely-timed memory", reasons);
  add_link_bytes(first, second, reasons);
  if (reasons.empty()) return "";
  return fmt::format("the totals contain different things: {}", fmt::join(reasons, "; "));
}

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
  std::string text = fmt::format("{:<44}{:>20}{:>20}{:>11}\n", "metric", "first", "second", "relative");
  for (const Difference& d : differences)
    text += fmt::format("{:<44} {:>19} {:>19}{}{}\n", d.figure, d.first, d.second,
                        d.relative ? fmt::format(" {:>+9.3f}%", 100 * *d.relative) : "",
                        d.inside_spread ? "  inside the spread" : "");
  return text;
}

}  // namespace t3vp
