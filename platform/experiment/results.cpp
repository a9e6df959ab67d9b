#include "experiment/results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "experiment/csv.h"
#include "io/fingerprint.h"
#include "io/input_file.h"
#include "io/json_document.h"
#include "report/replicates.h"
#include "report/report.h"
#include "report/result_table.h"

namespace t3vp {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// Version and configuration are the same, and so are the sources that simulate.
bool is_current(const PlannedRun& run, const json& report) {
  return report.at("config_hash") == run.config_hash && report.at("version") == T3VP_VERSION &&
         report.at("host").at("program") == simulation_fingerprint();
}

/// A run that has failed makes none.
bool has_replicates(const json& report, unsigned count) {
  return count <= 1 || report.contains("diagnosis") ||
         (report.contains("replicates") && report.at("replicates").at("count") >= count);
}

/// What the run said last; empty when it said nothing.
std::string last_line_of(const fs::path& log) {
  if (!input_fault(log).empty()) return "";
  std::string text = read_input(log, "log");
  text.erase(text.find_last_not_of('\n') + 1);
  return text.substr(text.rfind('\n') + 1);
}

/// An injected fault explains the other reasons, and is listed after them.
std::string first_reason(const json& diagnosis) {
  for (const json& line : diagnosis)
    if (const auto text = line.get<std::string>(); text.rfind("fault ", 0) == 0) return text;
  return diagnosis.at(0).get<std::string>();
}

std::string reason_of(const json& report, int exit_code, const fs::path& log) {
  if (!report.is_null() && report.contains("diagnosis")) return first_reason(report.at("diagnosis"));
  if (exit_code > 128) return fmt::format("ended by signal {}", exit_code - 128);
  const std::string said = last_line_of(log);
  return said.empty() ? fmt::format("no report, exit code {}", exit_code) : said;
}

std::string text_of(const json& value) {
  return value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump();
}

/// Replicates have values of it.
bool is_time(const std::string& key) { return key.rfind("time_ns.", 0) == 0; }

bool meets(const Target& target, double ours) {
  const double gap = target.reference ? std::abs(ours - *target.reference) : 0;  // no reference, no `within`
  return (!target.within || gap <= *target.within) &&
         (!target.within_relative || gap <= *target.within_relative * std::abs(*target.reference)) &&
         (!target.at_least || ours >= *target.at_least) && (!target.at_most || ours <= *target.at_most);
}

std::string verdict_of(const Target& target, double ours) {
  if (std::isnan(ours)) return "not available";
  if (!target.within && !target.within_relative && !target.at_least && !target.at_most) return "reported";
  return meets(target, ours) ? "met" : "missed";
}

std::string reference_of(const Target& target) {
  if (target.reference) return fmt::format("{}", *target.reference);
  std::vector<std::string> limits;
  if (target.at_least) limits.push_back(fmt::format(">= {}", *target.at_least));
  if (target.at_most) limits.push_back(fmt::format("<= {}", *target.at_most));
  return fmt::format("{}", fmt::join(limits, " and "));
}

std::string tolerance_of(const Target& target) {
  std::vector<std::string> limits;
  if (target.within) limits.push_back(fmt::format("{}", *target.within));
  if (target.within_relative) limits.push_back(fmt::format("{:.4g}%", *target.within_relative * 100));
  return fmt::format("{}", fmt::join(limits, " and "));
}

}  // namespace

Results::Results(const Experiment& experiment, const Plan& plan, fs::path runs)
    : experiment_(experiment), plan_(plan), runs_folder_(std::move(runs)) {}

fs::path Results::folder_of(std::size_t run) const { return runs_folder_ / plan_.runs[run].name; }

bool Results::take_finished(std::size_t run) {
  const fs::path folder = folder_of(run), file = folder / "report.json";
  if (!fs::exists(file) || (experiment_.trace && !fs::exists(folder / "trace.json"))) return false;
  try {
    json report = read_document(file, "report").content;  // which a program of the same sources has checked
    if (!is_current(plan_.runs[run], report) || !has_replicates(report, experiment_.replicates)) return false;
    take(run, std::move(report), 0);
  } catch (const std::exception&) {
    return false;  // half of a report, or another program's: to be written again
  }
  return true;
}

bool Results::take_broken_off(std::size_t run) {
  const fs::path folder = folder_of(run), log = folder / "log.txt";
  if (fs::exists(folder / "report.json") || !fs::exists(log)) return false;
  const std::string said = last_line_of(log);
  failures_[run] = {rows_with(run), said.empty() ? "it was ended before its report" : said, log};
  return true;
}

void Results::take_ended(std::size_t run, int exit_code) {
  const fs::path file = folder_of(run) / "report.json";
  json report;
  if (fs::exists(file)) report = read_report(file);
  take(run, std::move(report), exit_code);
}

void Results::take(std::size_t run, json report, int exit_code) {
  keep_replicates(report, experiment_.replicates);
  failures_.erase(run);  // of an earlier attempt
  if (!report.is_null() && exit_code <= 1 && !report.contains("diagnosis"))
    reports_[run] = std::move(report);
  else
    failures_[run] = {rows_with(run), reason_of(report, exit_code, folder_of(run) / "log.txt"),
                      folder_of(run) / "log.txt"};
}

std::string Results::rows_with(std::size_t run) const {
  std::vector<std::string> names;
  for (const PlannedRow& row : plan_.rows)
    if (row.gemm == run || row.reduce_scatter == run || row.all_gather == run)
      names.push_back(experiment_.cases[row.case_index].name + ", " + experiment_.methods[row.method_index].name);
  return fmt::format("{}", fmt::join(names, "; "));
}

bool Results::has_reports(const PlannedRow& row) const {
  return reports_.count(row.gemm) != 0 && reports_.count(row.reduce_scatter) != 0 &&
         reports_.count(row.all_gather) != 0;
}

std::optional<Figures> Results::row(const PlannedRow& row) const {
  if (!has_reports(row)) return {};
  Figures figures = row.is_whole() ? row_figures(reports_.at(row.gemm))
                                   : combined_figures(reports_.at(row.gemm), reports_.at(row.reduce_scatter),
                                                      reports_.at(row.all_gather));
  figures["config_hash"] = row.config_hash;
  return figures;
}

const PlannedRow& Results::row_of(std::size_t case_index, const std::string& method) const {
  const auto found = std::find_if(experiment_.methods.begin(), experiment_.methods.end(),
                                  [&](const ExperimentMethod& m) { return m.name == method; });
  return plan_
      .rows[case_index * experiment_.methods.size() + static_cast<std::size_t>(found - experiment_.methods.begin())];
}

double Results::value_of(const std::string& key, std::size_t case_index, const std::string& method) const {
  const std::optional<Figures> figures = row(row_of(case_index, method));
  return figures ? figure(*figures, key) : std::nan("");
}

std::string Results::algorithms(std::size_t case_index, const std::string& method) const {
  const PlannedRow& row = row_of(case_index, method);
  if (!has_reports(row)) return "";
  if (row.is_whole()) return collective_algorithms(reports_.at(row.gemm));
  json algorithms;
  for (const auto& [collective, run] :
       {std::pair{"reduce_scatter", row.reduce_scatter}, {"all_gather", row.all_gather}})
    algorithms[collective] = reports_.at(run).at("algorithms").at(collective);
  return collective_algorithms({{"algorithms", algorithms}});
}

void Results::evaluate() {
  values_.clear();
  replicates_.clear();
  comparisons_.clear();
  errors_.clear();
  for (std::size_t q = 0; q < experiment_.quantities.size(); ++q) {
    values_.push_back(values_of(q));
    replicates_.emplace_back();
    for (std::size_t c = 0; c < experiment_.cases.size(); ++c)
      replicates_.back().push_back(values_of_replicates(experiment_.quantities[q], c));
  }
  for (std::size_t i = 0; i < experiment_.targets.size(); ++i) comparisons_.push_back(comparison(i));
}

std::vector<double> Results::values_of(std::size_t quantity) {
  std::vector<double> values;
  std::string error;
  std::size_t failed = 0;
  for (std::size_t c = 0; c < experiment_.cases.size(); ++c) try {
      values.push_back(experiment_.quantities[quantity].value.evaluate(
          [&](const std::string& key, const std::string& method) { return value_of(key, c, method); }));
    } catch (const ArithmeticError& what) {
      values.push_back(std::nan(""));
      if (failed++ == 0) error = fmt::format("{} in case {}", what.what(), experiment_.cases[c].name);
    }
  if (failed > 1) error += fmt::format(" and {} more", failed - 1);
  if (failed != 0)
    errors_.push_back(fmt::format("{}: /quantities/{}/value: {}", experiment_.file.string(), quantity, error));
  return values;
}

double Results::value_of_replicate(const std::string& key, std::size_t case_index, const std::string& method,
                                   std::size_t replicate) const {
  const PlannedRow& planned = row_of(case_index, method);
  if (!is_time(key) || !has_reports(planned)) return value_of(key, case_index, method);
  const auto of = [&](std::size_t run) { return report_of_replicate(reports_.at(run), replicate); };
  return figure(planned.is_whole()
                    ? figures_of(of(planned.gemm))
                    : combined_figures(of(planned.gemm), of(planned.reduce_scatter), of(planned.all_gather)),
                key);
}

std::vector<double> Results::values_of_replicates(const Quantity& quantity, std::size_t case_index) const {
  const std::vector<Expression::Reference>& references = quantity.value.references();
  std::vector<double> values;
  if (experiment_.replicates <= 1 ||
      std::none_of(references.begin(), references.end(), [](const auto& reference) { return is_time(reference.key); }))
    return values;
  for (std::size_t i = 0; i < experiment_.replicates; ++i) try {
      values.push_back(quantity.value.evaluate([&](const std::string& key, const std::string& method) {
        return value_of_replicate(key, case_index, method, i);
      }));
    } catch (const ArithmeticError&) {
      values.push_back(std::nan(""));  // values_of() reports it
    }
  return values;
}

std::optional<ValueRange> Results::range_of(std::size_t quantity, std::size_t case_index) const {
  return t3vp::range_of(replicates_[quantity][case_index]);
}

std::optional<ValueRange> Results::range_of(const std::string& key, std::size_t case_index,
                                            const std::string& method) const {
  if (experiment_.replicates <= 1 || !is_time(key)) return {};
  std::vector<double> values;
  for (std::size_t i = 0; i < experiment_.replicates; ++i)
    values.push_back(value_of_replicate(key, case_index, method, i));
  return t3vp::range_of(values);
}

std::optional<ValueRange> Results::range_of_geomean(std::size_t quantity) const {
  const std::vector<std::vector<double>>& by_case = replicates_[quantity];
  std::vector<double> geomeans;
  for (std::size_t i = 0; i < by_case.front().size(); ++i) {
    std::vector<double> values;
    for (const std::vector<double>& of_case : by_case) values.push_back(of_case[i]);
    if (std::any_of(values.begin(), values.end(), [](double value) { return value <= 0; })) return {};
    geomeans.push_back(aggregate(Aggregate::geomean, values));
  }
  return t3vp::range_of(geomeans);
}

std::string Results::results_csv() const {
  std::vector<std::pair<const PlannedRow*, Figures>> rows;
  std::set<std::string> keys;
  for (const PlannedRow& planned : plan_.rows)
    if (std::optional<Figures> figures = row(planned)) {
      for (const auto& figure : *figures) keys.insert(figure.first);
      rows.emplace_back(&planned, std::move(*figures));
    }
  std::vector<std::string> header{"case", "method"};
  header.insert(header.end(), keys.begin(), keys.end());
  std::string text = csv_line(header);
  for (const auto& [planned, figures] : rows) {
    std::vector<std::string> line{experiment_.cases[planned->case_index].name,
                                  experiment_.methods[planned->method_index].name};
    for (const std::string& key : keys) line.push_back(figures.count(key) != 0 ? text_of(figures.at(key)) : "");
    text += csv_line(line);
  }
  return text;
}

Comparison Results::comparison(std::size_t index) {
  const Target& target = experiment_.targets[index];
  std::vector<double> values;
  for (std::size_t c = 0; c < experiment_.cases.size(); ++c)
    if (chosen(experiment_.cases[c], target.cases)) values.push_back(value_of(target.quantity, c));
  Comparison result{target.id, target.text, reference_of(target), tolerance_of(target), std::nan(""), {}, "error"};
  try {
    result.ours = aggregate(target.aggregate, values);
    result.verdict = verdict_of(target, result.ours);
  } catch (const ArithmeticError& error) {
    errors_.push_back(fmt::format("{}: /targets/{}/aggregate: {}", experiment_.file.string(), index, error.what()));
  }
  if (target.reference && !std::isnan(result.ours)) result.difference = result.ours - *target.reference;
  return result;
}

std::string comparison_csv(const std::vector<Comparison>& comparisons) {
  std::string text = csv_line({"id", "target", "paper", "ours", "difference", "tolerance", "verdict"});
  for (const Comparison& c : comparisons)
    text += csv_line({c.id, c.text, c.reference, std::isnan(c.ours) ? "" : fmt::format("{:.6g}", c.ours),
                      c.difference ? fmt::format("{:+.6g}", *c.difference) : "", c.tolerance, c.verdict});
  return text;
}

double aggregate(Aggregate how, const std::vector<double>& values) {
  if (values.empty()) throw ArithmeticError(fmt::format("a {} over nothing", name_of(how)));
  if (std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); })) return std::nan("");
  if (std::any_of(values.begin(), values.end(), [](double v) { return std::isinf(v); }))
    throw ArithmeticError(fmt::format("a {} over an infinity", name_of(how)));
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (how == Aggregate::max) return *most;
  if (how == Aggregate::min) return *least;
  if (how == Aggregate::geomean && *least <= 0) throw ArithmeticError(fmt::format("a geomean over {}", *least));
  double sum = 0;
  for (const double value : values) sum += how == Aggregate::geomean ? std::log(value) : value;
  const double mean = sum / static_cast<double>(values.size());
  const double result = how == Aggregate::geomean ? std::exp(mean) : mean;
  if (!std::isfinite(result)) throw ArithmeticError("a result that is no finite number");
  return result;
}

}  // namespace t3vp
