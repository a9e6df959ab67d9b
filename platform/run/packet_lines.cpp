#include "run/packet_lines.h"

#include <fmt/format.h>

#include <algorithm>

namespace t3vp {
namespace {

using Lines = std::vector<std::string>;
using Links = std::vector<std::unique_ptr<interconnect::Link>>;

constexpr std::size_t packets_told = 16;  // lines of all GPUs and links
constexpr std::size_t gpus_told = 16;     // of a circle

/// How many links before this one begin at the same GPU: its port there; or end at the same GPU: its receiver.
std::uint32_t port_of(const Links& links, std::size_t link) {
  return static_cast<std::uint32_t>(
      std::count_if(links.begin(), links.begin() + static_cast<std::ptrdiff_t>(link),
                    [&](const auto& other) { return other->from() == links[link]->from(); }));
}
std::uint32_t receiver_of(const Links& links, std::size_t link) {
  return static_cast<std::uint32_t>(std::count_if(links.begin(), links.begin() + static_cast<std::ptrdiff_t>(link),
                                                  [&](const auto& other) { return other->to() == links[link]->to(); }));
}

/// For each link those that must send before it can: packets that it has delivered, and whose credits it lacks, wait
/// for them.
std::vector<std::vector<std::size_t>> waits_of(const Node& node) {
  const Links& links = node.links();
  std::vector<std::vector<std::size_t>> waits(links.size());
  for (std::size_t i = 0; i < links.size(); ++i)
    for (std::size_t next = 0; next < links.size() && links[i]->has_waiting(); ++next)
      if (links[next]->has_waiting() && links[next]->from() == links[i]->to() && links[i]->to() < node.gpus().size() &&
          node.gpus()[links[i]->to()]->fabric.passes_on(receiver_of(links, i), port_of(links, next)))
        waits[i].push_back(next);
  return waits;
}

/// Follows links that wait until one comes again. Those that wait for none of them are taken out first, again and
/// again; what is left leads to a circle from everywhere.
std::vector<std::size_t> circle_of(std::vector<std::vector<std::size_t>>& waits) {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto& next : waits) {
      const auto is_free = [&](std::size_t link) { return waits[link].empty(); };
      const auto kept = std::remove_if(next.begin(), next.end(), is_free);
      changed = changed || kept != next.end();
      next.erase(kept, next.end());
    }
  }
  const auto start = std::find_if(waits.begin(), waits.end(), [](const auto& next) { return !next.empty(); });
  if (start == waits.end()) return {};
  std::vector<std::size_t> path{static_cast<std::size_t>(start - waits.begin())};
  for (;;) {
    const std::size_t next = waits[path.back()].front();
    const auto before = std::find(path.begin(), path.end(), next);
    if (before != path.end()) return {before, path.end()};
    path.push_back(next);
  }
}

Lines circles_of(const Node& node) {
  Lines lines;
  auto waits = waits_of(node);
  for (auto circle = circle_of(waits); !circle.empty(); circle = circle_of(waits)) {
    std::string gpus;
    for (std::size_t i = 0; i < std::min(circle.size(), gpus_told); ++i)
      gpus += fmt::format("{}GPU {}", i == 0 ? "" : " to ", node.links()[circle[i]]->from());
    if (circle.size() > gpus_told) gpus += fmt::format(" and {} more", circle.size() - gpus_told);
    lines.push_back(
        fmt::format("{} links wait for each other's credits in a circle, from {} and back to GPU {}: packets for GPUs "
                    "further on fill the receive buffers",
                    circle.size(), gpus, node.links()[circle.front()]->from()));
    for (const std::size_t link : circle) waits[link].clear();
  }
  return lines;
}

}  // namespace

Lines packet_lines(const Node& node) {
  Lines lines = circles_of(node);
  const auto append = [&lines](const Lines& more) { lines.insert(lines.end(), more.begin(), more.end()); };
  for (const auto& gpu : node.gpus()) append(gpu->fabric.diagnosis());
  for (const auto& link : node.links()) append(link->diagnosis());
  if (lines.size() > packets_told) {
    const std::size_t more = lines.size() - packets_told;
    lines.resize(packets_told);
    lines.back() += fmt::format(" (and {} more lines on packets)", more);
  }
  return lines;
}

}  // namespace t3vp
