#include "progress/packet_lines.h"

#include <fmt/format.h>

namespace t3vp {
namespace {

using Lines = std::vector<std::string>;
constexpr std::size_t packets_told = 16;  // lines of all GPUs, links and switches

}  // namespace

Lines packet_lines(const Node& node) {
  Lines lines;
  const auto append = [&lines](const Lines& more) { lines.insert(lines.end(), more.begin(), more.end()); };
  for (const auto& gpu : node.gpus()) append(gpu->fabric.diagnosis());
  for (const auto& link : node.links()) append(link->diagnosis());
  for (const auto& switching : node.switches()) append(switching->diagnosis());
  if (lines.size() > packets_told) {
    const std::size_t more = lines.size() - packets_told;
    lines.resize(packets_told);
    lines.back() += fmt::format(" (and {} more lines on packets)", more);
  }
  return lines;
}

}  // namespace t3vp
