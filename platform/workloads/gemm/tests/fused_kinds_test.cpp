// What fused GEMMs make of their outputs besides a ring's reduce-scatter, on every topology.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "hardware/topologies.h"
#include "io/input_error.h"
#include "run/simulation.h"
#include "system/reference_sum.h"
#include "t3/t3.h"
#include "t3/workloads/gemm.h"
#include "t3_hal.h"
#include "workloads/collective/collective_oracle.h"
#include "workloads/gemm/fused_kind.h"
#include "workloads/shared/link_bound.h"

namespace t3vp::test::fused_kinds_test {

using Catch::Contains;
using t3vp::name_of;
using t3vp::test::name_of;

namespace {

constexpr t3_fused_kind direct_kinds[] = {T3_FUSED_DIRECT_REDUCE_SCATTER, T3_FUSED_ALL_REDUCE, T3_FUSED_ALL_TO_ALL};

Settings settings_of(t3_fused_kind kind, std::uint32_t gpus, const std::string& topology, const char* method = "t3") {
  return {on_small_system(),
          "gpus=" + std::to_string(gpus),
          std::string("method=") + method,
          std::string("workload.fused=") + name_of(kind),
          "system.links.topology=" + topology,
          "system.tracker.chunks=64",
          "system.dma.commands=64"};
}

void require_right(const Run& run, t3_fused_kind kind, std::uint32_t gpus, Element element) {
  CAPTURE(run.diagnosis());
  REQUIRE(run.exit_code() == 0);
  REQUIRE(run.report()["functional"]["checked"] == true);
  constexpr std::uint32_t tile = 64;  // small-4's
  const Comparison comparison =
      kind == T3_FUSED_ALL_TO_ALL ? compare_slabs(run, gpus, element, tile) : compare(run, gpus, element);
  REQUIRE(comparison.elements > 0);
  REQUIRE(comparison.wrong == 0);
}

RunConfiguration configuration_for(t3_fused_kind kind, std::uint32_t gpus, const Settings& shape) {
  return with_gpus(configuration_of(shape + settings_of(kind, 2, "ring") + Settings{"system.output_map.entries=64"}),
                   gpus);
}

double fused_time(t3_fused_kind kind, std::uint32_t gpus, const char* topology) {
  const Run run = Run::of_platform(gemm(512, 512, 64) + settings_of(kind, gpus, topology));
  REQUIRE(run.exit_code() == 0);
  return run.time("fused");
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

TEST_CASE("every fused kind gives every GPU the right elements at odd sizes on every topology") {
  const auto [gpus, topology, element] = GENERATE(table<std::uint32_t, const char*, Element>({
      {2, "ring", Element::fp16},
      {3, "fully-connected", Element::fp32},
      {4, "switch", Element::bf16},
      {5, "ring", Element::bf16},
      {6, R"({"kind": "torus", "dimensions": [3, 2]})", Element::fp16},
      {7, "fully-connected", Element::fp16},
      {8, R"({"kind": "torus", "dimensions": [2, 2, 2]})", Element::fp32},
      {16, "switch", Element::fp16},
  }));
  for (const t3_fused_kind kind : direct_kinds)
    for (const char* method : {"t3", "t3-mca"}) {
      if (gpus == 16 && std::string(method) == "t3") continue;  // which takes longest
      CAPTURE(gpus, topology, name_of(kind), method);
      const Run run = Run::of_platform(gemm(333, 139, 40) + settings_of(kind, gpus, topology, method) +
                                       Settings{"check=protocol", "system.links.receive_buffer_KiB=18",
                                                std::string("workload.gemm.element=") + name_of(element)});
      require_right(run, kind, gpus, element);
    }
}

TEST_CASE("GPUs without a chunk take part in every fused kind") {
  for (const t3_fused_kind kind : direct_kinds)
    for (const std::uint32_t gpus : {1u, 5u, 8u})
      for (const Settings& shape : {gemm(130, 70, 33), gemm(64, 128, 33)}) {
        CAPTURE(name_of(kind), gpus);
        require_right(Run::of_platform(configuration_for(kind, gpus, shape)), kind, gpus, Element::fp16);
      }
}

TEST_CASE("a model's sub-layer has its fused kind") {
  const RunConfiguration configuration =
      configuration_of({"gpus=8", "data=timing-only",
                        R"(workload={"model": "T-NLG", "sublayer": "FC-2", "tp": 8, "fused": "all-reduce"})"});
  CHECK(configuration.resolved["workload"]["fused"] == "all-reduce");
}

TEST_CASE("the default kind is no other configuration when it is written out") {
  const Settings settings{on_small_system()};
  CHECK(configuration_of(settings).config_hash ==
        configuration_of(settings + Settings{"workload.fused=ring-reduce-scatter"}).config_hash);
  CHECK(configuration_of(settings).config_hash !=
        configuration_of(settings + Settings{"workload.fused=all-reduce"}).config_hash);
}

TEST_CASE("fused kinds take as long without data and with valid bits for what they add to") {
  for (const t3_fused_kind kind : direct_kinds) {
    const auto run = [&](const Settings& more) {
      const Run result = Run::of_platform(gemm(300, 200, 64) + settings_of(kind, 5, "fully-connected") + more);
      REQUIRE(result.exit_code() == 0);
      return result;
    };
    const Run plain = run({});
    CHECK(plain.report()["time_ns"] == run({"data=timing-only"}).report()["time_ns"]);
    CHECK((plain.time("zeroing") == 0) == (kind == T3_FUSED_ALL_TO_ALL));
    CHECK(run({"system.memory.valid_bits_KiB=64"}).time("zeroing") <= 0.5 * plain.time("zeroing"));
  }
}

// 16 tiles of 8 KiB on four GPUs. Between fully connected GPUs every store takes one link.
TEST_CASE("links and memories move what the fused kind is made of and no byte more") {
  constexpr std::uint64_t output = 256 * 256 * 2, chunk = output / 4;
  const auto moved = [](t3_fused_kind kind) {
    Run run = Run::of_platform(gemm(256, 256, 64) + settings_of(kind, 4, "fully-connected"));
    REQUIRE(run.exit_code() == 0);
    return run;
  };
  const auto carried = [](const Run& run) {
    std::uint64_t sum = 0;
    for (const auto& link : run.report()["links"]) sum += link["payload_bytes"].get<std::uint64_t>();
    return sum;
  };
  const Run direct = moved(T3_FUSED_DIRECT_REDUCE_SCATTER);
  CHECK(carried(direct) == 2 * 3 * output);  // to the owners, and the all-gather
  CHECK(direct.dram_bytes("rs_read") == 0);
  CHECK(direct.dram_bytes("gemm_write") == chunk);
  CHECK(direct.dram_bytes("rs_write") == 3 * chunk);
  CHECK(direct.dram_bytes("ag_read") > 0);
  const Run all_reduce = moved(T3_FUSED_ALL_REDUCE);
  CHECK(carried(all_reduce) == 2 * 3 * output);
  CHECK(all_reduce.dram_bytes("ag_read") == chunk);  // once for three peers
  CHECK(all_reduce.dram_bytes("ag_write") == 3 * chunk);
  CHECK(all_reduce.dram_bytes("rs_write") == 3 * chunk);
  CHECK(all_reduce.report()["time_ns"]["all_gather"].is_null());
  const Run all_to_all = moved(T3_FUSED_ALL_TO_ALL);
  CHECK(carried(all_to_all) == 3 * output);
  CHECK(all_to_all.dram_bytes("gemm_write") == 4 * chunk);
  CHECK(all_to_all.dram_bytes("rs_write") == 0);
}

TEST_CASE("tiles for all owners take turns, so that all links of fully connected GPUs work at once") {
  for (const t3_fused_kind kind : direct_kinds) {
    INFO(name_of(kind));
    CHECK(fused_time(kind, 5, "fully-connected") < 0.4 * fused_time(kind, 5, "switch"));
  }
}

TEST_CASE("what links need for chunks of unequal size is counted chunk by chunk") {
  const std::vector<std::uint64_t> chunks{400, 100, 100};
  interconnect::LinkParameters links;
  links.bandwidth_GBps = 1;
  const Fabric ring = lay_out({links, {}}, 4), full = lay_out({links, of_kind(Topology::Kind::fully_connected)}, 3);
  CHECK(least_link_ns(T3_ALL_TO_ALL, chunks, full) == Approx(2 * 400 / 2.0));  // GPU 0 receives 400 twice
  CHECK(least_link_ns(T3_ALL_TO_ALL, {0, 500, 100}, full) == Approx(2 * 500 / 2.0));
  CHECK(least_link_ns(T3_ALL_REDUCE, chunks, full) == Approx(2 * 2 * 600 / 6.0));
  CHECK(least_link_ns(T3_ALL_TO_ALL, {100, 100, 100, 100}, ring) == Approx(4 * 100 * (1 + 1 + 2) / 8.0));
}

TEST_CASE("an update that is lost is missed from the GPU that sent it and from no other") {
  // The barrier's packets come first on the links to GPU 4 only.
  const Run run =
      Run::of_platform(gemm(300, 200, 64) + settings_of(T3_FUSED_DIRECT_REDUCE_SCATTER, 5, "fully-connected") +
                       Settings{R"(inject.drop_packet={"link": 1, "packet": 3})"});
  CAPTURE(run.diagnosis());
  REQUIRE(run.exit_code() == 1);  // link 1 leads from GPU 0 to GPU 2
  std::string told;
  for (const std::string& line : run.diagnosis())
    if (line.rfind("GPU 2 Tracker:", 0) == 0) told = line;
  CHECK_THAT(told, Contains("5 per element") && Contains("0 from GPU 0's kernel gemm"));
  CHECK_THAT(told, Contains("of GPU 0's kernel gemm have been sent and are not acknowledged"));
  for (const char* other : {"GPU 1", "GPU 2", "GPU 3", "GPU 4"})
    CHECK_THAT(told, Contains(std::string(" from ") + other + "'s kernel gemm") &&
                         !Contains(std::string("of ") + other + "'s") &&
                         !Contains(std::string(other) + "'s kernel gemm owes"));
  CHECK_THAT(told, !Contains("ring") && !Contains("neighbour"));
}

TEST_CASE("what a GPU's DMA engine does not send because its own sum is short is told so") {
  const Run run = Run::of_platform(gemm(300, 200, 64) + settings_of(T3_FUSED_ALL_REDUCE, 3, "switch") +
                                   Settings{"inject.dma_map_updates=4"});
  CAPTURE(run.diagnosis());
  REQUIRE(run.exit_code() == 1);
  const std::string all = nlohmann::json(run.diagnosis()).dump();
  CHECK_THAT(all, Contains("no program sends the fourth update"));
  CHECK_THAT(all, Contains("0 from GPU 1's DMA. GPU 1's DMA owes") && Contains("waits for updates of its own tile"));
  CHECK_THAT(run.diagnosis().back(), Contains("to expect 4 updates per element, there are 3"));
}

TEST_CASE("what is written where nothing should arrive is wrong") {
  // Row 0 of slab 1 belongs to GPU 0's chunk, not to GPU 2's.
  const Run run = Run::of_platform(gemm(300, 200, 64) + settings_of(T3_FUSED_ALL_TO_ALL, 3, "ring") +
                                   Settings{R"(inject.wrong_element={"gpu": 2, "index": 60000})"});
  CAPTURE(run.diagnosis());
  CHECK(run.exit_code() == 1);
  CHECK(run.report()["functional"]["mismatches"] == 1);
  CHECK(run.report()["functional"]["first_mismatch"]["row"] == 300);
}

TEST_CASE("a fused kind that cannot be is refused in a line") {
  const auto tells = [](const Settings& settings, const std::string& text) {
    INFO(refusal(settings));
    CHECK_THAT(refusal(settings), Contains(text));
    CHECK(refusal(settings).find('\n') == std::string::npos);
  };
  const Settings right = gemm(512, 512, 64) + settings_of(T3_FUSED_ALL_REDUCE, 4, "switch");
  REQUIRE(refusal(right).empty());
  tells(right + Settings{"workload.fused=gather"},
        "expected one of ring-reduce-scatter, direct-reduce-scatter, all-reduce, all-to-all");
  for (const char* method : {"sequential", "ideal-overlap", "ideal-rs-nmc"})
    tells(right + Settings{std::string("method=") + method}, "/workload/fused");
  tells(right + Settings{"operands=random"}, "/operands");
  CHECK(refusal(right + Settings{"operands=random", "workload.fused=all-to-all"}).empty());
  tells(right + Settings{"data=timing-only", "simulate=mirror", "system.links.topology=ring"}, "/simulate");
  tells(gemm(2048, 2048, 64) + settings_of(T3_FUSED_DIRECT_REDUCE_SCATTER, 256, "switch"), "at most 255");
  tells(right + Settings{"system.output_map.entries=2"}, "/output_map/entries");
  tells(right + Settings{"system.dma.commands=5"}, "/dma/commands");
  tells(right + Settings{"system.tracker.chunks=3"}, "/tracker/chunks");
  tells(right + Settings{"workload.fused=all-to-all", "system.memory.capacity_GiB=0.0009765625"}, "memory");
}

namespace {

constexpr std::uint32_t meetings = 5;
std::uint32_t entered[meetings];

/// T3_MISMATCH when a barrier is left before all have entered it.
t3_status meet(const t3_hal* hal, const t3_run*) {
  t3_context context;
  T3_TRY(t3_init(&context, hal));
  for (std::uint32_t i = 0; i < meetings; ++i) {
    hal->wait_ns(hal->platform, 100 + (hal->gpu * 7919 + i * 1049) % 5000);
    ++entered[i];
    T3_TRY(t3_barrier(&context));
    hal->wait_ns(hal->platform, 1);
    if (entered[i] != t3_gpus(&context)) return T3_MISMATCH;
  }
  return t3_close(&context);
}

}  // namespace

TEST_CASE("no GPU leaves a barrier before all have entered it on any topology") {
  const auto [gpus, topology] = GENERATE(table<std::uint32_t, const char*>({
      {7, "fully-connected"},
      {9, "switch"},
      {9, R"({"kind": "torus", "dimensions": [3, 3]})"},
      {12, R"({"kind": "torus", "dimensions": [2, 3, 2]})"},
      {16, "ring"},
  }));
  CAPTURE(gpus, topology);
  const RunConfiguration configuration = configuration_of(
      gemm(512, 512, 64) + settings_of(T3_FUSED_RING_REDUCE_SCATTER, gpus, topology) + Settings{"data=timing-only"});
  const Run run = Run::of_platform(configuration, {}, meet);
  CAPTURE(run.diagnosis());
  for (const std::string& line : run.diagnosis()) CHECK_THAT(line, !Contains("firmware"));
  CHECK(run.time("setup") == 0);  // it is this program that ran
}

namespace {

/// As a direct reduce-scatter maps it, but GPU 3's GEMM is never started.
t3_status without_one_gemm(const t3_hal* hal, const t3_run* run) {
  t3_gemm_workload w{};
  T3_TRY(t3_gemm_workload_of(run, &w));
  return hal->gpu == 3 ? [&] {
    t3_context context;
    t3_output out{{0, 0, w.m, w.n, w.element, T3_UNCACHED}, {w.tile_rows, w.tile_columns, w.wavefronts}};
    t3_matrix a{0, 0, w.m, w.k, w.element, T3_CACHED}, b{0, 0, w.k, w.n, w.element, T3_CACHED};
    T3_TRY(t3_init(&context, hal));
    for (t3_matrix* matrix : {&a, &b, &out.matrix}) T3_TRY(t3_matrix_malloc(&context, matrix));
    for (std::uint32_t step = 0; step + 1 < t3_gpus(&context); ++step)
      T3_TRY(t3_remote_map(&context, &out, t3_ring_chunk(&context, &out, step),
                           t3_peer_address(&out.matrix, (4 + step) % t3_gpus(&context)), T3_UPDATE));
    T3_TRY(t3_dma_map(&context, &out, t3_chunk_of(&out, 3, t3_gpus(&context)), 0, T3_NOTIFY, t3_dma_options{w.updates, w.block_tiles, T3_UPDATE}));
    T3_TRY(t3_barrier(&context));
    return t3_wait_dma(&context);
  }() : t3_run_fused(hal, run);
}

}  // namespace

TEST_CASE("the one GPU of many that gives nothing owes it") {
  const RunConfiguration configuration = configuration_of(
      gemm(300, 200, 64) + settings_of(T3_FUSED_DIRECT_REDUCE_SCATTER, 5, "switch") + Settings{"data=timing-only"});
  const Run run = Run::of_platform(configuration, {}, without_one_gemm);
  CAPTURE(run.diagnosis());
  CHECK(run.exit_code() == 1);
  std::size_t told = 0;
  for (const std::string& line : run.diagnosis()) {
    if (line.find(" Tracker: ") == std::string::npos) continue;
    ++told;
    CHECK_THAT(line, Contains("0 from GPU 3's kernel") && Contains("GPU 3's kernel owes 1024"));
    for (const char* other : {"0", "1", "2", "4"})
      CHECK_THAT(line, Contains(std::string("1024 from GPU ") + other + "'s kernel gemm") &&
                           !Contains(std::string("GPU ") + other + "'s kernel gemm owes"));
  }
  CHECK(told == 5);
}

}  // namespace t3vp::test::fused_kinds_test
