// Registers that take an address of their GPU's own memory refuse one without the GPU's number, and say the right one.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "command_line/program.h"

namespace t3vp::test::own_addresses_test {

namespace {

const std::string nowhere = "0x4000", here = "0x100000004000";

/// Stages workgroup 0 of an output of one tile in a block that takes chunks.
std::string chunk(const std::string& block, const std::string& base) {
  const std::string set = "gpu1." + block + ".";
  return set + "output_base = " + base + "\n" + set + "row_stride = 128\n" + set + "rows = 32\n" + set +
         "columns = 32\n" + set + "tile_rows = 32\n" + set + "tile_columns = 32\n" + set +
         "layout = {wavefronts = 1, element = fp16}\n" + set + "first_workgroup = 0\n" + set + "workgroups = 1\n";
}

/// Describes queue pair 0 of the NIC, with one of its three addresses as it must not be.
std::string queue_pair(const std::string& completions, const std::string& ring, const std::string& record) {
  return "gpu1.nic.completion_base[0] = " + completions +
         "\ngpu1.nic.completion_entries[0] = 4\ngpu1.nic.send_base[0] = " + ring +
         "\ngpu1.nic.send_entries[0] = 4\ngpu1.nic.doorbell_record[0] = " + record + "\ngpu1.nic.state[0] = 1\n";
}

/// Has all operations follow an output, with one of its three addresses as it must not be.
std::string follow(const std::string& output, const std::string& bias, const std::string& residual) {
  const std::string set = "gpu1.near_memory.follow_";
  return set + "output = " + output + "\n" + set + "bias = " + bias + "\n" + set + "residual = " + residual + "\n" +
         set + "stride = 128\n" + set + "keep = 0x3F000000\n" + set +
         "operation = {bias = 1, dropout = 1, residual = 1}\n";
}

/// Has Adam's step follow an output, with one of the addresses of its state as it must not be.
std::string optimize(const std::string& means, const std::string& squares, const std::string& weights) {
  const std::string set = "gpu1.near_memory.follow_";
  return set + "output = " + here + "\n" + set + "means = " + means + "\n" + set + "squares = " + squares + "\n" + set +
         "weights = " + weights + "\n" + set + "stride = 128\n" + set + "operation = {adam = 1}\n";
}

/// How each register comes to be used, by its name.
const std::map<std::string, std::string>& uses() {
  static const std::map<std::string, std::string> all{
      {"kernel_queue.base", "gpu1.kernel_queue.entries[0] = 16\ngpu1.kernel_queue.base[0] = 0x4000\n"},
      {"dma.output_base", chunk("dma", nowhere) +
                              "gpu1.dma.block_tiles = 1\ngpu1.dma.command = {action = add, operation = "
                              "notify}\n"},
      {"dma.fill_base",
       "gpu1.dma.fill_base = 0x4000\ngpu1.dma.fill_bytes = 1024\ngpu1.dma.command = {action = fill, "
       "writes = control}\n"},
      {"dma.copy_from",
       "gpu1.dma.copy_from = 0x4000\ngpu1.dma.copy_to = 0x100000008000\ngpu1.dma.copy_bytes = 64\n"
       "gpu1.dma.command = {action = copy, reads = control, writes = control}\n"},
      {"dma.queue_send_base",
       "gpu1.dma.queue_send_base[0] = 0x4000\ngpu1.dma.queue_record[0] = 0x100000004000\n"
       "gpu1.dma.queue_entries[0] = 16\n"},
      {"dma.queue_record",
       "gpu1.dma.queue_send_base[0] = 0x100000004000\ngpu1.dma.queue_record[0] = 0x4000\n"
       "gpu1.dma.queue_entries[0] = 16\n"},
      {"endpoint.buffer",
       "gpu1.endpoint.buffer = 0x4000\ngpu1.endpoint.bytes = 64\ngpu1.endpoint.place = {own = 1, gpus = 2}\n"
       "gpu1.endpoint.command = {action = start}\n"},
      {"near_memory.follow_output", follow(nowhere, here, here)},
      {"near_memory.follow_bias", follow(here, nowhere, here)},
      {"near_memory.follow_residual", follow(here, here, nowhere)},
      {"near_memory.follow_means", optimize(nowhere, here, here)},
      {"near_memory.follow_squares", optimize(here, nowhere, here)},
      {"near_memory.follow_weights", optimize(here, here, nowhere)},
      {"near_memory.valid_base",
       "gpu1.near_memory.valid_base = 0x4000\ngpu1.near_memory.valid_bytes = 1024\n"
       "gpu1.near_memory.command = {action = arm}\n"},
      {"tracker.output_base",
       chunk("tracker", nowhere) +
           "gpu1.tracker.updates = 1\ngpu1.tracker.command = {action = add, operation = update}\n"},
      {"tracker.spill_base",
       chunk("tracker", here) +
           "gpu1.tracker.updates = 1\ngpu1.tracker.spill_base = 0x4000\ngpu1.tracker.spill_entries "
           "= 64\ngpu1.tracker.command = {action = add, operation = update}\n"},
      {"nic.region_base",
       "gpu1.nic.region_base = 0x4000\ngpu1.nic.region_bytes = 64\ngpu1.nic.command = {action = "
       "register_region}\n"},
      {"nic.completion_base", queue_pair(nowhere, here, here)},
      {"nic.send_base", queue_pair(here, nowhere, here)},
      {"nic.doorbell_record", queue_pair(here, here, nowhere)},
      {"output_map.output_base", chunk("output_map", nowhere) +
                                     "gpu1.output_map.operation = {kind = update}\ngpu1.output_map.peer_base = 0\n"
                                     "gpu1.output_map.command = {action = add}\n"}};
  return all;
}

std::set<std::string> described_names() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(T3VP_SOURCE_DIR "/models")) {
    const std::string file = entry.path().filename().string(), end = ".registers.json";
    if (file.size() <= end.size() || file.substr(file.size() - end.size()) != end) continue;
    std::ifstream stream(entry.path());
    const nlohmann::json block = nlohmann::json::parse(stream);
    for (const nlohmann::json& described : block.at("registers"))
      if (described.value("own_address", false))
        names.insert(block.at("block").get<std::string>() + "." + described.at("name").get<std::string>());
  }
  return names;
}

/// A system whose GPUs have NICs and endpoint engines.
nlohmann::json system_of_all() {
  const std::string folder = T3VP_SOURCE_DIR "/configs/systems/";
  std::ifstream stream(folder + "mi210-2nodes.json");
  nlohmann::json system = nlohmann::json::parse(stream);
  system["memory"]["file"] = folder + system["memory"]["file"].get<std::string>();
  system["endpoint"] = {{"sram_KiB", 4096},  {"message_bytes", 8192}, {"rings", 16},
                        {"adder_GBps", 320}, {"sram_GBps", 1280},     {"latency_ns", 100}};
  return system;
}

/// Returns what the script shows on a node of that system.
std::string shown(const std::string& text) {
  const Folder folder;
  const std::string script = folder.write("a.regs", text + "delay 1 us\n").string();
  const std::string system = folder.write("system.json", system_of_all().dump()).string();
  const Outcome outcome = run_program({"registers", "script", script, "--system", system, "--gpus", "2"});
  return outcome.out + outcome.err;
}

}  // namespace

TEST_CASE("every register of an own address refuses one without the GPU's number and says the right one") {
  std::set<std::string> tried;
  for (const auto& [name, script] : uses()) {
    CAPTURE(name);
    tried.insert(name);
    const std::string text = shown(script);
    CHECK_THAT(text, Catch::Contains("; with the GPU's number, 0x100000004000 expected"));
    CHECK_THAT(text, !Catch::Contains("nothing answers"));
  }
  CHECK(tried == described_names());
}

TEST_CASE("every register of an own address takes one with the GPU's number") {
  for (const auto& [name, script] : uses()) {
    CAPTURE(name);
    std::string right = script;
    for (std::size_t at = 0; (at = right.find(" 0x4000\n", at)) != std::string::npos;)
      right.replace(at, 8, " 0x100000004000");
    CHECK_THAT(shown(right), !Catch::Contains("GPU's number"));
  }
}

}  // namespace t3vp::test::own_addresses_test
