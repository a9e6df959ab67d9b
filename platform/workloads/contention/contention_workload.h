// GEMMs beside a kernel that keeps memory busy.
#pragma once

#include "t3/workloads/contention.h"
#include "workloads/gemm/gemm_workload.h"

namespace t3vp {

class ContentionWorkload : public GemmWorkload {
 public:
  explicit ContentionWorkload(const Document& run);

  nlohmann::json resolved() const override;
  bool separates_communication(const std::string&) const override { return false; }
  std::shared_ptr<Workload> unnamed() const override;
  std::uint32_t gpus(const Document& run, bool may_be_alone) const override;
  bool is_of_one_gpu() const override { return true; }
  Operands operands(const Document& run) const override;
  void complete(const Document& run, const Document& system, const RunSettings& settings) override;
  std::vector<CollectiveUse> collective_uses(const RunSettings&) const override { return {}; }
  void check_links(const Document&, const RunSettings&, bool) const override {}
  void check(const Document& run, const Document& system, const RunSettings& settings) const override;
  std::optional<std::uint32_t> updates(const RunSettings&) const override { return {}; }

  PackedWorkload packed_for(const RunSettings& settings) const override;
  std::vector<Buffer> buffers(const RunSettings& settings, std::uint32_t gpu) const override;
  double least_link_ns(const RunSettings&) const override { return 0; }
  std::optional<double> expected_workgroups(const RunSettings&) const override { return {}; }
  double weight(const RunSettings& settings) const override;

 protected:
  std::vector<t3_collective_op> collectives_of(const RunSettings&) const override { return {}; }

 private:
  t3_stream stream_{};
};

}  // namespace t3vp
