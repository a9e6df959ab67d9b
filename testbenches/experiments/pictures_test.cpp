// Pictures: names are text in them and nothing else, and one that cannot be drawn is a failure.
#include <stdlib.h>

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <regex>
#include <set>
#include <sstream>

#include "experiment/gnuplot.h"
#include "experiments/small_experiment.h"

namespace t3vp::test::pictures_test {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

bool has_gnuplot() { return std::system("gnuplot --version > /dev/null 2>&1") == 0; }

/// What gnuplot could take for more than text.
const char* const hostile[] = {"`touch owned`",
                               "'; system('touch owned') #",
                               "'''",
                               "\"; system(\"touch owned\") #\"",
                               "$(touch owned)",
                               "@owned @ARG1 $data",
                               "back\\slash\\",
                               "a\\nb \\101 \\\"",
                               "{/Symbol a}^2_3~x",
                               "100%d %s %g %",
                               "<b>&amp;</b>",
                               "; ! # , : | -",
                               "EOD",
                               "Gr\u00f6\u00dfe \u6570 \U0001F680"};

/// A text as gnuplot writes it into SVG.
std::string in_svg(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
  return result;
}

json entry(const std::string& name, const char* key, int value) { return {{"name", name}, {"set", {{key, value}}}}; }

/// Two axes of two entries, called after two of the hostile texts, and every kind of picture.
json hostile_experiment(const std::string& a, const std::string& b) {
  json content = {{"name", a}, {"base", "run.json"}, {"trace", true}};
  content["cross"] = {{entry("1" + a, "workload.gemm.m", 64), entry("2" + b, "workload.gemm.m", 128)},
                      {entry("3" + a, "workload.gemm.k", 32), entry("4" + b, "workload.gemm.k", 64)}};
  content["methods"] = json::array({{{"name", "5" + a}, {"method", "t3"}}});
  content["quantities"] = json::array({{{"name", "6" + b}, {"value", "time_ns.total[5" + a + "] / 1000"}}});
  for (const char* kind : {"bars", "lines", "heat-map", "stacks", "timeline"})
    content["plot"].push_back({{"file", kind}, {"kind", kind}, {"title", "7" + a}, {"unit", "8" + b}});
  content["plot"][3]["keys"] = {"time_ns.gemm", "time_ns.exposed_fused"};
  return content;
}

/// The colours that the picture's script gives each class.
std::map<std::string, std::set<std::string>> colours_in(const std::string& script) {
  std::map<std::string, std::set<std::string>> colours;
  const std::regex line("title \"([^\"]*)\" linecolor rgb '([^']*)'");
  for (auto it = std::sregex_iterator(script.begin(), script.end(), line); it != std::sregex_iterator(); ++it)
    colours[(*it)[1]].insert((*it)[2]);
  return colours;
}

/// Runs it in a folder of its own, where a command would leave its traces.
template <typename Command>
auto in_folder(const fs::path& folder, Command command) {
  const fs::path before = fs::current_path();
  fs::current_path(folder);
  const auto result = command();
  fs::current_path(before);
  return result;
}

}  // namespace

TEST_CASE("gnuplot reads a constant as the text that it was made of") {
  if (!has_gnuplot()) return;
  const Folder folder;
  std::string script = "set encoding utf8\nset print '" + (folder / "printed").string() + "'\n", expected;
  for (const char* text : hostile) {
    script += "print " + t3vp::gnuplot::text_constant(text) + "\n";
    expected += std::string(text) + "\n";
  }
  folder.write("script.gnuplot", script);
  CHECK(in_folder(folder / ".", [] { return std::system("gnuplot -d script.gnuplot > /dev/null 2>&1"); }) == 0);
  CHECK(text_of(folder / "printed") == expected);
  CHECK_FALSE(fs::exists(folder / "owned"));
}

TEST_CASE("a constant stays on its line and is of bounded length, cut between characters") {
  CHECK(t3vp::gnuplot::text_constant("a\nb\x7f") == "\"a b \"");
  CHECK(t3vp::gnuplot::text_constant("1'2") == R"("1\047\062")");
  CHECK(t3vp::gnuplot::text_constant(std::string(1000, 'x')).size() < 100);
  std::string umlauts;
  for (int i = 0; i < 100; ++i) umlauts += "\u00f6";
  CHECK_NOTHROW(json(t3vp::gnuplot::text_constant(umlauts)).dump());  // valid UTF-8
}

TEST_CASE("names of any text are that text in every kind of picture, and run nothing") {
  if (!has_gnuplot()) return;
  const std::size_t pair = GENERATE(0u, 2u, 4u, 6u, 8u, 10u, 12u);
  const std::string a = hostile[pair], b = hostile[pair + 1];
  const SmallExperiment files;
  files.write("experiment.json", hostile_experiment(a, b));
  const Outcome outcome = in_folder(files / ".", [&] { return files.run(); });
  INFO(a << "   " << b << "\n" << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  for (const auto& file : fs::recursive_directory_iterator(files / ".")) CHECK(file.path().filename() != "owned");
  const auto shows = [&](const std::string& picture, const std::string& text) {
    INFO(picture << ": " << text);
    CHECK(text_of(files.out() / (picture + ".svg")).find(in_svg(text)) != std::string::npos);
  };
  for (const char* picture : {"bars", "lines", "heat-map", "stacks"}) shows(picture, "7" + a);
  for (const char* picture : {"bars", "lines", "heat-map", "stacks", "timeline"}) shows(picture, "8" + b);
  for (const char* picture : {"bars", "stacks"}) {
    shows(picture, "1" + a);
    shows(picture, "4" + b);
  }
  shows("bars", "6" + b);
  for (const char* picture : {"lines", "heat-map"}) shows(picture, "3" + a);
  for (const char* picture : {"lines", "heat-map"}) shows(picture, "2" + b);
  shows("timeline", "2" + b + " 3" + a + ", 5" + a);
}

TEST_CASE("plot_methods draws names as text and runs nothing") {
  if (!has_gnuplot()) return;
  for (const std::string text :
       {"'; system('touch owned') #`touch owned`\n!touch owned\nEOD\n", "100%d {a}^2 \\ \"x\" <&>"}) {
    const Folder folder;
    fs::create_directories(folder / "run");
    folder.write("run/report.json",
                 json{{"method", text},
                      {"system", text},
                      {"workload", {{"label", text}}},
                      {"time_ns",
                       {{"total", 3e3}, {"gemm", 1e3}, {"reduce_scatter", 1e3}, {"all_gather", 1e3}, {"zeroing", 0}}}});
    const char* const command = "python3 " T3VP_SOURCE_DIR "/tools/plot_methods \"it's.svg\" run";
    CHECK(in_folder(folder / ".", [&] { return std::system(command); }) == 0);
    CHECK_FALSE(fs::exists(folder / "owned"));
    std::string shown = text;
    std::replace(shown.begin(), shown.end(), '\n', ' ');
    CHECK(text_of(folder / "it's.svg").find(in_svg(shown + " on " + shown)) != std::string::npos);
  }
}

TEST_CASE("without gnuplot, the package is named and nothing fails") {
  const SmallExperiment files;
  const std::string path = getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  const Outcome without = files.run();
  setenv("PATH", path.c_str(), 1);
  CHECK(without.exit_code == 0);
  CHECK_THAT(without.err, Catch::Contains("gnuplot-nox"));
  CHECK_FALSE(fs::exists(files.out() / "speedup.svg"));
  CHECK_THAT(text_of(files.out() / "speedup.gnuplot"), Catch::Contains("\"tall\""));
  CHECK_THAT(text_of(files.out() / "result.md"), !Catch::Contains("speedup.svg"));
  if (!has_gnuplot()) return;
  CHECK(files.run().err.empty());
  CHECK_THAT(text_of(files.out() / "speedup.svg"), Catch::Contains("<svg") && Catch::Contains("tall"));
}

TEST_CASE("a picture that cannot be drawn is a line with gnuplot's message and exit code 1") {
  if (!has_gnuplot()) return;
  const SmallExperiment files;
  REQUIRE(files.run().exit_code == 0);
  const auto require_failure = [&](const std::string& message) {
    const Outcome outcome = files.run();
    INFO(outcome.err);
    CHECK(outcome.exit_code == 1);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK(outcome.err.rfind((files.out() / "speedup.gnuplot: no picture: ").string(), 0) == 0);
    CHECK_THAT(outcome.err, Catch::Contains(message));
    CHECK_THAT(text_of(files.out() / "result.md"), !Catch::Contains("speedup.svg"));
  };
  fs::remove(files.out() / "speedup.svg");
  fs::create_directories(files.out() / "speedup.svg/in the way");
  require_failure("cannot open file");
  fs::remove_all(files.out() / "speedup.svg");
  // A gnuplot that leaves half of a picture behind, and one that says what is wrong.
  const std::string path = getenv("PATH");
  fs::create_directory(files / "bin");
  setenv("PATH", ((files / "bin").string() + ":" + path).c_str(), 1);
  const auto pretend = [&](const std::string& program) {
    files.write("bin/gnuplot", "#!/bin/sh\n" + program);
    fs::permissions(files / "bin/gnuplot", fs::perms::owner_all);
  };
  pretend("echo '<svg>' > speedup.svg\n");
  require_failure("not written all");
  pretend("echo 'line 3: no memory' >&2\nexit 3\n");
  require_failure("line 3: no memory");
  CHECK_FALSE(fs::exists(files.out() / "speedup.svg"));  // nor an older one
  setenv("PATH", path.c_str(), 1);
}

TEST_CASE("pictures go to a folder of any name") {
  if (!has_gnuplot()) return;
  const SmallExperiment files;
  fs::create_directory(files / "here");
  const Outcome relative = in_folder(files / "here", [&] {
    return run_program({"experiment", files.file(), "--out", "a \"folder\" of/mine"});
  });
  CHECK(relative.exit_code == 0);
  CHECK(relative.err.empty());
  CHECK_THAT(text_of(files / "here/a \"folder\" of/mine/speedup.svg"), Catch::Contains("<svg"));
}

TEST_CASE("a picture of workgroups has a panel for each run of a persistent kernel and fails where there is none") {
  const SmallExperiment files;
  json content = json_of(files.file());
  content["trace"] = true;
  const json embedding = {{"global_batch", 12}, {"tables_per_gpu", 4}, {"dimension", 256},
                          {"pooling", 3},       {"rows", 40},          {"slice", 4}};
  content["cases"] = {{{"name", "few"}, {"set", {{"workload", {{"embedding", embedding}}}}}}};
  content["methods"] = {"fused", "bulk"};
  content["plot"] = {{{"file", "both"}, {"kind", "workgroups"}, {"marks", {"own slice complete"}}, {"cluster", 4}},
                     {{"file", "none"}, {"kind", "workgroups"}, {"methods", {"bulk"}}}};
  for (const char* key : {"quantities", "targets", "reference"}) content.erase(key);
  files.write("experiment.json", content);
  const Outcome outcome = files.run();
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.err ==
        files.file().string() + ": /plot/1: no picture: no row of its methods is one run with a timeline\n");
  const std::string script = text_of(files.out() / "both.gnuplot");
  for (const char* word :
       {"few, fused", "\"own slice\"", "\"slice of another GPU\"", "\"awaits slices\"", "title \"own slice complete\""})
    CHECK_THAT(script, Catch::Contains(word));
  CHECK_THAT(script, !Catch::Contains("bulk"));
  if (has_gnuplot()) CHECK_THAT(text_of(files.out() / "both.svg"), Catch::Contains("awaits slices"));
}

TEST_CASE("a plot of a quantity that has no value in any case is an error that names it") {
  const SmallExperiment files;
  files.change("experiment.json", "/methods", {"sequential", "t3", "ideal-overlap"});
  files.change("experiment.json", "/quantities/1",
               {{"name", "fused"}, {"value", "time_ns.fused[ideal-overlap] / time_ns.fused[t3]"}});
  files.change("experiment.json", "/targets/1", {{"id", "reads"}, {"quantity", "T3"}, {"aggregate", "max"}});
  const Outcome outcome = files.run();
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.err == files.file().string() + ": /plot/0: quantity fused has no value in any case\n");
}

TEST_CASE("text stays what it is in the summary's tables") {
  const SmallExperiment files;
  files.change("experiment.json", "/description", "a <b> c");
  files.change("experiment.json", "/cases/0/name", "a | <b>");
  REQUIRE(files.run().exit_code == 0);
  const std::string text = text_of(files.out() / "result.md");
  CHECK_THAT(text, Catch::Contains("\na &lt;b> c\n") && Catch::Contains("\n| a \\| &lt;b> |"));
}

TEST_CASE("the panels of a timeline have one scale, and every class one colour in all of them") {
  const SmallExperiment files;
  files.change("experiment.json", "/trace", true);
  files.change("experiment.json", "/plot",
               {{{"file", "traffic"}, {"kind", "timeline"}, {"methods", {"sequential", "t3"}}},
                {{"file", "dram"}, {"kind", "stacks"}, {"keys", {"dram_bytes.rs_write", "dram_bytes.ag_read"}}}});
  REQUIRE(files.run().exit_code == 0);
  const std::string script = text_of(files.out() / "traffic.gnuplot");
  for (const char* word :
       {"square, sequential", "tall, sequential", "tall, t3\"", "reduce-scatter reads", "GEMM reads", "$panel3"})
    CHECK_THAT(script, Catch::Contains(word));
  CHECK_THAT(script, !Catch::Contains("t3-mca"));
  for (const char* axis : {"set xrange", "set yrange"}) {
    const auto first = script.find(axis);
    REQUIRE(first != std::string::npos);
    CHECK(first < script.find("$panel0"));
    CHECK(script.find(axis, first + 1) == std::string::npos);
  }
  const auto colours = colours_in(script);
  std::set<std::string> all;
  for (const auto& [name, of_class] : colours) {
    INFO(name);
    CHECK(of_class.size() == 1);
    CHECK(all.insert(*of_class.begin()).second);  // no two classes have the same
  }
  CHECK(colours.count("reduce-scatter reads") == 1);
  const auto stacks = colours_in(text_of(files.out() / "dram.gnuplot"));
  for (const char* name : {"reduce-scatter writes", "all-gather reads"}) CHECK(stacks.at(name) == colours.at(name));
}

TEST_CASE("lines and heat maps have every value in its place, and a heat map's panels one scale of colours") {
  const SmallExperiment files;
  json content = json_of(files.file());
  content.erase("cases");
  content.erase("targets");
  content.erase("reference");
  content["methods"] = {"t3"};
  content["cross"] = {{entry("m 64", "workload.gemm.m", 64), entry("m 128", "workload.gemm.m", 128)},
                      {entry("k 32", "workload.gemm.k", 32), entry("k 64", "workload.gemm.k", 64),
                       entry("k 128", "workload.gemm.k", 128)}};
  content["quantities"] = {{{"name", "us"}, {"value", "time_ns.total[t3] / 1000"}},
                           {{"name", "GEMM"}, {"value", "time_ns.gemm[t3] / 1000"}}};
  content["plot"] = {{{"file", "lines"}, {"kind", "lines"}, {"x", 0}, {"quantities", {"us"}}},
                     {{"file", "heat"}, {"kind", "heat-map"}}};
  files.write("experiment.json", content);
  REQUIRE(files.run().exit_code == 0);
  const std::string lines = text_of(files.out() / "lines.gnuplot"), heat = text_of(files.out() / "heat.gnuplot");
  const auto short_number = [](double number) {
    std::ostringstream text;
    text << number;  // six digits
    return text.str();
  };
  const char* const ms[] = {"m 64", "m 128"};
  const char* const ks[] = {"k 32", "k 64", "k 128"};
  double least = 1e9, most = 0, least_gemm = 1e9, most_gemm = 0;
  for (std::size_t m = 0; m < 2; ++m)
    for (std::size_t k = 0; k < 3; ++k) {
      const std::string one = std::string(ms[m]) + " " + ks[k];
      const double us = value(files.out() / "results.csv", one, "t3", "time_ns.total") / 1000,
                   gemm = value(files.out() / "results.csv", one, "t3", "time_ns.gemm") / 1000;
      least = std::min(least, us);
      most = std::max(most, us);
      least_gemm = std::min(least_gemm, gemm);
      most_gemm = std::max(most_gemm, gemm);
      // The m-th point of the k-th line; column k of row m in a panel for each quantity.
      const auto line = lines.find("$line" + std::to_string(k) + " << EOD");
      const std::string point = "\n" + std::to_string(m) + " " + short_number(us) + "\n";
      CHECK(lines.find(point, line) < lines.find("\nEOD", line));
      const std::string cell = "\n" + std::to_string(k) + " " + std::to_string(m) + " ";
      CHECK_THAT(heat,
                 Catch::Contains(cell + short_number(us) + "\n") && Catch::Contains(cell + short_number(gemm) + "\n"));
    }
  CHECK_THAT(lines, Catch::Contains("title \"k 32\"") && Catch::Contains("(\"m 64\" 0, \"m 128\" 1)"));
  CHECK_THAT(heat,
             Catch::Contains("(\"k 32\" 0, \"k 64\" 1, \"k 128\" 2)") && Catch::Contains("(\"m 64\" 0, \"m 128\" 1)"));
  const auto scale = [&](double from, double to) {
    return heat.find("set cbrange [" + short_number(from) + ":" + short_number(to) + "]");
  };
  REQUIRE(scale(least, most) != std::string::npos);  // a scale for each quantity, before its panel
  REQUIRE(scale(least_gemm, most_gemm) != std::string::npos);
  CHECK(scale(least, most) != scale(least_gemm, most_gemm));
}

TEST_CASE("the y axis of lines is logarithmic where the plot says so") {
  const SmallExperiment files;
  files.change("experiment.json", "/plot",
               {{{"file", "linear"}, {"kind", "lines"}, {"scale", "linear"}},
                {{"file", "logarithmic"}, {"kind", "lines"}, {"scale", "logarithmic"}}});
  REQUIRE(files.run().exit_code == 0);
  CHECK(text_of(files.out() / "linear.gnuplot").find("logscale") == std::string::npos);
  CHECK_THAT(text_of(files.out() / "logarithmic.gnuplot"), Catch::Contains("set logscale y\n"));
}

TEST_CASE("stacks have a column for each key and a bar for each case and method") {
  const SmallExperiment files;
  files.change("experiment.json", "/plot",
               {{{"file", "dram"},
                 {"kind", "stacks"},
                 {"keys", {"dram_bytes.rs_read", "dram_bytes.rs_write"}},
                 {"methods", {"t3"}},
                 {"divide_by", 32}}});
  REQUIRE(files.run().exit_code == 0);
  const fs::path csv = files.out() / "results.csv";
  const auto accesses = [&](const char* one, const char* key) {
    return std::to_string(std::lround(value(csv, one, "t3", key) / 32));
  };
  const std::string script = text_of(files.out() / "dram.gnuplot");
  std::string reads, writes;
  for (const auto& [one, place] : {std::pair("square", "1"), std::pair("tall", "3")}) {
    const auto below = accesses(one, "dram_bytes.rs_read"), part = accesses(one, "dram_bytes.rs_write");
    reads += fmt::format("{} 0 {}\n", place, below);
    writes += fmt::format("{} {} {}\n", place, below, std::stol(below) + std::stol(part));
  }
  CHECK_THAT(script, Catch::Contains("$bars0_0 << EOD\n" + reads + "EOD") &&
                         Catch::Contains("$bars0_1 << EOD\n" + writes + "EOD"));
  for (const char* name : {"\"square\" at first 1,", "\"tall\" at first 3,", "\"reduce-scatter reads\""})
    CHECK_THAT(script, Catch::Contains(name));
  CHECK_THAT(script, !Catch::Contains("dram_bytes"));
}

}  // namespace t3vp::test::pictures_test
