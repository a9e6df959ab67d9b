// What the generated readers of workloads make of sections of run files, beside what the loader makes of them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "config/configuration.h"
#include "io/embedded_texts.h"
#include "t3/programs.h"
#include "workloads/collective_arguments.h"
#include "workloads/descriptions.h"
#include "workloads/embedding_arguments.h"
#include "workloads/experts_arguments.h"
#include "workloads/gemm_arguments.h"
#include "workloads/gemv_arguments.h"
#include "workloads/layer_arguments.h"

namespace t3vp::test::described_arguments_test {

namespace {

using nlohmann::json;

/// Returns the workload as the loader resolves it.
json resolved(const json& workload) {
  const json run = {{"system", T3VP_SOURCE_DIR "/configs/systems/small-4.json"}, {"gpus", 4}, {"workload", workload}};
  return load_run({"run.json", "", run, {}}, {}).resolved.at("workload");
}

json schema() { return parse_json(embedded_text("run.schema.json"), "run.schema.json"); }

/// The section that a reader makes of a section.
template <typename Value, typename Settings>
json reread(const json& section, void (*read)(const json&, Value&, Settings&)) {
  Value value{};
  Settings settings{};
  read(section, value, settings);
  return json_of(value, settings);
}

template <typename Value>
json reread(const json& section, void (*read)(const json&, Value&)) {
  Value value{};
  read(section, value);
  return json_of(value);
}

/// The reader keeps what the loader has resolved, and gives the same defaults unless the platform computes them.
template <typename Read>
void require_same(const json& workload, const std::string& key, const std::set<std::string>& by_hand,
                  const std::set<std::string>& computed, Read read) {
  json expected = resolved(workload).at(key);
  const json found = reread(expected, read), of_given = reread(workload.at(key), read);
  for (const std::string& each : by_hand) expected.erase(each);
  CHECK(found == expected);
  for (const auto& [name, value] : expected.items()) {
    CAPTURE(name);
    if (computed.count(name) == 0) CHECK(of_given.at(name) == value);
  }
}

}  // namespace

TEST_CASE("a GEMM's arguments") {
  require_same({{"gemm", {{"m", 512}, {"n", 256}, {"k", 64}}}}, "gemm", {}, {"tile"}, read_gemm_workload);
  require_same(
      {{"gemm", {{"m", 512}, {"n", 256}, {"k", 64}, {"element", "bf16"}, {"transpose_b", true}, {"tile", "32x32"}}}},
      "gemm", {}, {}, read_gemm_workload);
}

TEST_CASE("a collective's arguments") {
  require_same({{"collective", {{"op", "all-reduce"}, {"algorithm", "ring"}, {"bytes", 4096}}}}, "collective",
               {"algorithm"}, {}, read_collective_workload);
  require_same({{"collective", {{"op", "all-to-all"}, {"algorithm", "direct"}, {"bytes", 4096}, {"element", "fp32"}}}},
               "collective", {"algorithm"}, {}, read_collective_workload);
}

TEST_CASE("embedding tables' arguments, and perceptrons beside them") {
  json tables = {{"global_batch", 64}, {"tables_per_gpu", 2}, {"dimension", 32}, {"pooling", 4}, {"rows", 100}};
  require_same({{"embedding", tables}}, "embedding", {"pooling"}, {"slice"}, read_embedding);
  const json perceptrons = {{"bottom_layers", 2}, {"top_layers", 3}, {"width", 64}};
  require_same({{"embedding", tables}, {"mlp", perceptrons}}, "mlp", {}, {}, read_dlrm);
  tables.update({{"result", "mean"},
                 {"element", "fp16"},
                 {"slice", 1},
                 {"order", "oblivious"},
                 {"contexts", 1},
                 {"pooling", {{"drawn", 4}}}});
  require_same({{"embedding", tables}}, "embedding", {"pooling"}, {}, read_embedding);
}

TEST_CASE("a matrix's and an expert's arguments") {
  require_same({{"gemv", {{"rows", 256}, {"columns", 128}}}}, "gemv", {}, {"slice"}, read_gemv);
  require_same({{"gemv", {{"rows", 256}, {"columns", 128}, {"slice", 8}, {"element", "fp32"}}}}, "gemv", {}, {},
               read_gemv);
  require_same({{"experts", {{"tokens", 256}, {"hidden", 128}, {"inner", 64}}}}, "experts", {}, {"tile"}, read_experts);
  require_same({{"experts", {{"tokens", 256}, {"hidden", 128}, {"inner", 64}, {"element", "bf16"}, {"tile", "32x32"}}}},
               "experts", {}, {}, read_experts);
}

TEST_CASE("a Transformer's shape") {
  const json shape = {{"hidden", 64}, {"heads", 4}, {"sequence", 32}, {"batch", 1}};
  const json run = {{"system", T3VP_SOURCE_DIR "/configs/systems/small-4.json"},
                    {"workload", {{"layer", "prompt"}, {"tp", 2}, {"transformer", shape}}}};
  const json expected = load_run({"run.json", "", run, {}}, {}).resolved.at("workload").at("transformer");
  TransformerSettings settings;
  read_transformer(shape, settings);
  CHECK(json_of(settings) == expected);
}

TEST_CASE("the bytes of a workload are read by its own structures alone") {
  t3_embedding tables{};
  tables.rows = 7;
  tables.seed = 0x1122334455667788;
  tables.method = T3_ZERO_COPY;
  t3_dlrm perceptrons{};
  perceptrons.width = 9;
  perceptrons.dimensions[2] = 5;
  const PackedWorkload given = packed(tables, perceptrons);
  t3_run run{};
  run.workload = given.name.c_str();
  run.arguments = given.bytes.data();
  run.argument_bytes = static_cast<std::uint32_t>(given.bytes.size());
  t3_embedding found{};
  t3_dlrm beside{};
  t3_gemv other{};
  REQUIRE(t3_embedding_of(&run, &found) == T3_OK);
  REQUIRE(t3_dlrm_of(&run, &beside) == T3_OK);
  CHECK((found.rows == 7 && found.seed == tables.seed && found.method == T3_ZERO_COPY));
  CHECK((beside.width == 9 && beside.dimensions[0] == 0 && beside.dimensions[2] == 5));
  CHECK(t3_gemv_of(&run, &other) == T3_INVALID_ARGUMENT);
  --run.argument_bytes;
  CHECK(t3_embedding_of(&run, &found) == T3_INVALID_ARGUMENT);
  run.argument_bytes += 2;
  CHECK(t3_embedding_of(&run, &found) == T3_INVALID_ARGUMENT);
  run.workload = nullptr;
  CHECK(t3_embedding_of(&run, &found) == T3_INVALID_ARGUMENT);
}

TEST_CASE("methods and keys of the descriptions are those of the schema") {
  const json properties = schema().at("properties");
  std::set<std::string> methods, keys;
  for (const WorkloadDescription& workload : workload_descriptions) {
    for (const MethodDescription& method : workload.methods) methods.insert(std::string(method.name));
    for (const std::string_view key : workload.keys) keys.insert(std::string(key));
  }
  CHECK(methods == properties.at("method").at("enum").get<std::set<std::string>>());
  std::set<std::string> known;
  for (const auto& property : properties.at("workload").at("properties").items()) known.insert(property.key());
  CHECK(keys == known);
}

}  // namespace t3vp::test::described_arguments_test
