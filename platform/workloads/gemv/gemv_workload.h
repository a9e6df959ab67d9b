// A matrix times a vector on each GPU, and the all-reduce of the results.
#pragma once

#include "workloads/gemv/gemv_layout.h"
#include "workloads/workload.h"

namespace t3vp {

class GemvWorkload : public Workload {
 public:
  explicit GemvWorkload(const Document& run);

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
  ElementType element() const override { return static_cast<ElementType>(gemv_.element); }

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

  t3_gemv gemv_{};
};

}  // namespace t3vp
