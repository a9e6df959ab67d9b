// Runs of programs that drive NICs, between nodes that nothing else joins.
#include <algorithm>
#include <catch2/catch.hpp>

#include "software/outside_run.h"

namespace t3vp::test::nics_test {

namespace {

using nlohmann::json;

json nic() {
  return {{"messages_per_us", 215}, {"io_latency_ns", 200},        {"io_GBps", 26},
          {"entry_fetches", 128},   {"payload_in_flight_KiB", 64}, {"mtu_bytes", 4096},
          {"wire_GBps", 20},        {"wire_latency_ns", 700},      {"writes_invalidate", true}};
}

/// GPUs of small-4 with NICs, each a node of its own.
json apart(std::uint32_t gpus, const char* data = "functional") {
  json system = json::parse(text_of(config("systems/small-4.json")));
  system["memory"]["file"] = config("memory/hbm2-legacy.json").string();
  system["links"]["topology"] = {{"kind", "nodes"}, {"gpus_per_node", 1}};
  system["nic"] = nic();
  return {{"system", system}, {"gpus", gpus}, {"data", data}};
}

json with(json settings, const char* key, const json& value) {
  settings[key] = value;
  return settings;
}

double statistic(const nlohmann::ordered_json& report, const std::string& name) {
  for (const auto& one : report.at("statistics"))
    if (one.at("name") == name) return one.at("value").get<double>();
  FAIL("no statistic " + name);
  return 0;
}

constexpr double payload = 64 * 256 * 4, packets = payload / 4096;

}  // namespace

TEST_CASE("GPUs of nodes without links exchange data over their NICs in the same time with data and without") {
  const OutsideRun functional(library("rdma") + ":ring", with(apart(3), "check", "all"));
  const Outcome outcome = functional.run();
  INFO(outcome.err << outcome.out);
  REQUIRE(outcome.exit_code == 0);
  const auto report = functional.report();
  CHECK(report.at("functional").at("elements") == 3 * 64 * 256);
  CHECK(report.at("functional").at("mismatches") == 0);
  for (const char* gpu : {"gpu0", "gpu1", "gpu2"}) {
    const std::string nic = std::string(gpu) + ".nic.";
    CHECK(statistic(report, nic + "messages") == 1);
    CHECK(statistic(report, nic + "payload") == payload);
    CHECK(statistic(report, nic + "placed") == payload);
    CHECK(statistic(report, nic + "packets") == packets + 1);  // and the acknowledgement of what has come
    CHECK(statistic(report, nic + "wire_bytes") == payload + 26 * packets + 16 + 30);
    CHECK(statistic(report, nic + "lost") == 0);
    CHECK(statistic(report, nic + "errors") == 0);
  }
  CHECK(report.at("dram_bytes").at("nic_read") == payload);   // of a GPU
  CHECK(report.at("dram_bytes").at("nic_write") == payload);  // of a GPU
  CHECK(report.at("links").empty());

  const OutsideRun timing(library("rdma") + ":ring", apart(3, "timing-only"));
  REQUIRE(timing.run().exit_code == 0);
  CHECK(timing.report().at("time_ns") == report.at("time_ns"));
}

TEST_CASE("a run passes whose lost packets its NICs have sent again, and a line says how many") {
  const OutsideRun whole(library("rdma") + ":ring", apart(2));
  REQUIRE(whole.run().exit_code == 0);
  const OutsideRun run(library("rdma") + ":ring",
                       with(apart(2), "inject", {{"drop_packets", {{"gpu", 1}, {"count", 3}}}}));
  const Outcome outcome = run.run();
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(
      outcome.out + outcome.err,
      Catch::Contains("the wire lost the first 3 packets that GPU 1's NIC sent, first the write packet 0 of queue "
                      "pair 0 of NIC 1"));
  CHECK_THAT(outcome.out, Catch::Contains("; recovered: ") && Catch::Contains(" sent again\n  passed\n"));
  const auto report = run.report();
  CHECK(report.at("functional").at("mismatches") == 0);
  CHECK(statistic(report, "gpu1.nic.lost") == 3);
  CHECK(statistic(report, "gpu0.nic.lost") == 0);
  CHECK(statistic(report, "gpu1.nic.resent") > 0);
  CHECK(report.at("time_ns").at("total").get<double>() > whole.report().at("time_ns").at("total").get<double>());
}

TEST_CASE("a fault on the wire that nobody uses has not struck") {
  const OutsideRun run(library("guests") + ":phases",
                       with(apart(2), "inject", {{"drop_packets", {{"gpu", 1}, {"count", 3}}}}));
  const Outcome outcome = run.run();
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.out + outcome.err, Catch::Contains("GPU 1's NIC sent nothing"));
}

TEST_CASE("a run that waits for a message that never ends names the queue pair") {
  const OutsideRun run(library("rdma") + ":alone", apart(2));
  CHECK(run.run().exit_code == 1);
  const auto lines = run.report().at("diagnosis").get<std::vector<std::string>>();
  CHECK(std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find("NIC 0: queue pair 0 has ended 0 of 1 work entries; the next is a write of 65536 bytes") !=
           std::string::npos;
  }));
}

TEST_CASE("GPUs of other nodes cannot be reached where no link joins nodes") {
  const OutsideRun run(library("rdma") + ":signal", apart(2));
  const Outcome outcome = run.run();
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.out + outcome.err, Catch::Contains("GPU 1"));
}

TEST_CASE("a NIC's registers are not there in a system without NICs") {
  const OutsideRun run(library("rdma") + ":ring", {{"gpus", 2}});
  const Outcome outcome = run.run();
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.out + outcome.err, Catch::Contains("this system has no NIC"));
}

}  // namespace t3vp::test::nics_test
