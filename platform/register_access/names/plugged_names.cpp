#include "register_access/names/plugged_names.h"

#include "register_access/names/register_names.h"

namespace t3vp {

void name_plugged_blocks(const Node& node) {
  const auto& plugged = node.gpus()[0]->plugged;  // all GPUs have the same
  for (std::size_t i = 0; i < plugged.size(); ++i)
    if (plugged[i])
      add_register_block(static_cast<std::size_t>(address_map::Block::plugin_0) + i,
                         plugged[i]->registers().description());
}

}  // namespace t3vp
