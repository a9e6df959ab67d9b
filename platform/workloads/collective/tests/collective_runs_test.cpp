// Collective operations alone: every element of every GPU, what links carry and how long it takes at least.
#include <catch2/catch.hpp>
#include <cmath>

#include "hardware/topologies.h"
#include "io/input_error.h"
#include "system/kernel_runs.h"
#include "system/platform_run.h"
#include "workloads/collective/collective_oracle.h"

namespace t3vp::test::collective_runs_test {

namespace {

using Operation = std::pair<t3_collective_op, t3_collective_algorithm>;

/// Operations whose traffic is known here. Any other one's elements are checked by every_operation_test.cpp.
constexpr t3_collective_op known_ops[] = {T3_REDUCE_SCATTER, T3_ALL_GATHER, T3_ALL_REDUCE, T3_ALL_TO_ALL, T3_BROADCAST};

/// Every known one with every algorithm that any fabric has.
std::vector<Operation> all_operations() {
  std::vector<Operation> all;
  for (const t3_collective_op op : known_ops)
    for (const t3_collective_algorithm algorithm : {T3_RING, T3_DIRECT}) all.emplace_back(op, algorithm);
  return all;
}

std::vector<Operation> operations_in_network() {
  return {{T3_REDUCE_SCATTER, T3_IN_NETWORK},
          {T3_ALL_GATHER, T3_IN_NETWORK},
          {T3_ALL_REDUCE, T3_IN_NETWORK},
          {T3_BROADCAST, T3_IN_NETWORK}};
}

std::vector<Operation> hierarchical_operations() {
  std::vector<Operation> all;
  for (const t3_collective_op op : known_ops) all.emplace_back(op, T3_HIERARCHICAL);
  return all;
}

const char* const reducing = R"(system.links.topology={"kind": "switch", "latency_ns": 100, "reduction": true})";

/// Nodes whose links between them have a quarter of the bandwidth inside.
std::string nodes(std::uint32_t size, const char* ports = "gpu") {
  return R"(system.links.topology={"kind": "nodes", "gpus_per_node": )" + std::to_string(size) + R"(, "ports": ")" +
         ports +
         R"(", "inside": {"topology": "fully-connected"}, "between": {"topology": "ring", "bandwidth_GBps": 1}})";
}

Settings collective(const Operation& operation, std::uint64_t bytes, const std::string& element, std::uint32_t gpus) {
  return {on_small_system(), "gpus=" + std::to_string(gpus), "method=sequential",
          "workload=" + nlohmann::json{{"collective",
                                        {{"op", t3vp::name_of(operation.first)},
                                         {"algorithm", t3vp::name_of(operation.second)},
                                         {"bytes", bytes},
                                         {"element", element}}}}
                            .dump()};
}

std::uint64_t chunk_elements(std::uint64_t elements, std::uint32_t owner, std::uint32_t gpus) {
  return elements / gpus + (owner < elements % gpus ? 1 : 0);
}

void check_within_an_eighth_above(double time, double least) {
  CHECK(time >= least);
  CHECK(time <= least * 9 / 8);
}

Run right_run(const Operation& operation, std::uint64_t elements, const std::string& element, std::uint32_t gpus,
              const Settings& settings) {
  const std::uint32_t bytes = element == "fp32" ? 4 : 2;
  CAPTURE(t3vp::name_of(operation.first), t3vp::name_of(operation.second), elements, element, gpus);
  Run run = Run::of_platform(collective(operation, elements * bytes, element, gpus) + settings);
  CAPTURE(run.diagnosis());
  REQUIRE(run.exit_code() == 0);
  CHECK(run.time("collective") > 0);
  CHECK(run.time("total") >= run.time("collective"));
  CHECK(run.time("total") >= run.report()["bounds"]["link_ns"].get<double>());
  return run;
}

/// Elements that GPUs send by the algorithm's definition. Of an all-to-all in a ring, a part for the d-th GPU behind
/// takes d hops.
std::uint64_t sent_elements(const Operation& operation, std::uint64_t elements, std::uint32_t gpus) {
  if (operation.first == T3_ALL_REDUCE) return std::uint64_t{2} * (gpus - 1) * elements;
  if (operation.first != T3_ALL_TO_ALL || operation.second == T3_DIRECT) return (gpus - 1) * elements;
  return elements * gpus * (gpus - 1) / 2;
}

}  // namespace

TEST_CASE("every collective gives every GPU the right elements at odd sizes on every topology") {
  const auto [gpus, topology, element, elements] =
      GENERATE(table<std::uint32_t, const char*, const char*, std::uint64_t>({
          {2, "ring", "fp16", 1001},
          {3, "fully-connected", "fp32", 20011},
          {5, "ring", "bf16", 12347},
          {6, R"({"kind": "torus", "dimensions": [3, 2]})", "fp16", 9001},
          {7, "fully-connected", "fp16", 30030},
          {8, "ring", "fp32", 4099},
          {5, "switch", "fp16", 7001},
          {6, R"({"kind": "nodes", "gpus_per_node": 3, "inside": {"topology": "fully-connected"},
                  "between": {"topology": "switch", "bandwidth_GBps": 20}})",
           "bf16", 5003},
      }));
  for (const Operation& operation : all_operations()) {
    const Run run = right_run(operation, elements, element, gpus,
                              {"data=functional", "check=protocol", std::string("system.links.topology=") + topology});
    CHECK(run.report()["functional"]["elements"] == elements * gpus);
    CHECK(run.report()["functional"]["checked"] == true);
  }
}

TEST_CASE("collectives by the switch give every GPU the right elements at odd sizes") {
  const auto [gpus, element, elements] = GENERATE(table<std::uint32_t, const char*, std::uint64_t>({
      {2, "fp16", 1001},
      {3, "fp32", 20011},
      {5, "bf16", 12347},
      {7, "fp16", 30030},
      {8, "fp16", 5},
  }));
  for (const Operation& operation : operations_in_network())
    right_run(operation, elements, element, gpus, {"data=functional", "check=protocol", reducing});
}

TEST_CASE("hierarchical collectives give every GPU the right elements at odd sizes whatever the nodes") {
  const auto [gpus, size, ports, element, elements] =
      GENERATE(table<std::uint32_t, std::uint32_t, const char*, const char*, std::uint64_t>({
          {4, 2, "gpu", "fp16", 1001},
          {6, 3, "gpu", "fp32", 20011},
          {6, 2, "node", "bf16", 12347},
          {9, 3, "gpu", "fp16", 30031},
          {5, 1, "gpu", "fp16", 7001},
          {5, 5, "gpu", "fp16", 7001},
          {10, 5, "node", "fp32", 4099},
      }));
  for (const Operation& operation : hierarchical_operations())
    right_run(operation, elements, element, gpus, {"data=functional", "check=protocol", nodes(size, ports)});
}

// What crosses between nodes is each element once for each pair of nodes, not once for each pair of GPUs.
TEST_CASE("hierarchical collectives send each element between two nodes once") {
  constexpr std::uint64_t elements = 4800;
  const auto between = [&](t3_collective_op op, t3_collective_algorithm algorithm) {
    const Run run = right_run({op, algorithm}, elements, "fp16", 8, {nodes(4)});
    std::uint64_t sum = 0;
    for (const auto& link : run.report()["links"])
      if (link["from"].get<int>() / 4 != link["to"].get<int>() / 4) sum += link["payload_bytes"].get<std::uint64_t>();
    return sum;
  };
  CHECK(between(T3_REDUCE_SCATTER, T3_HIERARCHICAL) == 2 * elements);
  CHECK(between(T3_ALL_GATHER, T3_HIERARCHICAL) == 2 * elements);
  CHECK(between(T3_BROADCAST, T3_HIERARCHICAL) == 2 * elements);
  CHECK(between(T3_ALL_TO_ALL, T3_HIERARCHICAL) == 2 * 4 * elements);
  CHECK(between(T3_ALL_GATHER, T3_DIRECT) == 4 * 2 * elements);
}

// Up: all parts of all sums, and what each GPU stores to all; down: the sums, and all that is stored.
TEST_CASE("an all-reduce by the switch moves each element once up and once down and a chunk more") {
  constexpr std::uint64_t elements = 4800;
  const Run run = right_run({T3_ALL_REDUCE, T3_IN_NETWORK}, elements, "fp16", 4, {reducing});
  for (const auto& link : run.report()["links"]) CHECK(link["payload_bytes"] == 2 * elements + 2 * elements / 4);
}

// Each link carries 9/8 of 512 KiB at 4 GB/s where the switch adds, else 7/8 of them twice. Launch, latencies and the
// first and last blocks take up to an eighth more, a sixth where the switch adds: memories take requests of one time in
// turns of their own, so that the parts of a sum do not come together.
TEST_CASE("by the switch an all-reduce of long buffers is faster than any other way") {
  const auto time = [](t3_collective_algorithm algorithm) {
    return right_run({T3_ALL_REDUCE, algorithm}, 1 << 18, "fp16", 8, {reducing}).time("collective");
  };
  constexpr double bytes = 1 << 19, by_switch = bytes * 9 / 8 / 4, by_others = bytes * 7 / 8 * 2 / 4;
  const double time_by_switch = time(T3_IN_NETWORK);
  CHECK(time_by_switch >= by_switch);
  CHECK(time_by_switch <= by_switch * 7 / 6);
  check_within_an_eighth_above(time(T3_RING), by_others);
  check_within_an_eighth_above(time(T3_DIRECT), by_others);
}

// Hierarchical, each GPU moves a quarter of 256 KiB on each of 3 links inside at 4 GB/s, and then half of its quarter
// between the nodes at 1 GB/s. Direct, an eighth for each of 4 GPUs goes there.
TEST_CASE("a slow way between nodes makes hierarchical collectives faster than direct ones") {
  const auto time = [](t3_collective_op op, t3_collective_algorithm algorithm) {
    return right_run({op, algorithm}, 1 << 17, "fp16", 8, {nodes(4)}).time("collective");
  };
  for (const t3_collective_op op : {T3_REDUCE_SCATTER, T3_ALL_GATHER, T3_ALL_REDUCE}) {
    INFO(t3vp::name_of(op));
    const double bytes = (1 << 18) * (op == T3_ALL_REDUCE ? 2 : 1);
    check_within_an_eighth_above(time(op, T3_HIERARCHICAL), bytes / 4 / 4 + bytes / 4 / 2);
    check_within_an_eighth_above(time(op, T3_DIRECT), bytes / 8 * 4);
  }
}

TEST_CASE("hierarchical collectives and those by the switch take as long without data") {
  const auto time = [](const Operation& operation, const std::string& topology, const char* data) {
    return right_run(operation, 7777, "fp16", 6, {topology, data}).report()["time_ns"].dump();
  };
  for (const Operation& operation : hierarchical_operations())
    CHECK(time(operation, nodes(3), "data=functional") == time(operation, nodes(3), "data=timing-only"));
  for (const Operation& operation : operations_in_network())
    CHECK(time(operation, reducing, "data=functional") == time(operation, reducing, "data=timing-only"));
}

TEST_CASE("the pieces of a broadcast round a ring share no DRAM access") {
  const std::uint64_t elements =
      GENERATE(std::uint64_t{1} << 12, std::uint64_t{1} << 15, (std::uint64_t{1} << 15) + 48);
  const Run run = right_run({T3_BROADCAST, T3_RING}, elements, "fp16", 5, {"data=timing-only"});
  CAPTURE(elements);
  CHECK(5 * run.report()["dram_bytes"]["collective_read"].get<double>() == 4.0 * 2 * static_cast<double>(elements));
}

// Workgroups that have no block of a piece still signal, which the links of 4 GB/s carry.
TEST_CASE("a broadcast round a ring is not slower with more compute units") {
  for (const std::uint64_t bytes : {1u << 13, 1u << 16, 1u << 18})
    check_more_units_not_slower(collective({T3_BROADCAST, T3_RING}, bytes, "fp16", 4), "collective", 0.02);
}

// One signal of each of 32 workgroups takes a link 16 ns.
TEST_CASE("collectives are not slower with more compute units") {
  const auto check = [](const Operation& operation, const std::string& topology) {
    INFO(t3vp::name_of(operation.first) << ' ' << t3vp::name_of(operation.second));
    for (const std::uint64_t bytes : {1u << 16, 1u << 18})
      check_more_units_not_slower(collective(operation, bytes, "fp16", 4) + Settings{topology}, "collective", 0.01,
                                  {2, 8, 32});
  };
  for (const Operation& operation : all_operations())
    if (operation != Operation{T3_BROADCAST, T3_RING})
      check(operation, operation.second == T3_RING ? "system.links.topology=ring" : joined);
  for (const Operation& operation : operations_in_network()) check(operation, reducing);
  for (const Operation& operation : hierarchical_operations()) check(operation, nodes(2));
}

// Handing a piece on takes a load's latency of 100 ns and the step. The best number of pieces takes
// (sqrt(bytes) + sqrt((N - 2) handing on))^2 at 4 GB/s.
TEST_CASE("a broadcast round a ring goes in as many pieces as pay for handing them on") {
  const auto [elements, step_ns] =
      GENERATE(table<std::uint64_t, double>({{1 << 15, 2000}, {1 << 17, 2000}, {1 << 17, 0}}));
  constexpr double GBps = 4, gpus = 4;
  const Run run = right_run({T3_BROADCAST, T3_RING}, elements, "fp16", 4,
                            {"data=timing-only", "system.kernels.ring.step_ns=" + std::to_string(step_ns)});
  const double root = std::sqrt(2.0 * static_cast<double>(elements)) + std::sqrt((gpus - 2) * (100 + step_ns) * GBps);
  CHECK(run.time("collective") <= root * root / GBps * 9 / 8);
}

TEST_CASE("combinations that make no sense are one line") {
  const auto message = [](const Operation& operation, const std::string& topology) -> std::string {
    try {
      Run::of_platform(collective(operation, 1000, "fp16", 4) + Settings{topology});
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  using Catch::Contains;
  CHECK_THAT(message({T3_ALL_REDUCE, T3_IN_NETWORK}, "system.links.topology=switch"),
             Contains("/workload/collective/algorithm") && Contains("reduction"));
  CHECK_THAT(message({T3_ALL_REDUCE, T3_RING}, "system.kernels.ring.block_bytes=16384"),
             Contains("/kernels/ring/block_bytes") && Contains("registers"));
  CHECK_THAT(message({T3_ALL_REDUCE, T3_IN_NETWORK}, "system.links.topology=ring"), Contains("reduction"));
  CHECK_THAT(message({T3_ALL_TO_ALL, T3_IN_NETWORK}, reducing), Contains("all-to-all"));
  CHECK_THAT(message({T3_ALL_REDUCE, T3_HIERARCHICAL}, "system.links.topology=ring"), Contains("nodes"));
}

TEST_CASE("the former word for in-network is refused with the new one") {
  const std::string former = R"(workload={"collective": {"op": "all-reduce", "bytes": 64, "algorithm": "in-switch"}})";
  CHECK_THROWS_WITH(Run::of_platform({"gpus=2", former}),
                    Catch::EndsWith("/workload/collective/algorithm: found the former word \"in-switch\" "
                                    "(--set), expected in-network"));
}

TEST_CASE("collectives end with buffers of one block on rings and tori and nodes of them") {
  const auto [gpus, topology] = GENERATE(table<std::uint32_t, std::string>({
      {8, "system.links.topology=ring"},
      {16, R"(system.links.topology={"kind": "torus", "dimensions": [4, 4]})"},
      {8, nodes(4, "node")},
  }));
  const Settings smallest{"system.kernels.ring.block_bytes=1024", "system.links.receive_buffer_KiB=1", topology};
  for (const t3_collective_op op : known_ops) right_run({op, T3_DIRECT}, 8192 * gpus / 2, "fp16", gpus, smallest);
}

TEST_CASE("chunks of no element are no chunks") {
  for (const Operation& operation : all_operations())
    if (operation.first != T3_ALL_TO_ALL) right_run(operation, 3, "fp16", 5, {"data=functional"});
}

TEST_CASE("a collective takes as long without data") {
  for (const Operation& operation : all_operations()) {
    const auto time = [&](const char* data) {
      return right_run(operation, 7777, "fp16", 3, {data}).report()["time_ns"].dump();
    };
    CHECK(time("data=functional") == time("data=timing-only"));
  }
}

// Between fully connected GPUs every store takes one link.
TEST_CASE("links carry what the algorithm sends and no byte more") {
  const std::uint32_t gpus = GENERATE(3u, 5u);
  constexpr std::uint64_t elements = 5003;
  for (const Operation& operation : all_operations()) {
    const Run run = right_run(operation, elements, "fp16", gpus, {"system.links.topology=fully-connected"});
    CHECK(carried(run) == 2 * sent_elements(operation, elements, gpus));
  }
}

// A fifth of 256 KiB crosses a link at 4 GB/s, of a sum twice. On the ring all of a GPU's pass one link, and what goes
// to all of the others passes up to 4. What direct collectives add is launch, latency and memory of each of their
// phases.
TEST_CASE("direct collectives use all links of fully connected GPUs at once") {
  constexpr std::uint64_t elements = 1 << 17;
  for (const t3_collective_op op : known_ops) {
    const Settings full{"system.links.topology=fully-connected"};
    const double ring = right_run({op, T3_RING}, elements, "fp16", 5, full).time("collective");
    const double direct = right_run({op, T3_DIRECT}, elements, "fp16", 5, full).time("collective");
    INFO(t3vp::name_of(op));
    if (op == T3_BROADCAST) continue;
    const int phases = op == T3_ALL_REDUCE ? 2 : 1;
    const double chunk = phases * 2.0 * elements / 5 / 4;
    check_within_an_eighth_above(ring, chunk * (op == T3_ALL_TO_ALL ? 1 + 2 + 3 + 4 : 4));
    CHECK(direct >= chunk);
    CHECK(direct <= chunk + phases * 5000);
  }
}

namespace {

Fabric links_of(const Topology& topology, std::uint32_t gpus, double bandwidth_GBps = 1) {
  interconnect::LinkParameters links;
  links.bandwidth_GBps = bandwidth_GBps;
  return lay_out({links, topology}, gpus);
}
const Topology fully_connected = of_kind(Topology::Kind::fully_connected);
/// Two nodes of four fully connected GPUs; the links between nodes have a tenth of the bandwidth.
Fabric two_nodes(bool one_port) {
  interconnect::LinkParameters fast, slow;
  fast.bandwidth_GBps = 1;
  slow.bandwidth_GBps = 0.1;
  return lay_out({{}, nodes_of(4, {fast, fully_connected}, {slow, {}}, one_port)}, 8);
}

}  // namespace

TEST_CASE("no collective is faster than the bytes that its definition moves") {
  t3_collective c{T3_ALL_GATHER, T3_RING, T3_FP16, 1000, 0, 0, {}, {}, {}};
  const Fabric ring = links_of({}, 5), full = links_of(fully_connected, 5);
  // Five chunks of 200 elements: a GPU receives four over two ports, or over four.
  CHECK(least_link_ns(c, ring) == Approx(800));
  CHECK(least_link_ns(c, full) == Approx(400));
  c.op = T3_ALL_REDUCE;
  CHECK(least_link_ns(c, ring) == Approx(1600));
  c.op = T3_BROADCAST;
  CHECK(least_link_ns(c, full) == Approx(500));
  // Parts of 200 elements to two neighbours at one hop and two GPUs at two, over ten links.
  c.op = T3_ALL_TO_ALL;
  CHECK(least_link_ns(c, ring) == Approx(5 * 400 * (1 + 1 + 2 + 2) / 10.0));
  // Three chunks of 300 elements whose parts go the same way around, one hop and two, over six links.
  c.elements = 900;
  Fabric one_way = links_of({}, 3);
  for (std::uint32_t gpu = 0; gpu < 3; ++gpu)
    one_way.gpus[gpu].route[(gpu + 2) % 3].port = one_way.gpus[gpu].route[(gpu + 1) % 3].port;
  CHECK(least_link_ns(c, one_way) == Approx(3 * 600 * (1 + 2) / 6.0));
}

TEST_CASE("the bisection bounds an all-to-all") {
  const t3_collective c{T3_ALL_TO_ALL, T3_DIRECT, T3_FP16, 1600, 0, 0, {}, {}, {}};
  // Halves of eight GPUs exchange 8 x 8 parts of 100 elements each way, over the eight links between halves of a torus.
  CHECK(least_link_ns(c, links_of(torus_of({4, 4}), 16)) == Approx(8 * 8 * 200 / 8.0));
  // A slow link of a ring of two: all that enters GPU 0.
  Fabric slow = links_of({}, 2, 1);
  slow.links[1].parameters.bandwidth_GBps = 0.25;
  CHECK(least_link_ns(c, slow) == Approx(1600 / 0.25));
}

TEST_CASE("what enters a node over its links bounds collectives between nodes") {
  t3_collective c{T3_ALL_GATHER, T3_RING, T3_FP16, 800, 0, 0, {}, {}, {}};
  // Four chunks of 100 elements enter a node by four links, or by one.
  CHECK(least_link_ns(c, two_nodes(false)) == Approx(4 * 200 / 0.4));
  CHECK(least_link_ns(c, two_nodes(true)) == Approx(4 * 200 / 0.1));
  c.op = T3_ALL_REDUCE;
  CHECK(least_link_ns(c, two_nodes(true)) == Approx(1600 / 0.1));
  c.op = T3_REDUCE_SCATTER;
  CHECK(least_link_ns(c, two_nodes(true)) == Approx(4 * 200 / 0.1));
  c.op = T3_ALL_TO_ALL;
  CHECK(least_link_ns(c, two_nodes(true)) == Approx(4 * 4 * 200 / 0.1));
}

TEST_CASE("a switch carries between two parts what the smaller side's links do") {
  const t3_collective c{T3_ALL_TO_ALL, T3_DIRECT, T3_FP16, 400, 0, 0, {}, {}, {}};
  Fabric fabric = links_of(of_kind(Topology::Kind::switched), 4);
  CHECK(least_link_ns(c, fabric) == Approx(3 * 200));
  fabric.links[3].parameters.bandwidth_GBps = 0.25;  // GPU 3's, to the switch
  CHECK(least_link_ns(c, fabric) == Approx(3 * 200 / 0.25));
}

TEST_CASE("a collective's oracle says what the operations are") {
  const std::uint32_t gpus = GENERATE(2u, 3u, 7u);
  t3_collective c{T3_ALL_REDUCE, T3_RING, T3_FP32, 31, 0, 0, {}, {}, {}};
  std::vector<float> sums(31);
  const CollectiveOracle all_reduce(c, gpus, 5);
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
    for (std::size_t i = 0; i < 31; ++i) sums[i] += all_reduce.sent(gpu)[i];
  c.op = T3_ALL_TO_ALL;
  const CollectiveOracle all_to_all(c, gpus, 5);
  std::size_t begin = 0;
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
    CHECK(all_reduce.received(gpu) == sums);
    const std::uint64_t size = chunk_elements(31, gpu, gpus);
    const std::vector<float> received = all_to_all.received(gpu);
    REQUIRE(received.size() == size * gpus);
    for (std::uint32_t from = 0; from < gpus; ++from)
      for (std::size_t i = 0; i < size; ++i) CHECK(received[from * size + i] == all_to_all.sent(from)[begin + i]);
    begin += size;
  }
  CHECK(begin == 31);
}

TEST_CASE("a wrong bit in a collective is seen") {
  for (const Operation& operation : all_operations()) {
    const Run run =
        Run::of_platform(collective(operation, 4002, "fp16", 3) +
                         Settings{"data=functional", R"(inject={"wrong_element": {"gpu": 2, "index": 17}})"});
    CAPTURE(t3vp::name_of(operation.first), t3vp::name_of(operation.second));
    CHECK(run.exit_code() == 1);
    CHECK(run.report()["functional"]["mismatches"] == 1);
  }
}

TEST_CASE("a collective that cannot be is refused in a line") {
  const Operation gather{T3_ALL_GATHER, T3_DIRECT};
  const auto refusal = [](const Settings& settings) -> std::string {
    try {
      configuration_of(settings);
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  };
  const auto tells = [&](const Settings& settings, const std::string& text) {
    INFO(refusal(settings));
    CHECK(refusal(settings).find(text) != std::string::npos);
    CHECK(refusal(settings).find('\n') == std::string::npos);
  };
  const Settings right = collective(gather, 4096, "fp16", 4);
  REQUIRE(refusal(right).empty());
  tells(collective(gather, 4097, "fp16", 4), "/workload/collective/bytes: found 4097");
  tells(collective(gather, 4098, "fp32", 4), "a multiple of 4");
  tells(collective(gather, 4096, "fp16", 1), "/gpus");
  tells(collective({T3_ALL_TO_ALL, T3_RING}, 6, "fp16", 4), "one for each GPU");
  tells(collective(gather, std::uint64_t{1} << 31, "fp16", 4), "memory");
  tells(right + Settings{"method=t3"}, "/method");
  tells(right + Settings{"operands=random"}, "/operands");
  tells(right + Settings{"simulate=mirror"}, "/simulate");
  tells(right + Settings{"program=fused"}, "/program");
  tells(right + Settings{"workload.gemm.m=4"}, "/workload/gemm");
  tells(right + Settings{"workload.collective.algorithm=hierarchical"}, "/workload/collective/algorithm");
  tells(right + Settings{"workload.collective.op=nothing"}, "/workload/collective/op");
  tells(gemm(64, 64, 64) + Settings{"program=collective"}, "/program");
}

}  // namespace t3vp::test::collective_runs_test
