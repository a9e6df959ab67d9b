#include "guests/snapshots.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "guests/guest_ends.h"
#include "guests/guest_page.h"
#include "io/exit_code.h"
#include "io/input_error.h"
#include "io/output_file.h"

namespace t3vp {

/// The parent, the simulating process and its snapshots share it.
class SnapshotBoard {
 public:
  struct Slot {
    std::atomic<pid_t> process{0};  ///< 0: free
    std::atomic<Picoseconds> time{0};
  };
  std::array<Slot, SnapshotKeeper::kept> slots;
  std::atomic<pid_t> keeper{0};
  std::atomic<bool> is_left_to{false};
  std::atomic<pid_t> resumed{0};
  std::atomic<Picoseconds> ended_at{0};
  std::atomic<bool> is_asked{false};
};

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

SnapshotKeeper* keeper = nullptr;  ///< in the simulating process: that of its parent
SnapshotBoard* board = nullptr;
bool is_resumed = false;

SnapshotBoard& new_board() {
  void* const shared = mmap(nullptr, sizeof(SnapshotBoard), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::runtime_error("no memory to share with snapshots");
  return *new (shared) SnapshotBoard;
}

void wait_for(pid_t process) {
  while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) continue;
}

std::size_t threads() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator()));
}

/// No signal reaches a snapshot while it waits: one of the terminal ends the parent, and that ends the snapshot.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before_);
  }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;
  ~NoSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

/// The shared page as it is now, which the simulating process goes on to change.
std::vector<char> copy_of_page() {
  std::vector<char> copy(sizeof(GuestPage));
  std::memcpy(copy.data(), static_cast<const void*>(&guest_page()), copy.size());
  return copy;
}

void restore_page(const std::vector<char>& copy, Clock::duration waited) {
  GuestPage& page = guest_page();
  std::memcpy(static_cast<void*>(&page), copy.data(), copy.size());
  page.partial_files.stay = false;
  page.process = getpid();
  page.clock.skip(waited);
}

}  // namespace

bool has_keeper_of_snapshots() { return keeper != nullptr && guest_page().is_watched; }

bool take_snapshot(Picoseconds now) {
  if (threads() != 1)
    end_with_line({InputError("--snapshot-every", fmt::format("{} threads, begun by a program or library", threads()),
                              "one thread, as a snapshot has no others")
                       .what(),
                   bad_input});  // at once, since their library has to stay as long as they do
  std::size_t slot = 0;
  while (slot < board->slots.size() && board->slots[slot].process != 0) ++slot;
  if (slot == board->slots.size()) {
    slot = *keeper->oldest();
    const pid_t before = board->slots[slot].process;
    keeper->end(slot);
    wait_for(before);
  }
  guest_page().partial_files.stay = true;
  guest_page().simulated = now;
  const std::vector<char> page = copy_of_page();
  const NoSignals none;
  const pid_t copy = fork();
  if (copy < 0) throw std::runtime_error("--snapshot-every: " + std::generic_category().message(errno));
  if (copy > 0) {
    board->slots[slot].time = now;
    board->slots[slot].process = copy;
    return false;
  }
  const Clock::time_point begin = Clock::now();
  close(keeper->closed_at_exec_);
  char word = 0;
  ssize_t bytes = 0;
  do bytes = read(keeper->pipes_[slot].read_end, &word, 1);
  while (bytes < 0 && errno == EINTR);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (bytes != 1 || getppid() != board->keeper) _exit(failed);
  is_resumed = true;
  restore_page(page, Clock::now() - begin);
  board->resumed = getpid();
  OutputFile::reopen_all();
  return true;
}

void leave_to_snapshot() {
  if (board == nullptr || is_resumed || !keeper->has_any()) return;
  board->is_left_to = true;
  guest_page().simulated = now();
  _exit(failed);
}

void drop_snapshots() {
  if (board == nullptr) return;
  guest_page().partial_files.stay = false;
  for (std::size_t slot = 0; slot < board->slots.size() && !is_resumed; ++slot) {
    const pid_t process = board->slots[slot].process;
    if (process == 0) continue;
    keeper->end(slot);
    wait_for(process);
  }
}

std::optional<ResumedFor> resumed_for() {
  if (!is_resumed) return {};
  return ResumedFor{board->ended_at, board->is_asked};
}

SnapshotKeeper::SnapshotKeeper() : board_(new_board()) {
  for (Pipe& pipe : pipes_) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipes for snapshots");
    pipe = {ends[0], ends[1]};
  }
  board_.keeper = getpid();
}

void SnapshotKeeper::close_ends(int Pipe::*end) {
  for (Pipe& pipe : pipes_) {
    if (pipe.*end >= 0) close(pipe.*end);
    pipe.*end = -1;
  }
}

void SnapshotKeeper::leave_in_simulation(int closed_at_exec) {
  close_ends(&Pipe::write_end);
  closed_at_exec_ = closed_at_exec;
  keeper = this;
  board = &board_;
}

/// Snapshots become this process's children when the simulating process ends.
void SnapshotKeeper::begin_to_keep() {
  close_ends(&Pipe::read_end);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

bool SnapshotKeeper::is_left_to() const { return board_.is_left_to; }

bool SnapshotKeeper::has_any() const { return oldest().has_value(); }

std::optional<std::size_t> SnapshotKeeper::oldest() const {
  std::optional<std::size_t> found;
  for (std::size_t slot = 0; slot < board_.slots.size(); ++slot)
    if (board_.slots[slot].process != 0 && (!found || board_.slots[slot].time < board_.slots[*found].time))
      found = slot;
  return found;
}

void SnapshotKeeper::end(std::size_t slot) {
  kill(board_.slots[slot].process, SIGKILL);
  board_.slots[slot].process = 0;
}

std::optional<pid_t> SnapshotKeeper::wake(std::size_t slot) {
  const pid_t process = board_.slots[slot].process;
  board_.slots[slot].process = 0;
  if (!write_all(pipes_[slot].write_end, "!")) return {};
  while (board_.resumed != process) {
    if (waitpid(process, nullptr, WNOHANG) != 0) return {};  // the host has ended it meanwhile
    std::this_thread::sleep_for(1ms);
  }
  return process;
}

std::optional<pid_t> SnapshotKeeper::resume(const ResumedFor& why) {
  board_.ended_at = why.ended_at;
  board_.is_asked = why.is_asked;
  board_.is_left_to = false;
  std::optional<pid_t> process;
  while (const std::optional<std::size_t> slot = oldest()) {
    process = wake(*slot);
    if (process) break;
  }
  while (const std::optional<std::size_t> slot = oldest()) end(*slot);
  return process;
}

void SnapshotKeeper::clear() {
  while (const std::optional<std::size_t> slot = oldest()) end(*slot);
  close_ends(&Pipe::write_end);  // for one that is being made, and is not on the board yet
  constexpr auto longest = 2s;   // what a guest has begun may be a child by now, too, and live on
  for (const Clock::time_point until = Clock::now() + longest; Clock::now() < until;) {
    const pid_t ended = waitpid(-1, nullptr, WNOHANG);
    if (ended < 0 && errno == ECHILD) return;
    if (ended == 0) std::this_thread::sleep_for(1ms);
  }
}

}  // namespace t3vp
