// A library of blocks that are wrong in some way.
#include <stdexcept>

#include "node/plugin_block.h"
#include "registers/alarm.h"
#include "registers/dma.h"

namespace {

template <class Registers>
class Idle : public t3vp::PluginBlock {
 public:
  Idle(const sc_core::sc_module_name& name, const t3vp::PluginSettings&) : PluginBlock(name) {}
  t3vp::RegisterBlock& registers() override { return registers_; }

 private:
  Registers registers_{"registers"};
};

[[maybe_unused]] std::unique_ptr<t3vp::PluginBlock> throw_error(const char*, const t3vp::PluginSettings& settings) {
  throw std::runtime_error("no block from " + settings.json);
}
[[maybe_unused]] std::unique_ptr<t3vp::PluginBlock> throw_number(const char*, const t3vp::PluginSettings&) { throw 1; }
[[maybe_unused]] std::unique_ptr<t3vp::PluginBlock> make_nothing(const char*, const t3vp::PluginSettings&) {
  return nullptr;
}

}  // namespace

#if defined(ODD_BUILD)
T3VP_PLUGIN_TABLE const t3vp::BlockTable t3vp_blocks;
const t3vp::BlockTable t3vp_blocks{ODD_BUILD, nullptr, 1};
#else
T3VP_BLOCKS({"idle", &t3vp::make_plugin_block<Idle<t3vp::registers::Alarm> >}, {"throwing", &throw_error},
            {"throwing_number", &throw_number}, {"nothing", &make_nothing},
            {"called_dma", &t3vp::make_plugin_block<Idle<t3vp::registers::Dma> >});
#endif
