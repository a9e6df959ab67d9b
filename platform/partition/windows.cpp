#include "partition/windows.h"

#include <algorithm>

#include "protocol/recent_values.h"

namespace t3vp {

Windows::Windows(Transport& transport, Boundary& boundary, Announcements& announcements, Picoseconds lookahead)
    : transport_(transport), boundary_(boundary), announcements_(announcements), lookahead_(lookahead) {
  Cause::share_windows(static_cast<std::uint16_t>(transport.rank()));
  window_begin() = now();
}

bool Windows::run_next(const std::function<void(Picoseconds)>& run_until, bool wants_to_stop, Picoseconds limit) {
  const bool announces = announcements_.has_any();
  const Picoseconds next =
      std::min({Boundary::next_event_time(), boundary_.earliest_sent(), announcements_.earliest_effect()});
  const std::vector<Message> received = transport_.exchange(boundary_.partners(), boundary_.take_sent());
  const auto [earliest, nobody_announces, nobody_stops] = transport_.least({next, !announces, !wants_to_stop});
  // Packets may name windows of causes that have been opened since.
  if (nobody_announces == 0) {
    const std::vector<Message> announced = transport_.all_gather(announcements_.take());
    for (std::uint32_t rank = 0; rank < announced.size(); ++rank)
      if (rank != transport_.rank()) announcements_.hear(announced[rank]);
  }
  for (const Message& message : received) boundary_.deliver(message);
  earliest_ = earliest;
  if (earliest == never || earliest >= limit || nobody_stops == 0) return false;
  ++count_;
  window_begin() = earliest;
  run_until(earliest + lookahead_);
  return true;
}

}  // namespace t3vp
