#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "config/configuration.h"
#include "experiment/case_choice.h"
#include "experiment/case_loader.h"
#include "experiment/csv.h"
#include "experiment/experiment.h"
#include "experiment/experiment_parts.h"
#include "experiment/plot_loader.h"
#include "io/overrides.h"
#include "io/schema_check.h"
#include "report/report_figures.h"
#include "workloads/registry.h"

namespace t3vp {
namespace {

using nlohmann::json;

void require_method(const Document& document, const std::string& pointer) {
  const std::vector<std::string> names = workload_methods();
  const std::string name = document.content.at(json::json_pointer(pointer)).get<std::string>();
  if (std::find(names.begin(), names.end(), name) == names.end())
    document.reject(pointer, in_short(name), fmt::format("one of {}", fmt::join(names, ", ")));
}

std::vector<ExperimentMethod> methods_of(const Document& document) {
  std::vector<ExperimentMethod> methods;
  for (const json& entry : document.content.at("methods")) {
    const std::string pointer = pointer_to("methods", methods.size());
    require_method(document, entry.is_string() ? pointer : pointer + "/method");
    if (entry.is_string()) {
      methods.push_back({entry.get<std::string>(), {"method=" + entry.dump()}, pointer});
      continue;
    }
    ExperimentMethod method{
        entry.at("name").get<std::string>(),
        entry.contains("set") ? settings_of(document, pointer + "/set") : std::vector<std::string>(), pointer};
    method.settings.push_back("method=" + entry.at("method").dump());
    methods.push_back(method);
  }
  return methods;
}

/// One of both keys is the other or contains it.
bool overlap(const std::string& key, const std::string& other) {
  const std::size_t length = std::min(key.size(), other.size());
  return (key + ".").compare(0, length + 1, other + ".", 0, length + 1) == 0;
}

/// The axis whose values the setting would replace, so that the table's names would be false; null: none.
const ExperimentAxis* replaced_axis(const Experiment& experiment, const std::string& setting) {
  const std::string key = fmt::format("{}", fmt::join(parse_override(setting).path, "."));
  const auto is_replaced = [&](const ExperimentAxis& axis) { return !axis.key.empty() && overlap(key, axis.key); };
  const auto found = std::find_if(experiment.axes.begin(), experiment.axes.end(), is_replaced);
  return found == experiment.axes.end() ? nullptr : &*found;
}

/// Lists of cases may change what earlier ones say. An axis of one key may not: its values would be false.
void require_one_value(const Document& document, const Experiment& experiment, const ExperimentCase& one) {
  for (const ExperimentAxis& axis : experiment.axes) {
    const auto is_of_axis = [&](const std::string& setting) { return setting.rfind(axis.key + "=", 0) == 0; };
    if (!axis.key.empty() && std::count_if(one.settings.begin(), one.settings.end(), is_of_axis) > 1)
      document.reject(one.pointer, in_short(axis.key) + " twice in case " + in_short(one.name), "one value of it");
  }
}

void keep_axes(const Document& document, const Experiment& experiment) {
  for (const ExperimentCase& one : experiment.cases) require_one_value(document, experiment, one);
  for (const std::string& setting : experiment.settings)
    if (const ExperimentAxis* const axis = replaced_axis(experiment, setting))
      throw InputError("--set", in_short(setting),
                       fmt::format("another key than {}, of which cross has values", axis->key));
  for (const ExperimentMethod& method : experiment.methods)
    for (const std::string& setting : method.settings)
      if (const ExperimentAxis* const axis = replaced_axis(experiment, setting))
        document.reject(method.pointer, in_short(setting),
                        fmt::format("other settings than {}, of which cross has values", axis->key));
}

/// Programs that are not the platform's have phases of any name, which the reports then contain.
bool names_programs(const Experiment& experiment) {
  const auto name_one = [](const std::vector<std::string>& settings) {
    return std::any_of(settings.begin(), settings.end(),
                       [](const std::string& setting) { return setting.rfind("program=", 0) == 0; });
  };
  const auto named = [&](const auto& list) {
    return std::any_of(list.begin(), list.end(), [&](const auto& one) { return name_one(one.settings); });
  };
  return experiment.base.content.contains("program") || name_one(experiment.settings) || named(experiment.cases) ||
         named(experiment.methods);
}

Expression expression_of(const Document& document, const std::string& pointer, const Experiment& experiment) {
  const json& text = document.content.at(json::json_pointer(pointer));
  try {
    Expression expression(text.get<std::string>());
    for (const Expression::Reference& reference : expression.references()) {
      require_key(document, experiment, pointer, reference.key);
      index_of(document, pointer, experiment.methods, reference.method);
    }
    return expression;
  } catch (const ExpressionError& error) {
    document.reject(pointer, error.what());
  }
}

void read_quantities(const Document& document, Experiment& experiment) {
  const json list = document.content.value("quantities", json::array());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string name = list[i].at("name").get<std::string>();
    if (is_numeric_key(name) || name.rfind("time_ns.", 0) == 0)
      document.reject(pointer_to("quantities", i, "name"), "a name that no figure of the report has");
    experiment.quantities.push_back({name, expression_of(document, pointer_to("quantities", i, "value"), experiment)});
  }
}

/// Labels name something that pictures show.
void read_labels(const Document& document, Experiment& experiment) {
  const auto is_key_of_axis = [&](const std::string& name) {
    return std::any_of(experiment.axes.begin(), experiment.axes.end(),
                       [&](const ExperimentAxis& axis) { return axis.key == name; });
  };
  const auto is_in = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const json labels = document.content.value("labels", json::object());
  for (const auto& [name, text] : labels.items()) {
    if (!is_in(names_in(experiment.quantities), name) && !is_in(names_in(experiment.methods), name) &&
        !is_key_of_axis(name) && !is_report_figure(experiment, name))
      document.reject("/labels", in_short(name),
                      "labels of quantities, methods, keys of axes and numbers of the report");
    experiment.labels[name] = text.get<std::string>();
  }
}

CaseFilter filter_of(const Document& document, const std::string& pointer, const Experiment& experiment) {
  CaseFilter filter;
  const json::json_pointer place(pointer);
  if (!document.content.contains(place)) return filter;
  for (const json& entry : document.content.at(place)) {
    filter.push_back(entry.is_string() ? std::vector<std::string>{entry.get<std::string>()}
                                       : entry.get<std::vector<std::string>>());
    for (const std::string& name : filter.back())
      if (std::none_of(experiment.cases.begin(), experiment.cases.end(),
                       [&](const ExperimentCase& one) { return chosen(one, {{name}}); }))
        document.reject(pointer, in_short(name), "names that cases are made of");
  }
  return filter;
}

std::optional<double> optional_number(const json& object, const char* key) {
  if (!object.contains(key)) return {};
  return object.at(key).get<double>();
}

Aggregate aggregate_named(const std::string& name) {
  for (const Aggregate aggregate : {Aggregate::geomean, Aggregate::mean, Aggregate::max})
    if (name == name_of(aggregate)) return aggregate;
  return Aggregate::min;
}

CsvTable reference_of(const Document& document) {
  if (!document.content.contains("reference")) return {};
  return read_csv(document.file_at("/reference", "CSV file"), {"id", "value"});
}

Target target_of(const Document& document, const Experiment& experiment, const CsvTable& reference, std::size_t index) {
  const json& entry = document.content.at("targets").at(index);
  Target target;
  target.id = entry.at("id").get<std::string>();
  target.quantity = index_of(document, pointer_to("targets", index, "quantity"), experiment.quantities,
                             entry.at("quantity").get<std::string>());
  target.text = entry.value("text", reference.text("id", target.id, "name"));
  if (target.text.empty()) target.text = experiment.quantities[target.quantity].name;
  target.aggregate = aggregate_named(entry.at("aggregate").get<std::string>());
  target.cases = filter_of(document, pointer_to("targets", index, "cases"), experiment);
  target.within = optional_number(entry, "within");
  target.within_relative = optional_number(entry, "within_relative");
  target.at_least = optional_number(entry, "at_least");
  target.at_most = optional_number(entry, "at_most");
  target.reference = reference.number("id", target.id, "value");
  if (target.at_least && target.at_most && *target.at_least > *target.at_most)
    document.reject(pointer_to("targets", index, "at_most"), fmt::format("at_least's {} or more", *target.at_least));
  if (!target.reference && !target.at_least && !target.at_most)
    document.reject(pointer_to("targets", index, "id"),
                    "an id of the reference file, or at_least or at_most beside it");
  for (const char* gap : {"within", "within_relative"})
    if (!target.reference && entry.contains(gap))
      document.reject(pointer_to("targets", index, gap), "an id of the reference file to be within");
  if (std::none_of(experiment.cases.begin(), experiment.cases.end(),
                   [&](const ExperimentCase& one) { return chosen(one, target.cases); }))
    document.reject(pointer_to("targets", index, "cases"), "names of cases that at least one case has");
  return target;
}

void read_targets(const Document& document, Experiment& experiment) {
  const CsvTable reference = reference_of(document);
  for (std::size_t i = 0; i < document.content.value("targets", json::array()).size(); ++i)
    experiment.targets.push_back(target_of(document, experiment, reference, i));
  std::set<std::pair<std::string, std::string>> names;  // of one id there may be several, with texts of their own
  for (std::size_t i = 0; i < experiment.targets.size(); ++i)
    if (!names.insert({experiment.targets[i].id, experiment.targets[i].text}).second)
      document.reject(pointer_to("targets", i, "id"), in_short(experiment.targets[i].id) + " twice with one text",
                      "another id or text");
  if (document.content.contains("reference") &&
      std::none_of(experiment.targets.begin(), experiment.targets.end(), [](const Target& t) { return t.reference; }))
    document.reject("/reference", "no file without a target that has an id of it");
}

}  // namespace

bool is_report_figure(const Experiment& experiment, const std::string& key) {
  return is_numeric_key(key) || (key.rfind("time_ns.", 0) == 0 && experiment.names_programs);
}

void require_key(const Document& document, const Experiment& experiment, const std::string& pointer,
                 const std::string& key) {
  if (!is_report_figure(experiment, key))
    document.reject(pointer, in_short(key), "a number of the report, such as time_ns.total");
}

Experiment load_experiment(const std::filesystem::path& file, const ExperimentOptions& options) {
  const Document document = read_document(file, "experiment file");
  check_schema(document, "experiment");
  const json& content = document.content;
  Experiment experiment;
  experiment.file = file;
  experiment.name = content.at("name").get<std::string>();
  experiment.description = content.value("description", "");
  experiment.base = read_document(document, "/base", "run file");
  experiment.shared_phases = content.value("shared_phases", false);
  experiment.replicates = options.replicates.value_or(content.value("replicates", 1U));
  experiment.trace = content.value("trace", false);
  read_cases(document, experiment);
  experiment.methods = methods_of(document);
  require_distinct(document, experiment.methods, "methods");
  for (const std::string& setting : options.settings)
    if (parse_override(setting).path.front() == "method")
      throw InputError("--set", in_short(setting), "a key that is not the method, which the experiment's methods say");
  experiment.settings = options.settings;
  keep_axes(document, experiment);
  experiment.names_programs = names_programs(experiment);
  read_quantities(document, experiment);
  require_distinct(document, experiment.quantities, "quantities");
  read_labels(document, experiment);
  read_targets(document, experiment);
  read_plots(document, experiment);
  choose_cases(experiment, options.cases);
  return experiment;
}

bool chosen(const ExperimentCase& one, const CaseFilter& filter) {
  const auto has = [&](const std::string& tag) {
    return std::find(one.tags.begin(), one.tags.end(), tag) != one.tags.end();
  };
  return std::all_of(filter.begin(), filter.end(), [&](const std::vector<std::string>& alternatives) {
    return std::any_of(alternatives.begin(), alternatives.end(), has);
  });
}

const char* name_of(Aggregate aggregate) {
  constexpr const char* names[] = {"geomean", "mean", "max", "min"};
  return names[static_cast<std::size_t>(aggregate)];
}

}  // namespace t3vp
