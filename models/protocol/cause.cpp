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
};

Cause Cause::current_;
std::uint32_t Cause::windows_opened_ = 0;
Picoseconds Cause::latest_window_ = 0, Cause::interval_ = never, Cause::next_sample_ = never, Cause::sampled_from_ = 0;

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
  pool_of<Account>().give_back(account);
}

/// One after the other, for they may be many.
void Cause::release(Mark* mark) {
  while (mark != nullptr && --mark->users == 0) {
    Mark* const before = mark->before;
    pool_of<Mark>().give_back(mark);
    mark = before;
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
  --account_->users;
  account_ = copy;
}

void Cause::take_step(Account& account, Picoseconds time, Part part) {
  of(account.parts, part) += time;
  constexpr Picoseconds most = std::numeric_limits<std::uint32_t>::max();
  Step* step = &account.steps[account.step];
  if (step->part != part) {
    account.step = (account.step + 1) % steps_kept;
    step = &account.steps[account.step];
    *step = {0, part};
  }
  step->time = static_cast<std::uint32_t>(std::min(step->time + time, most));
}

void Cause::add(Picoseconds until, Part part) {
  own();
  Account& account = *account_;
  const Picoseconds since = account.time;
  take_step(account, until - since, part);
  account.time = until;
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

/// Takes the steps since then off, and what is missing from all parts.
TimeParts Cause::parts_at(const Account& account, Picoseconds time) {
  TimeParts parts = account.parts;
  Picoseconds excess = account.time - std::min(time, account.time);
  const auto cut = [&](Part part, Picoseconds most) {
    const Picoseconds taken = std::min({of(parts, part), most, excess});
    of(parts, part) -= taken;
    excess -= taken;
  };
  for (std::size_t i = 0; i < steps_kept && excess != 0; ++i) {
    const Step& step = account.steps[(account.step + steps_kept - i) % steps_kept];
    cut(step.part, step.time);
  }
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
  windows().all.push_back({begin, true});
  windows().begins.emplace(begin, windows_opened_);
  latest_window_ = std::max(latest_window_, begin);
  return windows_opened_++;
}

void Cause::close_window(std::uint32_t window) { windows().all[window].is_open = false; }

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
