#include "config/configuration.h"

namespace t3vp {

std::uint32_t link_count(const RunSettings& settings) {
  return static_cast<std::uint32_t>(fabric_of(settings).links.size());
}

}  // namespace t3vp
