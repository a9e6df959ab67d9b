#include "protocol/cause.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>

namespace t3vp {
namespace {

/// Objects that are used again. A deque does not move them.
template <typename Kind>
class Pool {
 public:
  Kind* take() {
    if (free_.empty()) return &all_.emplace_back();
    Kind* const taken = free_.back();
    free_.pop_back();
    return taken;
  }
  void give_back(Kind* used) { free_.push_back(used); }

 private:
  std::deque<Kind> all_;
  std::vector<Kind*> free_;
};

/// Never destroyed: causes may outlive every other object.
template <typename Kind>
Pool<Kind>& pool_of() {
  static auto* const pool = new Pool<Kind>;
  return *pool;
}

}  // namespace

struct Cause::Windows {
  std::vector<Window> all;                           ///< by number
  std::multimap<Picoseconds, std::uint32_t> begins;  ///< numbers, in the order of time
  // In a run of several processes.
  std::optional<std::uint16_t> process;  ///< nothing: there is one
  std::vector<WindowKey> keys;           ///< of all, by number
  std::map<WindowKey, std::uint32_t> numbers;
  std::vector<WindowChange> changes;  ///< that others do not know yet
};

Cause Cause::current_;
std::uint32_t Cause::windows_opened_ = 0;
Picoseconds Cause::latest_window_ = 0, Cause::windows_begin_from_ = 0, Cause::interval_ = never,
            Cause::next_sample_ = never, Cause::sampled_from_ = 0;

/// Never destroyed, as pools.
Cause::Windows& Cause::windows() {
  static auto* const windows = new Windows;
  return *windows;
}

Cause::Account* Cause::take() {
  Account* const account = pool_of<Account>().take();
  account->users = 1;
  return account;
}

void Cause::give_back(Account* account) {
  release(std::exchange(account->mark, nullptr));
  release(std::exchange(account->earlier, nullptr));
  pool_of<Account>().give_back(account);
}

/// One after the other, for they may be many.
template <typename Linked>
void Cause::release(Linked* linked) {
  while (linked != nullptr && --linked->users == 0) {
    Linked* const before = linked->before;
    pool_of<Linked>().give_back(linked);
    linked = before;
  }
}

Cause Cause::begin() {
  Cause cause;
  cause.account_ = take();
  *cause.account_ = Account{};
  cause.account_->users = 1;
  return cause;
}

/// Others keep what they have.
void Cause::own() {
  if (account_->users == 1) return;
  Account* const copy = take();
  *copy = *account_;
  copy->users = 1;
  if (copy->mark != nullptr) ++copy->mark->users;
  if (copy->earlier != nullptr) ++copy->earlier->users;
  --account_->users;
  account_ = copy;
}

/// The oldest step makes room for a new one.
void Cause::take_step(Account& account, Picoseconds until, Part part) {
  of(account.parts, part) += until - account.time;
  account.time = until;
  if (account.steps[account.step].part == part) {
    account.steps[account.step].end = until;
    return;
  }
  account.step = (account.step + 1) % steps_kept;
  Step& step = account.steps[account.step];
  if (step.end <= windows_begin_from_) {
    release(std::exchange(account.earlier, nullptr));
  } else if (step.end > account.steps_begin) {
    EarlierStep* const earlier = pool_of<EarlierStep>().take();
    *earlier = {1, account.steps_begin, step, account.earlier};
    account.earlier = earlier;
  }
  account.steps_begin = step.end;
  step = {until, part};
}

void Cause::add(Picoseconds until, Part part) {
  own();
  Account& account = *account_;
  const Picoseconds since = account.time;
  take_step(account, until, part);
  if (until >= next_sample_) sample(until);
  if (account.windows != windows_opened_ || since < latest_window_) mark_windows(account, since);
}

void Cause::split(Picoseconds until, const Share* shares, std::size_t count, Part otherwise) {
  Picoseconds all = 0, until_now = 0;
  for (std::size_t i = 0; i < count; ++i) all += shares[i].weight;
  if (all == 0) return add(until, otherwise);
  const Picoseconds begin = account_->time;
  const double scale = static_cast<double>(until - begin) / static_cast<double>(all);
  for (std::size_t i = 0; i < count; ++i) {
    if (shares[i].weight == 0) continue;
    until_now += shares[i].weight;
    const auto end = begin + static_cast<Picoseconds>(static_cast<double>(until_now) * scale);
    extend(until_now == all ? until : std::min(until, end), shares[i].part);
  }
}

/// From the latest step to the earliest one, until the visit returns false.
template <typename Visit>
void Cause::visit_steps(const Account& account, const Visit& visit) {
  for (std::size_t i = 0; i < steps_kept; ++i) {
    const Step& step = account.steps[(account.step + steps_kept - i) % steps_kept];
    const bool is_oldest = i + 1 == steps_kept;
    const Picoseconds begin =
        is_oldest ? account.steps_begin : account.steps[(account.step + steps_kept - i - 1) % steps_kept].end;
    if (begin < step.end && !visit(PortableStep{begin, step.end, step.part})) return;
  }
  for (const EarlierStep* earlier = account.earlier; earlier != nullptr; earlier = earlier->before)
    if (!visit(PortableStep{earlier->begin, earlier->step.end, earlier->step.part})) return;
}

/// Takes the steps since then off, and what is missing from all parts.
TimeParts Cause::parts_at(const Account& account, Picoseconds time) {
  TimeParts parts = account.parts;
  Picoseconds excess = account.time - std::min(time, account.time);
  const auto cut = [&](Part part, Picoseconds most) {
    const Picoseconds taken = std::min({of(parts, part), most, excess});
    of(parts, part) -= taken;
    excess -= taken;
  };
  visit_steps(account, [&](const PortableStep& step) {
    cut(step.part, step.end - step.begin);
    return excess != 0;
  });
  for (std::size_t i = 0; i < part_count && excess != 0; ++i) cut(static_cast<Part>(i), excess);
  return parts;
}

void Cause::add_mark(Account& account, std::uint32_t window) {
  const std::vector<Window>& all = windows().all;
  while (account.mark != nullptr && !all[account.mark->window].is_open) {
    Mark* const closed = account.mark;
    account.mark = closed->before;
    if (account.mark != nullptr) ++account.mark->users;
    release(closed);
  }
  Mark* const mark = pool_of<Mark>().take();
  *mark = {1, window, parts_at(account, all[window].begin), account.mark};
  account.mark = mark;
}

/// Windows may be opened before or after the path comes to their begin: programs run ahead of the simulation, and so do
/// blocks that know an end in advance.
void Cause::mark_windows(Account& account, Picoseconds since) {
  const Windows& known = windows();
  for (; account.windows != windows_opened_; ++account.windows) {
    const Window& window = known.all[account.windows];
    if (window.is_open && window.begin <= since) add_mark(account, account.windows);
  }
  const auto end = known.begins.upper_bound(account.time);
  for (auto window = known.begins.upper_bound(since); window != end; ++window)
    if (known.all[window->second].is_open) add_mark(account, window->second);
}

void Cause::sample(Picoseconds until) {
  constexpr std::uint64_t samples_of_an_interval = 1000;
  for (; next_sample_ <= until; next_sample_ += interval_) {
    open_window(next_sample_);
    if ((next_sample_ - sampled_from_) / interval_ == samples_of_an_interval) interval_ *= 2;
  }
}

std::vector<Cause::Sample> Cause::samples() const {
  std::vector<Sample> all;
  for (const Mark* mark = account_ == nullptr ? nullptr : account_->mark; mark != nullptr; mark = mark->before)
    all.push_back({windows().all[mark->window].begin, mark->parts});
  std::sort(all.begin(), all.end(), [](const Sample& a, const Sample& b) { return a.time < b.time; });
  return all;
}

std::uint32_t Cause::open_window(Picoseconds begin) {
  Windows& known = windows();
  if (known.process) {
    const WindowKey key = WindowKey{*known.process} << 32 | windows_opened_;
    known.changes.push_back({key, begin});
    change_window(known.changes.back());
    return windows_opened_ - 1;
  }
  known.all.push_back({begin, true});
  known.begins.emplace(begin, windows_opened_);
  latest_window_ = std::max(latest_window_, begin);
  return windows_opened_++;
}

void Cause::close_window(std::uint32_t window) {
  Windows& known = windows();
  known.all[window].is_open = false;
  if (known.process) known.changes.push_back({known.keys[window], std::nullopt});
}

void Cause::share_windows(std::uint16_t process) { windows().process = process; }

std::vector<Cause::WindowChange> Cause::take_window_changes() { return std::exchange(windows().changes, {}); }

void Cause::change_window(const WindowChange& change) {
  Windows& known = windows();
  if (!change.begin) {
    known.all[known.numbers.at(change.window)].is_open = false;
    return;
  }
  known.keys.push_back(change.window);
  known.numbers.emplace(change.window, windows_opened_);
  known.all.push_back({*change.begin, true});
  known.begins.emplace(*change.begin, windows_opened_);
  latest_window_ = std::max(latest_window_, *change.begin);
  ++windows_opened_;
}

Cause::WindowKey Cause::key_of(std::uint32_t window) { return windows().keys[window]; }

std::uint32_t Cause::window_of(WindowKey key) { return windows().numbers.at(key); }

Cause::Portable Cause::portable() const {
  Cause whole = *this;
  whole.own();
  mark_windows(*whole.account_, time());
  Portable portable{time(), account_->parts, {}, {}};
  visit_steps(*account_, [&](const PortableStep& step) {
    portable.steps.push_back(step);
    return step.begin > windows_begin_from_;
  });
  const Windows& known = windows();
  for (const Mark* mark = whole.account_->mark; mark != nullptr; mark = mark->before)
    if (known.all[mark->window].is_open) portable.marks.push_back({known.keys[mark->window], mark->parts});
  return portable;
}

/// Steps are exact back to the start of every window that the other process did not know.
Cause Cause::from(const Portable& portable) {
  Cause cause = begin();
  Account& account = *cause.account_;
  if (!portable.steps.empty()) account.steps_begin = account.time = portable.steps.back().begin;
  for (Step& step : account.steps) step.end = account.steps_begin;
  for (auto step = portable.steps.rbegin(); step != portable.steps.rend(); ++step)
    take_step(account, step->end, step->part);
  account.parts = portable.parts;
  account.time = portable.time;
  account.windows = windows_opened_;
  std::map<std::uint32_t, TimeParts> marks;
  for (const PortableMark& mark : portable.marks) marks.emplace(windows().numbers.at(mark.window), mark.parts);
  const std::vector<Window>& all = windows().all;
  for (std::uint32_t window = 0; window < windows_opened_; ++window) {
    if (!all[window].is_open || all[window].begin > account.time) continue;
    const auto known = marks.find(window);
    Mark* const mark = pool_of<Mark>().take();
    *mark = {1, window, known == marks.end() ? parts_at(account, all[window].begin) : known->second, account.mark};
    account.mark = mark;
  }
  return cause;
}

TimeParts Cause::within(std::uint32_t window, Picoseconds end) const {
  if (account_ == nullptr) return {};
  Cause whole = *this;
  whole.extend(end, Part::sync);
  whole.own();
  Account& account = *whole.account_;
  mark_windows(account, account.time);
  const Mark* mark = account.mark;
  while (mark != nullptr && mark->window != window) mark = mark->before;
  if (mark == nullptr) return {};
  TimeParts parts = parts_at(account, end);
  Picoseconds missing = 0;
  for (std::size_t i = 0; i < part_count; ++i) {
    if (parts[i] < mark->parts[i]) missing += mark->parts[i] - parts[i];
    parts[i] -= std::min(parts[i], mark->parts[i]);
  }
  for (Picoseconds& part : parts) {
    const Picoseconds taken = std::min(part, missing);
    part -= taken;
    missing -= taken;
  }
  return parts;
}

}  // namespace t3vp
