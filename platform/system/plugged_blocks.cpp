#include "system/plugged_blocks.h"

#include <fmt/format.h>

namespace t3vp {

using nlohmann::json;

std::vector<PluggedBlock> read_blocks(const Document& system) {
  std::vector<PluggedBlock> blocks;
  for (const json& entry : system.content.value("blocks", json::array())) {
    const std::string at = fmt::format("/blocks/{}", blocks.size());
    PluggedBlock block;
    block.library = library_at(system.place(at + "/library"),
                               system.resolve(at + "/library", entry.at("library").get<std::string>()),
                               "the path of a library of blocks");
    entry.at("block").get_to(block.block);
    block.block_at = system.place(at + "/block");
    block.window = entry.value("window", static_cast<std::uint32_t>(blocks.size()));
    block.settings = entry.value("settings", json::object()).dump();
    for (std::size_t other = 0; other < blocks.size(); ++other)
      if (blocks[other].window == block.window)
        system.reject(at + "/window", fmt::format("window {}, which /blocks/{} has", block.window, other),
                      "each window once");
    blocks.push_back(std::move(block));
  }
  return blocks;
}

void set_library_paths(json& system, const std::vector<PluggedBlock>& blocks) {
  for (std::size_t i = 0; i < blocks.size(); ++i) system["blocks"][i]["library"] = blocks[i].library.file.string();
}

void set_library_fingerprints(json& system, const std::vector<PluggedBlock>& blocks) {
  for (std::size_t i = 0; i < blocks.size(); ++i) system["blocks"][i]["library"] = blocks[i].library.fingerprint;
}

}  // namespace t3vp
