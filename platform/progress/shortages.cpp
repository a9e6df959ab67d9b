#include "progress/shortages.h"

#include <fmt/format.h>

#include <algorithm>

namespace t3vp {
namespace {

using Lines = std::vector<std::string>;
using Shortage = memory::Tracker::Shortage;

/// A shortage of a GPU, and what is known of it there.
struct OwnShortage {
  Shortage shortage;
  bool goes_elsewhere = false;  ///< what the GPU's own kernel stores
  bool is_stored_here = false;  ///< by its own kernel, some time
  UpdateSource kernel;          ///< its own

  template <typename Self>
  static auto fields(Self& self) {
    auto& s = self.shortage;
    return std::tie(s.range, s.updates, s.tiles, s.complete, s.expected, s.local, s.incoming, s.wg_id, s.wf_id,
                    s.address, s.tile_elements, s.tile_local, s.tile_incoming, s.mapped_at, s.tile_given,
                    self.goes_elsewhere, self.is_stored_here, self.kernel);
  }
};

/// What a GPU sends, or has sent, to a shortage of another one.
struct Arranged {
  std::size_t gpu = 0, shortage = 0;  ///< of it
  std::vector<UpdateSource> sources;
  Lines former;  ///< removed maps

  template <typename Self>
  static auto fields(Self& self) {
    return std::tie(self.gpu, self.shortage, self.sources, self.former);
  }
};

/// A GPU that may send to another one's tile. In mirror mode the one GPU stands for its neighbour, whose tile is one
/// chunk earlier in its own numbering.
struct Peer {
  const Gpu& gpu;
  std::uint32_t number;   ///< of the GPU that it is or stands for
  std::uint32_t wg_id;    ///< of the tile there
  std::uint64_t address;  ///< that it sends to
};

Peer peer_of(const RunConfiguration& configuration, const Gpu& gpu, const Shortage& shortage) {
  if (!configuration.mirror) return {gpu, gpu.processor.gpu(), shortage.wg_id, shortage.address};
  const TileGrid& grid = shortage.range.grid;
  const std::uint32_t tiles = grid.workgroups();
  const std::uint32_t there = (shortage.wg_id + tiles - tiles / configuration.gpus) % tiles;
  const std::uint64_t base = address_map::local_of(shortage.range.base);
  const std::uint64_t address = base + grid.offset(grid.wavefront_tile(there, shortage.wf_id));
  return {gpu, 1, there, address_map::on_gpu(configuration.gpus - 1, address)};
}

bool is_short(const Gpu& gpu, std::uint32_t wg_id) {
  const std::vector<Shortage> shortages = gpu.memory.tracker.shortages();
  return std::any_of(shortages.begin(), shortages.end(),
                     [wg_id](const Shortage& s) { return wg_id - s.range.first < s.range.count; });
}

/// The kernel that stores the tile with this address of its own GPU, if one ever has.
UpdateSource kernel_of(const Gpu& gpu, std::uint32_t number, std::uint64_t address) {
  UpdateSource source;
  source.gpu = gpu.processor.gpu();
  const std::string writer = gpu.compute.writer_of(address);
  source.name = fmt::format("GPU {}'s kernel{}", number, writer.empty() ? "" : " " + writer);
  source.ended = gpu.compute.has_written(address) && !gpu.compute.may_write(address);
  return source;
}

std::vector<OwnShortage> own_shortages(Gpu& gpu) {
  std::vector<OwnShortage> own;
  for (Shortage& shortage : gpu.memory.tracker.shortages()) {
    OwnShortage& found = own.emplace_back();
    const std::uint64_t address = shortage.address;
    found.goes_elsewhere = gpu.output_map.maps(shortage.wg_id, address);
    found.is_stored_here = gpu.compute.has_written(address) || gpu.compute.may_write(address);
    found.kernel = kernel_of(gpu, gpu.processor.gpu(), address);
    found.kernel.local = true;
    const TileGrid& grid = shortage.range.grid;
    const Shape tile = grid.shape(grid.wavefront_tile(shortage.wg_id, shortage.wf_id));
    found.kernel.in_cache = gpu.cache.dirty_bytes(address, tile) / bytes_of(grid.element);
    found.shortage = std::move(shortage);
  }
  return own;
}

std::vector<UpdateSource> sources_at(const Peer& peer, const Shortage& shortage) {
  std::vector<UpdateSource> sources;
  const std::uint64_t sent = peer.gpu.fabric.unacknowledged_bytes(peer.wg_id, shortage.wf_id, peer.address) /
                             bytes_of(shortage.range.grid.element);
  if (const auto sender = peer.gpu.output_map.sender_of(peer.wg_id, peer.address)) {
    sources.push_back(kernel_of(peer.gpu, peer.number, *sender));
    sources.back().sent = sent;
  }
  if (peer.gpu.dma.sends_to(peer.wg_id, peer.address)) {
    UpdateSource source;
    source.gpu = peer.gpu.processor.gpu();
    source.ended = peer.gpu.dma.has_sent_to(peer.wg_id, peer.address);
    source.name = fmt::format("GPU {}'s DMA", peer.number);
    source.waits = is_short(peer.gpu, peer.wg_id);
    source.sent = sent;
    sources.push_back(source);
  }
  return sources;
}

/// Maps of the peer that have sent to the shortage's tile and have been removed, perhaps before this one was there.
Lines former_maps_at(const Peer& peer) {
  Lines former;
  const auto note = [&](const FormerMaps& maps, const char* name) {
    if (const auto last = maps.last_sent(peer.wg_id, peer.address))
      former.push_back(
          fmt::format("GPU {}'s {} sent to it until {:.3f} ns and has been removed", peer.number, name, to_ns(*last)));
  };
  note(peer.gpu.output_map.former_maps(), "remote_map");
  note(peer.gpu.dma.former_maps(), "dma_map");
  return former;
}

using Shortages = std::vector<std::vector<OwnShortage>>;  // by GPU

std::vector<Arranged> arranged_by(const RunConfiguration& configuration, const Gpu& gpu, const Shortages& all) {
  std::vector<Arranged> arranged;
  for (std::size_t g = 0; g < all.size(); ++g) {
    if (!configuration.mirror && g == gpu.processor.gpu()) continue;
    for (std::size_t i = 0; i < all[g].size(); ++i) {
      const Peer peer = peer_of(configuration, gpu, all[g][i].shortage);
      Arranged by_peer{g, i, sources_at(peer, all[g][i].shortage), former_maps_at(peer)};
      if (!by_peer.sources.empty() || !by_peer.former.empty()) arranged.push_back(std::move(by_peer));
    }
  }
  return arranged;
}

/// Whether the GPU's own kernel gives the tile something as well. Where none has come so far, it does if peers do not
/// give all.
bool gives_something(const OwnShortage& own, std::size_t peers) {
  return !own.goes_elsewhere && (own.is_stored_here || peers < own.shortage.updates);
}

std::string ordinal(std::uint32_t number) {
  constexpr const char* names[] = {"first", "second", "third", "fourth"};
  return number >= 1 && number <= 4 ? names[number - 1] : fmt::format("{}th", number);
}

}  // namespace

bool Explanation::is_cause() const {
  return std::none_of(sources_.begin(), sources_.end(),
                      [this](const UpdateSource& source) { return source.waits && owes(source); });
}

bool Explanation::is_owed_by(const std::function<bool(std::size_t gpu)>& predicate) const {
  return std::any_of(sources_.begin(), sources_.end(), [&](const UpdateSource& source) {
    return !source.local && !source.ended && owes(source) && predicate(source.gpu);
  });
}

std::string Explanation::text() const {
  const Shortage& s = shortage_;
  return fmt::format(
      "GPU {} Tracker: workgroups {} to {}: {} of {} wavefront tiles complete. Workgroup {} wavefront {} at {:#x} "
      "has {} "
      "element updates and expects {}, {} per element: {}. {}",
      gpu_, s.range.first, s.range.first + s.range.count - 1, s.complete, s.tiles, s.wg_id, s.wf_id, s.address,
      s.tile_local + s.tile_incoming, s.tile_elements * s.updates, s.updates, contributions(), debts());
}

std::uint64_t Explanation::given(const UpdateSource& source) const {
  if (source.local) return shortage_.tile_local;
  if (peers() < 2) return shortage_.tile_incoming;
  return source.gpu < shortage_.tile_given.size() ? shortage_.tile_given[source.gpu] : 0;
}

std::ptrdiff_t Explanation::peers() const {
  return std::count_if(sources_.begin(), sources_.end(), [](const UpdateSource& source) { return !source.local; });
}

std::string Explanation::contributions() const {
  std::string text;
  for (const UpdateSource& source : sources_)
    text += fmt::format("{}{} from {}", text.empty() ? "" : ", ", given(source), source.name);
  return text.empty() ? "nobody sends any" : text;
}

/// Returns what the source still owes. Accesses that have left it, or were not counted where they ended, are not
/// owed.
std::string Explanation::debt(const UpdateSource& source) const {
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
    text +=
        fmt::format("{} owes {}{}; ", source.name, left, source.waits ? " and waits for updates of its own tile" : "");
  return text;
}

std::string Explanation::debts() const {
  std::string text;
  for (const UpdateSource& source : sources_)
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

std::vector<std::vector<Explanation>> explanations_of(const RunConfiguration& configuration, const AllGpus& all) {
  const Shortages own = all.ask([](Gpu& gpu) { return own_shortages(gpu); });
  const auto arranged = all.ask([&](const Gpu& gpu) { return arranged_by(configuration, gpu, own); });
  std::vector<std::vector<Arranged>> of_all(own.size());  // for each GPU's shortages
  for (std::size_t g = 0; g < own.size(); ++g) of_all[g].resize(own[g].size());
  for (const std::vector<Arranged>& by_gpu : arranged)
    for (const Arranged& some : by_gpu) {
      Arranged& found = of_all[some.gpu][some.shortage];
      found.sources.insert(found.sources.end(), some.sources.begin(), some.sources.end());
      found.former.insert(found.former.end(), some.former.begin(), some.former.end());
    }
  std::vector<std::vector<Explanation>> explanations(own.size());
  for (std::size_t g = 0; g < own.size(); ++g)
    for (std::size_t i = 0; i < own[g].size(); ++i) {
      auto& [gpu, shortage, sources, former] = of_all[g][i];
      if (gives_something(own[g][i], sources.size())) sources.insert(sources.begin(), own[g][i].kernel);
      explanations[g].emplace_back(static_cast<std::uint32_t>(g), own[g][i].shortage, std::move(sources),
                                   std::move(former));
    }
  return explanations;
}

}  // namespace t3vp
