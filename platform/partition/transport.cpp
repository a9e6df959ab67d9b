#include "partition/transport.h"

#include <algorithm>
#include <utility>

#include "partition/message.h"

namespace t3vp {

std::vector<Message> Transport::all_gather(const Message& mine) {
  std::vector<Message> all = exchange(std::vector<Message>(ranks(), mine));
  all[rank()] = mine;
  return all;
}

Transport::Least Transport::least(const Least& mine) {
  MessageWriter writer;
  writer.put(mine);
  Least found = mine;
  for (const Message& message : all_gather(writer.take())) {
    const auto theirs = MessageReader(message).take<Least>();
    std::transform(found.begin(), found.end(), theirs.begin(), found.begin(),
                   [](std::uint64_t one, std::uint64_t other) { return std::min(one, other); });
  }
  return found;
}

void Transport::limit_waits(double seconds, std::function<void(const Silent&)> act) {
  wait_limit_s_ = seconds;
  act_ = std::move(act);
}

}  // namespace t3vp
