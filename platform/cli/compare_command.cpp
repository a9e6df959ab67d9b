#include <fmt/format.h>

#include <algorithm>

#include "cli/command_line.h"
#include "io/console.h"
#include "io/input_error.h"
#include "report/comparison.h"
#include "report/report.h"
#include "report/result_table.h"

namespace t3vp {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::size_t differences_shown = 15;

void require_same_workload(const CompareCommand& command, const std::vector<json>& reports) {
  for (std::size_t i = 1; i < reports.size(); ++i)
    if (const std::string place = different_workload(reports.front(), reports[i]); !place.empty())
      throw InputError(command.reports[i].string(),
                       fmt::format("a workload that differs from {}'s in {}", command.reports.front().string(), place),
                       "the same workload, or --any-workload");
}

/// The method, or the program where one of the user's own ran.
std::string label_of(const json& report) {
  return report.contains("program") ? "program " + report.at("program").get<std::string>()
                                    : report.at("method").get<std::string>();
}

/// The labels of all reports, with the file too where another report has the same label.
std::vector<std::string> labels_of(const CompareCommand& command, const std::vector<json>& reports) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const std::string label = label_of(reports[i]);
    const auto has_same = [&](const json& other) { return label_of(other) == label; };
    const bool is_unique = std::count_if(reports.begin(), reports.end(), has_same) == 1;
    labels.push_back(is_unique ? label : label + " " + command.reports[i].string());
  }
  return labels;
}

void print_differences(const CompareCommand& command, const json& first, const json& second) {
  const std::vector<Difference> all = differences(first, second);
  if (all.empty()) return;
  const std::vector<Difference> shown = command.all ? all : largest(all, differences_shown);
  print("\n" + difference_table(shown));
  if (!command.all)
    print(fmt::format("The largest of {} differences, of GPUs and links the one that differs most. --all shows all.\n",
                      all.size()));
}

}  // namespace

int compare(const CompareCommand& command) {
  std::vector<json> reports;
  for (const fs::path& file : command.reports) reports.push_back(read_report(file));
  if (!command.any_workload) require_same_workload(command, reports);
  bool same = true;
  for (const json& report : reports) same = same && differences(reports.front(), report).empty();
  print(overview_table(reports, labels_of(command, reports)));
  for (std::size_t i = 1; i < reports.size(); ++i) {
    if (command.all && reports.size() > 2)
      print(fmt::format("\n{} and {}:\n", command.reports.front().string(), command.reports[i].string()));
    if (command.all || reports.size() == 2) print_differences(command, reports.front(), reports[i]);
  }
  for (std::size_t i = 1; i < reports.size(); ++i)
    if (const std::string warning = warning_of_totals(reports.front(), reports[i]); !warning.empty())
      print(fmt::format("warning: {} and {}: {}\n", command.reports.front().string(), command.reports[i].string(),
                        warning));
  if (same) print("the same\n");
  return same ? success : failed;
}

}  // namespace t3vp
