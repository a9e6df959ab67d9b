// Axes of cross that are one key with values or a range of them.
#include <catch2/catch.hpp>

#include "command_line/refusals.h"
#include "experiments/small_experiment.h"

namespace t3vp::test::axes_test {

using nlohmann::json;

namespace {

/// An experiment of one method and these axes.
void cross(const SmallExperiment& files, const json& axes) {
  json content = json_of(files.file());
  for (const char* key : {"cases", "quantities", "reference", "targets", "plot"}) content.erase(key);
  content["methods"] = {"t3"};
  content["cross"] = axes;
  files.write("experiment.json", content);
}

/// The names of the cases in the order of the rows, each followed by its value of the key.
std::vector<std::string> names_and_values(const SmallExperiment& files, const json& axis, const std::string& key) {
  cross(files, json::array({axis}));
  const Outcome outcome = files.run();
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  std::vector<std::string> list;
  for (const auto& row : rows_of(files.out() / "results.csv")) {
    list.push_back(row.at("case"));
    if (!key.empty()) list.push_back(row.at(key));
  }
  return list;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a range has both ends, equal differences or ratios, and whole numbers where the key takes no others") {
  const SmallExperiment files;
  const auto range = [](const char* key, double from, double to, int steps, const char* scale) {
    return json{{"key", key}, {"from", from}, {"to", to}, {"steps", steps}, {"scale", scale}};
  };
  CHECK(names_and_values(files, range("system.links.bandwidth_GBps", 1, 2, 3, "linear"), "") == Names{"1", "1.5", "2"});
  CHECK(names_and_values(files, range("system.links.bandwidth_GBps", 8, 0.5, 3, "logarithmic"), "") ==
        Names{"8", "2", "0.5"});
  CHECK(names_and_values(files, range("system.links.link_latency_ns", 0, 1, 4, "linear"), "") ==
        Names{"0", "0.333333", "0.666667", "1"});
  CHECK(names_and_values(files, range("workload.gemm.m", 100, 501, 3, "linear"), "workload.gemm.m") ==
        Names{"100", "100", "301", "301", "501", "501"});
  CHECK(names_and_values(files, range("workload.gemm.m", 64, 300, 3, "logarithmic"), "workload.gemm.m") ==
        Names{"64", "64", "139", "139", "300", "300"});
}

TEST_CASE("a range is the same work as cases with its values") {
  const SmallExperiment files;
  cross(files, {{{"key", "system.links.bandwidth_GBps"}, {"from", 2}, {"to", 4}, {"steps", 2}},
                {{"key", "memory.timing.CCDWL"}, {"values", {4, 8}}}});
  REQUIRE(files.run().exit_code == 0);
  CHECK(files.runs().size() == 4);
  const auto settings = [](int bandwidth, int ccdwl) {
    return json{{"system.links.bandwidth_GBps", bandwidth}, {"memory.timing.CCDWL", ccdwl}};
  };
  const json cases = {{{"name", "2 4"}, {"set", settings(2, 4)}},
                      {{"name", "2 8"}, {"set", settings(2, 8)}},
                      {{"name", "4 4"}, {"set", settings(4, 4)}},
                      {{"name", "4 8"}, {"set", settings(4, 8)}}};
  const std::string crossed = text_of(files.out() / "results.csv");
  cross(files, nullptr);
  files.change("experiment.json", "/cross", nullptr);
  files.change("experiment.json", "/cases", cases);
  REQUIRE(files.run().exit_code == 0);
  CHECK(text_of(files.out() / "results.csv") == crossed);
  CHECK(files.runs().size() == 4);
}

TEST_CASE("values are numbers, words and files beside the experiment") {
  const SmallExperiment files;
  json system = json_of(files / "system.json");
  system["name"] = "other";
  files.write("other.json", system);
  CHECK(names_and_values(files, {{"key", "system"}, {"values", {"system.json", "other.json"}}}, "system") ==
        Names{"system.json", "small-4", "other.json", "other"});
  CHECK(names_and_values(files, {{"key", "system.links.topology"}, {"values", {"ring", "switch"}}}, "") ==
        Names{"ring", "switch"});
  CHECK(names_and_values(files, {{"key", "system.memory.channel_hash"}, {"values", {true, false}}}, "") ==
        Names{"true", "false"});
  CHECK(names_and_values(files, {{"key", "gpus"}, {"values", {2, 4}}}, "gpus") == Names{"2", "2", "4", "4"});
}

TEST_CASE("what no axis can be is refused at its place") {
  const SmallExperiment files;
  const json good = {{"key", "workload.gemm.m"}, {"from", 64}, {"to", 128}, {"steps", 2}};
  const auto refused = [&](const char* change, const std::string& place = "") {
    json axis = good;
    axis.merge_patch(json::parse(change));
    cross(files, {good, axis});
    INFO(change);
    require_refusal(files.run(), (files / "experiment.json: /cross/1").string() + place);
    CHECK_FALSE(std::filesystem::exists(files.out()));
  };
  refused(R"({"key": null})", "/key");
  refused(R"({"key": ""})", "/key");
  refused(R"({"key": "method"})", "/key");
  for (const char* key : {"workload.gemm.mm", "system.links.bandwidth", "memory.timing.CCDX", "memory.x.y", "x", "a..b",
                          "system.memory.dram.timing.CCDX", "system.linkz.bandwidth_GBps"})
    refused(json{{"key", key}}.dump().c_str(), "/key");
  refused(R"({"steps": 1})", "/steps");
  refused(R"({"steps": 2.5})", "/steps");
  for (const char* missing : {"from", "to", "steps"})
    refused(json{{missing, nullptr}}.dump().c_str(), std::string("/") + missing);
  refused(R"({"scale": "log"})", "/scale");
  refused(R"({"scale": "logarithmic", "from": 0})", "/from");
  refused(R"({"from": 64.5})", "/from");
  refused(R"({"to": 127.5})", "/to");
  refused(R"({"scale": "logarithmic", "to": -3})", "/to");
  refused(R"({"to": 66, "steps": 4})", "/steps");
  refused(R"({"key": "system.links.bandwidth_GBps", "to": 64})", "/steps");
  refused(R"({"from": 1e16})", "/from");
  refused(R"({"step": 3})", "/step");
  refused(R"({"values": [64]})", "/from");
  const auto values = [](const char* list) {
    return R"({"from": null, "to": null, "steps": null, "values": )" + std::string(list) + "}";
  };
  refused(values("[]").c_str(), "/values");
  refused(values("[64, 128, 64]").c_str(), "/values");
  refused(values("[64, 64.0]").c_str(), "/values");
  refused(values("[[64]]").c_str(), "/values/0");
  refused(R"({"key": "system", "from": null, "to": null, "steps": null, "values": ["none.json"]})", "/values/0");
  refused(values("[64.5]").c_str());    // by the run
  refused(R"({"from": 0, "to": 64})");  // by the run
}

}  // namespace t3vp::test::axes_test
