// One GPU that stands for all of a torus against all of them.
#include <catch2/catch.hpp>
#include <cmath>

#include "io/input_error.h"
#include "system/platform_run.h"

namespace t3vp::test::torus_mirror_test {

namespace {

using nlohmann::json;

Settings collective(const std::string& op, std::uint64_t bytes, const std::string& simulate,
                    const std::string& algorithm = "direct") {
  return {
      "method=sequential", "data=timing-only", "simulate=" + simulate,
      "workload=" +
          json{{"collective", {{"op", op}, {"algorithm", algorithm}, {"bytes", bytes}, {"element", "fp32"}}}}.dump()};
}

Settings on_torus(const std::vector<std::uint32_t>& dimensions) {
  std::uint32_t gpus = 1;
  for (const std::uint32_t size : dimensions) gpus *= size;
  const json topology = {{"kind", "torus"}, {"dimensions", dimensions}, {"channels", "by-distance"}};
  return {"gpus=" + std::to_string(gpus), "system.links.topology=" + topology.dump()};
}

Settings on_torus(std::uint32_t columns, std::uint32_t rows) { return on_torus({columns, rows}); }

Settings torus_128() { return {"system=" + config("systems/torus-128.json").string()}; }

/// Memory whose times do not depend on which GPU's part of a buffer is meant: no hashes, a cache of one bank that holds
/// everything, rows of DRAM that buffers do not share with the queue of packets. Barriers' signals take next to no
/// time, so that all GPUs begin at once.
Settings with_memory_alike() {
  return {"system.memory.channel_hash=false",
          "system.cache.banks=1",
          "system.cache.bank_bytes_per_cycle=128",
          "system.cache.capacity_MiB=64",
          "memory.geometry.row_bytes=512",
          "memory.address_map=rocol",
          "memory.bank_hash=none",
          "system.links.link_latency_ns=0.001"};
}

double bound(const Run& run) { return run.report()["bounds"]["link_ns"].get<double>(); }

}  // namespace

namespace {

void require_the_same(const std::string& op, const std::string& algorithm, const std::vector<std::uint32_t>& dimensions,
                      const Settings& settings = {}, double share = 0) {
  CAPTURE(op, algorithm, dimensions);
  constexpr std::uint64_t rows_of_all_banks = 4 * 16 * 512;
  std::uint32_t gpus = 1;
  for (const std::uint32_t size : dimensions) gpus *= size;
  const auto simulate = [&](const char* which) {
    return Run::of_platform(Settings{on_small_system()} + on_torus(dimensions) + with_memory_alike() + settings +
                            collective(op, rows_of_all_banks * gpus, which, algorithm));
  };
  const Run all = simulate("all"), mirror = simulate("mirror");
  REQUIRE(all.exit_code() == 0);
  REQUIRE(mirror.exit_code() == 0);
  const auto alike = [share](const nlohmann::json& one, const nlohmann::json& other) {
    return std::abs(one.get<double>() - other.get<double>()) <= share * other.get<double>();
  };
  CHECK(alike(mirror.report()["time_ns"]["total"], all.report()["time_ns"]["total"]));
  CHECK(alike(mirror.report()["bounds"]["dram_ns"], all.report()["bounds"]["dram_ns"]));
  CHECK(mirror.report()["bounds"]["link_ns"] == all.report()["bounds"]["link_ns"]);
  if (share == 0) CHECK(mirror.report()["dram_bytes"] == all.report()["dram_bytes"]);
  const std::size_t ports = mirror.report()["links"].size();
  REQUIRE(ports == all.report()["links"].size() / gpus);
  for (std::size_t port = 0; port < ports; ++port) {
    const auto &one = mirror.report()["links"][port], &same = all.report()["links"][port];
    for (const char* key : {"from", "to", "payload_bytes", "wire_bytes", "packets"}) CHECK(one[key] == same[key]);
    CHECK(alike(one["utilization"], same["utilization"]));
  }
}

}  // namespace

TEST_CASE("a mirrored torus takes the time of all its GPUs to the picosecond where they are alike") {
  const std::string op = GENERATE("all-to-all", "all-gather", "reduce-scatter", "all-reduce");
  const std::vector<std::uint32_t> dimensions =
      GENERATE(std::vector<std::uint32_t>{4, 4}, std::vector<std::uint32_t>{3, 2}, std::vector<std::uint32_t>{2, 5});
  require_the_same(op, "direct", dimensions);
}

/// What follows is read in the order of addresses, which is another one as seen from each place in a row: rows of DRAM
/// that chunks do not share, and a cache of eight lines, in which nothing is left of the dimension before.
const Settings with_memory_forgetful{"system.cache.capacity_MiB=0.0009765625", "memory.geometry.row_bytes=256"};

// Of the two ways round, what comes first to memory depends on where a GPU's chunks lie.
TEST_CASE("a mirrored torus takes the time of all its GPUs by its rings too") {
  const std::string op = GENERATE("all-gather", "reduce-scatter", "all-reduce");
  const std::vector<std::uint32_t> dimensions =
      GENERATE(std::vector<std::uint32_t>{4, 4}, std::vector<std::uint32_t>{3, 2}, std::vector<std::uint32_t>{2, 5},
               std::vector<std::uint32_t>{2, 2, 3});
  require_the_same(op, "torus-rings", dimensions, with_memory_forgetful, 0.002);
}

TEST_CASE("a mirrored torus agrees with all its GPUs where memory and ties and barriers tell them apart") {
  const auto [op, algorithm] = GENERATE(table<const char*, const char*>(
      {{"all-to-all", "direct"}, {"all-reduce", "direct"}, {"all-reduce", "torus-rings"}}));
  const auto [columns, rows] = GENERATE(table<std::uint32_t, std::uint32_t>({{4, 4}, {2, 5}}));
  CAPTURE(op, algorithm, columns, rows);
  const auto simulate = [&, op = op, algorithm = algorithm, columns = columns, rows = rows](const char* which) {
    return Run::of_platform(torus_128() + on_torus(columns, rows) +
                            collective(op, 40960ull * columns * rows, which, algorithm));
  };
  const Run all = simulate("all"), mirror = simulate("mirror");
  REQUIRE(mirror.exit_code() == 0);
  constexpr double link_latency = 700;  // up to which GPUs begin behind each other
  CHECK(std::abs(mirror.time("total") - all.time("total")) <= 0.03 * all.time("total") + link_latency);
  CHECK(mirror.time("total") >= bound(mirror));
  CHECK(bound(mirror) == bound(all));
}

TEST_CASE("128 GPUs of a torus exchange everything and the bisection bounds it") {
  constexpr std::uint64_t bytes = 1 << 20;
  const Run run = Run::of_platform(torus_128() + Settings{"gpus=128"} + collective("all-to-all", bytes, "mirror"));
  REQUIRE(run.exit_code() == 0);
  // Half of all has to cross the middle of the second dimension, over 2 x 8 links in each direction.
  const double crossing = 64.0 * 64 * static_cast<double>(bytes) / 128 / (16 * 25);
  CHECK(bound(run) >= crossing);
  CHECK(run.time("total") >= bound(run));
  // Without contention a GPU's own bytes over its four links would do, and the longest way.
  CHECK(run.time("total") > static_cast<double>(bytes) * 127 / 128 / (4 * 25) + 12 * 700);
}

TEST_CASE("embedding tables on a mirrored torus take about the time of all its GPUs") {
  const std::string method = GENERATE("bulk", "fused");
  CAPTURE(method);
  const auto simulate = [&](const char* which) {
    return Run::of_platform(
        torus_128() + on_torus(4, 2) +
        Settings{"method=" + method, "data=timing-only", std::string("simulate=") + which,
                 R"(workload={"embedding": {"global_batch": 128, "tables_per_gpu": 4, "dimension": 92, "pooling": 20,
                    "rows": 100000, "slice": 3}})"});
  };
  const Run all = simulate("all"), mirror = simulate("mirror");
  REQUIRE(mirror.exit_code() == 0);
  CHECK(std::abs(mirror.time("total") - all.time("total")) <= 0.03 * all.time("total") + 700);
  CHECK(mirror.dram_bytes("pooling_read") == Approx(all.dram_bytes("pooling_read")).epsilon(0.02));
}

TEST_CASE("one GPU stands for a torus only where all do the same") {
  const auto refusal = [](const Settings& settings, const std::string& method = "sequential") -> std::string {
    try {
      configuration_of(torus_128() + on_torus(4, 2) +
                       Settings{"data=timing-only", "simulate=mirror", "method=" + method} + settings);
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  };
  const auto of = [](const char* op, const char* algorithm, std::uint64_t bytes) {
    return "workload=" +
           json{{"collective", {{"op", op}, {"algorithm", algorithm}, {"bytes", bytes}, {"element", "fp32"}}}}.dump();
  };
  const std::string right = of("all-to-all", "direct", 4096);
  using Catch::Contains;
  CHECK(refusal({right}).empty());
  CHECK_THAT(refusal({right, "data=functional"}), Contains("a mirror has no neighbours' data"));
  CHECK_THAT(refusal({right, "system.links.topology.channels=by-place"}), Contains("channels by-distance"));
  CHECK_THAT(refusal({right, "system.links.topology=ring"}), Contains("any other mirror stands for the ring"));
  CHECK_THAT(refusal({of("all-to-all", "direct", 4100)}), Contains("elements that 8 GPUs share equally, not 1025"));
  CHECK_THAT(refusal({of("all-gather", "ring", 4096)}), Contains("direct or torus-rings and not ring"));
  CHECK_THAT(refusal({of("broadcast", "direct", 4096)}), Contains("one GPU is not like the others"));
  const std::string gemm = R"(workload={"gemm": {"m": 512, "n": 512, "k": 64}})";
  CHECK_THAT(refusal({gemm}), Contains("stands for a ring"));
  const std::string tables =
      R"(workload={"embedding": {"global_batch": 12, "tables_per_gpu": 1, "dimension": 8, "pooling": 1, "rows": 8}})";
  CHECK_THAT(refusal({tables}, "bulk"), Contains("samples that 8 GPUs share equally, not 12"));
  const std::string more = "workload.embedding.global_batch=16";
  CHECK(refusal({tables, more}, "fused").empty());
  CHECK_THAT(refusal({tables, more}, "zero-copy"), Contains("all with method zero-copy"));
  CHECK_THAT(refusal({tables, more, "workload.embedding.order=oblivious"}, "fused"),
             Contains("all with order oblivious"));
  CHECK_THAT(refusal({right, R"(system.links.topology={"kind": "switch", "channels": "by-distance"})"}),
             Contains("this key only with kind torus"));
}

}  // namespace t3vp::test::torus_mirror_test
