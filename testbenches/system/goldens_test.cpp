// Exact times, traffic, links and statistics of six short runs. What changes them on purpose renews goldens.json with
// tools/update-goldens, which shows each value that differs.
#include <catch2/catch.hpp>
#include <map>

#include "system/platform_run.h"

namespace t3vp::test::goldens_test {

namespace {

using nlohmann::json;

const json& goldens() {
  static const json content =
      json::parse(text_of(std::filesystem::path(T3VP_SOURCE_DIR) / "testbenches/system/goldens.json"));
  return content;
}

/// "TREE/" begins a path within the checkout.
std::string text_of_value(const json& value) {
  if (!value.is_string()) return value.dump();
  const auto text = value.get<std::string>();
  return text.rfind("TREE/", 0) == 0 ? T3VP_SOURCE_DIR + text.substr(4) : text;
}

Settings settings_of(const json& golden) {
  Settings settings;
  // The system is the first: other settings are keys of it.
  settings.push_back("system=" + text_of_value(golden["set"]["system"]));
  for (const auto& [path, value] : golden["set"].items())
    if (path != "system") settings.push_back(path + "=" + text_of_value(value));
  return settings;
}

/// Values of all GPUs, in their order, by the name behind "gpu0.".
std::map<std::string, json> statistics_of(const Run& run) {
  std::map<std::string, json> statistics;
  for (const auto& statistic : run.report()["statistics"]) {
    const auto name = statistic["name"].get<std::string>();
    const std::string own = name.substr(name.find('.') + 1);
    if (own != "dram.resident") statistics[own].push_back(json(statistic["value"]));
  }
  return statistics;
}

void check_value(const std::string& name, const json& found, const json& expected) {
  INFO(name << ": found " << found << ", expected " << expected
            << ". If the change is intended, tools/update-goldens shows all such values and, with --write, renews "
               "testbenches/system/goldens.json");
  CHECK(found == expected);
}

void check_report(const Run& run, const json& expected) {
  for (const char* key : {"time_ns", "dram_bytes", "bounds", "tracker"}) {
    const json found = run.report()[key];
    for (const auto& [name, value] : expected[key].items()) check_value(name, found.value(name, json("none")), value);
    CHECK(found.size() == expected[key].size());
  }
  const json links = run.report()["links"];
  REQUIRE(links.size() == expected["links"].size());
  for (std::size_t i = 0; i < links.size(); ++i)
    check_value("link " + std::to_string(i), links[i], expected["links"][i]);
  const auto statistics = statistics_of(run);
  for (const auto& [name, values] : statistics)
    check_value(name, values, expected["statistics"].value(name, json("none")));
  CHECK(statistics.size() == expected["statistics"].size());
}

void check_run(const char* name) {
  CAPTURE(name);
  const json& golden = goldens().at(name);
  const Run run = Run::of_platform(settings_of(golden));
  REQUIRE(run.exit_code() == 0);
  check_report(run, golden["expected"]);
}

}  // namespace

TEST_CASE("golden: a fused GEMM on a ring whose stores are several packets") { check_run("ring"); }

TEST_CASE("golden: an all-to-all on a torus with tiny receive buffers") {
  check_run("torus with tiny buffers");
  // The run is about stalls: a golden of a run without any would show nothing.
  for (const json& link : goldens()["torus with tiny buffers"]["expected"]["links"])
    CHECK(link["credit_stall_ns"].get<double>() > 1000);
}

TEST_CASE("golden: an all-reduce that the switch adds") { check_run("in-network reduction"); }

TEST_CASE("golden: a GEMM and its collectives on memory of pseudo-channels") { check_run("pseudo-channels"); }

TEST_CASE("golden: a fused reduce-scatter of two nodes with NICs") { check_run("two nodes with NICs"); }

TEST_CASE("golden: parts of a layer under arbitration select") { check_run("layer with select"); }

TEST_CASE("golden: every run of the file is a test") { CHECK(goldens().size() == 6); }

}  // namespace t3vp::test::goldens_test
