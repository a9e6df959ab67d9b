// Selects one of two policies by the occupancy of the DRAM queue in the kernel's first stage. A GEMM that leaves the
// queue half empty waits for single accesses: compute goes first. A GEMM that fills it is limited by the DRAM's rate,
// whichever stream goes first. Held-back communication would only end later, so both streams are served round-robin.
#include "memory/arbitration.h"

namespace t3vp::memory::policies {
namespace {

class Chosen : public ChannelPolicy {
 public:
  explicit Chosen(const bool& compute_first) : compute_first_(compute_first) {}

  Grant choose(const ArbitrationView& view, dram::Cycle&) override {
    const bool is_computes = compute_first_ || last_ != Grant::compute;
    const bool compute = view.compute.ready && (is_computes || !view.communication.ready);
    last_ = compute ? Grant::compute : Grant::communication;
    return last_;
  }

 private:
  const bool& compute_first_;
  Grant last_ = Grant::communication;
};

class Select : public ArbitrationPolicy {
 public:
  explicit Select(const PolicySettings& settings) : limit_(settings.limit != 0 ? settings.limit : half_full) {}

  static std::unique_ptr<ArbitrationPolicy> make(const PolicySettings& settings) {
    return std::make_unique<Select>(settings);
  }
  std::unique_ptr<ChannelPolicy> for_channel() override { return std::make_unique<Chosen>(compute_first_); }

  /// Before the first stage is over nothing is known, and little is communicated.
  void observe(const Observation& observation) override {
    compute_first_ = !observation.first_stage_is_over || observation.first_stage_occupancy < limit_;
  }

  unsigned active_limit() const override { return limit_; }

 private:
  static constexpr unsigned half_full = 32;

  unsigned limit_;
  bool compute_first_ = true;
};

}  // namespace

extern const PolicyDescription select;
const PolicyDescription select{
    "select",
    T3_MEMORY_CONTROLLER_ARBITRATION_POLICY_SELECT,
    "Compute first when the mean occupancy of the DRAM queue in the GEMM's first stage is below a limit; else in turn.",
    {"limit of the occupancy, in 32-byte entries; 32 without it", 1, 254, nullptr, 0},
    true,
    &Select::make};

}  // namespace t3vp::memory::policies
