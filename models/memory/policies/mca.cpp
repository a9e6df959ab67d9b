// T3's memory controller arbitration (T3 4.5, 6.1.3): compute first; communication only into a DRAM queue with room for
// compute to come, unless it has waited too long. How much room depends on how full the kernel's first stage has kept
// the queue. While no kernel runs communication is drained without a limit.
#include <array>

#include "memory/arbitration.h"

namespace t3vp::memory::policies {
namespace {

struct Control {
  unsigned limit = 0;     ///< occupancy below which communication is issued
  dram::Cycle aging = 0;  ///< wait after which it goes first
};

class CommunicationAware : public ChannelPolicy {
 public:
  explicit CommunicationAware(const Control& control) : control_(control) {}

  Grant choose(const ArbitrationView& view, dram::Cycle& retry) override {
    if (!view.compute.ready && view.occupancy < control_.limit) return Grant::communication;
    if (view.communication.ready && view.now >= view.waiting_since + control_.aging) return Grant::aged;
    if (view.compute.ready) return Grant::compute;
    retry = view.waiting_since + control_.aging;
    return Grant::none;
  }

 private:
  const Control& control_;
};

class Mca : public ArbitrationPolicy {
 public:
  explicit Mca(const PolicySettings& settings) : memory_(settings.memory), programmed_(settings.limit) {
    control_.aging = settings.aging;
  }

  static std::unique_ptr<ArbitrationPolicy> make(const PolicySettings& settings) {
    return std::make_unique<Mca>(settings);
  }
  std::unique_ptr<ChannelPolicy> for_channel() override { return std::make_unique<CommunicationAware>(control_); }

  void observe(const Observation& observation) override {
    limit_ = programmed_ != 0                  ? programmed_
             : observation.first_stage_is_over ? limit_by_bands(observation.first_stage_occupancy)
                                               : memory_.mca_default_limit;
    if (!observation.kernel_runs) limit_ = no_limit;
    control_.limit = limit_ == no_limit ? ~0u : limit_;
  }

  unsigned active_limit() const override { return limit_; }

 private:
  /// The fuller the queue, the less room communication gets.
  unsigned limit_by_bands(double occupancy) const {
    constexpr std::array<unsigned, 4> limits{no_limit, 30, 10, 5};
    std::size_t band = 0;
    while (band < memory_.mca_bands.size() && occupancy > memory_.mca_bands[band]) ++band;
    return limits[band];
  }

  const MemoryParameters& memory_;
  unsigned programmed_;
  unsigned limit_ = 0;
  Control control_;
};

}  // namespace

extern const PolicyDescription mca;
const PolicyDescription mca{
    "mca",
    T3_MEMORY_CONTROLLER_ARBITRATION_POLICY_MCA,
    "Compute first; communication below a limit of the DRAM queue's occupancy, or when it has waited for the aging "
    "time. "
    "Without a parameter the limit comes from the first stage's occupancy.",
    {"limit of the occupancy, in 32-byte entries", 1, 254, "unlimited", ArbitrationPolicy::no_limit},
    true,
    &Mca::make};

}  // namespace t3vp::memory::policies
