#include "protocol/agenda.h"

#include <algorithm>
#include <utility>

#include "protocol/cause.h"
#include "protocol/recent_values.h"

namespace t3vp {

Activity::Activity(std::function<void()> run, Turn turn) : run_(std::move(run)) {
  Agenda::of_simulation().add(*this, turn);
}

Activity::~Activity() { Agenda::of_simulation().remove(*this); }

void Activity::run_at(Picoseconds time) { Agenda::of_simulation().ask(*this, std::max(time, now())); }

/// A process has one simulation, which outlives its modules.
Agenda& Agenda::of_simulation() {
  static Agenda* const agenda = new Agenda;
  return *agenda;
}

Agenda::Agenda() {
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  options.set_sensitivity(&next_);
  sc_core::sc_spawn([this] { run(); }, "agenda", &options);
}

void Agenda::remove(Activity& activity) {
  const auto is_of_it = [&activity](const Entry& entry) { return entry.activity == &activity; };
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(), is_of_it), entries_.end());
  std::make_heap(entries_.begin(), entries_.end(), later);
  std::replace(round_.begin(), round_.end(), &activity, static_cast<Activity*>(nullptr));
}

void Agenda::ask(Activity& activity, Picoseconds time) {
  if (activity.due_ == time) return;
  activity.due_ = time;
  if (time == never) return;
  entries_.push_back({time, activity.rank_, &activity});
  std::push_heap(entries_.begin(), entries_.end(), later);
  if (!runs_ && time < armed_) arm();
}

/// Processes that can run, or will in a delta cycle of this time, go first.
void Agenda::run() {
  if (sc_core::sc_pending_activity_at_current_time()) return next_.notify(sc_core::SC_ZERO_TIME);
  runs_ = true;
  run_round();
  runs_ = false;
  arm();
}

void Agenda::run_round() {
  Cause::windows_begin_from(since_when_asked());
  round_.clear();
  for (; !entries_.empty() && entries_.front().time <= now(); entries_.pop_back()) {
    std::pop_heap(entries_.begin(), entries_.end(), later);
    Activity& activity = *entries_.back().activity;
    if (activity.due_ != entries_.back().time) continue;
    activity.due_ = never;
    round_.push_back(&activity);
  }
  for (std::size_t i = 0; i < round_.size(); ++i)
    if (round_[i] != nullptr) round_[i]->run_();
}

void Agenda::arm() {
  while (!entries_.empty() && entries_.front().activity->due_ != entries_.front().time) {
    std::pop_heap(entries_.begin(), entries_.end(), later);
    entries_.pop_back();
  }
  armed_ = entries_.empty() ? never : entries_.front().time;
  if (armed_ == never)
    next_.cancel();
  else
    next_.notify(to_sc_time(armed_ - now()));
}

}  // namespace t3vp
