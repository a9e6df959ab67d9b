#include "config/partition_key.h"

#include <fmt/format.h>

#include <algorithm>

namespace t3vp {
namespace {

using nlohmann::json;

constexpr std::uint32_t nowhere = ~std::uint32_t{0};

std::vector<std::uint32_t> by_rank(const Document& run, const json& lists, std::uint32_t gpus) {
  std::vector<std::uint32_t> rank_of(gpus, nowhere);
  for (std::size_t rank = 0; rank < lists.size(); ++rank)
    for (std::size_t i = 0; i < lists[rank].size(); ++i) {
      const std::string pointer = fmt::format("/partition/{}/{}", rank, i);
      const auto gpu = lists[rank][i].get<std::uint64_t>();
      if (gpu >= gpus) run.reject(pointer, fmt::format("a GPU from 0 to {}", gpus - 1));
      if (rank_of[gpu] != nowhere) run.reject(pointer, fmt::format("each GPU once; rank {} has it", rank_of[gpu]));
      rank_of[gpu] = static_cast<std::uint32_t>(rank);
    }
  const auto missing = std::find(rank_of.begin(), rank_of.end(), nowhere);
  if (missing != rank_of.end())
    run.reject("/partition",
               fmt::format("all GPUs from 0 to {}; none has GPU {}", gpus - 1, missing - rank_of.begin()));
  return rank_of;
}

}  // namespace

std::vector<std::uint32_t> read_partition(const Document& run, std::uint32_t gpus) {
  if (!run.content.contains("partition")) return {};
  const json& given = run.content.at("partition");
  const bool has_lists = given.front().is_array();
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i].is_array() != has_lists)
      run.reject(fmt::format("/partition/{}", i),
                 has_lists ? "a list of GPUs like the first" : "a rank like the first");
  if (has_lists) return by_rank(run, given, gpus);
  if (given.size() != gpus) run.reject("/partition", fmt::format("the rank of each of {} GPUs", gpus));
  const auto rank_of = given.get<std::vector<std::uint32_t>>();
  for (std::uint32_t rank = 0; rank < ranks_of(rank_of); ++rank)
    if (std::find(rank_of.begin(), rank_of.end(), rank) == rank_of.end())
      run.reject("/partition", fmt::format("ranks without a gap; rank {} has no GPU", rank));
  return rank_of;
}

std::uint32_t ranks_of(const std::vector<std::uint32_t>& partition) {
  return partition.empty() ? 0 : *std::max_element(partition.begin(), partition.end()) + 1;
}

}  // namespace t3vp
