// A layer of experts: every element of every owner, the bytes on links by a routing that is drawn here once more,
// times, and what is refused.
#include <catch2/catch.hpp>

#include "system/kernel_runs.h"
#include "workloads/moe/moe_oracle.h"

namespace t3vp::test::moe_runs_test {

namespace {

using nlohmann::json;

const Settings large_tables{"system.tracker.chunks=256", "system.dma.commands=256"};
const char* const methods[] = {"bulk", "deepep", "t3", "t3-mca"};

json shape_of(std::uint32_t tokens, std::uint32_t hidden, std::uint32_t experts, const json& more = json::object()) {
  json shape = {{"tokens", tokens}, {"hidden", hidden}, {"experts", experts}};
  shape.update(more);
  return shape;
}

Settings layer(const std::string& method, std::uint32_t gpus, const json& shape) {
  return kernel_run(method.c_str(), gpus, {{"moe", shape}}) + large_tables;
}

Run right_run(const std::string& method, std::uint32_t gpus, const json& shape, const Settings& settings) {
  return test::right_run(layer(method, gpus, shape) + settings);
}

double statistic(const Run& run, const std::string& name) {
  for (const auto& each : run.report()["statistics"])
    if (each["name"] == name) return each["value"];
  FAIL("no statistic " << name);
  return 0;
}

/// Rows that each GPU sends to each expert, by the page's words alone.
struct Drawn {
  std::vector<std::vector<std::uint64_t>> rows;
  std::uint64_t dropped = 0;
};

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

Drawn draw(std::uint32_t gpus, const json& shape, std::uint64_t seed, std::uint64_t slots) {
  const std::uint64_t tokens = shape["tokens"], experts = shape["experts"], top_k = shape.value("top_k", 2u),
                      skew = shape.value("skew", 0u);
  Drawn drawn{std::vector<std::vector<std::uint64_t>>(gpus, std::vector<std::uint64_t>(experts)), 0};
  for (std::uint64_t token = 0; token < gpus * tokens; ++token) {
    std::vector<std::uint64_t> weights;
    for (std::uint64_t expert = 0; expert < experts; ++expert) {
      std::uint64_t weight = std::uint64_t{1} << 40;
      for (std::uint64_t i = 0; i < skew; ++i) weight /= expert + 1;
      weights.push_back(weight);
    }
    for (std::uint64_t choice = 0; choice < top_k; ++choice) {
      std::uint64_t sum = 0, expert = 0;
      for (const std::uint64_t weight : weights) sum += weight;
      std::uint64_t left = mix(mix(seed + 0x9E3779B97F4A7C15) + 16 * token + choice) % sum;
      for (; left >= weights[expert]; ++expert) left -= weights[expert];
      weights[expert] = 0;
      std::uint64_t& taken = drawn.rows[token / tokens][expert];
      ++(taken < slots ? taken : drawn.dropped);
    }
  }
  return drawn;
}

/// Tokens go there, results come back. Padded: all slots go there.
void check_links(const Run& run, std::uint32_t gpus, const json& shape, const Drawn& drawn, std::uint64_t slots) {
  const std::uint64_t local = shape["experts"].get<std::uint64_t>() / gpus, hidden = shape["hidden"],
                      inner = shape.value("inner", hidden), element = shape.value("element", "fp16") == "fp32" ? 4 : 2;
  const auto sent = [&](std::uint64_t from, std::uint64_t to) {
    std::uint64_t rows = 0;
    for (std::uint64_t expert = to * local; expert < (to + 1) * local; ++expert) rows += drawn.rows[from][expert];
    return rows;
  };
  const bool padded = shape.value("padded", false);
  for (const auto& link : run.report()["links"]) {
    const std::uint64_t from = link["from"], to = link["to"];
    CAPTURE(from, to);
    CHECK(link["payload_bytes"] ==
          ((padded ? local * slots : sent(from, to)) * inner + sent(to, from) * hidden) * element);
  }
}

struct Case {
  std::uint32_t gpus;
  json shape;
  std::uint64_t slots;
};

/// Runs the case by all methods.
void check_case(const Case& each) {
  for (const std::string method : {"bulk", "deepep", "t3", "t3-mca", "t3 padded"}) {
    json shape = each.shape;
    if (method == "t3 padded") shape["padded"] = true;
    CAPTURE(each.gpus, method, shape.dump());
    const Run run =
        right_run(method.substr(0, method.find(' ')), each.gpus, shape, {joined, "data=functional", "check=all"});
    const Drawn drawn = draw(each.gpus, each.shape, 1, each.slots);
    CHECK(run.report()["functional"]["checked"] == true);
    CHECK(run.report()["functional"]["elements"] ==
          each.gpus * each.shape["tokens"].get<std::uint64_t>() * each.shape["hidden"].get<std::uint64_t>());
    CHECK(statistic(run, "routing.dropped") == static_cast<double>(drawn.dropped));
    check_links(run, each.gpus, shape, drawn, each.slots);
  }
}

}  // namespace

TEST_CASE("owners have the sums of their tokens' experts at odd sizes, and links carry each row once") {
  check_case(GENERATE(values<Case>({
      {2, shape_of(1, 1, 2, {{"top_k", 1}, {"element", "fp32"}}), 1},
      {3, shape_of(37, 100, 6, {{"inner", 70}}), 37},
      {3, shape_of(67, 33, 3, {{"top_k", 1}, {"element", "bf16"}, {"tile", "32x32"}}), 67},
      {5, shape_of(41, 130, 10, {{"inner", 45}, {"capacity", 0.75}}), 7},
      {5, shape_of(2, 70, 20, {{"element", "fp32"}}), 2},
  })));
}

TEST_CASE("many owners have the sums of their tokens' experts at odd sizes, and links carry each row once") {
  check_case(GENERATE(values<Case>({
      {7, shape_of(33, 65, 14, {{"skew", 1}, {"top_k", 3}}), 33},
      {7, shape_of(21, 1100, 7, {{"inner", 31}, {"skew", 3}, {"capacity", 1}}), 6},
      {8, shape_of(29, 48, 32, {{"top_k", 5}, {"capacity", 1.25}, {"element", "bf16"}}), 6},
  })));
}

TEST_CASE("a GPU whose experts have no row adds zeros for what others dropped") {
  for (const char* method : {"t3", "t3-mca"})
    right_run(method, 4, shape_of(8, 64, 4, {{"top_k", 1}, {"skew", 4}, {"capacity", 1}}),
              {"data=functional", "check=all"});
}

// Numbers of rows wait in the switch behind their sender's sums. The rows behind them must not pass.
TEST_CASE("rows of experts do not overtake their numbers in a switch that merges") {
  const json shape = shape_of(33, 64, 16, {{"top_k", 8}, {"skew", 2}, {"inner", 1}, {"padded", true}});
  for (const std::uint32_t gpus : {4u, 8u})
    right_run("t3", gpus, shape,
              {"data=functional", "check=all",
               R"(system.links.topology={"kind": "switch", "latency_ns": 100, "reduction": true, "merging_KiB": 16,
                  "merging_timeout_ns": 5000})"});
}

TEST_CASE("the cases of a layer of experts have experts without tokens, and capacities that drop tokens") {
  const auto has_idle = [](const Drawn& drawn, std::uint32_t expert) {
    return std::all_of(drawn.rows.begin(), drawn.rows.end(), [=](const auto& rows) { return rows[expert] == 0; });
  };
  const Drawn few = draw(5, shape_of(2, 70, 20), 1, 2);
  std::uint32_t idle = 0;
  for (std::uint32_t expert = 0; expert < 20; ++expert) idle += has_idle(few, expert) ? 1u : 0u;
  CHECK(idle > 0);
  CHECK(statistic(right_run("bulk", 5, shape_of(2, 70, 20), {joined}), "routing.idle_experts") == idle);
  CHECK(draw(5, shape_of(41, 130, 10), 1, 7).dropped > 0);
  CHECK(draw(7, shape_of(21, 1100, 7, {{"skew", 3}}), 1, 6).dropped > 40);
}

TEST_CASE("a layer of experts takes as long without data") {
  const std::string method = GENERATE("bulk", "deepep", "t3", "t3-mca");
  const json shape = shape_of(37, 100, 6, {{"inner", 70}, {"capacity", 1}});
  const auto figures = [&](const char* setting) {
    const Run run = right_run(method, 3, shape, {joined, setting});
    return run.report()["time_ns"].dump() + run.report()["dram_bytes"].dump();
  };
  CHECK(figures("data=timing-only") == figures("data=functional"));
}

TEST_CASE("a layer of experts has the same results at any quantum") {
  const std::string method = GENERATE("bulk", "deepep", "t3");
  for (const char* quantum : {"quantum_ns=1", "quantum_ns=1000000"}) {
    const Run run = right_run(method, 3, shape_of(37, 100, 6), {joined, "data=functional", quantum});
    CHECK(run.report()["functional"]["mismatches"] == 0);
    CHECK(carried(run) == carried(right_run(method, 3, shape_of(37, 100, 6), {joined})));
  }
}

// Links carry what stays in a node; NICs bring the rest.
TEST_CASE("kernels send rows of experts to other nodes by NICs") {
  struct Nodes {
    std::uint32_t gpus, node;
    json shape;
    std::uint64_t slots;
  };
  const Nodes each = GENERATE(values<Nodes>({
      {2, 1, shape_of(3, 20, 2, {{"top_k", 1}, {"element", "fp32"}}), 3},
      {4, 2, shape_of(67, 100, 4, {{"inner", 70}}), 67},
      {6, 3, shape_of(21, 45, 12, {{"inner", 33}, {"capacity", 0.75}, {"top_k", 3}, {"element", "bf16"}}), 4},
      {6, 2, shape_of(5, 70, 6, {{"skew", 2}}), 5},
  }));
  CAPTURE(each.gpus, each.node, each.shape.dump());
  const Run run =
      right_run("deepep", each.gpus, each.shape, apart(each.node) + Settings{"data=functional", "check=all"});
  CHECK(run.report()["functional"]["checked"] == true);
  check_links(run, each.gpus, each.shape, draw(each.gpus, each.shape, 1, each.slots), each.slots);
  const Run timed = right_run("deepep", each.gpus, each.shape, apart(each.node) + Settings{"data=timing-only"});
  CHECK(timed.report()["time_ns"] == run.report()["time_ns"]);
}

TEST_CASE("rows of experts go over links that are shared as well") {
  const char* const topology = GENERATE("ring", "switch");
  for (const char* method : methods)
    right_run(method, 4, shape_of(37, 100, 8),
              {"data=functional", "check=all", std::string("system.links.topology=") + topology});
}

// With links so slow that nothing else counts, one after the other takes the time of both ways; t3 as well, since
// results come back when tokens have come.
TEST_CASE("no method of a layer of experts beats its links, and idle experts cost nothing") {
  const json shape = shape_of(128, 256, 4);
  const Drawn drawn = draw(4, shape, 1, 128);
  for (const char* method : methods) {
    const Run run = right_run(method, 4, shape, {joined, "system.links.bandwidth_GBps=0.5"});
    for (std::uint32_t gpu = 1; gpu < 4; ++gpu)
      CHECK(run.time("total") >= static_cast<double>(drawn.rows[0][gpu] + drawn.rows[gpu][0]) * 512 / 0.5);
  }
  const auto gemm = [](std::uint32_t experts) {
    return right_run("bulk", 2, shape_of(64, 64, experts, {{"top_k", 1}, {"skew", 4}, {"capacity", 0.02}}), {joined})
        .time("gemm");
  };
  CHECK(gemm(64) < 3 * gemm(2));
}

TEST_CASE("results of experts go to memory where a NIC reads them, and stay in the cache elsewhere") {
  const json shape = shape_of(64, 256, 8);
  const double results = 2 * 64 * 256 * 2;  // bytes of a GPU on average: two choices of each token
  for (const char* method : {"bulk", "deepep"})
    CHECK(right_run(method, 4, shape, {joined}).dram_bytes("gemm_write") < results / 2);
  CHECK(right_run("deepep", 4, shape, apart(1)).dram_bytes("gemm_write") > results / 2);
}

TEST_CASE("a wrong element of a layer of experts is found") {
  const Run run =
      Run::of_platform(layer("t3", 2, shape_of(64, 32, 2)) +
                       Settings{joined, "data=functional", R"(inject.wrong_element={"gpu": 1, "index": 2047})"});
  CHECK(run.exit_code() == 1);
  CHECK(run.report()["functional"]["mismatches"] == 1);
  CHECK(run.report()["functional"]["first_mismatch"]["row"] == 63);
}

TEST_CASE("a lost row of a token ends in a diagnosis") {
  const std::string method = GENERATE("bulk", "deepep", "t3");
  const Run run =
      Run::of_platform(layer(method, 3, shape_of(64, 32, 3)) +
                       Settings{joined, "limits.simulated_ms=1", R"(inject.drop_packet={"link": 0, "packet": 9})"});
  CHECK(run.exit_code() == 1);
  CHECK_FALSE(run.diagnosis().empty());
}

TEST_CASE("the oracle of experts adds products of a token with the weights of its experts") {
  t3_moe moe{};
  moe.tokens = 5;
  moe.hidden = 7;
  moe.inner = 50;
  moe.experts = 6;
  moe.top_k = 2;
  moe.slots = 3;
  moe.seed = 9;
  const MoeRouting routing(moe, 3);
  const MoeOracle oracle(moe, 3, 16);
  for (std::uint32_t token = 0; token < 5; ++token) {
    const std::vector<double> x = oracle.token(1, token), out = oracle.out(routing, 1, token);
    for (std::uint32_t column = 0; column < 7; ++column) {
      double sum = 0;
      for (const std::uint32_t expert : routing.experts_of(1, token))
        for (std::uint32_t k = 0; k < 50; ++k)
          sum += x[k] * oracle.weights_row(expert / 2, expert % 2 * 50 + k)[column];
      CHECK(out[column] == sum);
    }
  }
}

TEST_CASE("every wrong value of a layer of experts is one line that names it") {
  const auto message = [&](const json& change, const Settings& settings, const char* method = "bulk") {
    json shape = shape_of(64, 64, 8);
    shape.merge_patch(change);
    return refusal_of(layer(method, 4, shape) + Settings{joined} + settings);
  };
  using Catch::Contains;
  for (const char* key : {"tokens", "hidden", "experts"}) {
    CHECK_THAT(message({{key, 0}}, {}), Contains("/workload/moe/" + std::string(key)));
    CHECK_THAT(message({{key, nullptr}}, {}), Contains(key));
  }
  CHECK_THAT(message({{"top_k", 9}}, {}), Contains("/workload/moe/top_k") && Contains("at most 8"));
  CHECK_THAT(message({{"top_k", 17}}, {}), Contains("/workload/moe/top_k"));
  CHECK_THAT(message({{"top_k", 0}}, {}), Contains("/workload/moe/top_k"));
  CHECK_THAT(message({{"capacity", 0}}, {}), Contains("/workload/moe/capacity"));
  CHECK_THAT(message({{"experts", 6}}, {}), Contains("/workload/moe/experts") && Contains("a multiple of the 4 GPUs"));
  CHECK_THAT(message({{"skew", 5}}, {}), Contains("/workload/moe/skew"));
  CHECK_THAT(message({{"tile", "7x64"}}, {}), Contains("/workload/moe/tile"));
  CHECK_THAT(message({{"element", "int8"}}, {}), Contains("/workload/moe/element"));
  CHECK_THAT(message({{"communication_units", 1}}, {}), Contains("/workload/moe/communication_units"));
  CHECK_THAT(message({{"communication_units", 4}}, {}, "deepep"), Contains("/workload/moe/communication_units"));
  CHECK_THAT(message({{"tokens", 65536}, {"hidden", 65535}}, {}), Contains("of a GPU's memory"));
  CHECK_THAT(message({{"padded", true}}, {}, "deepep"), Contains("/workload/moe/padded"));
  CHECK_THAT(message({{"padded", true}}, {"system.tracker.chunks=2"}, "t3"), Contains("/tracker/chunks"));
  CHECK_THAT(message(json::object(), {"system.tracker.chunks=8"}, "t3"), Contains("/tracker/chunks"));
  CHECK_THAT(message(json::object(), {"system.dma.commands=8"}, "t3"), Contains("/dma/commands"));
  CHECK_THAT(message({{"experts", 34}}, {"gpus=17"}), Contains("/gpus") && Contains("at most 16"));
  CHECK_THAT(message(json::object(), {"gpus=1"}), Contains("/gpus"));
  CHECK_THAT(message(json::object(), {"method=fused"}), Contains("/method"));
  CHECK_THAT(message(json::object(), {"simulate=mirror"}), Contains("/simulate"));
  CHECK_THAT(message(json::object(), {"operands=random"}), Contains("/operands"));
  CHECK_THAT(message(json::object(), {"workload.fused=all-to-all"}), Contains("/workload/fused"));
  CHECK_THAT(message(json::object(), apart(2)), Contains("method deepep"));
  CHECK_THAT(message(json::object(), apart(2), "t3"), Contains("method deepep"));
  CHECK_THAT(message(json::object(), {R"(system.links.topology={"kind": "nodes", "gpus_per_node": 1})"}, "deepep"),
             Contains("/nic"));
  CHECK_THAT(message(json::object(), {}), Contains("accepted"));
}

}  // namespace t3vp::test::moe_runs_test
