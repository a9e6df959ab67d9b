#include "processor/host_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "protocol/units.h"

namespace t3vp::processor {

HostNetwork::HostNetwork(const char* name, std::size_t hosts, Picoseconds latency)
    : sc_object(name), latency_(latency), here_(hosts), next_(hosts) {}

HostNetwork::Round& HostNetwork::round_of(std::size_t host) {
  while (next_[host] - first_ >= rounds_.size()) {
    rounds_.emplace_back();
    rounds_.back().come.resize(hosts());
  }
  return rounds_[next_[host] - first_];
}

const HostNetwork::Round* HostNetwork::waits_in(std::size_t host) const {
  if (next_[host] - first_ >= rounds_.size()) return nullptr;
  const Round& round = rounds_[next_[host] - first_];
  return round.come[host] ? &round : nullptr;
}

void HostNetwork::share(std::size_t here, std::function<void(const Joining&)> notify) {
  here_ = here;
  notify_ = std::move(notify);
}

void HostNetwork::come(std::size_t host, const char* name, const unsigned char* mine, std::uint64_t bytes) {
  const bool is_again = round_of(host).come[host];
  Joining joining{host, name, {}, now(), cause_at(now() + latency_, Part::sync)};
  if (bytes != 0) joining.mine.assign(mine, mine + bytes);
  join(joining);
  if (notify_ && !is_again) notify_(joining);
}

void HostNetwork::join_from_elsewhere(const Joining& joining) {
  join(joining);
  ++next_[joining.host];
}

void HostNetwork::join(const Joining& joining) {
  Round& round = round_of(joining.host);
  const std::uint64_t bytes = joining.mine.size();
  const auto text = [](const std::string& of, std::uint64_t size) {
    return fmt::format("\"{}\" of {} bytes each", of, size);
  };
  const bool is_first = std::find(round.come.begin(), round.come.end(), true) == round.come.end();
  if (is_first) {
    round.name = joining.name;
    round.bytes = bytes;
    round.all.resize(bytes * hosts());
  } else if ((round.name != joining.name || round.bytes != bytes) && round.mistake.empty()) {
    round.mistake = fmt::format("exchanges {} and others {}: the same expected", text(joining.name, bytes),
                                text(round.name, round.bytes));
  }
  if (round.come[joining.host]) return;
  round.come[joining.host] = true;
  if (round.mistake.empty() && bytes != 0)
    std::memcpy(round.all.data() + joining.host * bytes, joining.mine.data(), bytes);
  if (std::make_pair(joining.time, joining.host) >= std::make_pair(round.latest, round.last)) {
    round.latest = joining.time;
    round.last = joining.host;
    round.cause = joining.cause;
  }
  if (std::find(round.come.begin(), round.come.end(), false) != round.come.end()) return;
  round.end = round.latest + latency_;
  over_.notify(to_sc_time(round.end - now()));
}

bool HostNetwork::is_over(std::size_t host) const {
  const Round* const round = waits_in(host);
  return round != nullptr && round->end <= now();
}

Status HostNetwork::leave(std::size_t host, unsigned char* all, std::string& mistake) {
  Round& round = round_of(host);
  mistake = round.mistake;
  if (mistake.empty() && !round.all.empty()) std::memcpy(all, round.all.data(), round.all.size());
  ++round.left;
  ++next_[host];
  for (; !rounds_.empty() && rounds_.front().left == here_; ++first_) rounds_.pop_front();
  return mistake.empty() ? Status::ok : Status::mismatch;
}

std::vector<std::size_t> HostNetwork::missing(std::size_t host) const {
  std::vector<std::size_t> found;
  const Round* const round = waits_in(host);
  for (std::size_t other = 0; round != nullptr && other < hosts(); ++other)
    if (!round->come[other]) found.push_back(other);
  return found;
}

}  // namespace t3vp::processor
