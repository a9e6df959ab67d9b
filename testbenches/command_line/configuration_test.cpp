#include <algorithm>
#include <catch2/catch.hpp>

#include "command_line/program.h"
#include "config/configuration.h"
#include "io/input_error.h"
#include "memory/arbitration.h"
#include "run/node_parameters.h"

namespace t3vp::test::configuration_test {

namespace {

const nlohmann::json& gemm_of(const RunConfiguration& c) { return c.resolved.at("workload").at("gemm"); }

TileGrid grid_of(const RunConfiguration& c) { return c.workload->mirrored_chunks(c); }

struct Sublayer {
  const char *model, *name;
  std::uint32_t tp, m, n, k;
};

// Computed manually from T3 Table 2: M = tokens, N = H, K = H/TP (OP), 4H/TP (FC-2, FC-1), 3H/TP (IP).
const Sublayer sublayers[] = {
    {"Mega-GPT-2", "OP", 8, 16384, 3072, 384},    {"Mega-GPT-2", "OP", 16, 16384, 3072, 192},
    {"Mega-GPT-2", "FC-2", 8, 16384, 3072, 1536}, {"Mega-GPT-2", "FC-1", 16, 16384, 3072, 768},
    {"Mega-GPT-2", "IP", 8, 16384, 3072, 1152},   {"T-NLG", "OP", 8, 8192, 4256, 532},
    {"T-NLG", "OP", 16, 8192, 4256, 266},         {"T-NLG", "FC-2", 8, 8192, 4256, 2128},
    {"T-NLG", "FC-1", 16, 8192, 4256, 1064},      {"T-NLG", "IP", 16, 8192, 4256, 798},
    {"GPT-3", "FC-2", 32, 2048, 12288, 1536},     {"PALM", "IP", 32, 2048, 18432, 1728},
    {"MT-NLG", "OP", 32, 2048, 20480, 640},       {"1T", "FC-2", 64, 2048, 25600, 1600},
    {"10T", "IP", 64, 2048, 65536, 3072},
};

}  // namespace

TEST_CASE("sub-layers have the shapes of the paper's models") {
  for (const Sublayer& s : sublayers) {
    const ValidFiles files;
    files.change("run.json", "/gpus", nullptr);
    files.change("run.json", "/workload", {{"model", s.model}, {"sublayer", s.name}, {"tp", s.tp}});
    for (const char* table : {"/tracker/chunks", "/dma/commands"}) files.change("system.json", table, 64);
    const RunConfiguration c = load_run(files.run());
    INFO(s.model << " " << s.name << " TP=" << s.tp);
    CHECK(c.gpus == s.tp);
    CHECK(gemm_of(c).at("m") == s.m);
    CHECK(gemm_of(c).at("n") == s.n);
    CHECK(gemm_of(c).at("k") == s.k);
  }
}

TEST_CASE("tokens and a models file of one's own override the built-in ones") {
  const ValidFiles files;
  files.write(
      "models.json",
      nlohmann::json{
          {"sublayers", {{"half", {{"k_per_hidden", 2}}}}},
          {"models",
           {{"tiny", {{"hidden", 320}, {"heads", 4}, {"layers", 1}, {"sequence", 256}, {"batch", 2}, {"tp", {4}}}}}}});
  files.change("run.json", "/models", "models.json");
  files.change("run.json", "/workload", {{"model", "tiny"}, {"sublayer", "half"}, {"tp", 4}, {"tokens", 1000}});
  const RunConfiguration c = load_run(files.run());
  CHECK(gemm_of(c).at("m") == 1000);
  CHECK(gemm_of(c).at("n") == 320);
  CHECK(gemm_of(c).at("k") == 160);
  CHECK(c.workload->label() == "tiny half TP=4");
}

TEST_CASE("every value of the table 1 system arrives in its unit") {
  const SystemConfiguration s = load_system(config("systems/t3-table1.json"));
  CHECK(s.name == "t3-table1");
  CHECK(s.compute.compute_units == 80);
  CHECK(s.compute.launch_latency == 3'000'000);
  CHECK(s.compute.tile_rows == 128);
  CHECK(s.output_map.posted_bytes == 16u << 20);
  CHECK(s.cache.capacity_bytes == 16u << 20);
  CHECK(s.cache.latency == 114'300);
  CHECK(s.memory.capacity_bytes == std::uint64_t{32} << 30);
  CHECK(s.memory.path_latency == 71'400);
  CHECK(s.memory.mca_bands == std::array<double, 3>{16, 32, 48});
  CHECK(s.memory.dram.name == "hbm2-legacy");
  CHECK(s.memory.dram.timing.RC == 47);
  CHECK(s.memory.dram.timing.CCDWL == 4);
  CHECK(s.memory.dram.dual_command_bus);
  CHECK(s.tracker.sets == 256);
  CHECK(s.dma.latency == 71'400);
  CHECK(s.links.bandwidth_GBps == 75);
  CHECK(s.links.latency == 500'000);
  CHECK(s.links.receive_buffer_bytes == 256u << 10);
  CHECK(s.processor.register_access == 100'000);
}

TEST_CASE("every number of a system and a memory file has an effect of its own") {
  const ValidFiles files;
  const auto load = [&](const std::string& setting) { return load_run(files.run(), {setting}).system; };
  CHECK(load("system.compute.compute_units=7").compute.compute_units == 7);
  CHECK(load("system.compute.clock_GHz=1.7").compute.clock_GHz == 1.7);
  CHECK(load("system.compute.prefetch_slabs=3").compute.prefetch_slabs == 3);
  CHECK(load("system.kernels.ring.blocks_in_flight=9").kernels.ring.blocks_in_flight == 9);
  CHECK(load("system.kernels.rows.workgroups_per_cu=3").kernels.rows.workgroups_per_cu == 3);
  CHECK(load("system.kernels.rows.block_bytes=64").kernels.rows.block_bytes == 64);
  CHECK(load("system.compute.clock_GHz=1.7").compute.poll == 500'000);
  CHECK(load("system.compute.clock_GHz=1.7").processor.exchange == 50'000'000);
  CHECK(load("system.host.exchange_ns=70").processor.exchange == 70'000);
  CHECK(load("system.compute.poll_ns=70").compute.poll == 70'000);
  CHECK(load("system.compute.register_KiB=300").compute.register_bytes == 300u << 10);
  CHECK(load("system.compute.local_memory_KiB=64").compute.local_bytes == 64u << 10);
  CHECK(load("system.output_map.entries=9").output_map.entries == 9);
  CHECK(load("system.cache.ways=4").cache.ways == 4);
  CHECK(load("system.memory.channel_hash=false").memory.channel_hash == false);
  CHECK(load("system.memory.aging_ns=7.25").memory.aging == 7250);
  CHECK(load("system.memory.valid_bits_KiB=3").memory.valid_bits_bytes == 3072);
  CHECK(load("system.memory.valid_bits_KiB=null").memory.valid_bits_bytes == 0);
  CHECK(load("system.memory.mca_bands.0=3").memory.mca_bands[0] == 3);
  CHECK(load("system.tracker.strict=true").tracker.strict);
  CHECK(load("system.dma.commands=5").dma.commands == 5);
  CHECK(load("system.links.header_bytes=16").links.header_bytes == 16);
  CHECK(load("quantum_ns=25").processor.quantum == 25'000);
  CHECK(load("system.processor.error_log_entries=3").processor.error_log_entries == 3);
}

TEST_CASE("every timing changes one word of the channel's") {
  const ValidFiles files;
  const nlohmann::json loose{
      {"RC", 200},   {"RAS", 100}, {"CCDS", 10}, {"CCDL", 20},
      {"CCDWL", 50}, {"RRDL", 50}, {"WTRL", 50}};  // so that no sum of two forbids one more cycle
  nlohmann::json memory = json_of(files / "memory.json");
  memory["timing"].update(loose);
  files.write("memory.json", memory);
  const auto words = [&](const std::vector<std::string>& settings) {
    const dram::Timing timing = load_memory(files / "memory.json", settings).timing;
    const std::uint32_t* first = &timing.RCDRD;
    return std::vector<std::uint32_t>(first, first + sizeof timing / sizeof *first);
  };
  const auto before = words({});
  for (const auto& t : memory.at("timing").items()) {
    const std::uint32_t value = t.key() == "FAW" ? 40 : t.value().get<std::uint32_t>() + 1;
    const auto after = words({"timing." + t.key() + "=" + std::to_string(value)});
    std::size_t changed = 0;
    for (std::size_t i = 0; i < before.size(); ++i) changed += before[i] != after[i];
    INFO(t.key());
    CHECK(changed == 1);
    CHECK(std::count(after.begin(), after.end(), value) > 0);
  }
}

TEST_CASE("every other key of a memory file is read") {
  const ValidFiles files;
  const auto load = [&](const std::vector<std::string>& settings) {
    return load_memory(files / "memory.json", settings);
  };
  CHECK(load({"name=mine"}).name == "mine");
  CHECK(load({"geometry.pseudo_channels=2"}).geometry.pseudo_channels == 2);
  CHECK(load({"geometry.bank_groups=8"}).geometry.bank_groups == 8);
  CHECK(load({"geometry.banks_per_group=8"}).geometry.banks_per_group == 8);
  CHECK(load({"geometry.rows=4096"}).geometry.rows == 4096);
  CHECK(load({"geometry.row_bytes=4096"}).geometry.row_bytes == 4096);
  CHECK(load({}).geometry.access_bytes == 32);
  CHECK(load({"clock_GHz=1.25"}).clock_GHz == 1.25);
  CHECK_FALSE(load({"command_bus.dual=false"}).dual_command_bus);
  CHECK(load({"command_bus.activate_cycles=3"}).activate_cycles == 3);
  CHECK(load({"refresh=true", "timing.RFC=200", "timing.REFI=3000"}).refresh);
  CHECK(load({"queue_depth=65534"}).queue_depth == 65534);
  CHECK(load({}).queueing == dram::Queueing::by_geometry);
  CHECK(load({"queueing=shared-round-robin"}).queueing == dram::Queueing::shared_round_robin);
  CHECK(load({"queueing=split-oldest-first", "queue_depth=32767"}).queueing == dram::Queueing::split_oldest_first);
  CHECK(load({"write_drain_from=0.9"}).write_drain_from == 0.9);
  CHECK(load({"write_drain_to=0.1"}).write_drain_to == 0.1);
  CHECK(load({"address_map=rocol"}).address_map == "rocol");
  const std::vector<std::string> list{"byte:5", "column:6", "bank_group:2", "bank:2", "row:13"};
  CHECK(load({R"(address_map=["byte:5","column:6","bank_group:2","bank:2","row:13"])"}).address_bits == list);
}

TEST_CASE("defaults are applied") {
  const ValidFiles files;
  files.change("run.json", "/method", nullptr);
  const RunConfiguration c = load_run(files.run());
  CHECK(c.method == "t3-mca");
  CHECK(c.arbitration == "mca");
  CHECK_FALSE(c.functional);
  CHECK_FALSE(c.mirror);
  CHECK(c.quantum_ns == 1000);
  CHECK(c.firmware == "native");
  CHECK(c.seed == 1);
  CHECK_FALSE(c.faults.dma_map_updates);
  CHECK_FALSE(c.faults.lose_updates);
  CHECK(c.operands == Operands::exact);
  CHECK(c.workload->element() == ElementType::fp16);
  CHECK(gemm_of(c).at("transpose_b") == false);
}

TEST_CASE("arbitration follows the method unless it is given") {
  const ValidFiles files;
  for (const char* method : {"sequential", "t3", "ideal-overlap", "ideal-rs-nmc"})
    CHECK(load_run(files.run(), {std::string("method=") + method}).arbitration == "round-robin");
  CHECK(load_run(files.run(), {"method=t3-mca"}).arbitration == "mca");
  CHECK(load_run(files.run(), {"method=t3-mca", "arbitration=mca-5"}).arbitration == "mca-5");
  CHECK(load_run(files.run(), {"arbitration=compute-first"}).arbitration == "compute-first");
}

TEST_CASE("names of methods and arbitrations are read as they are written") {
  const ValidFiles files;
  for (const char* name : {"sequential", "t3", "t3-mca", "ideal-overlap", "ideal-rs-nmc"})
    CHECK(load_run(files.run(), {std::string("method=") + name}).method == std::string(name));
  const std::pair<const char*, std::uint32_t> arbitrations[] = {
      {"round-robin", 0}, {"compute-first", 0},   {"mca", 0},    {"mca-5", 5},
      {"mca-30", 30},     {"mca-unlimited", 255}, {"select", 0}, {"select-24", 24}};
  for (const auto& [name, limit] : arbitrations) {
    const RunConfiguration c = load_run(files.run(), {std::string("arbitration=") + name});
    CHECK(c.arbitration == name);
    CHECK(std::string(name).rfind(c.policy.policy->name, 0) == 0);
    CHECK(c.policy.limit == limit);
  }
  for (const char* name : {"fp16", "bf16", "fp32"})
    CHECK(name_of(load_run(files.run(), {std::string("workload.gemm.element=") + name}).workload->element()) ==
          std::string(name));
}

TEST_CASE("the functional run tells the hardware to keep data") {
  const ValidFiles files;
  CHECK_FALSE(node_parameters(load_run(files.run())).options.functional);
  CHECK(node_parameters(load_run(files.run(), {"data=functional"})).options.functional);
}

TEST_CASE("injected faults are passed on") {
  const ValidFiles files;
  const RunConfiguration c = load_run(files.run(), {"inject.dma_map_updates=3"});
  CHECK(c.faults.dma_map_updates == 3u);
}

TEST_CASE("the resolved configuration is a run file that means the same") {
  for (const char* name : {"runs/gemm-rs-4gpu.json", "runs/t-nlg-fc2-tp8.json"}) {
    const Folder folder;
    const std::vector<std::string> settings{"memory.timing.CCDWL=9", "system.links.bandwidth_GBps=33.5", "seed=42"};
    const RunConfiguration original = load_run(config(name), settings);
    const RunConfiguration again = load_run(folder.write("resolved.json", original.resolved));
    CHECK(again.resolved == original.resolved);
    CHECK(again.config_hash == original.config_hash);
    CHECK(again.system.memory.dram.timing.CCDWL == 9);
    CHECK(again.system.links.bandwidth_GBps == 33.5);
    CHECK(again.seed == 42);
  }
}

TEST_CASE("an inline file takes settings, and says where it is wrong") {
  const Folder folder;
  const auto file = folder.write("resolved.json", load_run(config("runs/gemm-rs-4gpu.json")).resolved);
  CHECK(load_run(file, {"memory.timing.CCDWL=8"}).system.memory.dram.timing.CCDWL == 8);
  CHECK(load_run(file, {"system.dma.commands=8"}).system.dma.commands == 8);
  CHECK_THROWS_WITH(load_run(file, {"memory.timing.CCDWL=0"}),
                    Catch::Contains(file.string() + ": /system/memory/dram/timing/CCDWL: found 0"));
}

TEST_CASE("the hash changes with every setting and with nothing else") {
  const ValidFiles files;
  const std::string hash = load_run(files.run()).config_hash;
  CHECK(hash.size() == 16);
  CHECK(load_run(files.run()).config_hash == hash);
  CHECK(load_run(ValidFiles().run()).config_hash == hash);
  CHECK(load_run(files.run(), {"data=timing-only", "arbitration=round-robin"}).config_hash == hash);
  for (const char* setting :
       {"seed=2", "gpus=5", "method=sequential", "memory.timing.CL=15", "workload.gemm.k=128",
        "system.links.link_latency_ns=201", "inject.dma_map_updates=1", "quantum_ns=1", "mca_scope=always"})
    CHECK(load_run(files.run(), {setting}).config_hash != hash);
  files.change("system.json", "/description", "in other words");
  CHECK(load_run(files.run()).config_hash == hash);
}

TEST_CASE("rows of the output are padded to whole DRAM accesses") {
  const ValidFiles files;
  const TileGrid grid = grid_of(load_run(files.run(), {"workload.gemm.n=250", "workload.gemm.m=130"}));
  CHECK(grid.row_stride == 512);  // 500 bytes
  CHECK(grid.workgroups() == 3 * 4);
  CHECK(grid_of(load_run(files.run())).row_stride == 512);
}

TEST_CASE("the run files of the project are what their names say") {
  const RunConfiguration gemm = load_run(config("runs/gemm-rs-4gpu.json"));
  CHECK(gemm.system.name == "t3-table1");
  CHECK(gemm.gpus == 4);
  CHECK(gemm.functional);
  CHECK_FALSE(gemm.mirror);
  CHECK(gemm.method == "t3-mca");
  CHECK(gemm.workload->label() == "GEMM 1024 x 1024 x 512 fp16");
  const RunConfiguration full = load_run(config("runs/t-nlg-fc2-tp8.json"));
  CHECK(full.gpus == 8);
  CHECK(full.mirror);
  CHECK_FALSE(full.functional);
  CHECK(full.workload->label() == "T-NLG FC-2 TP=8");
}

TEST_CASE("a memory file loads alone, with settings of its own") {
  CHECK(load_memory(config("memory/hbm2-legacy.json")).timing.CCDWL == 4);
  CHECK(load_memory(config("memory/hbm2-legacy.json"), {"timing.CCDWL=6"}).timing.CCDWL == 6);
  CHECK_THROWS_AS(load_memory(config("memory/hbm2-legacy.json"), {"timing.XYZ=6"}), InputError);
  const dram::MemorySpec queue =
      load_memory(config("memory/hbm2-legacy.json"), {"queueing=split-oldest-first", "write_drain_from=0.5"});
  CHECK(queue.queueing == dram::Queueing::split_oldest_first);
  CHECK(queue.write_drain_from == 0.5);
}

}  // namespace t3vp::test::configuration_test
