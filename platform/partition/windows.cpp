#include "partition/windows.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "protocol/recent_values.h"

namespace t3vp {
namespace {

template <typename Value>
Value take_last(Message& message) {
  Value value;
  if (message.size() < sizeof value) throw std::logic_error("a rank's message is shorter than its contents");
  std::memcpy(&value, message.data() + message.size() - sizeof value, sizeof value);
  message.resize(message.size() - sizeof value);
  return value;
}

}  // namespace

Windows::Windows(Transport& transport, Boundary& boundary, Announcements& announcements, Picoseconds lookahead)
    : transport_(transport), boundary_(boundary), announcements_(announcements), lookahead_(lookahead) {
  Cause::share_windows(static_cast<std::uint16_t>(transport.rank()));
  window_begin() = now();
}

bool Windows::run_next(const std::function<void(Picoseconds)>& run_until, bool wants_to_stop, Picoseconds limit) {
  Ending all{std::min({Boundary::next_event_time(), boundary_.earliest_sent(), announcements_.earliest_effect()}),
             wants_to_stop};
  std::vector<Message> received = transport_.exchange(messages(all));
  for (std::uint32_t rank = 0; rank < received.size(); ++rank) {
    if (rank == transport_.rank()) continue;
    const auto ending = take_last<Ending>(received[rank]);
    all = {std::min(all.next, ending.next), all.wants_to_stop || ending.wants_to_stop};
    // Packets may name windows of causes that have been opened since.
    const auto announced = received[rank].end() - take_last<std::ptrdiff_t>(received[rank]);
    announcements_.hear({announced, received[rank].end()});
    received[rank].erase(announced, received[rank].end());
  }
  for (const Message& message : received) boundary_.deliver(message);
  earliest_ = all.next;
  if (all.next == never || all.next >= limit || all.wants_to_stop) return false;
  ++count_;
  window_begin() = all.next;
  run_until(all.next + lookahead_);
  return true;
}

/// What the boundary sends, what is announced to all, its length, and how the window has ended here.
std::vector<Message> Windows::messages(const Ending& ending) {
  MessageWriter last;
  const Message announced = announcements_.take();
  last.put_bytes(announced.data(), announced.size());
  last.put(static_cast<std::ptrdiff_t>(announced.size()));
  last.put(ending);
  const Message for_all = last.take();
  std::vector<Message> messages(transport_.ranks());
  std::vector<Message> sent = boundary_.take_sent();
  for (std::size_t i = 0; i < sent.size(); ++i) messages[boundary_.partners()[i]] = std::move(sent[i]);
  for (Message& message : messages) message.insert(message.end(), for_all.begin(), for_all.end());
  return messages;
}

}  // namespace t3vp
