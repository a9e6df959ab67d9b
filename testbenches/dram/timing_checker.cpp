#include "dram/timing_checker.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "dram/command_log.h"

namespace t3vp::dram {
namespace {

enum class Scope { bank, group, pseudo_channel };

using Kinds = std::set<CommandKind>;

struct Rule {
  const char* name;
  Kinds first, second;
  Scope scope;
  Cycle distance;
};

const Kinds act{CommandKind::activate}, rd{CommandKind::read}, ref{CommandKind::refresh}, upd{CommandKind::update};
const Kinds plain_column{CommandKind::read, CommandKind::write};
const Kinds stores{CommandKind::write, CommandKind::update};
const Kinds column{CommandKind::read, CommandKind::write, CommandKind::update};
const Kinds pre{CommandKind::precharge, CommandKind::precharge_all};

std::vector<Rule> rules_of(const Timing& t) {
  const Cycle data_end = Cycle{t.CWL} + t.BURST;
  return {{"RCDRD", act, rd, Scope::bank, t.RCDRD},
          {"RCDWR", act, stores, Scope::bank, t.RCDWR},
          {"RAS", act, pre, Scope::bank, t.RAS},
          {"RC", act, act, Scope::bank, t.RC},
          {"RP", pre, act, Scope::bank, t.RP},
          {"RTP", rd, pre, Scope::bank, t.RTP},
          {"RTPL", rd, pre, Scope::group, t.RTPL},
          {"WR", stores, pre, Scope::bank, data_end + t.WR},
          {"RRDL", act, act, Scope::group, t.RRDL},
          {"RRDS", act, act, Scope::pseudo_channel, t.RRDS},
          {"CCDS", column, column, Scope::pseudo_channel, std::max(t.CCDS, t.BURST)},
          {"CCDL", plain_column, column, Scope::group, t.CCDL},
          {"CCDWL", upd, column, Scope::group, t.CCDWL},
          {"RTW", rd, stores, Scope::pseudo_channel, t.RTW},
          {"WTRS", stores, rd, Scope::pseudo_channel, data_end + t.WTRS},
          {"WTRL", stores, rd, Scope::group, data_end + t.WTRL},
          {"RP before REF", pre, ref, Scope::pseudo_channel, t.RP},
          {"RC before REF", act, ref, Scope::pseudo_channel, t.RC},
          {"RFC", ref, act, Scope::pseudo_channel, t.RFC},
          {"RFC", ref, ref, Scope::pseudo_channel, t.RFC}};
}

bool names_a_bank(const Command& c) { return c.kind != CommandKind::precharge_all && c.kind != CommandKind::refresh; }

bool same_scope(Scope scope, const Command& a, const Command& b) {
  if (a.pseudo_channel != b.pseudo_channel) return false;
  if (scope == Scope::pseudo_channel || !names_a_bank(a) || !names_a_bank(b)) return true;
  if (a.bank_group != b.bank_group) return false;
  return scope == Scope::group || a.bank == b.bank;
}

std::string text_of(const Command& c) {
  return std::string(mnemonic(c.kind)) + " @" + std::to_string(c.cycle) + " pc" + std::to_string(c.pseudo_channel) +
         " bg" + std::to_string(c.bank_group) + " bank" + std::to_string(c.bank) + " row" + std::to_string(c.row);
}

bool is_column(const Command& c) { return column.count(c.kind) != 0; }

class Checker {
 public:
  explicit Checker(const MemorySpec& spec) : spec_(spec), rules_(rules_of(spec.timing)) {
    for (const Rule& rule : rules_) window_ = std::max(window_, rule.distance);
    window_ = std::max<Cycle>({window_, spec.timing.FAW, spec.activate_cycles});
  }

  std::vector<std::string> run(const std::vector<Command>& log) {
    for (std::size_t i = 0; i < log.size(); ++i) {
      while (log[begin_].cycle + window_ < log[i].cycle) ++begin_;
      if (i > 0 && log[i].cycle < log[i - 1].cycle) violation("order", log[i]);
      check_distances(log, i);
      check_buses(log, i);
      check_four_activates(log, i);
      check_rows(log[i]);
      if (spec_.refresh) check_refresh(log[i]);
    }
    return std::move(violations_);
  }

 private:
  void violation(const std::string& rule, const Command& command) {
    violations_.push_back(rule + ": " + text_of(command));
  }

  void check_distances(const std::vector<Command>& log, std::size_t i) {
    for (std::size_t j = begin_; j < i; ++j)
      for (const Rule& rule : rules_)
        if (rule.first.count(log[j].kind) != 0 && rule.second.count(log[i].kind) != 0 &&
            same_scope(rule.scope, log[j], log[i]) && log[i].cycle < log[j].cycle + rule.distance)
          violation(std::string(rule.name) + " after " + text_of(log[j]), log[i]);
  }

  /// One row and one column command at a time, or one of either; ACT may hold the row bus for longer.
  void check_buses(const std::vector<Command>& log, std::size_t i) {
    for (std::size_t j = begin_; j < i; ++j) {
      if (spec_.dual_command_bus && is_column(log[i]) != is_column(log[j])) continue;
      const Cycle held = log[j].kind == CommandKind::activate ? spec_.activate_cycles : 1;
      if (log[i].cycle < log[j].cycle + held) violation("command bus", log[i]);
    }
  }

  void check_four_activates(const std::vector<Command>& log, std::size_t i) {
    if (spec_.timing.FAW == 0 || log[i].kind != CommandKind::activate) return;
    int within = 0;
    for (std::size_t j = begin_; j < i; ++j)
      if (log[j].kind == CommandKind::activate && log[j].pseudo_channel == log[i].pseudo_channel &&
          log[i].cycle < log[j].cycle + spec_.timing.FAW)
        ++within;
    if (within > 3) violation("FAW", log[i]);
  }

  void check_rows(const Command& c) {
    const auto bank = std::make_tuple(c.pseudo_channel, c.bank_group, c.bank);
    const bool open = open_rows_.count(bank) != 0;
    switch (c.kind) {
      case CommandKind::activate:
        if (open) violation("ACT of an open bank", c);
        open_rows_[bank] = c.row;
        break;
      case CommandKind::precharge:
        if (!open) violation("PRE of a closed bank", c);
        open_rows_.erase(bank);
        break;
      case CommandKind::precharge_all:
        close_all(c.pseudo_channel);
        break;
      case CommandKind::refresh:
        if (close_all(c.pseudo_channel) != 0) violation("REF with an open bank", c);
        break;
      default:
        if (!open || open_rows_[bank] != c.row) violation("column access to a row that is not open", c);
    }
  }

  std::size_t close_all(std::uint32_t pseudo_channel) {
    std::size_t closed = 0;
    for (auto it = open_rows_.begin(); it != open_rows_.end();) {
      const bool here = std::get<0>(it->first) == pseudo_channel;
      closed += here ? 1 : 0;
      it = here ? open_rows_.erase(it) : std::next(it);
    }
    return closed;
  }

  /// One refresh per interval, begun within the time that closing all banks takes.
  void check_refresh(const Command& c) {
    const Timing& t = spec_.timing;
    const Cycle closing = t.RC + t.RP + t.CWL + t.BURST + t.WR + 64;
    Cycle& refreshes = refreshes_[c.pseudo_channel];
    const Cycle due = (refreshes + 1) * t.REFI;
    if (c.kind != CommandKind::refresh) {
      if (c.cycle > due + closing) violation("REFI missed", c);
      return;
    }
    if (c.cycle < due || c.cycle > due + closing) violation("REFI", c);
    ++refreshes;
  }

  const MemorySpec& spec_;
  std::vector<Rule> rules_;
  Cycle window_ = 0;
  std::size_t begin_ = 0;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> open_rows_;
  std::map<std::uint32_t, Cycle> refreshes_;
  std::vector<std::string> violations_;
};

}  // namespace

std::vector<std::string> timing_violations(const MemorySpec& spec, const std::vector<Command>& log) {
  return Checker(spec).run(log);
}

}  // namespace t3vp::dram
