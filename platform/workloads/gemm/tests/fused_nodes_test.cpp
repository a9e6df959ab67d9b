// Fused reduce-scatter of nodes: the Tracker's trigger posts a node's sums to queue pairs of the NICs that join the
// nodes.
#include <algorithm>
#include <catch2/catch.hpp>

#include "io/input_error.h"
#include "system/platform_run.h"
#include "system/reference_sum.h"

namespace t3vp::test::fused_nodes_test {

using Catch::Contains;

namespace {

constexpr std::uint32_t tile = 64;  // small-4's
constexpr double wire_GBps = 2;     // of each NIC
constexpr double packet_bytes = 1024, header_bytes = 26, first_header_bytes = 26 + 16 + 16;

/// Nodes of so many GPUs, which links join to each other inside.
Settings nodes(std::uint32_t gpus, std::uint32_t node, const std::string& between = "") {
  const std::string inside = node == 1 && between.empty() ? "" : R"(, "inside": {"topology": "fully-connected"})";
  return {
      on_small_system(), "gpus=" + std::to_string(gpus),
      R"(system.links.topology={"kind": "nodes", "gpus_per_node": )" + std::to_string(node) + inside + between + "}",
      R"(system.nic={"messages_per_us": 100, "io_latency_ns": 100, "io_GBps": 8, "entry_fetches": 16,
             "payload_in_flight_KiB": 16, "mtu_bytes": 1024, "wire_GBps": 2, "wire_latency_ns": 300,
             "writes_invalidate": true})"};
}

Settings fused(const char* method = "t3") {
  return {std::string("method=") + method, "workload.fused=hierarchical-reduce-scatter"};
}

struct Part {
  std::uint64_t elements = 0, wrong = 0;
};

/// Each GPU's own tiles against the sum of all a b: GPU p of node n has run p * nodes + n of as many as there are GPUs.
Part compare_own(const Run& run, std::uint32_t gpus, std::uint32_t node, Element element) {
  Matrix sum;
  for (std::uint32_t g = 0; g < gpus; ++g) {
    const std::string name = "gpu" + std::to_string(g);
    const Matrix product = load(run.array(name + ".a"), element) * load(run.array(name + ".b"), element);
    sum = g == 0 ? product : Matrix(sum + product);
  }
  const auto across = static_cast<std::uint32_t>((sum.cols() + tile - 1) / tile),
             tiles = across * static_cast<std::uint32_t>((sum.rows() + tile - 1) / tile);
  Part part;
  for (std::uint32_t g = 0; g < gpus; ++g) {
    const Matrix out = load(run.array("gpu" + std::to_string(g) + ".out"), element);
    const std::uint32_t chunk = g % node * (gpus / node) + g / node;
    for (Eigen::Index row = 0; row < sum.rows(); ++row)
      for (Eigen::Index column = 0; column < sum.cols(); ++column) {
        const auto number = static_cast<std::uint32_t>(row / tile) * across + static_cast<std::uint32_t>(column / tile);
        if (number < chunk * tiles / gpus || number >= (chunk + 1) * tiles / gpus) continue;
        ++part.elements;
        if (out(row, column) != sum(row, column)) ++part.wrong;
      }
  }
  return part;
}

void require_right(const Run& run) {
  CAPTURE(run.diagnosis());
  REQUIRE(run.exit_code() == 0);
  for (const char* bound : {"compute_ns", "link_ns", "dram_ns"}) {
    INFO(bound);
    REQUIRE(run.time("total") >= run.report()["bounds"][bound].get<double>());
  }
}

double sum_of(const Run& run, const std::string& statistic, std::uint32_t gpus) {
  double sum = 0;
  for (std::uint32_t g = 0; g < gpus; ++g) sum += run.statistic("gpu" + std::to_string(g) + "." + statistic);
  return sum;
}

std::string refusal(const Settings& settings) {
  try {
    configuration_of(settings);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("a GEMM fused with a reduce-scatter of nodes gives each GPU its sums at odd sizes over NICs") {
  const auto [gpus, node, element, shape] = GENERATE(table<std::uint32_t, std::uint32_t, Element, Settings>({
      {2, 1, Element::fp32, gemm(333, 139, 40)},
      {4, 2, Element::fp16, gemm(333, 139, 40)},
      {6, 3, Element::bf16, gemm(257, 200, 33)},
      {6, 2, Element::fp16, gemm(300, 131, 40)},
      {8, 4, Element::fp16, gemm(333, 270, 40)},
  }));
  for (const char* method : {"t3", "t3-mca"}) {
    CAPTURE(gpus, node, name_of(element), method);
    const Run run =
        Run::of_platform(nodes(gpus, node) + fused(method) + shape +
                         Settings{"check=protocol", std::string("workload.gemm.element=") + name_of(element)});
    require_right(run);
    const Part part = compare_own(run, gpus, node, element);
    REQUIRE(part.elements == run.report()["functional"]["elements"]);
    REQUIRE(part.wrong == 0);
    REQUIRE(run.report()["time_ns"]["all_gather"].is_null());
    REQUIRE(run.time("fused") == run.time("total"));
  }
}

TEST_CASE("a GEMM and the hosts' reduce-scatter of nodes give each GPU its sums at odd sizes over NICs") {
  const auto [gpus, node, element, shape] = GENERATE(table<std::uint32_t, std::uint32_t, Element, Settings>({
      {2, 1, Element::fp32, gemm(333, 139, 40)},
      {4, 2, Element::fp16, gemm(333, 139, 40)},
      {6, 2, Element::bf16, gemm(300, 200, 33)},
      {6, 3, Element::fp16, gemm(257, 131, 40)},
  }));
  CAPTURE(gpus, node, name_of(element));
  const Run run = Run::of_platform(
      nodes(gpus, node) + shape +
      Settings{"method=sequential", "check=protocol", std::string("workload.gemm.element=") + name_of(element)});
  require_right(run);
  REQUIRE(compare_own(run, gpus, node, element).wrong == 0);
  REQUIRE(run.report()["time_ns"]["all_gather"].is_null());
  REQUIRE(run.time("total") == Approx(run.time("gemm") + run.time("reduce_scatter")).epsilon(0.01));
}

TEST_CASE("fused saves what the hosts take and what the GEMM hides, against the hosts' reduce-scatter of nodes") {
  const auto run = [](const Settings& method, const char* host) {
    const Run result = Run::of_platform(nodes(4, 2) + gemm(512, 512, 128) + method +
                                        Settings{"data=timing-only", std::string("system.host=") + host});
    require_right(result);
    return result;
  };
  const char* const slow = R"({"kernel_end_ns": 5000, "post_ns": 1000, "launch_ns": 5000})";
  const char* const none = R"({"kernel_end_ns": 0, "post_ns": 0, "launch_ns": 0})";
  const Run fast = run(fused(), none), hosts = run({"method=sequential"}, none),
            slow_hosts = run({"method=sequential"}, slow);
  CHECK(fast.time("total") == run(fused(), slow).time("total"));  // no host has a part in it
  // Half of a GPU's sums cross the wire of 4 GB/s. The GEMM is hidden, and what is posted while it is computed.
  CHECK(fast.time("total") < hosts.time("total") - hosts.time("gemm"));
  CHECK(fast.time("total") >= 512 * 512 * 2 / 2 / 4.0);
  CHECK(fast.time("total") <= hosts.time("gemm") + 512 * 512 * 2 / 2 / 4.0);
  // A kernel's end, and two posts and one for each rectangle of a chunk of 16 tiles, two rows of them.
  CHECK(slow_hosts.time("total") - hosts.time("total") >= 5000 + 2 * 1000);
  CHECK(slow_hosts.time("total") - hosts.time("total") <= 5000 + 5 * 1000);
}

/// Chunks of places lie behind one another, and begin and end inside rows of tiles.
TEST_CASE("links between nodes carry the same sums where there are some, and an all-gather by any algorithm") {
  for (const auto& [gpus, node] : {std::pair{4u, 2u}, {6u, 2u}, {6u, 3u}, {3u, 1u}})
    for (const char* algorithm : {"ring", "direct", "hierarchical", "auto"}) {
      CAPTURE(gpus, node, algorithm);
      const Settings between = nodes(gpus, node, R"(, "between": {"topology": "ring", "bandwidth_GBps": 2})");
      const Run run = Run::of_platform(between + fused() + gemm(333, 139, 40) +
                                       Settings{std::string("collectives.algorithm=") + algorithm, "check=protocol"});
      require_right(run);
      CHECK(run.report()["functional"]["elements"] == gpus * 333 * 139);
      CHECK(run.report()["functional"]["mismatches"] == 0);
      CHECK(run.time("all_gather") > 0);
      CHECK(sum_of(run, "nic.messages", gpus) == 0);
    }
}

// 16 tiles of 8 KiB in whole packets of 1 KiB, 4 wavefronts each: a chunk is four tiles.
TEST_CASE("NICs move each node's sums once, a message for each wavefront tile, and links nothing between nodes") {
  constexpr double chunk = 4 * 8192, messages = 4 * 4;
  const Run run = Run::of_platform(nodes(4, 2) + fused() + gemm(256, 256, 64));
  require_right(run);
  CHECK(sum_of(run, "nic.messages", 4) == 4 * messages);
  CHECK(sum_of(run, "nic.payload", 4) == 4 * chunk);
  CHECK(sum_of(run, "nic.placed", 4) == 4 * chunk);
  CHECK(sum_of(run, "dma.bytes", 4) == 4 * chunk);
  CHECK(run.dram_bytes("nic_read") == chunk);
  CHECK(run.dram_bytes("nic_write") == chunk);
  CHECK(run.dram_bytes("rs_read") == 0);
  for (const auto& link : run.report()["links"])
    CHECK(link["from"].get<std::uint32_t>() / 2 == link["to"].get<std::uint32_t>() / 2);
  // No kernel but the GEMM.
  CHECK(sum_of(run, "nic.errors", 4) == 0);
}

TEST_CASE(
    "the wire's bandwidth bounds a fused reduce-scatter of nodes, headers too, and a slow wire is what it takes") {
  const auto run = [](const char* bandwidth) {
    const Run result = Run::of_platform(nodes(4, 2) + fused() + gemm(256, 256, 64) +
                                        Settings{std::string("system.nic.wire_GBps=") + bandwidth});
    require_right(result);
    // Of a node's two chunks of 4 tiles of 8 KiB, which its two NICs take.
    CHECK(result.report()["bounds"]["link_ns"].get<double>() >= 4 * 8192 / std::stod(bandwidth));
    return result.time("total");
  };
  // Messages of 2 KiB in two packets.
  const double least = 16 * (2048 + first_header_bytes + header_bytes);
  REQUIRE(packet_bytes == 1024);
  CHECK(run("2") >= least / wire_GBps);
  const double slow = run("0.02");
  CHECK(slow >= least / 0.02);
  CHECK(slow <= 1.1 * least / 0.02);
}

TEST_CASE("a fused reduce-scatter of nodes takes as long without data, and gives the same at any quantum") {
  const auto run = [](const Settings& more) {
    const Run result = Run::of_platform(nodes(6, 3) + fused("t3-mca") + gemm(300, 200, 64) + more);
    REQUIRE(result.exit_code() == 0);
    return result;
  };
  const Run plain = run({});
  CHECK(plain.report()["time_ns"] == run({"data=timing-only"}).report()["time_ns"]);
  for (const char* quantum : {"quantum_ns=1", "quantum_ns=1000000"})
    CHECK(outputs(plain, 6) == outputs(run({quantum}), 6));
  CHECK(plain.text_without({"host"}) == run({}).text_without({"host"}));
}

TEST_CASE("packets that the wire loses are added exactly once") {
  for (const char* count : {"1", "7", "40"}) {
    const Run run =
        Run::of_platform(nodes(4, 2) + fused() + gemm(333, 139, 40) +
                         Settings{std::string(R"(inject={"drop_packets": {"gpu": 2, "count": )") + count + "}}"});
    CAPTURE(count, run.diagnosis());
    REQUIRE(run.exit_code() == 0);
    REQUIRE(run.report()["functional"]["mismatches"] == 0);
    REQUIRE(compare_own(run, 4, 2, Element::fp16).wrong == 0);
    CHECK(sum_of(run, "nic.resent", 4) > 0);
    CHECK(sum_of(run, "nic.lost", 4) == std::stod(count));
  }
}

TEST_CASE("a wrong element of an owner is found, and one that nobody owns there cannot be asked for") {
  const Settings base = nodes(4, 2) + fused() + gemm(256, 256, 64);
  const auto wrong = [&](const char* gpu, const char* index) {
    return base + Settings{std::string(R"(inject={"wrong_element": {"gpu": )") + gpu + R"(, "index": )" + index + "}}"};
  };
  const Run run = Run::of_platform(wrong("2", "16384"));  // row 64: tile 4, the first of chunk 1, which GPU 2 owns
  CHECK(run.exit_code() == 1);
  CHECK(run.report()["functional"]["mismatches"] == 1);
  CHECK_THAT(refusal(wrong("1", "16384")), Contains("an element of a tile that GPU 1 owns"));
}

TEST_CASE("what nodes without links between them cannot do is refused by name") {
  const Settings apart = nodes(4, 2) + gemm(256, 256, 64);
  const char* const expected =
      "the links between nodes, over which the 4 GPUs of a GEMM send to each other, or, by NICs";
  CHECK_THAT(refusal(apart + Settings{"method=t3"}), Contains(expected));
  CHECK_THAT(refusal(apart + Settings{"method=t3", "workload.fused=all-reduce"}), Contains(expected));
  CHECK_THAT(refusal(apart + Settings{"method=ideal-overlap", "data=timing-only"}), Contains(expected));
  Settings without = apart + fused();
  without.erase(std::remove_if(without.begin(), without.end(),
                               [](const std::string& setting) { return setting.rfind("system.nic", 0) == 0; }),
                without.end());
  CHECK_THAT(refusal(without), Contains("NICs, since links do not join all GPUs"));
  CHECK_THAT(refusal({on_small_system(), "method=t3", "workload.fused=hierarchical-reduce-scatter"}),
             Contains("hierarchical-reduce-scatter needs links of kind nodes"));
  CHECK_THAT(refusal(nodes(20, 2) + fused() + gemm(512, 512, 64)), Contains("at least 3, for 9 nodes at most"));
  CHECK_THAT(refusal(apart + fused() + Settings{"operands=random"}), Contains("exact with fused hierarchical"));
}

}  // namespace t3vp::test::fused_nodes_test
