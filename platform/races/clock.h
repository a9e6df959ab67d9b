// A vector clock: of each agent, how far it has been seen. Agents are numbered, and those of a kernel that has ended
// are one span.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace t3vp::races {

using Agent = std::uint32_t;
using Epoch = std::uint32_t;
inline constexpr Epoch ended = ~Epoch{0};  ///< all that an agent has ever done

class Clock;
using ClockPointer = std::shared_ptr<const Clock>;  ///< null: nothing has been seen

class Clock {
 public:
  struct Span {
    Agent first, last;
    Epoch epoch;
  };

  /// 0: nothing of it has been seen.
  Epoch of(Agent agent) const;
  std::size_t spans() const { return spans_.size(); }

  /// Returns the later of both for each agent.
  static ClockPointer join(const ClockPointer& one, const ClockPointer& other);
  /// Returns the clock with these agents seen up to the epoch, too.
  static ClockPointer with(const ClockPointer& clock, const Span& seen);

 private:
  bool covers(const Span& span) const;
  void append(Agent first, Agent last, Epoch epoch);

  std::vector<Span> spans_;  ///< by agents, without overlaps
};

/// The epoch of an agent in a clock that may be null.
inline Epoch epoch_of(const ClockPointer& clock, Agent agent) { return clock == nullptr ? 0 : clock->of(agent); }

}  // namespace t3vp::races
