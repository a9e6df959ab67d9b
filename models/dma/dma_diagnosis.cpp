// What the DMA engine tells of its commands when nothing goes on.
#include <fmt/format.h>

#include <algorithm>

#include "dma/dma_engine.h"

namespace t3vp::dma {

bool DmaEngine::sends_to(const Command& command, std::uint32_t wg_id, std::uint64_t peer_address) {
  return std::any_of(command.destinations.begin(), command.destinations.end(), [&](std::uint64_t destination) {
    return command.range.contains(wg_id, peer_address - destination + command.range.base);
  });
}

bool DmaEngine::sends_to(std::uint32_t wg_id, std::uint64_t peer_address) const {
  return std::any_of(commands_.begin(), commands_.end(),
                     [&](const Command& command) { return sends_to(command, wg_id, peer_address); });
}

bool DmaEngine::has_sent_to(std::uint32_t wg_id, std::uint64_t peer_address) const {
  return std::any_of(commands_.begin(), commands_.end(), [&](const Command& command) {
    return sends_to(command, wg_id, peer_address) && command.is_complete();
  });
}

std::vector<std::string> DmaEngine::diagnosis() const {
  std::vector<std::string> lines;
  for (const Command& command : commands_)
    if (!command.is_complete())
      lines.push_back(fmt::format("GPU {} DMA: {} of {} wavefront tiles of {} {}", gpu_, command.done,
                                  command.arrivals(), command.range.text(),
                                  command.kind == Kind::notify ? "are final" : "have arrived"));
  return lines;
}

}  // namespace t3vp::dma
