// Experiments whose runs have replicates: how far quantities vary.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "command_line/refusals.h"
#include "experiment/value_range.h"
#include "experiments/small_experiment.h"

namespace t3vp::test::replicates_test {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// The values of a time in the one run with this method and so many rows.
std::vector<double> values(const SmallExperiment& files, const std::string& method, int m, const char* time) {
  for (const fs::path& run : files.runs())
    if (const json report = json_of(run / "report.json");
        report.at("method") == method && report.at("/workload/gemm/m"_json_pointer) == m)
      return report.at("replicates").at("time_ns").at(time).at("values").get<std::vector<double>>();
  throw std::runtime_error("no run of " + method);
}

std::string in_summary(const std::vector<double>& all) {
  return fmt::format("{:.4g}, {}", all.front(), text_of(*range_of(all)));
}

std::vector<fs::file_time_type> times_of(const SmallExperiment& files) {
  std::vector<fs::file_time_type> times;
  for (const fs::path& run : files.runs()) times.push_back(fs::last_write_time(run / "report.json"));
  return times;
}

}  // namespace

TEST_CASE("the range of values has their ends, and their spread over the median") {
  CHECK_FALSE(range_of({}));
  CHECK_FALSE(range_of({3}));
  CHECK_FALSE(range_of({3, std::nan("")}));
  CHECK(text_of(*range_of({30, 10, 25})) == "10..30 (80%)");
  CHECK(text_of(*range_of({-30, -10, -24, -26})) == "-30..-10 (80%)");
  CHECK(text_of(*range_of({1, -1})) == "-1..1");
  CHECK(text_of(*range_of({7, 7})) == "7..7 (0%)");
}

TEST_CASE("a quantity of replicates is computed from the times of one replicate after the other") {
  const SmallExperiment files;
  files.change("experiment.json", "/plot/1", {{"file", "lines"}, {"kind", "lines"}});
  REQUIRE(files.run("plain").exit_code == 0);
  const Outcome outcome = files.run("results", {"--replicates", "3"});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const std::string summary = text_of(files.out() / "result.md");
  std::string bars, lines;
  for (const int m : {256, 512}) {
    std::vector<double> speedups = values(files, "sequential", m, "total");
    const std::vector<double> t3 = values(files, "t3", m, "total");
    REQUIRE(speedups.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) speedups[i] /= t3[i];
    CHECK_THAT(summary, Catch::Contains(" " + in_summary(speedups) + " "));
    const ValueRange range = *range_of(speedups);
    REQUIRE(range.least < range.most);
    const std::string data = fmt::format("{:.6g} {:.6g} {:.6g}", speedups[0], range.least, range.most);
    CHECK_THAT(text_of(files.out() / "speedup.gnuplot"), Catch::Contains(" " + data));
    CHECK_THAT(text_of(files.out() / "lines.gnuplot"), Catch::Contains(" " + data + "\n"));
  }
  CHECK_THAT(text_of(files.out() / "speedup.gnuplot"), Catch::Contains("using 1:2:3:4:(0.92) with boxerrorbars"));
  CHECK_THAT(text_of(files.out() / "lines.gnuplot"), Catch::Contains("with yerrorbars"));
  // Quantities that are no times have none, and the values are those of the runs without jitter.
  CHECK_THAT(summary, Catch::Matches("[^]*\\| square +\\|[^|]*\\.\\.[^|]*\\| [0-9.]+ +\\|\n[^]*"));
  CHECK(text_of(files.out("plain") / "compare.csv") == text_of(files.out() / "compare.csv"));
  for (const char* plain : {"result.md", "speedup.gnuplot", "lines.gnuplot"}) {
    CHECK_THAT(text_of(files.out("plain") / plain), !Catch::Contains("errorbars"));
    CHECK_THAT(text_of(files.out("plain") / plain), !Catch::Contains("replicates"));
  }
}

TEST_CASE("a report with more replicates than asked for stands for one with fewer, not the other way round") {
  const SmallExperiment files;
  const auto same = [&](const std::string& first, const std::string& second) {
    for (const char* file : {"results.csv", "result.md", "speedup.gnuplot"})
      CHECK(text_of(files.out(first) / file) == text_of(files.out(second) / file));
  };
  REQUIRE(files.run("one").exit_code == 0);
  REQUIRE(files.run("two", {"--replicates", "2"}).exit_code == 0);
  REQUIRE(files.run().exit_code == 0);
  const auto without = times_of(files);
  REQUIRE(files.run("results", {"--replicates", "3"}).exit_code == 0);
  const auto with_three = times_of(files);
  for (std::size_t run = 0; run < without.size(); ++run) CHECK(with_three[run] != without[run]);
  REQUIRE(files.run("results", {"--replicates", "2"}).exit_code == 0);
  same("results", "two");
  REQUIRE(files.run().exit_code == 0);
  same("results", "one");
  CHECK(times_of(files) == with_three);
}

TEST_CASE("the option wins over the file's number of replicates") {
  const SmallExperiment files;
  files.change("experiment.json", "/replicates", 3);
  REQUIRE(files.run("results", {"--replicates", "2"}).exit_code == 0);
  for (const fs::path& run : files.runs())
    CHECK(json_of(run / "report.json").at("/replicates/count"_json_pointer) == 2);
  for (const char* number : {"0", "1001", "some"}) CHECK(files.run("results", {"--replicates", number}).exit_code == 2);
}

TEST_CASE("a run that fails has no replicates and is not repeated for them") {
  const SmallExperiment files;
  files.change("experiment.json", "/methods/2",
               {{"name", "t3-mca"}, {"method", "t3"}, {"set", {{"inject.dma_map_updates", 3}}}});
  REQUIRE(files.run("results", {"--replicates", "2"}).exit_code == 1);
  const auto before = times_of(files);
  const Outcome again = files.run("results", {"--replicates", "2"});
  CHECK_THAT(again.err, Catch::Contains("square, t3-mca: fault dma_map_updates struck"));
  CHECK(times_of(files) == before);
}

}  // namespace t3vp::test::replicates_test
