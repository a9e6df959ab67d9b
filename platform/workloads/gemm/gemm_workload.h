// One sub-layer: a GEMM on every GPU, of whose outputs a reduce-scatter and an all-gather, or what else fused methods
// make of them, make one.
#pragma once

#include <utility>
#include <vector>

#include "t3/collective.h"
#include "t3/workloads/gemm.h"
#include "workloads/gemm/fused_kind.h"
#include "workloads/shared/gemm_shape.h"
#include "workloads/workload.h"

namespace t3vp {

class ExpectedOutput;

class GemmWorkload : public Workload {
 public:
  explicit GemmWorkload(const Document& run);

  nlohmann::json resolved() const override;
  bool separates_communication(const std::string&) const override { return true; }
  std::shared_ptr<Workload> unnamed() const override;
  std::optional<IsolatedRuns> isolated_runs(const RunSettings& settings) const override;
  std::uint32_t gpus(const Document& run, bool may_be_alone) const override;
  void complete(const Document& run, const Document& system, const RunSettings& settings) override;
  void choose(const Document& run, const RunSettings& settings) override;
  std::string collectives_algorithm() const override;
  std::vector<CollectiveUse> collective_uses(const RunSettings& settings) const override;
  void check_links(const Document& system, const RunSettings& settings, bool join_all) const override;
  void check(const Document& run, const Document& system, const RunSettings& settings) const override;
  ElementType element() const override { return gemm_.element; }
  ElementType largest_element() const override { return gemm_.element; }
  bool rounds_sums() const override { return true; }
  std::optional<std::uint32_t> updates(const RunSettings& settings) const override;

  PackedWorkload packed_for(const RunSettings& settings) const override;
  std::vector<Buffer> buffers(const RunSettings& settings, std::uint32_t gpu) const override;

  LowerBounds lower_bounds(const RunSettings& settings, std::uint32_t gpu,
                           const GpuParameters& parameters) const override;
  double least_link_ns(const RunSettings& settings) const override;
  std::optional<double> expected_workgroups(const RunSettings& settings) const override;
  TileGrid mirrored_chunks(const RunSettings& settings) const override;
  HostNeed host_need(const RunSettings& settings) const override;
  double weight(const RunSettings& settings) const override;

 protected:
  /// A room that builds on this one and has the same keys.
  GemmWorkload(const Document& run, const char* room);

  const GemmShape& shape() const { return gemm_; }
  TileGrid grid(const RunSettings& settings) const;
  /// Returns what the platform's programs know of the GEMM and the collective behind it.
  t3_gemm_workload firmware_arguments(const RunSettings& settings) const;
  t3_collective_algorithm algorithm() const { return algorithm_; }
  /// The collectives over links that end the method, in their order.
  virtual std::vector<t3_collective_op> collectives_of(const RunSettings& settings) const;
  /// The output with what lies between its rows, as collective kernels take it.
  t3_collective flat_collective(const RunSettings& settings) const;
  /// Clears the names of model and sub-layer, for unnamed().
  void forget_names();
  /// Refuses more tiles than have numbers, or fewer than there are GPUs.
  void check_tiles(const Document& run, const RunSettings& settings) const;
  /// `out` of a GPU with the sums that it should have.
  Buffer output(const RunSettings& settings, std::uint32_t gpu) const;

 private:
  /// Entries of a GPU's tables: chunks that leave by remote_map, that are counted, that are sent or announced.
  struct Entries {
    std::uint32_t stored, counted, sent;
  };

  void read_sublayer(const Document& run);
  std::string shape_text() const;
  t3_gemm_workload arguments() const;
  bool is_fused(const RunSettings& settings) const;
  bool is_hierarchical() const { return fused_ == T3_FUSED_HIERARCHICAL_REDUCE_SCATTER; }
  /// The output stays scattered over the owners of its chunks, with no all-gather behind.
  bool is_scattered() const { return by_nic_; }
  std::uint32_t chunk_of(std::uint32_t gpu, std::uint32_t gpus) const;
  /// Accesses of an element after which a tile that a GPU owns is complete.
  std::uint32_t updates_of(std::uint32_t gpus) const;
  std::string unfit_for(const RunSettings& settings, t3_collective_algorithm algorithm) const;
  std::uint64_t counted_workgroups(const RunSettings& settings) const;
  void expect(const RunSettings& settings);

  void check_mirror(const Document& run, const RunSettings& settings) const;
  void check_fused(const Document& run, const RunSettings& settings) const;
  void check_following(const Document& run, const RunSettings& settings) const;
  void check_kernel(const Document& run, const RunSettings& settings) const;
  void check_split(const Document& run, const RunSettings& settings) const;
  Entries entries(std::uint32_t gpus) const;
  std::uint64_t tracker_ways_needed(const RunSettings& settings) const;
  void check_tables(const Document& run, const Document& system, const RunSettings& settings) const;
  void check_valid_bits(const Document& run, const RunSettings& settings) const;

  std::vector<std::uint64_t> owned_bytes(const RunSettings& settings) const;
  double least_nic_ns(const RunSettings& settings) const;

  GemmShape gemm_;  ///< of each GPU
  t3_fused_kind fused_ = T3_FUSED_RING_REDUCE_SCATTER;
  std::uint32_t split_k_ = 1;                                             ///< workgroups of a tile
  std::uint32_t group_ = 1, stages_ = 0, step_ns_ = 0, store_bytes_ = 0;  ///< of the kernel, as the run file has them
  std::uint32_t persistent_workgroups_ = 0;
  bool group_columns_ = false;
  t3_gemm_cache cache_ = T3_CACHE_CLEAN;
  t3_gemm_following following_ = T3_FOLLOWING_NONE;
  std::string model_, sublayer_;  ///< empty, and tp and tokens 0, without a model
  std::uint32_t tp_ = 0, tokens_ = 0;
  std::uint32_t gpus_per_node_ = 0;  ///< GPUs that links join inside a node, or all
  bool by_nic_ = false;              ///< NICs, and no links, join the nodes
  /// The collectives over links: their operations (t3_collective_op), and their algorithm.
  std::vector<t3_collective_op> collectives_;
  t3_collective_algorithm algorithm_ = T3_RING;
  std::shared_ptr<ExpectedOutput> expected_;  ///< of all GPUs
};

}  // namespace t3vp
