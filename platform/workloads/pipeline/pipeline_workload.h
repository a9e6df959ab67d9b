// A pipeline of GEMMs, a stage on each GPU.
#pragma once

#include "workloads/pipeline_arguments.h"
#include "workloads/shared/gemm_shape.h"
#include "workloads/workload.h"

namespace t3vp {

class PipelineWorkload : public Workload {
 public:
  explicit PipelineWorkload(const Document& run);

  nlohmann::json resolved() const override;
  std::shared_ptr<Workload> unnamed() const override;
  std::uint32_t gpus(const Document& run, bool may_be_alone) const override;
  Operands operands(const Document& run) const override;
  void complete(const Document& run, const Document& system, const RunSettings& settings) override;
  void check_links(const Document& system, const RunSettings& settings, bool join_all) const override;
  void check(const Document& run, const Document& system, const RunSettings& settings) const override;
  ElementType element() const override { return gemm_.element; }
  ElementType largest_element() const override { return gemm_.element; }

  PackedWorkload packed_for(const RunSettings& settings) const override;
  std::vector<Buffer> buffers(const RunSettings& settings, std::uint32_t gpu) const override;

  LowerBounds lower_bounds(const RunSettings& settings, std::uint32_t gpu,
                           const GpuParameters& parameters) const override;
  bool reports_ends() const override { return true; }
  HostNeed host_need(const RunSettings& settings) const override;
  double weight(const RunSettings& settings) const override;

 private:
  std::string shape_text() const;

  GemmShape gemm_;
  t3_pipeline pipeline_{};
};

}  // namespace t3vp
