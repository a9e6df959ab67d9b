// An all-gather of rows, and the GEMM that consumes them on every GPU.
#pragma once

#include "workloads/gather_gemm/gather_gemm_layout.h"
#include "workloads/gather_gemm_arguments.h"
#include "workloads/shared/gemm_shape.h"
#include "workloads/workload.h"

namespace t3vp {

class GatherGemmWorkload : public Workload {
 public:
  explicit GatherGemmWorkload(const Document& run);

  nlohmann::json resolved() const override;
  bool separates_communication(const std::string& method) const override { return method == "sequential"; }
  std::shared_ptr<Workload> unnamed() const override;
  std::uint32_t gpus(const Document& run, bool may_be_alone) const override;
  Operands operands(const Document& run) const override;
  void complete(const Document& run, const Document& system, const RunSettings& settings) override;
  std::vector<CollectiveUse> collective_uses(const RunSettings& settings) const override;
  void check_links(const Document& system, const RunSettings& settings, bool join_all) const override;
  void check(const Document& run, const Document& system, const RunSettings& settings) const override;
  ElementType element() const override { return gemm_.element; }
  ElementType largest_element() const override { return gemm_.element; }

  PackedWorkload packed_for(const RunSettings& settings) const override;
  std::vector<Buffer> buffers(const RunSettings& settings, std::uint32_t gpu) const override;

  LowerBounds lower_bounds(const RunSettings& settings, std::uint32_t gpu,
                           const GpuParameters& parameters) const override;
  double least_link_ns(const RunSettings& settings) const override;
  HostNeed host_need(const RunSettings& settings) const override;
  double weight(const RunSettings& settings) const override;

 private:
  std::string shape_text() const;
  void check_gates(const Document& run, const Document& system, const RunSettings& settings) const;

  GemmShape gemm_;
  t3_gather_gemm gathered_{};
};

}  // namespace t3vp
