// The choice of the stream that enters a channel's DRAM queue next: compute or communication (T3 4.5). The policies are
// the files of models/memory/policies. Each has a name and a parameter, observes what it needs and chooses. Plain C++,
// since readers of run files need the names.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dram/channel.h"
#include "memory/controller_parameters.h"
#include "memory/policy_choice.h"
#include "memory/stream_queues.h"
#include "registers/register_description.h"
#include "t3/registers/memory_controller.h"

namespace t3vp::memory {

/// `aged` is communication that the policy would not have let in yet, had it not waited for too long.
enum class Grant : std::uint8_t { none, compute, communication, aged };

inline bool is_communication(Grant grant) { return grant == Grant::communication || grant == Grant::aged; }

/// A stream as a policy sees it: its oldest access, and the number of accesses behind it.
struct StreamView {
  bool ready = false;         ///< the oldest may be issued now
  std::uint64_t backlog = 0;  ///< runs of up to 256 consecutive bytes that wait
  /// The run of the oldest access: its address in the channel, its kind, and its arrival in DRAM cycles, which may lie
  /// ahead. It is null when no access waits.
  const Run* oldest = nullptr;
};

/// The channel as a policy sees it in one DRAM cycle. Times are DRAM cycles.
struct ArbitrationView {
  StreamView compute, communication;
  unsigned occupancy = 0;  ///< 32-byte entries waiting in the DRAM queue
  dram::Cycle now = 0;
  dram::Cycle waiting_since = 0;  ///< since when the communication stream has had a ready access and issued none
  const dram::Channel* channel = nullptr;

  /// The stream's oldest access finds its row open.
  bool row_is_open(const StreamView& stream) const {
    return stream.oldest != nullptr && channel->is_row_open(stream.oldest->address);
  }
};

inline StreamView view_of(StreamQueues& streams, unsigned stream, dram::Cycle now, dram::Cycle& retry) {
  if (!streams.waiting(stream)) return {};
  return {streams.ready(stream, now, retry), streams.backlog(stream), &streams.front(stream)};
}

/// Looks at both streams of a channel in this cycle. `retry` is lowered to the cycle at which one that is not ready may
/// be.
inline ArbitrationView view_of(StreamQueues& streams, const dram::Channel& channel, unsigned occupancy, dram::Cycle now,
                               dram::Cycle& retry) {
  return {view_of(streams, StreamQueues::compute, now, retry),
          view_of(streams, StreamQueues::communication, now, retry),
          occupancy,
          now,
          0,
          &channel};
}

/// The controller's observation of the kernels that it serves. A kernel's first stage runs without communication of its
/// own: its mean occupancy shows how memory-intensive the kernel is (T3 4.5).
struct Observation {
  bool kernel_runs = true;           ///< one whose output is communicated
  bool first_stage_is_over = false;  ///< of the latest such kernel
  double first_stage_occupancy = 0;  ///< entries of the DRAM queue, mean over time and channels; once that is over
};

/// The settings of a policy from registers and parameters.
struct PolicySettings {
  const MemoryParameters& memory;
  unsigned limit = 0;     ///< its parameter, memory_controller.arbitration.limit; 0: what it takes by itself
  dram::Cycle aging = 0;  ///< memory_controller.aging_ps
};

/// A policy at work in one channel.
class ChannelPolicy {
 public:
  virtual ~ChannelPolicy() = default;
  /// The stream to issue from, which is ready; one at least is. When it is none, `retry` is a cycle ahead at which time
  /// alone may change that; without one it is asked again when the DRAM queue's occupancy changes, and the queue must
  /// not be empty. The controller throws std::logic_error at another answer.
  virtual Grant choose(const ArbitrationView& view, dram::Cycle& retry) = 0;
};

/// A policy at work in one controller.
class ArbitrationPolicy {
 public:
  virtual ~ArbitrationPolicy() = default;
  /// For one channel; the policy outlives it.
  virtual std::unique_ptr<ChannelPolicy> for_channel() = 0;
  /// Called at first and whenever the observation has changed.
  virtual void observe(const Observation&) {}
  /// Returns the value of memory_controller.active_limit.
  virtual unsigned active_limit() const { return no_limit; }

  static constexpr unsigned no_limit = 255;
};

/// The parameter behind a policy's name: mca-10.
struct PolicyParameter {
  const char* text = nullptr;  ///< what it is, with its unit; null when the policy has none
  unsigned least = 0, most = 0;
  const char* word = nullptr;  ///< another value by name: mca-unlimited
  unsigned value_of_word = 0;

  /// Whether it may have this value; 0 is none, and what the policy takes by itself.
  bool takes(unsigned value) const;
  /// "0, 1 to 254, or 255": all that it takes.
  std::string values() const;
};

/// The description of a policy, one for each file in models/memory/policies or in a library (policy_plugin.h). Register
/// and firmware know it by its number, run files by its name.
struct PolicyDescription {
  using Number = std::uint32_t;  ///< T3_MEMORY_CONTROLLER_ARBITRATION_POLICY_MCA and its like
  /// The number in the description of a library's policy, to which the platform gives one.
  static constexpr Number given_by_platform = T3_MEMORY_CONTROLLER_ARBITRATION_POLICY_PLUGIN_0;
  const char* name;
  Number number;
  const char* text;
  PolicyParameter parameter;
  bool ends_with_reduce_scatter;  ///< it is for what overlaps with a GEMM: round-robin serves the all-gather
  std::unique_ptr<ArbitrationPolicy> (*make)(const PolicySettings& settings);
};

/// The policies of the platform, by their numbers.
const std::vector<const PolicyDescription*>& known_policies();
/// Throws std::logic_error unless each has a name and a number of its own, with bounds that the register takes. So does
/// known_policies(), before any run.
void require_distinct(const std::vector<const PolicyDescription*>& policies);
/// Throws std::logic_error unless a policy has the number of each value of the register's field, but for those that
/// policies of libraries get.
void require_policies_of(View<EnumerationValue> values, const std::vector<const PolicyDescription*>& policies);

/// Whether a policy may answer so to the view. `policy_retry` is what it has said, `retry` when it will be asked again.
inline bool is_possible(Grant grant, const ArbitrationView& view, dram::Cycle policy_retry, dram::Cycle retry) {
  if (grant == Grant::compute) return view.compute.ready;
  if (is_communication(grant)) return view.communication.ready;
  return policy_retry > view.now && (retry != dram::never_cycle || view.occupancy != 0);
}
/// Throws std::logic_error about an answer that is not possible.
[[noreturn]] void refuse_grant(Grant grant, const PolicyDescription& policy);

/// For policies that observe nothing: a policy that is its channels'.
template <class Channel>
class PolicyOfChannels : public ArbitrationPolicy {
 public:
  static std::unique_ptr<ArbitrationPolicy> make(const PolicySettings&) { return std::make_unique<PolicyOfChannels>(); }
  std::unique_ptr<ChannelPolicy> for_channel() override { return std::make_unique<Channel>(); }
};

}  // namespace t3vp::memory
