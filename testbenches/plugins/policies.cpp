// A library of policies, or one that is wrong in the way that a macro says.
#include <stdexcept>

#include "memory/policy_plugin.h"

namespace {

using namespace t3vp::memory;

/// Alternates, as round-robin does.
class Turns : public ChannelPolicy {
 public:
  Grant choose(const ArbitrationView& view, t3vp::dram::Cycle&) override {
    const bool compute = last_ == Grant::compute ? !view.communication.ready : view.compute.ready;
    last_ = compute ? Grant::compute : Grant::communication;
    return last_;
  }

 private:
  Grant last_ = Grant::communication;
};

/// Communication goes first for so many accesses of each 256 as the parameter says.
class Shares : public ChannelPolicy {
 public:
  explicit Shares(unsigned share) : share_(share) {}
  Grant choose(const ArbitrationView& view, t3vp::dram::Cycle&) override {
    const bool prefers_compute = ++number_ % 256 >= share_;
    const bool compute = view.compute.ready && (prefers_compute || !view.communication.ready);
    return compute ? Grant::compute : Grant::communication;
  }

 private:
  unsigned share_, number_ = 0;
};

class ShareOfCommunication : public ArbitrationPolicy {
 public:
  explicit ShareOfCommunication(unsigned share) : share_(share) {}
  static std::unique_ptr<ArbitrationPolicy> make(const PolicySettings& settings) {
    return std::make_unique<ShareOfCommunication>(settings.limit);
  }
  std::unique_ptr<ChannelPolicy> for_channel() override { return std::make_unique<Shares>(share_); }

 private:
  unsigned share_;
};

/// Never grants anything, not even a stream that is alone.
class Stubborn : public ChannelPolicy {
 public:
  Grant choose(const ArbitrationView&, t3vp::dram::Cycle&) override { return Grant::none; }
};

std::unique_ptr<ArbitrationPolicy> fail(const PolicySettings&) { throw std::runtime_error("no policy today"); }

constexpr auto number = PolicyDescription::given_by_platform;
const PolicyDescription turns{"turns", number, "Alternates.", {}, false, &PolicyOfChannels<Turns>::make};
const PolicyDescription shares{
    "shares", number, "A share.", {"of 256 accesses", 1, 254, nullptr, 0}, false, &ShareOfCommunication::make};
const PolicyDescription stubborn{"stubborn", number, "None.", {}, false, &PolicyOfChannels<Stubborn>::make};
const PolicyDescription failing{"failing", number, "Fails.", {}, false, &fail};

#if !defined(ODD_NAME)
#define ODD_NAME "odd"
#endif
#if !defined(ODD_MOST)
#define ODD_MOST 254
#endif
#if !defined(ODD_MAKE)
#define ODD_MAKE &PolicyOfChannels<Turns>::make
#endif
[[maybe_unused]] const PolicyDescription odd{ODD_NAME, number,  "Odd.", {"a number", 1, ODD_MOST, nullptr, 0},
                                             false,    ODD_MAKE};

}  // namespace

#if defined(ODD_BUILD)
T3VP_PLUGIN_TABLE const PolicyTable t3vp_policies;
const PolicyTable t3vp_policies{ODD_BUILD, nullptr, 1};
#elif defined(ODD_EMPTY)
T3VP_PLUGIN_TABLE const PolicyTable t3vp_policies;
const PolicyTable t3vp_policies{policy_build(), nullptr, 0};
#elif defined(ODD)
T3VP_POLICIES(&odd);
#else
T3VP_POLICIES(&turns, &shares, &stubborn, &failing);
#endif
