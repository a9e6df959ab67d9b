// t3vp keys, and what a description of a parameter alone decides: defaults that are written down, powers of two, keys
// that have moved.
#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>

#include "command_line/program.h"
#include "config/configuration.h"
#include "io/embedded_texts.h"

namespace t3vp::test::keys_test {

namespace {

using nlohmann::json;

std::vector<std::string> keys_in(const std::string& pattern) {
  const Outcome outcome = pattern.empty() ? run_program({"keys"}) : run_program({"keys", pattern});
  REQUIRE(outcome.exit_code == 0);
  std::vector<std::string> keys;
  for (std::size_t begin = 0; begin < outcome.out.size(); begin = outcome.out.find('\n', begin) + 1)
    keys.push_back(outcome.out.substr(begin, outcome.out.find(' ', begin) - begin));
  return keys;
}

using Keys = std::vector<std::string>;

/// Paths of all keys below a subschema, as `t3vp keys` writes them.
void add_paths(const json& root, json node, const std::string& prefix, Keys& paths) {
  if (node.contains("$ref")) node = root.at(json::json_pointer(node.at("$ref").get<std::string>().substr(1)));
  const json properties = node.value("properties", json::object());  // it outlives the loop
  for (const auto& [name, value] : properties.items()) {
    paths.push_back(prefix + name);
    add_paths(root, value, prefix + name + ".", paths);
  }
  if (node.contains("items")) add_paths(root, node.at("items"), prefix.substr(0, prefix.size() - 1) + "[].", paths);
}

Keys paths_in_schema(const std::string& file, const std::string& prefix) {
  const json schema = parse_json(embedded_text(file + ".schema.json"), file);
  Keys paths;
  add_paths(schema, schema, prefix, paths);
  return paths;
}

/// The column of a key's line that `t3vp keys` prints: 1 is the unit, 2 the range, 3 the default.
std::string column(const std::string& path, int number) {
  const std::string out = run_program({"keys", path}).out;
  const std::string line = out.substr(0, out.find('\n'));
  std::size_t begin = 0;
  for (; number > 0; --number) begin = line.find_first_not_of(' ', line.find("  ", begin));
  return line.substr(begin, line.find("  ", begin) - begin);
}

std::string refusal(const ValidFiles& files, const std::vector<std::string>& settings = {}) {
  std::vector<std::string> arguments{"run", files.run().string(), "--print-config"};
  for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
  const Outcome outcome = run_program(arguments);
  CHECK(outcome.exit_code == 2);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  return outcome.err;
}

}  // namespace

TEST_CASE("keys prints path, unit, range, default and meaning of a key") {
  CHECK(run_program({"keys", "dma.latency"}).out ==
        "system.dma.latency_ns  ns  0 to 1000000000  required  Time from a trigger until the read request is at the "
        "DRAM queues.\n");
  CHECK_THAT(run_program({"keys", "kernels.embedding.rows"}).out, Catch::Contains("  rows  1 to 64  4  "));
  CHECK_THAT(run_program({"keys", "tracker.sets"}).out, Catch::Contains("  1 to 65536, a power of two  "));
  CHECK_THAT(run_program({"keys", "tracker.strict"}).out, Catch::Contains("  -  true or false  "));
}

TEST_CASE("keys prints the keys of a run file, from the top and below") {
  CHECK(run_program({"keys", "quantum"}).out ==
        "quantum_ns  ns  1 to 1000000  1000  Quantum of the firmware's loosely timed accesses.\n");
  CHECK(run_program({"keys", "limits.polls"}).out ==
        "limits.polls  -  100 to 1000000000000  10000000  Reads of one register that may give the same value while "
        "nothing else happens in the node. Of one place in memory by a wave (t3_read), too.\n");
  CHECK(run_program({"keys", "flip_bit.bit"}).out ==
        "inject.flip_bit.bit  -  0 to 31  required  Number of the bit. 0 is the least significant.\n");
  CHECK(run_program({"keys", "[d]ata"}).out ==
        "data  -  functional or timing-only  timing-only  Whether tensors carry data.\n");
  CHECK(run_program({"keys", "limits.wall_s"}).out ==
        "limits.wall_s  s  above 0, at most 1000000000  none  Time on the host; --timeout sets it.\n");
}

TEST_CASE("keys prints the keys of every workload") {
  CHECK(run_program({"keys", "workload.gemm.m"}).out ==
        "workload.gemm.m  rows  1 to 1048576  the model's  Rows of the output.\n");
  CHECK(run_program({"keys", "gemv.columns"}).out ==
        "workload.gemv.columns  columns  1 to 1048576  required  Of each GPU's matrix, its share of the products.\n");
  CHECK(column("workload.gemm.transpose_b", 2) == "true or false");
  CHECK(column("workload.gemm.transpose_b", 3) == "false");
  CHECK(column("workload.gemm.tile", 2) == "such as 128x256");
  CHECK(column("workload.collective.op", 3) == "required");
  CHECK(column("workload.embedding.pooling", 2) == "1 to 256 or object");
  CHECK(column("workload.embedding.result", 3) == "sum");
  CHECK(column("workload.mlp.bucket_MiB", 3) == "25, as PyTorch's DistributedDataParallel");
  CHECK(column("workload.parts", 2) == "list of gemm, attention, element_wise, optimizer");
}

TEST_CASE("keys prints the keys of an experiment file") {
  CHECK(column("experiment.plot[].cluster", 3) == "1, by their numbers");
  CHECK(column("experiment.trace", 3) == "false");
  CHECK(column("experiment.targets[].aggregate", 2) == "geomean, mean, max or min");
  CHECK(column("experiment.cases[].name", 3) == "required");
}

/// Of a models file: names of people's own stand for their objects.
const Keys models_keys{"models.$schema",
                       "models.description",
                       "models.sublayers",
                       "models.sublayers.NAME.text",
                       "models.sublayers.NAME.k_per_hidden",
                       "models.models",
                       "models.models.NAME.hidden",
                       "models.models.NAME.heads",
                       "models.models.NAME.layers",
                       "models.models.NAME.sequence",
                       "models.models.NAME.batch",
                       "models.models.NAME.tp"};

TEST_CASE("keys prints the keys of a models file") {
  CHECK(run_program({"keys", "k_per_hidden"}).out ==
        "models.sublayers.NAME.k_per_hidden  -  1 to 64  required  K of a GPU is this times hidden / tp.\n");
  CHECK(column("models.models.NAME.tp", 2) == "list");
}

TEST_CASE("every key that the schemas of run and experiment files have is printed once") {
  const Keys all = keys_in("");
  for (const std::string& path : paths_in_schema("run", "")) {
    CAPTURE(path);
    CHECK(std::count(all.begin(), all.end(), path) == 1);
  }
  for (const std::string& path : paths_in_schema("experiment", "experiment.")) {
    CAPTURE(path);
    CHECK(std::count(all.begin(), all.end(), path) == 1);
  }
  const auto others =
      std::count_if(all.begin(), all.end(), [](const std::string& key) { return key.rfind("system.", 0) != 0; });
  CHECK(static_cast<std::size_t>(others) ==
        paths_in_schema("run", "").size() + paths_in_schema("experiment", "experiment.").size() + models_keys.size());
  for (const std::string& path : models_keys) CHECK(std::count(all.begin(), all.end(), path) == 1);
}

TEST_CASE("a run's defaults are those that keys prints") {
  const ValidFiles files;
  const json run = {
      {"system", "system.json"}, {"gpus", 4}, {"workload", {{"gemm", {{"m", 256}, {"n", 256}, {"k", 64}}}}}};
  files.write("run.json", run);
  const json resolved = load_run(files.run()).resolved;
  for (const char* key : {"mca_scope", "data", "simulate", "quantum_ns", "seed"}) {
    const json value = resolved.at(key);
    CHECK((value.is_string() ? value.get<std::string>() : json(value.get<std::uint64_t>()).dump()) == column(key, 3));
  }
  for (const char* key : {"firmware_s", "polls", "errors", "rank_s"})
    CHECK(std::to_string(resolved.at("limits").at(key).get<std::uint64_t>()) ==
          column(std::string("limits.") + key, 3));
  CHECK(resolved.at("workload").at("gemm").at("element") == column("workload.gemm.element", 3));
}

TEST_CASE("keys takes a part of a path or a glob") {
  const Keys all = keys_in("");
  CHECK(all.size() > 100);
  CHECK(std::is_permutation(all.begin(), all.end(), keys_in("*").begin()));
  Keys of_dma;  // whatever parameters it gets
  std::copy_if(all.begin(), all.end(), std::back_inserter(of_dma),
               [](const std::string& key) { return key.rfind("system.dma.", 0) == 0; });
  CHECK(of_dma.size() >= 3);
  CHECK(keys_in("system.dma.") == of_dma);
  CHECK(keys_in("dma_") == Keys{"inject.dma_map_updates"});
  CHECK(keys_in("DMA.comm") == Keys{"system.dma.commands"});
  CHECK(keys_in("*.wire_*") == Keys{"system.nic.wire_GBps", "system.nic.wire_latency_ns"});
  CHECK(keys_in("system.memory.dram.timing.CCD?").size() == 2);
  CHECK(keys_in("system.[d]ma.commands") == Keys{"system.dma.commands"});
}

TEST_CASE("keys that do not exist are one line") {
  const Outcome outcome = run_program({"keys", "overlap"});
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.out.empty());
  CHECK(outcome.err ==
        "t3vp keys: found overlap, expected a part of a key's path, such as dma, or a glob, such as *_GBps\n");
  CHECK(run_program({"keys", "dma*"}).exit_code == 2);  // a glob is about the whole path
}

TEST_CASE("every key of the small system is described") {
  const ValidFiles files;
  const json system = load_run(files.run()).resolved.at("system");
  const Keys all = keys_in("");
  for (const char* section : {"compute", "output_map", "cache", "tracker", "dma", "processor", "host"})
    for (const auto& key : system.at(section).items())
      CHECK(std::count(all.begin(), all.end(), std::string("system.") + section + "." + key.key()) == 1);
  for (const auto& timing : system.at("memory").at("dram").at("timing").items())
    CHECK(std::count(all.begin(), all.end(), "system.memory.dram.timing." + timing.key()) == 1);
}

TEST_CASE("the configuration that is printed has the defaults of what files leave out") {
  const ValidFiles files;
  const json system = load_run(files.run()).resolved.at("system");
  CHECK(system.at("compute").at("poll_ns") == 500);
  CHECK(system.at("kernels").at("embedding") ==
        json{{"workgroups_per_cu", 8}, {"rows_in_flight", 4}, {"row_instructions", 0}, {"row_ns", 0}, {"bag_ns", 0}});
  CHECK(system.at("kernels").at("ring").at("step_ns") == 0);
  CHECK(!system.at("kernels").at("ring").contains("workgroups"));  // no number says "as many as there is room for"
  CHECK(system.at("host").at("exchange_ns") == 50000);
  CHECK(system.at("memory").at("dram").at("write_drain_to") == 0.4);
  CHECK(!system.contains("nic"));
}

TEST_CASE("values that are left out are those of the printed configuration") {
  const ValidFiles files;
  const SystemConfiguration before = load_run(files.run()).system;
  files.write("run.json", load_run(files.run()).resolved);
  const SystemConfiguration after = load_run(files.run()).system;
  CHECK(after.compute.poll == before.compute.poll);
  CHECK(after.kernels.embedding.rows_in_flight == before.kernels.embedding.rows_in_flight);
  CHECK(after.kernels.ring.workgroups == before.kernels.ring.workgroups);
  CHECK(after.processor.exchange == before.processor.exchange);
  CHECK(after.processor.core.clock_period == before.processor.core.clock_period);
  CHECK(after.memory.valid_bits_bytes == before.memory.valid_bits_bytes);
  CHECK(after.memory.dram.write_drain_from == before.memory.dram.write_drain_from);
  CHECK(after.links.max_payload_bytes == before.links.max_payload_bytes);
  CHECK(after.links.arbitration_bytes == before.links.arbitration_bytes);
}

TEST_CASE("a key that has moved names its new place") {
  const ValidFiles files;
  files.change("system.json", "/compute/ring_block_bytes", 4096);
  CHECK_THAT(refusal(files), Catch::Contains("system.json: /compute/ring_block_bytes: found a key that has moved, "
                                             "expected kernels.ring.block_bytes"));
  const ValidFiles set;
  CHECK_THAT(refusal(set, {"system.compute.gather_rows_in_flight=2"}),
             Catch::Contains("/compute/gather_rows_in_flight") &&
                 Catch::Contains("expected kernels.embedding.rows_in_flight"));
  CHECK_THAT(refusal(set, {"system.compute.ring_size=2"}), Catch::Contains("expected one of clock_GHz, compute_units"));
}

TEST_CASE("a number that is no power of two or no multiple says so") {
  const ValidFiles files;
  CHECK_THAT(refusal(files, {"system.tracker.sets=12"}),
             Catch::Contains("/tracker/sets: found 12 (--set), expected a power of two"));
  CHECK_THAT(refusal(files, {"system.kernels.rows.block_bytes=100"}),
             Catch::Contains("/kernels/rows/block_bytes: found 100 (--set), expected a multiple of 32"));
  CHECK_THAT(refusal(files, {"memory.geometry.rows=1000"}),
             Catch::Contains("/geometry/rows: found 1000 (--set), expected a power of two"));
}

}  // namespace t3vp::test::keys_test
