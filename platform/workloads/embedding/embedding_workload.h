// Embedding tables on each GPU whose rows are pooled and exchanged, alone or in a training pass of a recommendation
// model (DLRM).
#pragma once

#include <optional>

#include "workloads/embedding/dlrm_layout.h"
#include "workloads/embedding/pooling_turns.h"
#include "workloads/embedding_arguments.h"
#include "workloads/workload.h"

namespace t3vp {

class EmbeddingWorkload : public Workload {
 public:
  explicit EmbeddingWorkload(const Document& run);

  nlohmann::json resolved() const override;
  std::shared_ptr<Workload> unnamed() const override;
  std::string usual_program(const std::string& method) const override;
  bool separates_communication(const std::string& method) const override;
  std::uint32_t gpus(const Document& run, bool may_be_alone) const override;
  Operands operands(const Document& run) const override;
  void complete(const Document& run, const Document& system, const RunSettings& settings) override;
  std::vector<CollectiveUse> collective_uses(const RunSettings& settings) const override;
  void check_links(const Document& system, const RunSettings& settings, bool join_all) const override;
  LargestStore largest_store(const RunSettings& settings) const override;
  void check(const Document& run, const Document& system, const RunSettings& settings) const override;
  ElementType element() const override { return static_cast<ElementType>(embedding_.element); }

  PackedWorkload packed_for(const RunSettings& settings) const override;
  std::vector<Buffer> buffers(const RunSettings& settings, std::uint32_t gpu) const override;

  LowerBounds lower_bounds(const RunSettings& settings, std::uint32_t gpu,
                           const GpuParameters& parameters) const override;
  double least_link_ns(const RunSettings& settings) const override;
  bool reports_ends() const override { return true; }
  HostNeed host_need(const RunSettings& settings) const override;
  double weight(const RunSettings& settings) const override;

 private:
  std::string shape_text() const;
  void read_perceptrons(const Document& run);
  void complete_perceptrons(const RunSettings& settings);
  std::uint32_t persistent_workgroups(const Document& run, const RunSettings& settings) const;
  std::uint32_t worthwhile_workgroups(std::uint32_t fit, const RunSettings& settings) const;
  PoolingTimes pooling_times(const RunSettings& settings) const;
  void check_contexts(const Document& run, const RunSettings& settings) const;
  void check_pass(const Document& run, const Document& system, const RunSettings& settings) const;
  void check_mirrored(const Document& run, const RunSettings& settings) const;
  void add_pass(const RunSettings& settings, std::vector<Buffer>& buffers) const;
  double least_fabric_ns(const RunSettings& settings) const;
  double least_nic_ns(const RunSettings& settings) const;

  t3_embedding embedding_{};
  std::optional<t3_dlrm> dlrm_;  ///< a training pass
  EmbeddingSettings given_;
  DlrmSettings given_mlp_;
};

/// Whether tables are pooled and exchanged in one persistent kernel.
bool pools_fused(const std::string& method);

}  // namespace t3vp
