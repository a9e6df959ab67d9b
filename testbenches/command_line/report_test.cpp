#include <catch2/catch.hpp>
#include <limits>

#include "command_line/program.h"
#include "io/input_error.h"
#include "io/output_file.h"
#include "report/comparison.h"
#include "report/report.h"
#include "report/report_figures.h"
#include "report/result_table.h"
#include "report/warnings.h"

namespace t3vp::test::report_test {

using nlohmann::json;

namespace {

RunResult good_result() {
  RunResult r;
  r.time_ns.total = 3000;
  r.time_ns.phases = {{"gemm", 1000}, {"fused", 1500.125}, {"all_gather", 1499.875}};
  r.dram_bytes.resize(2);
  r.dram_bytes[0][index_of(TrafficClass::rs_read)] = 100;
  r.dram_bytes[1][index_of(TrafficClass::rs_read)] = 301;
  r.links.push_back({0, 3, 75, 4096, 4096, 2, 0.5});
  r.bounds = {900, 2000, 500};
  r.functional = {true, 65536, 0, 0.001, {}};
  r.statistics.push_back({"gpu0.dram.row_hits", "accesses", "column accesses to an open row", 17});
  return r;
}

json report_of(const RunResult& result) {
  const ValidFiles files;
  return report_json(load_run(files.run()), result);
}

}  // namespace

TEST_CASE("a report holds what the design promises") {
  const json report = report_of(good_result());
  for (const char* key : {"version", "config_hash", "seed", "method", "system", "workload", "time_ns", "dram_bytes",
                          "links", "tracker", "bounds", "functional", "statistics", "host"})
    CHECK(report.contains(key));
  CHECK(report.at("method") == "t3");
  CHECK(report.at("system") == "small-4");
  CHECK(report.at("time_ns").at("reduce_scatter").is_null());
  CHECK(report.at("time_ns").at("fused") == 1500.125);
  CHECK(report.at("links")[0].at("to") == 3);
  CHECK_FALSE(report.contains("diagnosis"));
  const Folder folder;
  CHECK_NOTHROW(read_report(folder.write("report.json", report)));
}

TEST_CASE("DRAM bytes are those of a GPU, with every class") {
  const json bytes = report_of(good_result()).at("dram_bytes");
  CHECK(bytes.size() == std::size(traffic_class_values));
  CHECK(bytes.at("rs_read") == 200.5);
  CHECK(bytes.at("control") == 0);
}

TEST_CASE("phases and classes that a program brings are in the report and in its table without further ado") {
  RunResult result = good_result();
  result.time_ns.phases.emplace_back("all_to_all", 2500);
  json report = report_of(result);
  CHECK(report.at("time_ns").at("all_to_all") == 2500);
  report.at("dram_bytes")["a2a_write"] = 3 << 20;
  const Folder folder;
  const json read = read_report(folder.write("report.json", report));
  CHECK(figures_of(read).at("time_ns.all_to_all") == 2500);
  CHECK(figures_of(read).at("dram_bytes.a2a_write") == 3 << 20);
  const std::string table = result_table(read);
  CHECK_THAT(table, Catch::Contains("all_to_all                        2.50  #"));
  CHECK_THAT(table, Catch::Contains("a2a_write                         3.00  #"));
  CHECK_THAT(table, Catch::Contains("total without setup               3.00"));
}

TEST_CASE("a wrong result and a beaten bound are failures with a sentence") {
  CHECK(failures(good_result()).empty());
  RunResult wrong = good_result();
  wrong.functional.mismatches = 3;
  CHECK_THAT(failures(wrong).at(0), Catch::Contains("3 of 65536"));
  for (double Bounds::*bound :
       {&Bounds::compute_ns, &Bounds::compute_quantized_ns, &Bounds::link_ns, &Bounds::dram_ns}) {
    RunResult fast = good_result();
    fast.bounds.*bound = 3000;
    CHECK(failures(fast).empty());
    fast.bounds.*bound = 3001;
    CHECK(failures(fast).size() == 1);
    CHECK(report_of(fast).at("diagnosis").size() == 1);
  }
}

TEST_CASE("the diagnosis of a run that broke off is not joined by its meaningless times") {
  RunResult stuck = good_result();
  stuck.diagnosis = {"GPU 0 waits for 2 updates of workgroup 7"};
  stuck.time_ns.total = 0;
  CHECK(failures(stuck) == stuck.diagnosis);
}

TEST_CASE("the first mismatch is told with its place") {
  RunResult wrong = good_result();
  wrong.functional.mismatches = 2;
  wrong.functional.first = Mismatch{"out", 3, 5, 7, 12.5, 13};
  CHECK_THAT(failures(wrong).at(0), Catch::Contains("GPU 3, out, row 5, column 7: found 12.5, expected 13"));
  CHECK(report_of(wrong).at("functional").at("first_mismatch").at("column") == 7);
  wrong.functional.first->found = std::numeric_limits<double>::quiet_NaN();
  const Folder folder;
  CHECK_NOTHROW(read_report(folder.write("report.json", report_of(wrong))));
}

TEST_CASE("the largest error is told in words when it is no number, whatever comes after it") {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const auto table_with = [](const std::vector<double>& found) {
    RunResult result = good_result();
    for (const double value : found) result.functional.note({"out", 0, 0, 0, value, 1});
    return result_table(report_json(load_run(ValidFiles().run()), result));
  };
  CHECK_THAT(table_with({3, 2}), Catch::Contains("2 mismatches, largest error 2\n"));
  CHECK_THAT(table_with({3, infinity, 2}),
             Catch::Contains("largest error infinite") && Catch::Contains("up to infinite"));
  for (const auto& found : {std::vector<double>{nan, 3}, {3, nan}, {infinity, nan, infinity}})
    CHECK_THAT(table_with(found), Catch::Contains("largest error not a number") && !Catch::Contains("nan"));
}

TEST_CASE("a run with an injected fault fails, whatever became of it") {
  RunResult faulty = good_result();
  faulty.faults = {{"flip_bit", false, "there were 3 accesses"}};
  CHECK(failures(faulty) == std::vector<std::string>{"fault flip_bit did not strike: there were 3 accesses"});
  faulty.faults[0].struck = true;
  CHECK(failures(faulty) ==
        std::vector<std::string>{"fault flip_bit struck: there were 3 accesses; no check noticed it"});
  faulty.functional.mismatches = 1;
  CHECK(failures(faulty).size() == 2);
  CHECK_THAT(failures(faulty)[1], !Catch::Contains("no check"));
  const Folder folder;
  CHECK_NOTHROW(read_report(folder.write("report.json", report_of(faulty))));
  CHECK(report_of(faulty).at("faults")[0].at("name") == "flip_bit");
}

TEST_CASE("a run whose fault the hardware has recovered from passes, and says how") {
  RunResult faulty = good_result();
  faulty.faults = {{"drop_packets", true, "3 packets were lost", "4 packets sent again"}};
  CHECK(failures(faulty).empty());
  CHECK_THAT(result_table(report_of(faulty)),
             Catch::EndsWith("  fault drop_packets struck: 3 packets were lost; recovered: 4 packets sent again\n"
                             "  passed\n"));
  CHECK(report_of(faulty).at("faults")[0].at("recovery") == "4 packets sent again");
  const Folder folder;
  CHECK_NOTHROW(read_report(folder.write("report.json", report_of(faulty))));
  faulty.functional.mismatches = 1;
  CHECK_THAT(failures(faulty).at(1), Catch::EndsWith("; recovered: 4 packets sent again"));
  faulty = good_result();
  faulty.faults = {{"drop_packets", true, "3 packets were lost", "4 packets sent again"},
                   {"flip_bit", true, "access 1"}};
  CHECK(failures(faulty) == std::vector<std::string>{"fault flip_bit struck: access 1; no check noticed it"});
}

TEST_CASE("the table shows phases, traffic, links and the verdict") {
  const std::string table = result_table(report_of(good_result()));
  for (const char* word : {"GEMM 256 x 256 x 64 fp16 on small-4, 4 GPUs, t3", "all-gather", "1.50", "GPU 0 -> GPU 3",
                           "50.0%", "0 mismatches", "passed"})
    CHECK_THAT(table, Catch::Contains(word));
  CHECK_THAT(table, !Catch::Contains("reduce-scatter kernel"));
  RunResult stuck = good_result();
  stuck.diagnosis = {"nobody owes the rest"};
  CHECK_THAT(result_table(report_of(stuck)), Catch::Contains("FAILED\n    nobody owes the rest"));
}

TEST_CASE("a report warns of what surprises, with the figure that shows it, and of nothing else") {
  const auto metrics_of = [](const RunResult& result) {
    std::vector<std::string> metrics;
    const json report = report_of(result);
    for (const json& warning : report.value("warnings", json::array())) metrics.push_back(warning.at("metric"));
    const Folder folder;
    CHECK_NOTHROW(read_report(folder.write("report.json", report)));
    return metrics;
  };
  using Metrics = std::vector<std::string>;
  CHECK(metrics_of(good_result()).empty());
  RunResult result = good_result();
  result.tracker.spills = 7;
  result.tracker.trigger_wait_ns = 2500;
  CHECK(metrics_of(result) == Metrics{"tracker.spills"});
  CHECK_THAT(result_table(report_of(result)),
             Catch::Contains("warning: the Tracker moved 7 entries to memory, and triggers waited 2.50 us"));

  result = good_result();
  LinkFigures& link = result.links.front();  // of a run of 3000 ns
  link.credit_stall_ns = 299;
  CHECK(metrics_of(result).empty());
  link.credit_stall_ns = 300;
  CHECK(metrics_of(result) == Metrics{"links.credit_stall_ns"});
  CHECK_THAT(result_table(report_of(result)), Catch::Contains("GPU 0 to GPU 3 stood still for 10% of the total"));

  link.credit_stall_ns = 0;
  link.queueing_ns = 150;
  CHECK(metrics_of(result) == Metrics{"links.queueing_ns"});
  CHECK_THAT(result_table(report_of(result)), Catch::Contains("one waits 5.0% of the total"));
  link.utilization = 0.68;  // then the link is what decides
  CHECK(metrics_of(result).empty());
  link.utilization = 0.5;
  result.time_ns.phases = {{"collective", 3000}};  // no tiles
  CHECK(metrics_of(result).empty());
  result.time_ns.phases = good_result().time_ns.phases;
  link.credit_stall_ns = 300;  // then stores wait for room
  CHECK(metrics_of(result) == Metrics{"links.credit_stall_ns"});
  link.credit_stall_ns = 0;
  link.queueing_ns = 149;
  CHECK(metrics_of(result).empty());

  result = good_result();
  const auto add = [&](const char* name, double value) { result.statistics.push_back({name, "accesses", "", value}); };
  add("gpu0.dram.communication", 1000);
  add("gpu0.dram.aged", 99);
  add("gpu1.dram.communication", 0);
  add("gpu1.dram.aged", 0);
  CHECK(metrics_of(result).empty());
  add("gpu2.dram.communication", 500);
  add("gpu2.dram.aged", 50);
  CHECK(metrics_of(result) == Metrics{"gpu2.dram.aged"});
  CHECK_THAT(result_table(report_of(result)), Catch::Contains("let in 10% of the communication stream"));

  result.tracker.spills = 7;
  result.diagnosis = {"nobody owes the rest"};
  CHECK(metrics_of(result).empty());
}

TEST_CASE("replicates that spread by more than a hundredth are a warning") {
  nlohmann::ordered_json report = report_of(good_result());
  report["replicates"]["time_ns"]["total"]["spread"] = 0.01;
  set_warnings(report);
  CHECK_FALSE(report.contains("warnings"));
  report["replicates"]["time_ns"]["total"]["spread"] = 0.011;
  set_warnings(report);
  CHECK(report.at("warnings").size() == 1);
  CHECK(report.at("warnings")[0].at("metric") == "replicates.time_ns.total.spread");
  report["replicates"]["time_ns"]["total"]["spread"] = 0.001;
  set_warnings(report);
  CHECK_FALSE(report.contains("warnings"));
}

TEST_CASE("bars are proportional and never longer than full") {
  CHECK(bar(0, 10).empty());
  CHECK(bar(0.5, 10) == "#####");
  CHECK(bar(0.001, 10) == "#");
  CHECK(bar(7, 10).size() == 10);
  CHECK(bar(std::numeric_limits<double>::quiet_NaN(), 10).empty());
}

TEST_CASE("reports differ in the figures that differ, but for the host's") {
  const json first = report_of(good_result());
  RunResult other = good_result();
  other.host.wall_s = 5;
  CHECK(differences(first, report_of(other)).empty());
  other.time_ns.total = 3300;
  other.links[0].payload_bytes = 8192;
  other.statistics[0].value = 18;
  other.time_ns.phases.emplace_back("reduce_scatter", 12);
  const auto list = differences(first, report_of(other));
  REQUIRE(list.size() == 6);
  CHECK(list[0].figure == "gpu0.dram.row_hits");
  CHECK(list[1].figure == "links.0_to_3.payload_bytes");
  CHECK(*list[1].relative == 1.0);
  CHECK(list[2].figure == "time_ns.exposed_communication");
  CHECK(list[3].figure == "time_ns.exposed_reduce_scatter");
  CHECK(list[4].figure == "time_ns.reduce_scatter");
  CHECK_FALSE(list[4].relative);
  CHECK(list[5].figure == "time_ns.total");
  CHECK(*list[5].relative == Approx(0.1));
}

TEST_CASE("a figure that only one report has is a difference") {
  RunResult more = good_result();
  more.statistics.push_back({"extra", "", "", 1});
  const auto list = differences(report_of(good_result()), report_of(more));
  REQUIRE(list.size() == 1);
  CHECK(list[0].figure == "extra");
  CHECK(list[0].first == "-");
}

TEST_CASE("comparing totals warns in one line of what only one of them contains") {
  RunResult sequential = good_result();
  sequential.time_ns.phases = {{"gemm", 1000}, {"reduce_scatter", 1000}, {"all_gather", 1000}};
  const json first = report_of(good_result());
  CHECK(warning_of_totals(first, report_of(sequential)).empty());
  sequential.time_ns.phases.pop_back();
  sequential.links[0].payload_bytes = 1 << 20;
  const std::string warning = warning_of_totals(first, report_of(sequential));
  CHECK(warning ==
        "the totals contain different things: only the first has an all-gather; "
        "links carried 0.00 and 1.00 MiB of data");
  sequential.time_ns.phases.pop_back();
  CHECK_THAT(warning_of_totals(first, report_of(sequential)), Catch::Contains("only the first has a reduce-scatter"));
  json other = first;
  other.at("workload")["label"] = "another name";
  other.at("workload")["gemm"]["tile"] = "64x64";
  CHECK(warning_of_totals(first, other).empty());
  other.at("workload")["gemm"]["k"] = 4096;
  other["isolated_phases"] = true;
  other.at("time_ns")["all_gather"] = nullptr;
  other.at("workload")["fused"] = "all-reduce";
  CHECK_THAT(warning_of_totals(first, other),
             Catch::EndsWith("workload/gemm/k differs; only the second is made of isolated phases"));
}

TEST_CASE("the summary of isolated phases says that their total is no bound, and the overview shows set-up") {
  json report = report_of(good_result());
  CHECK_THAT(result_table(report), !Catch::Contains("not a bound"));
  report["isolated_phases"] = true;
  CHECK_THAT(result_table(report), Catch::Contains("isolated phases, not a bound"));
  const Folder folder;
  CHECK_NOTHROW(read_report(folder.write("report.json", report)));
  report.at("time_ns")["setup"] = 14420;
  CHECK_THAT(overview_table({report, report}, {"t3", "t3"}),
             Catch::Contains("setup us") && Catch::Contains("     14.42"));
}

TEST_CASE("a report is replaced in one step and leaves no partial file") {
  const Folder folder;
  write_text(folder / "report.json", "old");
  write_text(folder / "report.json", "new");
  CHECK(text_of(folder / "report.json") == "new");
  CHECK(std::distance(std::filesystem::directory_iterator(folder / "."), {}) == 1);
  CHECK_THROWS_WITH(write_text(folder / "no/report.json", "x"), Catch::Contains("report.json"));
}

}  // namespace t3vp::test::report_test
