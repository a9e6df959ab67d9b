// Runs with jitter, the spread of replicates, and what compare makes of it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "command_line/program.h"
#include "report/replicates.h"
#include "run/node_parameters.h"

namespace t3vp::test::replicates_test {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

/// A run of the valid files; its report without what the host has to do with.
json report_of(const ValidFiles& files, const std::vector<std::string>& settings,
               const std::vector<std::string>& options = {}) {
  std::vector<std::string> arguments{"run", files.run().string(), "--out", (files / "out").string()};
  for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
  arguments.insert(arguments.end(), options.begin(), options.end());
  const Outcome outcome = run_program(arguments);
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  json report = json_of(files / "out/report.json");
  report.erase("host");
  report.erase("config_hash");
  return report;
}

double total(const json& report) { return report.at("time_ns").at("total").get<double>(); }

std::vector<double> values(const json& report) {
  return report.at("replicates").at("time_ns").at("total").at("values").get<std::vector<double>>();
}

ordered_json spread_of(const std::vector<double>& values) {
  std::vector<ordered_json> reports;
  for (const double value : values) reports.push_back({{"time_ns", {{"total", value}, {"gemm", nullptr}}}});
  const ordered_json times = times_of_replicates(reports);
  REQUIRE(times.size() == 1);  // what a run leaves out has no spread
  return times.at("total");
}

Outcome compare(const ValidFiles& files, const json& first, const json& second) {
  return run_program(
      {"compare", files.write("first.json", first).string(), files.write("second.json", second).string()});
}

}  // namespace

TEST_CASE("median and spread of an odd and an even number of values, in any order") {
  CHECK(
      spread_of({30, 10, 25}) ==
      ordered_json{{"median", 25.0}, {"least", 10.0}, {"most", 30.0}, {"spread", 0.8}, {"values", {30.0, 10.0, 25.0}}});
  const ordered_json even = spread_of({30, 10, 24, 26});
  CHECK(even.at("median") == 25.0);
  CHECK(even.at("spread") == 0.8);
  CHECK(spread_of({7, 7}).at("spread") == 0.0);
  CHECK(spread_of({0, 0}).at("spread") == 0.0);
}

TEST_CASE("jitter moves each time of its own accord and no further than it says") {
  const ValidFiles files;
  const NodeParameters plain = node_parameters(load_run(files.run()));
  std::vector<double> moved;  // in ns
  for (int seed = 0; seed < 40; ++seed) {
    const NodeParameters node =
        node_parameters(load_run(files.run(), {"jitter={\"seed\":" + std::to_string(seed) + ",\"launch_ns\":7}"}));
    const auto away = [](Picoseconds now, Picoseconds before) { return to_ns(now) - to_ns(before); };
    for (std::size_t g = 0; g < node.gpus.size(); ++g) {
      moved.push_back(away(node.gpus[g].compute.launch_latency, plain.gpus[g].compute.launch_latency));
      CHECK(std::abs(away(node.gpus[g].cache.latency, plain.gpus[g].cache.latency)) <= 0.1001);
      CHECK(std::abs(away(node.gpus[g].memory.path_latency, plain.gpus[g].memory.path_latency)) <= 0.1001);
      CHECK(std::abs(away(node.gpus[g].dma.latency, plain.gpus[g].dma.latency)) <= 0.1001);
    }
    for (std::size_t l = 0; l < node.fabric.links.size(); ++l)
      CHECK(std::abs(away(node.fabric.links[l].parameters.latency, plain.fabric.links[l].parameters.latency)) <=
            0.1001);
  }
  const auto [least, most] = std::minmax_element(moved.begin(), moved.end());
  CHECK(*least >= -7);
  CHECK(*least < -6);
  CHECK(*most <= 7);
  CHECK(*most > 6);
}

TEST_CASE("no time becomes negative by jitter") {
  const ValidFiles files;
  files.change("system.json", "/compute/launch_latency_ns", 2);
  for (int seed = 0; seed < 20; ++seed)
    for (const GpuParameters& gpu :
         node_parameters(load_run(files.run(), {"jitter.seed=" + std::to_string(seed)})).gpus)
      CHECK(gpu.compute.launch_latency <= 12'000);
}

TEST_CASE("a seed of the jitter gives the same report again, another one another, and sizes of 0 that without") {
  const ValidFiles files;
  const json plain = report_of(files, {}), first = report_of(files, {"jitter.seed=1"});
  CHECK(report_of(files, {"jitter.seed=1"}) == first);
  CHECK(total(report_of(files, {"jitter.seed=2"})) != total(first));
  CHECK(total(first) != total(plain));
  CHECK(report_of(files, {R"(jitter={"seed": 1, "launch_ns": 0, "latency_ns": 0})"}) == plain);
}

std::vector<std::uint64_t> seeds_of_replicates(const ValidFiles& files, int count) {
  std::vector<std::uint64_t> seeds;
  for (int i = 1; i < count; ++i)
    seeds.push_back(json_of(files / ("out/replicates/" + std::to_string(i) + "/run.json")).at("jitter").at("seed"));
  return seeds;
}

TEST_CASE("replicates are runs with other seeds, the first without jitter") {
  const ValidFiles files;
  const json plain = report_of(files, {});
  json report = report_of(files, {}, {"--replicates", "4"});
  CHECK(report.at("replicates").at("count") == 4);
  std::vector<double> expected{total(plain)};
  CHECK(total(json_of(files / "out/replicates/3/report.json")) == values(report)[3]);
  for (const std::uint64_t seed : seeds_of_replicates(files, 4))
    expected.push_back(total(report_of(files, {"jitter.seed=" + std::to_string(seed)})));
  CHECK(values(report) == expected);
  report.erase("replicates");
  report.erase("warnings");
  json without = plain;
  without.erase("warnings");
  CHECK(report == without);

  CHECK_FALSE(report_of(files, {}, {"--replicates", "1"}).contains("replicates"));
  CHECK_FALSE(std::filesystem::exists(files / "out/replicates"));  // those of before are gone
}

TEST_CASE("replicates of neighbouring seeds share no run, and every seed has some") {
  const ValidFiles files;
  std::set<std::uint64_t> seeds;
  for (const char* first : {"0", "1", "2", "9007199254740992"}) {
    report_of(files, {std::string("jitter.seed=") + first}, {"--replicates", "3"});
    for (const std::uint64_t seed : seeds_of_replicates(files, 3)) seeds.insert(seed);
  }
  CHECK(seeds.size() >= 6);
  CHECK(*seeds.rbegin() <= 9007199254740992);
}

TEST_CASE("the summary has median and spread beside the times") {
  const ValidFiles files;
  const Outcome run =
      run_program({"run", files.run().string(), "--out", (files / "out").string(), "--replicates", "3"});
  CHECK_THAT(run.out, Catch::Matches("[^]*  total +[0-9.]+  median [0-9.]+, spread [0-9.]+%  #+[^]*"));
}

TEST_CASE("compare says which differences of times are inside the spread of replicates") {
  const ValidFiles files;
  const json first = report_of(files, {}, {"--replicates", "3"});
  const json& spread = first.at("replicates").at("time_ns").at("total");
  json second = json_of(files / "out/report.json");
  second.erase("replicates");
  const auto verdict = [&](double value) {
    second["time_ns"]["total"] = value;
    json whole = json_of(files / "out/report.json");
    return compare(files, whole, second).out;
  };
  const double least = spread.at("least").get<double>(), most = spread.at("most").get<double>();
  REQUIRE(least < most);
  const std::string inside = R"([^]*time_ns\.total [^\n]*inside the spread\n[^]*)";
  for (const double value : {least, most})
    if (value != total(first)) CHECK_THAT(verdict(value), Catch::Matches(inside));
  for (const double value : {least - 0.001, most + 0.001}) CHECK_THAT(verdict(value), !Catch::Matches(inside));
}

TEST_CASE("what replicates cannot be is refused") {
  const ValidFiles files;
  const auto refused = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"run", files.run().string(), "--out", (files / "out").string()});
    const Outcome outcome = run_program(options);
    CHECK(outcome.exit_code == 2);
    return outcome.err;
  };
  CHECK_THAT(refused({"--replicates", "0"}), Catch::Contains("1 to 1000"));
  CHECK_THAT(refused({"--replicates", "2", "--gdb", "0", "--set", "firmware=riscv"}),
             Catch::Contains("--replicates: found 2 runs beside --gdb, expected 1"));
  CHECK_THAT(refused({"--set", "jitter.launch_ns=3"}), Catch::Contains("seed"));
  CHECK_THAT(refused({"--set", "jitter={\"seed\":1,\"latency_ns\":-1}"}), Catch::Contains("latency_ns"));
}

TEST_CASE("a replicate that fails is told with its log") {
  const ValidFiles files;
  const auto jitter = [](int seed) { return R"(jitter={"launch_ns": 1000000, "seed": )" + std::to_string(seed) + "}"; };
  const auto latest_launch = [&](int seed) {
    Picoseconds latest = 0;
    for (const GpuParameters& gpu : node_parameters(load_run(files.run(), {jitter(seed)})).gpus)
      latest = std::max(latest, gpu.compute.launch_latency);
    return latest;
  };
  int seed = 0;  // of a run that ends within half a millisecond, and the next does not
  while (latest_launch(seed) > 400'000'000 || latest_launch(seed + 1) < 600'000'000) ++seed;
  const Outcome run = run_program({"run", files.run().string(), "--out", (files / "out").string(), "--replicates", "2",
                                   "--set", jitter(seed), "--set", "limits.simulated_ms=0.5"});
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.err, Catch::Contains("replicate 1 of 2 has failed, see") && Catch::Contains("replicates/1/log.txt"));
  CHECK_THAT(text_of(files / "out/replicates/1/log.txt"), Catch::Contains("limits.simulated_ms"));
}

}  // namespace t3vp::test::replicates_test
