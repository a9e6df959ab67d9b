#include "progress/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "progress/barrier_watch.h"
#include "progress/packet_lines.h"
#include "progress/program_activity.h"

namespace t3vp {
namespace {

using Lines = std::vector<std::string>;
using Shortage = memory::Tracker::Shortage;

constexpr std::size_t told_in_full = 2;  // shortages of a GPU

/// A GPU that may send to another one's tile. In mirror mode the one GPU stands for its neighbour, whose tile is one
/// chunk earlier in its own numbering.
struct Peer {
  const Gpu& gpu;
  std::uint32_t number;   ///< of the GPU that it is or stands for
  std::uint32_t wg_id;    ///< of the tile there
  std::uint64_t address;  ///< that it sends to
};

/// One update for each element of a tile.
struct Source {
  const Gpu* gpu = nullptr;  ///< whose compute units or DMA engine it is
  std::string name;
  bool local = false;
  bool waits = false;          ///< for updates of its own tile
  bool ended = false;          ///< nothing more will come from it
  std::uint64_t sent = 0;      ///< elements that have left it and are not acknowledged
  std::uint64_t in_cache = 0;  ///< elements that it has stored in its cache
};

bool is_short(const Gpu& gpu, std::uint32_t wg_id) {
  const std::vector<Shortage> shortages = gpu.memory.tracker.shortages();
  return std::any_of(shortages.begin(), shortages.end(),
                     [wg_id](const Shortage& s) { return wg_id - s.range.first < s.range.count; });
}

std::vector<Peer> peers_of(const RunConfiguration& configuration, const Node& node, const Gpu& gpu,
                           const Shortage& shortage) {
  std::vector<Peer> peers;
  if (configuration.mirror) {
    const TileGrid& grid = shortage.range.grid;
    const std::uint32_t tiles = grid.workgroups();
    const std::uint32_t there = (shortage.wg_id + tiles - tiles / configuration.gpus) % tiles;
    const std::uint64_t base = address_map::local_of(shortage.range.base);
    const std::uint64_t address = base + grid.offset(grid.wavefront_tile(there, shortage.wf_id));
    peers.push_back({gpu, 1, there, address_map::on_gpu(configuration.gpus - 1, address)});
    return peers;
  }
  for (const auto& other : node.gpus())
    if (other.get() != &gpu) peers.push_back({*other, other->processor.gpu(), shortage.wg_id, shortage.address});
  return peers;
}

/// The kernel that stores the tile with this address of its own GPU, if one ever has.
Source kernel_of(const Gpu& gpu, std::uint32_t number, std::uint64_t address) {
  Source source;
  source.gpu = &gpu;
  const std::string writer = gpu.compute.writer_of(address);
  source.name = fmt::format("GPU {}'s kernel{}", number, writer.empty() ? "" : " " + writer);
  source.ended = gpu.compute.has_written(address) && !gpu.compute.may_write(address);
  return source;
}

/// Whether the GPU's own kernel gives the tile something as well. Where none has come so far, it does if peers do not
/// give all.
bool is_stored_here(const Gpu& gpu, const Shortage& shortage, std::size_t peers) {
  if (gpu.output_map.maps(shortage.wg_id, shortage.address)) return false;
  return gpu.compute.has_written(shortage.address) || gpu.compute.may_write(shortage.address) ||
         peers < shortage.updates;
}

/// Returns the sources that the programs have set up for the shortage's tile.
std::vector<Source> sources_of(const RunConfiguration& configuration, const Node& node, Gpu& gpu,
                               const Shortage& shortage) {
  std::vector<Source> sources;
  const TileGrid& grid = shortage.range.grid;
  const std::uint32_t element_bytes = bytes_of(grid.element);
  for (const Peer& peer : peers_of(configuration, node, gpu, shortage)) {
    const std::uint64_t sent =
        peer.gpu.fabric.unacknowledged_bytes(peer.wg_id, shortage.wf_id, peer.address) / element_bytes;
    if (const auto sender = peer.gpu.output_map.sender_of(peer.wg_id, peer.address)) {
      sources.push_back(kernel_of(peer.gpu, peer.number, *sender));
      sources.back().sent = sent;
    }
    if (peer.gpu.dma.sends_to(peer.wg_id, peer.address)) {
      Source source;
      source.gpu = &peer.gpu;
      source.ended = peer.gpu.dma.has_sent_to(peer.wg_id, peer.address);
      source.name = fmt::format("GPU {}'s DMA", peer.number);
      source.waits = is_short(peer.gpu, peer.wg_id);
      source.sent = sent;
      sources.push_back(source);
    }
  }
  if (is_stored_here(gpu, shortage, sources.size())) {
    sources.insert(sources.begin(), kernel_of(gpu, gpu.processor.gpu(), shortage.address));
    sources.front().local = true;
    const Shape tile = grid.shape(grid.wavefront_tile(shortage.wg_id, shortage.wf_id));
    sources.front().in_cache = gpu.cache.dirty_bytes(shortage.address, tile) / element_bytes;
  }
  return sources;
}

/// Maps of peers that have sent to the shortage's tile and have been removed, perhaps before this one was there.
Lines former_maps_of(const RunConfiguration& configuration, const Node& node, const Gpu& gpu,
                     const Shortage& shortage) {
  Lines former;
  const auto note = [&](const FormerMaps& maps, const Peer& peer, const char* name) {
    if (const auto last = maps.last_sent(peer.wg_id, peer.address))
      former.push_back(
          fmt::format("GPU {}'s {} sent to it until {:.3f} ns and has been removed", peer.number, name, to_ns(*last)));
  };
  for (const Peer& peer : peers_of(configuration, node, gpu, shortage)) {
    note(peer.gpu.output_map.former_maps(), peer, "remote_map");
    note(peer.gpu.dma.former_maps(), peer, "dma_map");
  }
  return former;
}

std::string ordinal(std::uint32_t number) {
  constexpr const char* names[] = {"first", "second", "third", "fourth"};
  return number >= 1 && number <= 4 ? names[number - 1] : fmt::format("{}th", number);
}

/// A shortage with what the programs have arranged for it.
class Explanation {
 public:
  Explanation(std::uint32_t gpu, const Shortage& shortage, std::vector<Source> sources, Lines former)
      : gpu_(gpu), shortage_(shortage), sources_(std::move(sources)), former_(std::move(former)) {}

  /// Returns whether nothing in flight elsewhere would end the shortage.
  bool is_cause() const {
    return std::none_of(sources_.begin(), sources_.end(),
                        [this](const Source& source) { return source.waits && owes(source); });
  }

  /// Whether the sources of this kind are on other GPUs and have not given all.
  template <typename Predicate>
  bool is_owed_by(Predicate predicate) const {
    return std::any_of(sources_.begin(), sources_.end(), [&](const Source& source) {
      return !source.local && !source.ended && owes(source) && predicate(*source.gpu);
    });
  }

  /// Something of it has come.
  bool has_counted() const { return shortage_.local + shortage_.incoming != 0; }

  std::string text() const {
    const Shortage& s = shortage_;
    return fmt::format(
        "GPU {} Tracker: workgroups {} to {}: {} of {} wavefront tiles complete. Workgroup {} wavefront {} at {:#x} "
        "has {} "
        "element updates and expects {}, {} per element: {}. {}",
        gpu_, s.range.first, s.range.first + s.range.count - 1, s.complete, s.tiles, s.wg_id, s.wf_id, s.address,
        s.tile_local + s.tile_incoming, s.tile_elements * s.updates, s.updates, contributions(), debts());
  }

 private:
  std::uint64_t given(const Source& source) const {
    if (source.local) return shortage_.tile_local;
    if (peers() < 2) return shortage_.tile_incoming;
    const std::size_t gpu = source.gpu->processor.gpu();
    return gpu < shortage_.tile_given.size() ? shortage_.tile_given[gpu] : 0;
  }
  std::ptrdiff_t peers() const {
    return std::count_if(sources_.begin(), sources_.end(), [](const Source& source) { return !source.local; });
  }
  bool owes(const Source& source) const { return given(source) < shortage_.tile_elements; }

  std::string contributions() const {
    std::string text;
    for (const Source& source : sources_)
      text += fmt::format("{}{} from {}", text.empty() ? "" : ", ", given(source), source.name);
    return text.empty() ? "nobody sends any" : text;
  }

  /// Returns what the source still owes. Accesses that have left it, or were not counted where they ended, are not
  /// owed.
  std::string debt(const Source& source) const {
    std::string text;
    std::uint64_t left = shortage_.tile_elements - given(source);
    const auto excused = [&](std::uint64_t elements, const char* why) {
      elements = std::min(elements, left);
      left -= elements;
      if (elements != 0) text += fmt::format("{} of {} {}; ", elements, source.name, why);
    };
    excused(source.in_cache, "are in its cache");
    excused(source.sent, "have been sent and are not acknowledged");
    if (source.ended)
      excused(left,
              "have not been counted, and it has ended: sent before the chunk was mapped, refused, stored plainly, or "
              "without their tile's name");
    if (left != 0)
      text += fmt::format("{} owes {}{}; ", source.name, left,
                          source.waits ? " and waits for updates of its own tile" : "");
    return text;
  }

  std::string debts() const {
    std::string text;
    for (const Source& source : sources_)
      if (owes(source)) text += debt(source);
    const auto arranged = static_cast<std::uint32_t>(sources_.size());
    if (arranged >= shortage_.updates) return text.substr(0, text.empty() ? 0 : text.size() - 2);
    const std::string missing = arranged + 1 == shortage_.updates
                                    ? fmt::format("the {} update", ordinal(shortage_.updates))
                                    : fmt::format("the other {} updates", shortage_.updates - arranged);
    if (former_.empty()) return (text.empty() ? "Nobody owes the rest: " : text) + "no program sends " + missing;
    text += fmt::format("{} map sends {} any more: ", text.empty() ? "No" : "no", missing);
    for (const std::string& map : former_) text += map + ", ";
    return text + fmt::format("this chunk was mapped at {:.3f} ns", to_ns(shortage_.mapped_at));
  }

  std::uint32_t gpu_;
  Shortage shortage_;
  std::vector<Source> sources_;
  Lines former_;  ///< removed maps that have sent to the tile
};

std::vector<Explanation> explanations_of(const RunConfiguration& configuration, const Node& node, Gpu& gpu) {
  std::vector<Explanation> explanations;
  for (const Shortage& shortage : gpu.memory.tracker.shortages())
    explanations.emplace_back(gpu.processor.gpu(), shortage, sources_of(configuration, node, gpu, shortage),
                              former_maps_of(configuration, node, gpu, shortage));
  return explanations;
}

Lines tracker_lines(const RunConfiguration& configuration, const Node& node, Gpu& gpu) {
  std::vector<Explanation> explanations = explanations_of(configuration, node, gpu);
  std::stable_partition(explanations.begin(), explanations.end(), [](const Explanation& e) { return e.is_cause(); });
  Lines lines;
  for (const Explanation& explanation : explanations) {
    if (lines.size() == told_in_full) break;
    lines.push_back(explanation.text());
  }
  if (const std::size_t left = explanations.size() - lines.size(); left != 0)
    lines.push_back(fmt::format("GPU {} Tracker: {} more mapped {} short", gpu.processor.gpu(), left,
                                left == 1 ? "chunk is" : "chunks are"));
  return lines;
}

/// The first line of many that say the same.
void append_first(const Lines& more, Lines& lines) {
  if (more.empty()) return;
  lines.push_back(more.size() == 1 ? more[0] : fmt::format("{} (and {} more)", more[0], more.size() - 1));
}

Lines lines_of(const RunConfiguration& configuration, const Node& node, Gpu& gpu) {
  Lines lines;
  if (const std::string text = activity_of(gpu); !text.empty()) lines.push_back(text + ended_before(node, gpu));
  const Lines shortages = tracker_lines(configuration, node, gpu);
  lines.insert(lines.end(), shortages.begin(), shortages.end());
  if (shortages.empty()) append_first(gpu.dma.diagnosis(), lines);  // otherwise it waits for the Tracker
  append_first(gpu.compute.diagnosis(), lines);
  append_first(gpu.signals.diagnosis(), lines);
  append_first(gpu.signals.untaken(), lines);
  const Component* const told[] = {&gpu.memory.tracker, &gpu.dma, &gpu.compute, &gpu.signals, &gpu.fabric};
  for (const Component* component : gpu.components())
    if (std::find(std::begin(told), std::end(told), component) == std::end(told))
      append_first(component->diagnosis(), lines);
  return lines;
}

/// Something that other GPUs' programs have not done yet could end the program's wait.
bool may_wait_for_others(const RunConfiguration& configuration, const Node& node, Gpu& gpu) {
  const auto goes_on = [&gpu](const Gpu& other) { return &other != &gpu && other.processor.awaits_interrupt(); };
  const auto& gpus = node.gpus();
  if (std::none_of(gpus.begin(), gpus.end(), [&](const auto& other) { return goes_on(*other); })) return false;
  const bool for_signals = (gpu.interrupts.enable.value() & address_map::bit_of(address_map::Line::signals)) != 0;
  if (for_signals || !gpu.signals.diagnosis().empty()) return true;
  const std::vector<Explanation> explanations = explanations_of(configuration, node, gpu);
  return std::any_of(explanations.begin(), explanations.end(),
                     [&](const Explanation& explanation) { return explanation.is_owed_by(goes_on); });
}

}  // namespace

std::vector<std::string> diagnosis(const RunConfiguration& configuration, const Node& node) {
  Lines lines;
  for (const auto& gpu : node.gpus()) {
    if (gpu->processor.finished()) continue;
    const Lines more = lines_of(configuration, node, *gpu);
    lines.insert(lines.end(), more.begin(), more.end());
  }
  if (lines.empty()) return lines;
  const Lines packets = packet_lines(node);
  lines.insert(lines.end(), packets.begin(), packets.end());
  return lines;
}

void append_left_behind(const RunConfiguration& configuration, const Node& node, Lines& lines) {
  for (const auto& gpu : node.gpus()) {
    const Status status = gpu->processor.status();
    const bool has_given_up = status == Status::timeout || status == Status::aborted;
    if (!gpu->processor.finished() || (status != Status::ok && !has_given_up)) continue;
    append_first(gpu->compute.diagnosis(), lines);
    append_first(gpu->signals.diagnosis(), lines);
    if (has_given_up) continue;  // the rest follows from that
    append_first(gpu->signals.untaken(), lines);
    Lines begun;
    for (const Explanation& explanation : explanations_of(configuration, node, *gpu))
      if (explanation.has_counted()) begun.push_back(explanation.text());
    append_first(begun, lines);
  }
}

/// Programs that could wait for another GPU's program go last: the next actions of the others may be what they wait
/// for. A program that waits again and again after each notification does not keep the others from their turn.
processor::Processor* next_to_give_up(const RunConfiguration& configuration, const Node& node,
                                      const std::vector<std::uint32_t>& told) {
  constexpr std::uint32_t in_a_row = 16;
  processor::Processor* next = nullptr;
  std::pair<std::uint32_t, bool> lowest;
  for (std::size_t g = 0; g < told.size(); ++g) {
    Gpu& gpu = *node.gpus()[g];
    if (!gpu.processor.awaits_interrupt()) continue;
    const std::pair rank{told[g] / in_a_row, may_wait_for_others(configuration, node, gpu)};
    if (next != nullptr && lowest <= rank) continue;
    next = &gpu.processor;
    lowest = rank;
  }
  return next;
}

std::string broken_rules(const Node& node) {
  std::uint64_t count = 0;
  const Violation* first = nullptr;
  for (const Violations* violations : node.violations()) {
    count += violations->count();
    if (first == nullptr && violations->count() != 0) first = &violations->list().front();
  }
  if (first == nullptr) return {};
  return fmt::format("{} violation{} of the protocol, the first: {}", count, count == 1 ? "" : "s", first->text());
}

namespace {

/// Lines about the first accesses that a checker has found.
class Findings {
 public:
  explicit Findings(const char* check) : check_(check) {}

  void add(const Violations& violations) {
    count_ += violations.count();
    for (const Violation& violation : violations.list())
      if (lines_.size() < shown) lines_.push_back(fmt::format("check {}: {}", check_, violation.text()));
  }
  void append_to(std::vector<std::string>& lines) const {
    lines.insert(lines.end(), lines_.begin(), lines_.end());
    if (count_ > lines_.size()) lines.push_back(fmt::format("check {}: {} such accesses in all", check_, count_));
  }

 private:
  static constexpr std::size_t shown = 5;

  const char* check_;
  std::uint64_t count_ = 0;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> wrong_accesses(const Node& node) {
  Findings memory("memory"), races("races");
  for (const auto& gpu : node.gpus()) memory.add(gpu->memory_violations());
  if (node.races() != nullptr) races.add(*node.races());
  std::vector<std::string> lines;
  memory.append_to(lines);
  races.append_to(lines);
  return lines;
}

}  // namespace t3vp
