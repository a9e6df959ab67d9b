#include <fmt/format.h>
#include <algorithm>

#include <catch2/catch.hpp>
#include <map>
#include <sstream>

#include "command_line/program.h"
#include "config/configuration.h"
#include "report/report.h"

namespace t3vp::test::commands_test {

using nlohmann::json;

namespace {

json report_with_total(double total_ns, double zeroing_ns = 0) {
  const ValidFiles files;
  RunResult result;
  result.time_ns.total = total_ns;
  result.time_ns.zeroing = zeroing_ns;
  result.host.wall_s = total_ns;
  return report_json(load_run(files.run()), result);
}

Outcome compare(const std::vector<std::filesystem::path>& files) {
  std::vector<std::string> arguments{"compare"};
  for (const auto& file : files) arguments.push_back(file.string());
  return run_program(arguments);
}

}  // namespace

TEST_CASE("options --version and --help are no errors") {
  const Outcome version = run_program({"--version"});
  CHECK(version.exit_code == 0);
  CHECK_THAT(version.out, Catch::StartsWith("t3vp 0."));
  const Outcome help = run_program({"run", "--help"});
  CHECK(help.exit_code == 0);
  CHECK_THAT(help.out, Catch::Contains("--print-config"));
}

TEST_CASE("help says what an option takes in the user's words") {
  using Arguments = std::vector<std::string>;
  for (Arguments command : std::initializer_list<Arguments>{{"run"},
                                                            {"check"},
                                                            {"compare"},
                                                            {"explain"},
                                                            {"replay"},
                                                            {"experiment"},
                                                            {"riscv"},
                                                            {"validate"},
                                                            {"registers", "script"},
                                                            {"registers", "shell"}}) {
    command.push_back("--help");
    const Outcome help = run_program(command);
    CAPTURE(help.out);
    CHECK(help.exit_code == 0);
    for (const char* const type : {" TEXT", " UINT", " FLOAT"}) CHECK_THAT(help.out, !Catch::Contains(type));
  }
  CHECK_THAT(run_program({"run", "--help"}).out, Catch::Contains("--set KEY=VALUE ..."));
}

TEST_CASE("a command that is none is named") {
  for (const std::string word : {"frobnicate", "run.json", "Run"}) {
    const Outcome outcome = run_program({word, "--out", "somewhere"});
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    CHECK(outcome.err ==
          "t3vp: found " + word +
              ", expected one of run, check, registers, compare, explain, replay, experiment, riscv, validate, keys "
              "(see t3vp --help)\n");
  }
  CHECK_THAT(run_program({}).err, Catch::Contains("A subcommand is required"));
}

TEST_CASE("keys of two kinds of workload are refused before a key is missed") {
  const ValidFiles files;
  const json gemm = {{"m", 256}, {"n", 256}, {"k", 64}};
  struct Case {
    json workload;
    const char* key;
    const char* expected;
  };
  const Case cases[] = {{{{"gemm", gemm}, {"layer", "training"}}, "gemm", "not this key beside layer"},
                        {{{"sublayer", "OP"}, {"layer", "training"}}, "sublayer", "not this key beside layer"},
                        {{{"model", "T-NLG"}, {"parts", {"gemm"}}}, "parts", "this key only beside layer"},
                        {json::object({{"tp", 4}}), "tp", "this key only beside model or layer"},
                        {{{"gemm", gemm}, {"tokens", 4}}, "tokens", "this key only beside model"}};
  for (const auto& [workload, key, expected] : cases) {
    const Outcome outcome =
        run_program({"run", files.run().string(), "--print-config", "--set", "workload=" + workload.dump()});
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Catch::StartsWith(files.run().string() + ": /workload/" + key + ": found ") &&
                                Catch::EndsWith(std::string(", expected ") + expected + "\n"));
  }
}

TEST_CASE("compare tells by its exit code whether reports are the same") {
  const Folder folder;
  json slower_host = report_with_total(1000);
  slower_host["host"]["wall_s"] = 99;
  const auto a = folder.write("a.json", report_with_total(1000));
  const auto same = folder.write("same.json", slower_host);
  const auto b = folder.write("b.json", report_with_total(1250));
  CHECK(compare({a, a}).exit_code == 0);
  CHECK(compare({a, same}).exit_code == 0);
  const Outcome different = compare({a, b});
  CHECK(different.exit_code == 1);
  CHECK_THAT(different.out, Catch::Contains("time_ns.total") && Catch::Contains("+25.000%"));
  CHECK(compare({a, folder / "none.json"}).exit_code == 2);
  CHECK(compare({a, folder.write("other.json", json{{"time_ns", 3}})}).exit_code == 2);
}

TEST_CASE("compare shows the largest differences first, of each metric of all GPUs the largest, and all by --all") {
  const Folder folder;
  const auto report_of = [&](double dma, double reads_of_1) {
    json report = report_with_total(1000);
    const auto add = [&](const char* name, double value) {
      report["statistics"].push_back({{"name", name}, {"unit", "bytes"}, {"text", ""}, {"value", value}});
    };
    add("gpu0.dma.bytes", dma);
    add("gpu0.dram.reads", 100);
    add("gpu1.dram.reads", reads_of_1);
    add("gpu2.dram.reads", reads_of_1 == 100 ? 100 : 101);
    return report;
  };
  const auto a = folder.write("a.json", report_of(50, 100)), b = folder.write("b.json", report_of(60, 150));
  const std::string largest = compare({a, b}).out;
  CHECK(largest.find("gpu1.dram.reads") < largest.find("gpu0.dma.bytes"));
  CHECK_THAT(largest, Catch::Contains("The largest of 3 differences") && !Catch::Contains("gpu2.dram.reads"));
  const std::string all = run_program({"compare", a.string(), b.string(), "--all"}).out;
  CHECK(all.find("gpu0.dma.bytes") < all.find("gpu1.dram.reads"));
  CHECK_THAT(all, Catch::Contains("gpu2.dram.reads"));
  const std::string pairs = run_program({"compare", a.string(), a.string(), b.string(), "--all"}).out;
  CHECK_THAT(pairs, Catch::Contains(b.string() + ":\n\nmetric"));
}

TEST_CASE("compare refuses another workload unless told otherwise, but not another way to compute it") {
  const Folder folder;
  json tiled = report_with_total(900), larger = report_with_total(2000);
  tiled["workload"]["gemm"]["tile"] = "128x64";
  larger["workload"]["gemm"]["m"] = 4096;
  const auto a = folder.write("a.json", report_with_total(1000)), b = folder.write("b.json", larger);
  CHECK(compare({a, folder.write("tiled.json", tiled)}).exit_code == 1);
  const Outcome refused = compare({a, a, b});
  CHECK(refused.exit_code == 2);
  CHECK(refused.err == b.string() + ": found a workload that differs from " + a.string() +
                           "'s in workload/gemm/m, expected the same workload, or --any-workload\n");
  const Outcome allowed = run_program({"compare", a.string(), b.string(), "--any-workload"});
  CHECK(allowed.exit_code == 1);
  CHECK_THAT(allowed.out, Catch::Contains("the totals contain different things: workload/gemm/m differs"));
}

TEST_CASE("compare of many reports is an overview with bars") {
  const Folder folder;
  const auto a = folder.write("a.json", report_with_total(2000));
  const auto b = folder.write("b.json", report_with_total(1000));
  const Outcome overview = compare({a, b, b});
  CHECK(overview.exit_code == 1);
  CHECK_THAT(overview.out, Catch::Contains("2.000") && Catch::Contains(" ######################\n"));
  CHECK(compare({a, a, a}).exit_code == 0);
}

TEST_CASE("a failed run has no speedup in an overview, and a program of its own has its name") {
  const Folder folder;
  json failed = report_with_total(0, 50), own = report_with_total(500);
  failed["diagnosis"] = {"GPU 0 firmware waits"};
  own["program"] = "mine";
  const Outcome overview = compare(
      {folder.write("a.json", report_with_total(1000)), folder.write("b.json", failed), folder.write("c.json", own)});
  CHECK_THAT(overview.out, Catch::Contains("FAILED\n") && Catch::Contains("\nprogram mine ") &&
                               Catch::Contains(" 0.00        -             -"));
  CHECK_THAT(overview.out, !Catch::Contains("nan"));
}

TEST_CASE("a report has the algorithms of collectives, by a program of the platform too") {
  const ValidFiles files;
  const auto algorithms = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"run", files.run(), "--out", files / "out", "--set", "data=timing-only"});
    REQUIRE(run_program(options).exit_code == 0);
    return json_of(files / "out/report.json").value("algorithms", json());
  };
  const json by_method = algorithms({"--set", "method=sequential"});
  CHECK(by_method.contains("reduce_scatter"));
  CHECK(algorithms({"--set", "method=sequential", "--set", "program=sequential"}) == by_method);
}

TEST_CASE("a run says where its report is, and how far it came when it did not end") {
  const ValidFiles files;
  const Outcome right = run_program({"run", files.run(), "--out", files / "right"});
  CHECK_THAT(right.out, Catch::EndsWith("  passed\n  report: " + (files / "right/report.json").string() + "\n"));
  const Outcome stuck =
      run_program({"run", files.run(), "--set", "inject.dma_map_updates=3", "--out", files / "stuck"});
  CHECK(stuck.exit_code == 1);
  const json stopped = json_of(files / "stuck/report.json").at("stopped");
  CHECK(stopped.at("simulated_ns") > 0);
  CHECK_THAT(stuck.out,
             Catch::Contains(fmt::format("not over: stopped at {:.2f} us, setup included; {:.0f}% of GPU 0's",
                                         stopped.at("simulated_ns").get<double>() / 1000,
                                         100 * stopped.at("work_done").get<double>())));
  CHECK_THAT(stuck.out, !Catch::Contains("  total   "));
}

TEST_CASE("an overview has the speedup over the first total without and with the time that zeroing takes") {
  const Folder folder;
  const Outcome overview = compare({folder.write("sequential.json", report_with_total(2000)),
                                    folder.write("fused.json", report_with_total(1000, 600)),
                                    folder.write("as-fast.json", report_with_total(2000, 500))});
  std::istringstream lines(overview.out);
  std::string line;
  std::getline(lines, line);
  CHECK_THAT(line, Catch::Contains("speedup  with zeroing"));
  for (const auto& [speedup, with_zeroing] : {std::pair{1.0, 1.0}, {2000.0 / 1000, 2000.0 / 1600}, {1.0, 0.8}}) {
    std::string method, file;  // of equal methods
    double us = 0, found = 0, found_with_zeroing = 0;
    std::getline(lines, line);
    std::istringstream(line) >> method >> file >> us >> found >> found_with_zeroing;
    CHECK(found == Approx(speedup).margin(0.0005));
    CHECK(found_with_zeroing == Approx(with_zeroing).margin(0.0005));
  }
}

TEST_CASE("check names the kind of every file of the project") {
  const std::pair<const char*, const char*> files[] = {
      {"runs/gemm-rs-4gpu.json", "run file"},     {"runs/t-nlg-fc2-tp8.json", "run file"},
      {"systems/t3-table1.json", "system file"},  {"systems/small-4.json", "system file"},
      {"memory/hbm2-legacy.json", "memory file"}, {"memory/hbm2-pseudo-channel.json", "memory file"},
      {"workloads/models.json", "models file"}};
  for (const auto& [file, kind] : files) {
    const Outcome outcome = run_program({"check", config(file).string()});
    INFO(outcome.err);
    CHECK(outcome.exit_code == 0);
    CHECK_THAT(outcome.out, Catch::Contains(kind));
  }
}

TEST_CASE("check takes the settings of run and replay") {
  const ValidFiles files;
  const std::string run = files.run().string(), memory = (files / "memory.json").string();
  CHECK(run_program({"check", run, "--set", "gpus=5"}).exit_code == 0);
  const Outcome wrong = run_program({"check", run, "--set", "method=none"});
  CHECK(wrong.exit_code == 2);
  CHECK(wrong.err == run_program({"run", run, "--set", "method=none", "--out", files / "out"}).err);
  CHECK(run_program({"check", memory, "--set", "clock_GHz=0.5"}).exit_code == 0);
  CHECK_THAT(run_program({"check", memory, "--set", "timing.CL=-1"}).err, Catch::Contains(": /timing/CL: found -1"));
}

TEST_CASE(
    "check refuses settings of a file that takes none, and arguments that nobody takes, in one line that says so") {
  const ValidFiles files;
  const std::string system = (files / "system.json").string(), models = config("workloads/models.json").string();
  const auto is_refused = [](const std::vector<std::string>& arguments, const std::string& line) {
    const Outcome outcome = run_program(arguments);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.err == line + "\n");
  };
  is_refused({"check", system, "--set", "gpus=2"},
             "--set gpus=2: found a system file, " + system + ", expected a run or memory file to change");
  is_refused({"check", models, "--set", "a=1", "--set", "b=2"},
             "--set a=1: found a models file, " + models + ", expected a run or memory file to change");
  is_refused({"compare", system, system, "--set", "gpus=2"},
             "t3vp compare: found --set, expected none but its own arguments (see t3vp compare --help)");
  is_refused({"check", system, models, "gpus=2"},
             "t3vp check: found " + models + ", expected none but its own arguments (see t3vp check --help)");
}

TEST_CASE("registers prints the reference of every block") {
  const Outcome outcome = run_program({"registers"});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == text_of(T3VP_SOURCE_DIR "/docs/reference/registers.md"));
  CHECK_THAT(outcome.out, Catch::Contains("tracker") && Catch::Contains("dma"));
}

TEST_CASE("option --print-config prints a run file and runs nothing") {
  const ValidFiles files;
  const Outcome outcome = run_program(
      {"run", files.run().string(), "--print-config", "--set", "gpus=5", "--out", (files / "out").string()});
  CHECK(outcome.exit_code == 0);
  CHECK(json::parse(outcome.out).at("gpus") == 5);
  CHECK_FALSE(std::filesystem::exists(files / "out"));
  const auto again = files.write("again.json", outcome.out);
  CHECK(run_program({"run", again.string(), "--print-config"}).out == outcome.out);
}

namespace {

/// `count` sequential reads of 32 bytes, all there from the start.
std::filesystem::path sequential_trace(const Folder& folder, std::uint64_t count) {
  std::string bytes;
  for (std::uint64_t i = 0; i < count; ++i)
    for (const std::uint64_t word : {std::uint64_t{0}, i * 32})
      for (int b = 0; b < 8; ++b) bytes += static_cast<char>(word >> (8 * b) & 0xFF);
  return folder.write("reads.trace", bytes);
}

std::string refusal_of(const std::filesystem::path& trace, std::uint64_t address, const std::string& expected) {
  return trace.string() + ": found the address " + std::to_string(address) + " in record 1, expected " + expected +
         "\n";
}

}  // namespace

TEST_CASE("replay reports what a trace costs on a memory file") {
  const Folder folder;
  const std::string trace = sequential_trace(folder, 4096).string(),
                    memory = config("memory/hbm2-legacy.json").string();
  const std::vector<std::string> arguments{"replay", trace,          "--memory",   memory,
                                           "--out",  folder / "out", "--commands", folder / "commands.csv"};
  const Outcome outcome = run_program(arguments);
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const json report = json_of(folder / "out/report.json");
  CHECK(report.at("accesses") == 4096);
  CHECK(report.at("reads") == 4096);
  CHECK(report.at("bandwidth_GBps") <= 32.0);
  CHECK(report.at("time_ns") >= 4096.0);
  CHECK(report.at("pct_peak") == Approx(100 * report.at("bandwidth_GBps").get<double>() / 32));
  CHECK(report.at("row_hit_rate") == Approx(1 - 64.0 / 4096));  // of rows of 64 columns
  for (const char* of : {"mean", "p50", "p99"}) CHECK(report.at("read_latency_ns").at(of) >= 15.0);  // CL + BURST
  CHECK(report.at("host").at("accesses_per_s") > 0);
  const Outcome checked = run_program({"check", folder / "out/report.json"});
  INFO(checked.err);
  CHECK(checked.exit_code == 0);
  CHECK_THAT(checked.out, Catch::Contains("replay report"));
  CHECK_THAT(text_of(folder / "commands.csv"), Catch::Contains("ACT"));

  CHECK(report.at("model") == "exact");
  const std::vector<std::string> loosely{"replay", trace,          "--memory", memory,
                                         "--out",  folder / "out", "--model",  "loosely-timed"};
  REQUIRE(run_program(loosely).exit_code == 0);
  CHECK(json_of(folder / "out/report.json").at("model") == "loosely-timed");
  CHECK(json_of(folder / "out/report.json").at("bandwidth_GBps") == Approx(report.at("bandwidth_GBps")).epsilon(0.05));
  const Outcome logged = run_program({"replay", trace, "--memory", memory, "--out", folder / "out", "--model",
                                      "loosely-timed", "--commands", folder / "commands.csv"});
  CHECK(logged.exit_code == 2);
  CHECK(logged.err == "--commands: found the model loosely-timed, which has no commands, expected the model exact\n");

  std::vector<std::string> slower = arguments;
  slower.insert(slower.end(), {"--set", "clock_GHz=0.5", "--outstanding", "1"});
  REQUIRE(run_program(slower).exit_code == 0);
  CHECK(json_of(folder / "out/report.json").at("time_ns") > 10 * report.at("time_ns").get<double>());
}

TEST_CASE("replay refuses an address that the channel does not have, with its record") {
  const Folder folder;
  const std::string memory = config("memory/hbm2-legacy.json").string();
  const auto replay_of = [&](std::uint64_t address) {
    std::string bytes(32, '\0');
    for (int b = 0; b < 8; ++b) bytes[24 + static_cast<std::size_t>(b)] = static_cast<char>(address >> (8 * b) & 0xFF);
    const std::filesystem::path trace = folder.write("one.trace", bytes);
    return run_program({"replay", trace, "--memory", memory, "--out", folder / "out"});
  };
  constexpr std::uint64_t channel_bytes = std::uint64_t{16} * 8192 * 2048, write = std::uint64_t{1} << 63;
  for (const std::uint64_t wrong : {channel_bytes, channel_bytes - 31, write - 32}) {
    const Outcome outcome = replay_of(wrong | write);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.err == refusal_of(folder / "one.trace", wrong, "at most 268435424, the last of the channel"));
  }
  const Outcome outcome = replay_of(33);
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.err == refusal_of(folder / "one.trace", 33, "a multiple of 32, geometry.access_bytes"));
  CHECK_FALSE(std::filesystem::exists(folder / "out"));
  CHECK(replay_of(channel_bytes - 32).exit_code == 0);
}

TEST_CASE("replay refuses what is no trace or no memory file with one line") {
  const Folder folder;
  const std::string trace = sequential_trace(folder, 4).string(), memory = config("memory/hbm2-legacy.json").string();
  const std::string half = folder.write("half.trace", std::string(24, 'x')).string();
  const std::string late = folder.write("late.trace", std::string(16, 'x')).string();
  const std::vector<std::string> wrong[] = {{"replay", half, "--memory", memory},
                                            {"replay", (folder / "none").string(), "--memory", memory},
                                            {"replay", trace, "--memory", (folder / "none").string()},
                                            {"replay", trace, "--memory", memory, "--set", "timing.CL=-1"},
                                            {"replay", trace, "--memory", memory, "--commands", folder / "no/file"},
                                            {"replay", trace, "--memory", memory, "--commands", "/dev/full"},
                                            {"replay", late, "--memory", memory},
                                            {"replay", trace, "--memory", memory, "--outstanding", "-1"},
                                            {"replay", trace}};
  for (std::vector<std::string> arguments : wrong) {
    arguments.insert(arguments.end(), {"--out", folder / "out"});
    const Outcome outcome = run_program(arguments);
    INFO(outcome.err);
    CHECK(outcome.exit_code == 2);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  }
}

namespace {

Outcome run_into(const ValidFiles& files, const std::string& folder, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"run", files.run().string(), "--out", files / folder};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments);
}

}  // namespace

TEST_CASE("two runs of a configuration give the same report, and a valid one") {
  const ValidFiles files;
  REQUIRE(run_into(files, "a").exit_code == 0);
  REQUIRE(run_into(files, "b").exit_code == 0);
  CHECK(compare({files / "a/report.json", files / "b/report.json"}).exit_code == 0);
  CHECK_NOTHROW(read_report(files / "a/report.json"));
  CHECK(json_of(files / "a/report.json").at("host").at("wall_s") > 0);
}

TEST_CASE("options --trace and --dump-arrays write files next to the report") {
  const ValidFiles files;
  REQUIRE(run_into(files, "out", {"--trace", "--dump-arrays", "--set", "data=functional"}).exit_code == 0);
  CHECK_FALSE(json_of(files / "out/trace.json").at("traceEvents").empty());
  for (const char* array : {"gpu0.a.npy", "gpu3.b.npy", "gpu2.out.npy"})
    CHECK(std::filesystem::exists(files / (std::string("out/") + array)));
  REQUIRE(run_into(files, "plain").exit_code == 0);
  CHECK_FALSE(std::filesystem::exists(files / "plain/trace.json"));
}

TEST_CASE("the timeline's arrows over links and switches end in the memory of another GPU") {
  const ValidFiles files;
  REQUIRE(
      run_into(files, "out", {"--trace", "--set", "system.links.topology=switch", "--set", "method=t3"}).exit_code ==
      0);
  std::map<std::pair<int, int>, std::string> tracks;
  std::map<json, std::pair<int, std::string>> begin, end;  // process and track, by the arrows' number
  const json trace = json_of(files / "out/trace.json");
  for (const json& event : trace.at("traceEvents")) {
    const std::string kind = event.at("ph");
    if (kind == "M" && event.at("name") == "thread_name")
      tracks[{event.at("pid"), event.at("tid")}] = event.at("args").at("name");
    if (kind != "s" && kind != "f") continue;
    (kind == "s" ? begin : end)[event.at("id")] = {event.at("pid"), tracks.at({event.at("pid"), event.at("tid")})};
  }
  std::size_t between = 0;
  for (const auto& [id, last] : end) {
    if (begin.at(id).first == last.first) continue;
    CHECK(last.second == "HBM");
    ++between;
  }
  CHECK(between > 0);
}

TEST_CASE("the timeline's DRAM traffic is the report's, byte for byte") {
  const ValidFiles files;
  REQUIRE(run_into(files, "out", {"--trace"}).exit_code == 0);
  std::map<std::string, double> bytes;
  std::map<std::pair<int, std::string>, std::pair<double, double>> told;  // time in us and GB/s, by GPU and class
  const json trace = json_of(files / "out/trace.json");
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "C") continue;
    const std::string name = event.at("name");
    if (name.rfind("HBM: ", 0) != 0) continue;
    const double time = event.at("ts"), value = event.at("args").at("value");
    auto& [since, rate] = told[{event.at("pid"), name}];
    REQUIRE(time >= since);
    bytes[name.substr(5)] += rate * (time - since) * 1000;
    since = time;
    rate = value;
  }
  for (const auto& [counter, last] : told) CHECK(last.second == 0);
  const json report = json_of(files / "out/report.json");
  for (const auto& [name, mean] : report.at("dram_bytes").items()) {
    INFO(name);
    CHECK(bytes[name] == Approx(report.at("gpus").get<double>() * mean.get<double>()).epsilon(1e-6));
  }
}

TEST_CASE("a simulation that fails is exit code 1, with a report, a timeline and a diagnosis") {
  const ValidFiles files;
  const Outcome outcome = run_into(files, "out", {"--trace", "--set", "inject.dma_map_updates=3"});
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.out, Catch::Contains("FAILED"));
  CHECK(outcome.err.empty());  // no progress without a terminal
  CHECK_FALSE(json_of(files / "out/report.json").at("diagnosis").empty());
  CHECK_FALSE(json_of(files / "out/trace.json").at("traceEvents").empty());
  CHECK_NOTHROW(read_report(files / "out/report.json"));
}

}  // namespace t3vp::test::commands_test
