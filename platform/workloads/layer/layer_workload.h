// A Transformer layer without its sub-layers that need an all-reduce, on one GPU.
#pragma once

#include "workloads/layer/layer_program.h"
#include "workloads/workload.h"

namespace t3vp {

class LayerWorkload : public Workload {
 public:
  explicit LayerWorkload(const Document& run);

  nlohmann::json resolved() const override;
  std::shared_ptr<Workload> unnamed() const override;
  std::uint32_t gpus(const Document& run, bool may_be_alone) const override;
  Operands operands(const Document& run) const override;
  bool is_of_one_gpu() const override { return true; }
  void complete(const Document& run, const Document& system, const RunSettings& settings) override;
  void check(const Document& run, const Document& system, const RunSettings& settings) const override;
  ElementType element() const override { return layer_.shape.element; }
  ElementType largest_element() const override { return layer_.shape.element; }

  PackedWorkload packed_for(const RunSettings& settings) const override;
  std::vector<Buffer> buffers(const RunSettings& settings, std::uint32_t gpu) const override;
  std::vector<OperationName> operations() const override;
  std::unique_ptr<OperationChecker> operation_checker(GpuMemory& memory, std::uint64_t seed) const override;

  LowerBounds lower_bounds(const RunSettings& settings, std::uint32_t gpu,
                           const GpuParameters& parameters) const override;
  HostNeed host_need(const RunSettings& settings) const override;
  double weight(const RunSettings& settings) const override;

 private:
  std::string shape_text() const;

  LayerShape layer_;
  std::string model_;
  std::shared_ptr<const LayerProgram> program_;
};

}  // namespace t3vp
