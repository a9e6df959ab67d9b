#include <fmt/format.h>

#include <cmath>

#include "cli/command_line.h"
#include "io/console.h"
#include "io/input_error.h"
#include "report/comparison.h"
#include "report/explanation.h"
#include "report/report.h"

namespace t3vp {
namespace {

constexpr double largest_rest = 0.001;  // of the total, by which the sum of its parts may differ

nlohmann::json explained_report(const std::filesystem::path& file) {
  nlohmann::json report = read_report(file);
  if (!report.contains("bounded_by"))
    throw InputError(file.string() + ": /bounded_by", "nothing", "the parts of the times, which t3vp run reports");
  if (!report.at("bounded_by").contains("total"))
    throw InputError(file.string() + ": /bounded_by/total", "nothing", "the parts of the total");
  if (!is_explained(report))
    throw InputError(file.string() + ": /time_ns/total", "0", "the total of a run that has ended");
  const double total = report.at("time_ns").at("total").get<double>();
  double sum = 0;
  for (const auto& part : report.at("bounded_by").at("total")) sum += part.get<double>();
  if (std::abs(sum - total) > largest_rest * total)
    throw InputError(file.string() + ": /bounded_by/total", fmt::format("parts of {:.0f} ns in all", sum),
                     fmt::format("parts that add up to time_ns.total, {:.0f} ns, within 0.1%", total));
  return report;
}

void explain_difference(const ExplainCommand& command, const nlohmann::json& first) {
  const nlohmann::json second = explained_report(command.reports.back());
  print(explanation(first, second));
  if (const std::string place = different_workload(first, second); !place.empty())
    print(fmt::format("warning: the workloads differ in {}\n", place));
}

}  // namespace

int explain(const ExplainCommand& command) {
  const nlohmann::json first = explained_report(command.reports.front());
  if (command.reports.size() == 1)
    print(explanation(first));
  else
    explain_difference(command, first);
  return success;
}

}  // namespace t3vp
