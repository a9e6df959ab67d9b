// A channel under a script of arrivals: what goes in when, and everything that comes out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "dram/channel.h"
#include "dram/command_log.h"

namespace t3vp::dram {

struct Arrival {
  Cycle cycle;  ///< enters the queue then, or as soon after as there is room and all before it have entered
  std::uint64_t address;
  Kind kind;
};

struct Completion {
  std::uint32_t tag;  ///< index into the script
  Kind kind;
  Cycle cycle;
  bool operator==(const Completion& other) const {
    return tag == other.tag && kind == other.kind && cycle == other.cycle;
  }
};

struct Outcome final : CommandListener {
  std::vector<Command> commands;
  std::vector<Completion> completions;
  std::vector<Cycle> entries;
  ChannelStatistics statistics;
  Cycle end = 0;  ///< of the last data
  bool idle_at_end = false;
  void command(const Command& command) override { commands.push_back(command); }
};

/// Runs the script to its end in slices. `slice` returns their lengths.
inline Outcome run_script(
    const MemorySpec& spec, const std::vector<Arrival>& script,
    const std::function<Cycle()>& slice = [] { return Cycle{1} << 20; }) {
  Outcome outcome;
  Channel channel(spec);
  channel.listen(&outcome);
  std::size_t next = 0;
  const auto feed = [&](Cycle now, unsigned, Access& access, Cycle& retry) {
    if (next == script.size()) return Fed::none;
    if (script[next].cycle > now) {
      retry = script[next].cycle;
      return Fed::none;
    }
    access = {script[next].address, script[next].kind, static_cast<std::uint32_t>(next), 1};
    outcome.entries.push_back(now);
    ++next;
    return Fed::access;
  };
  const auto done = [&](std::uint32_t tag, Kind kind, Cycle cycle, std::uint32_t) {
    outcome.completions.push_back({tag, kind, cycle});
    outcome.end = std::max(outcome.end, cycle);
  };
  while (outcome.completions.size() < script.size()) channel.run(channel.now() + slice(), feed, done);
  channel.run(std::max(channel.now(), outcome.end), feed, done);
  const auto after_end = [&](const Command& c) { return c.cycle >= outcome.end; };  // refreshes of an idle channel
  outcome.commands.erase(std::find_if(outcome.commands.begin(), outcome.commands.end(), after_end),
                         outcome.commands.end());
  outcome.statistics = channel.statistics();
  outcome.idle_at_end = channel.idle();
  return outcome;
}

/// The log in one line, such as "0 ACT, 14 RD".
inline std::string brief(const std::vector<Command>& commands) {
  std::string text;
  for (const Command& c : commands)
    text += (text.empty() ? "" : ", ") + std::to_string(c.cycle) + ' ' + mnemonic(c.kind);
  return text;
}

/// Phases of different locality, kind and load, from hits to one open row to conflicts in a single bank.
inline std::vector<Arrival> random_script(std::uint32_t seed, std::size_t length, std::uint64_t memory_bytes) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  std::vector<Arrival> script;
  Cycle now = 0;
  std::uint64_t cursor = 0;
  while (script.size() < length) {
    const std::uint64_t locality = below(4), writes = below(101), updates = below(101),
                        gap = below(3) == 0 ? below(60) : 0;
    const std::uint64_t region = below(3) == 0 ? 4096 : memory_bytes;
    for (std::uint64_t i = 20 + below(200); i > 0; --i) {
      if (locality == 0 || below(4) < locality)
        cursor = (cursor + 32) % memory_bytes;
      else
        cursor = below(region / 32) * 32;
      const Kind store = below(100) < updates ? Kind::update : Kind::write;
      script.push_back({now, cursor, below(100) < writes ? store : Kind::read});
      if (gap != 0) now += below(gap);
    }
    if (below(10) == 0) now += below(6000);
  }
  script.resize(length);
  return script;
}

}  // namespace t3vp::dram
