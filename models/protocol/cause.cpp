#include "protocol/cause.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

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

Cause Cause::current_;
Picoseconds Cause::interval_ = never, Cause::next_sample_ = never;

namespace {
template <typename Window>
std::vector<Window>& windows_of() {
  static auto* const windows = new std::vector<Window>;
  return *windows;
}
}  // namespace

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
  Account& account = *cause.account_;
  account.windows = 0;
  account.last = Part::launch;
  account.time = 0;
  account.parts = {};
  return cause;
}

/// Others keep what they have.
void Cause::own() {
  if (account_->users == 1) return;
  Account* const copy = take();
  copy->windows = account_->windows;
  copy->last = account_->last;
  copy->time = account_->time;
  copy->parts = account_->parts;
  copy->mark = account_->mark;
  if (copy->mark != nullptr) ++copy->mark->users;
  --account_->users;
  account_ = copy;
}

void Cause::add(Picoseconds until, Part part) {
  own();
  Account& account = *account_;
  of(account.parts, part) += until - account.time;
  account.time = until;
  account.last = part;
  if (until >= next_sample_) sample(until);
  if (account.windows != windows_of<Window>().size()) mark_windows(until);
}

void Cause::extend(Picoseconds until, const TimeParts& proportion, Part otherwise) {
  if (account_ == nullptr || account_->time >= until) return;
  const Picoseconds all = sum_of(proportion);
  if (all == 0) return add(until, otherwise);
  const Picoseconds time = until - account_->time;
  const auto most =
      static_cast<std::size_t>(std::max_element(proportion.begin(), proportion.end()) - proportion.begin());
  own();
  Picoseconds left = time;
  for (std::size_t i = 0; i < part_count; ++i) {
    if (i == most || proportion[i] == 0) continue;
    const auto share =
        std::min(left, static_cast<Picoseconds>(static_cast<double>(time) * static_cast<double>(proportion[i]) /
                                                static_cast<double>(all)));
    account_->parts[i] += share;
    account_->time += share;
    left -= share;
  }
  add(until, static_cast<Part>(most));
}

/// Takes time off the latest part, and off the others when that was shorter.
void Cause::cut(TimeParts& parts, Part last, Picoseconds excess) {
  const Picoseconds taken = std::min(of(parts, last), excess);
  of(parts, last) -= taken;
  excess -= taken;
  for (Picoseconds& part : parts) {
    const Picoseconds more = std::min(part, excess);
    part -= more;
    excess -= more;
  }
}

/// A mark says what the path had at the window's begin, which the latest time contains.
void Cause::add_mark(Account& account, std::uint32_t window) {
  Mark* const mark = pool_of<Mark>().take();
  while (account.mark != nullptr && !windows_of<Window>()[account.mark->window].is_open) {
    Mark* const closed = account.mark;
    account.mark = closed->before;
    if (account.mark != nullptr) ++account.mark->users;
    release(closed);
  }
  mark->users = 1;
  mark->window = window;
  mark->parts = account.parts;
  mark->before = account.mark;
  const Picoseconds begin = windows_of<Window>()[window].begin;
  if (account.time > begin) cut(mark->parts, account.last, account.time - begin);
  account.mark = mark;
}

void Cause::mark_windows(Picoseconds until) {
  const std::vector<Window>& windows = windows_of<Window>();
  for (Account& account = *account_; account.windows != windows.size(); ++account.windows) {
    const Window& window = windows[account.windows];
    if (window.begin > until) return;
    if (window.is_open) add_mark(account, account.windows);
  }
}

void Cause::sample(Picoseconds until) {
  constexpr std::uint64_t samples_of_an_interval = 1000;
  for (; next_sample_ <= until; next_sample_ += interval_) {
    open_window(next_sample_);
    if (next_sample_ / interval_ == samples_of_an_interval) interval_ *= 2;
  }
}

std::vector<Cause::Sample> Cause::samples() const {
  std::vector<Sample> all;
  for (const Mark* mark = account_ == nullptr ? nullptr : account_->mark; mark != nullptr; mark = mark->before)
    all.push_back({windows_of<Window>()[mark->window].begin, mark->parts});
  std::sort(all.begin(), all.end(), [](const Sample& a, const Sample& b) { return a.time < b.time; });
  return all;
}

std::uint32_t Cause::open_window(Picoseconds begin) {
  std::vector<Window>& windows = windows_of<Window>();
  windows.push_back({begin, true});
  return static_cast<std::uint32_t>(windows.size() - 1);
}

void Cause::close_window(std::uint32_t window) { windows_of<Window>()[window].is_open = false; }

TimeParts Cause::within(std::uint32_t window, Picoseconds end) const {
  if (account_ == nullptr) return {};
  Cause whole = *this;
  whole.own();
  whole.extend(end, Part::sync);
  whole.mark_windows(whole.time());
  TimeParts parts = whole.account_->parts;
  if (whole.time() > end) cut(parts, whole.account_->last, whole.time() - end);
  const Mark* mark = whole.account_->mark;
  while (mark != nullptr && mark->window != window) mark = mark->before;
  if (mark == nullptr) return {};
  Picoseconds missing = 0;
  for (std::size_t i = 0; i < part_count; ++i) {
    if (parts[i] < mark->parts[i]) missing += mark->parts[i] - parts[i];
    parts[i] -= std::min(parts[i], mark->parts[i]);
  }
  cut(parts, whole.account_->last, missing);
  return parts;
}

}  // namespace t3vp
