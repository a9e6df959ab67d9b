// What an experiment makes of its runs.
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "experiments/small_experiment.h"

namespace t3vp::test::results_test {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::map<std::string, std::string> comparison(const fs::path& folder, const std::string& id) {
  for (const auto& row : rows_of(folder / "compare.csv"))
    if (row.at("id") == id) return row;
  throw std::runtime_error("no target " + id);
}

double speedup(const fs::path& csv, const std::string& one) {
  return value(csv, one, "sequential", "time_ns.total") / value(csv, one, "t3", "time_ns.total");
}

}  // namespace

TEST_CASE("results.csv has every case and method in the table's order, and what its report says") {
  const SmallExperiment files;
  REQUIRE(files.run().exit_code == 0);
  const auto rows = rows_of(files.out() / "results.csv");
  REQUIRE(rows.size() == 6);
  const char* const methods[] = {"sequential", "t3", "t3-mca"};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(rows[i].at("case") == (i < 3 ? "square" : "tall"));
    CHECK(rows[i].at("method") == methods[i % 3]);
  }
  REQUIRE(run_program({"run", files.ValidFiles::run(), "--set", "workload.gemm.m=512", "--out", files / "direct"})
              .exit_code == 0);
  const json report = json_of(files / "direct/report.json");
  const fs::path csv = files.out() / "results.csv";
  for (const char* phase : {"total", "gemm", "fused", "all_gather", "setup", "zeroing"})
    CHECK(value(csv, "tall", "t3", std::string("time_ns.") + phase) == report.at("time_ns").at(phase).get<double>());
  for (const auto& item : report.at("dram_bytes").items())
    CHECK(value(csv, "tall", "t3", "dram_bytes." + item.key()) == item.value().get<double>());
  for (const json& statistic : report.at("statistics"))
    if (statistic.at("name") == "gpu0.cache.hit_rate")
      CHECK(value(csv, "tall", "t3", "gpu0.cache.hit_rate") == statistic.at("value").get<double>());
  const json* busiest = nullptr;
  for (const json& link : report.at("links")) {
    const std::string name = "links." + link.at("from").dump() + "_to_" + link.at("to").dump();
    for (const char* key : {"payload_bytes", "wire_bytes", "packets", "utilization", "queueing_ns", "credit_stall_ns"})
      CHECK(value(csv, "tall", "t3", name + "." + key) == link.at(key).get<double>());
    if (busiest == nullptr || link.at("wire_bytes") > busiest->at("wire_bytes")) busiest = &link;
  }
  for (const char* key : {"payload_bytes", "wire_bytes", "packets", "utilization", "queueing_ns", "credit_stall_ns"})
    CHECK(value(csv, "tall", "t3", std::string("links.busiest.") + key) == busiest->at(key).get<double>());
  for (const auto& item : report.at("bounds").items())
    CHECK(value(csv, "tall", "t3", "bounds." + item.key()) == item.value().get<double>());
  CHECK(rows[1].at("time_ns.reduce_scatter").empty());
  CHECK(rows[1].count("host.wall_s") == 0);
}

TEST_CASE("the bytes of a collective are a figure to calculate with") {
  const SmallExperiment files;
  json run = json_of(files.ValidFiles::run());
  run.erase("collectives");
  run["method"] = "sequential";
  run["workload"] = {
      {"collective", {{"op", "broadcast"}, {"algorithm", "direct"}, {"bytes", 4096}, {"element", "fp16"}}}};
  files.write("run.json", run);
  json content = json_of(files.file());
  content["cases"] = {{{"name", "small"}, {"set", json::object()}},
                      {{"name", "large"}, {"set", {{"workload.collective.bytes", 8192}}}}};
  content["methods"] = {"sequential"};
  content["quantities"] = {
      {{"name", "GB/s"}, {"value", "workload.collective.bytes[sequential] / time_ns.collective[sequential]"}}};
  content["targets"] = {{{"id", "most"}, {"quantity", "GB/s"}, {"aggregate", "max"}, {"at_least", 0}},
                        {{"id", "least"}, {"quantity", "GB/s"}, {"aggregate", "min"}, {"at_least", 0}}};
  content.erase("reference");
  files.write("experiment.json", content);
  const auto outcome = files.run();
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const auto GBps = [&](const char* one, double bytes) {
    return bytes / value(files.out() / "results.csv", one, "sequential", "time_ns.collective");
  };
  CHECK(std::stod(comparison(files.out(), "least").at("ours")) == Approx(GBps("small", 4096)).epsilon(1e-5));
  CHECK(std::stod(comparison(files.out(), "most").at("ours")) == Approx(GBps("large", 8192)).epsilon(1e-5));
}

TEST_CASE("targets are aggregated and judged as by hand") {
  const SmallExperiment files;
  json content = json_of(files.file());
  content["targets"] = {
      {{"id", "speedup"}, {"quantity", "T3"}, {"aggregate", "geomean"}},
      {{"id", "mean"}, {"quantity", "T3"}, {"aggregate", "mean"}, {"at_least", 0}},
      {{"id", "max"}, {"quantity", "T3"}, {"aggregate", "max"}, {"at_most", 0.5}, {"text", "most"}},
      {{"id", "min"}, {"quantity", "T3"}, {"aggregate", "min"}, {"at_least", 0.1}, {"at_most", 0.2}},
      {{"id", "reads"}, {"quantity", "T3"}, {"aggregate", "min"}, {"cases", {"tall"}}, {"within", 2}}};
  files.write("experiment.json", content);
  REQUIRE(files.run().exit_code == 0);  // a miss is a result, no failure
  const fs::path out = files.out();
  const double a = speedup(out / "results.csv", "square"), b = speedup(out / "results.csv", "tall");
  REQUIRE(a != b);
  const auto ours = [&](const char* id) { return std::stod(comparison(out, id).at("ours")); };
  CHECK(ours("speedup") == Approx(std::sqrt(a * b)).epsilon(1e-5));
  CHECK(ours("mean") == Approx((a + b) / 2).epsilon(1e-5));
  CHECK(ours("max") == Approx(std::max(a, b)).epsilon(1e-5));
  CHECK(ours("min") == Approx(std::min(a, b)).epsilon(1e-5));
  CHECK(ours("reads") == Approx(b).epsilon(1e-5));
  CHECK(std::stod(comparison(out, "speedup").at("difference")) == Approx(std::sqrt(a * b) - 1.5).epsilon(1e-4));
  CHECK(comparison(out, "speedup").at("paper") == "1.5");
  CHECK(comparison(out, "speedup").at("target") == "T3 speedup");
  CHECK(comparison(out, "speedup").at("tolerance").empty());
  CHECK(comparison(out, "reads").at("target") == "T3");  // no name in the reference: the quantity's
  CHECK(comparison(out, "reads").at("tolerance") == "2");
  CHECK(comparison(out, "speedup").at("verdict") == "reported");
  CHECK(comparison(out, "mean").at("verdict") == "met");
  CHECK(comparison(out, "max").at("verdict") == "missed");
  CHECK(comparison(out, "min").at("verdict") == "missed");
  CHECK(comparison(out, "reads").at("verdict") == "met");
  const std::string table = text_of(out / "result.md");
  CHECK(table.find("| most") < table.find("| T3 speedup"));  // misses first
  CHECK(table.find(fmt::format("| {:#.3g} ", std::sqrt(a * b))) != std::string::npos);
}

TEST_CASE("within counts the distance, within_relative its share of the reference") {
  const SmallExperiment files;
  REQUIRE(files.run().exit_code == 0);
  const double gap = std::abs(std::stod(comparison(files.out(), "speedup").at("difference")));
  const auto verdict = [&](const char* key, double limit) {
    json content = json_of(files.file());
    content["targets"][0].erase("within");
    content["targets"][0].erase("within_relative");
    content["targets"][0][key] = limit;
    files.write("experiment.json", content);
    REQUIRE(files.run().exit_code == 0);
    return comparison(files.out(), "speedup").at("verdict");
  };
  CHECK(verdict("within", gap * 1.01) == "met");
  CHECK(verdict("within", gap * 0.99) == "missed");
  CHECK(verdict("within_relative", gap / 1.5 * 1.01) == "met");
  CHECK(verdict("within_relative", gap / 1.5 * 0.99) == "missed");
}

TEST_CASE("a row of an ideal method is the run of the same configuration") {
  const SmallExperiment files;
  files.change("experiment.json", "/methods", {"ideal-overlap", "ideal-rs-nmc", "sequential", "t3"});
  files.change("experiment.json", "/cases", {{{"name", "square"}, {"set", {{"workload.gemm.k", 1024}}}}});
  REQUIRE(files.run().exit_code == 0);
  CHECK(files.runs().size() == 4);
  for (const std::string method : {"ideal-overlap", "ideal-rs-nmc"}) {
    INFO(method);
    REQUIRE(run_program({"run", files.ValidFiles::run(), "--set", "workload.gemm.k=1024", "--set", "method=" + method,
                         "--out", files / method})
                .exit_code == 0);
    const json report = json_of(files / method / "report.json");
    for (const char* group : {"time_ns", "dram_bytes"})
      for (const auto& [key, number] : report.at(group).items())
        if (number.is_number()) {
          CAPTURE(group, key);
          CHECK(value(files.out() / "results.csv", "square", method, std::string(group) + "." + key) ==
                number.get<double>());
        }
  }
}

TEST_CASE("a failing run is listed, the others stay, and the exit code is 1") {
  const SmallExperiment files;
  files.change("experiment.json", "/methods",
               {"sequential", "t3", {{"name", "wrong"}, {"method", "t3"}, {"set", {{"inject.dma_map_updates", 3}}}}});
  files.change("experiment.json", "/targets/1",
               {{"id", "reads"}, {"quantity", "of the wrong"}, {"aggregate", "max"}, {"within", 1}});
  files.change("experiment.json", "/quantities/1", {{"name", "of the wrong"}, {"value", "time_ns.total[wrong]"}});
  for (int call = 0; call < 2; ++call) {  // the second finds the failed runs' reports and says the same
    const Outcome outcome = files.run();
    CHECK(outcome.exit_code == 1);
    CHECK_THAT(outcome.err, Catch::Contains("square, wrong: fault dma_map_updates struck") &&
                                Catch::Contains("tall, wrong: ") && Catch::Contains("log.txt"));
    CHECK(rows_of(files.out() / "results.csv").size() == 4);
    CHECK(comparison(files.out(), "reads").at("verdict") == "not available");
    CHECK(comparison(files.out(), "reads").at("ours").empty());
    CHECK(comparison(files.out(), "speedup").at("verdict") == "missed");
    CHECK_THAT(text_of(files.out() / "result.md"), Catch::Contains("## Failed runs"));
  }
}

TEST_CASE("files that a case names are beside the experiment, wherever it is run") {
  const SmallExperiment files;
  json system = json_of(files / "system.json");
  system["links"]["bandwidth_GBps"] = 0.1;
  files.write("slow.json", system);
  files.change("experiment.json", "/cases/1/set", {{"system", "slow.json"}});
  REQUIRE(files.run().exit_code == 0);
  const fs::path csv = files.out() / "results.csv";
  CHECK(value(csv, "tall", "sequential", "time_ns.total") > 2 * value(csv, "square", "sequential", "time_ns.total"));
}

TEST_CASE("arithmetic without a result is told with its place, the rest stays, and the exit code is 1") {
  const SmallExperiment files;
  json content = json_of(files.file());
  content["quantities"] = {{{"name", "T3"}, {"value", "time_ns.total[sequential] / time_ns.total[t3]"}},
                           {{"name", "none"}, {"value", "1 / (time_ns.total[t3] - time_ns.total[t3])"}},
                           {{"name", "zero"}, {"value", "time_ns.total[t3] - time_ns.total[t3]"}},
                           {{"name", "negative"}, {"value", "-time_ns.total[t3]"}}};
  content["targets"] = {{{"id", "a"}, {"quantity", "zero"}, {"aggregate", "geomean"}, {"at_least", 0}},
                        {{"id", "b"}, {"quantity", "negative"}, {"aggregate", "geomean"}, {"at_least", 0}},
                        {{"id", "c"}, {"quantity", "negative"}, {"aggregate", "mean"}, {"at_most", 0}},
                        {{"id", "d"}, {"quantity", "none"}, {"aggregate", "mean"}, {"at_most", 0}}};
  content.erase("plot");
  content.erase("reference");
  files.write("experiment.json", content);
  const Outcome outcome = files.run();
  CHECK(outcome.exit_code == 1);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 3);
  const std::string file = files.file().string();
  CHECK_THAT(outcome.err,
             Catch::Contains(file + ": /quantities/1/value: division by zero in case square and 1 more\n") &&
                 Catch::Contains(file + ": /targets/0/aggregate: a geomean over 0\n") &&
                 Catch::Contains(file + ": /targets/1/aggregate: a geomean over -"));
  CHECK(comparison(files.out(), "a").at("verdict") == "error");
  CHECK(comparison(files.out(), "b").at("ours").empty());
  CHECK(comparison(files.out(), "c").at("verdict") == "met");
  CHECK(comparison(files.out(), "d").at("verdict") == "not available");
  CHECK_THAT(text_of(files.out() / "result.md"), Catch::Contains("| geomean"));
}

TEST_CASE("an experiment has the figures of a switch's links") {
  const SmallExperiment files;
  json content = json_of(files.file());
  content["cases"][1]["set"]["system.links.topology"] = "switch";
  content["plot"] = {{{"file", "s"}, {"kind", "stacks"}, {"keys", {"links.switch0_to_1.wire_bytes"}}}};
  files.write("experiment.json", content);
  const Outcome outcome = files.run();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  const fs::path csv = files.out() / "results.csv";
  CHECK(value(csv, "tall", "t3", "links.switch0_to_1.wire_bytes") ==
        value(csv, "tall", "t3", "links.0_to_switch0.wire_bytes"));
}

TEST_CASE("a figure that no run reports is an error with its place and the nearest names") {
  const SmallExperiment files;
  json content = json_of(files.file());
  content["methods"] = {"sequential", "t3", "ideal-overlap"};
  content["quantities"].push_back({{"name", "a typo"}, {"value", "1 / gpu0.cache.hitrate[t3]"}});
  content["quantities"].push_back({{"name", "of rows that have it"}, {"value", "gpu0.cache.hit_rate[ideal-overlap]"}});
  content["plot"] = {{{"file", "s"}, {"kind", "stacks"}, {"keys", {"time_ns.total", "links.0_to_9.packets"}}}};
  files.write("experiment.json", content);
  const Outcome outcome = files.run();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 1);
  const std::string expected = ", expected a figure that a run of the experiment reports, such as ",
                    file = files.file().string();
  CHECK_THAT(outcome.err, Catch::Contains(file + ": /quantities/2/value: found gpu0.cache.hitrate" + expected +
                                          "gpu0.cache.hit_rate, "));
  CHECK_THAT(outcome.err, Catch::Contains(file + ": /plot/0/keys/1: found links.0_to_9.packets" + expected +
                                          "links.0_to_1.packets, "));
  CHECK(outcome.err.find("/quantities/3") == std::string::npos);
  CHECK(rows_of(files.out() / "results.csv").size() == 6);
}

}  // namespace t3vp::test::results_test
