// The sub-layer of a gemm by the mechanisms that compete with T3: one method for each.
#pragma once

#include "t3/workloads/rivals.h"
#include "workloads/gemm/gemm_workload.h"

namespace t3vp {

class RivalsWorkload : public GemmWorkload {
 public:
  explicit RivalsWorkload(const Document& run);

  nlohmann::json resolved() const override;
  bool separates_communication(const std::string&) const override { return false; }
  std::shared_ptr<Workload> unnamed() const override;
  Operands operands(const Document& run) const override;
  void complete(const Document& run, const Document& system, const RunSettings& settings) override;
  std::vector<CollectiveUse> collective_uses(const RunSettings& settings) const override;
  void check_links(const Document& system, const RunSettings& settings, bool join_all) const override;
  void check(const Document& run, const Document& system, const RunSettings& settings) const override;
  std::optional<std::uint32_t> updates(const RunSettings&) const override { return {}; }

  PackedWorkload packed_for(const RunSettings& settings) const override;
  std::vector<Buffer> buffers(const RunSettings& settings, std::uint32_t gpu) const override;
  double least_link_ns(const RunSettings& settings) const override;
  std::optional<double> expected_workgroups(const RunSettings&) const override { return {}; }

 protected:
  std::vector<t3_collective_op> collectives_of(const RunSettings& settings) const override;

 private:
  void check_method(const Document& run, const RunSettings& settings) const;
  void check_settings(const Document& run, const RunSettings& settings) const;
  void check_switch(const Document& run, const RunSettings& settings) const;
  void check_endpoint(const Document& run, const Document& system, const RunSettings& settings) const;
  /// Rows of a are gathered, and no outputs are summed.
  static bool gathers_first(const RunSettings& settings);
  std::vector<Buffer> gathered_buffers(const GemmProblem& problem, std::uint32_t gpu) const;
  /// A program of workgroups that send tiles.
  static bool sends_tiles(const RunSettings& settings);
  t3_collective piece_of_collective(const RunSettings& settings, std::uint32_t piece) const;
  /// Buffers that partial sums arrive in, with their flags.
  void add_partials(const RunSettings& settings, std::vector<Buffer>& all) const;

  t3_rival rival_{};
};

}  // namespace t3vp
