#include "partition/silence_limit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>

#include "io/console.h"
#include "io/exit_code.h"
#include "io/rank_ends.h"
#include "partition/message.h"
#include "protocol/units.h"

namespace t3vp {
namespace {

std::string place_of_this_process() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return fmt::format("process {} on {}", getpid(), host.data());
}

}  // namespace

SilenceLimit::SilenceLimit(Transport& transport, double seconds) : transport_(transport), seconds_(seconds) {
  MessageWriter mine;
  mine.put_text(place_of_this_process());
  for (const Message& message : transport.all_gather(mine.take()))
    places_.push_back(MessageReader(message).take_text());
  transport.limit_waits(seconds, [this](const Transport::Silent& silent) { end_run(silent); });
}

SilenceLimit::~SilenceLimit() { transport_.limit_waits(0, {}); }

void SilenceLimit::end_run(const Transport::Silent& silent) const {
  std::vector<std::string> names;
  for (const std::uint32_t rank : silent) names.push_back(fmt::format("rank {} ({})", rank, places_[rank]));
  if (reports_end())
    print_error(
        fmt::format("t3vp: limits.rank_s: no answer for {} s at {} ms of simulated time from {}; see whether it is "
                    "stopped or has too little of its machine, or raise the limit",
                    seconds_, fmt::format("{:.6f}", to_ns(now()) / 1e6), fmt::join(names, ", ")));
  transport_.abort(failed);
}

}  // namespace t3vp
