// Communication waits until some of its accesses have gathered, and then goes first until none is left.
#include "memory/policy_plugin.h"

namespace {

using namespace t3vp::memory;

class Patient : public ChannelPolicy {
 public:
  explicit Patient(unsigned limit) : limit_(limit) {}

  Grant choose(const ArbitrationView& view, t3vp::dram::Cycle&) override {
    if (!view.communication.ready) goes_first_ = false;
    if (view.communication.backlog >= limit_) goes_first_ = true;
    const bool compute = view.compute.ready && !(goes_first_ && view.communication.ready);
    return compute ? Grant::compute : Grant::communication;
  }

 private:
  unsigned limit_;
  bool goes_first_ = false;
};

class PatientPolicy : public ArbitrationPolicy {
 public:
  explicit PatientPolicy(const PolicySettings& settings) : limit_(settings.limit != 0 ? settings.limit : 8) {}

  static std::unique_ptr<ArbitrationPolicy> make(const PolicySettings& settings) {
    return std::make_unique<PatientPolicy>(settings);
  }
  std::unique_ptr<ChannelPolicy> for_channel() override { return std::make_unique<Patient>(limit_); }
  unsigned active_limit() const override { return limit_; }

 private:
  unsigned limit_;
};

const PolicyDescription patient{"patient",
                                PolicyDescription::given_by_platform,
                                "Communication gathers a number of accesses, and then goes first.",
                                {"number of accesses, runs of up to 256 bytes; 8 without it", 1, 254, nullptr, 0},
                                true,
                                &PatientPolicy::make};

}  // namespace

T3VP_POLICIES(&patient);
