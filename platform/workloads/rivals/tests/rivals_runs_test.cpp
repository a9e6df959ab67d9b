// Rivals of T3: right sums at odd sizes, and no byte more than their mechanisms need.
#include <catch2/catch.hpp>

#include "io/input_error.h"
#include "system/platform_run.h"
#include "system/reference_sum.h"

namespace t3vp::test::rivals_runs_test {

namespace {

using nlohmann::json;

const char* const by_switch = R"({"kind": "switch", "latency_ns": 100, "reduction": true})";
const char* const connected = R"("fully-connected")";

struct Rival {
  const char* method;
  const char* topology;
  json settings;
};

/// Each mechanism in all ways in which it can run.
const std::vector<Rival> all_rivals{
    {"two-queues", connected, json::object()},
    {"two-queues", connected, {{"pieces", 3}}},
    {"two-queues", by_switch, {{"pieces", 2}, {"communication_units", 1}}},
    {"decomposed", connected, json::object()},
    {"decomposed", R"("ring")", {{"pieces", 2}, {"communication_units", 1}}},
    {"dma-collective", connected, json::object()},
    {"dma-collective", R"("switch")", {{"pieces", 3}, {"communication_units", 1}}},
    {"stored-tiles", connected, {{"order", "natural"}, {"group", 2}}},
    {"stored-tiles", connected, {{"communication_units", 1}, {"order", "interleaved"}}},
    {"stored-tiles", R"("ring")", {{"communication_units", 1}, {"gather", "stores"}}},
    {"stored-tiles", by_switch, {{"communication_units", 2}, {"gather", "multicast"}}},
    {"direct-update", connected, {{"order", "interleaved"}}},
    {"direct-update", connected, {{"gather", "stores"}}},
    {"direct-update", by_switch, {{"gather", "multicast"}}},
    {"direct-update", by_switch, {{"communication_units", 1}, {"gather", "multicast"}}},
    {"load-reduce", by_switch, json::object()},
    {"gather-then-gemm", connected, json::object()},
    {"flagged-gather", connected, {{"copy_queues", 1}}},
    {"flagged-gather", R"("ring")", {{"order", "natural"}}},
    {"load-reduce", by_switch, {{"communication_units", 1}, {"gather", "multicast"}, {"order", "interleaved"}}},
    {"decomposed-gather", connected, json::object()},
    {"decomposed-gather", R"("ring")", {{"copy_queues", 1}}},
    {"endpoint", connected, {{"pieces", 3}, {"rings", 2}}},
    {"endpoint", R"("ring")", json::object()},
    {"endpoint", by_switch, {{"pieces", 2}}},
};

/// Parts of a piece are larger than a message, and a ring's share of the memory is smaller than a part.
const char* const engine =
    R"(system.endpoint={"sram_KiB": 8, "message_bytes": 512, "rings": 4, "adder_GBps": 320, "sram_GBps": 1280,
                        "latency_ns": 40})";

Settings settings_of(const Rival& rival, std::uint32_t gpus) {
  return {on_small_system(),
          "gpus=" + std::to_string(gpus),
          std::string("method=") + rival.method,
          "workload.rival=" + rival.settings.dump(),
          std::string("system.links.topology=") + rival.topology,
          rival.method == std::string("endpoint") ? engine : "seed=0",
          "collectives.algorithm=auto"};
}

Run run_of(const Rival& rival, std::uint32_t gpus, const Settings& more) {
  return Run::of_platform(settings_of(rival, gpus) + more);
}

void check_sums(const Rival& rival, std::uint32_t gpus, const Settings& shape) {
  CAPTURE(rival.method, rival.topology, rival.settings.dump(), gpus);
  const Run run = run_of(rival, gpus, shape + Settings{"data=functional", "check=all"});
  CAPTURE(run.diagnosis());
  REQUIRE(run.exit_code() == 0);
  CHECK(run.report()["functional"]["checked"] == true);
  CHECK(run.report()["functional"]["mismatches"] == 0);
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

/// Neither M nor N is a multiple of the tile, and tiles do not divide by the GPUs: chunks begin and end inside rows.
TEST_CASE("every rival gives every GPU the whole sum at 3, 5 and 8 GPUs and at odd sizes") {
  const auto [gpus, shape] = GENERATE(table<std::uint32_t, Settings>(
      {{3, gemm(333, 139, 40)}, {3, gemm(130, 331, 64)}, {5, gemm(333, 139, 40)}, {8, gemm(130, 331, 64)}}));
  for (const Rival& rival : all_rivals) check_sums(rival, gpus, shape);
}

TEST_CASE("rivals take as long and move as much without data") {
  for (const Rival& rival : all_rivals) {
    CAPTURE(rival.method, rival.settings.dump());
    const Settings shape = gemm(300, 200, 64);
    const Run with = run_of(rival, 3, shape + Settings{"data=functional"}),
              without = run_of(rival, 3, shape + Settings{"data=timing-only"});
    REQUIRE(with.exit_code() == 0);
    CHECK(with.report()["time_ns"] == without.report()["time_ns"]);
    CHECK(with.report()["dram_bytes"] == without.report()["dram_bytes"]);
    CHECK(with.report()["links"] == without.report()["links"]);
  }
}

TEST_CASE("tiles to owners take the keys of the GEMM's kernel") {
  for (const char* method : {"stored-tiles", "direct-update"}) {
    const auto time = [&](const Settings& keys) {
      return run_of({method, connected, json::object()}, 2,
                    gemm(128, 64, 320) + Settings{"data=timing-only", "workload.gemm.tile=64x64"} + keys)
          .time("gemm");
    };
    const double shorter = time({"workload.gemm.step_ns=1000"}), longer = time({"workload.gemm.step_ns=3000"});
    CHECK(longer - shorter == Approx(10 * 2000.0).epsilon(0.01));
    CHECK(time({"workload.gemm.stages=1"}) > time({"workload.gemm.stages=2"}));
    CHECK(time({"workload.gemm.store_bytes=4"}) > time({"workload.gemm.store_bytes=8"}));
  }
}

namespace {

/// What links carry, and what memories read and write, of a GPU on average. Polls and flags are control traffic.
struct Traffic {
  double links, gemm_write, read, written;
};

Traffic traffic_of(const Rival& rival, std::uint32_t gpus, const Settings& shape) {
  const Run run = run_of(rival, gpus, shape + Settings{"data=timing-only"});
  CAPTURE(run.diagnosis());
  REQUIRE(run.exit_code() == 0);
  const auto bytes = [&run](const std::string& kind) { return run.report()["dram_bytes"].value(kind, 0.0); };
  Traffic traffic{0, bytes("gemm_write"), bytes("rs_read") + bytes("ag_read"), bytes("rs_write") + bytes("ag_write")};
  for (const auto& link : run.report()["links"]) traffic.links += link["payload_bytes"].get<double>();
  return traffic;
}

}  // namespace

// S bytes of output, of which a GPU owns S/N. Every store takes one link between fully connected GPUs, and two through
// a switch.
TEST_CASE("links and memories move what the mechanism is made of and no byte more") {
  const double n = 4, s = 256 * 256 * 2, c = s / n;
  struct Case {
    Rival rival;
    Traffic expected;
  };
  const json apart{{"communication_units", 1}, {"gather", "stores"}}, by_stores{{"gather", "stores"}},
      multicast{{"gather", "multicast"}}, two_pieces{{"pieces", 2}};
  const double there_and_back = 2 * (n - 1) * s;
  // Copies read partial sums of other owners, and sums once for each peer. The sum's kernel reads all of its tiles.
  const Traffic by_copies{there_and_back, s, (s - c) + n * c + (n - 1) * c, (n - 1) * c + c + (n - 1) * c};
  const std::vector<Case> cases{
      {{"stored-tiles", connected, apart}, {there_and_back, n * c, n * c, c + (n - 1) * c}},
      {{"stored-tiles", connected, by_stores}, {there_and_back, n * c, n * c, c + (n - 1) * c}},
      {{"direct-update", connected, apart}, {there_and_back, n * c, c, (n - 1) * c}},
      {{"direct-update", by_switch, multicast}, {2 * (n - 1) * s + s + n * s, n * c, c, s}},
      // Up and down the links of a switch: partial sums and their sums, then sums and their copies.
      {{"load-reduce", by_switch, multicast}, {(n * s + s) + (s + n * s), s, s, s}},
      {{"decomposed", connected, two_pieces}, by_copies},
      {{"dma-collective", connected, two_pieces}, by_copies},
      // The engine reads what the GPU adds, and writes what is complete: the own sum, and those of the others.
      {{"endpoint", connected, {{"pieces", 2}, {"rings", 2}}}, {there_and_back, s, s, c + (n - 1) * c}},
      {{"endpoint", by_switch, two_pieces}, {2 * there_and_back, s, s, c + (n - 1) * c}},
  };
  for (const auto& [rival, expected] : cases) {
    CAPTURE(rival.method, rival.settings.dump());
    const Traffic traffic = traffic_of(rival, 4, gemm(256, 256, 64));
    CHECK(traffic.links == expected.links);
    CHECK(traffic.gemm_write == expected.gemm_write);
    CHECK(traffic.read == expected.read);
    CHECK(traffic.written == expected.written);
  }
}

TEST_CASE("an all-gather moves each row of a once to each other GPU") {
  const double n = 4, part = 256 * 64 * 2 / n;
  for (const char* method : {"gather-then-gemm", "flagged-gather", "decomposed-gather"}) {
    CAPTURE(method);
    const Traffic traffic = traffic_of({method, connected, json::object()}, 4, gemm(256, 256, 64));
    CHECK(traffic.links == n * (n - 1) * part);
    CHECK(traffic.written == (n - 1) * part);
    CHECK(traffic.read == (method == std::string("gather-then-gemm") ? 1 : n - 1) * part);
  }
}

TEST_CASE("a decomposed gather copies to all peers at once, multiplies what comes first and overlaps GEMMs") {
  const auto run = [](const char* method, const json& settings, std::uint32_t n, const char* GBps) {
    const Run gathered =
        run_of({method, connected, settings}, 4,
               gemm(512, n, 256) + Settings{"data=timing-only", "system.links.bandwidth_GBps=" + std::string(GBps)});
    REQUIRE(gathered.exit_code() == 0);
    return gathered;
  };
  const double part = 512 / 4 * 256 * 2 / 1.0;  // ns at 1 GB/s
  const json one_queue{{"copy_queues", 1}};
  const double at_once = run("decomposed-gather", json::object(), 256, "1").time("total"),
               in_turn = run("decomposed-gather", one_queue, 256, "1").time("total"),
               without_waits = run("decomposed-gather", one_queue, 256, "1000").time("total");
  CHECK(at_once < 2 * part);
  CHECK(in_turn >= 3 * part);
  CHECK(in_turn < 3 * part + without_waits / 2);
  // A part's GEMM has one tile for each compute unit: GEMMs of two queues share them.
  CHECK(run("decomposed-gather", json::object(), 128, "1000").time("gemm") <
        1.5 * run("gather-then-gemm", json::object(), 128, "1000").time("gemm"));
}

TEST_CASE("a collective of kernels moves each sum and each copy once over the links") {
  for (const json& settings : {json{{"pieces", 1}}, json{{"pieces", 4}, {"communication_units", 1}}})
    CHECK(traffic_of({"two-queues", connected, settings}, 4, gemm(256, 256, 64)).links == 2.0 * 3 * 256 * 256 * 2);
}

TEST_CASE("two queues without pieces are the sequential method of a gemm, by the same kernels") {
  const Settings shape = gemm(256, 256, 64) + Settings{"data=timing-only"};
  const Run rival = run_of({"two-queues", connected, json::object()}, 4, shape);
  const Run sequential =
      Run::of_platform(Settings{on_small_system(), "gpus=4", "method=sequential",
                                "system.links.topology=fully-connected", "collectives.algorithm=auto"} +
                       shape);
  CHECK(rival.time("total") == Approx(sequential.time("total")).epsilon(0.1));
}

TEST_CASE("a rival that cannot be is refused in a line") {
  const auto tells = [](const Rival& rival, const std::string& text, const Settings& more = {}) {
    const std::string why = refusal(settings_of(rival, 4) + gemm(512, 512, 64) + more);
    INFO(why);
    CHECK_THAT(why, Catch::Contains(text));
    CHECK(why.find('\n') == std::string::npos);
  };
  REQUIRE(refusal(settings_of(all_rivals[0], 4) + gemm(512, 512, 64)).empty());
  tells({"load-reduce", connected, json::object()}, "another one than load-reduce, unless a switch");
  tells({"stored-tiles", connected, {{"gather", "multicast"}}}, "unless a switch with reduction joins all GPUs");
  tells({"stored-tiles", connected, {{"communication_units", 4}}}, "at most 3: the GEMM needs one of the 4");
  tells({"stored-tiles", connected, {{"order", "interleaved"}, {"group", 2}}}, "/workload/rival/group");
  tells({"stored-tiles", connected, {{"pieces", 2}}}, "not this key with method stored-tiles");
  tells({"decomposed", connected, {{"gather", "stores"}}}, "not this key with method decomposed");
  tells({"two-queues", connected, {{"pieces", 64}}}, "/workload/rival/pieces", gemm(60, 600, 64));
  tells({"direct-update", connected, {{"communication_units", 1}}}, "nothing communicates beside the GEMM");
  tells({"stored-tiles", connected, {{"copy_queues", 1}}}, "not this key with method stored-tiles");
  tells({"decomposed", connected, {{"copy_queues", 9}}}, "at most 8, the DMA engine's");
  for (const char* method : {"two-queues", "decomposed", "dma-collective", "gather-then-gemm"})
    for (const char* order : {"natural", "interleaved"})
      tells({method, connected, {{"order", order}}}, std::string("not this key with method ") + method);
  tells({"flagged-gather", connected, {{"order", "interleaved"}}}, "natural or rotated with method flagged-gather");
  tells({"flagged-gather", connected, {{"group", 2}}}, "/workload/rival/group");
  tells({"flagged-gather", connected, {{"pieces", 2}}}, "/workload/rival/pieces");
  tells({"gather-then-gemm", connected, {{"communication_units", 1}}}, "/workload/rival/communication_units");
  tells({"decomposed-gather", connected, {{"order", "natural"}}}, "not this key with method decomposed-gather");
  tells({"decomposed-gather", connected, {{"communication_units", 1}}}, "/workload/rival/communication_units");
  tells({"decomposed-gather", connected, {{"pieces", 2}}}, "/workload/rival/pieces");
  tells({"decomposed", connected, {{"rings", 2}}}, "not this key with method decomposed");
  tells({"endpoint", connected, {{"rings", 3}}}, "at most 2: the engine has 4 (endpoint.rings), and 2 rings have all");
  tells({"endpoint", connected, {{"communication_units", 1}}}, "no compute unit communicates");
  tells({"endpoint", connected, {{"copy_queues", 1}}}, "not this key with method endpoint");
  tells({"endpoint", connected, json::object()}, "/gpus: found 1", {"gpus=1"});
  tells({"endpoint", connected, json::object()}, "/endpoint/sram_KiB", {"system.endpoint.sram_KiB=1"});
  tells({"two-queues", connected, json::object()}, "an endpoint engine, or another method", {"method=endpoint"});
  tells({"t3", connected, json::object()}, "one of two-queues, decomposed");
  tells(all_rivals[0], "/operands", {"operands=random"});
  tells(all_rivals[0], "/simulate", {"data=timing-only", "simulate=mirror"});
}

}  // namespace t3vp::test::rivals_runs_test
