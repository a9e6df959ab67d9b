#include "workloads/shared/models_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/embedded_texts.h"
#include "io/schema_check.h"

namespace t3vp {

using nlohmann::json;

Document models_of(const Document& run) {
  Document models{"models.json", "", {}, {}};
  if (run.content.contains("models")) {
    models = read_document(run, "/models", "models file");
  } else {
    models.content = parse_json(embedded_text("models.json"), models.file);
  }
  check_schema(models, "models");
  return models;
}

const json& chosen(const Document& run, const std::string& key, const json& choices) {
  const std::string name = run.content.at("workload").at(key).get<std::string>();
  if (choices.contains(name)) return choices.at(name);
  std::vector<std::string> names;
  for (const auto& choice : choices.items()) names.push_back(choice.key());
  run.reject("/workload/" + key, fmt::format("one of {}", fmt::join(names, ", ")));
}

}  // namespace t3vp
