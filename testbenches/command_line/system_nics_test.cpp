// NICs of a system file, and nodes that nothing but NICs joins.
#include <algorithm>
#include <catch2/catch.hpp>

#include "command_line/program.h"
#include "config/configuration.h"
#include "run/node_parameters.h"

namespace t3vp::test::system_nics_test {

using nlohmann::json;

namespace {

json nic() {
  return {{"messages_per_us", 100}, {"io_latency_ns", 300},        {"io_GBps", 20},
          {"entry_fetches", 64},    {"payload_in_flight_KiB", 32}, {"mtu_bytes", 2048},
          {"wire_GBps", 12.5},      {"wire_latency_ns", 900},      {"writes_invalidate", false}};
}

struct Files : ValidFiles {
  Files() { change("system.json", "/nic", nic()); }
  /// Refused by run in one line, which begins with the place.
  void require_refusal(const std::string& where, const std::string& expected) const {
    const Outcome outcome = run_program({"run", run().string(), "--out", (*this / "results").string()});
    INFO(outcome.err << outcome.out);
    CHECK(outcome.exit_code == 2);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK(outcome.err.rfind((*this / where).string() + ": found ", 0) == 0);
    CHECK_THAT(outcome.err, Catch::Contains(", expected " + expected));
    CHECK(run_program({"check", run().string()}).err == outcome.err);
  }
};

}  // namespace

TEST_CASE("every value of a system's NICs arrives in its unit, and is printed") {
  const Files files;
  const NodeParameters node = node_parameters(load_run(files.run()));
  REQUIRE(node.gpus.size() == 4);
  for (const GpuParameters& gpu : node.gpus) {
    REQUIRE(gpu.nic.has_value());
    CHECK(gpu.nic->messages_per_us == 100);
    CHECK(gpu.nic->io_latency == 300'000);
    CHECK(gpu.nic->io_GBps == 20);
    CHECK(gpu.nic->entry_fetches == 64);
    CHECK(gpu.nic->payload_in_flight == 32768);
    CHECK(gpu.nic->mtu == 2048);
    CHECK_FALSE(gpu.cache.nic_writes_invalidate);
  }
  CHECK(node.wire.GBps == 12.5);
  CHECK(node.wire.latency == 900'000);
  CHECK(node.wire.loss.packets == 0);
  const Outcome printed = run_program({"run", files.run().string(), "--print-config"});
  CHECK(json::parse(printed.out).at("system").at("nic") == nic());
}

TEST_CASE("a system without nic has none, and its caches drop what would be overwritten") {
  const ValidFiles files;
  const NodeParameters node = node_parameters(load_run(files.run()));
  CHECK_FALSE(node.gpus[0].nic.has_value());
  CHECK(node.gpus[0].cache.nic_writes_invalidate);
}

TEST_CASE("a GPU's NIC may be another one, but for what packets have to have in common") {
  const Files files;
  files.change("system.json", "/gpus",
               json::array({{{"gpu", 2}, {"set", {{"nic.messages_per_us", 7}, {"nic.writes_invalidate", true}}}}}));
  const NodeParameters node = node_parameters(load_run(files.run()));
  CHECK(node.gpus[2].nic->messages_per_us == 7);
  CHECK(node.gpus[2].cache.nic_writes_invalidate);
  CHECK(node.gpus[1].nic->messages_per_us == 100);
  for (const char* common : {"nic.mtu_bytes", "nic.wire_GBps", "nic.wire_latency_ns"}) {
    files.change("system.json", "/gpus", json::array({{{"gpu", 2}, {"set", {{common, 512}}}}}));
    files.require_refusal(std::string("system.json: /gpus/0/set/") + common, "nothing: it is the same on all GPUs");
  }
}

TEST_CASE("wrong values of a NIC are refused where they are written") {
  const std::pair<const char*, json> wrong[] = {{"/nic/messages_per_us", 0},       {"/nic/messages_per_us", nullptr},
                                                {"/nic/io_latency_ns", -1},        {"/nic/io_GBps", 0},
                                                {"/nic/entry_fetches", 0},         {"/nic/entry_fetches", 1.5},
                                                {"/nic/payload_in_flight_KiB", 0}, {"/nic/payload_in_flight_KiB", 1},
                                                {"/nic/mtu_bytes", 1000},          {"/nic/mtu_bytes", 8192},
                                                {"/nic/wire_GBps", "fast"},        {"/nic/wire_latency_ns", nullptr},
                                                {"/nic/writes_invalidate", 1},     {"/nic/ports", 2}};
  for (const auto& [pointer, value] : wrong) {
    const Files files;
    files.change("system.json", pointer, value);
    INFO(pointer << " = " << value);
    files.require_refusal(std::string("system.json: ") + pointer, "");
  }
}

TEST_CASE("lost packets of NICs that are not there are refused") {
  const Files files;
  files.change("run.json", "/inject", {{"drop_packets", {{"gpu", 4}, {"count", 1}}}});
  files.require_refusal("run.json: /inject/drop_packets/gpu", "a GPU from 0 to 3");
  files.change("run.json", "/inject", {{"drop_packets", {{"gpu", 1}, {"count", 0}}}});
  files.require_refusal("run.json: /inject/drop_packets/count", "");
  files.change("run.json", "/inject", {{"drop_packets", {{"gpu", 1}, {"count", 5}}}});
  const NodeParameters node = node_parameters(load_run(files.run()));
  CHECK(node.wire.loss.nic == 1);
  CHECK(node.wire.loss.packets == 5);
  files.change("system.json", "/nic", nullptr);
  files.require_refusal("run.json: /inject/drop_packets", "no such fault: the system has no NICs");
}

TEST_CASE("GEMMs and collectives are refused where no link joins nodes") {
  const Files files;
  const json apart = {{"kind", "nodes"}, {"gpus_per_node", 2}, {"inside", {{"topology", "ring"}}}};
  files.change("system.json", "/links/topology", apart);
  files.require_refusal("system.json: /links/topology/between",
                        "the links between nodes, over which the 4 GPUs of a GEMM send to each other");
  files.change("run.json", "/method", nullptr);
  files.change("run.json", "/workload",
               {{"collective", {{"op", "all-reduce"}, {"algorithm", "ring"}, {"bytes", 4096}}}});
  files.require_refusal("system.json: /links/topology/between",
                        "the links between nodes, over which the 4 GPUs of a "
                        "collective send to each other");
  files.change("run.json", "/gpus", 2);  // of one node
  CHECK(run_program({"check", files.run().string()}).exit_code == 0);
}

TEST_CASE("what nodes without links between them cannot have is refused") {
  const std::pair<json, const char*> wrong[] = {
      {{{"kind", "nodes"}}, "gpus_per_node"},
      {{{"kind", "nodes"}, {"gpus_per_node", 2}}, "inside"},
      {{{"kind", "nodes"}, {"gpus_per_node", 3}, {"inside", {{"topology", "ring"}}}}, "gpus_per_node"},
      {{{"kind", "nodes"}, {"gpus_per_node", 1}, {"ports", "node"}}, "ports"},
      {{{"kind", "nodes"}, {"gpus_per_node", 1}, {"between", {{"topology", "ring"}}}}, "inside"},
      {{{"kind", "nodes"}, {"gpus_per_node", 4}, {"inside", {{"topology", {{"kind", "nodes"}, {"gpus_per_node", 1}}}}}},
       "inside/topology/between"}};
  for (const auto& [topology, key] : wrong) {
    const Files files;
    files.change("system.json", "/links/topology", topology);
    INFO(topology);
    files.require_refusal(std::string("system.json: /links/topology/") + key, "");
  }
}

}  // namespace t3vp::test::system_nics_test
