// What the DMA engine tells of its commands when nothing goes on.
#include <fmt/format.h>

#include <algorithm>

#include "dma/dma_engine.h"
#include "protocol/gpu_name.h"

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

std::vector<std::string> DmaEngine::contents() const {
  constexpr const char* kinds[] = {"store", "update", "notify"};
  std::vector<std::string> lines;
  for (const Command& command : commands_) {
    std::string line =
        fmt::format("dma_map of {}: {}", command.range.text(), kinds[static_cast<std::size_t>(command.kind)]);
    for (const std::uint64_t destination : command.destinations)
      line += fmt::format("{} to {:#x} of {}", destination == command.destinations.front() ? "" : ",", destination,
                          gpu_name(address_map::gpu_of(destination)));
    if (command.by_queue) line += fmt::format(" by queue {}", command.queue);
    lines.push_back(line + fmt::format("; {} of {} wavefront tiles {}", command.done, command.arrivals(),
                                       command.kind == Kind::notify ? "are final" : "have arrived"));
  }
  return lines;
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
