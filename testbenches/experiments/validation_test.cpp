// t3vp validate: files of measured times, a run for each of their rows, and the two beside each other.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

#include "experiments/measured_times.h"

namespace t3vp::test::validation_test {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// What a run by itself takes, in us.
double simulated_us(const json& workload, std::uint32_t gpus, const std::string& phase, const std::string& method = "",
                    double matrix_GHz = 1.65) {
  const Folder folder;
  json run = {{"system", config("systems/h200-4.json").string()}, {"gpus", gpus}, {"workload", workload}};
  if (!method.empty()) run["method"] = method;
  if (phase == "gemm") run.update({{"method", "ideal-overlap"}, {"phases", {"gemm"}}});
  const Outcome outcome = run_program({"run", folder.write("run.json", run), "--out", folder / "out", "--set",
                                       "system.memory.model=loosely-timed", "--set",
                                       "system.power.matrix_clock_GHz=" + std::to_string(matrix_GHz)});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return json_of(folder / "out/report.json").at("time_ns").at(phase).get<double>() / 1000;
}

double host_launch_us() {
  return json_of(config("systems/h200-4.json")).at("host").at("launch_ns").get<double>() / 1000;
}

/// A library's GEMM behind another buffer's modified lines. Eight tiles of the shorter side are taken together.
double gemm_us(std::uint32_t m, std::uint32_t n, std::uint32_t k, bool transpose_b) {
  const bool of_columns = n / 256 <= m / 128;
  return host_launch_us() + simulated_us({{"gemm",
                                           {{"m", m},
                                            {"n", n},
                                            {"k", k},
                                            {"transpose_b", transpose_b},
                                            {"group", 8},
                                            {"group_columns", of_columns},
                                            {"persistent_workgroups", 132}}},
                                          {"cache_at_start", "dirty"}},
                                         1, "gemm", "", 1.515);
}

/// Returns the time for 64 samples, tables of 64 columns and bags of `pooling` rows.
double embedding_us(const std::string& method, std::uint32_t gpus, std::uint32_t tables, std::uint32_t pooling,
                    const std::string& phase) {
  return simulated_us({{"embedding",
                        {{"global_batch", 64},
                         {"tables_per_gpu", tables},
                         {"dimension", 64},
                         {"pooling", pooling},
                         {"rows", 100'000},
                         {"element", "fp16"}}}},
                      gpus, phase, method);
}

double collective_us(const std::string& op, const std::string& algorithm, std::uint64_t bytes, std::uint32_t gpus) {
  return host_launch_us() +
         simulated_us({{"collective", {{"op", op}, {"algorithm", algorithm}, {"bytes", bytes}}}}, gpus, "collective");
}

/// Of all tables' results, in bytes. A reduce-scatter stands for an all-to-all that receives in a buffer.
double exchanged_us(std::uint64_t bytes, std::uint32_t gpus) {
  return collective_us("reduce-scatter", "ring", bytes, gpus) - host_launch_us();
}

void require_row(const std::map<std::string, std::string>& row, const std::string& file, int number, double measured,
                 double simulated) {
  INFO(file << " row " << number);
  CHECK(row.at("file") == file);
  CHECK(row.at("row") == std::to_string(number));
  CHECK((row.at("quantity") == "us" && row.at("unit") == "us"));
  CHECK(std::stod(row.at("measured")) == Approx(measured));
  CHECK(std::stod(row.at("simulated")) == Approx(simulated).margin(0.001));
  CHECK(std::stod(row.at("error")) == Approx(simulated / measured - 1).margin(0.0001));
}

}  // namespace

TEST_CASE("each row of measured times stands beside what a run of its own takes") {
  const MeasuredTimes times;
  times.put("gemm.csv",
            std::string(gemm_header) + "Mega-GPT-2,4,OP,1024,768,512,20,19,21\nX,1,IP,1000,500,136,8,7,9\n");
  times.put("collectives.csv", std::string(collectives_header) +
                                   "4,reduce_scatter,1,40,39,41\n3,all_gather,0.5,30,29,31\n"
                                   "2,all_to_all,0.25,20.5,19,21\n4,all_reduce,0.1,25,24,26\n2,broadcast,1,35,34,36\n");
  const Outcome outcome = times.validate();
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const auto rows = rows_of(times.table());
  REQUIRE(rows.size() == 7);
  constexpr std::uint64_t MiB = 1 << 20;
  require_row(rows[0], "collectives.csv", 1, 40, collective_us("reduce-scatter", "ring", MiB, 4));
  require_row(rows[1], "collectives.csv", 2, 30, collective_us("reduce-scatter", "ring", MiB / 2, 3));
  require_row(rows[2], "collectives.csv", 3, 20.5, collective_us("reduce-scatter", "ring", MiB / 4, 2));
  require_row(rows[3], "collectives.csv", 4, 25, collective_us("all-reduce", "ring", 104856, 4));
  require_row(rows[4], "collectives.csv", 5, 35, collective_us("broadcast", "ring", MiB, 2));
  require_row(rows[5], "gemm.csv", 1, 20, gemm_us(1024, 768, 512, true));
  require_row(rows[6], "gemm.csv", 2, 8, gemm_us(1000, 500, 136, false));
}

TEST_CASE("tokens by weights stand beside a graph's GEMM behind a clean cache") {
  const MeasuredTimes times;
  times.put("decode.csv", "shape,M,N,K,us,us_min,us_max\nany,8,1024,512,10,9,11\n");
  const Outcome outcome = times.validate();
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const json gemm = {{"m", 8},
                     {"n", 1024},
                     {"k", 512},
                     {"transpose_b", true},
                     {"group", 8},
                     {"group_columns", false},
                     {"persistent_workgroups", 132}};
  constexpr double graph_launch_us = 6.8;
  require_row(rows_of(times.table()).at(0), "decode.csv", 1, 10,
              graph_launch_us + simulated_us({{"gemm", gemm}}, 1, "gemm"));
}

TEST_CASE("embedding tables stand beside what grows from few of them to as many as there are") {
  const MeasuredTimes times;
  times.put("embedding_all_to_all.csv", std::string(embeddings_header) +
                                            "3,64,3,64,7,fp16,0.0,10,20,30,40,50,60,70\n"
                                            "2,64,80,64,5,fp16,0.1,11,21,31,41,51,61,71\n");
  const Outcome outcome = times.validate();
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const auto rows = rows_of(times.table());
  REQUIRE(rows.size() == 14);
  const char* const quantities[] = {"emb_us",       "a2a_us",        "base_us",      "zero_us",
                                    "emb_graph_us", "zero_graph_us", "base_graph_us"};
  const auto simulated = [&](std::size_t row, std::size_t quantity) {
    const auto& one = rows[row * 7 + quantity];
    CHECK(one.at("quantity") == quantities[quantity]);
    CHECK(std::stod(one.at("measured")) == Approx(10.0 * static_cast<double>(quantity + 1) + static_cast<double>(row)));
    return std::stod(one.at("simulated"));
  };
  const double host = host_launch_us();
  const auto check = [&](std::size_t row, double pooling, double all_to_all, double zero) {
    CAPTURE(row);
    const double graph[] = {pooling, all_to_all, pooling + all_to_all, zero};
    for (std::size_t i = 0; i < 4; ++i) CHECK(simulated(row, i) == Approx(graph[i] + host).margin(0.002));
    CHECK(simulated(row, 4) == Approx(pooling).margin(0.002));
    CHECK(simulated(row, 5) == Approx(zero).margin(0.002));
    CHECK(simulated(row, 6) == Approx(pooling + all_to_all).margin(0.002));
  };
  check(0, embedding_us("bulk", 3, 3, 7, "pooling"), exchanged_us(3 * 64 * 64 * 2, 3),
        embedding_us("zero-copy", 3, 3, 7, "pooling") + embedding_us("zero-copy", 3, 3, 7, "arrival"));
  const auto pooling = [](const std::string& method) {
    const double four = embedding_us(method, 2, 4, 5, "pooling"), two = embedding_us(method, 2, 2, 5, "pooling");
    return four + 38 * (four - two);
  };
  check(1, pooling("bulk"), exchanged_us(80 * 64 * 64 * 2, 2),
        pooling("zero-copy") + embedding_us("zero-copy", 2, 4, 5, "arrival"));
  CHECK(simulated(1, 4) == Approx(embedding_us("bulk", 2, 80, 5, "pooling")).epsilon(0.02));
}

TEST_CASE("a collective's start and the steps at which it waits take their time and few workgroups are slow") {
  const Folder folder;
  const auto us = [&](const std::vector<std::string>& settings) {
    std::vector<std::string> arguments{"run",   config("runs/all-reduce-4gpu.json"),    "--out", folder / "out",
                                       "--set", "workload.collective.op=reduce-scatter"};
    for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
    const Outcome outcome = run_program(arguments);
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    return json_of(folder / "out/report.json").at("time_ns").at("collective").get<double>() / 1000;
  };
  const double plain = us({});
  CHECK(us({"system.kernels.ring.start_ns=5000"}) == Approx(plain + 5).margin(0.01));
  CHECK(us({"system.kernels.ring.step_ns=2000"}) == Approx(plain + 3 * 2).margin(0.3));  // four GPUs wait three times
  CHECK(us({"system.kernels.ring.workgroups=496"}) == plain);
  CHECK(us({"system.kernels.ring.workgroups=1"}) == us({"system.compute.compute_units=1"}));
  CHECK(us({"system.kernels.ring.workgroups=1"}) > plain);
}

TEST_CASE("the summary has error and bias of each file whatever the order of columns and jobs") {
  const MeasuredTimes times;
  times.put("gemm.csv", "us_max,us,us_min,K,N,M,sublayer,tp,model\n9,8,7,64,256,256,IP,1,X\n9,4,3,64,256,256,IP,1,X\n");
  times.put("notes.csv", "anything\n");
  times.put("latency.csv", "sets parameters, and is not read\n");
  times.put("README.md", "not a table\n");
  const Outcome outcome = times.validate({"--jobs", "2"});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const double us = gemm_us(256, 256, 64, false);
  const double first = std::log(us / 8), second = std::log(us / 4);
  const double error = std::expm1((std::abs(first) + std::abs(second)) / 2), bias = std::expm1((first + second) / 2);
  const bool second_is_worst = std::abs(second) > std::abs(first);
  std::istringstream lines(outcome.out);
  std::string line, file, error_text, bias_text, worst_text, in, row, worst_row, quantity;
  std::getline(lines, line);
  int count = 0;
  lines >> file >> count >> error_text >> bias_text >> worst_text >> in >> row >> worst_row >> quantity;
  CHECK((file == "gemm.csv" && quantity == "us" && count == 2));
  CHECK(std::stod(error_text) == Approx(100 * error).margin(0.06));
  CHECK(std::stod(bias_text) == Approx(100 * bias).margin(0.06));
  CHECK(std::stod(worst_text) == Approx(100 * std::expm1(second_is_worst ? second : first)).margin(0.06));
  CHECK(worst_row == (second_is_worst ? "2" : "1"));
  CHECK_THAT(outcome.out, Catch::Contains("\nnot simulated: notes.csv"));
  CHECK_THAT(outcome.out, Catch::Contains("they only set parameters: latency.csv"));
  CHECK_THAT(outcome.out, Catch::Contains("1 runs;"));  // of two equal rows
  CHECK(fs::exists(times.table().parent_path() / "gemm.gnuplot"));

  const std::string table = text_of(times.table());
  CHECK(times.validate({"--jobs", "1"}).exit_code == 0);
  CHECK(text_of(times.table()) == table);
}

}  // namespace t3vp::test::validation_test
