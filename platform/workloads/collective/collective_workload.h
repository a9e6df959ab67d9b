// A collective operation alone, on a flat buffer of each GPU.
#pragma once

#include "t3/collective.h"
#include "workloads/collective_arguments.h"
#include "workloads/workload.h"

namespace t3vp {

class CollectiveWorkload : public Workload {
 public:
  explicit CollectiveWorkload(const Document& run);

  nlohmann::json resolved() const override;
  bool separates_communication(const std::string&) const override { return true; }
  std::shared_ptr<Workload> unnamed() const override;
  std::uint32_t gpus(const Document& run, bool may_be_alone) const override;
  Operands operands(const Document& run) const override;
  void choose(const Document& run, const RunSettings& settings) override;
  std::vector<CollectiveUse> collective_uses(const RunSettings& settings) const override;
  void check_links(const Document& system, const RunSettings& settings, bool join_all) const override;
  LargestStore largest_store(const RunSettings& settings) const override;
  void check(const Document& run, const Document& system, const RunSettings& settings) const override;
  ElementType element() const override { return static_cast<ElementType>(collective_.element); }

  PackedWorkload packed_for(const RunSettings& settings) const override;
  std::vector<Buffer> buffers(const RunSettings& settings, std::uint32_t gpu) const override;

  double least_link_ns(const RunSettings& settings) const override;
  HostNeed host_need(const RunSettings& settings) const override;
  double weight(const RunSettings& settings) const override;

 private:
  std::string shape_text() const;
  t3_collective_workload arguments() const;
  void check_mirrored(const Document& run, const RunSettings& settings) const;
  void check_algorithm(const Document& run, const RunSettings& settings) const;

  t3_collective collective_{};
  bool chooses_ = false;  ///< the algorithm, by its estimate
};

}  // namespace t3vp
