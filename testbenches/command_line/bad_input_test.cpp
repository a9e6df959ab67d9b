// Whatever is wrong with the input: one line with file, place, what was found and what was expected; exit code 2.
#include <algorithm>
#include <catch2/catch.hpp>

#include "command_line/refusals.h"

namespace t3vp::test::bad_input_test {

using nlohmann::json;

namespace {

/// Requires that check and replay refuse the memory file.
void require_no_memory(const ValidFiles& files, const std::string& where) {
  const std::string memory = files / "memory.json", trace = files.write("one.trace", std::string(16, '\0'));
  require_refusal(run_program({"check", memory}), where);
  require_refusal(run_program({"replay", trace, "--memory", memory, "--out", files / "results"}), where);
}

/// Requires that check and run refuse a file with the same message.
void require_same(const Outcome& check, const Outcome& run) {
  CHECK(check.exit_code == run.exit_code);
  CHECK(check.out == run.out);
  CHECK(check.err == run.err);
}

struct Change {
  const char* file;
  const char* pointer;
  json value;
  const char* reported_at = nullptr;  ///< where it is not the pointer itself
};

const Change changes[] = {
    // of the wrong type, range or name
    {"run.json", "/gpus", -1},
    {"run.json", "/gpus", 1},
    {"run.json", "/gpus", "four"},
    {"run.json", "/gpus", 4.5},
    {"run.json", "/gpus", nullptr},
    {"run.json", "/system", nullptr},
    {"run.json", "/system", 7},
    {"run.json", "/workload", nullptr},
    {"run.json", "/workload/gemm", nullptr},
    {"run.json", "/workload/gemm/k", nullptr},
    {"run.json", "/workload/gemm/m", -256},
    {"run.json", "/workload/gemm/m", 0},
    {"run.json", "/workload/gemm/m", 1e30},
    {"run.json", "/workload/gemm/element", "fp8"},
    {"run.json", "/method", "T3"},
    {"run.json", "/arbitration", "mca-256"},
    {"run.json", "/data", true},
    {"run.json", "/simulate", "one"},
    {"run.json", "/operands", "small"},
    {"run.json", "/quantum_ns", 0},
    {"run.json", "/phases", json::array({"gemm"})},  // method t3 has no phases apart
    {"run.json", "/phases", json::array()},
    {"run.json", "/limits", {{"wall_s", 0}}, "run.json: /limits/wall_s"},
    {"run.json", "/limits", {{"simulated_ms", -1}}, "run.json: /limits/simulated_ms"},
    {"run.json", "/limits", {{"firmware_s", "long"}}, "run.json: /limits/firmware_s"},
    {"run.json", "/limits", {{"firmware_s", 0.0009}}, "run.json: /limits/firmware_s"},
    {"run.json", "/limits", {{"cpu_s", 1}}, "run.json: /limits/cpu_s"},
    {"run.json", "/firmware", "fpga"},
    {"run.json", "/seed", -1},
    {"system.json", "/compute/clock_GHz", 0},
    {"system.json", "/compute/wavefronts", 9},
    {"system.json", "/compute/clock_GHz", 1e-30},
    {"system.json", "/kernels/ring/workgroups_per_cu", 65536},
    {"system.json", "/compute/compute_units", 497},
    {"system.json", "/links/bandwidth_GBps", 1e-20},
    {"system.json", "/links/bandwidth_GBps", nullptr},
    {"system.json", "/links/topology", "torus"},
    {"system.json", "/memory/file", nullptr},
    {"system.json", "/memory/mca_bands", json::array({1, 2})},
    {"system.json", "/memory/mca_bands/1", "high"},
    {"system.json", "/tracker", json::array()},
    {"memory.json", "/clock_GHz", 1e-30},
    {"memory.json", "/timing/RCDRD", 0},
    {"memory.json", "/timing/CL", nullptr},
    {"memory.json", "/command_bus/dual", 1},
    {"memory.json", "/address_map", "zigzag"},
    {"memory.json", "/address_map", 7},
    {"memory.json", "/address_map", json::array()},
    {"memory.json", "/address_map", json::array({5}), "memory.json: /address_map/0"},
    {"memory.json", "/geometry", nullptr},
    {"memory.json", "/geometry/access_bytes", 64},
    {"memory.json", "/geometry/bank_groups", 0},
    {"memory.json", "/clock_GHz", 0},
    {"memory.json", "/command_bus/activate_cycles", 0},
    {"memory.json", "/refresh", "no"},
    {"memory.json", "/queue_depth", 0},
    {"memory.json", "/queue_depth", 65535},
    {"memory.json", "/queue_depth", 64.5},
    {"memory.json", "/queueing", "fifo"},
    {"memory.json", "/write_drain_from", 1.5},
    {"memory.json", "/write_drain_to", -0.1},
    // unknown keys
    {"run.json", "/gpu", 4},
    {"run.json", "/workload/gemm/M", 4},
    {"run.json", "/inject/dma_map_update", 3},
    {"system.json", "/links/latency_ns", 500},
    {"system.json", "/overlap_ratio", 0.5},
    {"system.json", "/compute/ring_block_bytes", 4096},
    {"system.json", "/kernels/gemm", json::object()},
    {"memory.json", "/timing/tRC", 47},
    {"memory.json", "/geometry/banks", 16},
    {"memory.json", "/address_bits", json::array({"byte:5"})},
    // what contradicts something else
    {"run.json", "/gpus", 17},  // 16 tiles
    {"run.json", "/workload/tp", 4},
    {"run.json", "/workload/gemm/tile", "64 x 64"},
    {"run.json", "/workload/gemm/tile", json::array({64, 64})},
    {"run.json", "/workload/gemm/tile", "62x64"},  // rows of 4 wavefronts
    {"run.json", "/workload/gemm/tile", "64x24"},  // columns of 16
    {"run.json", "/workload/gemm/tile", "64x80"},  // more elements than 64 x 64
    {"system.json", "/compute/tiles", json::array()},
    {"system.json", "/compute/tiles", json::array({"32x32", "34x32"}), "system.json: /compute/tiles/1"},
    {"system.json", "/links/max_payload_bytes", 0},
    {"run.json", "/inject", {{"dma_map_updates", 3}}, nullptr},
    {"system.json", "/links/topology", {{"kind", "mesh"}}, "system.json: /links/topology/kind"},
    {"system.json", "/links/topology", {{"kind", "torus"}}, "system.json: /links/topology/dimensions"},
    {"system.json",
     "/links/topology",
     {{"kind", "torus"}, {"dimensions", {3, 3, 3}}},
     "system.json: /links/topology/dimensions"},
    {"system.json",
     "/links/topology",
     {{"kind", "ring"}, {"dimensions", {2, 2}}},
     "system.json: /links/topology/dimensions"},
    {"system.json",
     "/links/topology",
     {{"kind", "torus"}, {"dimensions", {4, 1}}},
     "system.json: /links/topology/dimensions/1"},
    {"system.json",
     "/links/topology",
     {{"kind", "ring"}, {"latency_ns", 5}},
     "system.json: /links/topology/latency_ns"},
    {"system.json",
     "/links/topology",
     {{"kind", "torus"}, {"dimensions", {2, 2}}, {"queue_KiB", 5}},
     "system.json: /links/topology/queue_KiB"},
    {"system.json", "/links/topology", {{"kind", "nodes"}}, "system.json: /links/topology/gpus_per_node"},
    {"system.json",
     "/links/topology",
     {{"kind", "nodes"}, {"gpus_per_node", 2}, {"between", {{"topology", "ring"}}}},
     "system.json: /links/topology/inside"},
    {"system.json",
     "/links/topology",
     {{"kind", "nodes"}, {"gpus_per_node", 2}, {"inside", {{"topology", "ring"}}}, {"between", json::object()}},
     "system.json: /links/topology/between/topology"},
    {"system.json",
     "/links/topology",
     {{"kind", "nodes"}, {"gpus_per_node", 3}, {"inside", {{"topology", "ring"}}}, {"between", {{"topology", "ring"}}}},
     "system.json: /links/topology/gpus_per_node"},
    {"system.json",
     "/links/topology",
     {{"kind", "nodes"}, {"gpus_per_node", 2}, {"inside", {{"topology", "star"}}}, {"between", {{"topology", "ring"}}}},
     "system.json: /links/topology/inside/topology"},
    {"system.json",
     "/links/topology",
     {{"kind", "nodes"},
      {"gpus_per_node", 2},
      {"inside", {{"topology", "ring"}, {"latency_ns", 5}}},
      {"between", {{"topology", "ring"}}}},
     "system.json: /links/topology/inside/latency_ns"},
    {"system.json", "/links/topology", {{"kind", "ring"}, {"ports", "node"}}, "system.json: /links/topology/ports"},
    {"system.json", "/gpus", json::array()},
    {"system.json", "/gpus", json::array({{{"gpu", 4}, {"set", {{"compute.clock_GHz", 1}}}}}),
     "system.json: /gpus/0/gpu"},
    {"system.json", "/gpus",
     json::array({{{"gpu", 1}, {"set", {{"compute.clock_GHz", 1}}}}, {{"gpu", 1}, {"set", {{"dma.commands", 9}}}}}),
     "system.json: /gpus/1/gpu"},
    {"system.json", "/gpus", json::array({{{"gpu", 1}, {"set", json::object()}}}), "system.json: /gpus/0/set"},
    {"system.json", "/gpus", json::array({{{"gpu", 1}, {"set", {{"compute.tile_rows", 32}}}}}),
     "system.json: /gpus/0/set/compute.tile_rows"},
    {"system.json", "/gpus", json::array({{{"gpu", 1}, {"set", {{"links.bandwidth_GBps", 32}}}}}),
     "system.json: /gpus/0/set/links.bandwidth_GBps"},
    {"system.json", "/gpus", json::array({{{"gpu", 1}, {"set", {{"compute", 32}}}}}),
     "system.json: /gpus/0/set/compute"},
    {"system.json", "/gpus", json::array({{{"gpu", 1}, {"set", {{"memory.dram", 32}}}}}),
     "system.json: /gpus/0/set/memory.dram"},
    {"system.json", "/gpus", json::array({{{"gpu", 1}, {"set", {{"compute.clock_GHz", -1}}}}}),
     "system.json: /gpus/0/set: /compute/clock_GHz"},
    {"system.json", "/gpus", json::array({{{"gpu", 1}, {"set", {{"compute.clocks_GHz", 1}}}}}),
     "system.json: /gpus/0/set: /compute/clocks_GHz"},
    {"system.json", "/gpus", json::array({{{"gpu", 1}, {"set", {{"memory.dram.timing.RAS", 1}}}}}),
     "system.json: /gpus/0/set: /memory/dram/timing/RAS"},
    {"system.json", "/gpus", json::array({{{"gpu", 1}, {"set", {{"compute..clock_GHz", 1}}}}}),
     "system.json: /gpus/0/set: /compute/"},
    {"system.json", "/gpus", json::array({{{"gpu", 1}, {"set", {{"memory.mca_bands.7", 1}}}}}),
     "system.json: /gpus/0/set: /memory/mca_bands"},
    {"system.json",
     "/links/topology",
     {{"kind", "switch"}, {"queue_KiB", 1}},
     "system.json: /links/topology/queue_KiB"},
    {"system.json", "/links/overrides", json::array({{{"from", 0}, {"to", 3}, {"receive_buffer_KiB", 1}}}),
     "system.json: /links/overrides/0/receive_buffer_KiB"},
    {"system.json", "/links/overrides", json::array({{{"from", 0}, {"to", 3}}}), "system.json: /links/overrides/0"},
    {"system.json", "/gpus", json::array({{{"gpu", 1}, {"set", {{"kernels.ring.block_bytes", 512}}}}}),
     "system.json: /gpus/0/set/kernels.ring.block_bytes"},
    {"system.json", "/links/overrides", json::array()},
    {"system.json", "/links/overrides", json::array({{{"from", 0}, {"to", 2}, {"bandwidth_GBps", 5}}}),
     "system.json: /links/overrides/0"},
    {"system.json", "/links/overrides", json::array({{{"from", 0}, {"to", "switch0"}}}),
     "system.json: /links/overrides/0"},
    {"system.json", "/links/overrides",
     json::array({{{"from", 0}, {"to", 1}, {"link_latency_ns", 5}}, {{"from", 0}, {"to", 1}, {"link_latency_ns", 5}}}),
     "system.json: /links/overrides/1"},
    {"system.json", "/links/overrides", json::array({{{"from", 0}, {"to", 1}, {"bandwidth", 1}}}),
     "system.json: /links/overrides/0/bandwidth"},
    {"system.json", "/links/arbitration_bytes", 0},
    {"system.json", "/compute/tile_rows", 62},
    {"system.json", "/compute/tile_columns", 72},
    {"system.json", "/compute/register_KiB", 15},  // 64 x 64 sums take 16
    {"system.json", "/compute/register_KiB", 0},
    {"system.json", "/compute/local_memory_KiB", 0},
    {"system.json", "/compute/slab_depth", 40},
    {"system.json", "/kernels/ring/block_bytes", 100},
    {"system.json", "/cache/banks", 3},
    {"system.json", "/cache/capacity_MiB", 0.255},
    {"system.json", "/cache/line_bytes", 96},
    {"system.json", "/cache/sector_bytes", 256},
    {"system.json", "/cache/line_bytes", 512, "system.json: /cache/sector_bytes"},  // 16 sectors in a line
    {"system.json", "/memory/capacity_GiB", 512},                                   // 2^32 lines of the cache
    {"system.json", "/memory/channels", 0},
    {"system.json", "/memory/interleave_bytes", 320},
    {"system.json", "/memory/capacity_GiB", 0.0000001},
    {"system.json", "/memory/capacity_GiB", 0.000030517578125, "run.json: /workload"},  // 32 KiB
    {"system.json", "/memory/mca_bands/2", 1},
    {"system.json", "/tracker/sets", 12},
    {"system.json", "/dma/bytes_in_flight", 1024},  // a wavefront tile of 16 x 64 fp16 has 2 KiB
    {"system.json", "/output_map/posted_KiB", 0},
    {"system.json", "/links/receive_buffer_KiB", 1},
    {"memory.json", "/geometry/rows", 1000},
    {"memory.json", "/geometry/row_bytes", 96},
    {"memory.json", "/geometry/pseudo_channels", 3},
    {"memory.json", "/geometry/pseudo_channels", 16, "memory.json: /geometry/banks_per_group"},
    {"memory.json", "/geometry/bank_groups", 64, "memory.json: /geometry/banks_per_group"},
    {"memory.json", "/timing/RAS", 10},
    {"memory.json", "/timing/RC", 46},
    {"memory.json", "/timing/CCDWL", 1},
    {"memory.json", "/timing/RRDL", 3},
    {"memory.json", "/timing/CCDS", 3, "memory.json: /timing/CCDL"},
    {"memory.json", "/timing/FAW", 3},
    {"memory.json", "/write_drain_to", 0.75},
    {"memory.json", "/write_drain_from", 0.4},
    {"memory.json", "/refresh", true, "memory.json: /timing/RFC"},
    {"memory.json", "/address_map", "list"},
    {"memory.json", "/address_map", json::array({"byte:5", "column:6", "bank_group:2", "bank:2"})},  // no row
    {"memory.json", "/address_map", json::array({"byte:5", "column:6", "bank_group:2", "bank:2", "bank", "row:13"})},
};

}  // namespace

TEST_CASE("a wrong value is refused where it is written") {
  for (const Change& c : changes) {
    const ValidFiles files;
    if (std::string(c.pointer) == "/inject") files.change("run.json", "/method", "sequential");
    files.change(c.file, c.pointer, c.value);
    const std::string at = c.pointer == std::string("/inject") ? "run.json: /inject/dma_map_updates"
                           : c.reported_at && *c.reported_at   ? c.reported_at
                                                               : std::string(c.file) + ": " + c.pointer;
    INFO(c.file << " " << c.pointer << " = " << c.value);
    const Outcome run = run_file(files.run());
    require_refusal(run, (files / at).string());
    require_same(run_program({"check", files.run()}), run);
    if (std::string(c.file) == "memory.json") require_no_memory(files, (files / at).string());
  }
}

TEST_CASE("what tables and memories of a run would refuse later is refused by check and run alike") {
  const json large = {{"m", 1024}, {"n", 1024}, {"k", 64}};  // 256 tiles
  const std::pair<std::vector<Change>, const char*> refused[] = {
      {{{"run.json", "/gpus", 256}, {"run.json", "/workload/gemm", large}}, "system.json: /tracker/chunks"},
      {{{"run.json", "/gpus", 34}, {"run.json", "/workload/gemm", large}}, "system.json: /tracker/chunks"},
      {{{"run.json", "/gpus", 34}, {"run.json", "/workload/gemm", large}, {"system.json", "/tracker/chunks", 33}},
       "system.json: /dma/commands"},
      {{{"system.json", "/tracker/strict", true},
        {"system.json", "/tracker/index", "workgroup"},
        {"system.json", "/tracker/sets", 1}},
       "system.json: /tracker/ways"},
      {{{"run.json", "/method", "sequential"}, {"system.json", "/memory/capacity_GiB", 1.0 / 4096}},
       "run.json: /workload"},  // 256 KiB for two outputs and operands of 64 KiB
      {{{"run.json", "/workload/gemm", {{"m", 1048576}, {"n", 1048576}, {"k", 16}}}}, "run.json: /workload"},
      {{{"run.json", "/workload/gemm", {{"m", 1048576}, {"n", 1048576}, {"k", 16}, {"tile", "4x16"}}},
        {"system.json", "/memory/capacity_GiB", 512},
        {"system.json", "/cache/line_bytes", 256}},
       "run.json: /workload"},
      {{{"run.json", "/gpus", nullptr}, {"run.json", "/workload", {{"layer", "prompt"}, {"model", "PALM"}, {"tp", 2}}}},
       "run.json: /method"},
      {{{"run.json", "/gpus", nullptr},
        {"run.json", "/method", nullptr},
        {"run.json", "/workload", {{"layer", "prompt"}, {"model", "PALM"}, {"tp", 2}}}},
       "run.json: /workload"}};  // more than 1 GiB of tensors
  for (const auto& [changed, at] : refused) {
    const ValidFiles files;
    for (const Change& c : changed) files.change(c.file, c.pointer, c.value);
    INFO(changed.front().pointer << " = " << changed.front().value << " with " << changed.back().pointer);
    const Outcome run = run_file(files.run());
    require_refusal(run, (files / at).string());
    require_same(run_program({"check", files.run()}), run);
  }
  const ValidFiles files;  // the last number of GPUs that the tables have room for
  files.change("run.json", "/gpus", 33);
  files.change("run.json", "/workload/gemm", large);
  CHECK(run_program({"check", files.run()}).exit_code == 0);
}

TEST_CASE("a memory whose values contradict each other is refused") {
  const std::pair<std::vector<std::pair<const char*, json>>, const char*> contradictions[] = {
      {{{"/queueing", "split-oldest-first"}, {"/queue_depth", 32768}}, "/queue_depth"},
      {{{"/geometry/pseudo_channels", 2}, {"/queue_depth", 32768}}, "/queue_depth"},
      {{{"/refresh", true}, {"/timing/REFI", 3900}}, "/timing/RFC"},
      {{{"/refresh", true}, {"/timing/RFC", 260}}, "/timing/REFI"},
      {{{"/refresh", true}, {"/timing/RFC", 260}, {"/timing/REFI", 306}}, "/timing/REFI"},  // RFC + RC are 307
      {{{"/write_drain_from", 0.3}, {"/write_drain_to", 0.3}}, "/write_drain_to"},
      {{{"/geometry/row_bytes", 1024}, {"/geometry/bank_groups", 1}}, "/address_map"},
  };
  for (const auto& [changed, pointer] : contradictions) {
    const ValidFiles files;
    for (const auto& [at, value] : changed) files.change("memory.json", at, value);
    INFO(changed.front().first << " with " << changed.back().first);
    require_no_memory(files, (files / "memory.json: ").string() + pointer);
  }
}

TEST_CASE("faults in what is not there, or that nothing could see, are refused") {
  const ValidFiles files;  // 4 GPUs, 8 directions of links, 256 x 256 fp16
  const std::tuple<const char*, std::vector<std::string>, const char*> refused[] = {
      {"lose_updates={\"gpu\": 4, \"count\": 1}", {}, "/lose_updates/gpu"},
      {"lose_updates={\"gpu\": -1, \"count\": 1}", {}, "/lose_updates/gpu"},
      {"lose_updates={\"gpu\": 1, \"count\": 0}", {}, "/lose_updates/count"},
      {"lose_updates={\"gpu\": 1, \"count\": 1, \"from\": \"me\"}", {}, "/lose_updates/from"},
      {"lose_updates={\"gpu\": 1}", {}, "/lose_updates/count"},
      {"lose_updates={\"gpu\": 1, \"count\": 1}", {"data=timing-only"}, "/lose_updates"},
      {"flip_bit={\"gpu\": 4, \"access\": 0, \"bit\": 0}", {}, "/flip_bit/gpu"},
      {"flip_bit={\"gpu\": 0, \"access\": 0, \"bit\": 16}", {}, "/flip_bit/bit"},
      {"flip_bit={\"gpu\": 0, \"access\": 0, \"bit\": 32}", {"workload.gemm.element=fp32"}, "/flip_bit/bit"},
      {"flip_bit={\"gpu\": 0, \"access\": 0, \"bit\": 0}", {"data=timing-only"}, "/flip_bit"},
      {"wrong_element={\"gpu\": 4, \"index\": 0}", {}, "/wrong_element/gpu"},
      {"wrong_element={\"gpu\": 0, \"index\": 65536}", {}, "/wrong_element/index"},
      {"wrong_element={\"gpu\": 0, \"index\": 0}", {"data=timing-only", "simulate=mirror"}, "/wrong_element"},
      {"wrong_rounding={\"gpu\": 0}", {}, "/wrong_rounding"},
      {"wrong_rounding={\"gpu\": 4}", {"operands=random"}, "/wrong_rounding/gpu"},
      {"wrong_rounding={\"gpu\": 0}", {"operands=random", "data=timing-only"}, "/wrong_rounding"},
      {"drop_packet={\"link\": 8, \"packet\": 0}", {}, "/drop_packet/link"},
      {"drop_packet={\"link\": 2, \"packet\": 0}", {"gpus=2"}, "/drop_packet/link"},
      {"drop_packet={\"link\": 1, \"packet\": 0}", {"data=timing-only", "simulate=mirror"}, "/drop_packet/link"},
      {"drop_packet=3", {}, "/drop_packet"}};
  for (const auto& [fault, settings, pointer] : refused) {
    std::vector<std::string> arguments{"--set", "data=functional", "--set", std::string("inject.") + fault};
    for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
    INFO(fault);
    require_refusal(run_file(files.run(), arguments), (files / "run.json: /inject").string() + pointer);
  }
}

TEST_CASE("the unchanged files are valid") {
  const ValidFiles files;
  const Outcome outcome = run_program({"check", files.run().string()});
  CHECK(outcome.err.empty());
  CHECK(outcome.exit_code == 0);
}

TEST_CASE("of an output that is too small for any number of GPUs the shape is what is wrong") {
  const ValidFiles files;
  const auto require = [&](const char* shape, const std::string& expected) {
    const Outcome outcome = run_file(files.run(), {"--set", std::string("workload={\"gemm\": ") + shape + "}"});
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.err == (files / "run.json: ").string() + expected + "\n");
  };
  require(
      R"({"m": 8, "n": 8, "k": 64})",
      "/workload: found an output of 1 tile (--set), expected at least 4 tiles, so that each of 4 GPUs has a chunk");
  require(R"({"m": 65, "n": 8, "k": 64})",
          "/gpus: found 4, expected at most 2, the output's tiles, so that every GPU has a chunk");
}

TEST_CASE("a wrong setting is refused in the file that the key belongs to") {
  const std::pair<const char*, const char*> settings[] = {
      {"gpus=-3", "run.json: /gpus"},
      {"bogus=1", "run.json: /bogus"},
      {"workload.gemm.m=-1", "run.json: /workload/gemm/m"},
      {"workload.gemm.m.rows=1", "run.json: /workload/gemm/m"},
      {"inject.unheard_of=1", "run.json: /inject/unheard_of"},
      {"gpus=null", "run.json: /gpus"},
      {"method=null", ""},  // right: the default
      {"seed.x=null", "run.json: /seed/x"},
      {"system=missing.json", "run.json: /system"},
      {"models=missing.json", "run.json: /models"},
      {"models=/tmp", "run.json: /models"},
      {"system.links.bandwidth_GBps=0", "system.json: /links/bandwidth_GBps"},
      {"system.memory.mca_bands.3=1", "system.json: /memory/mca_bands"},
      {"system.memory.file=missing.json", "system.json: /memory/file"},
      {"memory.timing.CCDWL=-4", "memory.json: /timing/CCDWL"},
      {"system.memory.dram.timing.CCDWL=-4", "memory.json: /timing/CCDWL"},
      {"memory.overlap=1", "memory.json: /overlap"},
  };
  const ValidFiles files;
  for (const auto& [setting, where] : settings) {
    INFO(setting);
    const Outcome outcome = run_file(files.run(), {"--print-config", "--set", setting});
    if (*where)
      require_refusal(outcome, (files / where).string());
    else
      CHECK(outcome.exit_code == 0);
  }
}

TEST_CASE("models, sub-layers and degrees that do not exist are refused") {
  const std::pair<json, const char*> workloads[] = {
      {{{"model", "BERT"}, {"sublayer", "FC-2"}, {"tp", 4}}, "/workload/model"},
      {{{"model", "T-NLG"}, {"sublayer", "FC-3"}, {"tp", 4}}, "/workload/sublayer"},
      {{{"model", "T-NLG"}, {"sublayer", "OP"}, {"tp", 3}}, "/workload/tp"},
      {{{"model", "T-NLG"}, {"sublayer", "OP"}}, "/workload/tp"},
      {{{"model", "T-NLG"}, {"sublayer", "OP"}, {"tp", 8}}, "/gpus"},
      {{{"model", "T-NLG"}, {"sublayer", "OP"}, {"tp", 4}, {"gemm", {{"k", 9}}}}, "/workload/gemm/k"}};
  for (const auto& [workload, pointer] : workloads) {
    const ValidFiles files;
    files.change("run.json", "/workload", workload);
    INFO(workload);
    require_refusal(run_file(files.run()), (files / "run.json").string() + ": " + pointer);
  }
}

TEST_CASE("mirror is refused with data or with unequal chunks") {
  const ValidFiles files;
  files.change("run.json", "/simulate", "mirror");
  CHECK(run_file(files.run(), {"--print-config"}).exit_code == 0);
  const std::string where = (files / "run.json: /simulate").string();
  require_refusal(run_file(files.run(), {"--set", "data=functional"}), where);
  require_refusal(run_file(files.run(), {"--set", "gpus=5"}), where);
  require_refusal(run_file(files.run(), {"--set", "workload.gemm.m=250"}), where);
  CHECK(run_file(files.run(), {"--print-config", "--set", "workload.gemm.n=250"}).exit_code == 0);
}

}  // namespace t3vp::test::bad_input_test
