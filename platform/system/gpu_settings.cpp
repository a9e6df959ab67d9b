#include "system/gpu_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/described_keys.h"
#include "io/overrides.h"
#include "io/schema_check.h"
#include "system/plugged_blocks.h"
#include "system/system_reader.h"

namespace t3vp {
namespace {

using nlohmann::json;

constexpr const char* blocks[] = {"compute", "kernels",   "output_map", "cache",    "memory", "tracker",
                                  "dma",     "processor", "nic",        "endpoint", "power"};

bool is_below(const std::string& path, const std::string& parent) {
  return path == parent || path.rfind(parent + ".", 0) == 0;
}

/// Programs and their kernels are made for one shape of tiles and of blocks, and one layout of memory. NICs send each
/// other packets over one wire.
bool is_common(const std::string& path) {
  if (is_below(path, "memory.file")) return true;
  const std::vector<DescribedKey>& keys = described_keys();
  return std::any_of(keys.begin(), keys.end(), [&](const DescribedKey& key) {
    return key.same_on_all_gpus && is_below(path, key.path_in_file());
  });
}

/// One entry of the list.
class Settings {
 public:
  Settings(const Document& system, const Document& memory, std::size_t number)
      : listed_(system), at_(fmt::format("/gpus/{}", number)), system_(system), memory_(memory) {
    const std::string place = listed_.place(at_ + "/set").where;
    for (Document* document : {&system_, &memory_}) {
      document->file = place;
      document->base.clear();
    }
    memory_.base = "/memory/dram";
    system_.content.erase("blocks");  // all GPUs have the same
  }

  GpuParameters read() {
    for (const auto& [path, value] : listed_.content.at(json::json_pointer(at_ + "/set")).items()) set(path, value);
    system_.overridden.clear();
    memory_.overridden.clear();
    check_schema(system_, "system");
    check_schema(memory_, "memory");
    return read_system(system_, memory_);
  }

 private:
  [[noreturn]] void reject(const std::string& path, const std::string& expected) const {
    const json::json_pointer pointer = json::json_pointer(at_ + "/set") / path;
    listed_.reject(pointer.to_string(), expected);
  }
  void set(const std::string& path, const json& value) {
    const auto covers = [&path](const char* name) { return is_below(path, name); };
    if (is_common(path)) reject(path, "nothing: it is the same on all GPUs");
    if (std::none_of(std::begin(blocks), std::end(blocks), covers) || path.find('.') == std::string::npos)
      reject(path, fmt::format("the path of a value of a GPU, in one of {}", fmt::join(blocks, ", ")));
    Override change = override_of(path, value);
    if (!is_below(path, "memory.dram")) return apply_override(system_, change);
    if (change.path.size() == 2) reject(path, "the path of a value below memory.dram");
    change.path.erase(change.path.begin(), change.path.begin() + 2);
    apply_override(memory_, change);
  }

  const Document& listed_;
  std::string at_;
  Document system_, memory_;
};

}  // namespace

std::vector<OtherGpu> read_other_gpus(const Document& system, const Document& memory, std::uint32_t gpus) {
  std::vector<OtherGpu> others;
  const std::vector<PluggedBlock> blocks = read_blocks(system);
  for (const json& entry : system.content.value("gpus", json::array())) {
    const std::size_t number = others.size();
    const std::string place = fmt::format("/gpus/{}/gpu", number);
    const auto gpu = entry.at("gpu").get<std::uint32_t>();
    if (gpu >= gpus) system.reject(place, fmt::format("a GPU of the run's, 0 to {}", gpus - 1));
    for (const OtherGpu& other : others)
      if (other.gpu == gpu) system.reject(place, "each GPU once");
    others.push_back({gpu, Settings(system, memory, number).read()});
    others.back().parameters.plugged = blocks;
  }
  return others;
}

}  // namespace t3vp
