#include "report/result_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "report/report.h"
#include "report/statistic_names.h"

namespace t3vp {
namespace {

using nlohmann::ordered_json;  // phases and classes are shown in the order of the report

constexpr double bytes_per_MiB = 1 << 20;
constexpr std::size_t most_links_shown = 8;

/// Rounds to three digits. JSON writes what is no number as null.
std::string rounded(const ordered_json& value) {
  const double number = value.is_number() ? value.get<double>() : std::nan("");
  return std::isfinite(number) ? fmt::format("{:.3g}", number) : in_words(number);
}

double microseconds(const ordered_json& ns) { return ns.get<double>() / 1000; }

std::string with_bar(const std::string& text, double share) {
  const std::string drawn = bar(share);
  return text + (drawn.empty() ? "" : "  " + drawn) + "\n";
}

/// The tile of a GEMM, as the headline has it; nothing for other workloads.
std::string tile_of(const ordered_json& report) {
  for (const ordered_json& shape : report.at("workload"))
    if (shape.is_object() && shape.contains("tile")) return ", tile " + shape.at("tile").get<std::string>();
  return {};
}

std::string headline(const ordered_json& report) {
  const std::string algorithms = collective_algorithms(report);
  return run_title(report) + "\n" + (algorithms.empty() ? "" : "  collectives: " + algorithms + "\n");
}

using Rows = std::vector<std::pair<std::string, std::string>>;  // keys of figures and what they are called

/// The figures that no row has yet, under their own names. Exposed times are parts of times that have a row.
void add_others(const ordered_json& figures, Rows& rows) {
  for (const auto& figure : figures.items())
    if (figure.key().rfind(phases::exposed, 0) != 0 &&
        std::none_of(rows.begin(), rows.end(), [&](const auto& row) { return row.first == figure.key(); }))
      rows.emplace_back(figure.key(), figure.key());
}

/// "  median 69.82, spread 0.12%" of the replicates; empty without any.
std::string spread_text(const ordered_json& replicates, const std::string& time) {
  if (!replicates.contains("time_ns") || !replicates.at("time_ns").contains(time)) return "";
  const ordered_json& spread = replicates.at("time_ns").at(time);
  return fmt::format("  median {:.2f}, spread {:.2f}%", microseconds(spread.at("median")),
                     100 * spread.at("spread").get<double>());
}

/// A run that has not ended has no total.
std::string stop_row(const ordered_json& report) {
  if (!report.contains("stopped")) return "";
  const ordered_json& stopped = report.at("stopped");
  std::string text =
      fmt::format("  not over: stopped at {:.2f} us, setup included", microseconds(stopped.at("simulated_ns")));
  if (stopped.at("work_done").is_number())
    text += fmt::format("; {:.0f}% of GPU 0's workgroups have ended", 100 * stopped.at("work_done").get<double>());
  return text + "\n";
}

std::string time_rows(const ordered_json& times, const ordered_json& replicates, bool is_stopped) {
  Rows rows = {{"total", "total"}, {"setup", "setup (before the start)"}, {"zeroing", "  zeroing of the output"}};
  for (const Phase& phase : phases::of_collectives) rows.emplace_back(phase.key, phase.name);
  add_others(times, rows);
  std::rotate(rows.begin(), rows.begin() + 1, rows.end());  // the total comes last
  const double longest = std::max(times.at("total").get<double>(), times.at("setup").get<double>());
  std::string text = fmt::format("\n  {:<28}{:>10}\n", "time", "us");
  if (is_stopped) rows.pop_back();
  for (const auto& [key, name] : rows)
    if (times.value(key, ordered_json()).is_number() && (times.at(key) != 0 || key != "zeroing"))
      text +=
          with_bar(fmt::format("  {:<28}{:>10.2f}{}", name, microseconds(times.at(key)), spread_text(replicates, key)),
                   times.at(key).get<double>() / longest);
  return text;
}

/// The ideal methods have a total that no run has taken.
std::string note_on_total(const ordered_json& report) {
  if (!report.value("isolated_phases", false)) return "";
  return "  isolated phases, not a bound: max(GEMM, reduce-scatter) + all-gather\n";
}

std::string operation_rows(const ordered_json& operations, const ordered_json& parts) {
  double longest = 0;
  for (const ordered_json& o : operations) longest = std::max(longest, o.at("time_ns").get<double>());
  std::string text = fmt::format("\n  {:<28}{:>10}{:>10}{:>10}\n", "operation", "us", "read MiB", "write MiB");
  for (const ordered_json& o : operations)
    text += with_bar(fmt::format("  {:<28}{:>10.2f}{:>10.2f}{:>10.2f}", o.at("name").get<std::string>(),
                                 microseconds(o.at("time_ns")), o.at("read_bytes").get<double>() / bytes_per_MiB,
                                 o.at("write_bytes").get<double>() / bytes_per_MiB),
                     o.at("time_ns").get<double>() / longest);
  const auto sum = [](double all, const ordered_json& part) { return all + part.get<double>(); };
  const double total = std::accumulate(parts.begin(), parts.end(), 0.0, sum);
  text += fmt::format("\n  {:<28}{:>10}\n", "part", "us");
  for (const auto& part : parts.items())
    text += with_bar(fmt::format("  {:<28}{:>10.2f}", part.key(), microseconds(part.value())),
                     part.value().get<double>() / total);
  return text;
}

double total_bytes(const ordered_json& classes) {
  double sum = 0;
  for (const auto& c : classes.items())
    if (c.key() != "setup") sum += c.value().get<double>();
  return sum;
}

std::string traffic_rows(const ordered_json& classes) {
  Rows names = {{"setup", ""}};  // which is shown nowhere
  for (const TrafficClass traffic : traffic_class_values)
    if (traffic != TrafficClass::setup) names.emplace_back(name_of(traffic), text_of(traffic));
  add_others(classes, names);
  names.erase(names.begin());
  double most = 0;
  for (const auto& [key, name] : names) most = std::max(most, classes.value(key, 0.0));
  std::string text = fmt::format("\n  {:<28}{:>10}\n", "DRAM traffic of a GPU", "MiB");
  for (const auto& [key, name] : names) {
    const double bytes = classes.value(key, 0.0);
    if (bytes == 0) continue;
    text += with_bar(fmt::format("  {:<28}{:>10.2f}", name, bytes / bytes_per_MiB), bytes / most);
  }
  return text + fmt::format("  {:<28}{:>10.2f}\n", "total without setup", total_bytes(classes) / bytes_per_MiB);
}

std::string link_row(const ordered_json& link) {
  const auto end = [&link](const char* key) {
    const ordered_json& value = link.at(key);
    return value.is_string() ? value.get<std::string>() : "GPU " + value.dump();
  };
  const std::string name = end("from") + " -> " + end("to");
  const double utilization = link.at("utilization").get<double>();
  return with_bar(fmt::format("  {:<18}{:>10.2f}{:>11.1f}%", name,
                              link.at("payload_bytes").get<double>() / bytes_per_MiB, 100 * utilization),
                  utilization);
}

std::string link_rows(const ordered_json& links) {
  std::vector<ordered_json> used;
  for (const ordered_json& link : links)
    if (link.at("wire_bytes").get<double>() > 0) used.push_back(link);
  if (used.empty()) return "";
  std::string text = fmt::format("\n  {:<18}{:>10}{:>12}\n", "links in use", "MiB", "utilization");
  for (std::size_t i = 0; i < std::min(used.size(), most_links_shown); ++i) text += link_row(used[i]);
  if (used.size() > most_links_shown) text += fmt::format("  and {} more\n", used.size() - most_links_shown);
  return text;
}

/// Of a GPU's NIC, by name; empty where there is none.
std::map<std::string, double> nic_figures(const ordered_json& statistics, std::size_t gpu) {
  const std::string prefix = statistics_of_nic(gpu);
  std::map<std::string, double> figures;
  for (const ordered_json& statistic : statistics)
    if (const auto name = statistic.at("name").get<std::string>(); is_statistic_of(name, prefix))
      figures[name.substr(prefix.size())] = statistic.at("value").get<double>();
  return figures;
}

std::string nic_rows(const ordered_json& report) {
  std::string rows;
  std::size_t used = 0;
  for (std::size_t gpu = 0; gpu < report.value("gpus", std::size_t{0}); ++gpu) {
    auto nic = nic_figures(report.at("statistics"), gpu);
    if (nic["wire_bytes"] == 0 || ++used > most_links_shown) continue;
    rows += fmt::format("  {:<12}{:>8}{:>13}{:>11}{:>10.2f}{:>12.2f}{:>12}\n", fmt::format("GPU {}", gpu),
                        nic["writes"], nic["inline_writes"], nic["doorbells"], nic["wire_bytes"] / bytes_per_MiB,
                        nic["sending"] / 1000, nic["resent"]);
  }
  if (used == 0) return "";
  if (used > most_links_shown) rows += fmt::format("  and {} more\n", used - most_links_shown);
  return fmt::format("\n  {:<12}{:>8}{:>13}{:>11}{:>10}{:>12}{:>12}\n", "NICs in use", "PUTs", "inline PUTs",
                     "doorbells", "wire MiB", "sending us", "sent again") +
         rows;
}

std::string warning_rows(const ordered_json& report) {
  std::string text;
  for (const ordered_json& warning : report.value("warnings", ordered_json::array()))
    text += fmt::format("  warning: {} ({})\n", warning.at("text").get<std::string>(),
                        warning.at("metric").get<std::string>());
  return text;
}

std::string verdict(const ordered_json& report) {
  const ordered_json& f = report.at("functional");
  const ordered_json& b = report.at("bounds");
  std::string text =
      fmt::format("\n  bounds: compute {:.2f} us, in whole tiles {:.2f} us, links {:.2f} us, DRAM {:.2f} us\n",
                  microseconds(b.at("compute_ns")), microseconds(b.at("compute_quantized_ns")),
                  microseconds(b.at("link_ns")), microseconds(b.at("dram_ns")));
  if (f.at("checked").get<bool>())
    text += fmt::format("  results: {} elements checked, {} mismatches, largest error {}\n", f.at("elements").dump(),
                        f.at("mismatches").dump(), rounded(f.at("max_abs_error")));
  text += warning_rows(report);
  if (!report.contains("diagnosis")) {
    for (const ordered_json& fault : report.at("faults"))
      text += fmt::format("  fault {} struck: {}; recovered: {}\n", fault.at("name").get<std::string>(),
                          fault.at("text").get<std::string>(), fault.at("recovery").get<std::string>());
    return text + "  passed\n";
  }
  text += "  FAILED\n";
  for (const ordered_json& line : report.at("diagnosis")) text += "    " + line.get<std::string>() + "\n";
  return text;
}

/// A run that has not ended has no total.
std::string ratio(double first, double second) {
  return first > 0 && second > 0 ? fmt::format("{:.3f}", first / second) : "-";
}

/// Which algorithms the collectives of each report use: one line when all use the same.
std::string algorithm_rows(const std::vector<nlohmann::json>& reports, const std::vector<std::string>& labels,
                           std::size_t width) {
  const std::string first = collective_algorithms(reports.front());
  const bool are_same = std::all_of(reports.begin(), reports.end(),
                                    [&](const auto& report) { return collective_algorithms(report) == first; });
  if (are_same) return first.empty() ? "" : fmt::format("collectives: {}\n", first);
  std::string text = fmt::format("\n{:<{}}collectives\n", "method", width);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const std::string algorithms = collective_algorithms(reports[i]);
    text += fmt::format("{:<{}}{}\n", labels[i], width, algorithms.empty() ? "none" : algorithms);
  }
  return text;
}

}  // namespace

std::string collective_algorithms(const nlohmann::json& report) {
  if (!report.contains("algorithms")) return "";
  std::vector<std::string> texts;
  for (const auto& algorithm : report.at("algorithms").items()) {
    std::string name = algorithm.key();
    std::replace(name.begin(), name.end(), '_', '-');
    texts.push_back(name + " " + algorithm.value().get<std::string>());
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string bar(double share, std::size_t full_width) {
  if (!(share > 0)) return "";
  const double length = std::round(std::min(share, 1.0) * static_cast<double>(full_width));
  return std::string(std::max<std::size_t>(static_cast<std::size_t>(length), 1), '#');
}

std::string run_title(const ordered_json& report) {
  const std::string program = report.value("program", "");
  const std::string label = report.at("workload").value("label", program.empty() ? "workload" : program);
  const std::string how = program.empty() ? report.at("method").get<std::string>() : "program " + program;
  return fmt::format("{} on {}, {} GPU{}{}{}{}{}", label, report.at("system").get<std::string>(),
                     report.value("gpus", 0), report.value("gpus", 0) == 1 ? "" : "s",
                     report.value("simulate", "") == "mirror" ? " (mirror)" : "", label == program ? "" : ", " + how,
                     tile_of(report), report.contains("approximate") ? ", loosely-timed memory" : "");
}

std::string result_table(const ordered_json& report) {
  const std::string operations =
      report.contains("operations") ? operation_rows(report.at("operations"), report.at("parts_ns")) : "";
  return headline(report) +
         time_rows(report.at("time_ns"), report.value("replicates", ordered_json::object()),
                   report.contains("stopped")) +
         stop_row(report) + note_on_total(report) + operations + traffic_rows(report.at("dram_bytes")) +
         link_rows(report.at("links")) + nic_rows(report) + verdict(report);
}

std::string overview_table(const std::vector<nlohmann::json>& reports, const std::vector<std::string>& labels) {
  const auto time = [](const nlohmann::json& report, const char* name) {
    return report.at("time_ns").at(name).get<double>();
  };
  const auto total = [&](const nlohmann::json& report) { return time(report, "total"); };
  const auto with_zeroing = [&](const nlohmann::json& report) {
    return total(report) > 0 ? total(report) + time(report, "zeroing") : 0;
  };
  double longest = 0;
  for (const nlohmann::json& report : reports) longest = std::max(longest, total(report));
  std::size_t width = 16;
  for (const std::string& label : labels) width = std::max(width, label.size() + 2);
  std::string text = fmt::format("{:<{}}{:>10}{:>9}{:>14}{:>10}{:>11}\n", "method", width, "us", "speedup",
                                 "with zeroing", "setup us", "DRAM MiB");
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const nlohmann::json& report = reports[i];
    text += fmt::format("{:<{}}{:>10.2f}{:>9}{:>14}{:>10.2f}{:>11.1f}  {}\n", labels[i], width, total(report) / 1000,
                        ratio(total(reports.front()), total(report)),
                        ratio(with_zeroing(reports.front()), with_zeroing(report)), time(report, "setup") / 1000,
                        total_bytes(report.at("dram_bytes")) / bytes_per_MiB,
                        report.contains("diagnosis") ? "FAILED" : bar(total(report) / longest, 22));
  }
  return text + algorithm_rows(reports, labels, width);
}

}  // namespace t3vp
