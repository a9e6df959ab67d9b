// Statistics of whole runs: which there are, and what has to hold between them and with the rest of the report.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <numeric>

#include "report/report_figures.h"
#include "system/kernel_runs.h"

namespace t3vp::test::statistics_test {

namespace {

using nlohmann::json;

constexpr double compute_units = 4, channels = 4, link_GBps = 4, vector_lanes = 128;  // of small-4
constexpr double queue_depth = 64, access_bytes = 32, banks = 16;                     // of its memory, hbm2-legacy

const char* const small_product = R"(workload={"gemm": {"m": 256, "n": 320, "k": 64}})";
const char* const reducing = R"(system.links.topology={"kind": "switch", "latency_ns": 100, "reduction": true})";

Settings on_small(const Settings& more) { return Settings{on_small_system(), "data=timing-only"} + more; }

std::string memory_file(const char* name) { return "system.memory.file=" + config(name).string(); }

/// A real run, and what its statistics are compared with.
struct Case {
  const char* name;
  Settings settings;
  /// What programs hand over at their end, behind the measured time, is in statistics but not in dram_bytes.
  bool all_in_dram_bytes = false;
};

std::vector<Case> cases() {
  const char* const tables =
      R"(workload={"embedding": {"global_batch": 37, "tables_per_gpu": 5, "dimension": 92, "pooling": 6, "rows": 30}})";
  const auto collective = [](const char* op, const char* algorithm) {
    return "workload=" + json{{"collective", {{"op", op}, {"algorithm", algorithm}, {"bytes", 20000}}}}.dump();
  };
  return {
      {"sequential", {small_product, "method=sequential"}},
      {"fused on a ring", {small_product, "method=t3"}, true},
      {"fused on a ring, headers",
       {small_product, "method=t3-mca", "system.links.header_bytes=16", "system.links.max_payload_bytes=128"},
       true},
      // Its queues fill.
      {"fused, tall tiles",
       {"method=t3", "gpus=3",
        R"(workload={"gemm": {"m": 300, "n": 200, "k": 64, "element": "fp32", "tile": "32x64"}})"},
       true},
      {"fused, few Tracker entries",
       {small_product, "method=t3", "system.tracker.sets=2", "system.tracker.ways=2"},
       true},
      {"fused, valid bits", {small_product, "method=t3", "system.memory.valid_bits_KiB=64"}, true},
      {"all-reduce in the switch", {"method=sequential", collective("all-reduce", "in-network"), reducing}, true},
      {"broadcast on a ring", {"method=sequential", collective("broadcast", "ring")}, true},
      {"all-reduce on a ring", {"method=sequential", collective("all-reduce", "ring")}},
      {"tables", {"method=bulk", tables, joined}},
      {"tables, fused", {"method=fused", tables, joined}},
      {"product with a vector", {"method=fused", R"(workload={"gemv": {"rows": 200, "columns": 130}})", joined}},
      {"experts", {"method=bulk", R"(workload={"experts": {"tokens": 300, "hidden": 90, "inner": 40}})", joined}},
      {"layer",
       {"method=sequential", "gpus=null",
        R"(workload={"layer": "training", "attention": "fused", "tp": 2,
                     "transformer": {"hidden": 64, "heads": 4, "sequence": 48, "batch": 2, "element": "fp16"}})"}},
  };
}

std::size_t gpus_of(const Run& run) {
  std::size_t count = 0;
  for (const auto& statistic : run.report()["statistics"])
    count += statistic["name"].get<std::string>().find(".compute.busy") != std::string::npos;
  return count;
}

/// A GPU's statistics by the name behind "gpu0.".
std::map<std::string, double> statistics_of(const Run& run, std::size_t gpu) {
  const std::string prefix = "gpu" + std::to_string(gpu) + ".";
  std::map<std::string, double> values;
  for (const auto& statistic : run.report()["statistics"]) {
    const auto name = statistic["name"].get<std::string>();
    if (name.rfind(prefix, 0) == 0) values[name.substr(prefix.size())] = statistic["value"].get<double>();
  }
  return values;
}

double sum_of(const Run& run, const std::string& name) {
  double sum = 0;
  for (std::size_t gpu = 0; gpu < gpus_of(run); ++gpu) sum += statistics_of(run, gpu).at(name);
  return sum;
}

double largest_of(const Run& run, const std::string& name) {
  double largest = 0;
  for (std::size_t gpu = 0; gpu < gpus_of(run); ++gpu) largest = std::max(largest, statistics_of(run, gpu).at(name));
  return largest;
}

double accesses_of(const std::map<std::string, double>& s) {
  return s.at("dram.reads") + s.at("dram.writes") + s.at("dram.updates");
}

void check_compute(const std::map<std::string, double>& s, double simulated) {
  CHECK(s.at("compute.busy") >= 0);
  CHECK(s.at("compute.busy") <= compute_units * simulated);
  CHECK(s.at("processor.waited") <= simulated + 100);
}

void check_cache(const std::map<std::string, double>& s) {
  const double asked = s.at("cache.hits") + s.at("cache.misses");
  CHECK(s.at("cache.hit_rate") == Approx(asked == 0 ? 0 : s.at("cache.hits") / asked).epsilon(1e-12));
}

/// Rows stay open until another one of the bank is asked for, and this memory has no refresh: of each bank that was
/// used one row is open in the end.
void check_dram(const std::map<std::string, double>& s) {
  CHECK(s.at("dram.row_hit_rate") == Approx(1 - s.at("dram.activates") / accesses_of(s)).epsilon(1e-12));
  const double open = s.at("dram.activates") - s.at("dram.precharges");
  CHECK(open >= channels);
  CHECK(open <= channels * banks);
  CHECK(s.at("dram.refreshes") == 0);
  CHECK(s.at("dram.first_updates") <= s.at("dram.updates"));
  CHECK(s.at("dram.observed_occupancy") >= 0);
  CHECK(s.at("dram.observed_occupancy") <= queue_depth);
}

void check_tracker(const Run& run) {
  for (const char* name : {"triggers", "peak_entries", "spills", "size_bytes"}) {
    INFO(name);
    CHECK(run.report()["tracker"][name] == largest_of(run, std::string("tracker.") + name));
  }
  CHECK(run.report()["tracker"]["trigger_wait_ns"] == largest_of(run, "tracker.trigger_wait"));
  if (sum_of(run, "tracker.spills") == 0) CHECK(sum_of(run, "tracker.trigger_wait") == 0);
  CHECK(sum_of(run, "tracker.spills") == sum_of(run, "tracker.reloads"));
  CHECK((sum_of(run, "tracker.triggers") > 0) == (sum_of(run, "tracker.peak_entries") > 0));
}

/// dram_bytes has the mean over GPUs.
void check_classes(const Run& run, bool all_in_dram_bytes) {
  double classes = 0, accesses = 0;
  for (const auto& bytes : run.report()["dram_bytes"]) classes += bytes.get<double>();
  for (std::size_t gpu = 0; gpu < gpus_of(run); ++gpu) accesses += accesses_of(statistics_of(run, gpu));
  const double per_gpu = accesses * access_bytes / static_cast<double>(gpus_of(run));
  if (all_in_dram_bytes)
    CHECK(classes == per_gpu);
  else
    CHECK(classes <= per_gpu);
}

/// Signals are 8 bytes.
void check_links(const Run& run, double header_bytes) {
  for (const auto& link : run.report()["links"]) {
    CAPTURE(link.dump());
    const auto value = [&](const char* key) { return link[key].get<double>(); };
    const double signals = value("wire_bytes") - value("payload_bytes") - value("packets") * header_bytes;
    CHECK(signals >= 0);
    CHECK(std::fmod(signals, 8) == 0);
    CHECK(signals / 8 <= value("packets"));
    CHECK(value("utilization") == Approx(value("wire_bytes") / link_GBps / run.time("total")).epsilon(1e-12));
    CHECK(value("utilization") <= 1);
    CHECK(value("queueing_ns") >= 0);
    CHECK(value("queueing_ns") <= run.time("total"));
    CHECK(value("credit_stall_ns") <= run.time("total") - value("wire_bytes") / link_GBps);
  }
}

}  // namespace

TEST_CASE("identities hold between the statistics of real runs") {
  const Case c = GENERATE(from_range(cases()));
  CAPTURE(c.name);
  const Run run = Run::of_platform(on_small(c.settings));
  REQUIRE(run.exit_code() == 0);
  for (std::size_t gpu = 0; gpu < gpus_of(run); ++gpu) {
    CAPTURE(gpu);
    const auto statistics = statistics_of(run, gpu);
    check_compute(statistics, run.time("total") + run.time("setup"));
    check_cache(statistics);
    check_dram(statistics);
  }
  check_tracker(run);
  check_classes(run, c.all_in_dram_bytes);
  check_links(run, std::string(c.name).find("headers") == std::string::npos ? 0 : 16);
}

TEST_CASE("every statistic has its name, unit and text, and every GPU has all of them") {
  const json table =
      json::parse(text_of(std::filesystem::path(T3VP_SOURCE_DIR) / "testbenches/system/statistics.json"));
  const bool riscv = std::filesystem::exists(std::filesystem::path(T3VP_BINARY_DIR) / "t3vp-firmware.elf");
  const Settings product{
      R"(workload={"embedding": {"global_batch": 9, "tables_per_gpu": 5, "dimension": 70, "pooling": 6,
                                                    "rows": 60}})",
      R"(system.power={"limit_W": 700, "idle_W": 100, "window_us": 100, "matrix_pJ_per_flop": 1, "memory_pJ_per_byte": 60,
                       "energy_clock_GHz": 1})",
      "gpus=2", "method=bulk"};
  const Run run = Run::of_program(on_small(product) + apart(1) + (riscv ? Settings{"firmware=riscv"} : Settings{}));
  json found = json::object();
  for (const auto& statistic : run.report()["statistics"]) {
    const auto name = statistic["name"].get<std::string>();
    REQUIRE((name.rfind("gpu0.", 0) == 0 || name.rfind("gpu1.", 0) == 0));
    json& entry = found[name.substr(5)];
    const json now = json::array({statistic["unit"], statistic["text"]});
    CHECK((entry.is_null() || entry == now));
    entry = now;
  }
  for (const auto& [name, entry] : table.items()) {
    if (name == "processor.instructions" && !riscv) continue;
    INFO(name << " of testbenches/system/statistics.json, which is edited by hand: found " << found[name]);
    CHECK(found[name] == entry);
  }
  for (const auto& [name, entry] : found.items()) {
    INFO(name << " is not in testbenches/system/statistics.json, which is edited by hand");
    CHECK(table.contains(name));
  }
  CHECK(statistics_of(run, 0).size() == statistics_of(run, 1).size());
}

// 20 whole tiles on 4 compute units: none idles. 3 of 4 chunks are added, an element in 1/128 of a cycle of 1 ns.
TEST_CASE("compute units are busy for the operations of GEMM and additions, in ns") {
  const double products = 2.0 * 256 * 320 * 64 / (1024 * 0.75), additions = 256 * 320 * 0.75 / vector_lanes;
  for (std::size_t gpu = 0; gpu < 4; ++gpu) {
    const Run fused = Run::of_platform(on_small({small_product, "method=t3"}));
    CHECK(statistics_of(fused, gpu).at("compute.busy") == Approx(products).epsilon(1e-5));
    const Run sequential = Run::of_platform(on_small({small_product, "method=sequential"}));
    CHECK(statistics_of(sequential, gpu).at("compute.busy") == Approx(products + additions).epsilon(1e-5));
  }
}

TEST_CASE("precharges are activates but for the rows that are open in the end") {
  const auto statistics = statistics_of(Run::of_platform(on_small({small_product, "method=t3"})), 0);
  CHECK(statistics.at("dram.activates") - statistics.at("dram.precharges") == channels * banks);
}

// Each of 4 channels has 2 pseudo-channels of 16 banks that are refreshed every 3.9 us, from the run's begin.
TEST_CASE("refreshes of pseudo-channels follow from the time") {
  const Run run =
      Run::of_platform(on_small({small_product, "method=t3-mca", memory_file("memory/hbm2-pseudo-channel.json")}));
  const auto statistics = statistics_of(run, 0);
  const double intervals = (run.time("total") + run.time("setup")) / 3900;
  CHECK(statistics.at("dram.refreshes") <= channels * 2 * std::ceil(intervals));
  CHECK(statistics.at("dram.refreshes") >= channels * 2 * (std::floor(intervals) - 1));
  CHECK(statistics.at("dram.row_hit_rate") ==
        Approx(1 - statistics.at("dram.activates") / accesses_of(statistics)).epsilon(1e-12));
  const double open = statistics.at("dram.activates") - statistics.at("dram.precharges");
  CHECK(open >= 0);
  CHECK(open <= channels * 2 * banks);
}

// A GPU's own chunk lies in its cache when the all-gather has sent it, and is written back at the hand-over.
TEST_CASE("a sequential run's statistics have the sums that are handed over behind the measured time") {
  const Run run = Run::of_platform(on_small({small_product, "method=sequential"}));
  double classes = 0;
  for (const auto& bytes : run.report()["dram_bytes"]) classes += bytes.get<double>();
  const double accesses = sum_of(run, "dram.reads") + sum_of(run, "dram.writes") + sum_of(run, "dram.updates");
  CHECK(accesses * access_bytes - classes * 4 == 256 * 320 * 2);
}

// 3/4 of 163840 bytes in each of two collectives, in blocks of 2048 bytes: 120 stores. A workgroup of each of 4 compute
// units signals each of 3 steps of the all-gather: 12 signals of 8 bytes.
TEST_CASE("packets and bytes on the wire are those of stores, headers and signals") {
  const auto links = [](const Settings& more) {
    const Run run = Run::of_platform(on_small({small_product, "method=t3"}) + more);
    std::vector<json> used;
    for (const auto& link : run.report()["links"])
      if (link["packets"] != 0) used.emplace_back(link);
    REQUIRE(used.size() == 4);
    return used;
  };
  constexpr int payload = 163'840 * 3 / 4 * 2, signals = 12;
  for (const json& link : links({})) {
    CHECK(link["payload_bytes"] == payload);
    CHECK(link["packets"] == payload / 2048 + signals);
    CHECK(link["wire_bytes"] == payload + signals * 8);
  }
  for (const json& link : links({"system.links.header_bytes=16", "system.links.max_payload_bytes=128"})) {
    CHECK(link["payload_bytes"] == payload);
    CHECK(link["packets"] == payload / 128 + signals);
    CHECK(link["wire_bytes"] == payload + signals * 8 + 16 * (payload / 128 + signals));
  }
}

// Without headers the packets of a store take as long as the store in one: stores wait as long, and queueing_ns is a
// mean over stores.
TEST_CASE("queueing is a mean over stores, of however many packets they are") {
  const auto run = [](const Settings& more) { return Run::of_platform(on_small({small_product, "method=t3"}) + more); };
  const Run whole = run({}), split = run({"system.links.max_payload_bytes=128"});
  CHECK(split.time("total") == whole.time("total"));
  for (std::size_t i = 0; i < whole.report()["links"].size(); ++i) {
    const auto &one = whole.report()["links"][i], &several = split.report()["links"][i];
    CHECK(several["queueing_ns"] == one["queueing_ns"]);
    if (one["packets"] == 0) continue;
    CHECK(one["queueing_ns"].get<double>() > 0);
    CHECK(several["packets"].get<int>() > 10 * one["packets"].get<int>());
  }
}

// A broadcast of 4 blocks of 2048 bytes between two GPUs, a signal behind each, over a link whose receive buffer takes
// one block. Each of the 8 but the first waits until the one before has arrived, was stored, and its credit is back:
// two latencies of 5 us and the time at the peer, which is less than 700 ns. No other packet waits, so that all waiting
// is the stall's; each block is 4 packets.
TEST_CASE("stores wait for the credits of a buffer that takes one") {
  const Run run = Run::of_platform(on_small(
      {"method=sequential", "gpus=3", "system.kernels.ring.workgroups=1", "system.links.bandwidth_GBps=0.1",
       "system.links.receive_buffer_KiB=2", "system.links.link_latency_ns=5000", "system.links.max_payload_bytes=512",
       R"(workload={"collective": {"op": "broadcast", "algorithm": "ring", "bytes": 8192}})"}));
  const json& link = json(run.report()["links"][0]);
  CHECK(link["packets"] == 4 * 4 + 4);
  const auto stalled = link["credit_stall_ns"].get<double>(), waited = link["queueing_ns"].get<double>() * 8;
  CHECK(stalled >= 7 * 2 * 5000);
  CHECK(stalled <= 7 * (2 * 5000 + 700));
  CHECK(waited == Approx(stalled).epsilon(1e-9));
}

// Link 1 -> 0 has fewer bytes than the others but takes longest for them.
TEST_CASE("the bound of links is the longest time of wire bytes at the link's own bandwidth") {
  const Run run = Run::of_platform(
      on_small({small_product, "method=t3", "system.links.header_bytes=16", "system.links.max_payload_bytes=128",
                R"(system.links.overrides=[{"from": 1, "to": 0, "bandwidth_GBps": 1}])"}));
  double longest = 0;
  for (const auto& link : run.report()["links"]) {
    const bool slow = link["from"] == 1 && link["to"] == 0;
    longest = std::max(longest, link["wire_bytes"].get<double>() / (slow ? 1 : link_GBps));
    if (slow) CHECK(link["utilization"].get<double>() == Approx(link["wire_bytes"].get<double>() / run.time("total")));
  }
  CHECK(run.report()["bounds"]["link_ns"] == longest);
  CHECK(longest > 1.1 * 245'760);
}

// A link with more payload and fewer bytes on the wire is not the busiest.
TEST_CASE("the busiest link of a row is that with most bytes on the wire") {
  const auto link = [](int to, int payload, int wire) {
    return json{{"from", 0}, {"to", to}, {"payload_bytes", payload}, {"wire_bytes", wire}};
  };
  const json report{{"statistics", json::array()}, {"links", {link(1, 40, 50), link(2, 10, 100), link(3, 45, 60)}}};
  const Figures row = row_figures(report);
  CHECK(row.at("links.busiest.wire_bytes") == 100);
  CHECK(row.at("links.busiest.payload_bytes") == 10);
}

// InfiniBand: LRH 8, BTH 12, ICRC 4 and VCRC 2 bytes of every packet, RETH 16 of a write's first, immediate 4 of its
// last, AETH 4 of an acknowledgement. A message is 1584 bytes, of GPU 0 fewer, in packets of 1024.
TEST_CASE("what NICs put on the wire is messages, headers and acknowledgements, at the wire's rate") {
  const Run run = Run::of_platform(
      on_small({R"(workload={"embedding": {"global_batch": 12, "tables_per_gpu": 4, "dimension": 33, "pooling": 4,
                                           "rows": 50}})",
                "gpus=4", "method=bulk"}) +
      apart(1));
  REQUIRE(run.exit_code() == 0);
  constexpr double plain = 26, first = plain + 16, last = plain + 4, acknowledgement = plain + 4;
  constexpr double message = 12 / 4 * 4 * 33 * 4;
  for (std::size_t gpu = 0; gpu < 4; ++gpu) {
    const auto s = statistics_of(run, gpu);
    CHECK(s.at("nic.messages") == 3);
    CHECK(s.at("nic.written") == 3 * message);
    CHECK(s.at("nic.payload") == 3 * message);
    CHECK(s.at("nic.placed") == 3 * message);
    CHECK(s.at("nic.packets") == 3 * 2 + 3);
    CHECK(s.at("nic.wire_bytes") == 3 * (message + first + last + acknowledgement));
    CHECK(s.at("nic.sending") == s.at("nic.wire_bytes") / 4);
    CHECK(s.at("nic.acknowledgements") == 3);
    CHECK(s.at("nic.lost") + s.at("nic.resent") + s.at("nic.dropped") + s.at("nic.errors") == 0);
  }
}

}  // namespace t3vp::test::statistics_test
