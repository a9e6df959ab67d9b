#include "partition/announcements.h"

#include <algorithm>
#include <utility>

#include "partition/packet_codec.h"

namespace t3vp {

using Joining = processor::HostNetwork::Joining;

Announcements::Announcements(processor::HostNetwork& hosts, std::size_t here, Picoseconds exchange,
                             std::function<void(const PhaseBoundary&)> on_phase)
    : hosts_(hosts), exchange_(exchange), on_phase_(std::move(on_phase)) {
  hosts_.share(here, [this](const Joining& joining) {
    joinings_.push_back(joining);
    earliest_effect_ = std::min(earliest_effect_, joining.time + exchange_);
  });
}

bool Announcements::has_any() {
  const std::vector<Cause::WindowChange> changes = Cause::take_window_changes();
  windows_.insert(windows_.end(), changes.begin(), changes.end());
  return !windows_.empty() || !phases_.empty() || !joinings_.empty();
}

Message Announcements::take() {
  MessageWriter message;
  if (!has_any()) return {};
  message.put_all(std::exchange(windows_, {}), [&](const Cause::WindowChange& change) {
    message.put(change.window);
    message.put(change.begin.value_or(never));
  });
  message.put_all(std::exchange(phases_, {}), [&](const PhaseBoundary& boundary) {
    message.put(boundary.gpu);
    message.put_text(boundary.phase);
    message.put(boundary.begin);
    message.put(boundary.time);
  });
  message.put_all(std::exchange(joinings_, {}), [&](const Joining& joining) {
    message.put(joining.host);
    message.put_text(joining.name);
    message.put_all(joining.mine, [&](unsigned char byte) { message.put(byte); });
    message.put(joining.time);
    put_cause(message, joining.cause);
  });
  earliest_effect_ = never;
  return message.take();
}

void Announcements::hear(const Message& message) {
  if (message.empty()) return;
  MessageReader reader(message);
  reader.take_all([&] {
    const auto window = reader.take<Cause::WindowKey>();
    const auto begin = reader.take<Picoseconds>();
    Cause::change_window({window, begin == never ? std::nullopt : std::make_optional(begin)});
  });
  reader.take_all([&] {
    PhaseBoundary boundary;
    boundary.gpu = reader.take<std::size_t>();
    boundary.phase = reader.take_text();
    boundary.begin = reader.take<bool>();
    boundary.time = reader.take<Picoseconds>();
    on_phase_(boundary);
  });
  reader.take_all([&] {
    Joining joining;
    joining.host = reader.take<std::size_t>();
    joining.name = reader.take_text();
    reader.take_all([&] { joining.mine.push_back(reader.take<unsigned char>()); });
    joining.time = reader.take<Picoseconds>();
    joining.cause = take_cause(reader);
    hosts_.join_from_elsewhere(joining);
  });
}

}  // namespace t3vp
