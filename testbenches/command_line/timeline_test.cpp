// What the timeline of a fused kernel shows: its workgroups, what they post, the NICs, and the way of each message.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "command_line/program.h"

namespace t3vp::test::timeline_test {

using nlohmann::json;

namespace {

constexpr const char* by_nics[] = {
    R"(system.links.topology={"kind": "nodes", "gpus_per_node": 1})",
    R"(system.nic={"messages_per_us": 100, "io_latency_ns": 100, "io_GBps": 8, "entry_fetches": 16,
       "payload_in_flight_KiB": 16, "mtu_bytes": 1024, "wire_GBps": 4, "wire_latency_ns": 300, "writes_invalidate": true})"};

/// 11 samples, of which the first GPU owns 6; 3 slices of each.
constexpr const char* shape =
    R"(workload={"embedding": {"global_batch": 11, "tables_per_gpu": 5, "dimension": 256, "pooling": 3, "rows": 40, "slice": 2}})";

struct Events {
  std::map<int, std::string> groups;  ///< by process
  std::map<int, std::string> rows;    ///< by thread
  std::vector<json> spans, instants;
  std::map<std::uint64_t, std::vector<json>> messages;  ///< points of arrows by flow, as written

  /// "GPU 1: NIC sends"
  std::string place_of(const json& event) const {
    return groups.at(event.at("pid").get<int>()) + ": " + rows.at(event.at("tid").get<int>());
  }
  std::vector<json> spans_of(const std::string& place) const {
    std::vector<json> found;
    for (const json& span : spans)
      if (place_of(span) == place) found.push_back(span);
    return found;
  }
  std::size_t instants_on(const std::string& group, const std::string& name) const {
    return static_cast<std::size_t>(std::count_if(instants.begin(), instants.end(), [&](const json& instant) {
      return instant.at("name") == name && groups.at(instant.at("pid").get<int>()) == group;
    }));
  }
};

Events events_of(const json& trace) {
  Events events;
  for (const json& event : trace.at("traceEvents")) {
    const std::string kind = event.at("ph");
    if (kind == "M" && event.at("name") == "process_name")
      events.groups[event.at("pid").get<int>()] = event.at("args").at("name");
    if (kind == "M" && event.at("name") == "thread_name")
      events.rows[event.at("tid").get<int>()] = event.at("args").at("name");
    if (kind == "X") events.spans.push_back(event);
    if (kind == "i") events.instants.push_back(event);
    if (event.value("cat", "") == "message") events.messages[event.at("id").get<std::uint64_t>()].push_back(event);
  }
  return events;
}

struct FusedRun {
  ValidFiles files;
  json report;
  Events events;

  explicit FusedRun(const std::vector<std::string>& settings) {
    std::vector<std::string> arguments{"run",    files.run(), "--out",        files / "out", "--trace", "--set",
                                       "gpus=2", "--set",     "method=fused", "--set",       shape};
    for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
    json content = json_of(files.run());
    content.erase("arbitration");
    files.write("run.json", content);
    const Outcome outcome = run_program(arguments);
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    report = json_of(files / "out/report.json");
    events = events_of(json_of(files / "out/trace.json"));
  }
  double statistic(const std::string& name) const {
    for (const json& statistic : report.at("statistics"))
      if (statistic.at("name") == name) return statistic.at("value").get<double>();
    FAIL("no statistic " << name);
    return 0;
  }
};

double end_of(const json& span) { return span.at("ts").get<double>() + span.at("dur").get<double>(); }

}  // namespace

TEST_CASE("the timeline shows each PUT where it was posted and the way to the peer's memory") {
  const FusedRun run({by_nics[0], by_nics[1]});
  const std::size_t owned[] = {6, 5};
  for (const int gpu : {0, 1}) {
    const std::string name = "GPU " + std::to_string(gpu);
    CHECK(run.events.instants_on(name, "t3_shmem_putmem_nbi") == owned[1 - gpu] * 3);
    CHECK(run.events.instants_on(name, "t3_shmem_uint64_p") == owned[1 - gpu] * 3);
    CHECK(run.events.instants_on(name, "t3_shmem_pe_fence") == owned[1 - gpu] * 3);
    CHECK(run.events.instants_on(name, "own slice complete") == owned[gpu] * 3);
  }
  CHECK(run.events.messages.size() == 11 * 3 * 2);
  for (const auto& [id, points] : run.events.messages) {
    REQUIRE(points.size() == 3);
    const std::string from = run.events.groups.at(points[0].at("pid").get<int>()),
                      to = from == "GPU 0" ? "GPU 1" : "GPU 0";
    CHECK(run.events.place_of(points[0]).rfind(from + ": workgroup ", 0) == 0);
    CHECK(run.events.place_of(points[1]) == from + ": NIC sends");
    CHECK(run.events.place_of(points[2]).rfind(to + ": NIC stores", 0) == 0);
    CHECK(points[0].at("ts") < points[1].at("ts"));
    CHECK(points[1].at("ts") < points[2].at("ts"));
  }
}

TEST_CASE("the timeline shows when a NIC's packets leave, one after the other") {
  const FusedRun run({by_nics[0], by_nics[1]});
  for (const int gpu : {0, 1}) {
    const std::string name = std::to_string(gpu);
    const std::vector<json> packets = run.events.spans_of("GPU " + name + ": NIC sends");
    CHECK(static_cast<double>(packets.size()) == run.statistic("gpu" + name + ".nic.packets"));
    double sum = 0, end = 0;
    for (const json& packet : packets) {
      CHECK(packet.at("ts").get<double>() >= end - 1e-9);
      end = end_of(packet);
      sum += packet.at("dur").get<double>();
    }
    CHECK(sum == Approx(run.statistic("gpu" + name + ".nic.sending") / 1000));
  }
}

TEST_CASE("parts of a persistent workgroup follow each other from its begin to its end") {
  const bool nics = GENERATE(true, false);
  const FusedRun run(nics ? std::vector<std::string>{by_nics[0], by_nics[1]} : std::vector<std::string>{});
  std::map<std::string, double> bags, sent;
  for (const char* group : {"GPU 0", "GPU 1"})
    for (int workgroup = 0; workgroup < 28; ++workgroup) {  // 4 compute units with 7 each
      const auto parts = run.events.spans_of(std::string(group) + ": workgroup " + std::to_string(workgroup));
      REQUIRE(parts.size() >= 2);
      CHECK(parts.front().at("name") == "fused pooling");
      CHECK(parts.back().at("name") == "awaits slices");
      for (std::size_t i = 1; i < parts.size(); ++i) {
        CHECK(parts[i].at("ts").get<double>() == Approx(end_of(parts[i - 1])).epsilon(0).margin(1e-6));
        const std::string name = parts[i].at("name");
        if (name == "own slice" || name == "slice of another GPU") ++bags[group];
        if (name == "sends a slice") ++sent[group];
      }
    }
  CHECK(bags["GPU 0"] == 11 * 5);
  CHECK(bags["GPU 1"] == 11 * 5);
  CHECK(sent["GPU 0"] == (nics ? 5 * 3 : 0));
  CHECK(run.events.instants_on("GPU 0", "slice of another GPU complete") == (nics ? 0 : 5 * 3));
}

}  // namespace t3vp::test::timeline_test
