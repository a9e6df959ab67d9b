// A block of a shared library, which sits in a spare register window of every GPU, with an interrupt line of its own
// (docs/guides/blocks.md). The library's classes derive from PluginBlock, and T3VP_BLOCKS lists them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <systemc>

#include "protocol/plugin.h"
#include "registers/register_block.h"

namespace t3vp {

/// What a block is made from.
struct PluginSettings {
  std::uint16_t gpu = 0;  ///< number of its GPU
  std::string json;       ///< the object `settings` of the system file, as text: "{}" when there is none
};

class PluginBlock : public sc_core::sc_module {
 public:
  /// Raises the line of the block's window: plugin_0 and up.
  sc_core::sc_out<bool> interrupt{"interrupt"};

  /// Returns its registers, a class of t3vp_registers(). The GPU binds their socket, errors and reset line.
  virtual RegisterBlock& registers() = 0;

 protected:
  explicit PluginBlock(const sc_core::sc_module_name& name) : sc_module(name) {}
};

struct PluginBlockKind {
  const char* name;  ///< in system files
  /// Makes a block. What it throws ends the run with one line, so it may throw about settings.
  std::unique_ptr<PluginBlock> (*make)(const char* name, const PluginSettings& settings);
};

template <class Block>
std::unique_ptr<PluginBlock> make_plugin_block(const char* name, const PluginSettings& settings) {
  return std::make_unique<Block>(name, settings);
}

/// A library of blocks shows this table by the name t3vp_blocks.
struct BlockTable {
  PluginBuild build;
  const PluginBlockKind* kinds;
  std::size_t count;
};

constexpr PluginBuild block_build() {
  return plugin_build<BlockTable, PluginBlockKind, PluginSettings, PluginBlock, RegisterBlock, RegisterState,
                      RegisterDescription, FieldDescription>();
}

}  // namespace t3vp

/// The library's blocks, once in one of its sources, outside of namespaces:
/// T3VP_BLOCKS({"first", &t3vp::make_plugin_block<First>}, {"second", &t3vp::make_plugin_block<Second>});
#define T3VP_BLOCKS(...)                                                                            \
  static const t3vp::PluginBlockKind t3vp_listed_blocks[] = {__VA_ARGS__};                          \
  T3VP_PLUGIN_TABLE const t3vp::BlockTable t3vp_blocks;                                             \
  const t3vp::BlockTable t3vp_blocks {                                                              \
    t3vp::block_build(), t3vp_listed_blocks, sizeof t3vp_listed_blocks / sizeof *t3vp_listed_blocks \
  }
