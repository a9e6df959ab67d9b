// A layer of experts with routing that is drawn.
#pragma once

#include <memory>

#include "workloads/moe/moe_oracle.h"
#include "workloads/moe_arguments.h"
#include "workloads/shared/gemm_shape.h"
#include "workloads/workload.h"

namespace t3vp {

class MoeWorkload : public Workload {
 public:
  explicit MoeWorkload(const Document& run);

  nlohmann::json resolved() const override;
  bool separates_communication(const std::string& method) const override { return method == "bulk"; }
  std::shared_ptr<Workload> unnamed() const override;
  std::uint32_t gpus(const Document& run, bool may_be_alone) const override;
  Operands operands(const Document& run) const override;
  void complete(const Document& run, const Document& system, const RunSettings& settings) override;
  std::vector<CollectiveUse> collective_uses(const RunSettings& settings) const override;
  void check_links(const Document& system, const RunSettings& settings, bool join_all) const override;
  LargestStore largest_store(const RunSettings& settings) const override;
  void check(const Document& run, const Document& system, const RunSettings& settings) const override;
  ElementType element() const override { return gemm_.element; }
  ElementType largest_element() const override { return gemm_.element; }

  PackedWorkload packed_for(const RunSettings& settings) const override;
  std::vector<Buffer> buffers(const RunSettings& settings, std::uint32_t gpu) const override;

  LowerBounds lower_bounds(const RunSettings& settings, std::uint32_t gpu,
                           const GpuParameters& parameters) const override;
  double least_link_ns(const RunSettings& settings) const override;
  std::vector<WorkStatistic> statistics(const RunSettings& settings) const override;
  bool reports_ends() const override { return true; }
  HostNeed host_need(const RunSettings& settings) const override;
  double weight(const RunSettings& settings) const override;

 private:
  std::string shape_text() const;
  std::uint32_t slots(std::uint32_t tokens) const;
  /// The GEMM's and the kernels' that run at once.
  std::uint32_t resident_workgroups(const RunSettings& settings) const;
  void check_routing(const Document& run, const RunSettings& settings) const;
  void check_maps(const Document& system, const RunSettings& settings) const;
  double least_nic_ns(const RunSettings& settings) const;
  std::uint64_t tiles_of(const MoeRouting& routing, const RunSettings& settings, std::uint32_t gpu) const;
  /// Drawn when it is first asked for.
  const MoeRouting& routing(const RunSettings& settings) const;

  GemmShape gemm_;  ///< of all of a GPU's experts with their mean numbers of tokens
  MoeSettings given_;
  t3_moe moe_{};
  mutable std::shared_ptr<const MoeRouting> routing_;
};

}  // namespace t3vp
