#include "partition/windows.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <utility>

#include "protocol/recent_values.h"

namespace t3vp {
namespace {

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

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
  window_begin() = begin_ = end_ = now();
}

void Windows::meet() {
  send();
  receive();
  if (all_.next < end_) window_begin() = begin_ = end_ = all_.next;
}

bool Windows::run_next(const std::function<void(Picoseconds)>& run_until, Picoseconds end) {
  if (all_.next == never || all_.next >= end) return false;
  ++count_;
  send();
  const double begun_s = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  window_begin() = std::exchange(begin_, end_);
  end_ = std::min({all_.next + lookahead_, std::max(end_, all_.next) + (lookahead_ + 1) / 2, end});
  run_until(end_);
  costs_.computing_s += seconds_of(CLOCK_THREAD_CPUTIME_ID) - begun_s;
  receive();
  return true;
}

void Windows::send() {
  const Picoseconds next =
      std::min({Boundary::next_event_time(), boundary_.earliest_sent(), announcements_.earliest_effect()});
  own_ = {next, now()};
  transport_.send(messages());
}

void Windows::receive() {
  const double begun_s = seconds_of(CLOCK_MONOTONIC);
  std::vector<Message> received = transport_.receive();
  costs_.waiting_s += seconds_of(CLOCK_MONOTONIC) - begun_s;
  const double received_s = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  all_ = own_;
  for (std::uint32_t rank = 0; rank < received.size(); ++rank) {
    if (rank == transport_.rank()) continue;
    const auto theirs = take_last<State>(received[rank]);
    all_ = {std::min(all_.next, theirs.next), std::max(all_.now, theirs.now)};
    // Packets may name windows of causes that have been opened since.
    const auto announced = received[rank].end() - take_last<std::ptrdiff_t>(received[rank]);
    announcements_.hear({announced, received[rank].end()});
    received[rank].erase(announced, received[rank].end());
  }
  for (const Message& message : received) boundary_.deliver(message);
  costs_.computing_s += seconds_of(CLOCK_THREAD_CPUTIME_ID) - received_s;
}

/// What the boundary sends, what is announced to all, its length, and the state.
std::vector<Message> Windows::messages() {
  MessageWriter last;
  const Message announced = announcements_.take();
  last.put_bytes(announced.data(), announced.size());
  last.put(static_cast<std::ptrdiff_t>(announced.size()));
  last.put(own_);
  const Message for_all = last.take();
  std::vector<Message> messages(transport_.ranks());
  std::vector<Message> sent = boundary_.take_sent();
  for (std::size_t i = 0; i < sent.size(); ++i) messages[boundary_.partners()[i]] = std::move(sent[i]);
  for (Message& message : messages) message.insert(message.end(), for_all.begin(), for_all.end());
  for (const Message& message : messages) costs_.sent_bytes += message.size();
  return messages;
}

}  // namespace t3vp
