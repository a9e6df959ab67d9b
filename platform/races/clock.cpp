#include "races/clock.h"

#include <algorithm>

namespace t3vp::races {
namespace {

bool ends_before(const Clock::Span& span, Agent agent) { return span.last < agent; }

}  // namespace

Epoch Clock::of(Agent agent) const {
  const auto found = std::lower_bound(spans_.begin(), spans_.end(), agent, ends_before);
  return found == spans_.end() || found->first > agent ? 0 : found->epoch;
}

/// Whether one span has as much of all these agents.
bool Clock::covers(const Span& span) const {
  const auto found = std::lower_bound(spans_.begin(), spans_.end(), span.first, ends_before);
  return found != spans_.end() && found->first <= span.first && found->last >= span.last && found->epoch >= span.epoch;
}

/// Neighbours that have been seen equally far are one span.
void Clock::append(Agent first, Agent last, Epoch epoch) {
  if (!spans_.empty() && spans_.back().last + 1 == first && spans_.back().epoch == epoch)
    spans_.back().last = last;
  else
    spans_.push_back({first, last, epoch});
}

ClockPointer Clock::join(const ClockPointer& one, const ClockPointer& other) {
  if (one == other || other == nullptr) return one;
  if (one == nullptr) return other;
  const auto covers_all = [](const Clock& clock, const Clock& part) {
    return std::all_of(part.spans_.begin(), part.spans_.end(), [&](const Span& span) { return clock.covers(span); });
  };
  if (covers_all(*one, *other)) return one;
  if (covers_all(*other, *one)) return other;
  auto joined = std::make_shared<Clock>();
  auto a = one->spans_.begin(), b = other->spans_.begin();
  const auto a_end = one->spans_.end(), b_end = other->spans_.end();
  std::uint64_t next = 0;  // the first agent that is not joined yet
  while (a != a_end || b != b_end) {
    const auto begin_of = [next](auto span, auto end) {
      return span == end ? ~std::uint64_t{0} : std::max<std::uint64_t>(span->first, next);
    };
    const std::uint64_t begin_a = begin_of(a, a_end), begin_b = begin_of(b, b_end);
    const std::uint64_t first = std::min(begin_a, begin_b);
    std::uint64_t last = ~std::uint64_t{0};
    Epoch epoch = 0;
    const auto take = [&](auto& span, auto end, std::uint64_t begin) {
      if (span == end) return;
      if (begin != first) {
        last = std::min(last, begin - 1);
        return;
      }
      last = std::min<std::uint64_t>(last, span->last);
      epoch = std::max(epoch, span->epoch);
    };
    take(a, a_end, begin_a);
    take(b, b_end, begin_b);
    joined->append(static_cast<Agent>(first), static_cast<Agent>(last), epoch);
    next = last + 1;
    if (a != a_end && a->last < next) ++a;
    if (b != b_end && b->last < next) ++b;
  }
  return joined;
}

ClockPointer Clock::with(const ClockPointer& clock, const Span& seen) {
  if (clock != nullptr && clock->covers(seen)) return clock;
  const auto added = std::make_shared<Clock>();
  added->spans_.push_back(seen);
  return join(clock, added);
}

}  // namespace t3vp::races
