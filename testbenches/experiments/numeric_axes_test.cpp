// Lines along values that are numbers.
#include <catch2/catch.hpp>

#include "command_line/refusals.h"
#include "experiment/plot_axes.h"
#include "experiments/small_experiment.h"

namespace t3vp::test::numeric_axes_test {

using nlohmann::json;

namespace {

/// Plots of one axis of cross.
struct Along : SmallExperiment {
  Along(const json& axis, const json& plots) {
    json content = json_of(file());
    for (const char* key : {"cases", "reference", "targets"}) content.erase(key);
    content["cross"] = json::array({axis});
    content["methods"] = {"sequential", "t3"};
    content["quantities"] = {{{"name", "speedup"}, {"value", "time_ns.total[sequential] / time_ns.total[t3]"}}};
    content["plot"] = plots;
    write("experiment.json", content);
  }
};

json lines(const std::string& file, json keys = json::object()) {
  keys["file"] = file;
  keys["kind"] = "lines";
  return keys;
}

const json rows = {{"key", "workload.gemm.m"}, {"values", {512, 64, 128}}};

}  // namespace

TEST_CASE("lines have numbers at their true distances, in their order and with error bars") {
  const Along files(rows,
                    {lines("linear"), lines("logarithmic", {{"x_scale", "logarithmic"}, {"scale", "logarithmic"}}),
                     lines("categories", {{"x_scale", "categories"}})});
  const Outcome outcome = files.run("results", {"--replicates", "2"});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const auto script = [&](const char* name) { return text_of(files.out() / (std::string(name) + ".gnuplot")); };
  const std::string number = "[0-9.]+", point = " " + number + " " + number + " " + number + "\n";
  for (const char* name : {"linear", "logarithmic"})
    CHECK_THAT(script(name), Catch::Matches("[^]*EOD\n64" + point + "128" + point + "512" + point + "EOD\n[^]*") &&
                                 Catch::Contains("(\"64\" 64, \"128\" 128, \"512\" 512)") &&
                                 // Every value is drawn over all error bars.
                                 Catch::Matches("[^]*with yerrorbars[^]*with linespoints[^]*") &&
                                 !Catch::Matches("[^]*using 1:2 with linespoints[^]*with yerrorbars[^]*") &&
                                 Catch::Contains("set label \"gemm m (rows)\" at screen"));
  CHECK_THAT(script("linear"), Catch::Contains("set xrange [41.6:534.4]\n") && !Catch::Contains("logscale"));
  CHECK_THAT(script("logarithmic"), Catch::Contains("set logscale x\n") && Catch::Contains("set logscale y\n"));
  CHECK_THAT(script("categories"), Catch::Contains("(\"512\" 0, \"64\" 1, \"128\" 2)"));
}

TEST_CASE("a range of values has room around them on either scale, and one value has some too") {
  const NumericRange linear({10, 30, 20}, false), logarithmic({1, 100}, true), one({5, 5}, false);
  CHECK(linear.share(9) == Approx(0));
  CHECK(linear.share(20) == Approx(0.5));
  CHECK(linear.share(31) == Approx(1));
  CHECK(logarithmic.share(10) == Approx(0.5));
  CHECK(one.share(5) == Approx(0.5));
  CHECK(linear.tics("x").empty());
  CHECK(logarithmic.tics("y") ==
        "set ytics (\"1\" 1, \"2\" 2, \"5\" 5, \"10\" 10, \"20\" 20, \"50\" 50, \"100\" 100)\n");
  CHECK(NumericRange({30, 40}, true).tics("x") == "set xtics (\"30\" 30, \"40\" 40)\n");
  CHECK(NumericRange({1, 1e6}, true).tics("x").empty());
}

TEST_CASE("labels of numbers that would lie on each other are left out") {
  const ExperimentAxis axis{{"1", "1.001", "2"}, "key", {1, 1.001, 2}};
  CHECK_THAT(LineAxis(axis, Plot::Scale::linear, 480).commands(),
             Catch::Contains("(\"1\" 1, \"2\" 2)") && Catch::Contains("rotate by 45"));
}

TEST_CASE("a scale that the values of the axis do not have is refused") {
  const auto refused = [](const json& axis, const char* scale, const char* expected) {
    const Along files(axis, json::array({lines("x", {{"x_scale", scale}})}));
    const Outcome outcome = files.run();
    require_refusal(outcome, (files / "experiment.json: /plot/0/x_scale").string());
    CHECK_THAT(outcome.err, Catch::Contains(expected));
  };
  refused(rows, "log", "expected one of categories, linear, logarithmic");
  refused({{"key", "simulate"}, {"values", {"all", "mirror"}}}, "linear",
          "expected categories, as the axis is not one key");
  refused(json::array({{{"name", "a"}, {"set", {{"seed", 3}}}}}), "linear",
          "expected categories, as the axis is not one key");
  for (const int value : {0, -3})
    refused({{"key", "seed"}, {"values", {value, 5}}}, "logarithmic",
            ("expected linear, as seed has the value " + std::to_string(value)).c_str());
}

}  // namespace t3vp::test::numeric_axes_test
