// Mapped chunks that are short of updates, and who owes the rest.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "config/configuration.h"
#include "partition/all_gpus.h"

namespace t3vp {

/// One update for each element of a tile.
struct UpdateSource {
  std::uint32_t gpu = 0;  ///< whose compute units or DMA engine it is
  std::string name;
  bool local = false;
  bool waits = false;          ///< for updates of its own tile
  bool ended = false;          ///< nothing more will come from it
  std::uint64_t sent = 0;      ///< elements that have left it and are not acknowledged
  std::uint64_t in_cache = 0;  ///< elements that it has stored in its cache

  template <typename Self>
  static auto fields(Self& self) {
    return std::tie(self.gpu, self.name, self.local, self.waits, self.ended, self.sent, self.in_cache);
  }
};

/// A shortage with what the programs have arranged for it.
class Explanation {
 public:
  using Shortage = memory::Tracker::Shortage;

  /// `former`: removed maps that have sent to the tile, in words.
  Explanation(std::uint32_t gpu, Shortage shortage, std::vector<UpdateSource> sources, std::vector<std::string> former)
      : gpu_(gpu), shortage_(std::move(shortage)), sources_(std::move(sources)), former_(std::move(former)) {}

  /// Returns whether nothing in flight elsewhere would end the shortage.
  bool is_cause() const;
  /// Whether the sources are on other GPUs, for which the predicate holds, and have not given all.
  bool is_owed_by(const std::function<bool(std::size_t gpu)>& predicate) const;
  /// Something of it has come.
  bool has_counted() const { return shortage_.local + shortage_.incoming != 0; }
  std::string text() const;

 private:
  std::uint64_t given(const UpdateSource& source) const;
  std::ptrdiff_t peers() const;
  bool owes(const UpdateSource& source) const { return given(source) < shortage_.tile_elements; }
  std::string contributions() const;
  std::string debt(const UpdateSource& source) const;
  std::string debts() const;

  std::uint32_t gpu_;
  Shortage shortage_;
  std::vector<UpdateSource> sources_;
  std::vector<std::string> former_;
};

/// Returns the shortages of each GPU, in the order of its Tracker. All ranks call it at the same time.
std::vector<std::vector<Explanation>> explanations_of(const RunConfiguration& configuration, const AllGpus& all);

}  // namespace t3vp
